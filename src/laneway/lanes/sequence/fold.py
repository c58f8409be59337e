"""The only code that changes a sequence lane: one record at a time."""

from typing import TypeAlias, assert_never

from laneway.core.cosmos import TxSeen
from laneway.core.reason import clip
from laneway.core.rows import Index, Result, Touch, Touched
from laneway.lanes.common import heads
from laneway.lanes.common.heads import encode
from laneway.lanes.common.values import CommandRefused, IntentDropped, ModeChanged
from laneway.lanes.sequence import values as v
from laneway.lanes.sequence.lane import (
    SequenceLane,
    drop_slot,
    forget_gone,
    hashes_of,
    put_raw,
    put_slot,
    reached,
    recovered,
    replace,
    unbind,
)
from laneway.lanes.sequence.limits import LOG_BYTES_MAX, PAST_KEPT_MAX
from laneway.lanes.sequence.rows import Attempt, History, Node, Past, SequenceHead, Slot


def evolve(lane: SequenceLane, record: v.Record) -> Touched:
    """Fold one record into the lane; the rows it touched. The most frequent stand first."""
    head = lane.head
    match record:
        case v.SlotClaimed():
            return claim(lane, record.slot)
        case v.AttemptSigned():
            return sign(lane, record)
        case v.NodeChanged(node=node):
            lane.nodes[node.name] = node
            lane.is_rewired = False
            if node.gone:
                forget_gone(lane)
            return ()
        case v.Submitted(next=number):
            head.taken_next = number
            return ()
        case v.SlotSettled():
            touched = settle(lane, record)
            forget_gone(lane)
            return touched
        case v.AccountSeen():
            see_account(lane, record)
            forget_gone(lane)
            return ()
        case v.SlotRecord():
            return tuple(put_slot(lane, changed(lane.slots[record.slot], record)))
        case v.SlotFellOut():
            touched = fall_out(lane, record)
            forget_gone(lane)
            return touched
        case v.SlotsRenumbered(start=start):
            touched = renumber(lane, start)
            forget_gone(lane)
            return touched
        case v.SlotCorrected(slot=number):
            return tuple(drop_slot(lane, lane.slots[number]))
        case IntentDropped():
            lane.intents.pop(record.intent, None)
            return (heads.drop_waiting(head, record),)
        case v.MakingResumed():
            head.make_ms = None
            again = [replace(lane.slots[one], delayed=False) for one in lane.delayed]
            return tuple([touch for slot in again for touch in put_slot(lane, slot)])
        case (
            v.MakingDelayed() | v.AccountMissing() | v.LaneHalted() | v.SequenceSet()
            | ModeChanged() | CommandRefused() | v.RecoveryBegan() | v.RecoveryEnded()
        ):  # fmt: skip
            evolve_head(lane, record)
            return ()
        case _:
            assert_never(record)


def changed(slot: Slot, record: v.OfSlot) -> Slot:
    """A slot after a record that changes nothing but its own row."""
    match record:
        case v.AttemptDelayed(tries=tries, reason=reason):
            return replace(slot, delayed=True, make_tries=tries, wait_reason=reason)
        case v.AttemptRefused(refused=refused, final=final, reason=reason):
            attempt = replace(
                bytes_of(slot),
                refused=refused,
                final=final,
                word=reason,
                code=record.code,
                codespace=record.codespace,
            )
            return replace(slot, attempt=attempt)
        case v.RefusalDoubted(refused=refused, final=final):
            return replace(slot, attempt=replace(bytes_of(slot), refused=refused, final=final))
        case v.AttemptTaken(refused=refused, final=final):
            attempt = replace(bytes_of(slot), refused=refused, final=final, taken=True)
            return replace(slot, attempt=attempt)
        case v.AttemptEnded(reason=reason, proven=proven):
            return ended(slot, reason, proven=proven)
        case v.PastProven(proven=proven):
            past = zip(slot.past, proven, strict=True)
            return replace(slot, past=tuple([replace(one, proven=now) for one, now in past]))
        case v.InclusionShown(shown=shown):
            return replace(slot, shown=shown)
        case v.ProofOrdered(doubt_height=doubt_height, asked_height=asked_height):
            doubted = replace(slot, doubt_height=doubt_height, asked_height=asked_height)
            return replace(doubted, proving=True)
        case v.ProofFailed():
            return replace(slot, proving=False)
        case _:
            assert_never(record)


def bytes_of(slot: Slot) -> Attempt:
    assert slot.attempt is not None
    return slot.attempt


