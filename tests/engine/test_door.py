"""Where intents come in: in batches, durable before they are answered, woken whatever happens."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from tests.engine.virtual import VirtualTime

from laneway.core.errors import Draining, LanewayError, StoreClosed, StoreFull, StoreUnknown
from laneway.core.ids import LaneId, intent_id
from laneway.core.intent import Accepted, Answer, Arrival, Conflict, Full, Replayed
from laneway.engine.door import Door
from laneway.engine.limits import ACCEPT_BATCH_MAX


def arrival(number: int) -> Arrival:
    return Arrival(intent_id(number, bytes(10)), LaneId("toy:A"), b"", b"", 0)


def accepted(arrivals: Sequence[Arrival]) -> list[Answer]:
    return [Accepted(one.id, seq, seq, 0, True) for seq, one in enumerate(arrivals, 1)]


class Hall:
    """A door, and a store that answers when it is told to."""

    def __init__(self) -> None:
        self.batches: list[list[Arrival]] = []
        self.answers: list[asyncio.Future[Sequence[Answer]]] = []
        self.entered: list[Arrival] = []
        self.written: list[BaseException | None] = []
        store: Any = self
        self.door = Door(store, lambda one, _: self.entered.append(one), self._written)

    def _written(self, arrivals: Sequence[Arrival], error: BaseException | None) -> None:
        self.written.append(error)

    def accept(self, arrivals: Sequence[Arrival]) -> "asyncio.Future[Sequence[Answer]]":
        self.batches.append(list(arrivals))
        future: asyncio.Future[Sequence[Answer]] = asyncio.get_running_loop().create_future()
        self.answers.append(future)
        return future

    def answer_all(self) -> None:
        for batch, future in zip(self.batches, self.answers, strict=True):
            if not future.done():
                future.set_result(accepted(batch))


def test_arrivals_of_one_loop_turn_share_one_write() -> None:
    async def main() -> None:
        hall = Hall()
        futures = [hall.door.submit(arrival(n)) for n in range(10)]
        await asyncio.sleep(0)
        assert [len(batch) for batch in hall.batches] == [10]
        hall.answer_all()
        answers = await asyncio.gather(*futures)
        assert [answer.id for answer in answers if isinstance(answer, Accepted)] == [
            one.id for one in hall.batches[0]
        ]

    VirtualTime().run(main())


def test_a_write_is_bounded_and_the_order_is_kept() -> None:
    async def main() -> None:
        hall = Hall()
        for n in range(ACCEPT_BATCH_MAX + 5):
            hall.door.submit(arrival(n))
        await asyncio.sleep(0)
        assert [len(batch) for batch in hall.batches] == [ACCEPT_BATCH_MAX, 5]
        flat = [one.id for batch in hall.batches for one in batch]
        assert flat == sorted(flat)

    VirtualTime().run(main())


def test_nobody_is_answered_before_it_is_durable() -> None:
    async def main() -> None:
        hall = Hall()
        future = hall.door.submit(arrival(1))
        await asyncio.sleep(1)
        assert not future.done()
        assert hall.entered == []
        hall.answer_all()
        await future
        assert hall.entered == [arrival(1)]

    VirtualTime().run(main())


def test_what_a_cancelled_caller_submitted_is_accepted_and_woken_all_the_same() -> None:
    async def main() -> None:
        hall = Hall()
        one = hall.door.submit(arrival(1))
        many = hall.door.submit_many([arrival(2), arrival(3)])
        await asyncio.sleep(0)
        one.cancel()
        many.cancel()
        hall.answer_all()
        await asyncio.sleep(0)
        assert sorted(entered.id for entered in hall.entered) == [arrival(n).id for n in (1, 2, 3)]
        assert hall.door.is_quiet()

    VirtualTime().run(main())


def test_a_store_error_reaches_every_caller() -> None:
    async def main() -> None:
        hall = Hall()
        futures: list[asyncio.Future[Any]] = [hall.door.submit(arrival(n)) for n in range(3)]
        futures.append(hall.door.submit_many([arrival(9)]))
        await asyncio.sleep(0)
        error = StoreFull("x.db")
        for answer in hall.answers:
            answer.set_exception(error)
        found = await asyncio.gather(*futures, return_exceptions=True)
        assert found == [error] * 4
        assert hall.entered == []
        assert hall.written == [error, error]
        assert hall.door.is_quiet()

    VirtualTime().run(main())


def test_a_foreign_error_of_the_store_leaves_nobody_waiting() -> None:
    async def main() -> None:
        hall = Hall()
        future = hall.door.submit(arrival(1))
        await asyncio.sleep(0)
        hall.answers[0].set_exception(KeyError("a bug"))
        with pytest.raises(KeyError):
            await future

    VirtualTime().run(main())


@pytest.mark.parametrize(
    "answer", [Replayed(arrival(7).id), Conflict(arrival(7).id), Full("intents", 5)]
)
def test_what_was_not_accepted_now_wakes_nobody_and_ends_the_write(answer: Answer) -> None:
    async def main() -> None:
        hall = Hall()
        one, many = hall.door.submit(arrival(1)), hall.door.submit_many([arrival(2)])
        await asyncio.sleep(0)
        for future in hall.answers:
            future.set_result([answer])
        assert await one == answer
        assert await many == [answer]
        assert hall.entered == []
        assert hall.written == [None, None], "whoever waits for the door to be quiet is told"

    VirtualTime().run(main())


def test_a_draining_door_writes_what_waits_and_takes_nothing_more() -> None:
    async def main() -> None:
        hall = Hall()
        before = hall.door.submit(arrival(1))
        hall.door.close()
        assert not hall.door.is_quiet()
        for late in (hall.door.submit(arrival(2)), hall.door.submit_many([arrival(3)])):
            with pytest.raises(Draining):
                await late
        await asyncio.sleep(0)
        hall.answer_all()
        assert isinstance(await before, Accepted)
        assert len(hall.batches) == 1
        assert hall.door.is_quiet()

    VirtualTime().run(main())


@pytest.mark.parametrize("error", [StoreClosed("x.db", "EIO"), StoreUnknown("no answer")])
def test_after_a_failure_the_door_says_what_failed(error: LanewayError) -> None:
    async def main() -> None:
        hall = Hall()
        hall.door.close()
        hall.door.close(error)
        hall.door.close()
        with pytest.raises(type(error)):
            await hall.door.submit(arrival(1))

    VirtualTime().run(main())
