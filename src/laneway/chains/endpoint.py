"""One node as an adapter uses it: paced, left alone when it fails, and known by its newest block.

Nothing is asked of a node before it named its chain: one that serves another chain is never used.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping, Sequence
from contextvars import ContextVar
from time import monotonic
from typing import TypeVar

from msgspec import Raw, Struct
from yarl import URL

from laneway.chains.limits import (
    BURST_S,
    GREETING_KEPT_MS,
    HEAD_KEPT_MS,
    NODE_READ_MS,
    PACE_MS_MAX,
    REST_MS_MAX,
    REST_MS_MIN,
    SILENT_MS_MIN,
)
from laneway.chains.standing import NodeOfOtherChain, StandingKeeper
from laneway.core.errors import BadRequest, ChainError, ChainUnreachable, ChainUnreadable
from laneway.wire.jsonrpc import (
    NodeBusy,
    Replies,
    RpcAnswer,
    RpcAnswerLost,
    RpcCall,
    RpcError,
)
from laneway.wire.plain_client import client_of
from laneway.wire.trouble import no_answer


class Bucket:
    """A token bucket: how many calls a node is asked in a second. It waits for nobody itself."""

    def __init__(self, per_s: float, burst: float, now_s: float) -> None:
        self._per_s = per_s
        self._burst = burst
        self._tokens = burst
        self._at_s = now_s

    def take(self, count: int, now_s: float) -> float:
        """Take tokens, also those that are not there yet, and return how long to wait for them. The
        next caller waits after this one, so nobody is starved by small requests."""
        self._tokens = min(self._burst, self._tokens + (now_s - self._at_s) * self._per_s)
        self._at_s = now_s
        self._tokens -= count
        return max(0.0, -self._tokens / self._per_s)

    def spares(self, count: int, now_s: float) -> bool:
        """Whether so much leaves half of a burst to others."""
        left = min(self._burst, self._tokens + (now_s - self._at_s) * self._per_s)
        return left - count >= self._burst / 2

    def give_back(self, count: int) -> None:
        """Return tokens that were taken and will not be used."""
        self._tokens = min(self._burst, self._tokens + count)


A = TypeVar("A")
T = TypeVar("T")


class NodePlace(Struct, frozen=True):
    """Where a node is, and how much may be asked of it."""

    url: str
    name: str = ""
    """Shown and committed; without one it is the host and port."""
    headers: Mapping[str, str] = {}
    calls_per_s: float = 0.0
    """A hosted node's allowance, in which every call of a batch counts; 0 is no bound."""


class Progress:
    """How far a node is with one read that others may answer too."""

    def __init__(self, at_s: float) -> None:
        self.begun_s = at_s
        self.at_s = at_s
        """When it last answered a step; before that, when it was asked."""
        self.is_unwanted = False
        """Whether another node has answered."""


PROGRESS: ContextVar[Progress | None] = ContextVar("progress", default=None)
"""That of the read which the running task belongs to."""


