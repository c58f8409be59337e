"""The server's desk for EVM accounts: what differs from contracts."""

from laneway.core.errors import CommandUnfit
from laneway.core.ids import LaneId, is_account
from laneway.core.intent import Accepted, Arrival, IntentRow
from laneway.core.rows import LaneView
from laneway.lanes.eoa.lane import decode_history
from laneway.lanes.eoa.rows import Slot
from laneway.ports import Clock, Entropy, IntentView, Store
from laneway.wire.evm import EvmTx, NonceReset
from laneway.wire.times import to_ms
from laneway.wire.values import NewEvmTx, Tx
from laneway.wiring.account_desk import AccountDesk
from laneway.wiring.account_shown import taken_tx
from laneway.wiring.arrivals import RETRY_SCOPE
from laneway.wiring.evm_arrivals import EvmArrivals
from laneway.wiring.evm_request import decode, payload_of, request_of
from laneway.wiring.evm_shown import EvmTeller, reset_of

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


class EvmDesk(AccountDesk[EvmTeller]):
    """Makes arrivals of accounts' requests, and tells what words do to their numbers."""

    def __init__(self, store: Store, teller: EvmTeller, clock: Clock, entropy: Entropy) -> None:
        super().__init__(store, teller)
        self._arrivals = EvmArrivals(clock, entropy)

    # Arrivals.

    def arrival(self, new: NewEvmTx, key: str | None, scope: str, trace: str) -> Arrival:
        until_ms = None if new.valid_until is None else max(0, to_ms(new.valid_until))
        request = request_of(new.payload, trace)
        return self._arrivals.make(self.teller.name(new.lane), request, key, scope, until_ms)

    def again(self, view: IntentView) -> Arrival:
        row, result = view.intent, view.result
        assert result is not None
        replaced = decode_history(result.history).payload if result.history else b""
        return self._arrivals.make(row.lane, decode(replaced or row.payload), row.id, RETRY_SCOPE)

    def accepted(self, arrival: Arrival, answer: Accepted) -> Tx:
        request = decode(arrival.payload)
        return taken_tx(
            arrival,
            answer,
            traceparent=request.trace or None,
            evm=EvmTx(payload=payload_of(request)),
        )

    # What a word would do.

    def slot(self, row: IntentRow) -> Slot | None:
        found: Slot | None = self.teller.slot(row.lane, row.id)
        return found

    def effect(self, verb: str, row: IntentRow, /) -> str:
        slot = self.slot(row)
        if slot is not None and slot.seen is not None:
            return f"refused: it was mined in block {slot.seen.block}"
        if slot is None:
            return WAITING[verb]
        return f"{BOUND[verb]} {slot.nonce}; whichever lands decides"

    def followed(self, verb: str, row: IntentRow, /, *, final: bool) -> str:
        slot = self.slot(row)
        if slot is None:
            if verb == "replace":
                return "it will be sent with the new content alone"
            return "it will never be sent" if final else "the lane has followed"
        return f"{DONE[verb]} {slot.nonce}; whichever lands decides"

    def reset(self, view: LaneView) -> tuple[str, NonceReset | None]:
        """What a reset would do, in words and in numbers."""
        check_account(view.tail.lane, "reset-nonce")
        plan = self.teller.plan(view)
        if plan is None:
            return "the account was not read yet, or another process holds it and decides", None
        told = reset_of(plan)
        if plan.becomes == plan.nonce_next and not plan.forgotten:
            return f"the optimistic nonce stays {plan.nonce_next}: {told.why_not_lower}", told
        return (
            f"the optimistic nonce becomes {plan.becomes}, from {plan.nonce_next}; "
            f"{plan.forgotten} free ones are forgotten; no lower, for {told.why_not_lower}"
        ), told


def check_account(lane: LaneId, verb: str) -> None:
    if not is_account(lane):
        raise CommandUnfit(lane, verb, "only an EVM account's transactions have a nonce")
