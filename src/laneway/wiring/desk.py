"""The server's desk over a running engine."""

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from laneway.core.errors import BadRequest, CommandUnfit, IntentFinal, LaneNotFound, RetryUnfit
from laneway.core.ids import IntentId, LaneId, is_intent_id, lane_kind
from laneway.core.intent import Answer, Arrival, Conflict, Full, Replayed
from laneway.core.outcome import Status
from laneway.engine.system import SystemClock
from laneway.engine.waiters import EngineStopped
from laneway.feeds.metrics import Meter
from laneway.feeds.stream import Stream
from laneway.kinds.audit.trail import TrailEntry
from laneway.kinds.following import LaneFollowing
from laneway.kinds.handle import refusal_of
from laneway.kinds.limits import FOLLOW_S_MAX
from laneway.kinds.registry import kinds
from laneway.kinds.revival import Revival, RevivalPlan
from laneway.kinds.served import CommandPlan, Operator, Served
from laneway.lanes.contract.show import is_proven_dead
from laneway.ports import IntentView
from laneway.server.desk import EventReader, LaneTest, Listing, OperatorReason, TakenTransaction
from laneway.stores.judge import KEY_INDEX, key_value
from laneway.wire.cursor import TxPlace
from laneway.wire.times import to_time
from laneway.wire.values import Action, Check, DeadLetter, Lane, LaneHealth, Tx
from laneway.wiring.commands import check_verb
from laneway.wiring.embedded import PLAIN, Laneway
from laneway.wiring.limits import DEAD_COUNTED_MAX
from laneway.wiring.listing import Lister
from laneway.wiring.readiness import ReadinessProbe

log = logging.getLogger("laneway.desk")

TOLD = "the lane is told"


