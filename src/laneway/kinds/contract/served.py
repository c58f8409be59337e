"""Contract lanes as a process serves them."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec.structs import asdict, replace

from laneway.core.errors import BadRequest, ChainError, ChainUnreachable, LaneNotFound, StoreError
from laneway.core.ids import IntentId, LaneId, lane_id, lane_key
from laneway.core.intent import Accepted, Arrival, IntentRow
from laneway.core.outcome import Status
from laneway.core.rows import Index, LaneView
from laneway.core.urls import shown_url
from laneway.engine.contract import CALL_FIELDS, ContractPerformer, decode_call
from laneway.engine.listeners import Listener
from laneway.engine.system import SystemEntropy
from laneway.kinds.arrivals import RETRY_SCOPE, check_fields, named_keys, nothing_else
from laneway.kinds.common.views import (
    pruned_tx,
    shown_health,
    shown_lane,
    shown_tx,
    taken_tx,
    when,
)
from laneway.kinds.contract.arrivals import ContractArrivals, contract_lane
from laneway.kinds.contract.log import ContractLog
from laneway.kinds.contract.section import HostSection
from laneway.kinds.handle import Handle, taken
from laneway.kinds.limits import LANE_PAGE, LISTING_SCAN_PAGE, PROBE_S_MAX, WITNESS_PAGES_MAX
from laneway.kinds.outlook import Outlook
from laneway.kinds.served import Served, Verb
from laneway.lanes.common.values import ModeChanged
from laneway.lanes.contract import ContractSettings, contract_kind
from laneway.lanes.contract.show import QueueMetrics, describe, queue_metrics, read_head
from laneway.lanes.kind import LaneKind, LaneState
from laneway.ports import Clock, ContractCall, ContractHost, IntentView, TracedCall
from laneway.ports.nodes import NodesKnown, Witnessed
from laneway.wire.times import to_ms
from laneway.wire.values import Check, ContractPayload, Lane, LaneHealth, NewTx, Queue, Tx

STUCK = ("halted", "tripped", "backing off", "recovering", "paused")
"""States of a lane that a person should look at."""
NOBODY = "laneway-probe"
"""Asked for when no contract is known yet: any answer at all proves that the chain is there."""
SETTLED = {
    "executed": "it would be confirmed by your word, and the lane goes on",
    "not_executed": "it would be tried again, or be refused if a try was refused for good",
    "skip": "it would be given up as dead, and the lane goes on",
}
"""What a person may say of an execution that halted its lane, and what that would do."""


class ContractServed(Served):
    name = "contract"
    intent_verbs = (Verb("settle", "only a contract's lane is settled by hand"),)

    def __init__(
        self,
        host: ContractHost,
        settings: ContractSettings,
        clock: Clock,
        *,
        section: HostSection | None = None,
        is_chosen: bool = True,
    ) -> None:
        """`section` describes the host; it was not chosen by anyone unless `is_chosen`."""
        self._section, self._is_chosen = section, is_chosen
        traits = host.traits
        self.host = host
        self.settings = replace(
            settings, takes_parent=traits.takes_parent, has_chain=traits.has_chain
        )
        self.performer = ContractPerformer(host, clock)
        self._clock = clock
        self._make = ContractArrivals(self.settings, clock, SystemEntropy()).make

    # Its life.

    def machine(self) -> LaneKind:
        return contract_kind(self.settings)

    def listeners(self) -> Sequence[Listener]:
        return (ContractLog(self._clock, self.settings),)

    async def open(self) -> None:
        await self._find_witness()

    async def close(self) -> None:
        await self.host.close()

    # What comes in.

    def lane_name(self, text: str) -> LaneId:
        """A contract by its name, with `contract:` before it or without."""
        return contract_lane(text.removeprefix("contract:") if type(text) is str else text)

    def named(self, lane: str) -> str:
        return lane

    def arrival(self, new: NewTx, key: str | None, scope: str, trace: str) -> Arrival:
        asked = new.payload
        contract = new.lane.partition(":")[2]
        call = ContractCall(contract, asked.executor, asked.data, asked.quorum_type, asked.comment)
        if trace:
            call = TracedCall(**asdict(call), trace=trace)
        until_ms = None if new.valid_until is None else max(0, to_ms(new.valid_until))
        return self._make(call, key, new.priority, until_ms, scope)

    def requested(
        self,
        lane: LaneId,
        request: ContractCall | Mapping[str, Any] | str | None,
        key: str | None,
        valid_until_ms: int | None,
        *,
        priority: int = 0,
        **more: Any,
    ) -> Arrival:
        """The data alone, and each field as a keyword, is a request too."""
        if isinstance(request, ContractCall):
            nothing_else(more)
            if contract_lane(request.contract) != lane:
                problem = f"{request.contract} is not the contract of {lane}"
                raise BadRequest("contract", problem)
        else:
            fields = request if isinstance(request, Mapping) else {"data": request}
            check_fields(fields, ContractPayload)
            named = {"executor": "", "data": None} | dict(fields) | more
            request = ContractCall(lane_key(lane), **named)
        return self._make(request, key, priority, valid_until_ms)

    async def submit_many(
        self, calls: Sequence[ContractCall], keys: Sequence[str | None] | None = None
    ) -> list[Handle]:
        """Queue a batch in one write. A call that is refused does not take the others with it."""
        named = named_keys(keys, len(calls), "calls")
        pairs = zip(calls, named, strict=True)
        arrivals = [self._make(call, key, 0, None) for call, key in pairs]
        add, home = self.home.handles.add, self.home
        handles = [add(Handle(home, arrival.id, arrival.lane)) for arrival in arrivals]
        answers = await self.engine.submit_many(arrivals)
        return [
            taken(home, arrival, answer, handle)
            for arrival, answer, handle in zip(arrivals, answers, handles, strict=True)
        ]

    def again(self, view: IntentView) -> Arrival:
        row = view.intent
        return self._make(decode_call(row.payload), row.id, row.priority, None, RETRY_SCOPE)

    # Views.

    def accepted(self, arrival: Arrival, answer: Accepted, new: NewTx | None = None) -> Tx:
        return taken_tx(
            arrival,
            answer,
            priority=arrival.priority,
            payload=payload_of(arrival.payload) if new is None else new.payload,
            traceparent=trace_of(arrival.payload),
        )

    async def view(self, lane: str) -> LaneView:
        try:
            known = lane_id("contract", lane_key(LaneId(lane))) == lane
        except BadRequest:
            known = False
        view = await self.store.lane(LaneId(lane)) if known else None
        if view is None:
            raise LaneNotFound(lane)
        return view

    def _state(self, view: LaneView) -> LaneState:
        state, fault = (
            describe(view.head.state, self.settings),
            self.engine.faults.get(view.tail.lane),
        )
        return state if fault is None else replace(state, word="halted", reason=fault.words())

    def tx(self, view: IntentView, lane: LaneView) -> Tx:
        payload, result = view.intent.payload, view.result
        due_ms = None
        if result is not None:
            status, why = result.status, result.reason
        else:
            status = Status.SUBMITTED.value if view.open else Status.QUEUED.value
            state = self._state(lane)
            why = f"{state.word} {state.reason}".strip()
            due_ms = state.next_ms if view.open else None
        return shown_tx(
            view,
            status,
            why,
            block=None if result is None else result.number,
            next_attempt_at=when(due_ms),
            payload=payload_of(payload),
            traceparent=trace_of(payload),
        )

    def pruned(self, left: Index) -> Tx:
        return pruned_tx(left, None)

    def lane(self, view: LaneView, oldest_ms: int | None, now_ms: int) -> Lane:
        state, counted = self._state(view), queue_metrics(view, self.settings)
        queue = Queue(
            fast=counted.fast_queue_len,
            slow=counted.slow_queue_len,
            enqueued=counted.enqueue_count,
            executed=counted.execute_count,
            fast_hits=counted.fast_hit_count,
            slow_hits=counted.slow_hit_count,
            dropped=counted.dropped_count,
        )
        next_at = when(state.next_ms)
        return shown_lane(
            view, state, state.running, oldest_ms, now_ms, queue=queue, next_attempt_at=next_at
        )

    def health(self, view: LaneView) -> LaneHealth:
        state = self._state(view)
        problems = [f"{state.word}: {state.reason}"] if state.word in STUCK else []
        return shown_health(view, problems)

    # Commands.

    async def effect(self, verb: str, view: IntentView, argument: Any = None) -> str:
        if verb == "settle":
            if self._state(await self.view(view.intent.lane)).word != "halted":
                return "refused: the lane is not halted, and finds out by itself"
            return SETTLED[argument]
        if view.open:
            return "refused while it executes; taken back only if every try of it was refused"
        return "it would never be executed; what waits after it moves up"

    def followed(self, verb: str, row: IntentRow, *, final: bool, argument: Any = None) -> str:  # noqa: ARG002
        return f"{argument}, by your word" if verb == "settle" else "it will never be executed"

    def ordered(self, verb: str, row: IntentRow, argument: Any) -> tuple[str, bytes]:  # noqa: ARG002
        return (argument, b"") if verb == "settle" else ("", b"")

    def command_answer(self, verb: str, intent: IntentId | None, record: Any) -> str | None:
        if verb == "settle" and isinstance(record, ModeChanged):
            return "" if record.halt and record.mode != "halted" else None
        return super().command_answer(verb, intent, record)

    halts_aside = True

    def aside(self, intent: IntentId) -> str:
        halts = "if one of its tries may land, halts until `laneway tx settle` says what ran"
        return f"takes {intent} back, and goes on; {halts}"

    # Nodes and readiness.

    def node_check(self, name: str, look: Outlook) -> Check:
        return look.check(name, "reachable")

    def chains(self) -> Mapping[str, Any]:
        return {"chain": self.host} if isinstance(self.host, NodesKnown) else {}

    def chain(self, lane: LaneId) -> object:  # noqa: ARG002
        return self.host

    async def checks(self) -> Sequence[Check]:
        await self._find_witness()
        if not self.host.traits.has_chain:
            return [Check("chain", True, "a callable: there is no chain to ask")]
        if isinstance(self.host, NodesKnown):
            return ()  # How its node stands says more.
        return [Check("chain", *await self._probe())]

    async def _probe(self) -> tuple[bool, str]:
        """Ask a chain inside this process."""
        lanes = await self._lanes(None, 1)
        contract = lane_key(lanes[0].tail.lane) if lanes else NOBODY
        try:
            async with asyncio.timeout(PROBE_S_MAX):
                latest = await self.host.latest_block(contract)
        except TimeoutError:
            return False, f"no answer within {PROBE_S_MAX:g} s"
        except ChainUnreachable as error:
            return False, str(error)
        except ChainError:
            return True, "reachable"  # If only to say that it does not know the contract.
        seen = read_head(lanes[0].head.state).floor if lanes else 0
        if latest < seen:
            text = f"reachable, but {contract} ends at block {latest} and was seen at {seen}"
            return True, f"{text}: the node lags, or it is another chain"
        return True, "reachable"

    async def _lanes(self, after: LaneId | None, limit: int) -> list[LaneView]:
        """A page of the lanes that execute contracts."""
        views = await self.store.lanes(LaneId("contract:") if after is None else after, limit)
        return [view for view in views if view.tail.lane.startswith("contract:")]

    async def _find_witness(self) -> None:
        """Contract nodes name no chain: a block that a lane has seen tells it from others."""
        host = self.host
        if not isinstance(host, Witnessed) or host.witness is not None:
            return
        after: LaneId | None = None
        with suppress(StoreError):  # The next probe reads it again.
            for _ in range(WITNESS_PAGES_MAX):
                views = await self._lanes(after, LISTING_SCAN_PAGE)
                for view in views:
                    floor = read_head(view.head.state).floor
                    if floor:
                        host.witness = lane_key(view.tail.lane), floor
                        return
                if len(views) < LISTING_SCAN_PAGE:
                    return
                after = views[-1].tail.lane

    async def rehearse(self) -> None:
        await self.close()

    def greeting(self, server: str) -> Sequence[str]:  # noqa: ARG002
        """Who executes contracts. In a fleet an embedded chain is one process's own: a lane that
        moves to another process would wait for ever. A fleet for accounts alone need not be warned
        of it."""
        section = self._section
        if section is None:
            return ()
        if section.kind != "devnet" or not self.home.shared:
            address = "" if section.url is None else shown_url(section.url)
            return [f"host        {section.kind} {address}".rstrip()]
        others = [one for one in self.home.kinds.values() if one.is_listed and one is not self]
        if any(one.is_running() for one in others) and not self._is_chosen:
            return ["host        none for contracts in a fleet; host.kind rest would name one"]
        text = "for ONE process only, its chain ends with it; a fleet needs host.kind rest"
        return [f"host        devnet: {text}"]

    async def queues(self) -> list[QueueMetrics]:
        """The seed's metrics, one row a contract; page by page, so that others have their turn."""
        queues: list[QueueMetrics] = []
        after: LaneId | None = None
        while True:
            views = await self._lanes(after, LANE_PAGE)
            queues += [queue_metrics(view, self.settings) for view in views]
            if len(views) < LANE_PAGE:
                return queues
            after = views[-1].tail.lane
            await asyncio.sleep(0)

    async def measure(self, meter: Any) -> None:
        meter.measure(await self.queues())


def payload_of(payload: bytes) -> ContractPayload:
    call = decode_call(payload)
    return ContractPayload(
        data=call.data,
        executor=call.executor,
        quorum_type=call.quorum_type,
        comment=call.comment,
    )


def trace_of(payload: bytes) -> str | None:
    """Asked with every acceptance: nearly all have none, and their first byte says so."""
    if payload[:1] == CALL_FIELDS:
        return None
    call = decode_call(payload)
    return (call.trace or None) if isinstance(call, TracedCall) else None
