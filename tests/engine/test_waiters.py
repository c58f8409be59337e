"""Whoever waits hears the answer, or why it will not come from here."""

import asyncio
from collections.abc import Sequence
from typing import cast

import pytest
from tests.engine.virtual import VirtualTime

from laneway.core.errors import Draining, IntentNotFound, StoreBusy, StoreClosed
from laneway.core.ids import IntentId, LaneId, intent_id
from laneway.core.intent import Arrival, placed
from laneway.core.rows import Index, Result
from laneway.engine.limits import WAITERS_ASKED_MAX, WAITERS_CHECK_S
from laneway.engine.waiters import EngineStopped, Waiters
from laneway.ports import IntentView, Store

INTENT = intent_id(1, bytes(10))
HOME = LaneId("toy:A")
RESULT = Result(INTENT, "confirmed", 5, 7)


class Shelf:
    """The questions that waiters ask of a store."""

    def __init__(self, view: IntentView | None = None, left: Index | None = None) -> None:
        self.view = view
        self.left = left
        self.asked: list[tuple[LaneId, list[IntentId]]] = []

    async def intent(self, intent: IntentId) -> IntentView | None:
        await asyncio.sleep(0)
        return self.view

    async def answers(self, lane: LaneId, intents: Sequence[IntentId]) -> list[Result]:
        self.asked.append((lane, list(intents)))
        found = None if self.view is None else self.view.result
        return [] if found is None else [found]

    async def find(self, name: str, value: str) -> Index | None:
        return self.left if (name, value) == ("id", INTENT) else None


def waiting(result: Result | None = None) -> IntentView:
    arrival = Arrival(INTENT, LaneId("toy:A"), b"", b"", 0)
    return IntentView(placed(arrival, 1), result, open=False)


def made(shelf: Shelf) -> Waiters:
    return Waiters(cast(Store, shelf))


def test_an_answer_that_is_there_already_is_given_at_once() -> None:
    assert VirtualTime().run(made(Shelf(waiting(RESULT))).result(INTENT)) == RESULT


def test_an_answer_that_comes_while_the_store_is_asked_is_not_missed() -> None:
    async def main() -> Result:
        waiters = made(Shelf(waiting()))
        asking = asyncio.ensure_future(waiters.result(INTENT))
        await asyncio.sleep(0)
        waiters.tell([RESULT])
        return await asking

    assert VirtualTime().run(main()) == RESULT


def test_every_waiter_of_one_intent_hears_its_answer() -> None:
    async def main() -> list[Result]:
        waiters = made(Shelf(waiting()))
        asking = [asyncio.ensure_future(waiters.result(INTENT)) for _ in range(3)]
        await asyncio.sleep(1)
        waiters.tell([RESULT])
        return list(await asyncio.gather(*asking))

    assert VirtualTime().run(main()) == [RESULT] * 3


def test_a_waiter_that_gives_up_leaves_nothing_behind() -> None:
    async def main() -> None:
        waiters = made(Shelf(waiting()))
        for _ in range(3):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await waiters.result(INTENT)
        assert waiters._waiting == {}

    VirtualTime().run(main())


def test_who_knows_its_lane_is_asked_for_with_the_others_there() -> None:
    async def main() -> None:
        shelf = Shelf(waiting())
        waiters = made(shelf)
        asking = asyncio.ensure_future(waiters.result(INTENT, HOME))
        await asyncio.sleep(0)
        waiters.ended(LaneId("toy:other"))
        await waiters.ask()
        assert shelf.asked == [(HOME, [INTENT])]
        assert not asking.done()
        shelf.view = waiting(RESULT)
        waiters.doubt(lambda lane: lane == HOME)
        await waiters.ask()
        assert len(shelf.asked) == 1
        waiters.doubt(lambda _: False)
        await waiters.ask()
        assert await asking == RESULT
        assert (waiters._waiting, waiters._homes, waiters._lanes) == ({}, {}, {})

    VirtualTime().run(main())


def test_more_than_one_question_holds_take_turns() -> None:
    intents = [intent_id(1, n.to_bytes(10, "big")) for n in range(WAITERS_ASKED_MAX + 3)]

    async def main() -> None:
        shelf = Shelf(waiting())
        waiters = made(shelf)
        asking = [asyncio.ensure_future(waiters.result(one, HOME)) for one in intents]
        await asyncio.sleep(0)
        await waiters.ask()
        waiters.ended(HOME)
        await waiters.ask()
        assert [len(asked) for _, asked in shelf.asked] == [WAITERS_ASKED_MAX] * 2
        assert set(intents) == {one for _, asked in shelf.asked for one in asked}
        for task in asking:
            task.cancel()

    VirtualTime().run(main())


def test_of_what_was_pruned_meanwhile_the_final_word_is_found() -> None:
    left = Index("id", INTENT, INTENT, HOME, status="confirmed", hash=b"h")
    result = VirtualTime().run(made(Shelf(left=left)).result(INTENT, HOME))
    assert (result.status, result.hash) == ("confirmed", b"h")


def test_a_wait_outlives_a_store_that_is_away() -> None:
    class Away(Shelf):
        away = False

        async def intent(self, intent: IntentId) -> IntentView | None:
            if self.away:
                raise StoreBusy("away")
            return await super().intent(intent)

        async def answers(self, lane: LaneId, intents: Sequence[IntentId]) -> list[Result]:
            if self.away:
                raise StoreBusy("away")
            return await super().answers(lane, intents)

    async def main() -> None:
        shelf = Away(waiting())
        waiters = made(shelf)
        asking = asyncio.ensure_future(waiters.result(INTENT, HOME))
        await asyncio.sleep(0)
        shelf.away = True
        with pytest.raises(StoreBusy):
            await waiters.ask()
        await asyncio.sleep(3 * WAITERS_CHECK_S)
        assert not asking.done(), "it is durable, and goes on whether the store is here or not"
        shelf.away, shelf.view = False, waiting(RESULT)
        # Also of a lane that is held here: the answer may have been told before it was waited for.
        wanted: list[bool] = []
        waiters.wanted = lambda: wanted.append(True)
        waiters.doubt(lambda _: True)
        assert wanted
        await waiters.ask()
        assert await asking == RESULT

    VirtualTime().run(main())


def test_an_intent_that_nobody_knows_is_said_so() -> None:
    with pytest.raises(IntentNotFound):
        VirtualTime().run(made(Shelf()).result(INTENT))


def test_of_a_pruned_intent_the_final_word_is_given() -> None:
    left = Index("id", INTENT, INTENT, LaneId("toy:A"), status="confirmed", hash=b"h")
    result = VirtualTime().run(made(Shelf(left=left)).result(INTENT))
    assert (result.status, result.hash) == ("confirmed", b"h")


def test_the_end_is_told_to_those_who_wait_and_to_those_who_come() -> None:
    async def main() -> None:
        waiters = made(Shelf(waiting()))
        asking = asyncio.ensure_future(waiters.result(INTENT))
        await asyncio.sleep(1)
        waiters.end(StoreClosed("x.db", "EIO"))
        waiters.end(EngineStopped())
        with pytest.raises(StoreClosed):
            await asking
        with pytest.raises(StoreClosed):
            await waiters.result(INTENT)

    VirtualTime().run(main())


def test_a_stopped_engine_says_that_the_intent_goes_on() -> None:
    error = EngineStopped()
    assert isinstance(error, Draining)
    assert (error.code, error.retry, error.changed) == ("engine_stopped", "later", False)
    assert "durable" in str(error)
