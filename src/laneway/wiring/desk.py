"""The server's desk over a running engine."""

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol, assert_never

from msgspec.structs import asdict

from laneway.core.errors import (
    BadRequest,
    CommandUnfit,
    IntentConflict,
    IntentFinal,
    LaneFull,
    RetryUnfit,
)
from laneway.core.ids import (
    IntentId,
    LaneId,
    is_contract,
    is_cosmos,
    is_intent_id,
    is_rollup,
    lane_key,
)
from laneway.core.intent import Accepted, Answer, Arrival, Conflict, Full, IntentRow, Replayed
from laneway.core.outcome import Status
from laneway.engine.contract import decode_call
from laneway.engine.waiters import EngineStopped
from laneway.feeds.bundle_metrics import BundleMetrics, reading_of
from laneway.lanes.contract.show import QueueMetrics
from laneway.ports import ContractCall, IntentView, TracedCall
from laneway.server.desk import (
    AuditListing,
    EventReader,
    LaneTest,
    LaneVerb,
    Listing,
    MachineVerb,
    RollupDesk,
    Taken,
    WebhookDesk,
    Word,
)
from laneway.stores.book import KEY_INDEX, key_value
from laneway.wire.cursor import TxPlace
from laneway.wire.evm import EvmPayload
from laneway.wire.times import to_ms
from laneway.wire.values import (
    Action,
    AuditEntry,
    Check,
    ContractPayload,
    DeadLetter,
    Lane,
    LaneHealth,
    NewCosmosTx,
    NewEvmTx,
    NewTx,
    SettleWord,
    Tx,
)
from laneway.wiring.account_desk import AccountDesk
from laneway.wiring.arrivals import RETRY_SCOPE, Arrivals
from laneway.wiring.audit import Entry
from laneway.wiring.cosmos_desk import CosmosDesk
from laneway.wiring.deliveries import EngineWebhooks
from laneway.wiring.effects import (
    cancel_effect,
    check_retry,
    dead_letter,
    lane_effect,
    settle_effect,
)
from laneway.wiring.embedded import Laneway
from laneway.wiring.evm_desk import EvmDesk, check_account
from laneway.wiring.evm_request import request_of
from laneway.wiring.following import Following
from laneway.wiring.limits import DEAD_COUNTED_MAX, FOLLOW_S_MAX, RETRY_AFTER_S
from laneway.wiring.listing import Lister
from laneway.wiring.readiness import Readiness
from laneway.wiring.revival import Revival, RevivalPlan
from laneway.wiring.rollup_desk import RollupsDesk
from laneway.wiring.system import SystemClock, SystemEntropy
from laneway.wiring.told import Teller, accepted_tx, payload_of

log = logging.getLogger("laneway.desk")

KIND = "contract"


class Events(Protocol):
    async def follow(
        self, after: str | None, lane: str | None, may_see: LaneTest | None
    ) -> EventReader: ...


class Meter(Protocol):
    def scrape(
        self, queues: Sequence[QueueMetrics], tasks: int, dead: int, stopped: int
    ) -> bytes: ...


