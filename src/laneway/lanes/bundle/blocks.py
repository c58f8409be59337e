"""Blocks from the pool: begun with transactions in their order, executed, sealed.

One block is executed at a time, on the state that the one before it left. Transactions whose block
was dropped, or had no room for them, make a block at once. Those that the builder puts off, because
another has to come before them, are in every block that is begun with intents of the backlog; alone
they are tried after pauses that grow, and not for ever.
"""

from collections.abc import Iterable, Mapping, Sequence

from laneway.core.errors import BuildFailed
from laneway.core.ids import IntentId
from laneway.core.intent import IntentRow
from laneway.core.limits import REASON_BYTES_MAX
from laneway.core.reason import BEFORE_REMEDY, clip
from laneway.lanes.bundle import records as r
from laneway.lanes.bundle.clock_back import slot_ms
from laneway.lanes.bundle.draft import DecisionDraft
from laneway.lanes.bundle.lane import RUNNING, BundleLane, is_large, replace
from laneway.lanes.bundle.limits import (
    CONTENDED_SLOTS_MAX,
    FAULTS_MAX,
    FOREIGN_DOUBT_MS,
    HELP_TRIES_MAX,
    REASON_KEPT_BYTES_MAX,
    RETRY_GROWTH_MAX,
    SLOTS_OPEN_MAX,
    TELLS_OWED_MAX,
)
from laneway.lanes.bundle.results import RESULT_STATUSES, is_inside
from laneway.lanes.bundle.rows import Back, BlockState, Deferral, ExecutionVerdict, Member, Slot
from laneway.lanes.bundle.settings import BundleSettings
from laneway.lanes.bundle.standing import parent_of, payloads_below, queued_count
from laneway.lanes.bundle.values import BlockBuilt, BlockNotBuilt, BuildBlock, JudgedTransaction
from laneway.lanes.common.commands import is_expired
from laneway.lanes.common.timers import earliest
from laneway.lanes.common.values import IntentsOffered, ModeChanged

UNSAID = "the builder did not say what became of it"
VERDICTS = (
    *RESULT_STATUSES,
    ExecutionVerdict.REFUSED,
    ExecutionVerdict.EXPIRED,
    ExecutionVerdict.DEFERRED,
    ExecutionVerdict.FULL,
)
RESUME = "resume the lane"
"""The last thing that is to be done about a lane that has halted."""
SEE_DOCS = f"see docs/rollup-operations.md, then {RESUME}"


def is_running(lane: BundleLane) -> bool:
    return lane.head.mode in RUNNING


def is_drained(lane: BundleLane) -> bool:
    """Whether an operator's drain is done."""
    head = lane.head
    busy = head.drain_left or lane.slots or lane.returned
    return head.mode == "draining" and not busy


def may_begin(lane: BundleLane) -> bool:
    """Whether another block may be begun, if there are transactions for it."""
    if not is_running(lane) or lane.head.block_ms is not None:
        return False
    if lane.places[BlockState.BUILDING] or len(lane.slots) >= SLOTS_OPEN_MAX:
        return False
    if is_large(lane) or len(lane.tells) >= TELLS_OWED_MAX:
        return False
    return queued_count(lane) < lane.settings.max_queue_depth


def wants(lane: BundleLane) -> int:
    """How many transactions of the backlog the next block may take now. Those that had a block
    before come first, and where the builder put them off there is always room for another."""
    if not may_begin(lane) or has_urgent(lane):
        return 0
    wanted = max(1, block_txs(lane) - len(lane.returned))
    return min(wanted, lane.head.drain_left) if lane.head.mode == "draining" else wanted


def block_txs(lane: BundleLane) -> int:
    """The most transactions of a block: fewer where no package could be made of more."""
    most = lane.settings.block_txs_max
    return min(most, lane.head.txs_max or most)


