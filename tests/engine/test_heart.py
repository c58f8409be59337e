"""One heartbeat a process keeps its leases, and stops it in time."""

import asyncio
import logging
from typing import Any

import pytest
from tests.engine.virtual import VirtualTime

from laneway.core.errors import DeclaredDead, StoreBusy, StoreClosed, StoreUnknown
from laneway.core.ids import Owner
from laneway.engine.heart import Heart, Retention
from laneway.engine.limits import (
    HEARTBEAT_MS,
    LEASE_STOP_MS,
    LEASE_TTL_MS,
    PRUNE_BATCH,
    PRUNE_EVERY_MS,
    PRUNE_ROUNDS_MAX,
)
from laneway.ports import Alive, Lost


class Pulse:
    """The questions that a heart asks of a store."""

    def __init__(self, time: VirtualTime) -> None:
        self._time = time
        self.beats: list[int] = []
        self.prunes: list[tuple[int, int, int]] = []
        self.answer: Alive | Lost | Exception = Alive()
        self.takes_s = 0.0
        self.old = 0

    async def beat(self, owner: Owner, ttl_ms: int) -> Alive | Lost:
        assert ttl_ms == LEASE_TTL_MS
        self.beats.append(self._time.monotonic_ms())
        await asyncio.sleep(self.takes_s)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def prune(self, before_ms: int, feed_before_ms: int, limit: int) -> int:
        self.prunes.append((before_ms, feed_before_ms, limit))
        pruned = min(self.old, limit)
        self.old -= pruned
        return pruned


class Body:
    def __init__(self, retention: Retention | None = None) -> None:
        self.time = VirtualTime()
        self.pulse = Pulse(self.time)
        store: Any = self.pulse
        self.heart = Heart(store, self.time, Owner("me"), retention)
        self.failures: list[BaseException] = []

    async def start(self) -> None:
        await self.heart.start(self.failures.append)


def test_it_beats_at_once_and_then_every_two_seconds() -> None:
    body = Body()

    async def main() -> None:
        assert not body.heart.may_act()
        await body.start()
        assert body.heart.may_act()
        await asyncio.sleep(6.5)

    body.time.run(main())
    assert body.pulse.beats == [0, HEARTBEAT_MS, 2 * HEARTBEAT_MS, 3 * HEARTBEAT_MS]


def test_it_may_not_act_after_eight_seconds_without_a_beat() -> None:
    body = Body()

    async def main() -> None:
        await body.start()
        body.time.frozen_ms = LEASE_STOP_MS
        assert body.heart.may_act()
        body.time.frozen_ms = LEASE_STOP_MS + 1
        assert not body.heart.may_act()

    body.time.run(main())


def test_the_lease_counts_from_the_question_and_not_from_the_answer() -> None:
    body = Body()

    async def main() -> None:
        body.pulse.takes_s = 3
        await body.start()
        body.time.frozen_ms = LEASE_STOP_MS - 3_000
        assert body.heart.may_act()
        body.time.frozen_ms += 1
        assert not body.heart.may_act()

    body.time.run(main())


@pytest.mark.parametrize("error", [StoreBusy("locked"), StoreUnknown("no answer")])
def test_a_missed_beat_is_tried_again_and_may_come_in_time(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    body = Body()

    async def main() -> None:
        await body.start()
        body.pulse.answer = error
        await asyncio.sleep(6)
        assert body.heart.may_act()
        await asyncio.sleep(3)
        assert not body.heart.may_act()
        body.pulse.answer = Alive()
        await asyncio.sleep(2)
        assert body.heart.may_act()

    with caplog.at_level(logging.WARNING, "laneway.engine"):
        body.time.run(main())
    assert "a heartbeat was missed" in caplog.text
    assert body.failures == []


@pytest.mark.parametrize(
    ("answer", "failure"),
    [(Lost(), DeclaredDead), (StoreClosed("x.db", "EIO"), StoreClosed), (KeyError("x"), KeyError)],
)
def test_an_owner_declared_dead_or_a_dead_store_stops_the_engine(
    answer: Any, failure: type[Exception]
) -> None:
    body = Body()

    async def main() -> None:
        await body.start()
        body.pulse.answer = answer
        await asyncio.sleep(10)

    body.time.run(main())
    assert [type(error) for error in body.failures] == [failure]
    assert len(body.pulse.beats) == 2, "it does not beat on"


def test_a_first_beat_that_fails_is_the_callers_to_hear() -> None:
    body = Body()
    body.pulse.answer = StoreBusy("locked")

    async def main() -> None:
        with pytest.raises(StoreBusy):
            await body.start()
        assert not body.heart.may_act()
        body.pulse.answer = Alive()
        await body.start()
        await body.start()
        await asyncio.sleep(2.5)

    body.time.run(main())
    assert len(body.pulse.beats) == 4, "three starts, one heart"


def test_a_stopped_heart_may_not_act_and_is_no_failure() -> None:
    body = Body()

    async def main() -> None:
        await body.start()
        body.heart.stop()
        assert not body.heart.may_act()
        await asyncio.sleep(10)

    body.time.run(main())
    assert body.failures == []
    assert len(body.pulse.beats) == 1


def test_what_is_old_is_pruned_once_a_minute() -> None:
    body = Body(Retention(intents_ms=1_000, feed_ms=500))

    async def main() -> None:
        await body.start()
        await asyncio.sleep(PRUNE_EVERY_MS * 2.5 / 1000)

    body.time.run(main())
    assert len(body.pulse.prunes) == 2
    before_ms, feed_before_ms, limit = body.pulse.prunes[0]
    assert feed_before_ms - before_ms == 500
    assert limit == PRUNE_BATCH


def test_pruning_goes_on_until_nothing_old_is_left() -> None:
    body = Body(Retention(intents_ms=1_000, feed_ms=500))
    body.pulse.old = 3 * PRUNE_ROUNDS_MAX * PRUNE_BATCH

    async def main() -> None:
        await body.start()
        await asyncio.sleep((PRUNE_EVERY_MS + 4 * HEARTBEAT_MS) / 1000)

    body.time.run(main())
    assert body.pulse.old == 0


def test_without_retention_nothing_is_pruned() -> None:
    body = Body()

    async def main() -> None:
        await body.start()
        await asyncio.sleep(PRUNE_EVERY_MS * 3 / 1000)

    body.time.run(main())
    assert body.pulse.prunes == []
