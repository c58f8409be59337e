"""EVM accounts as a process serves them: their requests, and the commands about their nonces."""

from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from laneway.core.errors import LaneNotFound
from laneway.core.facts import BlockRef
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import Accepted, Arrival, IntentRow
from laneway.core.rows import LaneView, Result
from laneway.engine.listeners import Listener
from laneway.engine.system import SystemEntropy
from laneway.kinds.arrivals import RETRY_SCOPE, ArrivalMaker, nothing_else, plain
from laneway.kinds.common.views import taken_tx
from laneway.kinds.evm.explained import Explanations
from laneway.kinds.evm.log import EoaLog
from laneway.kinds.evm.request import bare, decode, encoded, payload_of, request_from, request_of
from laneway.kinds.evm.views import EvmViews, mined_content, owner_of, reset_of
from laneway.kinds.evm.words import has_events, in_words_of
from laneway.kinds.handle import Settled
from laneway.kinds.served import CommandPlan, Verb
from laneway.lanes.eoa.lane import decode_history
from laneway.lanes.eoa.rows import History, Purpose, Slot
from laneway.lanes.eoa.values import BumpOrdered, ContentReplaced, NoncesReset
from laneway.ports import Clock, EvmRequest, ExplainingChain, IntentView, MinedCall
from laneway.wire.evm import EvmPayload, EvmTx
from laneway.wire.hex import octets
from laneway.wire.times import to_ms
from laneway.wire.values import NewEvmTx, Tx

if TYPE_CHECKING:
    # The curve is an extra (`evm`); lanes that are only shown need none of it.
    from laneway.kinds.evm.lanes import EvmLanes

WHOSE = "only an EVM account's transactions have a nonce"
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
"""What a command does to an intent that waits, to one that has a nonce, and what it did."""


