"""Callbacks: what became of a block is told after the commit, in order, until it was heard.

They are made in their order, some at a time, and may be made twice with the same ids.
"""

from laneway.core.reason import clip
from laneway.lanes.bundle.draft import Draft
from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.limits import TELLS_BATCH_MAX
from laneway.lanes.bundle.rows import Slot, Tell, Version, Word
from laneway.lanes.bundle.standing import word_of
from laneway.lanes.bundle.values import (
    BlockFinalised,
    BlocksTold,
    StatusChanged,
    TellBlocks,
    TellOwed,
    TellsBegun,
    TellsDelayed,
    TellsDone,
)


def owe(draft: Draft, slot: Slot, word: str, reason: str = "") -> None:
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
        package_hash=b"" if version is None else version.brought(),
        block=slot.block,
        post_root=slot.post_root,
        hashes=tuple([member.hash for member in lane.members[slot.id]]),
        at_ms=draft.now_ms,
        reason=clip(reason),
    )
    draft.say(TellOwed(tell))


def tell_words(draft: Draft) -> None:
    """Blocks that are somewhere else than they were told to be; those that are final end here."""
    lane = draft.lane
    touched = [lane.slots[one] for one in draft.touched if one in lane.slots]
    for slot in list(lane.in_order()) if draft.is_wide else touched:
        word = word_of(lane, slot)
        is_done = word in (Word.ACCUMULATED, Word.FINALISED)
        if is_done and slot.overdue_ms is not None:
            slot = draft.change(slot, "accumulated", overdue=0, overdue_ms=None, wait_reason="")
        if word == slot.word:
            continue
        version = slot.winner or slot.version
        draft.say(StatusChanged(slot.id, slot.number, version, slot.word, word))
        if is_done and not slot.told:
            owe(draft, slot, "accumulated")
            draft.change(slot, "told", told=True)
        elif slot.told and not is_done:
            owe(draft, slot, "restored", "the accumulation was on a fork that is gone")
            draft.change(slot, "told", told=False)
        if word == Word.FINALISED:
            owe(draft, slot, "finalised")
            members = draft.lane.members[slot.id]
            draft.say(BlockFinalised(slot.id, slot.winner, draft.now_ms, members))


def judge_told(draft: Draft, event: BlocksTold) -> None:
    if event.last != draft.lane.head.telling or not event.last:
        return
    if event.is_done:
        draft.say(TellsDone(event.last))
    else:
        again_ms = draft.now_ms + draft.lane.settings.tell_retry_ms
        draft.say(TellsDelayed(again_ms, clip(event.reason)))


def tell_next(draft: Draft) -> None:
    """The callbacks that are owed, if none is being made."""
    lane, head = draft.lane, draft.lane.head
    waits = head.tell_ms is not None and head.tell_ms > draft.now_ms
    if head.telling or waits or not lane.tells:
        return
    last = list(lane.tells)[:TELLS_BATCH_MAX][-1]
    draft.say(TellsBegun(last))
    draft.order(tell_blocks(lane))


def tell_blocks(lane: BundleLane) -> TellBlocks:
    return TellBlocks(tuple([one for one in lane.tells.values() if one.id <= lane.head.telling]))
