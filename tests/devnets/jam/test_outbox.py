"""What waits for a client is bounded, and keeps its order."""

import asyncio

import pytest

from laneway.devnets.jam import outbox
from laneway.devnets.jam.outbox import Outbox


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "OUTGOING_COUNT_MAX", 4)
    monkeypatch.setattr(outbox, "OUTGOING_BYTES_MAX", 100)


def test_messages_are_taken_in_their_order() -> None:
    async def story() -> None:
        box = Outbox()
        assert [box.put(bytes([n])) for n in range(4)] == [True] * 4
        assert [await box.take() for _ in range(4)] == [bytes([n]) for n in range(4)]

    asyncio.run(story())


def test_who_takes_waits_until_there_is_something() -> None:
    async def story() -> None:
        box = Outbox()
        waiting = asyncio.create_task(box.take())
        await asyncio.sleep(0)
        assert not waiting.done()
        assert box.put(b"late")
        assert await waiting == b"late"

    asyncio.run(story())


def test_there_is_room_for_so_many_messages_and_so_many_bytes() -> None:
    async def story() -> None:
        many, large = Outbox(), Outbox()
        assert [many.put(b"1") for _ in range(5)] == [True] * 4 + [False]
        assert [large.put(bytes(60)) for _ in range(2)] == [True, False]
        await large.take()
        assert large.put(bytes(60))

    asyncio.run(story())


def test_one_message_has_room_whatever_its_size() -> None:
    async def story() -> None:
        box = Outbox()
        assert box.put(bytes(1000))
        assert not box.put(b"1")
        assert len(await box.take()) == 1000
        assert box.put(b"1")

    asyncio.run(story())


def test_who_asks_waits_while_half_of_it_is_full() -> None:
    async def story() -> None:
        box = Outbox()
        await box.room()
        box.put(b"1")
        await box.room()
        box.put(b"2")
        waiting = asyncio.create_task(box.room())
        await asyncio.sleep(0)
        assert not waiting.done()
        await box.take()
        await waiting

    asyncio.run(story())
