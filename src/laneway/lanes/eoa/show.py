"""An account's lane for people: its state, the status of each intent, and why it waits."""

from msgspec import Struct

from laneway.core.ids import IntentId
from laneway.core.outcome import Status
from laneway.core.units import value
from laneway.lanes.common.heads import head_reader
from laneway.lanes.eoa.lane import EoaLane
from laneway.lanes.eoa.limits import REFUSALS_MAX
from laneway.lanes.eoa.rows import Attempt, EoaHead, Health, History, Slot
from laneway.lanes.eoa.settings import EoaSettings
from laneway.lanes.eoa.tries import GAP_BEFORE, OUT_OF_FUNDS, needs_majority
from laneway.lanes.kind import LaneState

WINDOW_CLOSED = "window_closed"
CROWDED = "recycled_above_max"
PAUSED = "paused"
BEING_MADE = "being_made"
RETURNED = "returned"
NOT_TAKEN = "no_node_has_it"
UNMINED = "not_mined_yet"
NOT_FINAL = "not_final_yet"
UNREAD = "account_not_read"
UNPROVEN = "nonce_used_unproven"
"""Its number is used, and it is not proven yet by what."""
NO_MAJORITY = "no_majority_yet"
"""It is deep enough in the chain of one node, and too few others show it."""


read_head = head_reader(EoaHead)


def describe(state: bytes) -> LaneState:
    """What a lane's head says, without waking the lane."""
    head = read_head(state)
    if head.mode == "paused":
        return LaneState("paused", head.reason, head.mode_ms, running=inflight(head), by=head.by)
    if head.broke:
        return LaneState("halted", lacking(head.health), head.health.balance_ms, inflight(head))
    if head.halted:
        return LaneState("halted", head.halted, head.halted_ms, running=inflight(head))
    if head.mode == "draining":
        return LaneState("draining", head.reason, head.mode_ms, running=inflight(head), by=head.by)
    if head.noop_refusals >= REFUSALS_MAX and head.free_count:
        return LaneState("backing off", refill(head), head.health.moved_ms, inflight(head))
    word = "running" if inflight(head) else "idle"
    reason = ""
    if head.crowded:
        reason = f"{head.free_count} nonces are free below others: no new ones are given out"
    return LaneState(word, reason, head.health.moved_ms, running=inflight(head))


def refill(head: EoaHead) -> str:
    """Why numbers stay free that those above wait for."""
    return f"every node refuses a no-op for a free nonce: {head.noop_reason}"


def lacking(health: Health) -> str:
    """What is there, and what is needed. Where no node says what, it is more than there was."""
    held, needed = value(health.balance or b""), value(health.needed)
    if needed:
        return f"{OUT_OF_FUNDS}: it has {held} wei, {needed} are needed"
    return f"{OUT_OF_FUNDS}: it has {held} wei, more than {value(health.threshold)} are needed"


def inflight(head: EoaHead) -> int:
    """Intents that have a number."""
    return head.open_count - head.noop_count


class Sight(Struct, frozen=True):
    """Where one open intent is."""

    status: Status
    waits: str
    """One of the codes above, or a message of a node or a signer."""
    history: History | None = None


def sight(lane: EoaLane, intent: IntentId) -> Sight:
    slot = lane.slot_of(intent)
    if slot is None:
        back = lane.returned.get(intent)
        if back is None:
            return Sight(Status.QUEUED, waiting(lane.head, lane.settings))
        return Sight(Status.QUEUED, f"{RETURNED}: {back.reason}" if back.reason else RETURNED)
    content = lane.contents.get(intent)
    attempts = tuple(lane.tries(slot.id).values())
    history = History(slot, attempts, b"" if content is None else content.payload)
    return Sight(status(slot, lane), wait_reason(lane, slot), history)


def status(slot: Slot, lane: EoaLane) -> Status:
    """A slot's status follows from its facts: what is mined can be taken back until it is final."""
    if slot.seen is not None:
        return Status.INCLUDED
    tries = lane.tries(slot.id)
    if not tries:
        return Status.QUEUED
    return Status.SUBMITTED if slot.id in lane.submitted else Status.SIGNED


def wait_reason(lane: EoaLane, slot: Slot) -> str:
    head = lane.head
    if slot.seen is not None:
        is_deep = slot.seen.block + lane.settings.finality_depth_blocks <= head.block
        return NO_MAJORITY if is_deep and needs_majority(lane) else NOT_FINAL
    if slot.delayed:
        return slot.wait_reason
    if slot.nonce < head.latest:
        return head.halted if head.halted_nonce == slot.nonce and head.halted else UNPROVEN
    tries = lane.tries(slot.id)
    if slot.making and not tries:
        return BEING_MADE
    if slot.nonce >= lane.head.offered_next:
        return GAP_BEFORE
    lowest = lane.slot_at(head.latest)
    if lowest is not None and lowest.delayed and lowest.id != slot.id:
        return f"{GAP_BEFORE}: nonce {lowest.nonce} waits: {lowest.wait_reason}"
    if head.noop_refusals and head.latest in lane.free:
        return f"{GAP_BEFORE}: nonce {head.latest} waits: {refill(head)}"
    if slot.id in lane.submitted:
        return UNMINED
    last = lane.last(slot.id)
    assert last is not None
    return last.reason or NOT_TAKEN


def waiting(head: EoaHead, settings: EoaSettings) -> str:
    """Why the backlog is not taken; empty where it is about to be."""
    if head.mode == "paused":
        return PAUSED
    if head.mode == "draining" and not head.drain_left:
        return PAUSED
    if head.broke:
        return OUT_OF_FUNDS
    if head.halted:
        return head.halted
    if head.nonce_next is None:
        return UNREAD
    if head.crowded:
        return CROWDED
    if head.returned_count or (head.free_count and settings.recycled == "returned"):
        return f"{GAP_BEFORE}: {refill(head)}" if head.noop_refusals else GAP_BEFORE
    return WINDOW_CLOSED if head.nonce_next - head.latest >= settings.inflight_max() else ""


def answers(attempt: Attempt) -> dict[str, str]:
    """The last answer of each node to this attempt."""
    known = (
        ("silent", attempt.silent),
        ("denied", attempt.denied),
        ("refused", attempt.refused),
        ("taken", attempt.taken),
    )
    return {node: answer for answer, nodes in known for node in nodes}