class EngineDesk:
    """What `server.desk.Desk` asks, answered by one process's engine."""

    def __init__(
        self,
        laneway: Laneway,
        following: LaneFollowing,
        events: Stream,
        meter: Meter,
        meters: dict[str, Any],
    ) -> None:
        self.draining = False
        self._laneway = laneway
        self._store = laneway.store
        self._engine = laneway.engine
        self._following = following
        following.kinds = laneway.kinds
        self._events = events
        self._meter = meter
        self._meters = meters
        """The metrics of each kind that has some."""
        self._views = laneway.views
        self._readiness = ReadinessProbe(laneway)
        self.trail = laneway.trail
        self._revival = Revival(laneway.engine, SystemClock(), laneway.kinds)
        operator = Operator(following, self.trail, self._revival)
        self._parts = {name: kind.part(operator) for name, kind in laneway.kinds.items()}

        self._bodies = {name: kind.new for name, kind in kinds().items() if kind.new is not None}
        self._large = frozenset(name for name, kind in kinds().items() if kind.is_large)

    def part(self, kind: str) -> Any:
        return self._parts[kind]

    def body(self, kind: str) -> type[Struct]:
        return self._bodies.get(kind, self._bodies[PLAIN])

    def is_large(self, lane: str) -> bool:
        return lane_kind(LaneId(lane)) in self._large

    def _kind(self, lane: str) -> Served:
        return self._laneway.kinds[lane_kind(LaneId(lane))]

    def lane_name(self, lane: str) -> str:
        kind = self._laneway.kinds.get(lane_kind(LaneId(lane)))
        return lane if kind is None or not kind.is_listed else kind.named(lane)

    # Transactions.

    async def submit(
        self, new: Any, key: str | None, scope: str, trace: str = ""
    ) -> TakenTransaction:
        kind = self._laneway.kinds.get(lane_kind(new.lane))
        if kind is None:
            raise LaneNotFound(new.lane)
        return await self._answered(kind, *await kind.take(new, key, scope, trace), new)

    async def _answered(
        self, kind: Served, arrival: Arrival, answer: Answer, new: Any = None
    ) -> TakenTransaction:
        if isinstance(answer, Conflict | Full):
            raise refusal_of(arrival, answer)
        if isinstance(answer, Replayed):
            return TakenTransaction(await self.show(answer.id), replayed=True)
        return TakenTransaction(kind.accepted(arrival, answer, new), replayed=False)

    async def show(self, intent: str) -> Tx:
        return await self._views.show(intent)

    async def explained(self, tx: Tx) -> Tx:
        return await self._views.explained(tx)

    async def wait(self, intent: str, timeout_s: float) -> Tx:
        try:
            async with asyncio.timeout(timeout_s):
                await self._engine.result(IntentId(intent))
        except (TimeoutError, EngineStopped):
            pass  # The intent is durable and goes on; the caller sees how far it is.
        return await self.show(intent)

    async def find(self, key: str, scope: str) -> Tx | None:
        index = await self._store.find(KEY_INDEX, key_value(scope, key))
        return None if index is None else await self.show(index.intent)

    async def listing(self, listing: Listing) -> tuple[Sequence[Tx], TxPlace | None]:
        if listing.after is not None and not is_intent_id(listing.after.intent):
            raise BadRequest("cursor", "not a cursor of this list")
        return await Lister(self._store, self._views, listing).page()

    async def command(
        self, intent: str, verb: str, word: OperatorReason, argument: Any = None
    ) -> Action:
        """An operator's command about one transaction, of any kind that knows it."""
        view = await self._open(intent)
        row = view.intent
        check_verb(self._laneway.kinds, row.lane, verb)
        await self._check_unstopped(row.lane, verb)
        effect = await self._kind(row.lane).effect(verb, view, argument)
        if word.dry_run:
            return await self._action(verb, "would", effect, row.lane, intent)
        detail = argument if isinstance(argument, str) else ""
        asked = TrailEntry(word.by, verb, row.lane, intent, reason=word.reason, detail=detail)
        return await self.trail.acted(asked, partial(self._command, view, verb, word, argument))

    async def _open(self, intent: str) -> IntentView:
        """The intent, unless it is final."""
        view = await self._views.intent(intent)
        if view is None:
            final = await self._views.pruned(intent)
            raise IntentFinal(final.id, final.status)
        if view.result is not None:
            raise IntentFinal(view.intent.id, view.result.status)
        return view

    async def _command(
        self, view: IntentView, verb: str, word: OperatorReason, argument: Any
    ) -> Action:
        row = view.intent
        with self._following.watch(row.lane, verb, row.id) as reply:
            await self._laneway.command(row.id, verb, argument, reason=word.reason, by=word.by)
            followed = await self._followed(row.lane, verb, reply)
        tx = await self.show(row.id)
        if verb == "cancel" and tx.final and tx.status != "cancelled":
            raise IntentFinal(tx.id, tx.status)
        effect = TOLD
        if followed:
            kind = self._kind(row.lane)
            effect = kind.followed(verb, row, final=tx.final, argument=argument)
        return await self._action(verb, "done" if followed else "told", effect, row.lane, row.id)

    async def retry(self, intent: str, word: OperatorReason) -> Action:
        view = await self._views.intent(intent)
        if view is None:
            final = await self._views.pruned(intent)
            raise RetryUnfit(final.id, f"it was {final.status}, and retention removed its body")
        check_retry(view)
        row = view.intent
        if word.dry_run:
            effect = "its body would be queued again, at the lane's end"
            return await self._action("retry", "would", effect, row.lane, intent)
        asked = TrailEntry(word.by, "retry", row.lane, intent, reason=word.reason)
        return await self.trail.acted(asked, partial(self._retry, view, word))

    async def _retry(self, view: IntentView, word: OperatorReason) -> Action:
        # The key makes a second request find the first one's intent, no matter who asks and how
        # often a store, a server or an answer is lost in between.
        row = view.intent
        kind = self._kind(row.lane)
        taken = await self._answered(kind, *await kind.retry(view))
        made = taken.tx.id
        fields = {"tx": row.id, "new": made, "reason": word.reason, "by": word.by}
        log.info("retried", extra={"fields": fields})
        effect = f"{'was' if taken.replayed else 'is'} queued again as {made}"
        return await self._action("retry", "done", effect, row.lane, made)

    # Lanes.

    async def lanes(self, after: str | None, limit: int, may_see: LaneTest) -> Sequence[Lane]:
        return await self._views.lanes(after, limit, may_see)

    async def lane(self, lane: str) -> Lane:
        return await self._views.lane(lane)

    async def health(self, lane: str) -> LaneHealth:
        return await self._views.health(lane)

    async def operate(
        self, lane: str, verb: str, word: OperatorReason, argument: Any = None
    ) -> Action:
        view = await self._views.lane_view(lane)
        shown = await self._views.reader().lane(view)
        name = LaneId(shown.id)
        if verb == "revive":
            return await self._revive(name, word)
        if verb == "resume":
            await self._check_unstopped(name, verb)
        check_verb(self._laneway.kinds, name, verb)
        kind = self._kind(name)
        if any(one.name == verb for one in kind.lane_verbs):
            plan = await kind.plan(verb, view, argument)
        else:
            plan = CommandPlan(lane_effect(shown, verb, word.mode))
        if word.dry_run:
            return Action(
                action=verb, outcome="would", effect=plan.effect, lane=shown, **plan.shown
            )
        asked = TrailEntry(word.by, verb, name, reason=word.reason)
        act = partial(self._operate, name, verb, word, plan.effect, argument)
        return await self.trail.acted(asked, act)

    async def _check_unstopped(self, lane: LaneId, verb: str) -> None:
        """CommandUnfit where a bug stopped the lane: nobody would follow before it is revived."""
        await self._laneway.stops.look()
        fault = self._engine.faults.get(lane)
        if fault is not None:
            raise CommandUnfit(lane, verb, fault.words())

    async def _operate(
        self, lane: LaneId, verb: str, word: OperatorReason, effect: str, argument: Any
    ) -> Action:
        engine, why = self._laneway, {"reason": word.reason, "by": word.by}
        with self._following.watch(lane, verb) as reply:
            if verb in ("pause", "resume"):
                await getattr(engine, verb)(lane, **why)
            elif verb == "drain":
                await engine.drain_lane(lane, word.mode, **why)
            else:
                await engine.command_lane(lane, verb, argument, **why)
            followed = await self._followed(lane, verb, reply)
        return await self._action(verb, "done" if followed else "told", effect, lane)

    async def _revive(self, lane: LaneId, word: OperatorReason) -> Action:
        tx = None if word.tx is None else await self._views.named(word.tx)
        plan = await self._revival.plan(lane, tx, keep=word.keep)
        intent = None if plan.row is None else plan.row.id
        if word.dry_run:
            return await self._action("revive", "would", plan.effect(), lane, intent)
        asked = TrailEntry(word.by, "revive", lane, intent or "", reason=word.reason)
        return await self.trail.acted(asked, partial(self._revived, plan, word))

    async def _revived(self, plan: RevivalPlan, word: OperatorReason) -> Action:
        followed, effect = await self._revival.act(plan, word.reason, word.by, self._following)
        intent = None if plan.row is None else plan.row.id
        outcome = "done" if followed else "told"
        return await self._action("revive", outcome, effect, plan.lane, intent)

    async def _followed(self, lane: LaneId, verb: str, reply: "asyncio.Future[str | None]") -> bool:
        """Whether the lane followed in time; raises its refusal."""
        try:
            async with asyncio.timeout(FOLLOW_S_MAX):
                refusal = await reply
        except TimeoutError:
            return False
        if refusal is not None:
            raise CommandUnfit(lane, verb, refusal)
        return True

    async def _action(
        self, verb: str, outcome: str, effect: str, lane: LaneId, intent: str | None = None
    ) -> Action:
        return Action(
            action=verb,
            outcome=outcome,  # type: ignore[arg-type]
            effect=effect,
            lane=await self.lane(lane),
            tx=None if intent is None else await self.show(intent),
        )

    # The rest.

    async def dead_letters(
        self, after: TxPlace | None, limit: int, may_see: LaneTest
    ) -> tuple[Sequence[DeadLetter], TxPlace | None]:
        if after is not None and not is_intent_id(after.intent):
            raise BadRequest("cursor", "not a cursor of this list")
        last = None if after is None else IntentId(after.intent)
        views = await self._store.page(Status.DEAD.value, last, limit)
        letters = [dead_letter(view) for view in views if may_see(view.intent.lane)]
        return letters, TxPlace("", views[-1].intent.id) if len(views) == limit else None

    async def checks(self) -> Sequence[Check]:
        return await self._readiness.checks()

    async def measure(self) -> bytes:
        for name, meter in self._meters.items():
            await self._laneway.kinds[name].measure(meter)
        dead = await self._store.page(Status.DEAD.value, None, DEAD_COUNTED_MAX)
        tasks, stopped = len(asyncio.all_tasks()), len(self._engine.faults)
        return self._meter.scrape(tasks, len(dead), stopped)

    async def follow(
        self, after: str | None, lane: str | None, may_see: LaneTest | None
    ) -> EventReader:
        return await self._events.follow(after, lane, may_see)


