"""One connection at a time, made anew when it is lost; many statements share one round trip."""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress

import psycopg
from psycopg import AsyncConnection, AsyncCursor, AsyncPipeline
from psycopg.errors import Diagnostic

from laneway.core.errors import StoreBusy
from laneway.stores.postgres.database import Database, Row, statements
from laneway.stores.postgres.draft import Question
from laneway.stores.postgres.limits import ANSWER_S_MAX, RECONNECT_MS_MAX, RECONNECT_MS_MIN

SQL = statements()


class PostgresConnection:
    """A connection to the server. Its caller asks one thing at a time."""

    def __init__(
        self, database: Database, connect: Callable[[], Awaitable["AsyncConnection[Row]"]]
    ) -> None:
        self._database = database
        self._connect = connect
        self._connection: AsyncConnection[Row] | None = None
        self._pipeline: AsyncPipeline | None = None
        self._opened = AsyncExitStack()
        self._pause_ms = 0
        self.warnings: list[str] = []
        """What the server warned of; nothing we ask earns a warning."""

    async def open(self) -> None:
        """Have a connection. Raises what the server says, or that it is busy."""
        if self._connection is not None:
            if not self._connection.broken:
                return
            await self.drop()
        if self._pause_ms:
            await asyncio.sleep(self._pause_ms / 1000)
        self._pause_ms = min(max(2 * self._pause_ms, RECONNECT_MS_MIN), RECONNECT_MS_MAX)
        connection = await self._connect()
        connection.add_notice_handler(self._warned)
        # For as long as the connection lasts. Leaving a pipeline may end in a flush, after which
        # PostgreSQL no longer counts how long we stand still within a group.
        self._pipeline = await self._opened.enter_async_context(connection.pipeline())
        self._connection = connection
        self._pause_ms = 0

    def _warned(self, notice: Diagnostic) -> None:
        if notice.severity_nonlocalized == "WARNING":
            self.warnings.append(notice.message_primary or "a warning")

    @property
    def is_lost(self) -> bool:
        return self._connection is None or self._connection.broken

    async def ask(self, questions: Sequence[Question]) -> "list[AsyncCursor[Row]]":
        """Ask all of it in one go. The answers that came before a failure are in `cursors`."""
        cursors: list[AsyncCursor[Row]] = []
        await self.ask_into(cursors, questions)
        return cursors

    async def ask_into(
        self, cursors: "list[AsyncCursor[Row]]", questions: Sequence[Question]
    ) -> None:
        connection = self._connection
        assert connection is not None
        assert self._pipeline is not None
        with watched(connection):
            for name, bound in questions:
                cursors.append(connection.cursor(binary=True))
                await cursors[-1].execute(SQL[name], bound or None)
            await self._pipeline.sync()

    async def drop(self) -> None:
        """Let go of the connection, and with it of whatever was begun.

        After any failure too: the driver no longer knows which statements are prepared, and a
        ROLLBACK would make it forget them all.
        """
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()
            with suppress(psycopg.Error):
                await self._opened.aclose()

    def busy(self, error: psycopg.Error) -> StoreBusy:
        return StoreBusy(f"{self._database.name}: {str(error).strip() or 'the connection is lost'}")


@contextmanager
def watched(connection: "AsyncConnection[Row]") -> Iterator[None]:
    """Hang up on a server that does not answer, so that the caller who waits for it wakes up."""
    timer = asyncio.get_running_loop().call_later(ANSWER_S_MAX, hang_up, connection)
    try:
        yield
    finally:
        timer.cancel()


def hang_up(connection: "AsyncConnection[Row]") -> None:
    # By a second name for the socket: the first stays the driver's to close.
    with (
        suppress(OSError, psycopg.Error),
        socket.socket(fileno=os.dup(connection.fileno())) as second,
    ):
        second.shutdown(socket.SHUT_RDWR)
