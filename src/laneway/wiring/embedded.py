"""The library: an engine inside your own process, on one file.

async with Laneway.open("laneway.db", host=host) as lw:
    handle = await lw.submit("Qm123", data="transfer 5", executor="did:1", key="order-7")
    print((await handle.result()).block)
"""

import asyncio
from collections.abc import Sequence
from hashlib import blake2b
from types import TracebackType
from typing import Any, Self, assert_never
from weakref import WeakValueDictionary

import msgspec

from laneway.core.errors import BadRequest, IntentConflict, IntentNotFound, LaneFull
from laneway.core.ids import (
    ENTROPY_BYTES,
    IntentId,
    LaneId,
    idempotency_key,
    intent_id,
    lane_id,
)
from laneway.core.intent import Accepted, Answer, Arrival, Conflict, Full, Replayed
from laneway.core.limits import PAYLOAD_BYTES_MAX, PRIORITY_CLASSES
from laneway.core.outcome import Status
from laneway.core.rows import Command, LaneView, Result
from laneway.engine.contract import ContractPerformer, encode_call
from laneway.engine.heart import Retention
from laneway.engine.reactor import Reactor
from laneway.engine.shell import DrainMode, Engine, Listener
from laneway.feeds.log import ContractLog
from laneway.lanes.contract import ContractSettings, contract_kind
from laneway.lanes.contract.show import QueueMetrics, describe, queue_metrics
from laneway.ports import Clock, ContractCall, ContractHost, IntentView, Store
from laneway.wiring.limits import LANE_PAGE, RETRY_AFTER_S
from laneway.wiring.store import open_store
from laneway.wiring.system import SystemClock, SystemEntropy, fresh_owner


class Settled(msgspec.Struct, frozen=True):
    """The final answer of one execution."""

    id: IntentId
    status: str
    block: int | None
    reason: str

    def is_confirmed(self) -> bool:
        return self.status == Status.CONFIRMED.value


class LaneShown(msgspec.Struct, frozen=True):
    """Where a lane is, why, and how old its work is."""

    lane: LaneId
    state: str
    reason: str
    waiting: int
    running: int
    oldest_waiting_ms: int | None
    running_ms: int | None
    failures: int
    metrics: QueueMetrics


class IntentShown(msgspec.Struct, frozen=True):
    id: IntentId
    lane: LaneId
    status: str
    why: str
    key: str | None
    seq: int
    accepted_ms: int
    block: int | None = None


class Handle:
    """One accepted intent. It survives any crash until it has a final answer."""

    __slots__ = ("__weakref__", "_futures", "_laneway", "_result", "id", "replayed")

    def __init__(self, laneway: "Laneway", intent: IntentId, *, replayed: bool) -> None:
        self._laneway = laneway
        self._result: Result | None = None
        self._futures: list[asyncio.Future[None]] = []
        self.id = intent
        self.replayed = replayed
        """The key and the body came before: this is the intent they made then."""

    async def result(self, timeout_s: float | None = None) -> Settled:
        """Wait for the final answer."""
        if timeout_s is not None:
            async with asyncio.timeout(timeout_s):
                return await self.result()
        if self.replayed:
            # Nobody knows here what became of it since: the store does.
            return settled(await self._laneway.engine.result(self.id))
        if self._result is None:
            self._laneway.check()
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._futures.append(future)
            await future
        assert self._result is not None
        return settled(self._result)

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
        await self._laneway.cancel(self.id, reason=reason, by=by)


class Handles:
    """Tells final answers to the handles that callers still hold, and keeps no other alive."""

    def __init__(self) -> None:
        self.handles: WeakValueDictionary[IntentId, Handle] = WeakValueDictionary()

    def accepted(self, arrival: Arrival, answer: Accepted) -> None:
        pass

    def opened(self, lane: LaneId) -> None:
        pass

    def closed(self, lane: LaneId) -> None:
        pass

    def told(self, _lane: LaneId, _records: Sequence[Any], results: Sequence[Result]) -> None:
        for result in results:
            handle = self.handles.get(result.intent)
            if handle is not None:
                handle.settle(result)

    def failed(self, error: Exception) -> None:
        for handle in list(self.handles.values()):
            handle.fail(error)


