"""The server's desk over a running engine."""

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from typing import Protocol, assert_never

from msgspec.structs import asdict

from laneway.core.errors import (
    BadRequest,
    CommandUnfit,
    IntentConflict,
    IntentFinal,
    IntentNotFound,
    LaneFull,
    LaneNotFound,
    RetryUnfit,
)
from laneway.core.ids import IntentId, LaneId, is_contract, lane_id, lane_key
from laneway.core.intent import Accepted, Arrival, Conflict, Full, IntentRow, Replayed
from laneway.core.outcome import Status
from laneway.core.rows import LaneView
from laneway.engine.contract import decode_call
from laneway.engine.waiters import EngineStopped
from laneway.lanes.contract.show import QueueMetrics, is_proven_dead
from laneway.ports import ContractCall, IntentView, TracedCall
from laneway.server.desk import (
    AuditListing,
    EventReader,
    LaneTest,
    LaneVerb,
    Listing,
    Taken,
    WebhookDesk,
    Word,
)
from laneway.stores.book import KEY_INDEX, key_value
from laneway.wire.cursor import TxPlace
from laneway.wire.times import to_ms, to_time
from laneway.wire.values import (
    Action,
    AuditEntry,
    Check,
    ContractPayload,
    DeadLetter,
    Lane,
    NewTx,
    Tx,
)
from laneway.wiring.arrivals import RETRY_SCOPE, Arrivals
from laneway.wiring.audit import Audit, Entry
from laneway.wiring.commands import is_intent_id
from laneway.wiring.deliveries import EngineWebhooks
from laneway.wiring.embedded import Laneway
from laneway.wiring.following import Following
from laneway.wiring.limits import DEAD_COUNTED_MAX, FOLLOW_S_MAX, LANE_PAGE, RETRY_AFTER_S
from laneway.wiring.listing import Lister
from laneway.wiring.readiness import Readiness
from laneway.wiring.shown import Shower, contract_lanes
from laneway.wiring.system import SystemClock, SystemEntropy
from laneway.wiring.told import Teller, accepted_tx, payload_of

log = logging.getLogger("laneway.desk")

KIND = "contract"


class Events(Protocol):
    async def follow(
        self, after: str | None, lane: str | None, may_see: LaneTest | None
    ) -> EventReader: ...


class Meter(Protocol):
    def scrape(self, queues: Sequence[QueueMetrics], tasks: int, dead: int) -> bytes: ...


