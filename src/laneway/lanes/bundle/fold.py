"""The only code that changes a bundle lane: one record at a time.

`fold` changes what is open, and a decision uses it on a fork of the lane; `evolve` does the same to
the lane itself and then to the tables that a fork shares with it.
"""

from typing import assert_never

from laneway.core.ids import IntentId
from laneway.core.outcome import Status
from laneway.core.reason import clip
from laneway.core.rows import Index, Result, RowKey, RowPut, Table, Touch, Touched
from laneway.lanes.bundle.lane import (
    CHAIN,
    FINISHED,
    MEMBER,
    MEMBERS,
    TELL,
    BundleLane,
    decode_finished,
    drop_slot,
    drop_version,
    encode,
    extend,
    passed,
    put_package,
    put_payload,
    put_returned,
    put_slot,
    put_version,
    redraw,
    replace,
    shorten,
)
from laneway.lanes.bundle.limits import CHAIN_KEPT_MAX, GAP_HEIGHTS, MADE_STEP_MS, TROUBLE_BYTES_MAX
from laneway.lanes.bundle.rows import (
    BundleHead,
    Ear,
    Finished,
    History,
    Kind,
    Member,
    Slot,
    Tip,
    Verdict,
    Word,
)
from laneway.lanes.bundle.values import (
    BlockDropped,
    BlockDue,
    BlockFinalised,
    BlockSealed,
    BlockUnmade,
    ChainSeen,
    CommandRefused,
    Counted,
    IntentDropped,
    LookBegun,
    LookEnded,
    ModeChanged,
    Record,
    SlotChanged,
    SlotClaimed,
    SlotNumbered,
    StatusChanged,
    TellOwed,
    TellsBegun,
    TellsDelayed,
    TellsDone,
    VersionChanged,
    VersionDiscarded,
    VersionSealed,
    WindowAwaited,
)

WORDS = {
    Verdict.INCLUDED: Status.CONFIRMED.value,
    Verdict.REVERTED: Status.REVERTED.value,
}
"""What a transaction of a final block is told to be."""


def evolve(lane: BundleLane, record: Record) -> Touched:
    """Fold one record into the lane; the rows it touched."""
    touched = fold(lane, record)
    gone: list[Touch] = []
    for touch in touched:
        if isinstance(touch, RowPut):
            gone += follow(lane, touch.key, touch.body)
        elif isinstance(touch, RowKey) and touch.key.startswith(MEMBER):
            lane.bound.pop(IntentId(touch.key.removeprefix(MEMBER)), None)
        elif isinstance(touch, Result):
            lane.intents.pop(touch.intent, None)
    return (*touched, *gone)


def follow(lane: BundleLane, key: str, body: bytes) -> list[Touch]:
    """What a fork shares with its lane follows the rows; the oldest finished block is forgotten."""
    if key.startswith(MEMBER):
        lane.bound[IntentId(key.removeprefix(MEMBER))] = int(body)
    if not key.startswith(FINISHED):
        return []
    finished = decode_finished(body)
    lane.finished.pop(finished.number, None)
    lane.finished[finished.number] = finished
    gone: list[Touch] = []
    while len(lane.finished) > lane.settings.retention_window:
        oldest, _ = lane.finished.popitem(last=False)
        gone.append(RowKey(Table.AUX, f"{FINISHED}{oldest}"))
    return gone


def fold(lane: BundleLane, record: Record) -> Touched:
    """What a record does to all that is open."""
    match record:
        case SlotClaimed():
            return claim(lane, record)
        case BlockSealed():
            return seal(lane, record)
        case BlockUnmade():
            return unmake(lane, record)
        case SlotChanged() | StatusChanged() | SlotNumbered():
            return fold_slot(lane, record)
        case VersionSealed() | VersionChanged() | VersionDiscarded():
            return fold_version(lane, record)
        case BlockDropped():
            return drop_block(lane, record)
        case BlockFinalised():
            return finalise(lane, record)
        case ChainSeen():
            return see_chain(lane, record)
        case TellOwed() | TellsBegun() | TellsDone() | TellsDelayed():
            return fold_tells(lane, record)
        case IntentDropped():
            return drop_intent(lane, record)
        case (
            Counted() | LookBegun() | LookEnded() | BlockDue() | WindowAwaited() | ModeChanged()
            | CommandRefused()
        ):  # fmt: skip
            fold_head(lane, record)
            return ()
        case _:
            assert_never(record)


