"""A sequence lane for people: its state, the word of each intent, and why it waits."""

from collections.abc import Iterable

from msgspec import Struct

from laneway.core.ids import IntentId
from laneway.core.majority import final_quorum
from laneway.core.outcome import Status
from laneway.lanes.common.heads import head_reader
from laneway.lanes.kind import LaneState
from laneway.lanes.sequence.lane import SequenceLane, is_taken, shown_by
from laneway.lanes.sequence.recovery import what_next
from laneway.lanes.sequence.rows import History, Node, SequenceHead, Slot
from laneway.lanes.sequence.settings import SequenceSettings

WINDOW_CLOSED = "window_closed"
RECOVERING = "recovering"
PAUSED = "paused"
BEING_MADE = "being_made"
GAP_BEFORE = "gap_before"
UNCOMMITTED = "not_committed_yet"
USED = "sequence_used"
UNREAD = "account_not_read"
NO_ACCOUNT = "account_does_not_exist"
TOO_FEW = "too_few_nodes"


read_head = head_reader(SequenceHead)


def describe(state: bytes) -> LaneState:
    """What a lane's head says, without waking the lane."""
    head = read_head(state)
    open_count = head.open_count
    if head.halt:
        return LaneState("halted", head.halt, head.halt_ms, running=open_count)
    if head.mode == "paused":
        return LaneState("paused", head.reason, head.mode_ms, running=open_count, by=head.by)
    if head.is_missing:
        return LaneState("halted", "its account does not exist on the chain yet", head.read_ms)
    recovering = [node for node in head.nodes if not node.gone]
    if recovering and all(node.reason for node in recovering):
        reason = "; ".join(recovery(node) for node in recovering)
        return LaneState("recovering", reason, head.read_ms, running=open_count)
    if head.mode == "draining":
        return LaneState("draining", head.reason, head.mode_ms, running=open_count, by=head.by)
    word = "running" if open_count else "idle"
    reason = "; ".join(recovery(node) for node in recovering if node.reason)
    if head.sequence_next is None and any(node.seen_ms for node in recovering):
        reason = unread(recovering)
    return LaneState(word, reason, head.confirmed_ms, running=open_count)


def recovery(node: Node) -> str:
    """Why a node is recovered, what it wants and has, and what happens next."""
    words = [f"{node.name}: {node.reason}"]
    if node.ours is not None:
        expected = "another sequence" if node.expected is None else f"sequence {node.expected}"
        words.append(f"it expects {expected}, ours is {node.ours}")
    return ", ".join([*words, what_next(node)])


class Sight(Struct, frozen=True):
    """Where one open intent is."""

    status: Status
    waits: str
    """One of the words above, or a node's or a signer's own."""
    history: History | None = None


def sight(lane: SequenceLane, intent: IntentId) -> Sight:
    slot = lane.slot_of(intent)
    if slot is None:
        return Sight(Status.QUEUED, waiting(lane.head, lane.settings))
    raw = b"" if slot.attempt is None else lane.raw(slot)
    return Sight(status(slot, lane), wait_reason(lane, slot), History(slot, raw=raw))


def status(slot: Slot, lane: SequenceLane) -> Status:
    if slot.attempt is None:
        return Status.QUEUED
    return Status.SUBMITTED if is_taken(lane, slot) else Status.SIGNED


def too_few(nodes: Iterable[Node]) -> str:
    """How many of the nodes answer where they are no majority; empty where they are one."""
    live = [node for node in nodes if not node.gone]
    need, seen = final_quorum(len(live)), sum([not node.blind for node in live])
    if not live or seen >= need:
        return ""
    return f"{TOO_FEW}: {seen} of {len(live)} answer, {need} are needed"


def unread(nodes: Iterable[Node]) -> str:
    """Why the account's first number is not known, with what each node shows of the account."""
    shown = []
    for node in nodes:
        if node.seen_ms and not node.gone:
            account = f"account {node.number} at sequence {node.sequence}"
            account = "no account" if node.sequence is None else account
            shown.append(f"{node.name} shows {account} in block {node.height}")
    return f"{UNREAD}: {', '.join(shown)}" if shown else UNREAD


def wait_reason(lane: SequenceLane, slot: Slot) -> str:
    if lane.head.halt:
        return lane.head.halt
    known = too_few(lane.nodes.values()) if slot.attempt is not None else ""
    known = known or shown_by(lane, slot)
    if known:
        return known
    if slot.doubt_height is not None:
        return USED
    if slot.attempt is None:
        return slot.wait_reason or BEING_MADE
    if is_taken(lane, slot):
        return slot.attempt.word or UNCOMMITTED
    if all(node.next < slot.sequence for node in lane.live()):
        return GAP_BEFORE
    return slot.attempt.word or next((node.reason for node in lane.live()), "")


def waiting(head: SequenceHead, settings: SequenceSettings) -> str:
    """Why the backlog is not taken; empty where it is about to be."""
    if head.halt:
        return head.halt
    if head.mode == "paused" or (head.mode == "draining" and not head.drain_left):
        return PAUSED
    unseen = too_few(head.nodes)
    if unseen:
        return unseen
    if head.is_missing:
        return NO_ACCOUNT
    if head.sequence_next is None:
        return unread(head.nodes)
    if head.used_count:
        return USED
    live = [node for node in head.nodes if not node.gone]
    if live and all(node.reason for node in live):
        return RECOVERING
    return WINDOW_CLOSED if head.open_count + head.filler_count >= settings.inflight else ""
