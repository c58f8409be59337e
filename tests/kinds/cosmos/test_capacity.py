"""The line for bytes: first come first served, not yet accepted, and it can be left."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

import pytest

from laneway.core.errors import BadRequest, NoRoom, StoreBusy
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import Accepted, Answer, Arrival, Full, Replayed
from laneway.core.limits import TOGETHER_BYTES_MAX, TOGETHER_COUNT_MAX
from laneway.core.rows import Result
from laneway.kinds.cosmos.capacity import ByteCapacity, held_bytes
from laneway.kinds.limits import TX_OVERHEAD_BYTES
from laneway.stores.redis.limits import ARRIVALS_PER_CALL_MAX, CALL_BYTES_MAX

A, B = LaneId("cosmos:dev:a"), LaneId("cosmos:dev:b")
SIZE = 10_000
HELD = held_bytes(SIZE)


def arrival(name: str, lane: LaneId = A, size: int = SIZE) -> Arrival:
    return Arrival(IntentId(name), lane, bytes(size), b"", 0)


class Door:
    """Accepts what it is given, unless the lane is full."""

    def __init__(self) -> None:
        self.accepted: list[str] = []
        self.full: set[LaneId] = set()
        self.asked = 0
        self.gate: asyncio.Event | None = None
        self.answer: Answer | None = None

    async def accept(self, one: Arrival) -> Answer:
        self.asked += 1
        await asyncio.sleep(0)
        if self.gate is not None:
            await self.gate.wait()
        if self.answer is not None:
            return self.answer
        if one.lane in self.full:
            return Full("bytes", 1)
        self.accepted.append(one.id)
        return Accepted(one.id, 1, 1, 1, fast=False)


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(story(), 10))


async def soon() -> None:
    for _ in range(60):
        await asyncio.sleep(0)


def settle(room: ByteCapacity, name: str, lane: LaneId = A) -> None:
    room.notified(lane, (), (Result(IntentId(name), "confirmed", 0),))


def start(
    room: ByteCapacity, door: Door, name: str, lane: LaneId = A, **words: Any
) -> "asyncio.Task[Any]":
    one = arrival(name, lane, words.pop("size", SIZE))
    return asyncio.create_task(room.submit(one, door.accept))


def submit(room: ByteCapacity, door: Door, one: Arrival) -> Awaitable[Answer]:
    return room.submit(one, door.accept)


def test_a_payload_counts_with_the_bytes_that_are_signed_of_it() -> None:
    assert held_bytes(1_000) == 2_000 + TX_OVERHEAD_BYTES


def test_there_is_room_until_there_is_none_and_again_when_one_is_settled() -> None:
    async def story() -> None:
        room, door = ByteCapacity(2 * HELD, 10 * HELD, 5_000), Door()
        tasks = [start(room, door, name) for name in ("1", "2", "3")]
        await soon()
        assert door.accepted == ["1", "2"]
        assert (room.held, room.waiting()) == (2 * HELD, 1)
        settle(room, "1")
        await soon()
        assert door.accepted == ["1", "2", "3"]
        assert (room.held, room.waiting()) == (2 * HELD, 0)
        await asyncio.gather(*tasks)
        settle(room, "2")
        settle(room, "3")
        assert room.held == 0

    run(story)


def test_nobody_is_served_before_who_came_first() -> None:
    async def story() -> None:
        room, door = ByteCapacity(3 * HELD, 10 * HELD, 5_000), Door()
        start(room, door, "1")
        await soon()
        large = start(room, door, "large", B, size=2 * SIZE + TX_OVERHEAD_BYTES)
        small = start(room, door, "small")
        await soon()
        assert door.accepted == ["1"]  # The small one would fit.
        settle(room, "1")
        await soon()
        assert door.accepted == ["1", "large"]
        settle(room, "large", B)
        await soon()
        assert door.accepted == ["1", "large", "small"]
        await asyncio.gather(large, small)

    run(story)


def test_who_leaves_the_line_leaves_nothing_behind() -> None:
    async def story() -> None:
        room, door = ByteCapacity(HELD, 10 * HELD, 5_000), Door()
        await submit(room, door, arrival("1"))
        gone, next_ = start(room, door, "2", B), start(room, door, "3")
        await soon()
        gone.cancel()
        await soon()
        assert room.waiting() == 1
        settle(room, "1")
        await next_
        assert door.accepted == ["1", "3"]
        settle(room, "3")
        assert room.held == 0

    run(story)


def test_who_leaves_in_the_moment_of_being_served_gives_it_back() -> None:
    async def story() -> None:
        room, door = ByteCapacity(HELD, 10 * HELD, 5_000), Door()
        await submit(room, door, arrival("1"))
        gone = start(room, door, "2")
        await soon()
        settle(room, "1")
        gone.cancel()
        await soon()
        assert room.held == 0
        assert door.accepted == ["1"]

    run(story)


def test_who_waits_too_long_is_told_which_bound_it_was() -> None:
    async def story() -> None:
        room, door = ByteCapacity(HELD, 10 * HELD, 20), Door()
        await submit(room, door, arrival("1"))
        with pytest.raises(NoRoom, match=r"sequence\.process_bytes_max is"):
            await submit(room, door, arrival("2"))
        assert room.held == HELD
        door.full.add(B)
        room = ByteCapacity(9 * HELD, HELD, 20)
        with pytest.raises(NoRoom, match=r"sequence\.account_bytes_max is"):
            await submit(room, door, arrival("3", B))
        assert room.held == 0
        with pytest.raises(NoRoom, match=r"for 0\.01 s"):
            await room.submit(arrival("3", B), door.accept, 0.01)

    run(story)


@pytest.mark.parametrize("bounds", [(HELD - 1, 9 * HELD), (9 * HELD, HELD - 1)])
def test_what_is_larger_than_a_bound_fails_at_once(bounds: tuple[int, int]) -> None:
    async def story() -> None:
        room, door = ByteCapacity(*bounds, 5_000), Door()
        with pytest.raises(BadRequest, match="bytes_max is"):
            await submit(room, door, arrival("1"))
        assert door.asked == 0

    run(story)


def test_an_account_that_is_full_waits_for_its_own_and_holds_up_no_other() -> None:
    async def story() -> None:
        room, door = ByteCapacity(9 * HELD, 9 * HELD, 5_000), Door()
        door.full.add(A)
        first, second = start(room, door, "1"), start(room, door, "2")
        other = start(room, door, "3", B)
        await other
        await soon()
        assert door.accepted == ["3"]
        settle(room, "3", B)
        await soon()
        assert door.accepted == ["3"]
        door.full.clear()
        settle(room, "0")
        await first
        await second
        assert door.accepted == ["3", "1", "2"]

    run(story)


def test_what_was_known_already_holds_nothing_more() -> None:
    async def story() -> None:
        room, door = ByteCapacity(9 * HELD, 9 * HELD, 5_000), Door()
        door.answer = Replayed(IntentId("0"))
        assert await submit(room, door, arrival("1")) == door.answer
        assert room.held == 0

    run(story)


def test_a_write_that_nobody_waits_for_any_more_is_counted_as_it_ends() -> None:
    async def story() -> None:
        for answer, held in ((None, HELD), (Replayed(IntentId("0")), 0)):
            room, door = ByteCapacity(9 * HELD, 9 * HELD, 5_000), Door()
            door.gate, door.answer = asyncio.Event(), answer
            task = start(room, door, "1")
            await soon()
            task.cancel()
            await soon()
            assert room.held == HELD
            door.gate.set()
            await soon()
            assert room.held == held

    run(story)


def test_a_store_that_fails_gives_everything_back() -> None:
    async def story() -> None:
        room = ByteCapacity(9 * HELD, 9 * HELD, 5_000)

        async def fails(_: Arrival) -> Answer:
            raise OSError("the disk is gone")

        with pytest.raises(OSError, match="gone"):
            await room.submit(arrival("1"), fails)
        assert room.held == 0

    run(story)


def test_what_others_settled_is_nothing_to_this_process() -> None:
    room = ByteCapacity(9 * HELD, 9 * HELD, 5_000)
    room.notified(A, (), ())
    settle(room, "unknown")
    assert room.held == 0


# Batches.


class ManyDoor(Door):
    """Takes a batch in one write; those named in `full` of an account find it full."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[list[str]] = []
        self.fails: Exception | None = None

    async def accept_many(self, part: Sequence[Arrival]) -> Sequence[Answer]:
        self.writes.append([one.id for one in part])
        await asyncio.sleep(0)
        if self.gate is not None:
            await self.gate.wait()
        if self.fails is not None:
            raise self.fails
        return [await Door.accept(self, one) for one in part]


