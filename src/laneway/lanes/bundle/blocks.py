"""Blocks from the pool: begun with transactions in their order, executed, sealed.

One block is executed at a time, on the state behind the one before it.
"""

from collections.abc import Mapping, Sequence

from laneway.core.intent import IntentRow
from laneway.core.outcome import Status
from laneway.core.reason import clip
from laneway.lanes.bundle.draft import Draft
from laneway.lanes.bundle.fold import is_inside
from laneway.lanes.bundle.lane import BundleLane, is_large, replace
from laneway.lanes.bundle.limits import RETRY_GROWTH_MAX, SLOTS_OPEN_MAX, TELLS_OWED_MAX
from laneway.lanes.bundle.returned import Room, due_ms, has_urgent, in_order, picked, put_off
from laneway.lanes.bundle.rows import Member, Slot, Verdict, Word
from laneway.lanes.bundle.standing import parent_of, payloads_behind, queued_count
from laneway.lanes.bundle.values import (
    BlockBuilt,
    BlockNotBuilt,
    BlockSealed,
    BlockUnmade,
    BuildBlock,
    IntentDropped,
    IntentsOffered,
    Judged,
    SlotClaimed,
)

UNSAID = "the builder said nothing of it"


def is_running(lane: BundleLane) -> bool:
    return lane.head.mode in ("running", "draining")


def is_drained(lane: BundleLane) -> bool:
    """Whether it was told to finish what it had, and that is done."""
    head = lane.head
    busy = head.drain_left or lane.slots or lane.returned
    return head.mode == "draining" and not busy


def may_begin(lane: BundleLane) -> bool:
    """Whether another block may be begun, if there are transactions for it."""
    if not is_running(lane) or lane.head.block_ms is not None:
        return False
    if lane.places[Word.BUILDING] or len(lane.slots) >= SLOTS_OPEN_MAX:
        return False
    if is_large(lane) or len(lane.tells) >= TELLS_OWED_MAX:
        return False
    return queued_count(lane) < lane.settings.max_queue_depth


def wants(lane: BundleLane) -> int:
    """How many transactions of the backlog the next block may take now. Those that had a block
    before come first, and where the builder put them off there is always room for another."""
    if not may_begin(lane) or has_urgent(lane):
        return 0
    wanted = max(1, lane.settings.block_txs_max - len(lane.returned))
    return min(wanted, lane.head.drain_left) if lane.head.mode == "draining" else wanted


def claim_offered(draft: Draft, event: IntentsOffered) -> None:
    """A block of transactions from the backlog, as many as fit, in their order, behind those that
    the builder put off."""
    lane = draft.lane
    if not wants(lane):
        return
    drop_expired(draft)
    first = picked(lane, draft.now_ms)
    if len(first) < len(lane.returned):
        return  # With other settings there was room for more; none of them is overtaken.
    left = wants(lane)
    chosen: list[IntentRow] = []
    size = sum([intent.size() for intent in first])
    for intent in event.intents:
        if lane.head.mode == "draining" and intent.seq > lane.head.drain_seq:
            break
        if is_expired(intent, draft.now_ms) and not chosen:
            draft.say(dropped(intent, draft.now_ms))
            continue
        size += intent.size()
        if len(chosen) >= left or (chosen and size > lane.settings.block_bytes_max):
            break
        if is_expired(intent, draft.now_ms):
            break  # The cursor passes it first in the next block: records keep their order.
        chosen.append(intent)
    if chosen:
        begin(draft, [*first, *chosen])


def begin_returned(draft: Draft) -> None:
    """A block of transactions that had one before, and of no others."""
    due = pool_ms(draft.lane)
    if due is None or due > draft.now_ms:
        return
    drop_expired(draft)
    begin(draft, picked(draft.lane, draft.now_ms))


def pool_ms(lane: BundleLane) -> int | None:
    """When such a block is begun; None: not by the time alone."""
    return due_ms(lane) if lane.returned and may_begin(lane) else None


def drop_expired(draft: Draft) -> None:
    for back in in_order(draft.lane):
        intent = draft.lane.intents[back.intent]
        if is_expired(intent, draft.now_ms):
            draft.say(dropped(intent, draft.now_ms))


def is_expired(intent: IntentRow, now_ms: int) -> bool:
    return intent.valid_until_ms is not None and intent.valid_until_ms < now_ms


def dropped(intent: IntentRow, now_ms: int) -> IntentDropped:
    return IntentDropped(
        intent=intent.id,
        seq=intent.seq,
        priority=intent.priority,
        size=intent.size(),
        status=Status.EXPIRED.value,
        reason="it was valid no longer when its turn came",
        at_ms=now_ms,
    )


