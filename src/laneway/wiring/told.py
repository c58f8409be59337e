"""Rows → the values of the REST API."""

from laneway.core.errors import IntentNotFound
from laneway.core.ids import LaneId, is_account, is_shown
from laneway.core.intent import Accepted, Arrival
from laneway.core.outcome import Status
from laneway.core.rows import LaneView
from laneway.engine.contract import CALL_FIELDS, decode_call
from laneway.engine.waiters import PRUNED_INDEX
from laneway.ports import Clock, IntentView, Store, TracedCall
from laneway.wire.times import to_time
from laneway.wire.values import ContractPayload, Lane, Queue, Tx
from laneway.wiring.arrivals import RETRY_SCOPE
from laneway.wiring.evm_shown import EvmTeller, pruned_tx
from laneway.wiring.shown import IntentShown, LaneShown, Shower, pruned


class Teller:
    """For one request: it reads each lane once."""

    def __init__(self, store: Store, shower: Shower, clock: Clock, evm: EvmTeller) -> None:
        self._store = store
        self._evm = evm
        self._shower = shower
        self._clock = clock
        self._lanes: dict[LaneId, LaneView] = {}

    async def tx(self, view: IntentView) -> Tx:
        lane = await self._lane(view.intent.lane)
        if is_account(view.intent.lane):
            return self._evm.tx(view, lane)
        return tx_of(view, self._shower.intent(view, lane))

    async def pruned(self, intent: str) -> Tx:
        """What is left of an intent that retention removed."""
        left = await self._store.find(PRUNED_INDEX, intent)
        if left is None or not is_shown(left.lane):
            raise IntentNotFound(intent)
        if is_account(left.lane):
            return pruned_tx(left)
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
        if is_account(view.tail.lane):
            return self._evm.lane(view, oldest_ms, self._clock.now_ms())
        return lane_of(self._shower.lane(view, oldest_ms, self._clock.now_ms()))

    async def _lane(self, lane: LaneId) -> LaneView:
        if lane not in self._lanes:
            view = await self._store.lane(lane)
            assert view is not None
            self._lanes[lane] = view
        return self._lanes[lane]


def tx_of(view: IntentView, shown: IntentShown) -> Tx:
    row, result = view.intent, view.result
    return Tx(
        id=row.id,
        lane=row.lane,
        status=shown.status,  # type: ignore[arg-type]
        final=result is not None,
        reason=shown.why,
        seq=row.seq,
        accepted_at=to_time(row.accepted_ms),
        idempotency_key=None if row.scope == RETRY_SCOPE else row.key,
        retry_of=row.key if row.scope == RETRY_SCOPE else None,
        priority=row.priority,
        valid_until=None if row.valid_until_ms is None else to_time(row.valid_until_ms),
        settled_at=None if result is None else to_time(result.settled_ms),
        block=shown.block,
        next_attempt_at=None if shown.next_ms is None else to_time(shown.next_ms),
        payload=payload_of(row.payload),
        traceparent=trace_of(row.payload),
    )


def accepted_tx(arrival: Arrival, answer: Accepted, payload: ContractPayload) -> Tx:
    """A transaction that became durable just now: nothing needs to be read for it."""
    valid_until_ms = arrival.valid_until_ms
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
        priority=arrival.priority,
        valid_until=None if valid_until_ms is None else to_time(valid_until_ms),
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
