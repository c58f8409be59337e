"""Cosmos accounts as a process serves them: their requests, the bytes they may hold, and the
commands about their sequences."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from laneway.core.errors import AccountNotFound, BadRequest, NoRoom
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import Accepted, Answer, Arrival, IntentRow, Replayed
from laneway.core.rows import LaneView, Result
from laneway.engine.listeners import Listener
from laneway.engine.waiters import EngineStopped
from laneway.kinds.arrivals import (
    RETRY_SCOPE,
    converted,
    is_count,
    named_keys,
    nothing_else,
    plain,
)
from laneway.kinds.common.views import taken_tx
from laneway.kinds.cosmos.arrivals import CosmosDoor
from laneway.kinds.cosmos.client import TxClient, TxHandle, TxHandles, response_of
from laneway.kinds.cosmos.log import SequenceLog
from laneway.kinds.cosmos.request import decode, payload_of, request_of
from laneway.kinds.cosmos.views import CosmosViews, next_of
from laneway.kinds.cosmos.workers import WorkerClient, set_up
from laneway.kinds.handle import Settled, refusal_of
from laneway.kinds.limits import STOPPED_NAMED_MAX
from laneway.kinds.served import CommandPlan, Verb
from laneway.lanes.sequence.lane import is_out
from laneway.lanes.sequence.rows import Slot
from laneway.lanes.sequence.values import SequenceSet
from laneway.ports import Clock, CosmosRequest, IntentView
from laneway.wire.cosmos import CosmosPayload, CosmosTx
from laneway.wire.times import to_ms
from laneway.wire.values import Check, NewCosmosTx, Tx

if TYPE_CHECKING:
    # The curve is an extra (`cosmos`); lanes that are only shown need none of it.
    from laneway.kinds.cosmos.lanes import CosmosLanes

WHOSE = "only a Cosmos account's transactions have a sequence"


class CosmosServed(CosmosViews):
    name = "cosmos"
    is_large = True
    lanes: "CosmosLanes | None"
    lane_verbs = (Verb("set-sequence", WHOSE),)

    def __init__(self, lanes: "CosmosLanes | None", clock: Clock) -> None:
        super().__init__(lanes, 0 if lanes is None else lanes.section.account_bytes_max)
        self.performer = None if lanes is None else lanes.performer
        self.door = None if lanes is None else CosmosDoor(lanes.section, clock)
        """Where the transactions come in."""
        self._txs = TxHandles()

    def listeners(self) -> Sequence[Listener]:
        return () if self.door is None else (self._txs, self.door.capacity, SequenceLog())

    async def started(self) -> None:
        if self.lanes is not None:
            await set_up(self, self.lanes)

    async def close(self) -> None:
        self._txs.failed(EngineStopped())
        await super().close()

    # What comes in.

    def _accounts(self) -> "CosmosLanes":
        assert self.lanes is not None
        return self.lanes

    def _open(self, lane: str) -> CosmosDoor:
        if self.door is None:
            raise AccountNotFound(lane, *self.named_so)
        return self.door

    def arrival(self, new: NewCosmosTx, key: str | None, scope: str, trace: str) -> Arrival:
        lane = self.lane_name(new.lane)
        until_ms = None if new.valid_until is None else max(0, to_ms(new.valid_until))
        request = request_of(new.payload, self._accounts().account(lane), trace)
        return self._open(new.lane).arrivals.make(lane, request, key, scope, until_ms)

    def again(self, view: IntentView) -> Arrival:
        row = view.intent
        arrivals = self._open(row.lane).arrivals
        return arrivals.make(row.lane, decode(row.payload), row.id, RETRY_SCOPE)

    async def accept(self, arrival: Arrival) -> Answer:
        return await self._open(arrival.lane).take(arrival, self.engine.submit)

    async def submit(
        self,
        lane: str,
        request: CosmosRequest | Mapping[str, Any],
        *,
        key: str | None = None,
        valid_until_ms: int | None = None,
        context: Any = None,
        timeout_s: float | None = None,
        **more: Any,
    ) -> TxHandle:
        """Queue one transaction, once there is capacity for its bytes."""
        nothing_else(more)
        name = self.lane_name(lane)
        door = self._open(lane)
        if not isinstance(request, CosmosRequest):
            payload = converted(plain(request), CosmosPayload)
            request = request_of(payload, self._accounts().account(name))
        arrival, size = door.slim(name, request, key, valid_until_ms)
        handle = self._txs.add(TxHandle(self.home, arrival.id, name, request, context))
        answer = await door.enter(arrival, request, self.engine.submit, timeout_s, size)
        if isinstance(answer, Replayed):
            handle = self._txs.add(TxHandle(self.home, answer.id, name, request, context))
            handle.follow()
        elif not isinstance(answer, Accepted):
            raise refusal_of(arrival, answer)
        return handle

    async def submit_many(
        self,
        lane: LaneId,
        requests: Sequence[CosmosRequest],
        *,
        keys: Sequence[str | None] | None = None,
        timeout_s: float | None = None,
    ) -> list[TxHandle]:
        """Queue a batch, in one write as far as there is capacity."""
        door = self._open(lane)
        named = named_keys(keys, len(requests), "requests")
        arrivals = door.arrivals.make_many(lane, requests, named)
        handles = [
            self._txs.add(TxHandle(self.home, arrival.id, lane, request, None))
            for arrival, request in zip(arrivals, requests, strict=True)
        ]
        engine = self.engine
        answers = await door.capacity.submit_many(
            arrivals, engine.submit_many, engine.submit, timeout_s
        )
        for place, (arrival, answer) in enumerate(zip(arrivals, answers, strict=True)):
            if isinstance(answer, Accepted):
                continue
            if isinstance(answer, Replayed):
                handle = TxHandle(self.home, answer.id, lane, requests[place], None)
                handles[place] = self._txs.add(handle)
                handle.follow()
            elif isinstance(answer, NoRoom):
                handles[place].refuse(answer)
            else:
                handles[place].refuse(refusal_of(arrival, answer))
        return handles

    def client(self, lane: str) -> TxClient:
        """The client of one account: `cosmos:CHAIN:ACCOUNT`, or `cosmos:CHAIN` where it has one
        account."""
        if self.lanes is None:
            raise AccountNotFound(lane, *self.named_so)
        return TxClient(self.home, self.lanes.lane(lane), self)

    def workers(self, lane: str) -> WorkerClient:
        """The client of an account and its workers, which keeps no order among them."""
        main = self.client(lane)
        others = self._accounts().workers(main.lane)
        return WorkerClient([main, *(TxClient(self.home, one, self) for one in others)])

    def accepted(self, arrival: Arrival, answer: Accepted, new: Any = None) -> Tx:  # noqa: ARG002
        request = decode(arrival.payload)
        return taken_tx(
            arrival,
            answer,
            traceparent=request.trace or None,
            cosmos=CosmosTx(payload=payload_of(request)),
        )

    def settled(self, result: Result) -> Settled:
        found = response_of(result)
        return Settled(
            id=found.id,
            status=found.status,
            block=found.height or None,
            reason=result.reason,
            hash=found.hash or None,
            nonce=found.sequence,
        )

    # Commands.

    async def effect(self, verb: str, view: IntentView, argument: Any = None) -> str:  # noqa: ARG002
        row = view.intent
        slot: Slot | None = self.slot(row.lane, row.id)
        if slot is None:
            return "it would never be given a sequence"
        held = self.held(row.lane)
        assert held is not None
        if is_out(held, slot, held.nodes.values()):
            assert slot.attempt is not None
            last = slot.attempt.timeout_height + 1
            return f"refused: a node may have it: it is final in block {last} at last"
        after = f"those after it move down to sequence {slot.sequence}, or a filler uses it"
        return f"it would never be sent; {after}"

    def followed(self, verb: str, row: IntentRow, *, final: bool, argument: Any = None) -> str:  # noqa: ARG002
        return "it will never be sent" if final else "the lane has followed"

    def command_answer(self, verb: str, intent: IntentId | None, record: Any) -> str | None:
        if intent is None and isinstance(record, SequenceSet):
            return ""
        return super().command_answer(verb, intent, record)

    async def plan(self, verb: str, view: LaneView, argument: int | None) -> CommandPlan:  # noqa: ARG002
        plan = self.sequence_plan(view, argument)
        if plan is None:
            effect = "the account was not read yet, or another process holds it and decides"
            return CommandPlan(effect, {"sequence": None})
        if plan.becomes == plan.sequence_next:
            effect = f"the next sequence stays {plan.becomes}: {plan.why()}"
        else:
            effect = f"the next sequence becomes {plan.becomes}, from {plan.sequence_next}"
            effect = f"{effect}: {plan.why()}"
        return CommandPlan(effect, {"sequence": next_of(plan)})

    def lane_word(self, verb: str, argument: Any) -> str:  # noqa: ARG002
        if argument is not None and not is_count(argument):
            raise BadRequest("sequence", "a whole number, not below zero")
        return "" if argument is None else str(argument)

    # Nodes and readiness.

    def notices(self) -> Sequence[Check]:
        """Accounts of this process whose nodes took back what was believed, each with why."""
        lanes = () if self.lanes is None else self.lanes.settings
        held = [self.engine.reactor.lane(one) for one in lanes]
        halted = [lane for lane in held if lane is not None and lane.head.halt]
        named = "; ".join([f"{lane.id}: {lane.head.halt}" for lane in halted[:STOPPED_NAMED_MAX]])
        return [Check("accounts", True, f"{len(halted)} halted: {named}")] if halted else []

    def metered(self, meter: Any) -> None:
        if self.door is not None:
            capacity = self.door.capacity
            meter.held.set_function(lambda: capacity.held)
            meter.waiting.set_function(capacity.waiting)
