"""The patrol wakes what is ours, and finds what other processes answered."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from tests.engine.virtual import VirtualTime

from laneway.core.errors import StoreBusy, StoreClosed
from laneway.core.ids import IntentId, LaneId, Owner, intent_id
from laneway.core.intent import Arrival, placed
from laneway.core.rows import Result
from laneway.engine.patrol import Patrol
from laneway.engine.waiters import Waiters
from laneway.ports import Ended, IntentView, News, Woken

A, B = LaneId("toy:A"), LaneId("toy:B")
ME, OTHER = Owner("me"), Owner("other")
INTENT = intent_id(1, bytes(10))


class Stage:
    """A store and a reactor, as far as a patrol knows them."""

    shared = True

    def __init__(self) -> None:
        self.time = VirtualTime()
        self.heard: list[News] = []
        self.lanes: list[LaneId] = []
        self.result: Result | None = None
        self.error: Exception | None = None
        self.woke: list[tuple[str, LaneId]] = []
        self.peers: tuple[Owner, ...] = ()
        self.held: set[LaneId] = set()
        self.stopped: dict[LaneId, int] = {}
        self.moves = 0
        self.failures: list[BaseException] = []
        self.asked: list[tuple[LaneId, tuple[IntentId, ...]]] = []
        anything: Any = self
        self.waiters = Waiters(anything)
        self.patrol = Patrol(anything, anything, self.time, self.waiters)
        self.patrol.moved = self._move
        self.patrol.failed = self.failures.append

    def _move(self) -> None:
        self.moves += 1

    async def ready(self, now_ms: int, after: LaneId | None, limit: int) -> list[LaneId]:
        if self.error is not None:
            raise self.error
        return [lane for lane in self.lanes if after is None or lane > after][:limit]

    async def news(self) -> AsyncIterator[News]:
        if self.error is not None:
            raise self.error
        for news in self.heard:
            yield news
        await asyncio.sleep(1e6)

    async def intent(self, intent: IntentId) -> IntentView:
        return IntentView(placed(Arrival(intent, A, b"", b"", 0), 1), self.result, open=True)

    async def answers(self, lane: LaneId, intents: Sequence[IntentId]) -> list[Result]:
        self.asked.append((lane, tuple(intents)))
        await asyncio.sleep(0.01)
        return [] if self.result is None or lane != A else [self.result]

    def woken(self, lane: LaneId) -> None:
        self.woke.append(("woken", lane))

    def called(self, lane: LaneId) -> None:
        self.woke.append(("called", lane))

    def joined(self, peers: tuple[Owner, ...]) -> bool:
        changed = self.peers not in ((), peers)
        self.peers = peers
        return changed

    def holds(self, lane: LaneId) -> bool:
        return lane in self.held


def test_news_wakes_a_lane_or_calls_it_to_its_mailbox() -> None:
    stage = Stage()
    stage.heard = [Woken(A), Woken(B, is_command=True)]

    async def story() -> None:
        stage.patrol.start()
        await asyncio.sleep(0.1)

    stage.time.run(story())
    assert stage.woke == [("woken", A), ("called", B)]
    assert stage.moves == 2


def test_an_answer_that_another_process_committed_reaches_who_waits_for_it() -> None:
    stage = Stage()

    async def story() -> Result:
        waiting = asyncio.create_task(stage.waiters.result(INTENT))
        await asyncio.sleep(0.1)
        stage.result = Result(INTENT, "confirmed", 5)
        stage.heard = [Ended(B)]
        stage.patrol.start()
        await asyncio.sleep(0.1)
        assert not waiting.done()
        stage.heard = [Ended(A)]
        stage.patrol.start()
        return await waiting

    assert stage.time.run(story()).status == "confirmed"


def test_all_who_wait_at_a_lane_share_one_question() -> None:
    stage = Stage()
    intents = [intent_id(1, bytes([0] * 9 + [n])) for n in range(5)]

    async def story() -> None:
        waiting = [asyncio.create_task(stage.waiters.result(one, A)) for one in intents]
        await asyncio.sleep(0.1)
        # The first one asks at once, the others meanwhile, together.
        assert [len(asked) for _, asked in stage.asked] == [5]
        stage.heard = [Ended(A), Ended(B), Ended(A)]
        stage.patrol.start()
        await asyncio.sleep(0.1)
        assert [lane for lane, _ in stage.asked] == [A, A]
        for task in waiting:
            task.cancel()

    stage.time.run(story())


def test_a_heartbeat_finds_what_the_news_missed() -> None:
    stage = Stage()
    stage.lanes = [A, B]

    async def story() -> Result:
        waiting = asyncio.create_task(stage.waiters.result(INTENT))
        await asyncio.sleep(0.1)
        stage.result = Result(INTENT, "confirmed", 5)
        stage.held = {A}
        stage.patrol.beaten((ME, OTHER))
        await asyncio.sleep(0.1)
        assert not waiting.done()  # A lane that runs here tells by itself.
        stage.held = set()
        stage.patrol.beaten((ME, OTHER))
        return await waiting

    assert stage.time.run(story()).status == "confirmed"
    assert stage.peers == (ME, OTHER)
    assert stage.woke[:3] == [("called", A), ("woken", A), ("woken", B)]


def test_the_mailbox_of_a_stopped_lane_is_read_for_what_revives_it() -> None:
    stage = Stage()
    stage.shared = True
    stage.lanes = [A, B]
    stage.stopped = {B: 4}

    async def story() -> None:
        stage.patrol.beaten((ME,))
        await asyncio.sleep(0.1)

    stage.time.run(story())
    assert stage.woke == [("woken", A), ("called", B), ("woken", B)]


@pytest.mark.parametrize(("shared", "woke"), [(False, []), (True, [("woken", A)])])
def test_one_alone_looks_only_where_others_may_leave_work(
    shared: bool, woke: list[tuple[str, LaneId]]
) -> None:
    stage = Stage()
    stage.shared = shared
    stage.lanes = [A]

    async def story() -> None:
        stage.patrol.beaten((ME,))
        await asyncio.sleep(0.1)

    stage.time.run(story())
    assert stage.woke == woke


def test_the_last_one_left_looks_for_what_the_others_had() -> None:
    stage = Stage()

    async def story() -> None:
        stage.patrol.beaten((ME, OTHER))
        await asyncio.sleep(0.1)
        stage.lanes = [A]
        stage.patrol.beaten((ME,))
        await asyncio.sleep(0.1)

    stage.time.run(story())
    assert stage.woke == [("woken", A)]


def test_a_busy_store_is_looked_at_again_and_a_broken_one_ends_the_engine() -> None:
    stage = Stage()

    async def story() -> None:
        for error in (StoreBusy("locked"), StoreClosed("f.db", "fsync failed")):
            stage.error = error
            stage.patrol.beaten((ME, OTHER))
            await asyncio.sleep(0.1)

    stage.time.run(story())
    assert stage.failures == [stage.error]


def test_news_that_broke_off_are_heard_again_at_the_next_heartbeat() -> None:
    stage = Stage()
    stage.error = StoreBusy("away")
    stage.heard = [Woken(A)]

    async def story() -> None:
        stage.patrol.start()
        await asyncio.sleep(0.1)
        stage.error = None
        for _ in range(2):
            stage.patrol.beaten((ME,))
            await asyncio.sleep(0.1)
        stage.patrol.stop()

    stage.time.run(story())
    assert stage.woke == [("woken", A)]
    assert stage.failures == []


def test_a_store_of_one_process_has_no_news() -> None:
    stage = Stage()
    stage.shared = False

    async def story() -> None:
        stage.patrol.start()
        assert len(asyncio.all_tasks()) == 1

    stage.time.run(story())


def test_a_stopped_patrol_hears_nothing_more() -> None:
    stage = Stage()
    stage.heard = [Woken(A)]

    async def story() -> None:
        stage.patrol.start()
        stage.patrol.stop()
        await asyncio.sleep(0.1)

    stage.time.run(story())
    assert stage.woke == []
    assert stage.failures == []