def fold_slot(lane: BundleLane, record: SlotChanged | StatusChanged | SlotNumbered) -> Touched:
    head = lane.head
    match record:
        case SlotChanged(slot=slot):
            head.event_next = max(head.event_next, slot.event_id + 1)
            head.order_next = max(head.order_next, order_of(slot) + 1)
            return (put_slot(lane, slot),)
        case StatusChanged(slot=number, word=word):
            if word == Word.ACCUMULATED:
                head.drops = 0
            return (put_slot(lane, replace(lane.slots[number], word=word)),)
        case SlotNumbered(slot=number, number=wanted):
            return renumber(lane, lane.slots[number], wanted)
        case _:
            assert_never(record)


def fold_version(
    lane: BundleLane, record: VersionSealed | VersionChanged | VersionDiscarded
) -> Touched:
    match record:
        case VersionSealed(slot=slot, version=version, package=package):
            put = put_slot(lane, slot), put_version(lane, version)
            return (*put, put_package(lane, version, package))
        case VersionChanged(version=version):
            return (put_version(lane, version),)
        case VersionDiscarded(slot=number, version=which):
            found = lane.version(number, which)
            assert found is not None
            return tuple(drop_version(lane, found))
        case _:
            assert_never(record)


def fold_tells(
    lane: BundleLane, record: TellOwed | TellsBegun | TellsDone | TellsDelayed
) -> Touched:
    match record:
        case TellOwed(tell=tell):
            lane.tells[tell.id] = tell
            lane.head.tell_next = tell.id + 1
            return (RowPut(Table.AUX, f"{TELL}{tell.id}", None, encode(tell)),)
        case (
            TellsBegun(ear=Ear.BUILDER) | TellsDone(ear=Ear.BUILDER) | TellsDelayed(ear=Ear.BUILDER)
        ):
            fold_hearing(lane.head, record)
            return ()
        case TellsBegun() | TellsDone() | TellsDelayed():
            fold_telling(lane.head, record)
            return forget_tells(lane, record.last) if isinstance(record, TellsDone) else ()
        case _:
            assert_never(record)


def forget_tells(lane: BundleLane, last: int) -> Touched:
    """Whoever hears last has heard of these."""
    told = [one for one in lane.tells if one <= last]
    for one in told:
        del lane.tells[one]
    return tuple([RowKey(Table.AUX, f"{TELL}{one}") for one in told])


def fold_hearing(head: BundleHead, record: TellsBegun | TellsDone | TellsDelayed) -> None:
    match record:
        case TellsBegun(last=last):
            head.hearing, head.hear_ms = last, None
        case TellsDone(last=last):
            head.heard, head.hearing, head.hear_tries = last, 0, 0
            head.tell_reason = head.tell_reason if head.tell_tries else ""
        case TellsDelayed(tell_ms=tell_ms, reason=reason):
            head.hearing, head.hear_ms = 0, tell_ms
            head.tell_reason = clip(reason, TROUBLE_BYTES_MAX)
            head.hear_tries += 1
        case _:
            assert_never(record)


def fold_telling(head: BundleHead, record: TellsBegun | TellsDone | TellsDelayed) -> None:
    match record:
        case TellsBegun(last=last):
            head.telling, head.tell_ms = last, None
        case TellsDone():
            head.telling, head.tell_tries = 0, 0
            head.tell_reason = head.tell_reason if head.hear_tries else ""
        case TellsDelayed(tell_ms=tell_ms, reason=reason):
            head.telling, head.tell_ms = 0, tell_ms
            head.tell_reason = clip(reason, TROUBLE_BYTES_MAX)
            head.tell_tries += 1
        case _:
            assert_never(record)


