"""The server's desk for EVM accounts: what differs from contracts."""

from laneway.core.errors import CommandUnfit, IntentNotFound
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import Accepted, Arrival, IntentRow
from laneway.core.outcome import Status
from laneway.core.rows import LaneView
from laneway.lanes.eoa.lane import decode_history
from laneway.lanes.eoa.rows import Slot
from laneway.ports import Clock, Entropy, IntentView, Store
from laneway.wire.evm import EvmTx, NonceReset
from laneway.wire.times import to_ms, to_time
from laneway.wire.values import NewEvmTx, Tx
from laneway.wiring.arrivals import RETRY_SCOPE
from laneway.wiring.evm_arrivals import EvmArrivals
from laneway.wiring.evm_request import decode, payload_of, request_of
from laneway.wiring.evm_shown import EvmTeller, empty_view, reset_of

HASH_INDEX, NONCE_INDEX = "hash", "nonce"
HASH_CHARS = 66


WAITING = {
    "cancel": "it would never be given a nonce",
    "bump": "refused: nothing of it is out",
    "replace": "it would be given a nonce with the new content alone",
}
BOUND = {
    "cancel": "a no-op would take its place at nonce",
    "bump": "a dearer attempt would be sent at nonce",
    "replace": "the new content would be sent at nonce",
}
DONE = {
    "cancel": "a no-op takes its place at nonce",
    "bump": "a dearer attempt is sent at nonce",
    "replace": "the new content is sent at nonce",
}
"""What a word does to an intent that waits, to one that has a nonce, and what it did."""


class EvmDesk:
    """Makes arrivals of accounts' requests, and finds them by hash and nonce."""

    def __init__(self, store: Store, teller: EvmTeller, clock: Clock, entropy: Entropy) -> None:
        self._store = store
        self.teller = teller
        self._arrivals = EvmArrivals(clock, entropy)

    # Arrivals.

    def arrival(self, new: NewEvmTx, key: str | None, scope: str, trace: str) -> Arrival:
        until_ms = None if new.valid_until is None else max(0, to_ms(new.valid_until))
        request = request_of(new.payload, trace)
        return self._arrivals.make(self.teller.name(new.lane), request, key, scope, until_ms)

    def again(self, view: IntentView) -> Arrival:
        """What a dead one said last, in its place."""
        row, result = view.intent, view.result
        assert result is not None
        replaced = decode_history(result.history).payload if result.history else b""
        return self._arrivals.make(row.lane, decode(replaced or row.payload), row.id, RETRY_SCOPE)

    def accepted(self, arrival: Arrival, answer: Accepted) -> Tx:
        request = decode(arrival.payload)
        until_ms = arrival.valid_until_ms
        return Tx(
            id=arrival.id,
            lane=arrival.lane,
            status=Status.QUEUED.value,
            final=False,
            reason="",
            seq=answer.seq,
            accepted_at=to_time(arrival.accepted_ms),
            idempotency_key=None if arrival.scope == RETRY_SCOPE else arrival.key,
            retry_of=arrival.key if arrival.scope == RETRY_SCOPE else None,
            valid_until=None if until_ms is None else to_time(until_ms),
            traceparent=request.trace or None,
            evm=EvmTx(payload=payload_of(request)),
        )

    # Names.

    async def find(self, text: str) -> IntentId:
        """The intent that `0x…` (a hash) or `LANE#NONCE` means."""
        if text.startswith("0x"):
            index = None
            if len(text) == HASH_CHARS:
                index = await self._store.find(HASH_INDEX, text[2:].lower())
        else:
            lane, _, digits = text.rpartition("#")
            if not (digits.isascii() and digits.isdigit()):
                raise IntentNotFound(text)
            name, nonce = self.teller.name(lane), int(digits)
            bound = self.teller.at_nonce(name, nonce)
            if bound is not None:
                return bound
            index = await self._store.find(NONCE_INDEX, f"{name}#{nonce}")
        if index is None:
            raise IntentNotFound(text)
        return index.intent

    async def view(self, lane: str) -> LaneView:
        """A configured account has a lane before anything was queued for it."""
        name = self.teller.name(lane)
        return await self._store.lane(name) or empty_view(name)

    # What a word would do.

    def slot(self, row: IntentRow) -> Slot | None:
        held = self.teller.held(row.lane)
        return None if held is None else held.slot_of(row.id)

    def effect(self, verb: str, row: IntentRow) -> str:
        """In words; an account's lane decides when it hears it."""
        slot = self.slot(row)
        if slot is not None and slot.seen is not None:
            return f"refused: it was mined in block {slot.seen.block}"
        if slot is None:
            return WAITING[verb]
        return f"{BOUND[verb]} {slot.nonce}; whichever lands decides"

    def followed(self, verb: str, row: IntentRow, *, final: bool) -> str:
        slot = self.slot(row)
        if slot is None:
            if verb == "replace":
                return "it will be sent with the new content alone"
            return "it will never be sent" if final else "the lane has followed"
        return f"{DONE[verb]} {slot.nonce}; whichever lands decides"

    def reset(self, view: LaneView) -> NonceReset | None:
        plan = self.teller.plan(view)
        return None if plan is None else reset_of(plan)

    def reset_effect(self, plan: NonceReset | None) -> str:
        if plan is None:
            return "the account was not read yet, or another process holds it and decides"
        if plan.becomes == plan.nonce_next and not plan.forgotten:
            return f"the optimistic nonce stays {plan.nonce_next}: {plan.why_not_lower}"
        return (
            f"the optimistic nonce becomes {plan.becomes}, from {plan.nonce_next}; "
            f"{plan.forgotten} free ones are forgotten; no lower, for {plan.why_not_lower}"
        )


def check_account(lane: LaneId, verb: str) -> None:
    if not lane.startswith("evm:"):
        raise CommandUnfit(lane, verb, "only an account's transactions have a nonce")