class EngineDesk:
    """What `server.desk.Desk` asks, answered by one process's engine."""

    def __init__(
        self, laneway: Laneway, following: Following, events: Events, meter: Meter
    ) -> None:
        self.draining = False
        self._laneway = laneway
        self._store = laneway.store
        self._engine = laneway.engine
        self._following = following
        self._events = events
        self._meter = meter
        self._clock = SystemClock()
        self._arrivals = Arrivals(laneway.settings, self._clock, SystemEntropy())
        self._shower = Shower(laneway.settings, laneway.engine.faults)
        self._readiness = Readiness(laneway)
        self.trail = Audit(laneway.engine, self._clock, SystemEntropy())
        self.webhooks: WebhookDesk = EngineWebhooks(laneway, following, self.trail, self._clock)

    def _teller(self) -> Teller:
        return Teller(self._store, self._shower, self._clock)

    # Transactions.

    async def submit(self, new: NewTx, key: str | None, scope: str, trace: str = "") -> Taken:
        kind, _, contract = new.lane.partition(":")
        if kind != KIND:
            raise BadRequest("lane", f"there are no {kind} lanes here, only {KIND}:TOKEN")
        asked = new.payload
        call = ContractCall(contract, asked.executor, asked.data, asked.quorum_type, asked.comment)
        if trace:
            call = TracedCall(**asdict(call), trace=trace)
        until = new.valid_until
        until_ms = None if until is None else max(0, to_ms(until))
        arrival = self._arrivals.make(call, key, new.priority, until_ms, scope)
        return await self._take(arrival, asked)

    async def _take(self, arrival: Arrival, asked: ContractPayload) -> Taken:
        answer = await self._engine.submit(arrival)
        match answer:
            case Accepted():
                return Taken(accepted_tx(arrival, answer, asked), replayed=False)
            case Replayed(id=intent):
                return Taken(await self.show(intent), replayed=True)
            case Conflict(id=intent):
                raise IntentConflict(arrival.key or "", intent)
            case Full(bound=bound, limit=limit):
                raise LaneFull(arrival.lane, bound=bound, limit=limit, retry_after_s=RETRY_AFTER_S)
            case _:
                assert_never(answer)

    async def show(self, intent: str) -> Tx:
        view = await self._view(intent)
        return await (self._teller().pruned(intent) if view is None else self._teller().tx(view))

    async def _view(self, intent: str) -> IntentView | None:
        if not is_intent_id(intent):
            raise IntentNotFound(intent)
        view = await self._store.intent(IntentId(intent))
        if view is not None and not is_contract(view.intent.lane):
            raise IntentNotFound(intent)
        return view

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
        return await Lister(self._store, self._teller(), listing).page()

    async def cancel(self, intent: str, word: Word) -> Action:
        view = await self._view(intent)
        if view is None:
            final = await self._teller().pruned(intent)
            raise IntentFinal(final.id, final.status)
        if view.result is not None:
            raise IntentFinal(view.intent.id, view.result.status)
        lane = view.intent.lane
        if word.dry_run:
            effect = cancel_effect(view)
            return await self._action("cancel", "would", effect, lane, intent)
        asked = Entry(word.by, "cancel", lane, intent, reason=word.reason)
        return await self.trail.acted(asked, partial(self._cancel, lane, view.intent.id, word))

    async def _cancel(self, lane: LaneId, intent: IntentId, word: Word) -> Action:
        with self._following.watch(lane, "cancel", intent) as heard:
            await self._laneway.cancel(intent, reason=word.reason, by=word.by)
            followed = await self._heard(lane, "cancel", heard)
        tx = await self.show(intent)
        if tx.final and tx.status != "cancelled":
            raise IntentFinal(tx.id, tx.status)
        effect = "it will never be executed" if followed else "the lane is told"
        return await self._action("cancel", "done" if followed else "told", effect, lane, intent)

    async def retry(self, intent: str, word: Word) -> Action:
        view = await self._view(intent)
        if view is None:
            final = await self._teller().pruned(intent)
            raise RetryUnfit(final.id, f"it was {final.status}, and retention removed its body")
        check_retry(view)
        row = view.intent
        if word.dry_run:
            effect = "its body would be queued again, at the lane's end"
            return await self._action("retry", "would", effect, row.lane, intent)
        asked = Entry(word.by, "retry", row.lane, intent, reason=word.reason)
        return await self.trail.acted(asked, partial(self._retry, row, word))

    async def _retry(self, row: IntentRow, word: Word) -> Action:
        # The key makes a second asking find the first one's intent, whoever asks and however
        # often a store, a server or an answer is lost in between.
        arrival = self._arrivals.make(
            decode_call(row.payload), row.id, row.priority, None, RETRY_SCOPE
        )
        taken = await self._take(arrival, payload_of(row.payload))
        made = taken.tx.id
        said = {"tx": row.id, "new": made, "reason": word.reason, "by": word.by}
        log.info("retried", extra={"fields": said})
        effect = f"{'was' if taken.replayed else 'is'} queued again as {made}"
        return await self._action("retry", "done", effect, row.lane, made)

    # Lanes.

    async def lanes(self, after: str | None, limit: int) -> Sequence[Lane]:
        views = await contract_lanes(self._store, None if after is None else LaneId(after), limit)
        teller = self._teller()
        return [await teller.lane(view) for view in views]

    async def lane(self, lane: str) -> Lane:
        return await self._teller().lane(await self._lane_view(lane))

    async def _lane_view(self, lane: str) -> LaneView:
        kind, _, key = lane.partition(":")
        try:
            known = kind == KIND and lane_id(kind, key) == lane
        except BadRequest:
            known = False
        view = await self._store.lane(LaneId(lane)) if known else None
        if view is None:
            raise LaneNotFound(lane)
        return view

    async def operate(self, lane: str, verb: LaneVerb, word: Word) -> Action:
        shown = await self.lane(lane)
        effect = lane_effect(shown, verb, word.mode)
        if word.dry_run:
            return Action(action=verb, outcome="would", effect=effect, lane=shown)
        asked = Entry(word.by, verb, lane, reason=word.reason)
        return await self.trail.acted(
            asked, partial(self._operate, LaneId(lane), verb, word, effect)
        )

    async def _operate(self, lane: LaneId, verb: LaneVerb, word: Word, effect: str) -> Action:
        contract = lane_key(lane)
        with self._following.watch(lane, verb) as heard:
            match verb:
                case "pause":
                    await self._laneway.pause(contract, reason=word.reason, by=word.by)
                case "resume":
                    await self._laneway.resume(contract, reason=word.reason, by=word.by)
                case "drain":
                    await self._laneway.drain_lane(
                        contract, word.mode, reason=word.reason, by=word.by
                    )
                case _:
                    assert_never(verb)
            followed = await self._heard(lane, verb, heard)
        return await self._action(verb, "done" if followed else "told", effect, lane)

    async def _heard(self, lane: LaneId, verb: str, heard: "asyncio.Future[str | None]") -> bool:
        """Whether the lane followed in time; raises its refusal."""
        try:
            async with asyncio.timeout(FOLLOW_S_MAX):
                refusal = await heard
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

    async def audit(self, listing: AuditListing) -> tuple[Sequence[AuditEntry], TxPlace | None]:
        if listing.after is not None and not is_intent_id(listing.after.intent):
            raise BadRequest("cursor", "not a cursor of this list")
        return await self.trail.page(listing)

    async def dead_letters(
        self, after: TxPlace | None, limit: int, may_see: LaneTest
    ) -> tuple[Sequence[DeadLetter], TxPlace | None]:
        if after is not None and not is_intent_id(after.intent):
            raise BadRequest("cursor", "not a cursor of this list")
        behind = None if after is None else IntentId(after.intent)
        views = await self._store.page(Status.DEAD.value, behind, limit)
        letters = [dead_letter(view) for view in views if may_see(view.intent.lane)]
        return letters, TxPlace("", views[-1].intent.id) if len(views) == limit else None

    async def queues(self) -> Sequence[QueueMetrics]:
        """Page by page: there may be very many, and others want their turn too."""
        queues: list[QueueMetrics] = []
        after: LaneId | None = None
        while True:
            views = await contract_lanes(self._store, after, LANE_PAGE)
            queues += [self._shower.metrics(view) for view in views]
            if len(views) < LANE_PAGE:
                return queues
            after = views[-1].tail.lane
            await asyncio.sleep(0)

    async def checks(self) -> Sequence[Check]:
        return await self._readiness.checks()

    async def measure(self) -> bytes:
        dead = await self._store.page(Status.DEAD.value, None, DEAD_COUNTED_MAX)
        return self._meter.scrape(await self.queues(), len(asyncio.all_tasks()), len(dead))

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


def cancel_effect(view: IntentView) -> str:
    if view.open:
        return "refused while it executes; taken back only if every try of it was refused"
    return "it would never be executed; what waits behind it moves up"


def lane_effect(lane: Lane, verb: LaneVerb, mode: str) -> str:
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
            assert_never(verb)