def fold_head(
    lane: BundleLane,
    record: Counted
    | LookBegun
    | LookEnded
    | BlockDue
    | WindowAwaited
    | ModeChanged
    | CommandRefused,
) -> None:
    """Those that change the head alone."""
    head = lane.head
    match record:
        case Counted(what=what):
            count(lane, what)
        case LookBegun():
            head.looking, head.look_ms = True, None
        case LookEnded(look_ms=look_ms, clock=clock, reason=reason):
            head.looking, head.look_ms, head.look_reason = False, look_ms, reason
            head.clock = head.clock if clock is None else clock
        case BlockDue():
            head.block_ms = None
        case WindowAwaited(window_ms=window_ms):
            head.window_ms = window_ms
        case ModeChanged(mode=mode, reason=reason, by=by, at_ms=at_ms):
            head.mode, head.reason, head.by, head.mode_ms = mode, reason, by, at_ms
            head.drain_seq, head.drain_left = record.drain_seq, record.drain_left
            if mode == "running":
                head.drops = 0
        case CommandRefused():
            pass
        case _:
            assert_never(record)


def count(lane: BundleLane, what: str) -> None:
    head = lane.head
    match what:
        case "duplicate_guarantee":
            head.duplicate_guarantees += 1
        case "duplicate_accumulate":
            head.duplicate_accumulates += 1
        case "version_cancelled":
            head.versions_cancelled += 1
        case _:
            assert what == "overruled"
            head.overruled += 1


def order_of(slot: Slot) -> int:
    """The newest thing that was asked of a builder."""
    return slot.order if slot.making is None else max(slot.order, slot.making.order)


# Blocks and their transactions.


def claim(lane: BundleLane, record: SlotClaimed) -> Touched:
    head, slot = lane.head, record.slot
    head.slot_next, head.event_next = slot.id + 1, slot.event_id + 1
    head.order_next, head.number_next = slot.order + 1, slot.number + 1
    head.block_ms = record.block_ms
    touched: list[Touch] = [put_slot(lane, slot), put_members(lane, slot, record.members)]
    for member in record.members:
        if lane.returned.pop(member.intent, None) is not None:
            touched.append(RowKey(Table.RETURNED, member.intent))
        else:
            head.cursors = passed(head.cursors, member.priority, member.seq)
            head.drain_left = max(0, head.drain_left - 1)
        key = MEMBER + member.intent
        touched.append(RowPut(Table.AUX, key, member.intent, str(slot.id).encode()))
    return tuple(touched)


def put_members(lane: BundleLane, slot: Slot, members: tuple[Member, ...]) -> Touch:
    lane.members[slot.id] = members
    return RowPut(Table.AUX, f"{MEMBERS}{slot.id}", None, encode(members))


def is_inside(member: Member) -> bool:
    return member.verdict in WORDS


def seal(lane: BundleLane, record: BlockSealed) -> Touched:
    slot = record.slot
    inside = tuple([one for one in record.members if is_inside(one)])
    outside = tuple([one for one in record.members if not is_inside(one)])
    payload = put_payload(lane, slot.id, record.payload)
    lane.head.event_next = slot.event_id + 1
    put = put_slot(lane, slot)
    extend(lane, slot)
    return (
        put,
        put_members(lane, slot, inside),
        payload,
        *[Index("hash", one.hash.hex(), one.intent, lane.id) for one in inside],
        *leave(lane, outside, record.at_ms),
    )


def leave(lane: BundleLane, members: tuple[Member, ...], at_ms: int) -> list[Touch]:
    """They are in no block: refused for good, or back in the pool."""
    touched: list[Touch] = []
    for member in members:
        if member.verdict == Verdict.REFUSED:
            settle(lane, member.size)
            touched.append(RowKey(Table.AUX, MEMBER + member.intent))
            word = Status.REFUSED.value
            touched.append(Result(member.intent, word, at_ms, reason=member.reason))
        else:
            touched += put_returned(lane, member)
    return touched


def settle(lane: BundleLane, size: int) -> None:
    lane.head.settled_count += 1
    lane.head.settled_bytes += size


def unmake(lane: BundleLane, record: BlockUnmade) -> Touched:
    slot = lane.slots[record.slot]
    touched = leave(lane, record.members, record.at_ms)
    lane.head.block_ms = None
    lane.head.number_next = min(lane.head.number_next, slot.number)
    return (*drop_slot(lane, slot), *touched)


