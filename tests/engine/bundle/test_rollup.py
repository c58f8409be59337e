"""A rollup's lane is named by its service."""

from typing import Any

from tests.engine.bundle.stage import SERVICE, Stage

from laneway.core.ids import is_rollup
from laneway.engine.bundle.rollup import rollup_lane


def test_a_rollup_is_named_by_its_service() -> None:
    lane = rollup_lane(SERVICE)
    assert lane == f"rollup:{SERVICE}"
    assert is_rollup(lane)


def test_a_rollup_is_a_chain_and_a_builder() -> None:
    stage = Stage()
    chain: Any = stage.chain
    assert stage.rollup.chain is chain
    assert stage.rollup.builder is stage.builder
