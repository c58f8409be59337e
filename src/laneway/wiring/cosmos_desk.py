"""The server's desk for Cosmos accounts: what differs from contracts."""

from laneway.core.errors import AccountNotFound, CommandUnfit
from laneway.core.ids import is_cosmos
from laneway.core.intent import Accepted, Answer, Arrival, IntentRow
from laneway.core.rows import LaneView
from laneway.lanes.sequence.lane import is_out
from laneway.lanes.sequence.rows import Slot
from laneway.ports import IntentView, Store
from laneway.wire.cosmos import CosmosTx, NextSequence
from laneway.wire.times import to_ms
from laneway.wire.values import NewCosmosTx, Tx
from laneway.wiring.account_desk import AccountDesk
from laneway.wiring.account_shown import taken_tx
from laneway.wiring.arrivals import RETRY_SCOPE
from laneway.wiring.cosmos_door import CosmosDoor
from laneway.wiring.cosmos_request import decode, request_of, said_of
from laneway.wiring.cosmos_shown import CosmosTeller, next_of
from laneway.wiring.room import Accept


class CosmosDesk(AccountDesk[CosmosTeller]):
    """Makes arrivals of accounts' requests, and tells what words do to their numbers."""

    def __init__(
        self, store: Store, teller: CosmosTeller, door: CosmosDoor | None, accept: Accept
    ) -> None:
        super().__init__(store, teller)
        self._door = door
        self._accept = accept

    # Arrivals.

    def arrival(self, new: NewCosmosTx, key: str | None, scope: str, trace: str) -> Arrival:
        lane = self.teller.name(new.lane)
        until_ms = None if new.valid_until is None else max(0, to_ms(new.valid_until))
        request = request_of(new.payload, self.teller.payer(lane), trace)
        return self._open(new.lane).arrivals.make(lane, request, key, scope, until_ms)

    def again(self, view: IntentView) -> Arrival:
        row = view.intent
        arrivals = self._open(row.lane).arrivals
        return arrivals.make(row.lane, decode(row.payload), row.id, RETRY_SCOPE)

    async def submit(self, arrival: Arrival) -> Answer:
        return await self._open(arrival.lane).take(arrival, self._accept)

    def _open(self, lane: str) -> CosmosDoor:
        if self._door is None:
            raise AccountNotFound(lane)
        return self._door

    def accepted(self, arrival: Arrival, answer: Accepted) -> Tx:
        request = decode(arrival.payload)
        return taken_tx(
            arrival,
            answer,
            traceparent=request.trace or None,
            cosmos=CosmosTx(payload=said_of(request)),
        )

    # What a word would do.

    def effect(self, _verb: str, row: IntentRow, /) -> str:
        slot: Slot | None = self.teller.slot(row.lane, row.id)
        if slot is None:
            return "it would never be given a sequence"
        held = self.teller.held(row.lane)
        assert held is not None
        if is_out(held, slot, held.nodes.values()):
            return f"refused: {bound(slot)}"
        return f"it would never be sent; {freed(slot)}"

    def followed(self, _verb: str, _row: IntentRow, /, *, final: bool) -> str:
        return "it will never be sent" if final else "the lane has followed"

    def plan(self, view: LaneView, wanted: int | None) -> tuple[str, NextSequence | None]:
        """What setting the sequence would do, in words and in numbers."""
        lane = view.tail.lane
        if not is_cosmos(lane):
            reason = "only a Cosmos account's transactions have a sequence"
            raise CommandUnfit(lane, "set-sequence", reason)
        plan = self.teller.plan(view, wanted)
        if plan is None:
            return "the account was not read yet, or another process holds it and decides", None
        if plan.becomes == plan.sequence_next:
            return f"the next sequence stays {plan.becomes}: {plan.why()}", next_of(plan)
        words = f"the next sequence becomes {plan.becomes}, from {plan.sequence_next}"
        return f"{words}: {plan.why()}", next_of(plan)


def bound(slot: Slot) -> str:
    assert slot.attempt is not None
    return f"a node may have it: it is final in block {slot.attempt.timeout_height + 1} at last"


def freed(slot: Slot) -> str:
    return f"those behind it move down to sequence {slot.sequence}, or a filler uses it"
