"""The only code that changes a sequence lane: one record at a time."""

from typing import assert_never

from laneway.core.cosmos import TxSeen
from laneway.core.rows import Index, Result, Touch, Touched
from laneway.lanes.sequence.lane import (
    SequenceLane,
    drop_slot,
    encode,
    forget_gone,
    hashes_of,
    passed,
    put_raw,
    put_slot,
    replace,
    unbind,
)
from laneway.lanes.sequence.rows import History, Node, SequenceHead, Slot
from laneway.lanes.sequence.values import (
    AccountMissing,
    AccountSeen,
    AttemptSigned,
    CommandRefused,
    IntentDropped,
    LaneHalted,
    MakingDelayed,
    MakingResumed,
    ModeChanged,
    NodeChanged,
    Record,
    SequenceSet,
    SlotChanged,
    SlotClaimed,
    SlotCorrected,
    SlotFellOut,
    SlotSettled,
    SlotsRenumbered,
    Submitted,
)


def evolve(lane: SequenceLane, record: Record) -> Touched:
    """Fold one record into the lane; the rows it touched. The most frequent stand first."""
    head = lane.head
    match record:
        case SlotClaimed():
            return claim(lane, record.slot)
        case AttemptSigned():
            return sign(lane, record)
        case NodeChanged(node=node):
            lane.nodes[node.name] = node
            lane.is_rewired = False
            if node.gone:
                forget_gone(lane)
            return ()
        case Submitted(next=number):
            head.taken_next = number
            return ()
        case SlotSettled():
            touched = settle(lane, record)
            forget_gone(lane)
            return touched
        case AccountSeen():
            see_account(lane, record)
            forget_gone(lane)
            return ()
        case SlotChanged(slot=slot):
            return tuple(put_slot(lane, slot))
        case SlotFellOut():
            touched = fall_out(lane, record)
            forget_gone(lane)
            return touched
        case SlotsRenumbered(start=start):
            touched = renumber(lane, start)
            forget_gone(lane)
            return touched
        case SlotCorrected(slot=number):
            return tuple(drop_slot(lane, lane.slots[number]))
        case IntentDropped():
            return drop_intent(lane, record)
        case MakingResumed():
            head.make_ms = None
            again = [replace(lane.slots[one], delayed=False) for one in lane.delayed]
            return tuple([touch for slot in again for touch in put_slot(lane, slot)])
        case (
            MakingDelayed() | AccountMissing() | LaneHalted() | SequenceSet() | ModeChanged()
            | CommandRefused()
        ):  # fmt: skip
            evolve_head(lane, record)
            return ()
        case _:
            assert_never(record)


def evolve_head(
    lane: SequenceLane,
    record: MakingDelayed | AccountMissing | LaneHalted | SequenceSet | ModeChanged
    | CommandRefused,
) -> None:  # fmt: skip
    """Those that change the head alone."""
    head = lane.head
    match record:
        case MakingDelayed(make_ms=make_ms):
            head.make_ms = make_ms if head.make_ms is None else min(head.make_ms, make_ms)
        case AccountMissing(at_ms=at_ms):
            head.is_missing, head.read_ms = True, at_ms
        case LaneHalted(reason=reason, at_ms=at_ms):
            head.halt, head.halt_ms = reason, at_ms
        case SequenceSet(floor=floor, sequence_next=number, seen=seen):
            head.floor, head.sequence_next = floor, number
            if seen is not None:
                head.committed, head.taken_next = seen.sequence, number
                head.landed_next = min(head.landed_next, number)
                believe(head, seen)
            if not lane.numbers:
                place_nodes(lane, number)
        case ModeChanged(mode=mode, reason=reason, by=by, at_ms=at_ms):
            head.mode, head.reason, head.by, head.mode_ms = mode, reason, by, at_ms
            head.drain_seq, head.drain_left = record.drain_seq, record.drain_left
        case CommandRefused():
            pass
        case _:
            assert_never(record)


