"""Counts the rare states of account lanes, from their records."""

from collections import Counter

from laneway.core.ids import LaneId
from laneway.core.outcome import Status
from laneway.lanes.common.values import CommandRefused
from laneway.lanes.eoa.rows import Purpose, Slot
from laneway.lanes.eoa.tries import PARKED
from laneway.lanes.eoa.values import (
    AttemptReoffered,
    AttemptsTaken,
    BumpOrdered,
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
from laneway.sim.tally import Tally


class EoaTally(Tally):
    """It knows of each slot what it was claimed for, and whether it was to be taken back."""

    named = {  # noqa: RUF012
        AttemptReoffered: "reorg took back included",
        AttemptsTaken: "taken in a row",
        BumpOrdered: lambda one: "cancel over bytes" if one.purpose == Purpose.CANCEL else "bump",
        CommandRefused: lambda one: f"refused:{one.verb}",
        FundsJudged: lambda one: "out of funds" if one.broke else "funds are back",
        HaltJudged: lambda one: "halted with evidence" if one.reason else "halt ended",
        HeadMoved: lambda one: "" if one.fork is None else "fork seen",
        InclusionDenied: "inclusion denied",
        MakingDelayed: lambda one: (
            "parked by cap" if one.reason.startswith(PARKED) else "making delayed"
        ),
        NoncesReset: "reset",
        ResendPlanned: lambda one: "offered again" if one.at_ms is None else "",
        SlotDropped: lambda one: "number freed" if one.recycle else "foreign replaced",
        SlotFellOut: "fell out",
        SlotFreed: lambda one: "number freed" if one.recycle else "foreign replaced",
    }

    def __init__(self, seen: Counter[str]) -> None:
        super().__init__(seen)
        self._slots: dict[tuple[LaneId, int], Slot] = {}
        self._cancelled: set[tuple[LaneId, int]] = set()
        self._freed: set[tuple[LaneId, int]] = set()

    def _states(self, lane: LaneId, record: Record) -> list[str]:
        if isinstance(record, SlotClaimed):
            return self._claimed(lane, record.slot, returned=record.returned)
        if isinstance(record, SlotSettled):
            return self._settled(lane, record.slot, record.status)
        if isinstance(record, SlotFreed | SlotDropped) and record.recycle:
            gone = self._slots.get((lane, record.slot))
            if gone is not None:
                self._freed.add((lane, gone.nonce))
        if isinstance(record, BumpOrdered) and record.purpose == Purpose.CANCEL:
            self._cancelled.add((lane, record.slot))
        return self._by_class(record)

    def _claimed(self, lane: LaneId, slot: Slot, *, returned: bool) -> list[str]:
        self._slots[lane, slot.id] = slot
        states = ["returned intent claimed"] if returned else []
        if (lane, slot.nonce) in self._freed:
            self._freed.discard((lane, slot.nonce))
            states.append("recycled nonce reused")
        elif slot.intent is None:
            states.append("gap filled")
        return states

    def _settled(self, lane: LaneId, number: int, status: str) -> list[str]:
        slot = self._slots.get((lane, number))
        if slot is not None and slot.intent is None:
            return ["no-op filled"]
        if (lane, number) in self._cancelled:
            won = status == Status.CANCELLED.value
            return ["cancel won" if won else "cancel lost"]
        return []