class EvmServed(EvmViews):
    name = "evm"
    lanes: "EvmLanes | None"
    intent_verbs = (Verb("bump", WHOSE), Verb("replace", WHOSE))
    lane_verbs = (Verb("reset-nonce", WHOSE),)

    def __init__(self, lanes: "EvmLanes | None", clock: Clock) -> None:
        super().__init__(lanes)
        self.performer = None if lanes is None else lanes.performer
        self._explanations = Explanations()
        maker = ArrivalMaker(clock, SystemEntropy())
        self._make = partial(maker.of_request, encode=encoded, bare=bare)

    def listeners(self) -> Sequence[Listener]:
        return () if self.lanes is None else (EoaLog(),)

    def greeting(self, server: str) -> Sequence[str]:
        own = [] if self.lanes is None else self.lanes.lines(server)
        return [*super().greeting(server), *own]

    # What comes in.

    def arrival(self, new: NewEvmTx, key: str | None, scope: str, trace: str) -> Arrival:
        until_ms = None if new.valid_until is None else max(0, to_ms(new.valid_until))
        request = request_of(new.payload, trace)
        return self._make(
            self.lane_name(new.lane), request, key=key, scope=scope, valid_until_ms=until_ms
        )

    def requested(
        self,
        lane: LaneId,
        request: EvmRequest | Mapping[str, Any],
        key: str | None,
        valid_until_ms: int | None,
        **more: Any,
    ) -> Arrival:
        if isinstance(request, EvmRequest):
            nothing_else(more)
        else:
            request = request_from(dict(plain(request)) | more)
        return self._make(lane, request, key=key, valid_until_ms=valid_until_ms)

    def again(self, view: IntentView) -> Arrival:
        row, result = view.intent, view.result
        assert result is not None
        replaced = decode_history(result.history).payload if result.history else b""
        request = decode(replaced or row.payload)
        return self._make(row.lane, request, key=row.id, scope=RETRY_SCOPE)

    def accepted(self, arrival: Arrival, answer: Accepted, new: Any = None) -> Tx:  # noqa: ARG002
        request = decode(arrival.payload)
        return taken_tx(
            arrival,
            answer,
            traceparent=request.trace or None,
            evm=EvmTx(payload=payload_of(request)),
        )

    def settled(self, result: Result) -> Settled:
        if result.hash is None:
            return super().settled(result)
        mined = decode_history(result.history).slot.seen
        return Settled(
            id=result.intent,
            status=result.status,
            block=None if mined is None else mined.block,
            reason=result.reason,
            hash=octets(result.hash),
            nonce=result.number,
        )

    # What only the chain can say.

    async def explained(self, tx: Tx) -> Tx:
        evm = tx.evm
        if self.lanes is None or evm is None or tx.block is None:
            return tx
        view = await self.store.intent(IntentId(tx.id))
        found = None if view is None else self._mined(view)
        if view is None or found is None:
            return tx
        mined, content, ok = found
        # Plain payments have no more to say, and cost nodes nothing.
        if ok and not has_events(content):
            return tx
        said = await self._explanations.of(self._explaining(view.intent.lane), mined, ok=ok)
        return replace(tx, evm=replace(evm, **in_words_of(said, content)))

    def _mined(self, view: IntentView) -> tuple[MinedCall, EvmRequest, bool] | None:
        """The intent's own call, as a block has it, and whether it succeeded."""
        row = view.intent
        history = self._history(view)
        found = mined_content(decode(row.payload), history, row.lane)
        if found is None or history is None or history.slot.seen is None:
            return None
        attempt, content = found
        if attempt.purpose != Purpose.INTENT:
            return None
        # Imported late: the curve is an extra, and lanes that are only shown need none of it.
        from laneway.engine.eoa.making import call_of

        seen = history.slot.seen
        call, block = call_of(owner_of(row.lane), content), BlockRef(seen.block, seen.block_hash)
        return MinedCall(attempt.hash, call, attempt.gas, block), content, seen.ok

    def _history(self, view: IntentView) -> History | None:
        """Of what is final, or is held here."""
        row, result = view.intent, view.result
        if result is not None:
            return decode_history(result.history) if result.history else None
        lane = self.held(row.lane)
        return None if lane is None else self.shows.sight(lane, row.id).history

    def _explaining(self, lane: LaneId) -> ExplainingChain | None:
        """The chain that a lane works on; None if it is no longer configured."""
        try:
            chain: Any = self.chain(lane)
        except LaneNotFound:
            return None
        found: ExplainingChain | None = chain
        return found

    # Commands.

    async def effect(self, verb: str, view: IntentView, argument: Any = None) -> str:
        if verb == "replace":
            request_of(argument)  # What is wrong with it is reported before anything is noted.
        slot: Slot | None = self.slot(view.intent.lane, view.intent.id)
        if slot is not None and slot.seen is not None:
            return f"refused: it was mined in block {slot.seen.block}"
        if slot is None:
            return WAITING[verb]
        return f"{BOUND[verb]} {slot.nonce}; whichever lands decides"

    def followed(self, verb: str, row: IntentRow, *, final: bool, argument: Any = None) -> str:  # noqa: ARG002
        slot: Slot | None = self.slot(row.lane, row.id)
        if slot is None:
            if verb == "replace":
                return "it will be sent with the new content alone"
            is_gone = verb == "cancel" and final
            return "it will never be sent" if is_gone else "the lane has followed"
        return f"{DONE[verb]} {slot.nonce}; whichever lands decides"

    def ordered(self, verb: str, row: IntentRow, argument: EvmPayload | None) -> tuple[str, bytes]:
        if verb != "replace":
            return "", b""
        assert argument is not None
        content = encoded(request_of(argument, decode(row.payload).trace))
        # Two commands that differ are two commands; the same one again is sent once.
        return blake2b(content, digest_size=16).hexdigest(), content

    def command_answer(self, verb: str, intent: IntentId | None, record: Any) -> str | None:
        """A command about an intent that has a nonce is followed when its attempt is ordered."""
        if intent is None:
            return (
                ""
                if isinstance(record, NoncesReset)
                else super().command_answer(verb, intent, record)
            )
        if isinstance(record, ContentReplaced) and record.content.intent == intent:
            return "" if verb == "replace" else None
        if isinstance(record, BumpOrdered) and record.intent == intent:
            is_taken_back = verb == "cancel" and record.purpose == Purpose.CANCEL
            return "" if verb == "bump" or is_taken_back else None
        return super().command_answer(verb, intent, record)

    async def plan(self, verb: str, view: LaneView, argument: Any) -> CommandPlan:  # noqa: ARG002
        plan = self.reset_plan(view)
        if plan is None:
            effect = "the account was not read yet, or another process holds it and decides"
            return CommandPlan(effect, {"reset": None})
        reset = reset_of(plan)
        if plan.becomes == plan.nonce_next and not plan.forgotten:
            effect = f"the optimistic nonce stays {plan.nonce_next}: {reset.why_not_lower}"
            return CommandPlan(effect, {"reset": reset})
        effect = (
            f"the optimistic nonce becomes {plan.becomes}, from {plan.nonce_next}; "
            f"{plan.forgotten} free ones are forgotten; no lower, for {reset.why_not_lower}"
        )
        return CommandPlan(effect, {"reset": reset})
