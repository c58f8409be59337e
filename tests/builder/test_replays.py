"""Blocks that are executed once more: rules that never return are said, and stop nothing."""

import asyncio
from threading import Event
from typing import Any

import pytest
from tests.builder.stage import STORY_S_MAX, hands, story
from tests.builder.test_thread import failure

from laneway.builder.execution import FIX_RULES

LATE = f"is on the line, and takes too long to execute here; {FIX_RULES}"


class Endless:
    """Rules that do not return from one block before they may."""

    def __init__(self, rollup: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.may_end = Event()
        self.begun = 0
        self._replay = rollup.replay
        monkeypatch.setattr(rollup, "replay", self.replay)

    def replay(self, *given: Any) -> Any:
        self.begun += 1
        self.may_end.wait(STORY_S_MAX)
        return self._replay(*given)


@pytest.mark.slow
def test_rules_that_never_return_for_a_final_block_of_others_are_said_and_stop_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The builder did nothing any more, and said that it did not answer in time."""

    async def tale(site: Any) -> None:
        one, other = await hands(site), await hands(site)
        await other.land(site.transfer(0))
        other.settle()
        builder = one.builder
        order = one.order(site.transfer(1), number=2)
        rules = Endless(builder.rollup, monkeypatch)
        try:
            builder._thread._s_max = 0.05
            for _ in range(3):
                failed = await failure(builder.execute(order))
                assert str(failed) == f"block 1 {LATE}"
                assert (failed.final, failed.needs_help) == (False, True)
                await failure(builder.catch_up())
                assert builder.lag == f"block 1 {LATE}"
            assert rules.begun == 1, "no more threads are left with it"
            builder._thread._s_max = STORY_S_MAX
            assert await builder._do(lambda: 3) == 3, "it does what else is asked"
        finally:
            rules.may_end.set()
        while any(not one.done() for one in builder._replays._late.values()):
            await asyncio.sleep(0.001)
        assert (await builder.execute(order)).block, "one that was slow is no reason any more"
        assert rules.begun == 1
        assert builder.lag == ""

    story(tale)


@pytest.mark.slow
def test_rules_that_never_return_for_an_open_block_of_before_are_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def tale(site: Any) -> None:
        one, other = await hands(site), await hands(site)
        await other.build(site.transfer(0))
        order = other.order(site.transfer(1))
        builder = one.builder
        rules = Endless(builder.rollup, monkeypatch)
        try:
            builder._thread._s_max = 0.05
            failed = await failure(builder.execute(order))
            assert (str(failed), failed.needs_help) == (f"block 1 {LATE}", True)
        finally:
            builder._thread._s_max = STORY_S_MAX
            rules.may_end.set()
        while any(not one.done() for one in builder._replays._late.values()):
            await asyncio.sleep(0.001)
        assert (await builder.execute(order)).block

    story(tale)


@pytest.mark.slow
def test_a_block_that_was_late_and_failed_is_executed_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def tale(site: Any) -> None:
        one, other = await hands(site), await hands(site)
        await other.land(site.transfer(0))
        other.settle()
        builder, may_end = one.builder, Event()
        replay, begun = builder.rollup.replay, list[int]()

        def failing(*given: Any) -> Any:
            begun.append(1)
            if len(begun) > 1:
                return replay(*given)
            may_end.wait(STORY_S_MAX)
            raise ZeroDivisionError

        monkeypatch.setattr(builder.rollup, "replay", failing)
        builder._thread._s_max = 0.05
        await failure(builder.catch_up())
        builder._thread._s_max = STORY_S_MAX
        may_end.set()
        while any(not one.done() for one in builder._replays._late.values()):
            await asyncio.sleep(0.001)
        assert "ZeroDivisionError" in str(await failure(builder.catch_up()))
        await builder.catch_up()
        assert (len(begun), builder.lag, builder.heads.final.sealed.number) == (2, "", 1)

    story(tale)
