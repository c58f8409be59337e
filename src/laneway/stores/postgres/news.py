"""News of other processes, by LISTEN and NOTIFY: hints, which may be lost.

A notice is sent after the commit it reports and not in it: PostgreSQL lets only one commit at a
time carry one, sync included.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator

import msgspec
import psycopg
from psycopg import sql

from laneway.core.errors import LanewayError, StoreBusy
from laneway.core.ids import LaneId
from laneway.ports import Ended, News, Woken
from laneway.stores.postgres.database import Database
from laneway.stores.postgres.limits import (
    NEWS_WAITING_MAX,
    NOTICE_BYTES_MAX,
    NOTICES_MAX,
    RECONNECT_MS_MAX,
)

_encode = msgspec.json.Encoder().encode


class NewsNotice(msgspec.Struct, frozen=True, array_like=True):
    """The lanes of one group that others should look at."""

    sender: str
    woken: list[str]
    ended: list[str]
    commanded: list[str] = []
    """Those that have a new command in their mailbox."""


_decode = msgspec.json.Decoder(NewsNotice).decode


def notices(
    sender: str,
    woken: Iterable[LaneId],
    ended: Iterable[LaneId],
    commanded: Iterable[LaneId] = (),
) -> list[str]:
    """As few payloads as the lanes fit into; what does not fit at all is left out."""
    lanes = [("t", lane) for lane in commanded] + [("w", lane) for lane in woken]
    return list(payloads(sender, lanes + [("e", lane) for lane in ended]))[:NOTICES_MAX]


def payloads(sender: str, lanes: list[tuple[str, LaneId]]) -> Iterator[str]:
    kept: dict[str, list[str]] = {"w": [], "e": [], "t": []}
    size = 0
    for kind, lane in lanes:
        # Quotes and a comma; ids of lanes are ASCII without anything to escape but a backslash.
        cost = len(_encode(lane)) + 1
        if size + cost + len(sender) + 16 > NOTICE_BYTES_MAX:
            yield _encode(NewsNotice(sender, kept["w"], kept["e"], kept["t"])).decode()
            kept, size = {"w": [], "e": [], "t": []}, 0
        kept[kind].append(lane)
        size += cost
    if size:
        yield _encode(NewsNotice(sender, kept["w"], kept["e"], kept["t"])).decode()


class NewsListener:
    """Receives the notices of every other process until it is closed."""

    def __init__(self, database: Database, sender: str) -> None:
        self._database = database
        self._sender = sender
        self._received: asyncio.Queue[News | None] = asyncio.Queue(NEWS_WAITING_MAX)
        self._task = asyncio.get_running_loop().create_task(self._run(), name="laneway-news")

    async def news(self) -> AsyncIterator[News]:
        try:
            while (hint := await self._received.get()) is not None:
                yield hint
        finally:
            self._task.cancel()

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait((self._task,))
        while self._received.full():
            self._received.get_nowait()
        self._received.put_nowait(None)

    async def _run(self) -> None:
        while True:
            try:
                await self._listen()
            except (psycopg.Error, StoreBusy):
                # A process that needs to know asks too, so nothing is lost meanwhile.
                await asyncio.sleep(RECONNECT_MS_MAX / 1000)
            except LanewayError:
                return  # Refused: those who write and read will say why.

    async def _listen(self) -> None:
        connection = await self._database.reader()
        try:
            channel = sql.Identifier(self._database.channel)
            await connection.execute(sql.SQL("LISTEN {}").format(channel))
            async for notice in connection.notifies():
                self._receive(notice.payload)
        finally:
            await connection.close()

    def _receive(self, payload: str) -> None:
        try:
            notice = _decode(payload)
        except msgspec.MsgspecError:
            return  # Anyone may use the channel; a hint that cannot be read is none.
        if notice.sender == self._sender:
            return
        news: list[News] = [Woken(LaneId(lane), is_command=True) for lane in notice.commanded]
        news += [Woken(LaneId(lane)) for lane in notice.woken]
        news += [Ended(LaneId(lane)) for lane in notice.ended]
        for hint in news:
            if not self._received.full():
                self._received.put_nowait(hint)
