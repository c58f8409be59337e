"""Rollups' log lines, with the words and fields of seed 000.

They tell committed records, never intentions. Transactions of a block are told with their block:
512 lines for what one line says would hide everything else.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from laneway.core.ids import LaneId, is_rollup
from laneway.core.outcome import Outcome
from laneway.core.rows import Result
from laneway.feeds.account_log import AccountLog, Line, mode, refused
from laneway.feeds.bundle_marks import Marks, bundle_id
from laneway.feeds.log import duration
from laneway.lanes.bundle.lane import BundleLane, decode_history
from laneway.lanes.bundle.packages import is_skewed
from laneway.lanes.bundle.rows import Kind, Verdict, Version, Word
from laneway.lanes.bundle.show import picture
from laneway.lanes.bundle.values import (
    BlockDropped,
    BlockSealed,
    BlockUnmade,
    CommandRefused,
    Counted,
    LookEnded,
    ModeChanged,
    SlotChanged,
    SlotClaimed,
    SlotNumbered,
    StatusChanged,
    TellOwed,
    TellsDelayed,
    VersionChanged,
    VersionDiscarded,
    VersionSealed,
    WindowAwaited,
)

log = logging.getLogger("laneway.bundle")

Find: TypeAlias = Callable[[LaneId], BundleLane | None]
"""The lane as it stands in memory, if this process holds it."""


def nowhere(_lane: LaneId) -> BundleLane | None:
    return None


class BundleLog(AccountLog):
    """Of rollups. `find` is set once there is an engine to ask; until then lines say less."""

    def __init__(self, find: Find = nowhere) -> None:
        super().__init__(log, is_rollup, {}, ())
        self.find = find
        self._skewed: dict[LaneId, bool] = {}
        self._blind: dict[LaneId, bool] = {}

    def told(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        if not is_rollup(lane) or not log.isEnabledFor(logging.ERROR):
            return
        held = self.find(lane)
        marks = Marks(records, held)
        for record in records:
            tell = LINES.get(type(record))
            line = None if tell is None else tell(record, marks)
            if line is not None:
                self.write(lane, line)
        for result in results:
            # What was in a block was told with it.
            if log.isEnabledFor(logging.DEBUG if result.history else logging.INFO):
                self.write(lane, self.end(result))
        if held is not None:
            self._summary(lane, held, records)

    def _summary(self, lane: LaneId, held: BundleLane, records: Sequence[Any]) -> None:
        """What follows from the whole lane: the window, the counters, the clock."""
        if any(is_offer(record) for record in records) and log.isEnabledFor(logging.INFO):
            self.write(lane, in_window(held))
        if any(type(record) is Counted for record in records):
            self.write(lane, metrics(held))
        if any(type(record) is LookEnded and record.clock is not None for record in records):
            skewed = is_skewed(held)
            if skewed != self._skewed.get(lane, False):
                self._skewed[lane] = skewed
                self.write(lane, skew(held, skewed))

        if any(type(record) is LookEnded for record in records):
            blind = bool(held.head.look_reason)
            if blind != self._blind.get(lane, False):
                self._blind[lane] = blind
                self.write(lane, sighted(held, blind))

    def closed(self, lane: LaneId) -> None:
        self._skewed.pop(lane, None)
        self._blind.pop(lane, None)

    def end(self, result: Result) -> Line:
        fields: dict[str, object] = {"tx": result.intent, "status": result.status}
        level = logging.INFO
        if result.history:
            level = logging.DEBUG
            finished = decode_history(result.history).finished
            fields |= {"bundleID": bundle_id(finished.slot), "blockNumber": finished.number}
            fields["blockTime"] = duration(result.settled_ms - finished.begun_ms)
        if result.hash is not None:
            fields["hash"] = result.hash.hex()
        if result.reason:
            fields["reason"] = result.reason
        return level, f"Transaction {result.status}", fields


# The lane as a whole.


def is_offer(record: Any) -> bool:
    return type(record) is VersionChanged and record.what == "offered"


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


def package(version: Version, marks: Marks, **more: object) -> dict[str, object]:
    named = block(version.slot, marks, version=version.version)
    return named | {"wpHash": version.package_hash.hex()} | more


def claimed(record: SlotClaimed, marks: Marks) -> Line:
    fields = block(record.slot.id, marks, txCount=len(record.members))
    return logging.DEBUG, "Queue: Block begun", fields | {"returned": record.returned}


def sealed(record: BlockSealed, marks: Marks) -> Line:
    inside = record.slot.count
    fields = block(record.slot.id, marks, txCount=inside, left=len(record.members) - inside)
    return logging.INFO, "Queue: Block executed", fields | {"block": record.slot.block.hex()}


def unmade(record: BlockUnmade, marks: Marks) -> Line:
    fields = block(record.slot, marks, left=len(record.members))
    is_end = any(one.verdict == Verdict.REFUSED for one in record.members)
    level = logging.WARNING if is_end else logging.INFO
    return level, "Queue: Block unmade, nothing would be in it", fields


ORDER = (Word.BUILDING, Word.QUEUED, Word.SUBMITTED, Word.GUARANTEED, Word.ACCUMULATED,
         Word.FINALISED)  # fmt: skip

MARKED = {
    Word.QUEUED: "Queue: Marked queued",
    Word.SUBMITTED: "Queue: Marked submitted",
    Word.GUARANTEED: "Queue: Marked guaranteed (core now free!)",
    Word.ACCUMULATED: "Queue: Marked accumulated (cleanup)",
    Word.FINALISED: "Queue: Marked finalized",
}
"""Where a block came to, in the words of the seed."""


def status(record: StatusChanged, marks: Marks) -> Line:
    fields = block(record.slot, marks)
    if record.version:
        fields["version"] = record.version
    found = marks.package(record.slot, record.version)
    if found is not None:
        fields["wpHash"] = found.hex()
    count = marks.count(record.slot)
    if count is not None:
        fields["txCount"] = count
    if ORDER.index(record.word) > ORDER.index(record.before):
        return logging.INFO, MARKED[record.word], fields
    fields["was"] = record.before
    return logging.WARNING, MARKED.get(record.word, f"Queue: Marked {record.word}"), fields


CHANGES: dict[str, tuple[int, str]] = {
    "delayed": (logging.WARNING, "Queue: Builder could not build it, asked again later"),
    "requeued": (logging.WARNING, "Queue: Timeout detected - will requeue"),
    "won": (logging.INFO, "Queue: First guarantee wins"),
    "undecided": (logging.WARNING, "Queue: Winning version taken back, the place is open again"),
    "overdue": (logging.WARNING, "Queue: Accumulation overdue"),
    "waits": (logging.WARNING, "Queue: Bundle waits"),
    "revived": (logging.WARNING, "Queue: An earlier version may land after all, not requeued"),
    "hopeless": (logging.ERROR, "Queue: No version can be made of this block"),
    "popped": (logging.DEBUG, "Queue Runner: Dequeued"),
    "unpopped": (logging.DEBUG, "Queue Runner: Put back, to be built again"),
    "retried": (logging.DEBUG, "Queue: Builder asked again"),
}
"""What happened to a block beside its status; what is not here is bookkeeping."""


def changed(record: SlotChanged, marks: Marks) -> Line | None:
    found = CHANGES.get(record.what)
    if found is None:
        return None
    slot = record.slot
    fields = block(slot.id, marks, version=slot.winner or slot.version)
    if record.what == "delayed":
        fields["tries"] = slot.tries
    if record.what == "requeued":
        fields |= {"nextVersion": slot.version + 1, "faults": slot.faults}
    if record.what == "overdue":
        fields["overdue"] = slot.overdue
    if slot.wait_reason and record.what != "won":
        fields["reason"] = slot.wait_reason
    return *found, fields


def numbered(record: SlotNumbered, marks: Marks) -> Line:
    fields = block(record.slot, marks)
    return logging.WARNING, "Queue: Block renumbered by the service's record", fields


def dropped(record: BlockDropped, marks: Marks) -> Line:
    fields = block(record.slot, marks, reason=record.reason)
    if record.is_cause:
        return logging.ERROR, "Queue: Max retries exceeded, bundle dropped", fields
    return logging.ERROR, "Queue: Bundle dropped with the one it was built on", fields


# Versions.


def version_sealed(record: VersionSealed, marks: Marks) -> Line:
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


def version_changed(record: VersionChanged, marks: Marks) -> Line | None:
    version = record.version
    match record.what:
        case "offered":
            return offered(version, marks)
        case "answered":
            return answered(version, marks)
        case "seen":
            kinds = ",".join(fact.kind for fact in version.facts)
            return logging.DEBUG, "Queue: Seen on the chain", package(version, marks, facts=kinds)
        case "gone":
            return logging.WARNING, "Queue: A fork took back what was seen", package(version, marks)
        case _:
            return died(version, marks)


def offered(version: Version, marks: Marks) -> Line:
    most = None if marks.lane is None else marks.lane.settings.max_submit_retries
    attempt = str(version.sends) if most is None else f"{version.sends} of {most}"
    fields = package(version, marks, attempt=attempt, core=version.core)
    if version.serial > 1:
        return logging.INFO, "Queue Runner: Fast retry, the same bytes again", fields
    return logging.INFO, "Queue Runner: Submitting bundle", fields


def answered(version: Version, marks: Marks) -> Line:
    said = "; ".join(f"{one.node}: {one.kind} {one.words}".strip() for one in version.answers)
    fields = package(version, marks, answers=said)
    if version.is_refused:
        return logging.WARNING, "Queue Runner: Refused for good by every node", fields
    if any(one.outcome == Outcome.ACCEPTED.value for one in version.answers):
        return logging.DEBUG, "Queue Runner: Taken by a node", fields
    return logging.WARNING, "Queue Runner: Submission failed, tried again", fields


def died(version: Version, marks: Marks) -> Line:
    fact = version.fact(Kind.DEAD)
    fields = package(version, marks, reason="" if fact is None else fact.words)
    if fact is not None and fact.by_prerequisite:
        return logging.WARNING, "Queue: Version dies with the one that it names", fields
    return logging.WARNING, "Queue: Version can land no more", fields


def discarded(record: VersionDiscarded, marks: Marks) -> Line:
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


def counted(record: Counted, marks: Marks) -> Line:
    level, message = COUNTED[record.what]
    fields = block(record.slot, marks, version=record.version, winningVersion=record.winner)
    return level, message, fields


# Callbacks, and what waits.


def owed(record: TellOwed, marks: Marks) -> Line | None:
    tell = record.tell
    found = TOLD.get(tell.word)
    if found is None:
        return None
    fields = block(tell.slot, marks, wpHash=tell.package_hash.hex(), txCount=len(tell.hashes))
    if tell.reason:
        fields["reason"] = tell.reason
    return *found, fields


TOLD = {
    "accumulated": (logging.INFO, "Removing accumulated transactions from txpool"),
    "restored": (logging.WARNING, "Restoring transactions to txpool"),
    "failed": (logging.WARNING, "Returning transactions of a failed bundle to txpool"),
}


def delayed(record: TellsDelayed, _marks: Marks) -> Line:
    fields = {"ear": record.ear, "reason": record.reason}
    return logging.WARNING, "Callback failed, made again", fields


def window(record: WindowAwaited, _marks: Marks) -> Line | None:
    if record.window_ms is None:
        return None
    return logging.DEBUG, "Queue Runner: Held until the next window", {"opensMs": record.window_ms}


def mode_changed(record: ModeChanged, _marks: Marks) -> Line:
    return mode(record)


def command_refused(record: CommandRefused, _marks: Marks) -> Line:
    return refused(record)


LINES: Mapping[type, Callable[[Any, Marks], Line | None]] = {
    SlotClaimed: claimed,
    BlockSealed: sealed,
    BlockUnmade: unmade,
    StatusChanged: status,
    SlotChanged: changed,
    SlotNumbered: numbered,
    BlockDropped: dropped,
    VersionSealed: version_sealed,
    VersionChanged: version_changed,
    VersionDiscarded: discarded,
    Counted: counted,
    TellOwed: owed,
    TellsDelayed: delayed,
    WindowAwaited: window,
    ModeChanged: mode_changed,
    CommandRefused: command_refused,
}
"""Which records have a line. Looks at the chain have none: they come every second."""