def see_account(lane: SequenceLane, record: AccountSeen) -> None:
    head = lane.head
    head.committed = max(head.committed, record.sequence)
    believe(head, record)
    if head.floor <= head.committed:
        head.floor = 0
    if head.sequence_next is None or not lane.numbers:
        go_on(lane)
    assert head.sequence_next is not None
    # Others may have used numbers beyond ours; those are nobody's to give out.
    head.sequence_next = max(head.sequence_next, head.committed)
    for node in lane.nodes.values():
        if node.next < head.committed:
            lane.nodes[node.name] = replace(
                node, next=head.committed, top=max(node.top, head.committed)
            )


def believe(head: SequenceHead, record: AccountSeen) -> None:
    """What the nodes show of the account and the chain, its sequence aside."""
    head.account_number, head.is_missing = record.number, False
    head.height, head.read_ms = record.height, record.at_ms
    head.pace_height, head.pace_ms = record.pace_height, record.pace_ms
    head.committed_height = record.sequence_height
    head.origin_height, head.origin = record.origin_height, record.origin
    head.halt, head.halt_ms = "", 0


def go_on(lane: SequenceLane) -> None:
    """Nothing is out, so the chain's word is all there is: others may have used the account."""
    head = lane.head
    head.sequence_next = head.taken_next = max(head.committed, head.floor)
    place_nodes(lane, head.sequence_next)


def place_nodes(lane: SequenceLane, sequence: int) -> None:
    """Nothing is out, so no node has anything to catch up with; those that left are forgotten. What
    a node is still being offered, or took above this number, says nothing of what comes next."""
    for node in list(lane.nodes.values()):
        if node.gone:
            del lane.nodes[node.name]
        else:
            lane.nodes[node.name] = replace(
                node,
                next=sequence,
                top=sequence,
                epoch=node.epoch + (max(node.until, node.next) > sequence),
                gate=None,
                reason="",
                expected=None,
                ours=None,
            )


def claim(lane: SequenceLane, slot: Slot) -> Touched:
    head = lane.head
    assert slot.sequence == head.sequence_next
    head.slot_next, head.sequence_next = slot.id + 1, slot.sequence + 1
    head.cursors = passed(head.cursors, slot.priority, slot.seq)
    head.drain_left = max(0, head.drain_left - 1)
    return tuple(put_slot(lane, slot))


def sign(lane: SequenceLane, record: AttemptSigned) -> Touched:
    slot = record.slot
    assert slot.attempt is not None
    touched = put_slot(lane, slot)
    touched += put_raw(lane, slot, slot.attempt, record.raw)
    if slot.intent is not None:
        # Now, for a chain may be quicker than our own record of a node's answer.
        touched.append(Index("hash", slot.attempt.hash.hex(), slot.intent, lane.id))
    return tuple(touched)


def fall_out(lane: SequenceLane, record: SlotFellOut) -> Touched:
    head, slot = lane.head, lane.slots[record.slot]
    assert head.sequence_next is not None
    touched: list[Touch] = []
    if slot.intent is not None:
        touched += final(lane, slot, record.status, record.at_ms, reason=record.reason)
    touched += drop_slot(lane, slot)
    # An operator may have left out any count of numbers: those that are bound are walked alone.
    for sequence in sorted([number for number in lane.numbers if number > slot.sequence]):
        above = lane.slots[lane.numbers.pop(sequence)]
        touched += put_slot(lane, moved(above, sequence - 1))
    head.sequence_next -= 1
    head.taken_next = min(head.taken_next, slot.sequence)
    for node in lane.nodes.values():
        # Whatever was offered from here on can land no more.
        if node.offered_until() > slot.sequence:
            lane.nodes[node.name] = started_again(node, slot.sequence)
    if not lane.numbers:
        # An operator may have left numbers out; nobody is above them any more.
        go_on(lane)
    return tuple(touched)


