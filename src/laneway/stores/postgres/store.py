"""The store on PostgreSQL: many processes, one database."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Sequence

from laneway.core.errors import LeaseLost
from laneway.core.ids import LaneId, Owner
from laneway.core.intent import Answer, Arrival
from laneway.core.rows import Command, Lease
from laneway.ports import Alive, Commit, Lost, News
from laneway.stores.limits import COMMIT_BYTES
from laneway.stores.postgres.database import Database
from laneway.stores.postgres.draft import GroupDraft, Question
from laneway.stores.postgres.news import NewsListener, notices
from laneway.stores.postgres.reader import PostgresReader
from laneway.stores.postgres.writer import Writer


class PostgresStore(PostgresReader):
    """Every request that writes is answered only when its group is durable.

    Opening it brings the schema to the newest shape, and refuses a server whose settings could
    lose what was acknowledged unless `relaxed` says that this may be.
    """

    shared = True

    def __init__(self, conninfo: str, *, schema: str = "laneway", relaxed: bool = False) -> None:
        database = Database(conninfo, schema=schema, relaxed=relaxed)
        self.durability = database.prepare()
        super().__init__(database)
        self.writer = Writer(database, self._notices)
        self._sender = os.urandom(8).hex()
        self._owners: set[Owner] = set()
        """Who beats here: their own lanes need no notice from us."""
        self._listeners: list[NewsListener] = []

    # Writers.

    def accept(self, arrivals: Sequence[Arrival]) -> "asyncio.Future[Sequence[Answer]]":
        size = sum(COMMIT_BYTES + len(arrival.payload) for arrival in arrivals)
        return self.writer.ask("accept", arrivals, size=size)

    def tell(self, command: Command) -> "asyncio.Future[Command]":
        return self.writer.ask("tell", command)

    def beat(self, owner: Owner, ttl_ms: int) -> "asyncio.Future[Alive | Lost]":
        self._owners.add(owner)
        return self.writer.ask("beat", owner, ttl_ms)

    def leave(self, owner: Owner) -> "asyncio.Future[None]":
        self._owners.discard(owner)
        return self.writer.ask("leave", owner)

    def claim(self, lane: LaneId, owner: Owner) -> "asyncio.Future[Lease | None]":
        return self.writer.ask("claim", lane, owner)

    def commit(self, commits: Sequence[Commit]) -> "asyncio.Future[Sequence[int | LeaseLost]]":
        size = sum(COMMIT_BYTES + len(commit.write.feed) for commit in commits)
        return self.writer.ask("commit_all", commits, size=size)

    def release(self, lease: Lease) -> "asyncio.Future[None]":
        return self.writer.ask("release", lease)

    def prune(self, before_ms: int, feed_before_ms: int, limit: int) -> "asyncio.Future[int]":
        return self.writer.ask("prune_old", before_ms, feed_before_ms, limit)

    def cautions(self) -> list[str]:
        late = self.database.standbys_behind
        if not late:
            return []
        return [
            f"{late} standbys of {self.database.name} follow asynchronously; a promoted one may "
            "lack what was accepted, and run it twice (synchronous_standby_names)"
        ]

    # News.

    def _notices(self, draft: GroupDraft) -> list[Question]:
        woken = self._others(draft, draft.woken())
        commanded = self._others(draft, dict.fromkeys(command.lane for command in draft.commands))
        channel = self.database.channel
        return [
            ("notify", {"channel": channel, "payload": payload})
            for payload in notices(self._sender, woken, draft.ended, commanded)
        ]

    def _others(self, draft: GroupDraft, lanes: Iterable[LaneId]) -> list[LaneId]:
        return [lane for lane in lanes if draft.lanes[lane].owner not in self._owners]

    def news(self) -> AsyncIterator[News]:
        listener = NewsListener(self.database, self._sender)
        self._listeners.append(listener)
        return listener.news()

    def close(self) -> "asyncio.Future[None]":
        return asyncio.ensure_future(self._close())

    async def _close(self) -> None:
        for listener in self._listeners:
            await listener.close()
        await self.writer.close()
        await self._close_reader()
