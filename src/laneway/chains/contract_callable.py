"""A ContractHost over a Python callable: for tests, benchmarks and hosts without a chain.

The callable says what happened: a block number, an Execution, or `Refuse`. Anything else that it
returns, and any other exception, is unknown: nobody can know what it did before that.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeAlias, TypeVar

from laneway.chains.limits import THREADS_MAX
from laneway.core.errors import ChainUnreadable
from laneway.core.limits import REASON_CHARS_MAX
from laneway.core.outcome import Outcome
from laneway.ports import ChainFinding, ContractCall, Execution, HostTraits

log = logging.getLogger("laneway.callable")

T = TypeVar("T")

Executed: TypeAlias = int | Execution
Executes: TypeAlias = Callable[[ContractCall, int], Awaitable[Executed] | Executed]
ReadsLatest: TypeAlias = Callable[[str], Awaitable[int] | int]
Finds: TypeAlias = Callable[[ContractCall, int], Awaitable[ChainFinding] | ChainFinding]


class Refuse(Exception):
    """Raise this to refuse an execution for good; nothing may have been done."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class CallableHost:
    """Coroutine functions run on the loop, plain ones in a bounded pool of threads."""

    def __init__(
        self,
        execute: Executes,
        *,
        latest_block: ReadsLatest | None = None,
        find: Finds | None = None,
        takes_parent: bool = False,
    ) -> None:
        self.traits = HostTraits(takes_parent=takes_parent, has_chain=latest_block is not None)
        self._threads: ThreadPoolExecutor | None = None
        self._execute = self._awaited(execute)
        self._latest_block = None if latest_block is None else self._awaited(latest_block)
        self._find = None if find is None else self._awaited(find)

    async def latest_block(self, contract: str) -> int:
        """The chain's height, or 0 when there is no chain."""
        if self._latest_block is None:
            return 0
        return await self._read(self._latest_block(contract), int)

    async def execute(self, call: ContractCall, parent: int) -> Execution:
        try:
            answer = await self._execute(call, parent)
        except Exception as error:  # noqa: BLE001  Foreign code: whatever it raises is reported.
            return raised(error)
        return understood(answer)

    async def find(self, call: ContractCall, parent: int) -> ChainFinding:
        """What the callable finds. Without a chain, or without a `find`, nothing is found."""
        if self._find is not None:
            return await self._read(self._find(call, parent), ChainFinding)
        latest = parent if self._latest_block is None else await self.latest_block(call.contract)
        return ChainFinding(latest, None)

    async def close(self) -> None:
        """Let the threads go; a plain callable under way runs to its end."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._threads = None

    def _awaited(self, function: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
        if is_coroutine_function(function):
            return function
        return partial(self._in_thread, function)

    async def _in_thread(self, function: Callable[..., Any], *arguments: object) -> object:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(THREADS_MAX, thread_name_prefix="contract-callable")
        loop = asyncio.get_running_loop()
        answer = await loop.run_in_executor(self._threads, function, *arguments)
        # A lambda around a coroutine function looks plain.
        return await answer if inspect.isawaitable(answer) else answer

    async def _read(self, reading: Awaitable[Any], kind: type[T]) -> T:
        try:
            answer = await reading
        except Exception as error:
            raise ChainUnreadable("the callable", f"{type(error).__name__}: {error}") from error
        if not isinstance(answer, kind):
            raise ChainUnreadable("the callable", f"{type(answer).__name__}, not {kind.__name__}")
        return answer


class InlineHost(CallableHost):
    """A plain function that returns at once, called by the loop itself: no thread, no task.

    While it runs nothing else does, heartbeats included, and no deadline can end it. It must
    return within milliseconds; what may take longer belongs into a CallableHost.
    """

    def __init__(
        self,
        execute: Callable[[ContractCall, int], Executed],
        *,
        latest_block: ReadsLatest | None = None,
        find: Finds | None = None,
        takes_parent: bool = False,
    ) -> None:
        super().__init__(execute, latest_block=latest_block, find=find, takes_parent=takes_parent)
        if is_coroutine_function(execute):
            raise TypeError("a coroutine function cannot run inline; give it to a CallableHost")
        self._call = execute

    def execute_now(self, call: ContractCall, parent: int) -> Execution:
        try:
            answer = self._call(call, parent)
        except Exception as error:  # noqa: BLE001  Foreign code: whatever it raises is reported.
            return raised(error)
        return understood(answer)

    async def execute(self, call: ContractCall, parent: int) -> Execution:
        return self.execute_now(call, parent)


def is_coroutine_function(function: Callable[..., Any]) -> bool:
    method = getattr(function, "__call__", None)  # noqa: B004  A callable object's own method.
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(method)


def understood(answer: object) -> Execution:
    """What a callable's answer says. One that names no block may have executed all the same."""
    if type(answer) is int and answer >= 0:
        return Execution(Outcome.ACCEPTED, block=answer)
    if isinstance(answer, Execution):
        return answer
    what = str(answer) if answer is None or type(answer) is int else type(answer).__name__
    return doubt(f"the callable returned {what}, not the number of the block it made")


def raised(error: Exception) -> Execution:
    """What an exception says: a refusal where it is meant as one, else nobody knows."""
    if isinstance(error, Refuse):
        return Execution(Outcome.REFUSED, final=True, reason=error.reason[:REASON_CHARS_MAX])
    # The lane keeps one line of it; where it was raised stands only in a traceback.
    log.warning("The callable raised %s: %s", type(error).__name__, error, exc_info=error)
    return doubt(f"{type(error).__name__}: {error}")


def doubt(reason: str) -> Execution:
    return Execution(Outcome.UNKNOWN, reason=reason[:REASON_CHARS_MAX])
