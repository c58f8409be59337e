"""Counts the rare states of account lanes, from the records that they tell."""

from collections import Counter
from collections.abc import Sequence
from typing import assert_never

from laneway.core.ids import LaneId
from laneway.core.outcome import Status
from laneway.lanes.eoa.rows import Purpose, Slot
from laneway.lanes.eoa.tries import PARKED
from laneway.lanes.eoa.values import (
    AttemptReoffered,
    AttemptsTaken,
    BumpOrdered,
    CommandRefused,
    FundsJudged,
    HaltJudged,
    HeadMoved,
    InclusionDenied,
    MakingDelayed,
    NoncesReset,
    Record,
    ResendPlanned,
    SlotClaimed,
    SlotDropped,
    SlotFellOut,
    SlotFreed,
    SlotSettled,
)

COUNTED = (
    AttemptReoffered,
    AttemptsTaken,
    BumpOrdered,
    CommandRefused,
    FundsJudged,
    HaltJudged,
    HeadMoved,
    InclusionDenied,
    MakingDelayed,
    NoncesReset,
    ResendPlanned,
    SlotClaimed,
    SlotDropped,
    SlotFellOut,
    SlotFreed,
    SlotSettled,
)


class Tally:
    """It knows of each slot what it was claimed for, and whether it was to be taken back."""

    def __init__(self, seen: Counter[str]) -> None:
        self._seen = seen
        self._slots: dict[tuple[LaneId, int], Slot] = {}
        self._cancelled: set[tuple[LaneId, int]] = set()
        self._freed: set[tuple[LaneId, int]] = set()

    def count(self, lane: LaneId, records: Sequence[Record]) -> None:
        for record in records:
            for word in self._words(lane, record):
                self._seen[word] += 1

    def _words(self, lane: LaneId, record: Record) -> list[str]:
        if not isinstance(record, COUNTED):
            return []
        match record:
            case SlotClaimed(slot=slot, returned=returned):
                return self._claimed(lane, slot, returned=returned)
            case (
                SlotFreed(slot=number, recycle=recycle) | SlotDropped(slot=number, recycle=recycle)
            ):
                gone = self._slots.get((lane, number))
                if gone is not None and recycle:
                    self._freed.add((lane, gone.nonce))
                return ["number freed" if recycle else "foreign replaced"]
            case SlotSettled(slot=number, status=status):
                return self._settled(lane, number, status)
            case BumpOrdered(slot=number, purpose=purpose):
                if purpose != Purpose.CANCEL:
                    return ["bump"]
                self._cancelled.add((lane, number))
                return ["cancel over bytes"]
            case MakingDelayed(reason=reason):
                return ["parked by cap" if reason.startswith(PARKED) else "making delayed"]
            case FundsJudged(broke=broke):
                return ["out of funds" if broke else "funds are back"]
            case HaltJudged(reason=reason):
                return ["halted with evidence" if reason else "halt ended"]
            case InclusionDenied():
                return ["inclusion denied"]
            case HeadMoved(fork=fork):
                return [] if fork is None else ["fork seen"]
            case AttemptReoffered():
                return ["reorg took back included"]
            case ResendPlanned(at_ms=at_ms):
                return ["offered again"] if at_ms is None else []
            case NoncesReset():
                return ["reset"]
            case SlotFellOut():
                return ["fell out"]
            case AttemptsTaken():
                return ["taken in a row"]
            case CommandRefused(verb=verb):
                return [f"refused:{verb}"]
            case _:
                assert_never(record)

    def _claimed(self, lane: LaneId, slot: Slot, *, returned: bool) -> list[str]:
        self._slots[lane, slot.id] = slot
        words = ["returned intent claimed"] if returned else []
        if (lane, slot.nonce) in self._freed:
            self._freed.discard((lane, slot.nonce))
            words.append("recycled nonce reused")
        elif slot.intent is None:
            words.append("gap filled")
        return words

    def _settled(self, lane: LaneId, number: int, status: str) -> list[str]:
        slot = self._slots.get((lane, number))
        if slot is not None and slot.intent is None:
            return ["no-op filled"]
        if (lane, number) in self._cancelled:
            won = status == Status.CANCELLED.value
            return ["cancel won" if won else "cancel lost"]
        return []
