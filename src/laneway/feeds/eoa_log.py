"""EVM accounts' log lines: one for each thing that happened, in the manner of the contract
queue."""

import logging
from typing import Any

from laneway.core.ids import is_account
from laneway.core.rows import Result
from laneway.core.units import value
from laneway.feeds.account_log import AccountLog, Line, mode, refused
from laneway.feeds.eoa_events import REMINDED
from laneway.feeds.log import duration
from laneway.lanes.eoa.lane import decode_history
from laneway.lanes.eoa.values import (
    AttemptReoffered,
    AttemptSigned,
    BumpOrdered,
    CleanupDone,
    CommandRefused,
    ContentReplaced,
    FundsJudged,
    HaltJudged,
    HeadMoved,
    InclusionDenied,
    MakingDelayed,
    ModeChanged,
    NoncesCrowded,
    NoncesReset,
    SlotDropped,
    SlotFreed,
    SlotIncluded,
)
from laneway.wire.hex import octets

log = logging.getLogger("laneway.eoa")


class EoaLog(AccountLog):
    """Of EVM accounts."""

    def __init__(self) -> None:
        super().__init__(log, is_account, LINES, QUIET)

    def end(self, result: Result) -> Line:
        fields: dict[str, object] = {"tx": result.intent, "status": result.status}
        if result.history:
            history = decode_history(result.history)
            slot = history.slot
            fields |= {"nonce": slot.nonce, "attempts": len(history.attempts)}
            since_ms = slot.accepted_ms or slot.claimed_ms
            fields["totalTime"] = duration(result.settled_ms - since_ms)
            if slot.seen is not None:
                fields |= {"block": slot.seen.block, "gasUsed": slot.seen.gas_used}
        if result.hash is not None:
            fields["hash"] = octets(result.hash)
        if result.reason:
            fields["reason"] = result.reason
        return logging.INFO, f"Transaction {result.status}", fields


def signed(record: AttemptSigned) -> Line:
    attempt = record.attempt
    return (
        logging.INFO,
        "Attempt signed",
        {
            "tx": record.intent,
            "nonce": record.nonce,
            "attempt": attempt.number,
            "purpose": attempt.purpose,
            "hash": octets(attempt.hash),
            "maxFeePerGas": attempt.fee.cap,
        },
    )


def included(record: SlotIncluded) -> Line:
    fields = {"tx": record.intent, "nonce": record.nonce, "block": record.inclusion.block}
    return logging.INFO, "Transaction included", fields


def reoffered(record: AttemptReoffered) -> Line:
    fields: dict[str, object] = {"tx": record.intent, "hash": octets(record.hash)}
    if record.reorg:
        return logging.WARNING, "Transaction taken back by a reorg, sent again", fields
    return logging.INFO, "Transaction sent again", fields | {"reason": record.reason or REMINDED}


def freed(record: SlotFreed) -> Line:
    what = "Nack: the nonce is recycled" if record.recycle else "Replaced: the nonce was used"
    fields = {"tx": record.intent, "nonce": record.nonce, "reason": record.reason}
    return logging.WARNING, what, fields


def dropped(record: SlotDropped) -> Line:
    fields = {"tx": record.intent, "nonce": record.nonce, "reason": record.reason}
    return logging.WARNING, "Nonce given up", fields


def bumped(record: BumpOrdered) -> Line:
    fields = {"tx": record.intent, "purpose": record.purpose, "reason": record.reason}
    return logging.WARNING, "Further attempt ordered", fields


def delayed(record: MakingDelayed) -> Line:
    return logging.WARNING, "Attempt put off", {"slot": record.slot, "reason": record.reason}


def replaced(record: ContentReplaced) -> Line:
    fields = {"tx": record.content.intent, "by": record.by, "reason": record.reason}
    return logging.WARNING, "Content replaced", fields


def moved(record: HeadMoved) -> Line:
    if record.fork is None:
        return logging.DEBUG, "Chain read", {"block": record.block}
    return logging.WARNING, "Reorg", {"block": record.block, "fork": record.fork}


def cleaned(record: CleanupDone) -> Line:
    """Seed 002's CleanupReport, with its six names."""
    report = record.report
    wrong = report.cross_nonce_violations or report.per_nonce_violations
    return (
        logging.ERROR if wrong else logging.INFO,
        "CleanupReport",
        {
            "moved_to_success": report.moved_to_success,
            "moved_to_pending": report.moved_to_pending,
            "noop_count": report.noop_count,
            "cross_nonce_violations": report.cross_nonce_violations,
            "per_nonce_violations": report.per_nonce_violations,
            "nonces_without_receipts": report.nonces_without_receipts,
        },
    )


def funds(record: FundsJudged) -> Line:
    if record.broke:
        held, needed = value(record.threshold), value(record.needed)
        return logging.ERROR, "Out of funds", {"threshold": held, "needed": needed or None}
    return logging.WARNING, "Funded again", {}


def halt(record: HaltJudged) -> Line:
    if record.reason:
        return logging.ERROR, "Halted", {"nonce": record.nonce, "reason": record.reason}
    return logging.WARNING, "Goes on", {"nonce": record.nonce}


def denied(record: InclusionDenied) -> Line:
    fields = {"tx": record.intent, "nonce": record.nonce, "hash": octets(record.hash)}
    return logging.WARNING, "Inclusion denied by a majority of nodes", fields


def crowded(record: NoncesCrowded) -> Line:
    fields = {"recycled": record.free, "max_recycled_nonces": record.bound}
    return logging.ERROR, "Too many recycled nonces; see reset-nonce --dry-run", fields


def reset(record: NoncesReset) -> Line:
    fields = {"nonceNext": record.nonce_next, "by": record.by, "reason": record.reason}
    return logging.WARNING, "Nonces reset", fields


LINES: dict[type, Any] = {
    AttemptSigned: signed,
    SlotIncluded: included,
    AttemptReoffered: reoffered,
    SlotFreed: freed,
    SlotDropped: dropped,
    BumpOrdered: bumped,
    MakingDelayed: delayed,
    ContentReplaced: replaced,
    HeadMoved: moved,
    CleanupDone: cleaned,
    FundsJudged: funds,
    HaltJudged: halt,
    InclusionDenied: denied,
    NoncesCrowded: crowded,
    NoncesReset: reset,
    ModeChanged: mode,
    CommandRefused: refused,
}

QUIET = frozenset((AttemptSigned, SlotIncluded))
