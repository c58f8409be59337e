"""Cosmos accounts' log lines: one for each thing that happened, in the manner of the contract
queue."""

import logging
from collections.abc import Mapping
from typing import Any

from laneway.core.rows import Result
from laneway.kinds.common.log import AccountLog, Line, line, mode, refused
from laneway.kinds.contract.log import duration
from laneway.kinds.cosmos.events import digits
from laneway.lanes.common.values import CommandRefused, ModeChanged
from laneway.lanes.sequence import values as v
from laneway.lanes.sequence.lane import decode_history

log = logging.getLogger("laneway.sequence")


class SequenceLog(AccountLog):
    """The log of Cosmos accounts."""

    digits = staticmethod(digits)

    def __init__(self) -> None:
        super().__init__(log, "cosmos:", LINES, QUIET)

    def past(self, result: Result) -> Mapping[str, object]:
        history = decode_history(result.history)
        slot, seen = history.slot, history.seen
        total = duration(result.settled_ms - (slot.accepted_ms or slot.claimed_ms))
        fields = {"sequence": slot.sequence, "attempts": len(slot.past) + 1, "totalTime": total}
        if seen is None:
            return fields
        return fields | {"height": seen.height, "code": seen.code, "gasUsed": seen.gas_used}

    def end_level(self, result: Result) -> int:
        return logging.ERROR if result.status == "indeterminate" else logging.INFO


def entered(record: v.RecoveryBegan) -> Line:
    """Recovery mode, and what becomes of it."""
    fields: dict[str, object] = {"node": record.node, "reason": record.reason}
    if record.ours is not None:
        fields |= {"expected": record.expected, "ours": record.ours}
    fields |= {"next": record.next, "height": record.height, "then": record.then}
    return logging.WARNING, "Recovery entered", fields


CHANGES: dict[type, tuple[int, str]] = {
    v.AttemptDelayed: (logging.WARNING, "Attempt put off"),
    v.AttemptRefused: (logging.WARNING, "Attempt refused by a node"),
    v.AttemptEnded: (logging.WARNING, "Attempt can land no more, made again"),
    v.ProofOrdered: (logging.WARNING, "Sequence used, asked by whom"),
    v.ProofFailed: (logging.WARNING, "Sequence used, nobody shows by whom"),
    v.AttemptTaken: (logging.DEBUG, "Attempt taken"),
    v.RefusalDoubted: (logging.DEBUG, "Attempt unsure"),
    v.PastProven: (logging.DEBUG, "Attempt over"),
    v.InclusionShown: (logging.DEBUG, "Attempt shown"),
}
"""What happened to a slot."""


def corrected(record: v.SlotCorrected) -> Line:
    if record.seen is None:
        fields: dict[str, object] = {"tx": record.intent}
        return logging.WARNING, "Indeterminate transaction looked for no longer", fields
    fields = {"tx": record.intent, "height": record.seen.height, "hash": record.seen.hash}
    return logging.WARNING, "Indeterminate transaction found in a block", fields


WARNING = logging.WARNING
LINES: dict[type, Any] = {
    v.AttemptSigned: line(
        logging.INFO,
        "Attempt signed",
        tx="slot.intent",
        sequence="slot.sequence",
        attempt="slot.attempt.number",
        purpose="slot.attempt.purpose",
        hash="slot.attempt.hash",
        gas="slot.attempt.gas",
        fee="slot.attempt.fee",
        timeoutHeight="slot.attempt.timeout_height",
    ),
    **{
        kind: line(*change, tx="intent", sequence="sequence", reason="reason")
        for kind, change in CHANGES.items()
    },
    v.RecoveryBegan: entered,
    v.RecoveryEnded: line(WARNING, "Recovery left", node="node", reason="reason"),
    v.SlotFellOut: line(
        WARNING, "Sequence given up, those above it move down", tx="intent", reason="reason"
    ),
    v.SlotsRenumbered: line(
        WARNING, "All move to the next sequences", sequence="start", reason="reason"
    ),
    v.SlotCorrected: corrected,
    v.AccountMissing: line(WARNING, "Account does not exist yet"),
    v.LaneHalted: line(logging.ERROR, "Lane halted", reason="reason"),
    v.SequenceSet: line(
        WARNING, "Sequence set", sequenceNext="sequence_next", by="by", reason="reason"
    ),
    ModeChanged: mode,
    CommandRefused: refused,
}

QUIET = frozenset((v.AttemptSigned,))
