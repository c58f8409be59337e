"""What an operator may tell a running engine: words into a lane's durable mailbox."""

from hashlib import blake2b

from laneway.core.errors import BadRequest, IntentFinal, IntentNotFound
from laneway.core.ids import IntentId, LaneId, is_account, is_intent_id, is_shown
from laneway.core.limits import REASON_CHARS_MAX
from laneway.core.rows import Command
from laneway.engine.shell import Engine
from laneway.ports import Clock, IntentView, Store
from laneway.wire.evm import EvmPayload
from laneway.wiring.arrivals import check_text, contract_lane, is_count
from laneway.wiring.evm_request import decode, encoded, request_of
from laneway.wiring.revival import Revival


class Commands:
    """Each word is durable when the call returns; its lane follows it, or says why not."""

    def __init__(self, engine: Engine, store: Store, clock: Clock) -> None:
        self.engine = engine
        self.store = store
        self._clock = clock

    def _lane_of(self, text: str) -> LaneId:
        """The lane that is meant: a contract by its name."""
        return contract_lane(text)

    async def pause(self, contract: str, *, reason: str = "", by: str = "") -> None:
        await self._tell(contract, "pause", reason=reason, by=by)

    async def resume(self, contract: str, *, reason: str = "", by: str = "") -> None:
        await self._tell(contract, "resume", reason=reason, by=by)

    async def revive(
        self, lane: str, *, tx: str | None = None, keep: bool = False, reason: str, by: str = ""
    ) -> str:
        """Go on with a lane that a bug stopped, without the transaction that stopped it; what was
        put aside, in words. `tx` names that transaction, `keep` puts none aside."""
        revival = Revival(self.engine, self._clock)
        plan = await revival.plan(self._lane_of(lane), tx, keep=keep)
        await revival.tell(plan, checked("reason", reason), checked("by", by))
        return plan.effect()

    async def drain_lane(
        self, contract: str, mode: str = "queue", *, reason: str = "", by: str = ""
    ) -> None:
        """Take what waits now and nothing after (queue), or only what runs (running)."""
        if mode not in ("queue", "running"):
            raise BadRequest("mode", "a lane drains its 'queue' or only what is 'running'")
        view = await self.store.lane(self._lane_of(contract))
        seq = 0 if view is None else view.tail.seq_next - 1
        await self._tell(contract, "drain", reason=reason, by=by, word=mode, seq=seq)

    async def reset_nonce(self, lane: str, *, reason: str = "", by: str = "") -> None:
        """Back to what the chain says, never below a number that may still be used."""
        await self._tell(lane, "reset-nonce", reason=reason, by=by)

    async def set_sequence(
        self, lane: str, sequence: int | None = None, *, reason: str = "", by: str = ""
    ) -> None:
        """Where a Cosmos account's numbers go on; None: what the chain says. Never at one that is
        used, or that someone may still use."""
        if sequence is not None and not is_count(sequence):
            raise BadRequest("sequence", "a whole number, not below zero")
        word = "" if sequence is None else str(sequence)
        await self._tell(lane, "set-sequence", reason=reason, by=by, word=word)

    async def cancel(self, intent: str, *, reason: str = "", by: str = "") -> None:
        """Take back what waits. A contract's execution that runs cannot be called back; of an EVM
        account's transaction a no-op takes the place, unless it is mined before; of a Cosmos
        account's only what no node can have is taken back."""
        await self._tell_intent(intent, "cancel", "", reason, by)

    async def bump(self, intent: str, *, reason: str = "", by: str = "") -> None:
        """Offer more for an account's transaction that is out, at the same nonce."""
        await self._tell_intent(intent, "bump", "", reason, by)

    async def replace(
        self, intent: str, payload: EvmPayload, *, reason: str = "", by: str = ""
    ) -> None:
        """Other content for an account's transaction, at the same nonce; whichever lands
        decides."""
        view = await self._view(intent)
        if view is None or not is_account(view.intent.lane):
            raise IntentNotFound(intent)
        content = encoded(request_of(payload, decode(view.intent.payload).trace))
        # Two words that differ are two words; the same one again is told once.
        word = blake2b(content, digest_size=16).hexdigest()
        await self._tell_intent(intent, "replace", word, reason, by, content)

    async def settle(self, intent: str, word: str, *, reason: str = "", by: str = "") -> None:
        """Tell a halted lane what a person found out: executed, not_executed or skip."""
        if word not in ("executed", "not_executed", "skip"):
            raise BadRequest("word", "one of executed, not_executed, skip")
        await self._tell_intent(intent, "settle", word, reason, by)

    async def _tell_intent(
        self, intent: str, verb: str, word: str, reason: str, by: str, payload: bytes = b""
    ) -> None:
        view = await self._view(intent)
        if view is None:
            raise IntentNotFound(intent)
        row = view.intent
        if view.result is not None:
            raise IntentFinal(row.id, view.result.status)
        command = Command(
            id=0,
            lane=row.lane,
            verb=verb,
            at_ms=self._clock.now_ms(),
            reason=checked("reason", reason),
            by=checked("by", by),
            intent=row.id,
            seq=row.seq,
            priority=row.priority,
            size=row.size(),
            word=word,
            payload=payload,
        )
        await self.engine.tell(command)

    async def _tell(
        self, contract: str, verb: str, *, reason: str, by: str, word: str = "", seq: int = 0
    ) -> None:
        command = Command(
            id=0,
            lane=self._lane_of(contract),
            verb=verb,
            at_ms=self._clock.now_ms(),
            reason=checked("reason", reason),
            by=checked("by", by),
            word=word,
            seq=seq,
        )
        await self.engine.tell(command)

    async def _view(self, intent: str) -> IntentView | None:
        """The intent, if it is a transaction: an entry of the audit trail is not."""
        view = await self.store.intent(IntentId(intent)) if is_intent_id(intent) else None
        return view if view is not None and is_shown(view.intent.lane) else None


def checked(field: str, words: str) -> str:
    check_text(field, words)
    if len(words) > REASON_CHARS_MAX:
        raise BadRequest(field, f"at most {REASON_CHARS_MAX} characters")
    return words
