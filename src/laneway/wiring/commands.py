"""What an operator may command a running engine: commands into a lane's durable mailbox."""

from typing import Any

from laneway.core.errors import BadRequest, CommandUnfit, IntentFinal, IntentNotFound
from laneway.core.ids import IntentId, LaneId, is_intent_id, lane_kind
from laneway.core.rows import Command
from laneway.engine.shell import Engine
from laneway.kinds.commands import about, checked
from laneway.kinds.revival import Revival
from laneway.kinds.served import Calls, Served, Verb
from laneway.ports import Clock, IntentView, Store


class Commands(Calls):
    """Each command is durable when the call returns; its lane follows it, or says why not."""

    kinds: dict[str, Served]

    def __init__(self, engine: Engine, store: Store, clock: Clock) -> None:
        self.engine = engine
        self.store = store
        self._clock = clock

    def lane_id(self, text: str) -> LaneId:
        """The lane that is meant."""
        raise NotImplementedError

    async def pause(
        self, lane: str = "", *, contract: str = "", reason: str = "", by: str = ""
    ) -> None:
        """Start nothing more of a lane; a contract may be named as `contract` too."""
        await self._tell(self.lane_id(contract or lane), "pause", reason=reason, by=by)

    async def resume(
        self, lane: str = "", *, contract: str = "", reason: str = "", by: str = ""
    ) -> None:
        await self._tell(self.lane_id(contract or lane), "resume", reason=reason, by=by)

    async def revive(
        self, lane: str, *, tx: str | None = None, keep: bool = False, reason: str, by: str = ""
    ) -> str:
        """Go on with a lane that a bug stopped, without the transaction that stopped it; what was
        put aside, in words. `tx` names that transaction, `keep` puts none aside."""
        revival = Revival(self.engine, self._clock, self.kinds)
        plan = await revival.plan(self.lane_id(lane), tx, keep=keep)
        await revival.command(plan, checked("reason", reason), checked("by", by))
        return plan.effect()

    async def drain_lane(
        self,
        lane: str = "",
        mode: str = "queue",
        *,
        contract: str = "",
        reason: str = "",
        by: str = "",
    ) -> None:
        """Take what waits now and nothing after (queue), or only what runs (running)."""
        if mode not in ("queue", "running"):
            raise BadRequest("mode", "a lane drains its 'queue' or only what is 'running'")
        name = self.lane_id(contract or lane)
        view = await self.store.lane(name)
        seq = 0 if view is None else view.tail.seq_next - 1
        await self._tell(name, "drain", reason=reason, by=by, word=mode, seq=seq)

    async def cancel(self, intent: str, *, reason: str = "", by: str = "") -> None:
        """Take back what waits. A contract's execution that runs cannot be called back; of an EVM
        account's transaction a no-op takes the place, unless it is mined before; of a Cosmos
        account's only what no node can have is taken back."""
        await self.command(intent, "cancel", reason=reason, by=by)

    async def command(
        self, intent: str, verb: str, argument: Any = None, *, reason: str = "", by: str = ""
    ) -> None:
        view = await self._view(intent)
        row = view.intent
        if view.result is not None:
            raise IntentFinal(row.id, view.result.status)
        check_verb(self.kinds, row.lane, verb)
        order = self.kinds[lane_kind(row.lane)].ordered(verb, row, argument)
        reason, by = checked("reason", reason), checked("by", by)
        await self.engine.tell(about(row, verb, self._clock.now_ms(), reason, by, order))

    async def kind_of(self, intent: str) -> Served:
        return self.kinds[lane_kind((await self._view(intent)).intent.lane)]

    async def command_lane(
        self, lane: str, verb: str, argument: Any = None, *, reason: str = "", by: str = ""
    ) -> None:
        name = self.lane_id(lane)
        word = self.kinds[lane_kind(name)].lane_word(verb, argument)
        await self._tell(name, verb, reason=reason, by=by, word=word)

    async def _tell(
        self, lane: LaneId, verb: str, *, reason: str, by: str, word: str = "", seq: int = 0
    ) -> None:
        command = Command(
            id=0,
            lane=lane,
            verb=verb,
            at_ms=self._clock.now_ms(),
            reason=checked("reason", reason),
            by=checked("by", by),
            word=word,
            seq=seq,
        )
        await self.engine.tell(command)

    async def _view(self, intent: str) -> IntentView:
        """The intent, if it is a transaction: an entry of the audit trail is not."""
        view = await self.store.intent(IntentId(intent)) if is_intent_id(intent) else None
        kind = None if view is None else self.kinds.get(lane_kind(view.intent.lane))
        if view is None or kind is None or not kind.is_listed:
            raise IntentNotFound(intent)
        return view


def check_verb(kinds: dict[str, Served], lane: LaneId, verb: str) -> None:
    """CommandUnfit where another kind of lane alone knows the command."""
    if verb in verbs_of(kinds[lane_kind(lane)]):
        return
    for kind in kinds.values():
        if other := verbs_of(kind).get(verb):
            raise CommandUnfit(lane, verb, other.whose)


def verbs_of(kind: Served) -> dict[str, Verb]:
    return {verb.name: verb for verb in (*kind.intent_verbs, *kind.lane_verbs)}
