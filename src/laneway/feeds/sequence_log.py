"""Cosmos accounts' log lines: one for each thing that happened, in the manner of the contract
queue."""

import logging
from collections.abc import Sequence
from typing import Any

from laneway.core.ids import LaneId, is_cosmos
from laneway.core.rows import Result
from laneway.feeds.account_log import AccountLog, Line, mode, refused
from laneway.feeds.log import duration
from laneway.feeds.recoveries import Recoveries, what_next
from laneway.feeds.sequence_events import digits
from laneway.lanes.sequence.lane import decode_history
from laneway.lanes.sequence.rows import Node
from laneway.lanes.sequence.values import (
    AccountMissing,
    AttemptSigned,
    CommandRefused,
    LaneHalted,
    ModeChanged,
    SequenceSet,
    SlotChanged,
    SlotCorrected,
    SlotFellOut,
    SlotsRenumbered,
)

log = logging.getLogger("laneway.sequence")


class SequenceLog(AccountLog):
    """Of Cosmos accounts."""

    def __init__(self) -> None:
        super().__init__(log, is_cosmos, LINES, QUIET)
        self._recoveries = Recoveries()

    def told(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        if not is_cosmos(lane):
            return
        for node, begins in self._recoveries.heard(lane, records):
            self.write(lane, entered(node) if begins else left(node))
        super().told(lane, records, results)

    def closed(self, lane: LaneId) -> None:
        self._recoveries.forget(lane)

    def end(self, result: Result) -> Line:
        fields: dict[str, object] = {"tx": result.intent, "status": result.status}
        if result.history:
            history = decode_history(result.history)
            slot, seen = history.slot, history.seen
            fields |= {"sequence": slot.sequence, "attempts": len(slot.past) + 1}
            since_ms = slot.accepted_ms or slot.claimed_ms
            fields["totalTime"] = duration(result.settled_ms - since_ms)
            if seen is not None:
                fields |= {"height": seen.height, "code": seen.code, "gasUsed": seen.gas_used}
        if result.hash is not None:
            fields["hash"] = digits(result.hash)
        if result.reason:
            fields["reason"] = result.reason
        level = logging.ERROR if result.status == "indeterminate" else logging.INFO
        return level, f"Transaction {result.status}", fields


def entered(node: Node) -> Line:
    """Recovery mode, and what becomes of it."""
    fields: dict[str, object] = {"node": node.name, "reason": node.reason}
    if node.ours is not None:
        fields |= {"expected": node.expected, "ours": node.ours}
    fields |= {"next": node.next, "height": node.height, "then": what_next(node)}
    return logging.WARNING, "Recovery entered", fields


def left(node: Node) -> Line:
    return logging.WARNING, "Recovery left", {"node": node.name, "reason": node.reason}


def signed(record: AttemptSigned) -> Line:
    slot, attempt = record.slot, record.slot.attempt
    assert attempt is not None
    return (
        logging.INFO,
        "Attempt signed",
        {
            "tx": slot.intent,
            "sequence": slot.sequence,
            "attempt": attempt.number,
            "purpose": attempt.purpose,
            "hash": digits(attempt.hash),
            "gas": attempt.gas,
            "fee": attempt.fee,
            "timeoutHeight": attempt.timeout_height,
        },
    )


CHANGES = {
    "delayed": "Attempt put off",
    "refused": "Attempt refused by a node",
    "dead": "Attempt can land no more, made again",
    "proving": "Sequence used, asked by whom",
    "doubted": "Sequence used, nobody shows by whom",
}
"""What happened to a slot; that a node took its bytes is told by its own record."""


def changed(record: SlotChanged) -> Line:
    slot, attempt = record.slot, record.slot.attempt
    reason = slot.wait_reason if attempt is None else attempt.word
    level = logging.WARNING if record.what in CHANGES else logging.DEBUG
    message = CHANGES.get(record.what, f"Attempt {record.what}")
    return level, message, {"tx": slot.intent, "sequence": slot.sequence, "reason": reason}


def fell_out(record: SlotFellOut) -> Line:
    fields = {"tx": record.intent, "reason": record.reason}
    return logging.WARNING, "Sequence given up, those above it move down", fields


def renumbered(record: SlotsRenumbered) -> Line:
    fields = {"sequence": record.start, "reason": record.reason}
    return logging.WARNING, "All move to the next sequences", fields


def corrected(record: SlotCorrected) -> Line:
    if record.seen is None:
        fields: dict[str, object] = {"tx": record.intent}
        return logging.WARNING, "Indeterminate transaction looked for no longer", fields
    fields = {"tx": record.intent, "height": record.seen.height, "hash": digits(record.seen.hash)}
    return logging.WARNING, "Indeterminate transaction found in a block", fields


def missing(_record: AccountMissing) -> Line:
    return logging.WARNING, "Account does not exist yet", {}


def halted(record: LaneHalted) -> Line:
    return logging.ERROR, "Lane halted", {"reason": record.reason}


def sequence_set(record: SequenceSet) -> Line:
    fields = {"sequenceNext": record.sequence_next, "by": record.by, "reason": record.reason}
    return logging.WARNING, "Sequence set", fields


LINES: dict[type, Any] = {
    AttemptSigned: signed,
    SlotChanged: changed,
    SlotFellOut: fell_out,
    SlotsRenumbered: renumbered,
    SlotCorrected: corrected,
    AccountMissing: missing,
    LaneHalted: halted,
    SequenceSet: sequence_set,
    ModeChanged: mode,
    CommandRefused: refused,
}

QUIET = frozenset((AttemptSigned,))
