"""Numbers for intents, in their order."""

from laneway.core.intent import IntentRow
from laneway.lanes.common.commands import expiry_of, is_expired
from laneway.lanes.sequence.lane import SequenceLane, is_recovering, used_count
from laneway.lanes.sequence.limits import CLAIMS_MAX
from laneway.lanes.sequence.rows import Slot
from laneway.lanes.sequence.tries import NOTHING, Decision, decided, look, looked_at, make
from laneway.lanes.sequence.values import Effect, NodeChanged, Record, SlotClaimed


def is_running(lane: SequenceLane) -> bool:
    return lane.head.mode in ("running", "draining")


def is_drained(lane: SequenceLane) -> bool:
    """Whether the lane was commanded to drain, and has; fillers are nobody's work."""
    head = lane.head
    return head.mode == "draining" and not head.drain_left and not lane.bound


def wants(lane: SequenceLane) -> int:
    """How many intents of the backlog may be given numbers now. None in recovery: what is new
    would be refused after a gap, and a node remembers its first reason for ever. None while
    someone else's transaction may have taken an intent's place: that one goes before them."""
    head = lane.head
    if not is_running(lane) or is_drained(lane) or head.halt:
        return 0
    if head.sequence_next is None or head.is_missing:
        # What is offered makes it read the account.
        return 1 if any(node.is_unseen() for node in lane.live()) else 0
    if is_recovering(lane) or used_count(lane):
        return 0
    wanted = min(CLAIMS_MAX, lane.settings.inflight - len(lane.numbers))
    wanted = min(wanted, head.drain_left) if head.mode == "draining" else wanted
    return max(0, wanted)


def is_stale(lane: SequenceLane, now_ms: int) -> bool:
    """An account that rested is read before its first number: others may have used it."""
    head = lane.head
    if head.sequence_next is None or head.is_missing:
        return True
    return not lane.numbers and now_ms - head.read_ms > lane.settings.rest_ms


def claim_offered(lane: SequenceLane, intents: tuple[IntentRow, ...], now_ms: int) -> Decision:
    """Intents from the backlog, in their order. Nothing is signed before."""
    left = wants(lane)
    if left == 0:
        return NOTHING
    if is_stale(lane, now_ms):
        return read_first(lane, now_ms)
    number = lane.head.sequence_next
    assert number is not None
    records: list[Record] = []
    effects: list[Effect] = []
    id_ = lane.head.slot_next
    draining = lane.head.mode == "draining"
    for intent in intents:
        if draining and intent.seq > lane.head.drain_seq:
            break
        if is_expired(intent, now_ms):
            records.append(expiry_of(intent, now_ms))
            continue
        if left == 0:
            break
        left -= 1
        place = (id_, intent.id, intent.seq, intent.priority, intent.size(), number)
        slot = Slot(*place, claimed_ms=now_ms, accepted_ms=intent.accepted_ms)
        records.append(SlotClaimed(slot))
        effects.append(make(lane, slot, intent.payload))
        id_, number = id_ + 1, number + 1
    return decided(records, effects)


def read_first(lane: SequenceLane, now_ms: int) -> Decision:
    """Every node that is not looked at anyway, and was not just now: a majority has to be read."""
    is_known = lane.head.sequence_next is not None and not lane.head.is_missing
    since_ms = now_ms - lane.settings.rest_ms if is_known else now_ms
    resting = [node for node in lane.live() if node.is_unseen() and node.seen_ms < since_ms]
    return decided(
        [NodeChanged(looked_at(node)) for node in resting],
        [look(lane, node) for node in resting],
    )
