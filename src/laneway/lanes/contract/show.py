"""What a contract lane's head says for people, and the seed's counters (§10)."""

from msgspec import Struct

from laneway.core.ids import lane_key
from laneway.core.rows import LaneView
from laneway.lanes.common.heads import head_reader
from laneway.lanes.contract.settings import ContractSettings
from laneway.lanes.contract.values import ContractHead
from laneway.lanes.kind import LaneState

read_head = head_reader(ContractHead)


class QueueMetrics(Struct, frozen=True, rename="camel"):
    """One contract's row of the seed's metrics, with its names.

    enqueueCount = executeCount + fastQueueLen + slowQueueLen + droppedCount. The seed knows no
    cancelling and no expiry, so where neither is used its own equation holds.
    """

    contract: str
    fast_queue_len: int
    slow_queue_len: int
    enqueue_count: int
    execute_count: int
    fast_hit_count: int
    slow_hit_count: int
    worker_running: bool
    dropped_count: int = 0
    """Cancelled or expired while they waited: taken from the queue, never executed."""


def describe(state: bytes, settings: ContractSettings) -> LaneState:
    head = read_head(state)
    word, reason, since_ms = state_of(head, settings)
    return LaneState(
        word=word,
        reason=reason,
        since_ms=since_ms,
        running=0 if head.running_since_ms is None else 1,
        running_since_ms=head.running_since_ms,
        executed_count=head.started_count,
        failures=head.failures,
        by=head.by if word in ("paused", "draining") else "",
        # A lane that is held up looks for what is in doubt all the same, but tries nothing.
        next_ms=None if head.waiting and word in ("halted", "paused") else head.next_ms,
    )


def is_proven_dead(status: str) -> bool:
    """Whether none of a final intent's tries can ever land, so that a new one may take its place.

    Expired and cancelled ones never began, or each of their tries was refused; a refusal settles
    an intent, and the dead letter box takes it, only when every try is refused or its block is
    someone else's.
    """
    return status in ("refused", "cancelled", "expired", "dead")


def state_of(head: ContractHead, settings: ContractSettings) -> tuple[str, str, int]:
    """The state, why, and since when. What holds it up longest comes first."""
    if head.halted:
        return "halted", head.wait_reason, head.halt_ms
    if head.mode != "running":
        return head.mode, head.reason, head.mode_ms
    since_ms = head.running_since_ms
    if since_ms is None:
        return "idle", "", head.mode_ms
    if head.failures >= settings.breaker_failures:
        return "tripped", head.wait_reason, since_ms
    if head.waiting:
        return "backing off", head.wait_reason, since_ms
    if head.doubted:
        return "recovering", head.wait_reason, since_ms
    return "running", "", since_ms


def queue_metrics(view: LaneView, settings: ContractSettings) -> QueueMetrics:
    """The lengths are derived: the fast queue is the first five of one ordered backlog."""
    head = read_head(view.head.state)
    running = 0 if head.running_since_ms is None else 1
    waiting = view.depth() - running
    fast = min(waiting, settings.fast_size)
    return QueueMetrics(
        contract=lane_key(view.tail.lane),
        fast_queue_len=fast,
        slow_queue_len=waiting - fast,
        enqueue_count=view.tail.accepted_count,
        execute_count=head.started_count,
        fast_hit_count=view.tail.fast_hits,
        slow_hit_count=view.tail.slow_hits,
        worker_running=view.leased and head.mode != "paused",
        dropped_count=view.head.settled_count - (head.started_count - running),
    )
