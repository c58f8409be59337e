"""Counts the rare states of rollup lanes, from the records that they tell."""

from collections import Counter
from collections.abc import Sequence

from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.packages import is_skewed
from laneway.lanes.bundle.rows import Kind, Version
from laneway.lanes.bundle.values import (
    BlockDropped,
    BlockFinalised,
    BlockUnmade,
    CommandRefused,
    Counted,
    LookEnded,
    ModeChanged,
    Record,
    SlotChanged,
    SlotClaimed,
    SlotNumbered,
    TellOwed,
    TellsDelayed,
    VersionChanged,
    VersionDiscarded,
    VersionSealed,
    WindowAwaited,
)


class Tally:
    """It is asked before the records are folded, so it knows how things stood."""

    def __init__(self, seen: Counter[str]) -> None:
        self._seen = seen

    def count(self, lane: BundleLane, records: Sequence[Record]) -> None:
        for record in records:
            for word in self._words(lane, record):
                self._seen[word] += 1

    def _words(self, lane: BundleLane, record: Record) -> list[str]:
        if isinstance(record, VersionSealed):
            version = record.version.version
            return [f"v{version} built"] if version > 1 else []
        if isinstance(record, VersionChanged):
            return self._changed(lane, record)
        if isinstance(record, SlotChanged):
            return self._moved(lane, record)
        if isinstance(record, Counted):
            return [record.what]
        if isinstance(record, BlockFinalised):
            return self._finalised(lane, record)
        if isinstance(record, BlockDropped):
            return ["block dropped" if record.is_cause else "cascade"]
        return self._others(lane, record)

    def _others(self, lane: BundleLane, record: Record) -> list[str]:
        if isinstance(record, TellOwed):
            return ["restored"] if record.tell.word == "restored" else []
        if isinstance(record, VersionDiscarded):
            return [f"discarded: {record.reason}"]
        if isinstance(record, SlotNumbered):
            return ["renumbered"]
        if isinstance(record, BlockUnmade):
            return ["block unmade"]
        if isinstance(record, SlotClaimed):
            return ["returned transactions in a block"] if record.returned else []
        if isinstance(record, WindowAwaited):
            return [] if record.window_ms is None else ["window closed"]
        if isinstance(record, LookEnded):
            skewed = record.clock is not None and not is_skewed(lane) and self._is_off(lane, record)
            return ["clock skewed"] if skewed else []
        if isinstance(record, TellsDelayed):
            return ["callbacks delayed"]
        if isinstance(record, ModeChanged):
            return [f"mode:{record.mode}"]
        if isinstance(record, CommandRefused):
            return [f"refused:{record.verb}"]
        return []

    def _is_off(self, lane: BundleLane, record: LookEnded) -> bool:
        clock = record.clock
        if clock is None or clock.skew_ms is None:
            return False
        return abs(clock.skew_ms) > lane.settings.clock_skew_ms_max

    def _changed(self, lane: BundleLane, record: VersionChanged) -> list[str]:
        version, words = record.version, []
        before = lane.version(version.slot, version.version)
        if record.what == "offered" and version.serial > 1:
            words.append("same bytes resubmitted")
            if before is not None and before.sends == 0:
                words.append("resubmitted on another fork")
        if record.what == "answered" and version.is_refused:
            words.append("refused by all")
        if record.what == "dead" and not version.is_refused:
            dead = version.fact(Kind.DEAD)
            if dead is not None:
                cause = "prerequisite" if dead.by_prerequisite else dead.words.partition(":")[0]
                words.append(f"dead: {cause}")
        if before is not None and record.what == "gone":
            words += self._taken_back(before, version)
        held = version.fact(Kind.ACCUMULATED)
        if record.what == "seen" and held is not None and held.number is None:
            words.append("held by the service")
        return words

    def _taken_back(self, before: Version, version: Version) -> list[str]:
        kinds = [one.kind for one in before.facts if one not in version.facts]
        return [f"reorg took back {kind}" for kind in kinds if kind != Kind.REPORTABLE]

    def _moved(self, lane: BundleLane, record: SlotChanged) -> list[str]:
        slot = record.slot
        known = lane.slots.get(slot.id)
        if record.what == "won":
            wins = f"v{min(slot.winner, 2)} wins"
            sent = [one for one in lane.of(slot.id) if one.is_sent() and one.version > slot.winner]
            return [wins, "an old version wins"] if sent else [wins]
        if record.what == "undecided" and known is not None and known.winner:
            return ["undecided"]
        return [record.what]

    def _finalised(self, lane: BundleLane, record: BlockFinalised) -> list[str]:
        versions = [one for one in lane.of(record.slot) if one.is_sent()]
        words = ["finalised"]
        if len(versions) > 1:
            words.append("v1 final beside v2" if record.version == 1 else "v2 final")
        return words
