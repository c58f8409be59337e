"""What other processes did, told by LISTEN and NOTIFY: hints, which may be lost.

A notice is sent after the commit it tells of and not in it: PostgreSQL lets only one commit at a
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


class Notice(msgspec.Struct, frozen=True, array_like=True):
    """The lanes of one group that others should look at."""

    sender: str
    woken: list[str]
    ended: list[str]
    told: list[str] = []
    """Those that have a new command in their mailbox."""


_decode = msgspec.json.Decoder(Notice).decode


def notices(
    sender: str,
    woken: Iterable[LaneId],
    ended: Iterable[LaneId],
    told: Iterable[LaneId] = (),
) -> list[str]:
    """As few payloads as the lanes fit into; what does not fit at all is left out."""
    words = [("t", lane) for lane in told] + [("w", lane) for lane in woken]
    return list(payloads(sender, words + [("e", lane) for lane in ended]))[:NOTICES_MAX]


def payloads(sender: str, words: list[tuple[str, LaneId]]) -> Iterator[str]:
    kept: dict[str, list[str]] = {"w": [], "e": [], "t": []}
    size = 0
    for kind, lane in words:
        # Quotes and a comma; ids of lanes are ASCII without anything to escape but a backslash.
        cost = len(_encode(lane)) + 1
        if size + cost + len(sender) + 16 > NOTICE_BYTES_MAX:
            yield _encode(Notice(sender, kept["w"], kept["e"], kept["t"])).decode()
            kept, size = {"w": [], "e": [], "t": []}, 0
        kept[kind].append(lane)
        size += cost
    if size:
        yield _encode(Notice(sender, kept["w"], kept["e"], kept["t"])).decode()


class Listener:
    """Hears the notices of every other process until it is closed."""

    def __init__(self, database: Database, sender: str) -> None:
        self._database = database
        self._sender = sender
        self._heard: asyncio.Queue[News | None] = asyncio.Queue(NEWS_WAITING_MAX)
        self._task = asyncio.get_running_loop().create_task(self._run(), name="laneway-news")

    async def news(self) -> AsyncIterator[News]:
        try:
            while (heard := await self._heard.get()) is not None:
                yield heard
        finally:
            self._task.cancel()

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait((self._task,))
        while self._heard.full():
            self._heard.get_nowait()
        self._heard.put_nowait(None)

    async def _run(self) -> None:
        while True:
            try:
                await self._listen()
            except (psycopg.Error, StoreBusy):
                # Whoever needs to know asks too, so nothing is lost meanwhile.
                await asyncio.sleep(RECONNECT_MS_MAX / 1000)
            except LanewayError:
                return  # Refused: those who write and read will say why.

    async def _listen(self) -> None:
        connection = await self._database.reader()
        try:
            channel = sql.Identifier(self._database.channel)
            await connection.execute(sql.SQL("LISTEN {}").format(channel))
            async for notice in connection.notifies():
                self._hear(notice.payload)
        finally:
            await connection.close()

    def _hear(self, payload: str) -> None:
        try:
            notice = _decode(payload)
        except msgspec.MsgspecError:
            return  # Anyone may use the channel; a hint that cannot be read is none.
        if notice.sender == self._sender:
            return
        news: list[News] = [Woken(LaneId(lane), told=True) for lane in notice.told]
        news += [Woken(LaneId(lane)) for lane in notice.woken]
        news += [Ended(LaneId(lane)) for lane in notice.ended]
        for hint in news:
            if not self._heard.full():
                self._heard.put_nowait(hint)