class Laneway:
    """A running engine with contract lanes."""

    def __init__(
        self,
        store: Store,
        host: ContractHost,
        settings: ContractSettings,
        clock: Clock,
        listeners: Sequence[Listener] = (),
        retention: Retention | None = None,
    ) -> None:
        settings = msgspec.structs.replace(
            settings,
            takes_parent=host.traits.takes_parent,
            has_chain=host.traits.has_chain,
        )
        self.store = store
        self.host = host
        self.settings = settings
        self._clock = clock
        self._entropy = SystemEntropy()
        self._handles = Handles()
        reactor = Reactor({"contract": contract_kind(settings)}, fresh_owner())
        self.engine = Engine(
            store,
            reactor,
            {"contract": ContractPerformer(host, clock)},
            clock,
            (self._handles, ContractLog(clock, settings), *listeners),
            retention,
        )
        limited = settings.limit_policy == "reject"
        self._count_max = settings.count_max if limited else None
        self._bytes_max = settings.bytes_max if limited else None

    @classmethod
    def open(
        cls,
        path: str,
        host: ContractHost,
        settings: ContractSettings | None = None,
        listeners: Sequence[Listener] = (),
        retention: Retention | None = None,
    ) -> Self:
        """An engine on the file at `path` (":memory:" keeps nothing). Enter it to start it."""
        clock = SystemClock()
        store = open_store(path, clock)
        return cls(store, host, settings or ContractSettings(), clock, listeners, retention)

    async def __aenter__(self) -> Self:
        await self.engine.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self, drain: DrainMode = "now", timeout_s: float | None = None) -> bool:
        """Stop accepting, finish what `drain` says, release the leases, close the file."""
        ended = await self.engine.drain(drain, timeout_s)
        await self.engine.stop()
        await self.host.close()
        await self.store.close()
        return ended

    async def submit(
        self,
        contract: str,
        data: str,
        *,
        executor: str = "",
        quorum_type: int = 2,
        comment: str = "",
        key: str | None = None,
        priority: int = 0,
        valid_until_ms: int | None = None,
    ) -> Handle:
        """Queue one execution; returns when it is durable. Safe to call twice with one key."""
        call = ContractCall(contract, executor, data, quorum_type, comment)
        arrival = self._arrival(call, key, priority, valid_until_ms)
        handle = Handle(self, arrival.id, replayed=False)
        self._handles.handles[arrival.id] = handle
        return self._handle(arrival, await self.engine.submit(arrival), handle)

    def _handle(self, arrival: Arrival, answer: Answer, handle: Handle) -> Handle:
        match answer:
            case Accepted():
                return handle
            case Replayed():
                return Handle(self, answer.id, replayed=True)
            case Conflict():
                raise IntentConflict(arrival.key or "", answer.id)
            case Full():
                raise LaneFull(
                    arrival.lane,
                    bound=answer.bound,
                    limit=answer.limit,
                    retry_after_s=RETRY_AFTER_S,
                )
            case _:
                assert_never(answer)

    async def submit_many(
        self, calls: Sequence[ContractCall], keys: Sequence[str] | None = None
    ) -> list[Handle]:
        """Queue a batch in one write; returns when all of it is durable."""
        named: Sequence[str | None] = keys if keys is not None else [None] * len(calls)
        arrivals = [
            self._arrival(call, key, 0, None) for call, key in zip(calls, named, strict=True)
        ]
        handles = [Handle(self, arrival.id, replayed=False) for arrival in arrivals]
        for handle in handles:
            self._handles.handles[handle.id] = handle
        answers = await self.engine.submit_many(arrivals)
        return [
            self._handle(arrival, answer, handle)
            for arrival, answer, handle in zip(arrivals, answers, handles, strict=True)
        ]

    def _arrival(
        self, call: ContractCall, key: str | None, priority: int, valid_until_ms: int | None
    ) -> Arrival:
        payload = encode_call(call)
        if len(payload) > PAYLOAD_BYTES_MAX:
            raise BadRequest(
                "data", f"{len(payload)} bytes are more than the {PAYLOAD_BYTES_MAX} allowed"
            )
        if not 0 <= priority < PRIORITY_CLASSES:
            raise BadRequest("priority", f"a class from 0 (urgent) to {PRIORITY_CLASSES - 1}")
        now_ms = self._clock.now_ms()
        return Arrival(
            id=intent_id(now_ms, self._entropy.token(ENTROPY_BYTES)),
            lane=lane_id("contract", call.contract),
            payload=payload,
            digest=b"" if key is None else digest(payload),
            accepted_ms=now_ms,
            key=None if key is None else idempotency_key(key),
            priority=priority if self.settings.priorities else 0,
            valid_until_ms=valid_until_ms,
            fast_size=self.settings.fast_size,
            fresh=True,
            count_max=self._count_max,
            bytes_max=self._bytes_max,
        )

    def check(self) -> None:
        """Raise what stopped the engine, if anything did."""
        if self.engine.failure is not None:
            raise self.engine.failure

    # Questions.

    async def show(self, intent: str) -> IntentShown:
        """Where one intent is and why."""
        view = await self._view(intent)
        row = view.intent
        if view.result is not None:
            status, why, block = view.result.status, view.result.reason, view.result.number
        else:
            lane = await self.store.lane(row.lane)
            assert lane is not None
            state = describe(lane.head.state, self.settings)
            status = Status.SUBMITTED.value if view.open else Status.QUEUED.value
            why, block = f"{state.word} {state.reason}".strip(), None
        return IntentShown(row.id, row.lane, status, why, row.key, row.seq, row.accepted_ms, block)

    async def metrics(self) -> list[QueueMetrics]:
        """The seed's metrics, one row a contract."""
        return [queue_metrics(view, self.settings) for view in await self._views()]

    async def lanes(self) -> list[LaneShown]:
        return [await self._shown(view) for view in await self._views()]

    async def lane(self, contract: str) -> LaneShown:
        lane = lane_id("contract", contract)
        view = await self.store.lane(lane)
        if view is None:
            raise BadRequest("contract", f"nothing was ever queued for {contract}")
        return await self._shown(view)

    async def _views(self) -> list[LaneView]:
        views: list[LaneView] = []
        while True:
            page = await self.store.lanes(views[-1].tail.lane if views else None, LANE_PAGE)
            views.extend(page)
            if len(page) < LANE_PAGE:
                return views

    async def _shown(self, view: LaneView) -> LaneShown:
        now_ms = self._clock.now_ms()
        state = describe(view.head.state, self.settings)
        oldest = await self.store.oldest(view.tail.lane)
        since_ms = state.running_since_ms
        waiting = view.depth() - state.running
        word = "ready" if state.word == "idle" and waiting else state.word
        fault = self.engine.faults.get(view.tail.lane)
        return LaneShown(
            lane=view.tail.lane,
            state="halted" if fault else word,
            reason=f"stopped by a bug: {fault}" if fault else state.reason,
            waiting=waiting,
            running=state.running,
            oldest_waiting_ms=None if oldest is None else now_ms - oldest.accepted_ms,
            running_ms=None if since_ms is None else now_ms - since_ms,
            failures=state.failures,
            metrics=queue_metrics(view, self.settings),
        )

    # Commands.

    async def pause(self, contract: str, *, reason: str = "", by: str = "") -> None:
        await self._tell(contract, "pause", reason=reason, by=by)

    async def resume(self, contract: str, *, reason: str = "", by: str = "") -> None:
        await self._tell(contract, "resume", reason=reason, by=by)

    async def drain_lane(
        self, contract: str, mode: str = "queue", *, reason: str = "", by: str = ""
    ) -> None:
        """Take what waits now and nothing after (queue), or only what runs (running)."""
        if mode not in ("queue", "running"):
            raise BadRequest("mode", "a lane drains its 'queue' or only what is 'running'")
        view = await self.store.lane(lane_id("contract", contract))
        seq = 0 if view is None else view.tail.seq_next - 1
        await self._tell(contract, "drain", reason=reason, by=by, word=mode, seq=seq)

    async def cancel(self, intent: str, *, reason: str = "", by: str = "") -> None:
        """Take back a waiting execution; one that runs cannot be called back."""
        await self._tell_intent(intent, "cancel", "", reason, by)

    async def settle(self, intent: str, word: str, *, reason: str = "", by: str = "") -> None:
        """Tell a halted lane what a person found out: executed, not_executed or skip."""
        if word not in ("executed", "not_executed", "skip"):
            raise BadRequest("word", "one of executed, not_executed, skip")
        await self._tell_intent(intent, "settle", word, reason, by)

    async def _tell_intent(self, intent: str, verb: str, word: str, reason: str, by: str) -> None:
        row = (await self._view(intent)).intent
        command = Command(
            id=0,
            lane=row.lane,
            verb=verb,
            at_ms=self._clock.now_ms(),
            reason=reason,
            by=by,
            intent=row.id,
            seq=row.seq,
            priority=row.priority,
            size=row.size(),
            word=word,
        )
        await self.engine.tell(command)

    async def _tell(
        self,
        contract: str,
        verb: str,
        *,
        reason: str,
        by: str,
        word: str = "",
        seq: int = 0,
    ) -> None:
        lane = lane_id("contract", contract)
        at_ms = self._clock.now_ms()
        await self.engine.tell(
            Command(0, lane, verb, at_ms, reason=reason, by=by, word=word, seq=seq)
        )

    async def _view(self, intent: str) -> IntentView:
        view = await self.store.intent(IntentId(intent)) if is_intent_id(intent) else None
        if view is None:
            raise IntentNotFound(intent)
        return view


def settled(result: Result) -> Settled:
    return Settled(result.intent, result.status, result.number, result.reason)


def is_intent_id(text: str) -> bool:
    head, _, digits = text.partition("_")
    return head == "tx" and len(digits) == 32 and all(c in "0123456789abcdef" for c in digits)


def digest(payload: bytes) -> bytes:
    return blake2b(payload, digest_size=16).digest()