def claim_offered(draft: DecisionDraft, event: IntentsOffered) -> None:
    """A block of transactions from the backlog, as many as fit, in their order, after those that
    the builder put off."""
    lane = draft.lane
    if not wants(lane):
        return
    first = picked(lane, draft.now_ms)
    if len(first) < len(lane.returned):
        return  # With other settings there was room for more; none of them is overtaken.
    left = wants(lane)
    chosen: list[IntentRow] = []
    size = sum([intent.size() for intent in first])
    for intent in event.intents:
        if lane.head.mode == "draining" and intent.seq > lane.head.drain_seq:
            break
        size += intent.size()
        if len(chosen) >= left or (chosen and size > lane.settings.block_bytes_max):
            break
        chosen.append(intent)
    if chosen:
        begin(draft, [*first, *chosen])


def begin_returned(draft: DecisionDraft) -> None:
    """A block of transactions that had one before, and of no others."""
    due = pool_ms(draft.lane)
    if due is None or due > draft.now_ms:
        return
    begin(draft, picked(draft.lane, draft.now_ms))


def pool_ms(lane: BundleLane) -> int | None:
    """When such a block is begun; None: not by the time alone."""
    return due_ms(lane) if lane.returned and may_begin(lane) else None


def begin(draft: DecisionDraft, intents: Sequence[IntentRow]) -> None:
    """A block of these; there are no empty blocks."""
    assert intents
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
    members = tuple([member_of(lane, intent, draft.now_ms) for intent in intents])
    interval_ms = lane.settings.block_interval_ms
    block_ms = draft.now_ms + interval_ms if interval_ms else None
    draft.say(r.SlotClaimed(slot, members, block_ms, intents[0].id in lane.returned))
    draft.order(build(lane, slot, {intent.id: intent for intent in intents}))


def member_of(lane: BundleLane, intent: IntentRow, now_ms: int) -> Member:
    """What is valid no longer is in the order, but not in the block: a block of others, or of a
    time that the store forgot, may have executed it, and its builder knows."""
    member = Member(intent.id, intent.seq, intent.priority, intent.size())
    if is_expired(intent, now_ms):
        member = replace(member, verdict=ExecutionVerdict.EXPIRED)
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
    members = lane.members[slot.id]
    ids = tuple([member.intent for member in members])
    late = [one.intent for one in members if one.verdict == ExecutionVerdict.EXPIRED]
    return BuildBlock(
        slot=slot.id,
        order=slot.order,
        number=slot.number,
        parent=parent.block,
        parent_root=parent.root,
        made_ms=slot.made_ms,
        intents=ids,
        payloads=tuple([intents[one].payload for one in ids]),
        below=payloads_below(lane, slot.number, parent.block),
        expired=tuple(late),
        known=known_of(lane, slot.number, [intents[one] for one in ids]),
    )


def known_of(lane: BundleLane, number: int, intents: Iterable[IntentRow]) -> int:
    """The newest block below this number up to which the lane knows by itself whether they have
    these: up to the first that others brought, or else of all, for they are its own. So it is the
    same when the order is repeated, whatever became final meanwhile."""
    head = lane.head
    doubted_ms = head.foreign_ms + FOREIGN_DOUBT_MS
    if head.foreign_first and any(one.accepted_ms <= doubted_ms for one in intents):
        return head.foreign_first - 1
    return number - 1


# The builder's answers.


def awaited(lane: BundleLane, slot: int, order: int) -> Slot | None:
    """The block that an answer is about; None: it comes too late."""
    found = lane.slots.get(slot)
    if found is None or not found.building or found.order != order or found.retry_ms is not None:
        return None
    return found


def judge_block(draft: DecisionDraft, event: BlockBuilt) -> None:
    slot = awaited(draft.lane, event.slot, event.order)
    if slot is None:
        return
    parent = parent_of(draft.lane, slot)
    if parent.root and parent.root != event.pre_root:
        problem = "it was executed on another state than the one before it left"
        delay(draft, slot, f"{problem}; {BuildFailed.REMEDY}")
        return
    members = judged(draft, slot, event)
    inside = [member for member in members if is_inside(member)]
    if not inside:
        draft.say(r.BlockUnmade(slot.id, members, draft.now_ms))
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
    draft.say(r.BlockSealed(sealed, members, event.payload, draft.now_ms))