def ended(slot: Slot, reason: str, *, proven: bool = True) -> Slot:
    """Its bytes can land no more, as far as is `proven`; others are made at the same number."""
    last = bytes_of(slot)
    reason = clip(reason, LOG_BYTES_MAX)
    gone = Past(last.hash, last.timeout_height, reason, proven, last.made_ms, last.made_height)
    past = slot.past if slot.intent is not None else slot.past[1 - PAST_KEPT_MAX :]
    return replace(
        slot,
        making=True,
        delayed=False,
        make_tries=0,
        attempt_next=last.number + 1,
        attempt=None,
        past=(*past, gone),
        wait_reason=reason,
        shown=(),
    )


OfHead: TypeAlias = (
    v.MakingDelayed | v.AccountMissing | v.LaneHalted | v.SequenceSet | ModeChanged | CommandRefused
    | v.RecoveryBegan | v.RecoveryEnded
)  # fmt: skip


def evolve_head(lane: SequenceLane, record: OfHead) -> None:
    """Those that change the head alone."""
    head = lane.head
    match record:
        case v.MakingDelayed(make_ms=make_ms):
            head.make_ms = make_ms if head.make_ms is None else min(head.make_ms, make_ms)
        case v.AccountMissing(at_ms=at_ms):
            head.is_missing, head.read_ms = True, at_ms
        case v.LaneHalted(reason=reason, at_ms=at_ms):
            head.halt, head.halt_ms = reason, at_ms
        case v.SequenceSet(floor=floor, sequence_next=number, seen=seen):
            head.floor, head.sequence_next = floor, number
            if seen is not None:
                head.committed, head.taken_next = seen.sequence, number
                head.landed_next = min(head.landed_next, number)
                believe(head, seen)
            if not lane.numbers:
                place_nodes(lane, number)
        case ModeChanged():
            heads.change_mode(head, record)
        case CommandRefused() | v.RecoveryBegan() | v.RecoveryEnded():
            pass  # A node's own row says whether it is in recovery.
        case _:
            assert_never(record)


def see_account(lane: SequenceLane, record: v.AccountSeen) -> None:
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
    lane.nodes = {name: reached(node, head.committed) for name, node in lane.nodes.items()}


def believe(head: SequenceHead, record: v.AccountSeen) -> None:
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
            epoch = node.epoch + (max(node.until, node.next) > sequence)
            placed = replace(recovered(node), next=sequence, top=sequence, epoch=epoch, gate=None)
            lane.nodes[node.name] = placed


def claim(lane: SequenceLane, slot: Slot) -> Touched:
    head = lane.head
    assert slot.sequence == head.sequence_next
    head.slot_next, head.sequence_next = slot.id + 1, slot.sequence + 1
    head.cursors = heads.passed(head.cursors, slot.priority, slot.seq)
    head.drain_left = max(0, head.drain_left - 1)
    return tuple(put_slot(lane, slot))


def sign(lane: SequenceLane, record: v.AttemptSigned) -> Touched:
    slot = record.slot
    assert slot.attempt is not None
    touched = put_slot(lane, slot)
    touched += put_raw(lane, slot, slot.attempt, record.raw)
    if slot.intent is not None:
        # Now, for a chain may be quicker than our own record of a node's answer.
        touched.append(Index("hash", slot.attempt.hash.hex(), slot.intent, lane.id))
    return tuple(touched)


def fall_out(lane: SequenceLane, record: v.SlotFellOut) -> Touched:
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
    # Not one less than before: a number that an operator left out, and withdrew, stays left out.
    head.sequence_next = max([head.committed, head.floor, *(one + 1 for one in lane.numbers)])
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
    below, top = min(node.next, sequence), min(node.top, sequence)
    return replace(recovered(node), next=below, top=top, epoch=node.epoch + 1, gate=None)


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
        asked_height=None,
        proving=False,
        shown=(),
    )


def settle(lane: SequenceLane, record: v.SlotSettled) -> Touched:
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
    heads.settle(lane.head, slot.size)
    lane.intents.pop(intent, None)
    attempt = slot.attempt
    if attempt is not None and attempt.raw:
        slot = replace(slot, attempt=replace(attempt, raw=b""))
    hash_ = hash_ if seen is None else seen.hash
    number = None if hash_ is None else slot.sequence
    history = encode(History(slot, seen, raw))
    return [Result(intent, status, at_ms, number, hash_, reason, history)]
