"""Bounds that follow from measurements, computed again from what was measured."""

import json

import pytest
from tests.differential.bombs import bombs
from tests.differential.costs import DATA, ENGINES, PAGE, cost_of, forms, page

from laneway.builder.limits import BUILD_S_MAX
from laneway.evm.limits import BLOCK_GAS_DEFAULT, BLOCK_SAFETY, BLOCK_TIME_S
from laneway.lanes.bundle.settings import BundleSettings

FOUND = json.loads(DATA.read_text())
COSTS = FOUND["costs"]


def test_the_worst_block_is_built_within_its_slot() -> None:
    worst_ns = max(cost_of(one) for one in COSTS)
    block_s = worst_ns * BLOCK_GAS_DEFAULT * BLOCK_SAFETY / 1e9
    assert block_s <= BLOCK_TIME_S < BUILD_S_MAX
    assert block_s > BLOCK_TIME_S / 2, "a bound that is too low costs its users blocks"
    assert BundleSettings().block_interval_ms == BLOCK_TIME_S * 1_000


def test_all_that_gas_is_spent_on_is_measured() -> None:
    names = [one["name"] for one in COSTS]
    assert sorted(names) == sorted({name for name, _, _ in forms()} | {one.name for one in bombs()})
    assert all(one[engine] > 0 for one in COSTS for engine in ENGINES if one["kind"] != "bomb")
    assert sorted(COSTS, key=lambda one: (-cost_of(one), one["name"])) == COSTS


def test_the_page_shows_what_was_measured() -> None:
    assert PAGE.read_text() == page(FOUND)


@pytest.mark.parametrize("interpreted", [1.0, 3.0])
def test_the_dearer_engine_counts(interpreted: float) -> None:
    assert cost_of({"interpreted": interpreted, "usual": 2.0}) == max(interpreted, 2.0)
