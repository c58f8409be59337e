"""What a contract lane's head says for people, and the seed's counters (§10)."""

from msgspec import Struct

from laneway.core.ids import lane_key
from laneway.core.rows import LaneView
from laneway.lanes.contract.lane import decode_head
from laneway.lanes.contract.settings import ContractSettings
from laneway.lanes.contract.values import ContractHead
from laneway.lanes.kind import LaneState


class QueueMetrics(Struct, frozen=True, rename="camel"):
    """One contract's row of the seed's metrics, with its names."""

    contract: str
    fast_queue_len: int
    slow_queue_len: int
    enqueue_count: int
    execute_count: int
    fast_hit_count: int
    slow_hit_count: int
    worker_running: bool


def describe(state: bytes, settings: ContractSettings) -> LaneState:
    head = decode_head(state) if state else ContractHead()
    return LaneState(
        word=word(head, settings),
        reason=head.reason,
        since_ms=head.mode_ms,
        running=0 if head.running_since_ms is None else 1,
        running_since_ms=head.running_since_ms,
        executed_count=head.started_count,
        failures=head.failures,
    )


def word(head: ContractHead, settings: ContractSettings) -> str:
    if head.mode != "running":
        return head.mode
    if head.running_since_ms is None:
        return "idle"
    if head.failures >= settings.breaker_failures:
        return "tripped"
    if head.waiting:
        return "backing off"
    return "recovering" if head.doubted else "running"


def queue_metrics(view: LaneView, settings: ContractSettings) -> QueueMetrics:
    """The lengths are derived: the fast queue is the first five of one ordered backlog."""
    shown = describe(view.head.state, settings)
    waiting = view.depth() - shown.running
    fast = min(waiting, settings.fast_size)
    return QueueMetrics(
        contract=lane_key(view.tail.lane),
        fast_queue_len=fast,
        slow_queue_len=waiting - fast,
        enqueue_count=view.tail.accepted_count,
        execute_count=shown.executed_count,
        fast_hit_count=view.tail.fast_hits,
        slow_hit_count=view.tail.slow_hits,
        worker_running=view.leased and shown.word not in ("paused", "halted"),
    )
