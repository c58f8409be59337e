"""One connection to one server: whatever is asked meanwhile shares the next round trip.

Two groups are out at most: while the server works on one, its answers of the other are worked on
here.

Nothing that was sent is ever sent again: if the connection is lost meanwhile, nobody knows whether
a write arrived, and that is the answer. What was not sent yet changed nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import hiredis
from redis.asyncio.connection import Connection
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    NoScriptError,
    RedisError,
    ResponseError,
)

from laneway.core.errors import (
    LanewayError,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreRefused,
    StoreUnknown,
)
from laneway.stores.redis.layout import Word
from laneway.stores.redis.limits import (
    CONNECT_MS_MAX,
    COPIED_BYTES_MAX,
    GROUPS_MAX,
    RECONNECT_MS_MAX,
    RECONNECT_MS_MIN,
    REPLY_MS_MAX,
)
from laneway.stores.requests import Request, Requests, answer

Reply = Any
RedisCommand = tuple[Word, ...]
Checked = Callable[["RedisConnection"], Awaitable[int]]
"""Looks at a server that was just reached and answers how many replicas must have each write; or
refuses it."""


class Moved(StoreBusy):
    """The slot is served elsewhere: the caller must look where."""


class Forgotten(StoreBusy):
    """The server does not know the script: the caller must send its text."""


TURNED = ("READONLY", "MASTERDOWN", "UNBLOCKED")
"""Error codes of a server that is no longer the master: the address is looked up again."""

PASSING = {
    "LOADING": "the server reads its data from disk",
    "READONLY": "the server is a replica now and takes no writes",
    "MASTERDOWN": "the server is a replica that lost its master",
    "CLUSTERDOWN": "a part of the Cluster is down",
    "TRYAGAIN": "a slot is moving to another server",
    "ASK": "a slot is moving to another server",
    "BUSY": "the server runs somebody's long script",
    "NOREPLICAS": "too few replicas are attached (min-replicas-to-write)",
    "UNBLOCKED": "the server became a replica meanwhile",
}
FULL = {"OOM": "maxmemory is reached; raise it or let retention remove more"}


class RedisConnection:
    """Asks one server, in order, in groups."""

    def __init__(
        self, address: str, connect: Callable[[], Connection], checked: Checked, *, wait_ms: int
    ) -> None:
        self.address = address
        self.replicas = 0
        """How many must have a write before it is answered."""
        self._connect = connect
        self._checked = checked
        self._wait_ms = wait_ms
        self._doubted = False
        self._connection: Connection | None = None
        self._requests = Requests()
        """Each asks with the bytes of a command, and whether it writes."""
        self._pump: asyncio.Task[None] | None = None
        self._flying: set[asyncio.Task[None]] = set()
        """Groups that were sent and not yet answered, in the order of `_receiving`."""
        self._receiving = asyncio.Lock()
        self._away_until = 0.0
        self._pause_ms = RECONNECT_MS_MIN
        self._refused: StoreError | None = None
        self.groups = 0
        self.grouped = 0
        """Round trips, and the requests in them."""

    def ask(self, line: RedisCommand, *, write: bool) -> "asyncio.Future[Reply]":
        """The server's reply to one command; a write is durable as configured when it comes."""
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        sent = packed(line)
        self._requests.append(((sent, write), future, len(sent)))
        if self._pump is None or self._pump.done():
            self._pump = asyncio.create_task(self._run(), name="laneway-redis")
        return future

    async def _run(self) -> None:
        while self._requests:
            # One turn of the loop later: what is asked now shares the round trip.
            await asyncio.sleep(0)
            if len(self._flying) >= GROUPS_MAX:
                await asyncio.wait(self._flying, return_when=asyncio.FIRST_COMPLETED)
                continue
            if self._doubted and self._flying:
                # The answers to what is out come first: to hang up now would leave it unknown.
                await asyncio.wait(self._flying)
                continue
            # Half of it at first: the server works on one half while we work on the other.
            count = len(self._requests)
            group = self._requests.gather(count if self._flying else (count + 1) // 2)
            try:
                await self._serve(group)
            except BaseException as error:
                # A bug or the end of the loop: nobody may be left waiting.
                group += self._requests
                self._requests.clear()
                refuse(group, StoreUnknown(f"{self.address} is no longer asked ({error!r})"))
                await self._drop()
                raise

    async def _serve(self, group: list[Request]) -> None:
        try:
            connection = await self._connected()
        except StoreError as error:
            refuse(group, error)
            return
        lines = [sent for (sent, _), _, _ in group]
        quorum = self.replicas if any(write for (_, write), _, _ in group) else 0
        if quorum:
            lines.append(packed(("WAIT", quorum, self._wait_ms)))
        try:
            async with asyncio.timeout(REPLY_MS_MAX / 1000):
                await connection.send_packed_command(lines, check_health=False)
        except (RedisError, OSError, TimeoutError) as error:
            await self._lost(connection, group, error)
            return
        receiving = asyncio.create_task(self._receive(connection, group, quorum))
        self._flying.add(receiving)
        receiving.add_done_callback(self._flying.discard)

    async def _receive(self, connection: Connection, group: list[Request], quorum: int) -> None:
        """The replies to one group, which come after those of the group before it.

        It is judged by the quorum it was sent with: another server may be met meanwhile.
        """
        count = len(group) + (1 if quorum else 0)
        try:
            async with self._receiving:
                replies = await self._replies(connection, count)
        except (RedisError, OSError, TimeoutError) as error:
            await self._lost(connection, group, error)
            return
        except BaseException as error:
            refuse(group, StoreUnknown(f"{self.address} is no longer read ({error!r})"))
            raise
        self.groups += 1
        self.grouped += len(group)
        answers = [self._answer(reply) for reply in replies[: len(group)]]
        if quorum:
            answers = self._replicated(group, answers, replies[-1], quorum)
        answer(group, answers)

    async def _lost(self, connection: Connection, group: list[Request], error: Exception) -> None:
        if connection is self._connection:
            await self._drop()
        problem = f"{self.address} did not answer ({str(error) or type(error).__name__})"
        # A question changed nothing, whether it arrived or not.
        errors = [(StoreUnknown if write else StoreBusy)(problem) for (_, write), _, _ in group]
        answer(group, errors)

    async def _round(self, connection: Connection, lines: list[bytes]) -> list[Reply]:
        async with asyncio.timeout(REPLY_MS_MAX / 1000):
            await connection.send_packed_command(lines, check_health=False)
        return await self._replies(connection, len(lines))

    async def _replies(self, connection: Connection, count: int) -> list[Reply]:
        replies: list[Reply] = []
        async with asyncio.timeout((REPLY_MS_MAX + self._wait_ms) / 1000):
            for _ in range(count):
                try:
                    reply = await connection.read_response(
                        disable_decoding=True, disconnect_on_error=False
                    )
                except (ResponseError, BusyLoadingError, AuthenticationError) as error:
                    replies.append(error)
                else:
                    replies.append(reply)
        return replies

    def _answer(self, reply: Reply) -> Reply:
        if not isinstance(reply, RedisError):
            return reply
        if isinstance(reply, NoScriptError):
            return Forgotten(f"{self.address} does not know the script")
        text = full_text(reply)
        if text.startswith(TURNED):
            self.doubt()
        if text.startswith("MOVED"):
            return Moved(f"{self.address}: {text}")
        return translated(self.address, text)

    def _replicated(
        self, group: list[Request], answers: list[Reply], waited: Reply, quorum: int
    ) -> list[Reply]:
        """Below its quorum a write counts as unknown: a failover might undo it."""
        if isinstance(waited, int) and waited >= quorum:
            return answers
        # Another may have been promoted: the server at the address is checked again.
        self.doubt()
        wanted = f"{quorum} replicas of {self.address}"
        problem = f"{waited} of {wanted} had it after {self._wait_ms} ms"
        return [
            StoreUnknown(problem) if write and not isinstance(a, Exception) else a
            for ((_, write), _, _), a in zip(group, answers, strict=True)
        ]

    # The connection.

    def doubt(self) -> None:
        """Reach the server anew before it is asked again: it may be another one by now."""
        self._doubted = True

    async def _connected(self) -> Connection:
        if self._refused is not None:
            raise self._refused.with_traceback(None)
        if self._doubted:
            await self._drop()
        if self._connection is not None and self._connection.is_connected:
            return self._connection
        loop = asyncio.get_running_loop()
        if loop.time() < self._away_until:
            raise StoreBusy(f"{self.address} is away")
        connection = self._connect()
        try:
            async with asyncio.timeout(CONNECT_MS_MAX / 1000):
                await connection.connect()  # type: ignore[no-untyped-call]
            self._connection = connection
            self.replicas = await self._checked(self)
        except StoreBusy as error:
            await self._back_off()
            raise error
        except StoreError as error:
            self._refused = error
            await self._drop()
            raise
        except AuthenticationError as error:
            await self._drop()
            self._refused = StoreRefused(self.address, f"it does not let us in: {error}")
            raise self._refused from error
        except (RedisError, OSError, TimeoutError) as error:
            await self._back_off()
            problem = f"{self.address} cannot be reached ({str(error) or type(error).__name__})"
            raise StoreBusy(problem) from error
        self._pause_ms = RECONNECT_MS_MIN
        return connection

    async def _back_off(self) -> None:
        await self._drop()
        self._away_until = asyncio.get_running_loop().time() + self._pause_ms / 1000
        self._pause_ms = min(2 * self._pause_ms, RECONNECT_MS_MAX)

    async def check(self, *lines: RedisCommand) -> list[Reply]:
        """Ask a server that was just reached, before anything else is sent to it."""
        assert self._connection is not None
        replies = await self._round(self._connection, [packed(line) for line in lines])
        return [self._answer(reply) for reply in replies]

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        self._doubted = False
        if connection is not None:
            await connection.disconnect(nowait=True)

    async def close(self) -> None:
        """Finish what was asked, then hang up."""
        if self._pump is not None:
            await asyncio.gather(self._pump, *self._flying, return_exceptions=True)
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.disconnect()


def packed(line: RedisCommand) -> bytes:
    """One command as it is sent. The two arguments of a large script are copied once here; hiredis
    would copy them three times, into memory that is asked for anew each time."""
    last = line[-1]
    if isinstance(last, bytes) and len(last) > COPIED_BYTES_MAX and isinstance(line[-2], bytes):
        before = line[-2]
        short = packed(line[:-2])
        parts = (
            b"*%d\r\n" % len(line),
            short[short.index(b"\n") + 1 :],
            b"$%d\r\n" % len(before),
            before,
            b"\r\n$%d\r\n" % len(last),
            last,
            b"\r\n",
        )
        return b"".join(parts)
    sent: bytes = hiredis.pack_command(line)  # type: ignore[arg-type]
    return sent


def full_text(error: RedisError) -> str:
    """The server's whole message; the parser strips the first word of those it has a class for."""
    code: str = getattr(error, "status_code", None) or ""
    return f"{code} {error}".strip()


def refuse(group: list[Request], error: LanewayError) -> None:
    answer(group, [error] * len(group))


def translated(address: str, text: str) -> StoreError:
    """The server's error message as one of our errors; none of them changed anything. An unknown
    message is a refusal: a person must look."""
    code = text.partition(" ")[0].rstrip(":")
    if code in FULL:
        return StoreFull(address, FULL[code])
    if code == "MISCONF":
        # Redis stops taking writes when it can no longer save; it goes on when it can again.
        if "space" in text:
            return StoreFull(address, f"its disk is full: {text}")
        return StoreBusy(f"{address} cannot save what it is sent: {text}")
    if code in PASSING:
        return StoreBusy(f"{address}: {PASSING[code]}")
    return StoreRefused(address, f"the server refused: {text}")
