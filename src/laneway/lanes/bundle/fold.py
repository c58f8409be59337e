"""The only code that changes a bundle lane: one record at a time.

`fold` changes what is open, and a decision uses it on a fork of the lane; `evolve` does the same to
the lane itself and then to the tables that a fork shares with it.
"""

from typing import TypeAlias, assert_never

from laneway.core.ids import IntentId
from laneway.core.jam import JamBlockRef
from laneway.core.reason import clip
from laneway.core.rows import Result, RowKey, RowPut, Table, Touch, Touched
from laneway.lanes.bundle import records as r
from laneway.lanes.bundle.clock_back import brought_forward
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
    extend,
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
from laneway.lanes.bundle.results import indexed, is_inside, leave, settled
from laneway.lanes.bundle.rows import BlockState, Ear, FactKind, Finished, Member, Slot, Tip
from laneway.lanes.bundle.standing import is_alone_at_fault
from laneway.lanes.common import heads
from laneway.lanes.common.heads import encode
from laneway.lanes.common.values import CommandRefused, IntentDropped, ModeChanged


def evolve(lane: BundleLane, record: r.Record) -> Touched:
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


def fold(lane: BundleLane, record: r.Record) -> Touched:
    """What a record does to all that is open."""
    match record:
        case r.SlotClaimed():
            return claim(lane, record)
        case r.BlockSealed():
            return seal(lane, record)
        case r.BlockUnmade():
            return unmake(lane, record)
        case r.BlockShrunk():
            return shrink(lane, record)
        case r.BlockRecord():
            return (change_slot(lane, record),)
        case r.VersionRecord():
            return change_version(lane, record)
        case r.VersionSealed():
            return seal_version(lane, record)
        case r.StatusChanged(slot=number, word=word):
            is_done = word in (BlockState.ACCUMULATED, BlockState.FINALISED)
            lane.head.drops = 0 if is_done else lane.head.drops
            return (put_slot(lane, replace(lane.slots[number], word=word)),)
        case r.SlotNumbered(slot=number, number=wanted):
            return renumber(lane, lane.slots[number], wanted)
        case r.VersionDiscarded(slot=number, version=which):
            found = lane.version(number, which)
            assert found is not None
            return tuple(drop_version(lane, found))
        case r.BlockDropped():
            return drop_block(lane, record)
        case r.BlockFinalised():
            return finalise(lane, record)
        case r.ChainSeen():
            return see_chain(lane, record)
        case r.ClockSetBack(at_ms=at_ms):
            return brought_forward(lane, at_ms)
        case r.TellOwed() | r.TellsBegun() | r.TellsDone() | r.TellsDelayed():
            return fold_tells(lane, record)
        case IntentDropped():
            return drop_intent(lane, record)
        case (
            r.Counted() | r.LookBegun() | r.LookEnded() | r.BlockDue() | r.WindowAwaited()
            | r.LineMoved() | ModeChanged() | CommandRefused()
        ):  # fmt: skip
            return fold_head(lane, record)
        case _:
            assert_never(record)


def change_slot(lane: BundleLane, record: r.OfSlot) -> Touch:
    head, slot = lane.head, changed(lane.slots[record.slot], record)
    head.event_next = max(head.event_next, slot.event_id + 1)
    head.order_next = max(head.order_next, order_of(slot) + 1)
    return put_slot(lane, slot)


