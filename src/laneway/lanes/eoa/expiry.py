"""What becomes of intents that are valid no longer before any of their bytes were offered."""

from laneway.core.outcome import Status
from laneway.lanes.common.commands import expiry_of
from laneway.lanes.eoa.answers import dropped, fall_out
from laneway.lanes.eoa.lane import EoaLane
from laneway.lanes.eoa.rows import Purpose, Slot
from laneway.lanes.eoa.tries import Decision, decided
from laneway.lanes.eoa.values import Record, SlotFellOut

LATE = "it was valid no longer before any of its bytes were offered"


def expire(lane: EoaLane, now_ms: int) -> Decision:
    """End what may not be offered any more, and never was.

    A number from which on nothing was offered falls out, and those above it move down; one below
    others that were offered is free, and filled. Whatever is left is still due.
    """
    late = [intent for intent, until_ms in lane.dated.items() if until_ms < now_ms]
    bound = [slot for intent in late if (slot := lane.slot_of(intent)) is not None]
    held_back = [slot for slot in bound if slot.nonce >= lane.head.offered_next]
    if held_back:
        return let_fall(lane, sorted(held_back, key=lambda slot: -slot.nonce), now_ms)
    records: list[Record] = [
        dropped(lane, slot, status(slot), LATE, now_ms, recycle=slot.nonce >= lane.head.latest)
        for slot in bound
    ]
    waiting = [lane.intents[intent] for intent in late if intent in lane.returned]
    return decided([*records, *(expiry_of(intent, now_ms) for intent in waiting)])


def let_fall(lane: EoaLane, late: list[Slot], now_ms: int) -> Decision:
    """From the top: as long as nothing stands above a number, nothing has to be made anew. Else
    the highest alone, for those above it are renumbered."""
    assert lane.head.nonce_next is not None
    records: list[Record] = []
    for slot in late:
        if slot.nonce + 1 + len(records) < lane.head.nonce_next:
            break
        records.append(SlotFellOut(slot.id, status(slot), LATE, now_ms, slot.intent))
    if records:
        return decided(records)
    return fall_out(lane, late[0], LATE, now_ms, [], status=status(late[0]))


def status(slot: Slot) -> str:
    """One that was to be taken back has been."""
    ended = Status.CANCELLED if slot.purpose == Purpose.CANCEL else Status.EXPIRED
    return ended.value
