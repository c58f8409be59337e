"""Rows → the values of the REST API."""

from collections.abc import Mapping
from typing import Any

from laneway.core.errors import IntentNotFound
from laneway.core.ids import LaneId, is_shown, lane_kind
from laneway.core.intent import Accepted, Arrival
from laneway.core.rows import LaneView
from laneway.engine.contract import CALL_FIELDS, decode_call
from laneway.engine.waiters import PRUNED_INDEX
from laneway.ports import Clock, IntentView, Store, TracedCall
from laneway.wire.times import to_time
from laneway.wire.values import ContractPayload, Lane, Queue, Tx
from laneway.wiring.account_shown import AccountTeller, shown_tx, taken_tx, when
from laneway.wiring.nodes import Nodes, lane_at, tx_at
from laneway.wiring.shown import IntentShown, LaneShown, Shower, pruned

Accounts = Mapping[str, AccountTeller[Any, Any]]
"""Who tells of accounts, by the kind of their lanes. All other lanes are contracts'."""


class Teller:
    """For one request: it reads each lane once."""

    def __init__(
        self, store: Store, shower: Shower, clock: Clock, accounts: Accounts, nodes: Nodes
    ) -> None:
        self._store = store
        self._nodes = nodes
        self._accounts = accounts
        self._shower = shower
        self._clock = clock
        self._lanes: dict[LaneId, LaneView] = {}

    async def tx(self, view: IntentView) -> Tx:
        lane = await self._lane(view.intent.lane)
        account = self._accounts.get(lane_kind(view.intent.lane))
        if account is not None:
            found = account.tx(view, lane)
        else:
            found = tx_of(view, self._shower.intent(view, lane))
        return tx_at(found, self._nodes.of(view.intent.lane))

    async def pruned(self, intent: str) -> Tx:
        """What is left of an intent that retention removed."""
        left = await self._store.find(PRUNED_INDEX, intent)
        if left is None or not is_shown(left.lane):
            raise IntentNotFound(intent)
        account = self._accounts.get(lane_kind(left.lane))
        if account is not None:
            return account.pruned(left)
        shown = pruned(left)
        return Tx(
            id=shown.id,
            lane=shown.lane,
            status=shown.status,  # type: ignore[arg-type]
            final=True,
            reason=shown.why,
            seq=shown.seq,
            accepted_at=to_time(shown.accepted_ms),
        )

    async def lane(self, view: LaneView) -> Lane:
        oldest = await self._store.oldest(view.tail.lane)
        oldest_ms = None if oldest is None else oldest.accepted_ms
        account = self._accounts.get(lane_kind(view.tail.lane))
        if account is not None:
            found = account.lane(view, oldest_ms, self._clock.now_ms())
        else:
            found = lane_of(self._shower.lane(view, oldest_ms, self._clock.now_ms()))
        return lane_at(found, self._nodes.of(view.tail.lane))

    async def _lane(self, lane: LaneId) -> LaneView:
        if lane not in self._lanes:
            view = await self._store.lane(lane)
            assert view is not None
            self._lanes[lane] = view
        return self._lanes[lane]


def tx_of(view: IntentView, shown: IntentShown) -> Tx:
    payload = view.intent.payload
    return shown_tx(
        view,
        shown.status,
        shown.why,
        block=shown.block,
        next_attempt_at=when(shown.next_ms),
        payload=payload_of(payload),
        traceparent=trace_of(payload),
    )


def accepted_tx(arrival: Arrival, answer: Accepted, payload: ContractPayload) -> Tx:
    """A transaction that became durable just now."""
    return taken_tx(
        arrival,
        answer,
        priority=arrival.priority,
        payload=payload,
        traceparent=trace_of(arrival.payload),
    )


def payload_of(payload: bytes) -> ContractPayload:
    call = decode_call(payload)
    return ContractPayload(
        data=call.data,
        executor=call.executor,
        quorum_type=call.quorum_type,
        comment=call.comment,
    )


def trace_of(payload: bytes) -> str | None:
    """Asked with every acceptance: nearly all have none, and their first byte says so."""
    if payload[:1] == CALL_FIELDS:
        return None
    call = decode_call(payload)
    return (call.trace or None) if isinstance(call, TracedCall) else None


def lane_of(shown: LaneShown) -> Lane:
    counted = shown.metrics
    return Lane(
        id=shown.lane,
        state=shown.state,
        reason=shown.reason,
        by=shown.by,
        since=to_time(shown.since_ms) if shown.since_ms else None,
        waiting=shown.waiting,
        running=shown.running,
        oldest_waiting_ms=shown.oldest_waiting_ms,
        running_ms=shown.running_ms,
        failures=shown.failures,
        next_attempt_at=None if shown.next_ms is None else to_time(shown.next_ms),
        queue=Queue(
            fast=counted.fast_queue_len,
            slow=counted.slow_queue_len,
            enqueued=counted.enqueue_count,
            executed=counted.execute_count,
            fast_hits=counted.fast_hit_count,
            slow_hits=counted.slow_hit_count,
            dropped=counted.dropped_count,
        ),
    )