def batch(
    room: ByteCapacity, door: ManyDoor, *arrivals: Arrival, timeout_s: float | None = None
) -> "asyncio.Task[list[Answer | NoRoom]]":
    work = room.submit_many(arrivals, door.accept_many, door.accept, timeout_s)
    return asyncio.create_task(work)


def test_a_batch_is_one_write_as_long_as_it_asks_for_a_part_of_the_room() -> None:
    async def story() -> None:
        room, door = ByteCapacity(8 * 2 * HELD, 100 * HELD, 5_000), ManyDoor()
        answers = await batch(room, door, *(arrival(name) for name in "12345"))
        assert [type(answer) for answer in answers] == [Accepted] * 5
        assert door.writes == [["1", "2"], ["3", "4"], ["5"]]
        assert room.held == 5 * HELD
        for name in "12345":
            settle(room, name)
        assert room.held == 0
        assert await batch(room, door) == []

    run(story)


def test_the_end_of_a_batch_that_finds_its_account_full_waits_in_its_order() -> None:
    async def story() -> None:
        room, door = ByteCapacity(100 * HELD, 100 * HELD, 5_000), ManyDoor()
        door.full.add(A)
        first = batch(room, door, arrival("1"), arrival("2"))
        await soon()
        second = batch(room, door, arrival("3"), arrival("4"))
        await soon()
        assert door.writes == [["1", "2"]], "the second batch stands behind the first"
        assert door.accepted == []
        door.full.clear()
        settle(room, "another")
        assert [type(answer) for answer in await first] == [Accepted, Accepted]
        assert [type(answer) for answer in await second] == [Accepted, Accepted]
        assert door.accepted == ["1", "2", "3", "4"]
        assert room.held == 4 * HELD

    run(story)


