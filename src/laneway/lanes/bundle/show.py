"""A bundle lane for people: its state, its blocks, the status of each transaction, why it waits."""

from msgspec import Struct

from laneway.core.ids import IntentId
from laneway.core.outcome import Status
from laneway.lanes.bundle.lane import OPEN_BYTES_FULL, BundleLane
from laneway.lanes.bundle.limits import (
    OVERTAKEN_MIN,
    SLOTS_OPEN_MAX,
    STUCK_TRIES_MIN,
    TELLS_OWED_MAX,
    UNSEEN_LOOKS_MIN,
)
from laneway.lanes.bundle.packages import is_lowest_waiting, is_skewed
from laneway.lanes.bundle.rows import BlockState, BundleHead, FactKind, Slot, Version
from laneway.lanes.bundle.standing import (
    free_cores,
    inflight,
    is_passed_over,
    is_popped,
    prerequisites_of,
    status_of,
)
from laneway.lanes.common.heads import head_reader
from laneway.lanes.kind import LaneState

IN_POOL = "in_pool"
QUEUE_FULL = "queue_full"
PAUSED = "paused"
BEING_BUILT = "being_built"
CLOCK_UNKNOWN = "clock_unknown"
CLOCK_SKEWED = "clock_skewed"
GAP_BEFORE = "gap_before"
PARKED_BY_CAP = "parked_by_cap"
NO_CORE_FREE = "no_core_free"
WINDOW_CLOSED = "window_closed"
NOT_GUARANTEED = "not_guaranteed_yet"
NOT_ACCUMULATED = "not_accumulated_yet"
NOT_FINAL = "not_final_yet"
REBUILD_NOT_DUE = "rebuild_not_due"
DRAINING = "draining"
FINALITY_STALLED = "finality_stands_still"
CALLBACKS_OWED = "callbacks_owed"
HALTED = "halted"
UNSEEN = "the chain cannot be looked at"
CALLBACKS_FAIL = "callbacks fail"
"""The last four are followed by the reason."""

STATUSES = {
    BlockState.BUILDING: Status.QUEUED,
    BlockState.QUEUED: Status.QUEUED,
    BlockState.SUBMITTED: Status.SUBMITTED,
    BlockState.GUARANTEED: Status.INCLUDED,
    BlockState.ACCUMULATED: Status.INCLUDED,
}
"""A block's state as the status of its transactions; what is final has a result."""


read_head = head_reader(BundleHead)


def describe(state: bytes) -> LaneState:
    """What a lane's head says, without waking the lane."""
    head = read_head(state)
    running = head.open_count
    if head.mode != "running":
        return LaneState(head.mode, head.reason, head.mode_ms, running=running, by=head.by)
    word = "running" if running or head.returned_count else "idle"
    done, count = head.finished_ms, head.finished_count
    return LaneState(word, trouble(head), done, running=running, executed_count=count)


def trouble(head: BundleHead) -> str:
    """What keeps a running lane back, if anything does."""
    return unseen(head) or starved(head) or filled(head) or head.waits or unheard(head)


def unseen(head: BundleHead) -> str:
    return f"{UNSEEN}: {head.look_reason}" if head.look_reason else ""


def unheard(head: BundleHead) -> str:
    return f"{CALLBACKS_FAIL}: {head.tell_reason}" if head.tell_reason else ""


def stuck(head: BundleHead) -> str:
    """Why no block is built, or the chain not seen, for longer than a passing trouble lasts, or
    until a person resumes the lane; empty: blocks are built."""
    if head.mode == "halted":
        return stopped(head)
    if head.look_tries >= UNSEEN_LOOKS_MIN:
        return unseen(head)
    if found := starved(head) or filled(head):
        return found
    if head.build_tries < STUCK_TRIES_MIN:
        return ""
    return f"no block is built: {head.waits}"


def starved(head: BundleHead) -> str:
    """That another deployment is quicker, again and again; empty: none is, or nothing waits."""
    if head.overtaken < OVERTAKEN_MIN or not (head.open_count or head.returned_count):
        return ""
    return (
        f"others brought blocks {head.overtaken} times in a row, and none from here came "
        "through; stop the other deployment that builds on this service, or wait until it rests"
    )


def filled(head: BundleHead) -> str:
    """Which bound is reached, so that no block is begun, and what to do; empty if none is."""
    if head.open_count >= SLOTS_OPEN_MAX:
        return f"{FINALITY_STALLED}: {head.open_count} blocks are open; see why the chain ends none"
    if head.waits == OPEN_BYTES_FULL:
        return f"{OPEN_BYTES_FULL}; see why the chain ends none"
    if head.owed_count >= TELLS_OWED_MAX:
        return f"{CALLBACKS_OWED}: {head.tell_reason}"
    return ""


def stopped(head: BundleHead) -> str:
    """Why nothing is begun, built or submitted, if it is for the lane's mode."""
    match head.mode:
        case "running" | "draining":
            return ""
        case "halted":
            return f"{HALTED}: {head.reason}"
        case _:
            return PAUSED


class Sight(Struct, frozen=True):
    """Where one open transaction is."""

    status: Status
    waits: str
    """One of the codes above, or a message of a builder or a chain."""
    slot: Slot | None = None
    versions: tuple[Version, ...] = ()


