"""What waits for a client is bounded, and keeps its order."""

import asyncio

from laneway.wire.rpc_server.connection import Outbox
from laneway.wire.rpc_server.limits import RpcLimits

LIMITS = RpcLimits(body_bytes=100, outgoing_count=4, outgoing_bytes=100)


def test_messages_are_taken_in_their_order() -> None:
    async def story() -> None:
        box = Outbox(LIMITS)
        assert [box.put(bytes([n])) for n in range(4)] == [True] * 4
        assert [await box.take() for _ in range(4)] == [bytes([n]) for n in range(4)]

    asyncio.run(story())


def test_who_takes_waits_until_there_is_something() -> None:
    async def story() -> None:
        box = Outbox(LIMITS)
        waiting = asyncio.create_task(box.take())
        await asyncio.sleep(0)
        assert not waiting.done()
        assert box.put(b"late")
        assert await waiting == b"late"

    asyncio.run(story())


def test_there_is_room_for_so_many_messages_and_so_many_bytes() -> None:
    async def story() -> None:
        many, large = Outbox(LIMITS), Outbox(LIMITS)
        assert [many.put(b"1") for _ in range(5)] == [True] * 4 + [False]
        assert [large.put(bytes(60)) for _ in range(2)] == [True, False]
        await large.take()
        assert large.put(bytes(60))

    asyncio.run(story())


def test_one_message_has_room_whatever_its_size() -> None:
    async def story() -> None:
        box = Outbox(LIMITS)
        assert box.put(bytes(1000))
        assert not box.put(b"1")
        assert len(await box.take()) == 1000
        assert box.put(b"1")

    asyncio.run(story())


def test_who_asks_waits_while_half_of_it_is_full() -> None:
    async def story() -> None:
        box = Outbox(LIMITS)
        await box.capacity()
        box.put(b"1")
        await box.capacity()
        box.put(b"2")
        waiting = asyncio.create_task(box.capacity())
        await asyncio.sleep(0)
        assert not waiting.done()
        await box.take()
        await waiting

    asyncio.run(story())
