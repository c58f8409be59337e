"""Orders that were begun: each is carried out once, however often it is given.

A lane gives an order up when it takes too long, and repeats it under the same id. What was begun
then goes on, and its answer is remembered until the order is repeated.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from laneway.builder.limits import ORDERS_KEPT_MAX
from laneway.core.errors import Bug, BuildFailed, ChainError, LanewayError, StoreError
from laneway.core.reason import BEFORE_REMEDY, shown_error
from laneway.lanes.bundle.values import BuildBlock

T = TypeVar("T")

IF_IT_STAYS = "; if it stays, fix the rollup's rules and start again, or cancel what they mean"
"""What to do where a rollup's rules say that no block can be built for now."""

LEAVING = (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt)
"""Raised around an await to end a task or the process. Anything else is trouble, also what
extension modules raise beside `Exception`."""


class Orders(Generic[T]):
    """Answers by the ids of their orders. An id alone proves nothing: a store that was restored
    gives the same ids to other orders, so the order itself is compared."""

    def __init__(self, most: int = ORDERS_KEPT_MAX) -> None:
        self._most = most
        self._begun: OrderedDict[tuple[int, int], tuple[BuildBlock, asyncio.Task[T]]] = (
            OrderedDict()
        )
        self._running: set[asyncio.Task[T]] = set()
        """Also those that another order with the same id has replaced."""

    async def once(self, order: BuildBlock, carry_out: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The answer to an order: that of the time before if it was given up then."""
        name = (order.slot, order.order)
        order = replace(order, below=())  # Fewer, when some of those below are final by now.
        known = self._begun.get(name)
        if known is None or known[0] != order or is_in_vain(known[1]):
            known = order, self._begin(carry_out)
            self._begun[name] = known
            self._begun.move_to_end(name)
            self._forget()
        try:
            answer = await asyncio.shield(known[1])
        except LanewayError:
            self._answered(name, known)
            raise
        self._answered(name, known)  # A caller who gave up is cancelled, and does not come here.
        return answer

    async def stop(self) -> None:
        """Wait for all that was begun. A caller who is cancelled meanwhile ends it."""
        await asyncio.gather(*self._running, return_exceptions=True)

    def _begin(self, carry_out: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Task[T]:
        task = asyncio.create_task(carry_out())
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        task.add_done_callback(noticed)
        return task

    def _answered(self, name: tuple[int, int], known: tuple[BuildBlock, asyncio.Task[T]]) -> None:
        if self._begun.get(name) is known:
            del self._begun[name]

    def _forget(self) -> None:
        done = [name for name, (_, task) in self._begun.items() if task.done()]
        for name in done[: max(0, len(self._begun) - self._most)]:
            del self._begun[name]


def is_in_vain(task: asyncio.Task[Any]) -> bool:
    """Whether it came to nothing that counts: it may come to something the next time. That no
    block can be built of an order is an answer like any other."""
    if not task.done():
        return False
    if task.cancelled():
        return True
    error = task.exception()
    return error is not None and not (isinstance(error, BuildFailed) and error.final)


def noticed(task: asyncio.Task[Any]) -> None:
    """Take note of how a task ended when nobody may wait for it."""
    if not task.cancelled():
        task.exception()


def guarded(job: Callable[[], T], *, final: bool = True) -> T:
    """Do a job that runs a rollup's own rules, which may come from anywhere. Whatever they raise is
    the order's fault: another one may be carried out. Trouble with file or chain is not theirs.
    `final`: whether the job is the order itself, and nothing that has to be done first."""
    # Nothing is awaited here, so a cancellation, too, is one that the rules raised.
    with expected(final=final, leaving=()):
        return job()


def carried_out(job: Callable[[], T]) -> T:
    """Do a job that is an order itself. What its rules call passing, a BuildFailed that is not
    final, is asked for again as long as they say so: its reason names what to do."""
    try:
        return guarded(job)
    except BuildFailed as error:
        if error.final or BEFORE_REMEDY.decode() in str(error):
            raise
        raise BuildFailed(f"{error}{IF_IT_STAYS}", needs_help=error.needs_help) from error


@contextmanager
def expected(
    *, final: bool = False, leaving: tuple[type[BaseException], ...] = LEAVING
) -> Iterator[None]:
    """What is raised inside that nobody expects is a BuildFailed. `leaving`: what is passed on."""
    try:
        yield
    except (BuildFailed, StoreError, ChainError, Bug):
        raise
    except MemoryError as error:
        # One transaction may be too large for it, and that is found by smaller blocks.
        remedy = "; give it more, or cancel it" if final else ""
        problem = f"this machine has no memory left for it{remedy}"
        raise BuildFailed(problem, final=final, needs_help=final) from error
    except leaving:
        raise
    except BaseException as error:
        problem = f"the rollup's rules raised {shown_error(error)}"
        raise BuildFailed(problem, final=final) from error