def drop_block(lane: BundleLane, record: BlockDropped) -> Touched:
    slot, head = lane.slots[record.slot], lane.head
    touched = [touch for one in lane.members[slot.id] for touch in put_returned(lane, one)]
    head.number_next = min(head.number_next, slot.number)
    # The same transactions on the same parent would be the same block, if its time were the same;
    # and what stood on it, which may be out, would stand on that one.
    head.made_ms_min = max(head.made_ms_min, slot.made_ms + MADE_STEP_MS)
    head.drops += record.is_cause
    head.drops_total += 1
    touched += drop_slot(lane, slot)
    redraw(lane)
    return tuple(touched)


def finalise(lane: BundleLane, record: BlockFinalised) -> Touched:
    slot, head = lane.slots[record.slot], lane.head
    version = lane.version(slot.id, record.version)
    assert version is not None
    fact = version.fact(Kind.ACCUMULATED)
    assert fact is not None
    finished = Finished(
        slot.id, slot.number, version.version, version.brought(), slot.block, slot.post_root,
        fact.block, slot.count, min(slot.made_ms, record.at_ms), record.at_ms,
        head.finished_count + 1,
    )  # fmt: skip
    touched: list[Touch] = []
    for index, member in enumerate(lane.members[slot.id]):
        settle(lane, member.size)
        touched.append(RowKey(Table.AUX, MEMBER + member.intent))
        history = encode(History(finished, index))
        word = WORDS[member.verdict]
        touched.append(
            Result(
                member.intent, word, record.at_ms, slot.number, member.hash, member.reason, history
            )
        )
    head.finished_count += 1
    head.finished_ms = record.at_ms
    if slot.number > head.tip.number:
        head.tip = Tip(slot.number, slot.block, slot.post_root)
    kept = RowPut(Table.AUX, f"{FINISHED}{slot.number}", None, encode(finished))
    gone = drop_slot(lane, slot)
    shorten(lane, slot.number)
    return (*gone, *touched, kept)


def renumber(lane: BundleLane, slot: Slot, number: int) -> Touched:
    """One number changes, and those of others that it would take or overtake; these keep their
    order."""
    others = [one for one in lane.in_order() if one.id != slot.id]
    moved = [replace(slot, number=number, is_canonical=True)]
    least = 0
    for one in others:
        wanted = max(one.number, least)
        if one.number > slot.number:
            wanted = max(wanted, number + 1)
        wanted += wanted == number
        least = wanted + 1
        if wanted != one.number:
            moved.append(replace(one, number=wanted))
    for one in moved:
        del lane.numbers[lane.slots[one.id].number]
    touched = tuple([put_slot(lane, one) for one in moved])
    lane.head.number_next = max(lane.head.number_next, max(lane.numbers) + 1)
    redraw(lane)
    return touched


def drop_intent(lane: BundleLane, record: IntentDropped) -> Touched:
    head = lane.head
    result = Result(record.intent, record.status, record.at_ms, reason=record.reason)
    settle(lane, record.size)
    if lane.returned.pop(record.intent, None) is not None:
        return (RowKey(Table.RETURNED, record.intent), result)
    head.drain_left = max(0, head.drain_left - (record.seq <= head.drain_seq))
    if record.passes:
        head.cursors = passed(head.cursors, record.priority, record.seq)
    else:
        head.dropped_seq = max(head.dropped_seq, record.seq)
    return (result,)


# The chain.


def see_chain(lane: BundleLane, record: ChainSeen) -> Touched:
    head = lane.head
    kept = -1 if record.kept is None else record.kept
    touched: list[Touch] = []
    for height in [one for one in lane.chain if one > kept]:
        del lane.heights[lane.chain.pop(height).header_hash]
        touched.append(RowKey(Table.AUX, f"{CHAIN}{height}"))
    best = head.height + GAP_HEIGHTS if record.kept is None else record.kept
    for block in record.blocks:
        best += 1
        lane.chain[best] = block
        lane.heights[block.header_hash] = best
        touched.append(RowPut(Table.AUX, f"{CHAIN}{best}", None, encode(block)))
    while len(lane.chain) > CHAIN_KEPT_MAX:
        oldest = next(iter(lane.chain))
        del lane.heights[lane.chain.pop(oldest).header_hash]
        touched.append(RowKey(Table.AUX, f"{CHAIN}{oldest}"))
    head.height, head.best = best, lane.chain.get(best)
    finalised = record.finalised
    if finalised is not None and (head.finalised is None or finalised.slot > head.finalised.slot):
        head.finalised = finalised
    return tuple(touched)
