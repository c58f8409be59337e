"""Callbacks are made in their order; one that fails leaves those after it for the next time."""

import asyncio
from collections.abc import Awaitable

import pytest
from tests.engine.bundle.stage import AWAY, SERVICE, Stage, tell, telling

from laneway.core.errors import BuildFailed
from laneway.core.ids import LaneId
from laneway.engine.bundle import rollup as module
from laneway.engine.bundle.rollup import rollup_lane
from laneway.engine.limits import CALLBACK_TIMEOUT_MS
from laneway.lanes.bundle.rows import Tell

LANE = LaneId("rollup:7")


def test_a_builder_hears_of_all_at_once() -> None:
    stage = Stage()
    assert stage.run(module.notify_builder(stage.builder, telling(1, 2).tells)) == ""
    assert stage.builder.heard == [(1, 2)]


@pytest.mark.parametrize("trouble", [AWAY, BuildFailed("full")])
def test_a_builder_may_not_hear(trouble: Exception) -> None:
    stage = Stage()
    stage.builder.trouble = trouble
    assert stage.run(module.notify_builder(stage.builder, telling(1).tells)) == str(trouble)


def test_a_builder_that_hangs_did_not_hear() -> None:
    stage = Stage()
    stage.builder.takes_s = 1e6
    assert "in time" in stage.run(module.notify_builder(stage.builder, telling(1).tells))
    assert stage.time.monotonic_ms() == CALLBACK_TIMEOUT_MS


def test_callbacks_are_called_one_behind_the_other_awaited_or_not() -> None:
    heard: list[tuple[LaneId, int]] = []

    async def later(lane: LaneId, one: Tell) -> None:
        await asyncio.sleep(1)
        heard.append((lane, one.id))

    def mixed(lane: LaneId, one: Tell) -> Awaitable[None] | None:
        if one.id == 1:
            return later(lane, one)
        heard.append((lane, one.id))
        return None

    stage = Stage()
    assert stage.run(module.notify_user(mixed, LANE, (tell(1), tell(2), tell(3)))) == ""
    assert heard == [(LANE, 1), (LANE, 2), (LANE, 3)]


@pytest.mark.parametrize(("error", "word"), [(ValueError("queer"), "queer"), (KeyError(), "Key")])
def test_nothing_is_called_behind_a_callback_that_failed(error: Exception, word: str) -> None:
    heard: list[int] = []

    def failing(_lane: LaneId, one: Tell) -> None:
        heard.append(one.id)
        if one.id == 2:
            raise error

    problem = Stage().run(module.notify_user(failing, LANE, (tell(1), tell(2), tell(3))))
    assert problem.startswith("callback 2 (accumulated) failed: ")
    assert word in problem
    assert heard == [1, 2]


def test_a_callback_that_hangs_failed() -> None:
    async def hang(_lane: LaneId, _one: Tell) -> None:
        await asyncio.sleep(1e6)

    stage = Stage()
    problem = stage.run(module.notify_user(hang, LANE, (tell(1),)))
    assert problem.endswith(module.LATE)
    assert stage.time.monotonic_ms() == CALLBACK_TIMEOUT_MS


def test_a_rollup_is_named_by_its_service() -> None:
    lane = rollup_lane(SERVICE)
    assert lane == f"rollup:{SERVICE}"
    assert lane.startswith("rollup:")


def test_a_rollup_is_a_chain_and_a_builder() -> None:
    stage = Stage()
    chain: object = stage.chain
    assert stage.rollup.chain is chain
    assert stage.rollup.builder is stage.builder