def judged(draft: DecisionDraft, slot: Slot, event: BlockBuilt) -> tuple[Member, ...]:
    """What the builder says of each, and what follows for those that it puts off."""
    lane = draft.lane
    found = {one.intent: one for one in event.judged}
    members: list[Member] = []
    for member in lane.members[slot.id]:
        one = found.get(member.intent)
        if one is None or not is_verdict(one):
            one = JudgedTransaction(member.intent, ExecutionVerdict.DEFERRED, reason=UNSAID)
        members.append(
            replace(
                member,
                hash=one.hash,
                verdict=one.verdict,
                reason=clip(one.reason),
                receipt=one.receipt,
            )
        )
    is_empty = not any(is_inside(member) for member in members)
    # What waits for nothing but room begins a block at once; where none is made that is no good.
    late = {ExecutionVerdict.DEFERRED, *([ExecutionVerdict.FULL] if is_empty else [])}
    begin_ms = draft.now_ms if is_empty else max(draft.now_ms, lane.head.block_ms or 0)
    capacity = Capacity(lane)
    # Those that are in the block have its order, and the others keep theirs.
    places = {one.intent: one.place or 0 for one in event.judged if one.verdict in RESULT_STATUSES}
    members.sort(key=lambda one: (not is_inside(one), places.get(one.intent, 0)))
    return tuple(
        [
            put_off(lane.settings, member, capacity, now_ms=draft.now_ms, begin_ms=begin_ms)
            if member.verdict in late
            else replace(member, deferral=None)
            for member in members
        ]
    )


def is_verdict(judged: JudgedTransaction) -> bool:
    """Whether a builder's answer says what became of a transaction."""
    if judged.verdict == ExecutionVerdict.APPLIED:
        return judged.receipt is not None
    return judged.verdict in VERDICTS


def judge_not_built(draft: DecisionDraft, event: BlockNotBuilt) -> None:
    """What the order itself is at fault for is ordered with less in it, down to the transaction
    that no block can be built with. Anything else is asked for again, and so is one alone that an
    operator can help with."""
    lane, slot = draft.lane, awaited(draft.lane, event.slot, event.order)
    if slot is None:
        return
    if not event.final or (event.needs_help and slot.count == 1):
        alone = f"no block can be built with {lane.members[slot.id][0].intent}: "
        reason = alone + event.reason if event.final else event.reason
        delay(draft, slot, reason, helps=slot.helps + 1 if event.needs_help else 0)
        if lane.slots[slot.id].helps >= HELP_TRIES_MAX:
            halt(draft, reason)
    elif slot.count > 1:
        shrink(draft, slot, event.reason)
    elif lane.head.faults + 1 < FAULTS_MAX:
        (member,) = lane.members[slot.id]
        reason = clip(f"no block can be built with it: {event.reason}")
        out = replace(member, verdict=ExecutionVerdict.REFUSED, reason=reason, is_fault=True)
        draft.say(r.BlockUnmade(slot.id, (out,), draft.now_ms))
    else:
        delay(draft, slot, event.reason)
        halt(
            draft,
            f"{FAULTS_MAX} transactions one after the other could not be in a block: "
            f"{clip(event.reason, REASON_KEPT_BYTES_MAX)}; fix the builder, and {RESUME}",
        )


