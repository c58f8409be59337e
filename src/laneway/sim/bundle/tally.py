"""Counts the rare states of rollup lanes, from their records."""

from typing import assert_never

from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.packages import is_skewed
from laneway.lanes.bundle.records import (
    AccumulationNotified,
    BlockDropped,
    BlockFinalised,
    BlockHopeless,
    BlockOnLine,
    BlockRequeued,
    BlockRevived,
    BlockShrunk,
    BlockUnmade,
    BuildDelayed,
    BuildRetried,
    ClockSetBack,
    Counted,
    FactsSeen,
    FactsTakenBack,
    LineMoved,
    LookEnded,
    NumberConfirmed,
    OfSlot,
    OfVersion,
    OverdueCounted,
    OverdueEnded,
    PackageAwaited,
    Record,
    SlotClaimed,
    SlotNumbered,
    StartsCounted,
    TellOwed,
    TellsDelayed,
    VersionAnswered,
    VersionDied,
    VersionDiscarded,
    VersionOffered,
    VersionOrdered,
    VersionPutBack,
    VersionSealed,
    VersionWon,
    WaitChanged,
    WindowAwaited,
    WinnerLost,
)
from laneway.lanes.bundle.rows import Fact, FactKind
from laneway.lanes.common.values import CommandRefused, ModeChanged
from laneway.sim.tally import Tally


class BundleTally(Tally):
    """It counts before the records are folded, so it knows how things stood."""

    named = {  # noqa: RUF012
        AccumulationNotified: "told",
        BlockDropped: lambda one: "block dropped" if one.is_cause else "cascade",
        BlockHopeless: "hopeless",
        BlockOnLine: "recognised by the line",
        BlockRequeued: "requeued",
        BlockRevived: "revived",
        BlockShrunk: "block shrunk",
        BlockUnmade: "block unmade",
        BuildDelayed: "delayed",
        BuildRetried: "retried",
        StartsCounted: "found begun",
        ClockSetBack: "clock set back",
        CommandRefused: lambda one: f"refused:{one.verb}",
        Counted: lambda one: one.what,
        LineMoved: lambda one: "line moved by others" if one.foreign else "line was shorter",
        ModeChanged: lambda one: f"mode:{one.mode}",
        NumberConfirmed: "canonical",
        OverdueCounted: "overdue",
        OverdueEnded: "accumulated",
        PackageAwaited: "package awaited",
        SlotClaimed: lambda one: "returned transactions in a block" if one.returned else "",
        SlotNumbered: "renumbered",
        TellOwed: lambda one: "restored" if one.tell.word == "restored" else "",
        TellsDelayed: "callbacks delayed",
        VersionDiscarded: lambda one: f"discarded: {one.reason}",
        VersionOrdered: "popped",
        VersionPutBack: "unpopped",
        VersionSealed: lambda one: (
            f"v{one.version.version} built" if one.version.version > 1 else ""
        ),
        WaitChanged: lambda one: "waits" if one.reason else "reopened",
        WindowAwaited: lambda one: "" if one.window_ms is None else "window closed",
        WinnerLost: "undecided",
    }

    def _states(self, lane: BundleLane, record: Record) -> list[str]:
        if isinstance(record, OfVersion):
            return self._changed(lane, record)
        if isinstance(record, VersionWon):
            return self._won(lane, record)
        if isinstance(record, BlockFinalised):
            return self._finalised(lane, record)
        if isinstance(record, LookEnded):
            is_new = not is_skewed(lane) and self._is_off(lane, record)
            return ["clock skewed"] if is_new else []
        assert type(record) in self.named or not isinstance(record, OfSlot)
        return self._by_class(record)

    def _is_off(self, lane: BundleLane, record: LookEnded) -> bool:
        clock = record.clock
        if clock is None or clock.skew_ms is None:
            return False
        return abs(clock.skew_ms) > lane.settings.clock_skew_ms_max

    def _changed(self, lane: BundleLane, record: OfVersion) -> list[str]:
        before = lane.version(record.slot, record.version)
        known = () if before is None else before.facts
        match record:
            case VersionOffered(serial=serial):
                is_elsewhere = serial > 1 and before is not None and before.sends == 0
                again = ["same bytes resubmitted"] if serial > 1 else []
                return [*again, "resubmitted on another fork"] if is_elsewhere else again
            case VersionAnswered(is_refused=is_refused):
                return ["refused by all"] if is_refused else []
            case VersionDied(facts=facts):
                is_refused = before is not None and before.is_refused
                dead = [one for one in facts if one.kind == FactKind.DEAD and not is_refused]
                return [f"dead: {cause_of(one)}" for one in dead]
            case FactsTakenBack(facts=facts):
                kinds = [one.kind for one in known if one not in facts]
                return [f"reorg took back {kind}" for kind in kinds if kind != FactKind.REPORTABLE]
            case FactsSeen(facts=facts):
                held = [one for one in facts if one.kind == FactKind.ACCUMULATED]
                return ["held by the service" for one in held if one.number is None]
            case _:
                assert_never(record)

    def _won(self, lane: BundleLane, record: VersionWon) -> list[str]:
        wins = f"v{min(record.version, 2)} wins"
        versions = lane.of(record.slot)
        sent = [one for one in versions if one.is_sent() and one.version > record.version]
        return [wins, "an old version wins"] if sent else [wins]

    def _finalised(self, lane: BundleLane, record: BlockFinalised) -> list[str]:
        versions = [one for one in lane.of(record.slot) if one.is_sent()]
        states = ["finalised"]
        if len(versions) > 1:
            states.append("v1 final beside v2" if record.version == 1 else "v2 final")
        return states


def cause_of(dead: Fact) -> str:
    return "prerequisite" if dead.by_prerequisite else dead.words.partition(":")[0]