def begin(draft: Draft, intents: Sequence[IntentRow]) -> None:
    """There are no empty blocks."""
    if not intents:
        return
    lane, head = draft.lane, draft.lane.head
    slot = Slot(
        id=head.slot_next,
        number=next_number(lane),
        event_id=head.event_next,
        add_ms=draft.now_ms,
        made_ms=max(draft.now_ms, head.made_ms_min),
        order=head.order_next,
        count=len(intents),
        size=sum([intent.size() for intent in intents]),
    )
    members = tuple([member_of(lane, intent) for intent in intents])
    interval_ms = lane.settings.block_interval_ms
    block_ms = draft.now_ms + interval_ms if interval_ms else None
    draft.say(SlotClaimed(slot, members, block_ms, intents[0].id in lane.returned))
    draft.order(build(lane, slot, {intent.id: intent for intent in intents}))


def member_of(lane: BundleLane, intent: IntentRow) -> Member:
    member = Member(intent.id, intent.seq, intent.priority, intent.size())
    back = lane.returned.get(intent.id)
    return member if back is None else replace(member, reason=back.reason, deferral=back.deferral)


def next_number(lane: BundleLane) -> int:
    """The lowest that no block has: one that was dropped leaves its number to the next."""
    number = lane.head.number_next
    while number in lane.numbers:
        number += 1
    return number


def build(lane: BundleLane, slot: Slot, intents: Mapping[str, IntentRow]) -> BuildBlock:
    parent = parent_of(lane, slot)
    ids = tuple([member.intent for member in lane.members[slot.id]])
    return BuildBlock(
        slot=slot.id,
        order=slot.order,
        number=slot.number,
        parent=parent.block,
        parent_root=parent.root,
        made_ms=slot.made_ms,
        intents=ids,
        payloads=tuple([intents[one].payload for one in ids]),
        behind=payloads_behind(lane, slot.number, parent.block),
    )


# The builder's answers.


def awaited(lane: BundleLane, slot: int, order: int) -> Slot | None:
    """The block that an answer is about; None: it comes too late."""
    found = lane.slots.get(slot)
    if found is None or not found.building or found.order != order or found.retry_ms is not None:
        return None
    return found


def judge_block(draft: Draft, event: BlockBuilt) -> None:
    slot = awaited(draft.lane, event.slot, event.order)
    if slot is None:
        return
    parent = parent_of(draft.lane, slot)
    if parent.root and parent.root != event.pre_root:
        delay(draft, slot, "it was executed on another state than the one before it left")
        return
    members = judged(draft, slot, event)
    inside = [member for member in members if is_inside(member)]
    if not inside:
        draft.say(BlockUnmade(slot.id, members, draft.now_ms))
        return
    sealed = replace(
        slot,
        building=False,
        queued=True,
        tries=0,
        wait_reason="",
        event_id=draft.lane.head.event_next,
        add_ms=draft.now_ms,
        count=len(inside),
        size=sum([member.size for member in inside]),
        digest=event.digest,
        block=event.block,
        parent=parent.block,
        pre_root=event.pre_root,
        post_root=event.post_root,
    )
    draft.say(BlockSealed(sealed, members, event.payload, draft.now_ms))


def judged(draft: Draft, slot: Slot, event: BlockBuilt) -> tuple[Member, ...]:
    """What the builder says of each, and what follows for those that it puts off."""
    lane = draft.lane
    found = {one.intent: one for one in event.judged}
    members: list[Member] = []
    for member in lane.members[slot.id]:
        one = found.get(member.intent) or Judged(member.intent, Verdict.DEFERRED, reason=UNSAID)
        members.append(replace(member, hash=one.hash, verdict=one.verdict, reason=clip(one.reason)))
    is_empty = not any(is_inside(member) for member in members)
    # What waits for nothing but room begins a block at once; where none is made that is no good.
    late = (Verdict.DEFERRED, Verdict.FULL) if is_empty else (Verdict.DEFERRED,)
    begin_ms = draft.now_ms if is_empty else max(draft.now_ms, lane.head.block_ms or 0)
    room = Room(lane)
    return tuple(
        [
            put_off(lane.settings, member, room, now_ms=draft.now_ms, begin_ms=begin_ms)
            if member.verdict in late
            else replace(member, deferral=None)
            for member in members
        ]
    )


def judge_not_built(draft: Draft, event: BlockNotBuilt) -> None:
    slot = awaited(draft.lane, event.slot, event.order)
    if slot is not None:
        delay(draft, slot, event.reason)


def delay(draft: Draft, slot: Slot, reason: str) -> None:
    """The builder is asked again in a while, each time later."""
    pause_ms = draft.lane.settings.build_retry_ms << min(slot.tries, RETRY_GROWTH_MAX)
    draft.change(
        slot,
        "delayed",
        making=None,
        retry_ms=draft.now_ms + pause_ms,
        tries=slot.tries + 1,
        wait_reason=reason,
    )


def build_again(draft: Draft) -> None:
    """What could not be executed is asked for once more."""
    for one in list(draft.lane.places[Word.BUILDING]):
        slot = draft.lane.slots[one]
        if slot.retry_ms is not None and slot.retry_ms <= draft.now_ms:
            order = draft.lane.head.order_next
            again = draft.change(slot, "retried", retry_ms=None, order=order)
            draft.order(build(draft.lane, again, draft.lane.intents))