def shrink(draft: DecisionDraft, slot: Slot, reason: str) -> None:
    """It is begun again without those that were put off before, which are tried alone when their
    time comes; or else with the first half. The others keep their place in the pool."""
    lane = draft.lane
    members = lane.members[slot.id]
    chosen = tuple([one for one in members if one.deferral is None])
    if len(chosen) in (0, len(members)):
        chosen = members[: len(members) // 2]
    reason = clip(reason, REASON_KEPT_BYTES_MAX)
    draft.say(r.BlockShrunk(slot.id, lane.head.order_next, chosen, reason))
    draft.order(build(lane, lane.slots[slot.id], lane.intents))


def is_changeable(slot: Slot) -> bool:
    """Whether a block could not be built, and is not being executed: nobody has seen it."""
    return slot.building and slot.retry_ms is not None


def take_out(draft: DecisionDraft, slot: Slot, intent: IntentId) -> None:
    """Give one transaction of such a block back to the pool. The others are tried when all of them
    would have been, and not before the lane runs."""
    lane = draft.lane
    left = tuple([one for one in lane.members[slot.id] if one.intent != intent])
    if not left:
        # Nothing was found out about it, also if its time is over.
        alone = tuple([replace(one, verdict="") for one in lane.members[slot.id]])
        draft.say(r.BlockUnmade(slot.id, alone, draft.now_ms))
        return
    assert slot.retry_ms is not None
    draft.say(r.BlockShrunk(slot.id, lane.head.order_next, left, slot.wait_reason))
    draft.change(r.BuildDelayed(slot.id, slot.retry_ms, slot.tries, slot.wait_reason, slot.helps))


def halt(draft: DecisionDraft, reason: str) -> None:
    if is_running(draft.lane):
        draft.say(ModeChanged("halted", with_remedy(reason), "", draft.now_ms))


def with_remedy(reason: str) -> str:
    """The reason of a halt, as a head keeps it: it ends with what to do, whatever it is cut to."""
    if reason.endswith(RESUME):
        return clip(reason)
    if BEFORE_REMEDY.decode() in reason:
        remedy = f", then {RESUME}"
    else:
        remedy = f"{BEFORE_REMEDY.decode()}{SEE_DOCS}"
    return clip(reason, REASON_BYTES_MAX - len(remedy)) + remedy


def delay(draft: DecisionDraft, slot: Slot, reason: str, *, helps: int = 0) -> None:
    """The builder is asked again in a while, each time later. `helps`: how often in a row it needed
    an operator."""
    lane, first_ms = draft.lane, draft.lane.settings.build_retry_ms
    pause_ms = first_ms << min(slot.tries, RETRY_GROWTH_MAX)
    if slot.building and is_on_moved_line(lane, slot):
        pause_ms = max(first_ms, min(pause_ms, CONTENDED_SLOTS_MAX * slot_ms(lane)))
    reason = clip(reason, REASON_KEPT_BYTES_MAX)
    retry_ms = draft.now_ms + pause_ms
    draft.change(r.BuildDelayed(slot.id, retry_ms, slot.tries + 1, reason, helps))


def is_on_moved_line(lane: BundleLane, slot: Slot) -> bool:
    """Whether a block is built on one that others brought, whatever that is."""
    parent = parent_of(lane, slot)
    return not parent.block and 0 < lane.head.foreign_first <= parent.number


def build_again(draft: DecisionDraft) -> None:
    """What could not be executed is asked for once more, under the same id."""
    lane = draft.lane
    due = build_ms(lane)
    if due is None or due > draft.now_ms:
        return
    (one,) = lane.places[BlockState.BUILDING]  # One block is executed at a time.
    again = draft.change(r.BuildRetried(one, lane.slots[one].order))
    draft.order(build(lane, again, lane.intents))


def build_ms(lane: BundleLane) -> int | None:
    """When a builder is asked again to execute a block; None if that waits for nothing but an
    operator, or for nothing."""
    if not is_running(lane):
        return None
    return earliest([lane.slots[one].retry_ms for one in lane.places[BlockState.BUILDING]])


TOO_LONG = "that did not come in {seconds:g} s: send it first, and then this one again"
TOO_MANY = "too many others are put off already: send this one again later"


def in_order(lane: BundleLane) -> list[Back]:
    return sorted(lane.returned.values(), key=lambda one: (one.priority, one.seq))


def has_urgent(lane: BundleLane) -> bool:
    """Whether some wait for nothing but a block."""
    return any(one.deferral is None for one in lane.returned.values())


def due_ms(lane: BundleLane) -> int | None:
    """When a block may be begun of them alone; None: there are none."""
    found = [one.deferral for one in lane.returned.values()]
    return min([0 if one is None else one.again_ms for one in found], default=None)


# Who.


def share(settings: BundleSettings) -> tuple[int, int]:
    """How many may be put off at a time, and bytes of them: half a block. The other half is for
    those who come after them, whatever they wait for."""
    return max(1, settings.block_txs_max // 2), settings.block_bytes_max // 2


def picked(lane: BundleLane, now_ms: int) -> list[IntentRow]:
    """Those of the next block, in their order. Each that is put off fits, unless its
    settings were others then; in that case those go first whose time has come. While the one is
    looked for that no package can be made of, none is beside it: it would never be alone."""
    settings, backs = lane.settings, in_order(lane)
    is_sought = lane.head.txs_max > 0 and has_urgent(lane)
    late = [one for one in backs if one.deferral is not None and not is_sought]
    late.sort(key=lambda one: one.deferral is not None and one.deferral.again_ms > now_ms)
    count, size = share(settings)
    chosen = fitting(lane, late, count, size)
    count = max(1, block_txs(lane) - len(chosen))
    size = settings.block_bytes_max - sum([intent.size() for intent in chosen])
    chosen += fitting(lane, [one for one in backs if one.deferral is None], count, size)
    return sorted(chosen, key=lambda one: (one.priority, one.seq))


def fitting(lane: BundleLane, backs: Iterable[Back], count: int, size: int) -> list[IntentRow]:
    """As many of them as fit, from the first on; one always does."""
    chosen: list[IntentRow] = []
    for back in backs:
        intent = lane.intents[back.intent]
        size -= intent.size()
        if chosen and (len(chosen) >= count or size < 0):
            break
        chosen.append(intent)
    return chosen


# For how long.


class Capacity:
    """How many more transactions may be put off, and bytes of them."""

    def __init__(self, lane: BundleLane) -> None:
        self._count_max, self._size_max = share(lane.settings)
        self._count = self._size = 0
        for back in lane.returned.values():
            if back.deferral is not None:
                self.take(lane.intents[back.intent].size())

    def take(self, size: int) -> bool:
        """Whether one of this size fits; the first always does."""
        is_full = self._count >= self._count_max or self._size + size > self._size_max
        if self._count and is_full:
            return False
        self._count += 1
        self._size += size
        return True


def put_off(
    settings: BundleSettings, member: Member, capacity: Capacity, *, now_ms: int, begin_ms: int
) -> Member:
    """What becomes of a transaction that the builder puts off. The next block may be begun at
    `begin_ms`: what comes until then is tried with it, before it is tried alone."""
    known = member.deferral
    since_ms, tries = (now_ms, 0) if known is None else (known.since_ms, known.tries)
    until_ms = since_ms + settings.deferred_ms_max
    if now_ms >= until_ms:
        return refused(member, TOO_LONG.format(seconds=settings.deferred_ms_max / 1_000))
    if not capacity.take(member.size):
        return refused(member, TOO_MANY)
    pause_ms = settings.build_retry_ms << min(tries, RETRY_GROWTH_MAX)
    again_ms = min(begin_ms + pause_ms, until_ms)
    deferral = Deferral(since_ms, tries + 1, again_ms)
    return replace(member, verdict=ExecutionVerdict.DEFERRED, deferral=deferral)


def refused(member: Member, why: str) -> Member:
    """The builder's reason stands first."""
    reason = clip(f"{clip(member.reason, REASON_KEPT_BYTES_MAX)}; {why}")
    return replace(member, verdict=ExecutionVerdict.REFUSED, reason=reason, deferral=None)
