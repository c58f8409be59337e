"""What other processes do, by publish and subscribe: hints that may come late, twice or never."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from itertools import count
from math import inf

from redis.exceptions import RedisError

from laneway.core.ids import LaneId
from laneway.ports import Ended, News, Woken
from laneway.stores.redis.limits import CONNECT_MS_MAX, NEWS_HELD_MAX, NEWS_RETRY_MS
from laneway.stores.redis.scripts.calls import ScriptCaller
from laneway.stores.redis.servers.servers import Servers


def parsed(message: bytes, own: str) -> list[News]:
    """The lanes that a message names; nothing if it is our own."""
    kind, sender, *lanes = message.decode().split("\n")
    if sender == own:
        return []
    if kind == "ended":
        return [Ended(LaneId(lane)) for lane in lanes]
    return [Woken(LaneId(lane), is_command=kind == "told") for lane in lanes]


async def listen(
    servers: Servers, sender: ScriptCaller, closing: asyncio.Event
) -> AsyncIterator[News]:
    """News until the store is closed; a connection that is lost is made again."""
    held: deque[News] = deque(maxlen=NEWS_HELD_MAX)
    come = asyncio.Event()
    closed = asyncio.create_task(closing.wait())
    closed.add_done_callback(lambda _: come.set())
    listener = asyncio.create_task(receive(servers, sender, held, come), name="laneway-news")
    try:
        while not closing.is_set():
            while held:
                yield held.popleft()
            come.clear()
            if not closing.is_set():
                await come.wait()
    finally:
        for task in (listener, closed):
            task.cancel()
        await asyncio.gather(listener, closed, return_exceptions=True)


async def receive(
    servers: Servers, sender: ScriptCaller, held: deque[News], come: asyncio.Event
) -> None:
    for tries in count():
        connection = servers.connection(servers.another(tries))
        with suppress(RedisError, OSError, TimeoutError):
            try:
                async with asyncio.timeout(CONNECT_MS_MAX / 1000):
                    await connection.connect()  # type: ignore[no-untyped-call]
                await connection.send_command("SUBSCRIBE", sender.names.channel())
                while True:
                    kind, _, message = await connection.read_response(
                        disable_decoding=True, timeout=inf
                    )
                    if kind == b"message":
                        held.extend(parsed(message, sender.token))
                        come.set()
            finally:
                await connection.disconnect(nowait=True)
        await asyncio.sleep(NEWS_RETRY_MS / 1000)
