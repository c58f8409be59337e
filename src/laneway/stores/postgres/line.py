"""One connection at a time, made anew when it is lost; many statements share one way."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import psycopg
from psycopg import AsyncConnection, AsyncCursor

from laneway.core.errors import StoreBusy
from laneway.stores.postgres.database import Database, Row, statements
from laneway.stores.postgres.limits import ANSWER_S_MAX, RECONNECT_MS_MAX, RECONNECT_MS_MIN
from laneway.stores.postgres.wants import Question

SQL = statements()


class Line:
    """A way to the server. Whoever uses it asks one thing at a time."""

    def __init__(
        self, database: Database, connect: Callable[[], Awaitable["AsyncConnection[Row]"]]
    ) -> None:
        self._database = database
        self._connect = connect
        self._connection: AsyncConnection[Row] | None = None
        self._pause_ms = 0

    async def open(self) -> None:
        """Have a connection. Raises what the server says, or that it is busy."""
        if self._connection is not None:
            if not self._connection.broken:
                return
            await self.drop()
        if self._pause_ms:
            await asyncio.sleep(self._pause_ms / 1000)
        self._pause_ms = min(max(2 * self._pause_ms, RECONNECT_MS_MIN), RECONNECT_MS_MAX)
        self._connection = await self._connect()
        self._pause_ms = 0

    @property
    def is_lost(self) -> bool:
        return self._connection is None or self._connection.broken

    async def ask(self, questions: Sequence[Question]) -> "list[AsyncCursor[Row]]":
        """Ask all of it in one go. The answers of those before a failure are in `cursors`."""
        cursors: list[AsyncCursor[Row]] = []
        await self.ask_into(cursors, questions)
        return cursors

    async def ask_into(
        self, cursors: "list[AsyncCursor[Row]]", questions: Sequence[Question]
    ) -> None:
        connection = self._connection
        assert connection is not None
        try:
            async with asyncio.timeout(ANSWER_S_MAX), connection.pipeline() as pipeline:
                for name, bound in questions:
                    cursors.append(connection.cursor(binary=True))
                    await cursors[-1].execute(SQL[name], bound or None)
                await pipeline.sync()
        except TimeoutError as error:
            await self.drop()
            raise psycopg.OperationalError("the server does not answer") from error

    async def roll_back(self) -> None:
        """Forget what was begun; a connection that cannot even do that is dropped."""
        connection = self._connection
        if connection is None:
            return
        try:
            async with asyncio.timeout(ANSWER_S_MAX):
                await connection.execute("ROLLBACK")
        except (psycopg.Error, TimeoutError):
            await self.drop()

    async def drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                await connection.close()

    def busy(self, error: psycopg.Error) -> StoreBusy:
        return StoreBusy(f"{self._database.name}: {str(error).strip() or 'the connection is lost'}")