def started_again(node: Node, sequence: int) -> Node:
    """Nothing from this number on is anywhere: whatever it takes next it takes for the first
    time."""
    return replace(
        node,
        next=min(node.next, sequence),
        top=min(node.top, sequence),
        epoch=node.epoch + 1,
        gate=None,
        reason="",
        expected=None,
        ours=None,
    )


def renumber(lane: SequenceLane, start: int) -> Touched:
    """Others used the numbers of slots of which nothing is anywhere: they are given the next."""
    head = lane.head
    slots = list(lane.in_order())
    touched: list[Touch] = []
    for slot in slots:
        del lane.numbers[slot.sequence]
    for number, slot in enumerate(slots, start):
        touched += put_slot(lane, moved(slot, number))
    head.sequence_next, head.taken_next = start + len(slots), start
    for node in lane.nodes.values():
        lane.nodes[node.name] = replace(started_again(node, start), next=start, top=start)
    return tuple(touched)


def moved(slot: Slot, sequence: int) -> Slot:
    """At another number: bytes for its old one may still be made, and must not be taken for the
    new ones."""
    return replace(
        slot,
        sequence=sequence,
        making=True,
        delayed=False,
        attempt_next=slot.attempt_next + 1,
        attempt=None,
        doubt_height=None,
        proving=False,
        shown=(),
    )


def settle(lane: SequenceLane, record: SlotSettled) -> Touched:
    slot = lane.slots[record.slot]
    touched: list[Touch] = []
    if record.seen is not None:
        lane.head.confirmed_ms = record.at_ms
    if slot.intent is not None:
        status, at_ms, seen = record.status, record.at_ms, record.seen
        is_told = record.stays is not None and record.stays.told
        raw = lane.raw(slot) if is_told and slot.attempt is not None else b""
        hash_ = hashes_of(slot)[0] if is_told else None
        touched += final(
            lane, slot, status, at_ms, reason=record.reason, seen=seen, hash_=hash_, raw=raw
        )
        if seen is not None:
            lane.head.landed_next = max(lane.head.landed_next, slot.sequence + 1)
            name = f"{lane.id}#{slot.sequence}"
            touched.append(Index("sequence", name, slot.intent, lane.id))
    if record.stays is None:
        return (*touched, *drop_slot(lane, slot))
    unbind(lane, slot)
    return (*touched, *put_slot(lane, record.stays))


def final(
    lane: SequenceLane,
    slot: Slot,
    status: str,
    at_ms: int,
    *,
    reason: str,
    seen: TxSeen | None = None,
    hash_: bytes | None = None,
    raw: bytes = b"",
) -> list[Touch]:
    """The answer, with all that was tried for it, and what of that is in a block; `hash_` is what
    may be in one."""
    intent = slot.intent
    assert intent is not None
    lane.head.settled_count += 1
    lane.head.settled_bytes += slot.size
    lane.intents.pop(intent, None)
    attempt = slot.attempt
    if attempt is not None and attempt.raw:
        slot = replace(slot, attempt=replace(attempt, raw=b""))
    hash_ = hash_ if seen is None else seen.hash
    number = None if hash_ is None else slot.sequence
    history = encode(History(slot, seen, raw))
    return [Result(intent, status, at_ms, number, hash_, reason, history)]


def drop_intent(lane: SequenceLane, record: IntentDropped) -> Touched:
    head = lane.head
    head.drain_left = max(0, head.drain_left - (record.seq <= head.drain_seq))
    if record.passes:
        head.cursors = passed(head.cursors, record.priority, record.seq)
    else:
        head.dropped_seq = max(head.dropped_seq, record.seq)
    head.settled_count += 1
    head.settled_bytes += record.size
    lane.intents.pop(record.intent, None)
    return (Result(record.intent, record.status, record.at_ms, reason=record.reason),)