def dead_letter(view: IntentView) -> DeadLetter:
    row, result = view.intent, view.result
    assert result is not None
    return DeadLetter(
        id=row.id,
        lane=row.lane,
        reason=result.reason,
        accepted_at=to_time(row.accepted_ms),
        settled_at=to_time(result.settled_ms),
    )


def check_retry(view: IntentView) -> None:
    """Nothing may stand in the place of what was done, or may still be done."""
    if view.result is None:
        raise RetryUnfit(view.intent.id, "it is not final yet")
    if not is_proven_dead(view.result.status):
        reason = f"it is {view.result.status}; only what is proven dead can be done anew"
        raise RetryUnfit(view.intent.id, reason)


def lane_effect(lane: Lane, verb: str, mode: str) -> str:
    match verb:
        case "pause":
            return f"starts nothing more; {lane.running} running ends, {lane.waiting} stay queued"
        case "resume":
            if lane.state == "halted":
                return f"goes on if no try can still land; it is halted: {lane.reason}"
            return f"goes on with {lane.waiting} queued"
        case "drain":
            if mode == "running":
                return f"finishes {lane.running} running, then pauses; {lane.waiting} stay queued"
            return f"finishes {lane.running} running and {lane.waiting} queued, then pauses"
        case _:
            raise AssertionError(verb)
