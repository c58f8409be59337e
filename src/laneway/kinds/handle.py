"""What a caller of the library holds: one accepted intent, and its final answer."""

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol, assert_never
from weakref import ref

import msgspec

from laneway.core.errors import CallerError, IntentConflict, LaneFull, LanewayError
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import Accepted, Answer, Arrival, Conflict, Full, Replayed
from laneway.core.outcome import Status
from laneway.core.rows import Result
from laneway.engine.listeners import Listener
from laneway.engine.shell import Engine
from laneway.engine.waiters import PRUNED_INDEX
from laneway.kinds.limits import HANDLES_SWEEP_MIN, RETRY_AFTER_S
from laneway.ports import Store


class Settled(msgspec.Struct, frozen=True):
    """The final answer of one execution, or of an account's or a rollup's transaction."""

    id: IntentId
    status: str
    block: int | None
    reason: str
    hash: str | None = None
    """Of an account's transaction that was mined, or of a rollup's that is in a block."""
    nonce: int | None = None
    """Of an EVM account's transaction; of a Cosmos account's its sequence."""

    def is_confirmed(self) -> bool:
        return self.status == Status.CONFIRMED.value


class ResultSource(Protocol):
    """What a handle asks of the engine it came from."""

    @property
    def engine(self) -> Engine: ...

    shared: bool
    """Whether another process may run the lane, and this one not be notified of its answers."""

    def check(self) -> None:
        """Raise what ended the engine, if anything did."""

    def settled(self, result: Result, lane: LaneId) -> Settled:
        """A final answer, as its kind of lane reads it."""

    async def cancel(self, intent: str, *, reason: str = "", by: str = "") -> None: ...


class Handle:
    """One accepted intent. It survives any crash until it has a final answer."""

    __slots__ = (
        "__weakref__",
        "_asks",
        "_desk",
        "_futures",
        "_lane",
        "_result",
        "id",
        "refusal",
        "replayed",
    )

    def __init__(
        self,
        desk: ResultSource,
        intent: IntentId,
        lane: LaneId,
        *,
        replayed: bool = False,
        refusal: LanewayError | None = None,
        asks: bool = False,
    ) -> None:
        self._desk = desk
        self._asks = asks or replayed
        """Whether nobody notifies this handle, so that it asks for its answer."""
        self._lane = lane
        self._result: Result | None = None
        self._futures: Sequence[asyncio.Future[None]] = ()
        """Those who wait here; most handles have one for a moment, and many never."""
        self.id = intent
        self.replayed = replayed
        """The key and the body came before: this is the intent they made then."""
        self.refusal = refusal
        """Of one call in a batch: why it was not accepted. Nothing was written for it."""

    async def result(self, timeout_s: float | None = None) -> Settled:
        """Wait for the final answer."""
        if timeout_s is None:
            return self._desk.settled(await self._wait(), self._lane)
        async with asyncio.timeout(timeout_s):
            return self._desk.settled(await self._wait(), self._lane)

    async def _wait(self) -> Result:
        if self.refusal is not None:
            raise self.refusal
        if self._result is None and (self._asks or self._desk.shared):
            # Perhaps nobody here knows what became of it: the store does.
            lane = None if self.replayed else self._lane
            self._result = await self._desk.engine.result(self.id, lane)
        if self._result is None:
            self._desk.check()
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._futures = (*self._futures, future)
            try:
                await future
            finally:
                self._futures = tuple(other for other in self._futures if other is not future)
        assert self._result is not None
        return self._result

    def settle(self, result: Result) -> None:
        self._result = result
        for future in self._futures:
            if not future.done():
                future.set_result(None)

    def fail(self, error: Exception) -> None:
        for future in self._futures:
            if not future.done():
                future.set_exception(error)

    async def cancel(self, reason: str = "", by: str = "") -> None:
        await self._desk.cancel(self.id, reason=reason, by=by)


def taken(desk: ResultSource, arrival: Arrival, answer: Answer, handle: Handle) -> Handle:
    """The handle of what the door answered: this one, that of an intent before it, or a refusal."""
    match answer:
        case Accepted():
            return handle
        case Replayed(id=intent):
            return Handle(desk, intent, arrival.lane, replayed=True)
        case Conflict() | Full():
            refusal = refusal_of(arrival, answer)
            return Handle(desk, arrival.id, arrival.lane, refusal=refusal)
        case _:
            assert_never(answer)


def refusal_of(arrival: Arrival, answer: Conflict | Full) -> CallerError:
    """Why nothing was written for it."""
    match answer:
        case Conflict(id=intent):
            return IntentConflict(arrival.key or "", intent)
        case Full(bound=bound, limit=limit):
            return LaneFull(arrival.lane, bound=bound, limit=limit, retry_after_s=RETRY_AFTER_S)
        case _:
            assert_never(answer)


class Handles(Listener):
    """Notifies the handles that callers still hold of final answers, and keeps no handle alive."""

    def __init__(self) -> None:
        self._held: dict[IntentId, ref[Handle]] = {}
        self._sweep_at = HANDLES_SWEEP_MIN

    def add(self, handle: Handle) -> Handle:
        """From before the handle's intent is written: no answer can come too early."""
        self._held[handle.id] = ref(handle)
        if len(self._held) >= self._sweep_at:
            # Plain references and a sweep when they have doubled: a weak dictionary, which is
            # called for each that goes, costs as much as the rest of a submission.
            self._held = {intent: held for intent, held in self._held.items() if held() is not None}
            self._sweep_at = max(HANDLES_SWEEP_MIN, 2 * len(self._held))
        return handle

    def notified(self, _lane: LaneId, _records: Sequence[Any], results: Sequence[Result]) -> None:
        for result in results:
            held = self._held.pop(result.intent, None)
            handle = None if held is None else held()
            if handle is not None:
                handle.settle(result)

    def failed(self, error: Exception) -> None:
        for held in list(self._held.values()):
            handle = held()
            if handle is not None:
                handle.fail(error)


async def lane_of(store: Store, intent: IntentId) -> LaneId:
    """Of an intent that has its answer."""
    view = await store.intent(intent)
    if view is not None:
        return view.intent.lane
    left = await store.find(PRUNED_INDEX, intent)
    assert left is not None
    return left.lane