def sight(lane: BundleLane, intent: IntentId, seq: int = 0) -> Sight:
    """`seq` is the transaction's place in the backlog."""
    found = lane.bound.get(intent)
    if found is None:
        place = 0 if intent in lane.returned else seq
        waits = why_pooled(lane.head, place, lane.settings.max_queue_depth)
        back = lane.returned.get(intent)
        if waits == IN_POOL and back is not None and back.reason:
            waits = back.reason
        return Sight(Status.QUEUED, waits)
    slot = lane.slots[found]
    return Sight(STATUSES[slot.word], wait_reason(lane, slot), slot, lane.of(slot.id))


def why_pooled(head: BundleHead, seq: int, depth: int | None) -> str:
    """Why a transaction of this place in the backlog is in no block; 0: it had one before."""
    if found := stopped(head):
        return found
    if head.mode == "draining" and seq > head.drain_seq:
        return DRAINING
    if head.open_count >= SLOTS_OPEN_MAX:
        return unseen(head) or FINALITY_STALLED
    if head.waits == OPEN_BYTES_FULL:
        return head.waits
    if head.owed_count >= TELLS_OWED_MAX:
        return f"{CALLBACKS_OWED}: {head.tell_reason}"
    return QUEUE_FULL if depth is not None and head.queued_count >= depth else IN_POOL


def wait_reason(lane: BundleLane, slot: Slot) -> str:
    """Why a block is not further than it is."""
    word = status_of(lane, slot)
    if word != BlockState.BUILDING and lane.head.look_reason:
        return unseen(lane.head)
    if word == BlockState.QUEUED and slot.making is None and stopped(lane.head):
        return stopped(lane.head)
    if slot.wait_reason:
        return slot.wait_reason
    match word:
        case BlockState.BUILDING:
            return BEING_BUILT
        case BlockState.QUEUED:
            return why_queued(lane, slot)
        case BlockState.SUBMITTED:
            return REBUILD_NOT_DUE if slot.id in lane.over else NOT_GUARANTEED
        case BlockState.GUARANTEED:
            return NOT_ACCUMULATED
        case _:
            return NOT_FINAL


def why_queued(lane: BundleLane, slot: Slot) -> str:
    if slot.making is not None:
        return BEING_BUILT
    if lane.head.clock is None:
        return CLOCK_UNKNOWN
    if is_skewed(lane):
        return CLOCK_SKEWED
    if is_popped(lane, slot):
        return WINDOW_CLOSED
    if prerequisites_of(lane, slot) is None:
        return GAP_BEFORE
    if inflight(lane) >= lane.settings.max_inflight and not is_lowest_waiting(lane, (slot.id,)):
        return PARKED_BY_CAP
    return WINDOW_CLOSED if free_cores(lane) else NO_CORE_FREE


class Picture(Struct, frozen=True):
    """The lane as seed 001 draws it: blocks by their state, the lowest first, with versions."""

    queued: tuple[str, ...]
    submitted: tuple[str, ...]
    guaranteed: tuple[str, ...]
    stale: tuple[str, ...]
    """Packages that are guaranteed, and will never accumulate or may not advance."""
    accumulated: tuple[str, ...]
    finalised: tuple[str, ...]
    inflight: int
    can_submit: bool
    """Whether something waits, and it may be in flight beside the others."""
    duplicate_guarantees_rejected: int
    duplicate_accumulates_rejected: int
    non_winning_versions_cancelled: int


def picture(lane: BundleLane) -> Picture:
    found: dict[str, list[str]] = {}
    stale: list[str] = []
    for slot in lane.in_order():
        word = status_of(lane, slot)
        queued = word in (BlockState.BUILDING, BlockState.QUEUED)
        version = slot.winner or (waiting_version(lane, slot) if queued else slot.version)
        found.setdefault(BlockState.QUEUED if queued else word, []).append(
            named(slot.number, version)
        )
        stale += [
            named(slot.number, one.version) for one in lane.of(slot.id) if is_stale(lane, slot, one)
        ]
    head, flying = lane.head, inflight(lane)
    waiting = found.get(BlockState.QUEUED, [])
    return Picture(
        queued=tuple(waiting),
        submitted=tuple(found.get(BlockState.SUBMITTED, ())),
        guaranteed=tuple(found.get(BlockState.GUARANTEED, ())),
        stale=tuple(stale),
        accumulated=tuple(found.get(BlockState.ACCUMULATED, ())),
        finalised=tuple(named(one.number, one.version) for one in lane.finished.values()),
        inflight=flying,
        can_submit=bool(waiting) and flying < lane.settings.max_inflight,
        duplicate_guarantees_rejected=head.duplicate_guarantees,
        duplicate_accumulates_rejected=head.duplicate_accumulates,
        non_winning_versions_cancelled=head.versions_cancelled,
    )


def waiting_version(lane: BundleLane, slot: Slot) -> int:
    """The version that a queued block waits for: the one that is sealed, or the next."""
    return slot.version if slot.making is None and is_popped(lane, slot) else slot.version + 1


def named(number: int, version: int) -> str:
    """Without a version if the block came by a package that this lane does not know."""
    return f"{number}v{version}" if version else str(number)


def is_stale(lane: BundleLane, slot: Slot, version: Version) -> bool:
    """Whether a hash is on the chain and never advances."""
    if version.fact(FactKind.REPORTED) is None:
        return False
    return is_passed_over(lane, slot, version) or version.is_dead()