def changed(slot: Slot, record: r.OfSlot) -> Slot:
    """A block after a record that changes its own row alone."""
    match record:
        case r.BuildDelayed(retry_ms=retry_ms, tries=tries, reason=reason, helps=helps):
            late = replace(slot, making=None, retry_ms=retry_ms, wait_reason=reason)
            return replace(late, tries=tries, helps=helps, starts=0)
        case r.BuildRetried(order=order):
            return replace(slot, retry_ms=None, order=order)
        case r.StartsCounted(starts=starts):
            return replace(slot, starts=starts)
        case r.VersionOrdered(making=making):
            return replace(slot, making=making, retry_ms=None)
        case r.VersionPutBack(version=version):
            return replace(slot, making=None, version=version)
        case r.BlockRequeued(event_id=event_id, at_ms=at_ms, faults=faults, reason=reason):
            again = replace(slot, queued=True, event_id=event_id, add_ms=at_ms, faults=faults)
            return replace(again, overdue=0, overdue_ms=None, wait_reason=reason)
        case r.BlockRevived():
            return replace(slot, queued=False, making=None, wait_reason="")
        case r.BlockHopeless():
            return replace(slot, is_hopeless=True)
        case r.VersionWon(version=winner, newest=newest, overdue_ms=overdue_ms):
            won = replace(slot, winner=winner, queued=False, making=None, version=newest)
            return replace(won, overdue=0, overdue_ms=overdue_ms, wait_reason="")
        case r.WinnerLost(is_afresh=True):
            return replace(slot, winner=0, overdue=0, overdue_ms=None, wait_reason="")
        case r.WinnerLost():
            return replace(slot, winner=0)
        case r.WaitChanged(reason=reason):
            return replace(slot, wait_reason=reason)
        case r.OverdueCounted(overdue=overdue, overdue_ms=overdue_ms, reason=reason):
            return replace(slot, overdue=overdue, overdue_ms=overdue_ms, wait_reason=reason)
        case r.OverdueEnded():
            return replace(slot, overdue=0, overdue_ms=None, wait_reason="")
        case r.NumberConfirmed():
            return replace(slot, is_canonical=True)
        case r.BlockOnLine(line=line):
            return replace(slot, line=line, is_canonical=True, queued=False, making=None)
        case r.PackageAwaited(final_slot=final_slot, reason=reason):
            return replace(slot, unnamed_slot=final_slot, wait_reason=reason)
        case r.AccumulationNotified(notified=notified, overdue_ms=overdue_ms):
            return replace(slot, told=notified, overdue_ms=overdue_ms)
        case _:
            assert_never(record)


def change_version(lane: BundleLane, record: r.OfVersion) -> Touched:
    version = lane.version(record.slot, record.version)
    assert version is not None
    slot = lane.slots[record.slot]
    match record:
        case r.VersionOffered():
            offered = replace(
                version,
                nodes=record.nodes,
                serial=record.serial,
                sends=record.sends,
                first_ms=record.first_ms,
                last_ms=record.last_ms,
                offering=True,
            )
            is_first = slot.queued or slot.tries
            put = [put_slot(lane, replace(slot, queued=False, tries=0))] if is_first else []
            return (*put, put_version(lane, offered))
        case r.VersionAnswered():
            answered = replace(
                version,
                offering=False,
                is_held=record.is_held,
                is_refused=record.is_refused,
                is_hopeless=record.is_hopeless,
                core=record.core,
                answers=record.answers,
            )
            return (put_version(lane, answered),)
        case r.FactsTakenBack(facts=facts, sends=sends):
            return (put_version(lane, replace(version, facts=facts, sends=sends)),)
        case r.FactsSeen(facts=facts) | r.VersionDied(facts=facts):
            return (put_version(lane, replace(version, facts=facts)),)
        case _:
            assert_never(record)


def fold_tells(
    lane: BundleLane, record: r.TellOwed | r.TellsBegun | r.TellsDone | r.TellsDelayed
) -> Touched:
    head = lane.head
    match record:
        case r.TellOwed(tell=tell):
            lane.tells[tell.id] = tell
            head.tell_next = tell.id + 1
            return (RowPut(Table.AUX, f"{TELL}{tell.id}", None, encode(tell)),)
        case r.TellsBegun(last=last, ear=Ear.BUILDER):
            head.hearing, head.hear_ms = last, None
        case r.TellsBegun(last=last):
            head.telling, head.tell_ms = last, None
        case r.TellsDone(last=last, ear=Ear.BUILDER):
            head.heard, head.hearing, head.hear_tries = last, 0, 0
            head.tell_reason = head.tell_reason if head.tell_tries else ""
        case r.TellsDone(last=last):
            head.telling, head.tell_tries = 0, 0
            head.tell_reason = head.tell_reason if head.hear_tries else ""
            return forget_tells(lane, last)
        case r.TellsDelayed(tell_ms=tell_ms, reason=reason, ear=ear):
            head.tell_reason = clip(reason, TROUBLE_BYTES_MAX)
            if ear == Ear.BUILDER:
                head.hearing, head.hear_ms, head.hear_tries = 0, tell_ms, head.hear_tries + 1
            else:
                head.telling, head.tell_ms, head.tell_tries = 0, tell_ms, head.tell_tries + 1
        case _:
            assert_never(record)
    return ()


