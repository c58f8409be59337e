"""Rollups' log lines, with the messages and fields of seed 000.

They report committed records, never intentions. Transactions of a block are reported with it:
512 lines for what one line says would hide everything else.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from laneway.core.ids import LaneId
from laneway.core.outcome import Outcome
from laneway.core.rows import Result
from laneway.kinds.common.log import AccountLog, Line, line, mode, refused
from laneway.kinds.contract.log import duration
from laneway.kinds.rollup.marks import Marks, bundle_id
from laneway.lanes.bundle import records as v
from laneway.lanes.bundle.lane import BundleLane, decode_history
from laneway.lanes.bundle.packages import is_skewed
from laneway.lanes.bundle.rows import BlockState, ExecutionVerdict, FactKind, Version
from laneway.lanes.bundle.show import picture
from laneway.lanes.common.values import CommandRefused, ModeChanged

log = logging.getLogger("laneway.bundle")

Find: TypeAlias = Callable[[LaneId], BundleLane | None]
"""The lane as it stands in memory, if this process holds it."""


def nowhere(_lane: LaneId) -> BundleLane | None:
    return None


class BundleLog(AccountLog):
    """The log of rollups. `find` is set once there is an engine to ask; before, lines say less."""

    digits = staticmethod(bytes.hex)

    def __init__(self, find: Find = nowhere) -> None:
        super().__init__(log, "rollup:", {}, ())
        self.find = find
        self._skewed: dict[LaneId, bool] = {}
        self._blind: dict[LaneId, bool] = {}

    def notified(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        if not lane.startswith("rollup:") or not log.isEnabledFor(logging.ERROR):
            return
        held = self.find(lane)
        marks = Marks(records, held)
        for record in records:
            tell = LINES.get(type(record))
            written = None if tell is None else tell(record, marks)
            if written is not None:
                self.write(lane, written)
        for result in results:
            # What was in a block was reported with it.
            if log.isEnabledFor(logging.DEBUG if result.history else logging.INFO):
                self.write(lane, self.end(result))
        if held is not None:
            self._summary(lane, held, records)

    def _summary(self, lane: LaneId, held: BundleLane, records: Sequence[Any]) -> None:
        """What follows from the whole lane: the window, the counters, the clock."""
        kinds = {type(record) for record in records}
        if v.VersionOffered in kinds and log.isEnabledFor(logging.INFO):
            self.write(lane, in_window(held))
        if v.Counted in kinds:
            self.write(lane, metrics(held))
        if any(type(record) is v.LookEnded and record.clock is not None for record in records):
            self._changed(self._skewed, lane, is_skewed(held), skew)
        if v.LookEnded in kinds:
            self._changed(self._blind, lane, bool(held.head.look_reason), sighted)

    def _changed(
        self, known: dict[LaneId, bool], lane: LaneId, is_so: bool, tell: Callable[..., Line]
    ) -> None:
        """Write a line only where something began or ended."""
        if is_so != known.get(lane, False):
            known[lane] = is_so
            self.write(lane, tell(self.find(lane), is_so))

    def closed(self, lane: LaneId) -> None:
        self._skewed.pop(lane, None)
        self._blind.pop(lane, None)

    def past(self, result: Result) -> Mapping[str, object]:
        finished = decode_history(result.history).finished
        took = duration(result.settled_ms - finished.begun_ms)
        fields = {"bundleID": bundle_id(finished.slot), "blockNumber": finished.number}
        return fields | {"blockTime": took}

    def end_level(self, result: Result) -> int:
        return logging.DEBUG if result.history else logging.INFO


# The lane as a whole.


def in_window(lane: BundleLane) -> Line:
    seen = picture(lane)
    fields = {
        "queued": len(seen.queued),
        "submitted": len(seen.submitted),
        "guaranteed": len(seen.guaranteed),
        "canSubmit": str(seen.can_submit).lower(),
    }
    return logging.INFO, "Queue Runner: In submission window", fields


def metrics(lane: BundleLane) -> Line:
    head = lane.head
    fields = {
        "duplicateGuaranteesRejected": head.duplicate_guarantees,
        "duplicateAccumulatesRejected": head.duplicate_accumulates,
        "nonWinningVersionsCanceled": head.versions_cancelled,
        "overruled": head.overruled,
    }
    return logging.INFO, "Queue Metrics", fields


def skew(lane: BundleLane, is_held: bool) -> Line:
    clock = lane.head.clock
    assert clock is not None
    fields = {"skewMs": clock.skew_ms, "skewMsMax": lane.settings.clock_skew_ms_max}
    if is_held:
        return logging.ERROR, "Queue Runner: Clock is off, nothing is built or submitted", fields
    return logging.WARNING, "Queue Runner: Clock is right again", fields


def sighted(lane: BundleLane, is_blind: bool) -> Line:
    if is_blind:
        fields = {"reason": lane.head.look_reason}
        return logging.WARNING, "Queue Runner: Chain cannot be looked at", fields
    return logging.INFO, "Queue Runner: Chain is seen again", {}


# Blocks.


def block(slot: int, marks: Marks, **more: object) -> dict[str, object]:
    return {"bundleID": bundle_id(slot), "blockNumber": marks.number(slot)} | more


def package(version: Version | v.OfVersion, marks: Marks, **more: object) -> dict[str, object]:
    named = block(version.slot, marks, version=version.version)
    return named | {"wpHash": version.package_hash} | more


def claimed(record: v.SlotClaimed, marks: Marks) -> Line:
    fields = block(record.slot.id, marks, txCount=len(record.members))
    return logging.DEBUG, "Queue: Block begun", fields | {"returned": record.returned}


def sealed(record: v.BlockSealed, marks: Marks) -> Line:
    inside = record.slot.count
    fields = block(record.slot.id, marks, txCount=inside, left=len(record.members) - inside)
    return logging.INFO, "Queue: Block executed", fields | {"block": record.slot.block}


def unmade(record: v.BlockUnmade, marks: Marks) -> Line:
    fields = block(record.slot, marks, left=len(record.members))
    is_end = any(one.verdict == ExecutionVerdict.REFUSED for one in record.members)
    level = logging.WARNING if is_end else logging.INFO
    return level, "Queue: Block unmade, nothing would be in it", fields


ORDER = (
    BlockState.BUILDING,
    BlockState.QUEUED,
    BlockState.SUBMITTED,
    BlockState.GUARANTEED,
    BlockState.ACCUMULATED,
    BlockState.FINALISED,
)

MARKED = {
    BlockState.QUEUED: "Queue: Marked queued",
    BlockState.SUBMITTED: "Queue: Marked submitted",
    BlockState.GUARANTEED: "Queue: Marked guaranteed (core now free!)",
    BlockState.ACCUMULATED: "Queue: Marked accumulated (cleanup)",
    BlockState.FINALISED: "Queue: Marked finalized",
}
"""The state of a block, in the words of the seed."""


def status(record: v.StatusChanged, marks: Marks) -> Line:
    fields = block(record.slot, marks)
    if record.version:
        fields["version"] = record.version
    found = marks.package(record.slot, record.version)
    if found is not None:
        fields["wpHash"] = found
    count = marks.count(record.slot)
    if count is not None:
        fields["txCount"] = count
    if ORDER.index(record.word) > ORDER.index(record.before):
        return logging.INFO, MARKED[record.word], fields
    fields["was"] = record.before
    return logging.WARNING, MARKED.get(record.word, f"Queue: Marked {record.word}"), fields


CHANGES: dict[type, tuple[int, str]] = {
    v.BuildDelayed: (logging.WARNING, "Queue: Builder could not build it, asked again later"),
    v.BlockRequeued: (logging.WARNING, "Queue: Timeout detected - will requeue"),
    v.VersionWon: (logging.INFO, "Queue: First guarantee wins"),
    v.WinnerLost: (logging.WARNING, "Queue: Winning version taken back, the place is open again"),
    v.OverdueCounted: (logging.WARNING, "Queue: Accumulation overdue"),
    v.WaitChanged: (logging.WARNING, "Queue: Bundle waits"),
    v.BlockRevived: (logging.WARNING, "Queue: An earlier version may land after all, not requeued"),
    v.BlockHopeless: (logging.ERROR, "Queue: No version can be made of this block"),
    v.VersionOrdered: (logging.DEBUG, "Queue Runner: Dequeued"),
    v.VersionPutBack: (logging.DEBUG, "Queue Runner: Put back, to be built again"),
    v.BuildRetried: (logging.DEBUG, "Queue: Builder asked again"),
    v.StartsCounted: (logging.WARNING, "Queue: Begun before this start and not answered"),
    v.BlockOnLine: (logging.WARNING, "Queue: Block is final by a package not known here"),
}
"""What happened to a block beside its status; what is not here is bookkeeping."""


def changed(record: v.OfSlot, marks: Marks) -> Line | None:
    if isinstance(record, v.WaitChanged) and not record.reason:
        return None
    fields, slot = block(record.slot, marks), marks.slot(record.slot)
    reason = getattr(record, "reason", "" if slot is None else slot.wait_reason)
    if slot is not None:
        fields["version"] = slot.winner or slot.version
    if isinstance(record, v.BuildDelayed):
        fields["tries"] = record.tries
    if isinstance(record, v.StartsCounted):
        fields["starts"] = record.starts
    if isinstance(record, v.BlockRequeued) and slot is not None:
        fields |= {"nextVersion": slot.version + 1, "faults": record.faults}
    if isinstance(record, v.OverdueCounted):
        fields["overdue"] = record.overdue
    if isinstance(record, v.VersionWon):
        fields["version"], reason = record.version, ""
    if reason:
        fields["reason"] = reason
    return *CHANGES[type(record)], fields


def dropped(record: v.BlockDropped, marks: Marks) -> Line:
    fields = block(record.slot, marks, reason=record.reason)
    if record.is_cause:
        return logging.ERROR, "Queue: Max retries exceeded, bundle dropped", fields
    return logging.ERROR, "Queue: Bundle dropped with the one it was built on", fields


def shrunk(record: v.BlockShrunk, marks: Marks) -> Line:
    fields = block(record.slot, marks, txCount=len(record.members), reason=record.reason)
    return logging.WARNING, "Queue: Block cannot be built, begun again with less in it", fields


def line_moved(record: v.LineMoved, _marks: Marks) -> Line:
    fields = {"blockNumber": record.number, "foreign": record.foreign}
    return (
        logging.WARNING,
        "Queue: Others brought blocks of this rollup",
        fields,
    )


# Versions.


def version_sealed(record: v.VersionSealed, marks: Marks) -> Line:
    version = record.version
    message = "Queue: Bundle built" if version.version == 1 else "Queue: Bundle rebuilt"
    fields = package(
        version,
        marks,
        anchorSlot=version.anchor.slot,
        core=version.core,
        prerequisites=",".join(one.hex() for one in version.prerequisites) or "none",
        bytes=version.size,
    )
    return logging.INFO, message, fields


def offered(record: v.VersionOffered, marks: Marks) -> Line:
    most = None if marks.lane is None else marks.lane.settings.max_submit_retries
    attempt = str(record.sends) if most is None else f"{record.sends} of {most}"
    fields = package(record, marks, attempt=attempt, core=record.core)
    if record.serial > 1:
        return logging.INFO, "Queue Runner: Fast retry, the same bytes again", fields
    return logging.INFO, "Queue Runner: Submitting bundle", fields


def answered(record: v.VersionAnswered, marks: Marks) -> Line:
    answers = "; ".join(f"{one.node}: {one.kind} {one.words}".strip() for one in record.answers)
    fields = package(record, marks, answers=answers)
    if record.is_refused:
        return logging.WARNING, "Queue Runner: Refused for good by every node", fields
    if any(one.outcome == Outcome.ACCEPTED.value for one in record.answers):
        return logging.DEBUG, "Queue Runner: Taken by a node", fields
    return logging.WARNING, "Queue Runner: Submission failed, tried again", fields


def seen(record: v.FactsSeen, marks: Marks) -> Line:
    kinds = ",".join(fact.kind for fact in record.facts)
    return logging.DEBUG, "Queue: Seen on the chain", package(record, marks, facts=kinds)


def died(record: v.VersionDied, marks: Marks) -> Line:
    fact = next((one for one in record.facts if one.kind == FactKind.DEAD), None)
    fields = package(record, marks, reason="" if fact is None else fact.words)
    if fact is not None and fact.by_prerequisite:
        return logging.WARNING, "Queue: Version dies with the one that it names", fields
    return logging.WARNING, "Queue: Version can land no more", fields


def discarded(record: v.VersionDiscarded, marks: Marks) -> Line:
    fields = block(record.slot, marks, version=record.version, reason=record.reason)
    if "anchor" in record.reason:
        return logging.WARNING, "Queue Runner: Bundle anchor getting stale, will rebuild", fields
    return logging.INFO, "Queue Runner: Version thrown away before anyone heard of it", fields


COUNTED = {
    "duplicate_guarantee": (logging.WARNING, "Rejecting guarantee for non-winning version"),
    "duplicate_accumulate": (logging.WARNING, "Rejecting accumulation for non-winning version"),
    "version_cancelled": (logging.INFO, "Canceling non-winning version"),
    "overruled": (logging.WARNING, "The service took another version than the winning one"),
}


def counted(record: v.Counted, marks: Marks) -> Line:
    level, message = COUNTED[record.what]
    fields = block(record.slot, marks, version=record.version, winningVersion=record.winner)
    return level, message, fields


# Callbacks, and what waits.


def owed(record: v.TellOwed, marks: Marks) -> Line | None:
    tell = record.tell
    found = TOLD.get(tell.word)
    if found is None:
        return None
    fields = block(tell.slot, marks, wpHash=tell.package_hash, txCount=len(tell.hashes))
    if tell.reason:
        fields["reason"] = tell.reason
    return *found, fields


TOLD = {
    "accumulated": (logging.INFO, "Removing accumulated transactions from txpool"),
    "restored": (logging.WARNING, "Restoring transactions to txpool"),
    "failed": (logging.WARNING, "Returning transactions of a failed bundle to txpool"),
}


delayed = line(logging.WARNING, "Callback failed, made again", ear="ear", reason="reason")


def window(record: v.WindowAwaited, _marks: Marks) -> Line | None:
    if record.window_ms is None:
        return None
    return logging.DEBUG, "Queue Runner: Held until the next window", {"opensMs": record.window_ms}


SET_BACK = logging.WARNING, "Queue Runner: Clock was set back, nothing waits for the time it showed"
RENUMBERED = (logging.WARNING, "Queue: Block renumbered by the service's record")
TAKEN_BACK = (logging.WARNING, "Queue: A fork took back what was seen")
LINES: Mapping[type, Callable[[Any, Marks], Line | None]] = {
    v.SlotClaimed: claimed,
    v.BlockSealed: sealed,
    v.BlockUnmade: unmade,
    v.StatusChanged: status,
    **dict.fromkeys(CHANGES, changed),
    v.SlotNumbered: lambda record, marks: (*RENUMBERED, block(record.slot, marks)),
    v.ClockSetBack: lambda _record, _marks: (*SET_BACK, {}),
    v.BlockDropped: dropped,
    v.BlockShrunk: shrunk,
    v.LineMoved: line_moved,
    v.VersionSealed: version_sealed,
    v.VersionOffered: offered,
    v.VersionAnswered: answered,
    v.FactsSeen: seen,
    v.FactsTakenBack: lambda record, marks: (*TAKEN_BACK, package(record, marks)),
    v.VersionDied: died,
    v.VersionDiscarded: discarded,
    v.Counted: counted,
    v.TellOwed: owed,
    v.TellsDelayed: lambda record, _marks: delayed(record),
    v.WindowAwaited: window,
    ModeChanged: lambda record, _marks: mode(record),
    CommandRefused: lambda record, _marks: refused(record),
}
"""Which records have a line. Looks at the chain have none: they come every second."""