class NodeEndpoint(ABC):
    """One node. `ask` raises what the JSON-RPC client raises; `RpcAnswerLost` alone means that the
    calls may have arrived."""

    def __init__(self, place: NodePlace) -> None:
        self.name = place.name or name_of(place.url)
        self.client = client_of(place.url, name=self.name, headers=place.headers)
        self.head_number = -1
        """The newest block it spoke of last; it falls when the chain does."""
        self.calls_count = 0
        self.failures_count = 0
        """In a row."""
        self.standing = StandingKeeper(place.url)
        self._calls_per_s = place.calls_per_s
        self._greeted_s: float | None = None
        self._losses_seen = 0
        self._bucket: Bucket | None = None
        self._rest_until_s = 0.0
        self._busy_until_s = 0.0
        self._head_s = 0.0

    @abstractmethod
    async def _hear_chain(self) -> str | None:
        """What is wrong with the chain that it serves; None if it is the right one."""

    async def ask(
        self, calls: Sequence[RpcCall], timeout_ms: int = NODE_READ_MS
    ) -> list[RpcAnswer]:
        await self.prepare(len(calls))
        return await self.ask_prepared(calls, timeout_ms)

    async def prepare(self, calls_count: int) -> None:
        """What must be done before a call may leave: nothing was sent when this raises."""
        now_s = loop_s()
        if self._busy_until_s > now_s:
            raise ChainUnreachable(self.name, f"it is busy for {self._busy_until_s - now_s:.1f} s")
        if self._greeted_s is None or self._may_be_another(self._greeted_s, now_s):
            await self._greet()
        if self._calls_per_s > 0:
            await self._pace(calls_count)

    def is_resting(self) -> bool:
        """Whether it failed so lately that others are asked first."""
        return max(self._rest_until_s, self._busy_until_s) > loop_s()

    def spares(self, calls_count: int) -> bool:
        """Whether it may be asked for what no lane needs: it does not rest, and of its allowance
        enough is left."""
        is_free = self._bucket is None or self._bucket.spares(calls_count, loop_s())
        return is_free and not self.is_resting()

    def saw_head(self, number: int) -> None:
        self.head_number = number
        self._head_s = loop_s()

    def binding_head(self) -> int:
        """The number below which nobody's word is taken while this node answers."""
        fresh = loop_s() - self._head_s <= HEAD_KEPT_MS / 1000
        return self.head_number if fresh else -1

    async def ask_each(
        self,
        method: str,
        params: Sequence[str],
        replies: Replies[T],
        timeout_ms: int = NODE_READ_MS,
    ) -> list[T | RpcError]:
        """One method with each of these texts; the results are read in a known shape."""
        await self.prepare(len(params))
        return await self.ask_each_prepared(method, params, replies, timeout_ms)

    async def ask_each_prepared(
        self, method: str, params: Sequence[str], replies: Replies[T], timeout_ms: int
    ) -> list[T | RpcError]:
        return await self._asked(
            len(params), self.client.ask_each(method, params, timeout_ms, replies)
        )

    async def ask_prepared(self, calls: Sequence[RpcCall], timeout_ms: int) -> list[RpcAnswer]:
        return await self._asked(len(calls), self.client.ask(calls, timeout_ms))

    async def _asked(self, count: int, asking: Awaitable[list[A]]) -> list[A]:
        self.calls_count += count
        begun_s = loop_s()
        try:
            answers = await asking
        except NodeBusy as busy:
            self.rest_busy(busy.retry_after_s)
            self.standing.failed(busy)
            raise
        except (ChainUnreachable, RpcAnswerLost, ChainUnreadable) as error:
            self.rest_failed(error)
            raise
        except asyncio.CancelledError:
            waited_s = loop_s() - begun_s
            progress = PROGRESS.get()
            is_wanted = progress is None or not progress.is_unwanted
            if is_wanted and waited_s >= SILENT_MS_MIN / 1000:
                self.standing.failed(RpcAnswerLost(self.name, f"no answer within {waited_s:.0f} s"))
            raise
        self.failures_count = 0
        self._rest_until_s = 0.0
        if self._greeted_s is not None:
            self.standing.answered()
        progress = PROGRESS.get()
        if progress is not None:
            progress.at_s = loop_s()
        return answers

    async def probe(self, timeout_ms: int, heard_ms: int) -> None:
        """Ask which chain it serves, unless it answered lately; its standing says what came."""
        if monotonic() - self.standing.heard_s < heard_ms / 1000:
            return
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await self._greet()
        except TimeoutError:
            self.rest_failed(RpcAnswerLost(self.name, no_answer(timeout_ms)))
        except ChainError:
            pass  # Noted where it was raised.

    async def _pace(self, calls_count: int) -> None:
        per_s = self._calls_per_s
        if self._bucket is None:
            self._bucket = Bucket(per_s, BURST_S * per_s, loop_s())
        queue_s = self._bucket.take(0, loop_s())
        if queue_s > PACE_MS_MAX / 1000:
            raise ChainUnreachable(self.name, f"its allowance is used up for {queue_s:.0f} s")
        wait_s = self._bucket.take(calls_count, loop_s())
        try:
            await asyncio.sleep(wait_s)
        except asyncio.CancelledError:
            self._bucket.give_back(calls_count)
            raise

    async def _greet(self) -> None:
        if self._greeted_s is not None:
            # Others go on meanwhile by what is known; a failure of this question ends that.
            self._greeted_s = loop_s()
        self._losses_seen = self.client.losses_count
        try:
            problem = await self._hear_chain()
        except RpcAnswerLost as error:
            # Of what the caller wants nothing has left yet.
            raise ChainUnreachable(self.name, error.problem) from error
        except asyncio.CancelledError:
            # Nobody waits for its answer, so nothing is known of what is there now.
            self._greeted_s = None
            raise
        if problem is not None:
            wrong = NodeOfOtherChain(self.name, problem)
            self.rest_failed(wrong)
            raise wrong
        self._greeted_s = loop_s()
        self.standing.answered()

    def _may_be_another(self, greeted_s: float, now_s: float) -> bool:
        """Whether the address may have been given to another node since it named its chain."""
        if self.client.losses_count != self._losses_seen:
            return True
        return now_s - greeted_s > GREETING_KEPT_MS / 1000

    def rest_busy(self, wait_s: float) -> None:
        self._busy_until_s = max(self._busy_until_s, loop_s() + wait_s)

    def rest_unfit(self, error: ChainError) -> None:
        """The same of one whose answers are of no use, until `standing.fit` says otherwise."""
        self.standing.unfit()
        self.rest_failed(error)

    def rest_failed(self, error: ChainError) -> None:
        """It failed, or was slower than the others: they are asked first for a while."""
        # Whatever comes back at this address must name its chain first.
        self._greeted_s = None
        self.standing.failed(error)
        rest_ms = min(REST_MS_MIN << min(self.failures_count, 16), REST_MS_MAX)
        self.failures_count += 1
        self._rest_until_s = loop_s() + rest_ms / 1000


def loop_s() -> float:
    return asyncio.get_running_loop().time()


def result_of(node: str, answer: RpcAnswer) -> Raw:
    """A result; ChainUnreadable when the node said no."""
    if isinstance(answer, RpcError):
        raise ChainUnreadable(node, f"{answer.code} {answer.message}")
    return answer


def name_of(
    url: str,
    schemes: tuple[str, str] = ("http", "https"),
    example: str = "http://127.0.0.1:8545",
) -> str:
    """Host and port: the path and the query of a hosted node's address are its key."""
    try:
        parsed = URL(url)
    except ValueError:
        parsed = URL()
    if parsed.scheme not in schemes or not parsed.host:
        raise BadRequest("url", f"a node's address is like {example}")
    return f"{parsed.host}:{parsed.port}"