def test_behind_one_that_finds_no_room_in_time_nothing_is_accepted() -> None:
    async def story() -> None:
        room, door = ByteCapacity(8 * HELD, 100 * HELD, 5_000), ManyDoor()
        answers = await batch(room, door, *(arrival(f"{n}") for n in range(10)), timeout_s=0.02)
        assert [type(answer) for answer in answers] == [Accepted] * 8 + [NoRoom] * 2
        assert isinstance(answers[9], NoRoom)
        assert answers[9].bound == "sequence.process_bytes_max"
        door.full.add(B)
        settle(room, "0")
        settle(room, "1")
        answers = await batch(room, door, arrival("x", B), arrival("y", B), timeout_s=0.02)
        assert [type(answer) for answer in answers] == [NoRoom] * 2
        assert isinstance(answers[0], NoRoom)
        assert answers[0].bound == "sequence.account_bytes_max"
        assert room.held == 6 * HELD

    run(story)


def test_a_batch_that_is_no_more_waited_for_is_accepted_all_the_same() -> None:
    async def story() -> None:
        room, door = ByteCapacity(100 * HELD, 100 * HELD, 5_000), ManyDoor()
        door.gate = asyncio.Event()
        gone = batch(room, door, arrival("1"), arrival("2"))
        await soon()
        gone.cancel()
        await soon()
        door.gate.set()
        await soon()
        assert door.accepted == ["1", "2"]
        assert room.held == 2 * HELD

    run(story)


def test_a_batch_that_could_not_be_written_holds_no_room() -> None:
    async def story() -> None:
        room, door = ByteCapacity(100 * HELD, 100 * HELD, 5_000), ManyDoor()
        door.fails = StoreBusy("the disk")
        with pytest.raises(StoreBusy):
            await batch(room, door, arrival("1"), arrival("2"))
        assert room.held == 0

    run(story)


def test_a_batch_with_one_that_never_fits_is_refused_whole() -> None:
    async def story() -> None:
        room, door = ByteCapacity(2 * HELD, 2 * HELD, 5_000), ManyDoor()
        with pytest.raises(BadRequest, match="process_bytes_max"):
            await batch(room, door, arrival("1"), arrival("2", size=3 * SIZE))
        assert (door.writes, room.held) == ([], 0)

    run(story)


def test_what_was_taken_behind_a_full_one_is_never_handed_in_again() -> None:
    """A store that takes several steps, and a commit between two of them."""

    async def story() -> None:
        room, door = ByteCapacity(100 * HELD, 100 * HELD, 5_000), ManyDoor()

        async def in_two_steps(part: Sequence[Arrival]) -> Sequence[Answer]:
            door.accepted += [part[0].id, part[2].id]
            first, last = (Accepted(part[at].id, at + 1, 1, 1, fast=False) for at in (0, 2))
            return [first, Full("bytes", 1), last]

        arrivals = [arrival(name) for name in "123"]
        answers = await room.submit_many(arrivals, in_two_steps, door.accept)
        assert [type(answer) for answer in answers] == [Accepted] * 3
        assert sorted(door.accepted) == ["1", "2", "3"], "each of them once"
        assert door.asked == 1
        assert room.held == 3 * HELD

    run(story)


def test_a_part_is_what_every_store_places_in_one_step() -> None:
    async def story() -> None:
        room, door = ByteCapacity(10_000 * HELD, 10_000 * HELD, 5_000), ManyDoor()
        await batch(room, door, *(arrival(f"{n}", size=1) for n in range(250)))
        assert [len(write) for write in door.writes] == [100, 100, 50]
        assert TOGETHER_COUNT_MAX <= ARRIVALS_PER_CALL_MAX
        assert TOGETHER_BYTES_MAX <= CALL_BYTES_MAX

    run(story)