def forget_tells(lane: BundleLane, last: int) -> Touched:
    """The last to be notified knows of these."""
    known = [one for one in lane.tells if one <= last]
    for one in known:
        del lane.tells[one]
    return tuple([RowKey(Table.AUX, f"{TELL}{one}") for one in known])


OfHead: TypeAlias = (
    r.Counted | r.LookBegun | r.LookEnded | r.BlockDue | r.WindowAwaited | r.LineMoved
    | ModeChanged | CommandRefused
)  # fmt: skip


def fold_head(lane: BundleLane, record: OfHead) -> Touched:
    """Those that change the head alone; after an operator's resume a builder's calls for help are
    counted anew."""
    head = lane.head
    match record:
        case r.Counted(what=what):
            count(lane, what)
        case r.LookBegun():
            head.looking, head.look_ms = True, None
        case r.LookEnded(look_ms=look_ms, clock=clock, reason=reason):
            # One that was only brought forward came back with nothing new.
            head.look_tries = head.look_tries + head.looking if reason else 0
            head.looking, head.look_ms, head.look_reason = False, look_ms, reason
            head.clock = head.clock if clock is None else clock
        case r.LineMoved(number=number, foreign=foreign, at_ms=at_ms, block=block):
            # Whose block it is and what it leaves, the builder says with the next one.
            head.tip, head.line_block = Tip(number), block
            head.number_next = number + 1
            head.foreign_count += foreign
            if foreign:
                head.foreign_first = head.foreign_first or number - foreign + 1
                head.foreign_ms = at_ms
                head.overtaken += bool(lane.slots or lane.returned)
        case r.BlockDue():
            head.block_ms = None
        case r.WindowAwaited(window_ms=window_ms):
            head.window_ms = window_ms
        case ModeChanged(mode=mode):
            heads.change_mode(head, record)
            if mode == "running":
                head.drops = head.faults = head.unpacked = 0
                return helps_forgotten(lane)
        case CommandRefused():
            pass
        case _:
            assert_never(record)
    return ()


def helps_forgotten(lane: BundleLane) -> Touched:
    called = [slot for slot in lane.slots.values() if slot.helps]
    return tuple([put_slot(lane, replace(slot, helps=0)) for slot in called])


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


def claim(lane: BundleLane, record: r.SlotClaimed) -> Touched:
    head, slot = lane.head, record.slot
    head.slot_next, head.event_next = slot.id + 1, slot.event_id + 1
    head.order_next, head.number_next = slot.order + 1, slot.number + 1
    head.block_ms = record.block_ms
    touched: list[Touch] = [put_slot(lane, slot), put_members(lane, slot, record.members)]
    for member in record.members:
        if lane.returned.pop(member.intent, None) is not None:
            touched.append(RowKey(Table.RETURNED, member.intent))
        else:
            head.cursors = heads.passed(head.cursors, member.priority, member.seq)
            head.drain_left = max(0, head.drain_left - 1)
        key = MEMBER + member.intent
        touched.append(RowPut(Table.AUX, key, member.intent, str(slot.id).encode()))
    return tuple(touched)


def put_members(lane: BundleLane, slot: Slot, members: tuple[Member, ...]) -> Touch:
    lane.members[slot.id] = members
    return RowPut(Table.AUX, f"{MEMBERS}{slot.id}", None, encode(members))


def seal(lane: BundleLane, record: r.BlockSealed) -> Touched:
    slot = record.slot
    inside = tuple([one for one in record.members if is_inside(one)])
    outside = tuple([one for one in record.members if not is_inside(one)])
    payload = put_payload(lane, slot.id, record.payload)
    lane.head.event_next, lane.head.faults = slot.event_id + 1, 0
    put = put_slot(lane, slot)
    extend(lane, slot)
    return (
        put,
        put_members(lane, slot, inside),
        payload,
        *[indexed(lane, one) for one in inside],
        *leave(lane, outside, record.at_ms),
    )


