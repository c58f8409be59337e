"""What people are shown of lanes and intents."""

from collections.abc import Callable, Mapping

import msgspec

from laneway.core.ids import IntentId, LaneId, is_contract, is_shown
from laneway.core.outcome import Status
from laneway.core.rows import Index, LaneView
from laneway.engine.faults import Fault
from laneway.lanes.contract import ContractSettings
from laneway.lanes.contract.show import QueueMetrics, describe, queue_metrics
from laneway.ports import IntentView, Store
from laneway.wiring.limits import LISTING_SCAN_PAGE


class LaneShown(msgspec.Struct, frozen=True):
    """Where a lane is, why, and how old its work is."""

    lane: LaneId
    state: str
    reason: str
    waiting: int
    running: int
    oldest_waiting_ms: int | None
    running_ms: int | None
    failures: int
    metrics: QueueMetrics
    since_ms: int = 0
    """Since when it is so; 0 if it always was."""
    by: str = ""
    """Who paused or drained it."""
    next_ms: int | None = None
    """When the next attempt, or the next look for one in doubt, is due."""


class IntentShown(msgspec.Struct, frozen=True):
    """Where an intent is, and why. Of a pruned one only its final word is left."""

    id: IntentId
    lane: LaneId
    status: str
    why: str
    key: str | None
    seq: int
    accepted_ms: int
    block: int | None = None
    next_ms: int | None = None


class Shower:
    """Turns rows into what people are shown, under one configuration."""

    def __init__(self, settings: ContractSettings, faults: Mapping[LaneId, Fault]) -> None:
        self._settings = settings
        self._faults = faults

    def metrics(self, view: LaneView) -> QueueMetrics:
        return queue_metrics(view, self._settings)

    def lane(self, view: LaneView, oldest_ms: int | None, now_ms: int) -> LaneShown:
        state = describe(view.head.state, self._settings)
        waiting = view.depth() - state.running
        word, reason = self._where(view)
        since_ms = state.running_since_ms
        return LaneShown(
            lane=view.tail.lane,
            state="ready" if word == "idle" and waiting else word,
            reason=reason,
            waiting=waiting,
            running=state.running,
            oldest_waiting_ms=None if oldest_ms is None else age(oldest_ms, now_ms),
            running_ms=None if since_ms is None else age(since_ms, now_ms),
            failures=state.failures,
            metrics=self.metrics(view),
            since_ms=state.since_ms,
            by=state.by,
            next_ms=state.next_ms,
        )

    def intent(self, view: IntentView, lane: LaneView) -> IntentShown:
        row, result = view.intent, view.result
        block = due_ms = None
        if result is not None:
            status, why, block = result.status, result.reason, result.number
        else:
            status = Status.SUBMITTED.value if view.open else Status.QUEUED.value
            why = " ".join(self._where(lane)).strip()
            due_ms = describe(lane.head.state, self._settings).next_ms if view.open else None
        return IntentShown(
            row.id, row.lane, status, why, row.key, row.seq, row.accepted_ms, block, due_ms
        )

    def _where(self, view: LaneView) -> tuple[str, str]:
        fault = self._faults.get(view.tail.lane)
        if fault is not None:
            return "halted", fault.words()
        state = describe(view.head.state, self._settings)
        return state.word, state.reason


async def contract_lanes(store: Store, after: LaneId | None, limit: int) -> list[LaneView]:
    """A page of the lanes that execute contracts; those of other kinds are nobody's queue."""
    views = await store.lanes(LaneId("contract:") if after is None else after, limit)
    return [view for view in views if is_contract(view.tail.lane)]


async def shown_lanes(
    store: Store, after: LaneId | None, limit: int, may_see: Callable[[str], bool] = lambda _: True
) -> list[LaneView]:
    """A page of the lanes that have transactions, by name, of those that the caller may see: full
    unless there are no more."""
    found: list[LaneView] = []
    start = LaneId("contract:") if after is None else after
    page = limit
    while len(found) < limit:
        views = await store.lanes(start, page)
        page = max(limit, LISTING_SCAN_PAGE)  # The first page was not enough: many are hidden.
        lanes = ((view.tail.lane, view) for view in views)
        found += [view for lane, view in lanes if is_shown(lane) and may_see(lane)]
        if not views:
            break
        start = views[-1].tail.lane
        if not is_shown(start) and start < "evm:":
            start = LaneId("evm:")  # Webhooks' lanes lie between.
        elif not is_shown(start):
            break
    return found[:limit]


def pruned(left: Index) -> IntentShown:
    why = "retention removed it; only its final word is kept"
    return IntentShown(left.intent, left.lane, left.status, why, None, seq=0, accepted_ms=0)


def age(since_ms: int, now_ms: int) -> int:
    """Never below zero: a wall clock may be set back."""
    return max(0, now_ms - since_ms)