class EngineDesk:
    """What `server.desk.Desk` asks, answered by one process's engine."""

    def __init__(
        self,
        laneway: Laneway,
        following: Following,
        events: Events,
        meter: Meter,
        rollup_meter: BundleMetrics | None = None,
    ) -> None:
        self.draining = False
        self._laneway = laneway
        self._store = laneway.store
        self._engine = laneway.engine
        self._following = following
        self._events = events
        self._meter = meter
        self._rollup_meter = rollup_meter
        self._clock = SystemClock()
        self._arrivals = Arrivals(laneway.settings, self._clock, SystemEntropy())
        self._views = laneway.views
        self._readiness = Readiness(laneway)
        tellers = laneway.tellers
        self._evm = EvmDesk(laneway.store, tellers.evm, self._clock, SystemEntropy())
        self._cosmos = CosmosDesk(
            laneway.store, tellers.cosmos, laneway.door, laneway.engine.submit
        )
        answered = partial(self._answered, asked=None)
        self._rollup = RollupsDesk(
            laneway.store, tellers.rollup, laneway.transfers, laneway.engine.submit, answered
        )
        self.rollups: RollupDesk = self._rollup
        self._accounts: dict[str, AccountDesk[Any]] = {
            "evm": self._evm,
            "cosmos": self._cosmos,
            "rollup": self._rollup,
        }
        self.trail = laneway.trail
        self.webhooks: WebhookDesk = EngineWebhooks(laneway, following, self.trail, self._clock)
        self._revival = Revival(laneway.engine, self._clock)

    def _teller(self) -> Teller:
        return self._views.teller()

    def _account(self, lane: str) -> AccountDesk[Any] | None:
        """Who speaks for it, if it is an account's lane."""
        return None if is_contract(lane) else self._accounts.get(lane.partition(":")[0])

    def lane_name(self, lane: str) -> str:
        account = self._account(lane)
        return lane if account is None else account.teller.name(lane)

    # Transactions.

    async def submit(
        self, new: NewTx | NewEvmTx | NewCosmosTx, key: str | None, scope: str, trace: str = ""
    ) -> Taken:
        if isinstance(new, NewEvmTx):
            return await self._take(self._evm.arrival(new, key, scope, trace))
        if isinstance(new, NewCosmosTx):
            return await self._take(self._cosmos.arrival(new, key, scope, trace))
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

    async def _take(self, arrival: Arrival, asked: ContractPayload | None = None) -> Taken:
        if is_cosmos(arrival.lane):
            return await self._answered(arrival, await self._cosmos.submit(arrival), asked)
        answer = await self._engine.submit(arrival)
        return await self._answered(arrival, answer, asked)

    async def _answered(
        self, arrival: Arrival, answer: Answer, asked: ContractPayload | None
    ) -> Taken:
        match answer:
            case Accepted():
                if asked is not None:
                    return Taken(accepted_tx(arrival, answer, asked), replayed=False)
                account = self._account(arrival.lane)
                assert account is not None
                return Taken(account.accepted(arrival, answer), replayed=False)
            case Replayed(id=intent):
                return Taken(await self.show(intent), replayed=True)
            case Conflict(id=intent):
                raise IntentConflict(arrival.key or "", intent)
            case Full(bound=bound, limit=limit):
                raise LaneFull(arrival.lane, bound=bound, limit=limit, retry_after_s=RETRY_AFTER_S)
            case _:
                assert_never(answer)

    async def show(self, intent: str) -> Tx:
        return await self._views.show(intent)

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
        large = self._laneway.cosmos is not None
        return await Lister(self._store, self._teller(), listing, large=large).page()

    async def cancel(self, intent: str, word: Word) -> Action:
        row = await self._open(intent)
        await self._check_unstopped(row.lane, "cancel")
        if word.dry_run:
            account = self._account(row.lane)
            effect = await self._would(row) if account is None else account.effect("cancel", row)
            return await self._action("cancel", "would", effect, row.lane, intent)
        asked = Entry(word.by, "cancel", row.lane, intent, reason=word.reason)
        return await self.trail.acted(asked, partial(self._cancel, row, word))

    async def _open(self, intent: str) -> IntentRow:
        """The intent, unless it is final."""
        view = await self._views.intent(intent)
        if view is None:
            final = await self._teller().pruned(intent)
            raise IntentFinal(final.id, final.status)
        if view.result is not None:
            raise IntentFinal(view.intent.id, view.result.status)
        return view.intent

    async def _would(self, row: IntentRow) -> str:
        view = await self._store.intent(row.id)
        assert view is not None
        return cancel_effect(view)

    async def _cancel(self, row: IntentRow, word: Word) -> Action:
        lane, intent = row.lane, row.id
        with self._following.watch(lane, "cancel", intent) as heard:
            await self._laneway.cancel(intent, reason=word.reason, by=word.by)
            followed = await self._heard(lane, "cancel", heard)
        tx = await self.show(intent)
        if tx.final and tx.status != "cancelled":
            raise IntentFinal(tx.id, tx.status)
        effect = "it will never be executed" if followed else "the lane is told"
        account = self._account(lane)
        if followed and account is not None:
            effect = account.followed("cancel", row, final=tx.final)
        return await self._action("cancel", "done" if followed else "told", effect, lane, intent)

    async def bump(self, intent: str, word: Word) -> Action:
        return await self._change(intent, "bump", word)

    async def replace(self, intent: str, payload: EvmPayload, word: Word) -> Action:
        request_of(payload)  # What is wrong with it is said before anything is noted.
        return await self._change(intent, "replace", word, payload)

    async def _change(
        self, intent: str, verb: str, word: Word, payload: EvmPayload | None = None
    ) -> Action:
        row = await self._open(intent)
        check_account(row.lane, verb)
        if word.dry_run:
            effect = self._evm.effect(verb, row)
            return await self._action(verb, "would", effect, row.lane, intent)
        asked = Entry(word.by, verb, row.lane, intent, reason=word.reason)
        return await self.trail.acted(asked, partial(self._changed, row, verb, payload, word))

    async def _changed(
        self, row: IntentRow, verb: str, payload: EvmPayload | None, word: Word
    ) -> Action:
        with self._following.watch(row.lane, verb, row.id) as heard:
            if payload is None:
                await self._laneway.bump(row.id, reason=word.reason, by=word.by)
            else:
                await self._laneway.replace(row.id, payload, reason=word.reason, by=word.by)
            followed = await self._heard(row.lane, verb, heard)
        effect = "the lane is told"
        if followed:
            effect = self._evm.followed(verb, row, final=False)
        return await self._action(verb, "done" if followed else "told", effect, row.lane, row.id)

    async def settle(self, intent: str, said: SettleWord, word: Word) -> Action:
        row = await self._open(intent)
        if not is_contract(row.lane):
            raise CommandUnfit(row.lane, "settle", "only a contract's lane is settled by hand")
        await self._check_unstopped(row.lane, "settle")
        if word.dry_run:
            effect = settle_effect(await self.lane(row.lane), said)
            return await self._action("settle", "would", effect, row.lane, intent)
        asked = Entry(word.by, "settle", row.lane, intent, reason=word.reason, detail=said)
        return await self.trail.acted(asked, partial(self._settle, row, said, word))

    async def _settle(self, row: IntentRow, said: SettleWord, word: Word) -> Action:
        with self._following.watch(row.lane, "settle", row.id) as heard:
            await self._laneway.settle(row.id, said, reason=word.reason, by=word.by)
            followed = await self._heard(row.lane, "settle", heard)
        effect = f"{said}, by your word" if followed else "the lane is told"
        outcome = "done" if followed else "told"
        return await self._action("settle", outcome, effect, row.lane, row.id)

    async def retry(self, intent: str, word: Word) -> Action:
        view = await self._views.intent(intent)
        if view is None:
            final = await self._teller().pruned(intent)
            raise RetryUnfit(final.id, f"it was {final.status}, and retention removed its body")
        check_retry(view)
        row = view.intent
        if word.dry_run:
            effect = "its body would be queued again, at the lane's end"
            return await self._action("retry", "would", effect, row.lane, intent)
        asked = Entry(word.by, "retry", row.lane, intent, reason=word.reason)
        return await self.trail.acted(asked, partial(self._retry, view, word))

    async def _retry(self, view: IntentView, word: Word) -> Action:
        # The key makes a second asking find the first one's intent, whoever asks and however
        # often a store, a server or an answer is lost in between.
        row = view.intent
        account = self._account(row.lane)
        if is_rollup(row.lane):
            taken = await self._rollup.retried(view)
        elif account is not None:
            taken = await self._take(account.again(view))
        else:
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

    async def lanes(self, after: str | None, limit: int, may_see: LaneTest) -> Sequence[Lane]:
        return await self._views.lanes(after, limit, may_see)

    async def lane(self, lane: str) -> Lane:
        return await self._views.lane(lane)

    async def health(self, lane: str) -> LaneHealth:
        return await self._views.health(lane)

    async def operate(self, lane: str, verb: LaneVerb, word: Word) -> Action:
        view = await self._views.lane_view(lane)
        shown = await self._teller().lane(view)
        lane = LaneId(shown.id)
        if verb == "revive":
            return await self._revive(lane, word)
        if verb == "resume":
            await self._check_unstopped(lane, verb)
        plan: dict[str, Any] = {}
        match verb:
            case "reset-nonce":
                effect, plan["reset"] = self._evm.reset(view)
            case "set-sequence":
                effect, plan["sequence"] = self._cosmos.plan(view, word.sequence)
            case _:
                effect = lane_effect(shown, verb, word.mode)
        if word.dry_run:
            return Action(action=verb, outcome="would", effect=effect, lane=shown, **plan)
        asked = Entry(word.by, verb, lane, reason=word.reason)
        return await self.trail.acted(asked, partial(self._operate, lane, verb, word, effect))

    async def _check_unstopped(self, lane: LaneId, verb: str) -> None:
        """CommandUnfit where a bug stopped the lane: nobody would follow before it is revived."""
        await self._laneway.stops.look()
        fault = self._engine.faults.get(lane)
        if fault is not None:
            raise CommandUnfit(lane, verb, fault.words())

    async def _operate(self, lane: LaneId, verb: MachineVerb, word: Word, effect: str) -> Action:
        tell, name = self._laneway, lane_key(lane) if is_contract(lane) else lane
        with self._following.watch(lane, verb) as heard:
            match verb:
                case "pause":
                    await tell.pause(name, reason=word.reason, by=word.by)
                case "resume":
                    await tell.resume(name, reason=word.reason, by=word.by)
                case "drain":
                    await tell.drain_lane(name, word.mode, reason=word.reason, by=word.by)
                case "reset-nonce":
                    await tell.reset_nonce(name, reason=word.reason, by=word.by)
                case "set-sequence":
                    await tell.set_sequence(name, word.sequence, reason=word.reason, by=word.by)
                case _:
                    assert_never(verb)
            followed = await self._heard(lane, verb, heard)
        return await self._action(verb, "done" if followed else "told", effect, lane)

    async def _revive(self, lane: LaneId, word: Word) -> Action:
        tx = None if word.tx is None else await self._views.named(word.tx)
        plan = await self._revival.plan(lane, tx, keep=word.keep)
        intent = None if plan.row is None else plan.row.id
        if word.dry_run:
            return await self._action("revive", "would", plan.effect(), lane, intent)
        asked = Entry(word.by, "revive", lane, intent or "", reason=word.reason)
        return await self.trail.acted(asked, partial(self._revived, plan, word))

    async def _revived(self, plan: RevivalPlan, word: Word) -> Action:
        followed, effect = await self._revival.act(plan, word.reason, word.by, self._following)
        intent = None if plan.row is None else plan.row.id
        outcome = "done" if followed else "told"
        return await self._action("revive", outcome, effect, plan.lane, intent)

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
        return await self._laneway.metrics()

    async def checks(self) -> Sequence[Check]:
        return await self._readiness.checks()

    async def measure(self) -> bytes:
        if self._rollup_meter is not None:
            self._rollup_meter.readings = [
                reading_of(lane, view.depth()) for lane, view in await self._rollup.held()
            ]
        dead = await self._store.page(Status.DEAD.value, None, DEAD_COUNTED_MAX)
        tasks, stopped = len(asyncio.all_tasks()), len(self._engine.faults)
        return self._meter.scrape(await self.queues(), tasks, len(dead), stopped)

    async def follow(
        self, after: str | None, lane: str | None, may_see: LaneTest | None
    ) -> EventReader:
        return await self._events.follow(after, lane, may_see)