def seal_version(lane: BundleLane, record: r.VersionSealed) -> Touched:
    head, slot, version = lane.head, record.slot, record.version
    head.unpacked, head.txs_max = 0, 0 if slot.count <= head.txs_max else head.txs_max
    package = put_package(lane, version, record.package)
    return put_slot(lane, slot), put_version(lane, version), package


def shrink(lane: BundleLane, record: r.BlockShrunk) -> Touched:
    slot, head = lane.slots[record.slot], lane.head
    stays = {member.intent: None for member in record.members}
    gone = [one for one in lane.members[slot.id] if one.intent not in stays]
    smaller = replace(
        slot,
        order=record.order,
        count=len(record.members),
        size=sum([member.size for member in record.members]),
        retry_ms=None,
        tries=0,
        starts=0,
        wait_reason=record.reason,
    )
    head.order_next = max(head.order_next, record.order + 1)
    touched = [put_slot(lane, smaller), put_members(lane, slot, record.members)]
    return (*touched, *[touch for one in gone for touch in put_returned(lane, one)])


def unmake(lane: BundleLane, record: r.BlockUnmade) -> Touched:
    slot = lane.slots[record.slot]
    touched = leave(lane, record.members, record.at_ms)
    lane.head.faults += any(one.is_fault for one in record.members)
    lane.head.block_ms = None
    lane.head.number_next = min(lane.head.number_next, slot.number)
    return (*drop_slot(lane, slot), *touched)


def drop_block(lane: BundleLane, record: r.BlockDropped) -> Touched:
    slot, head = lane.slots[record.slot], lane.head
    touched = [touch for one in lane.members[slot.id] for touch in put_returned(lane, one)]
    head.number_next = min(head.number_next, slot.number)
    # The same transactions on the same parent would be the same block, if its time were the same;
    # and what stood on it, which may be out, would stand on that one.
    if slot.block:
        head.made_ms_min = max(head.made_ms_min, slot.made_ms + MADE_STEP_MS)
    if record.is_unpackable:
        head.unpacked += is_alone_at_fault(lane, slot)
        head.txs_max = max(1, slot.count // 2)
    head.drops += record.is_cause
    head.drops_total += 1
    touched += drop_slot(lane, slot)
    redraw(lane)
    return tuple(touched)


def finalise(lane: BundleLane, record: r.BlockFinalised) -> Touched:
    slot, head = lane.slots[record.slot], lane.head
    package_hash, at, version = way_of(lane, slot, record.version)
    finished = Finished(
        slot.id, slot.number, version, package_hash, slot.block, slot.post_root, at, slot.count,
        min(slot.made_ms, record.at_ms), record.at_ms, head.finished_count + 1,
    )  # fmt: skip
    touched = settled(lane, finished, record.at_ms)
    head.finished_count += 1
    head.finished_ms = record.at_ms
    head.overtaken = 0
    if slot.number > head.tip.number:
        head.tip = Tip(slot.number, slot.block, slot.post_root)
    kept = RowPut(Table.AUX, f"{FINISHED}{slot.number}", None, encode(finished))
    gone = drop_slot(lane, slot)
    shorten(lane, slot.number)
    return (*gone, *touched, kept)


def way_of(lane: BundleLane, slot: Slot, winner: int) -> tuple[bytes, JamBlockRef, int]:
    """How a final block came to be so: the package, the chain's block that shows it, and which of
    the lane's own versions it was; 0: none of them."""
    if slot.line is not None:
        named = lane.named(slot.line.package_hash)
        own = named.version if named is not None and named.slot == slot.id else 0
        return slot.line.package_hash, slot.line.at, own
    version = lane.version(slot.id, winner)
    assert version is not None
    fact = version.fact(FactKind.ACCUMULATED)
    assert fact is not None
    return version.brought(), fact.block, version.version


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
    if lane.returned.pop(record.intent, None) is not None:
        return (RowKey(Table.RETURNED, record.intent), heads.drop(lane.head, record))
    return (heads.drop_waiting(lane.head, record),)


# The chain.


def see_chain(lane: BundleLane, record: r.ChainSeen) -> Touched:
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
