"""Callbacks: what became of a block is notified after the commit, in order, until that succeeded.

They are made in their order, some at a time, and may be made twice with the same ids. The builder
is notified first and waits for nobody, or a user who does not answer would keep it from building;
the user is notified of what the builder knows.
"""

from laneway.core.reason import clip
from laneway.lanes.bundle import records as r
from laneway.lanes.bundle.draft import DecisionDraft
from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.limits import RETRY_GROWTH_MAX, TELLS_BATCH_MAX, UNNAMED_SLOTS_MAX
from laneway.lanes.bundle.rows import BlockState, Ear, Slot, Tell, Version
from laneway.lanes.bundle.standing import is_leant_on, status_of
from laneway.lanes.bundle.values import BlocksNotified, NotifyBuilder, NotifyUser

TAKEN_BACK = "the accumulation was on a fork that is gone"
UNGUARANTEED = "its guarantee came to nothing, or was on a fork that is gone"
UNNAMED = "final by a package not known here, which the service's record is to name"
ON_THE_WAY = (BlockState.SUBMITTED, BlockState.GUARANTEED)
"""Statuses that are notified whenever a block comes to them, also from a later one."""


def owe(draft: DecisionDraft, slot: Slot, word: str, reason: str = "") -> None:
    """Also for a block without a version, and whatever it holds: its snapshot has to go too."""
    lane = draft.lane
    number = slot.winner or slot.version
    version: Version | None = lane.version(slot.id, number)
    tell = Tell(
        id=lane.head.tell_next,
        word=word,
        slot=slot.id,
        number=slot.number,
        version=number,
        package_hash=brought(slot, version),
        block=slot.block,
        post_root=slot.post_root,
        hashes=tuple([member.hash for member in lane.members[slot.id]]),
        at_ms=draft.now_ms,
        reason=clip(reason),
    )
    draft.say(r.TellOwed(tell))


def brought(slot: Slot, version: Version | None) -> bytes:
    """The package that brought a block, by the service's record or else by what is known of its
    version; empty: none that this lane knows of."""
    if slot.line is not None:
        return slot.line.package_hash
    return b"" if version is None else version.brought()


def tell_statuses(draft: DecisionDraft) -> None:
    """Notifications of blocks whose status changed; those that are final end here."""
    lane = draft.lane
    touched = [lane.slots[one] for one in draft.touched if one in lane.slots]
    for slot in list(lane.in_order()) if draft.is_wide else touched:
        word = status_of(lane, slot)
        is_done = word in (BlockState.ACCUMULATED, BlockState.FINALISED)
        if is_done and slot.overdue_ms is not None:
            slot = draft.change(r.OverdueEnded(slot.id))
        if word == BlockState.FINALISED and (is_leant_on(lane, slot) or is_unnamed(draft, slot)):
            word, slot = BlockState.ACCUMULATED, lane.slots[slot.id]
        if word == slot.word:
            continue
        version = slot.winner or slot.version
        draft.say(r.StatusChanged(slot.id, slot.number, version, slot.word, word, slot.count))
        if is_done and not slot.told:
            owe(draft, slot, "accumulated")
            draft.change(r.AccumulationNotified(slot.id, True))
        elif slot.told and not is_done:
            owe(draft, slot, "restored", TAKEN_BACK)
            overdue_ms = draft.now_ms + lane.settings.accumulate_timeout_ms
            waits = word == BlockState.GUARANTEED
            draft.change(r.AccumulationNotified(slot.id, False, overdue_ms if waits else None))
        if word in ON_THE_WAY:
            is_back = slot.word == BlockState.GUARANTEED
            owe(draft, slot, word, UNGUARANTEED if is_back else "")
        if word == BlockState.FINALISED:
            owe(draft, slot, "finalised")
            members = draft.lane.members[slot.id]
            draft.say(r.BlockFinalised(slot.id, slot.winner, draft.now_ms, members))


def is_unnamed(draft: DecisionDraft, slot: Slot) -> bool:
    """Whether a final block has yet to be named the package that brought it: its receipts would
    never have that. A look that is whole reads it from the service's record; where no node shows
    it the block waits for a while only."""
    lane = draft.lane
    finalised, version = lane.head.finalised, lane.version(slot.id, slot.winner)
    if finalised is None or not lane.settings.keeps_records or brought(slot, version):
        return False
    if slot.unnamed_slot is None:
        draft.change(r.PackageAwaited(slot.id, finalised.slot, UNNAMED))
        return True
    return finalised.slot < slot.unnamed_slot + UNNAMED_SLOTS_MAX


def judge_notified(draft: DecisionDraft, event: BlocksNotified) -> None:
    head, settings = draft.lane.head, draft.lane.settings
    is_builder = event.ear == Ear.BUILDER
    if event.last != (head.hearing if is_builder else head.telling) or not event.last:
        return
    if event.is_done:
        draft.say(r.TellsDone(event.last, event.ear))
        return
    tries = head.hear_tries if is_builder else head.tell_tries
    again_ms = draft.now_ms + (settings.tell_retry_ms << min(tries, RETRY_GROWTH_MAX))
    draft.say(r.TellsDelayed(again_ms, clip(event.reason), event.ear))


def tell_next(draft: DecisionDraft) -> None:
    """The callbacks that are owed, if none is being made. Their ids have no gap."""
    lane, head = draft.lane, draft.lane.head
    if not lane.tells:
        return
    first, newest = next(iter(lane.tells)), head.tell_next - 1
    heard = max(first - 1, head.heard)
    if not head.hearing and (head.hear_ms or 0) <= draft.now_ms and heard < newest:
        draft.say(r.TellsBegun(min(newest, heard + TELLS_BATCH_MAX), Ear.BUILDER))
        draft.order(notify_builder_of(lane))
    if not head.telling and (head.tell_ms or 0) <= draft.now_ms and first <= head.heard:
        draft.say(r.TellsBegun(min(head.heard, first - 1 + TELLS_BATCH_MAX)))
        draft.order(notify_user_of(lane))


def notify_builder_of(lane: BundleLane) -> NotifyBuilder:
    heard, last = lane.head.heard, lane.head.hearing
    return NotifyBuilder(tuple([one for one in lane.tells.values() if heard < one.id <= last]))


def notify_user_of(lane: BundleLane) -> NotifyUser:
    return NotifyUser(tuple([one for one in lane.tells.values() if one.id <= lane.head.telling]))
