"""EVM accounts' log lines: one for each thing that happened, in the manner of the contract
queue."""

import logging
from collections.abc import Mapping
from typing import Any

from msgspec.structs import asdict

from laneway.core.rows import Result
from laneway.core.units import value
from laneway.kinds.common.log import AccountLog, Line, line, mode, refused
from laneway.kinds.contract.log import duration
from laneway.kinds.evm.events import REMINDED
from laneway.lanes.common.values import CommandRefused, ModeChanged
from laneway.lanes.eoa import values as v
from laneway.lanes.eoa.lane import decode_history

log = logging.getLogger("laneway.eoa")


class EoaLog(AccountLog):
    """The log of EVM accounts."""

    def __init__(self) -> None:
        super().__init__(log, "evm:", LINES, QUIET)

    def past(self, result: Result) -> Mapping[str, object]:
        history = decode_history(result.history)
        slot = history.slot
        since_ms = slot.accepted_ms or slot.claimed_ms
        total = duration(result.settled_ms - since_ms)
        fields = {"nonce": slot.nonce, "attempts": len(history.attempts), "totalTime": total}
        if slot.seen is None:
            return fields
        return fields | {"block": slot.seen.block, "gasUsed": slot.seen.gas_used}


def reoffered(record: v.AttemptReoffered) -> Line:
    fields: dict[str, object] = {"tx": record.intent, "hash": record.hash}
    if record.reorg:
        return logging.WARNING, "Transaction taken back by a reorg, sent again", fields
    return logging.INFO, "Transaction sent again", fields | {"reason": record.reason or REMINDED}


def freed(record: v.SlotFreed) -> Line:
    what = "Nack: the nonce is recycled" if record.recycle else "Replaced: the nonce was used"
    fields = {"tx": record.intent, "nonce": record.nonce, "reason": record.reason}
    return logging.WARNING, what, fields


def moved(record: v.HeadMoved) -> Line:
    if record.fork is None:
        return logging.DEBUG, "Chain read", {"block": record.block}
    return logging.WARNING, "Reorg", {"block": record.block, "fork": record.fork}


def cleaned(record: v.CleanupDone) -> Line:
    """Seed 002's CleanupReport, with its six names."""
    report = record.report
    wrong = report.cross_nonce_violations or report.per_nonce_violations
    fields = {name: value for name, value in asdict(report).items() if name != "at_ms"}
    return logging.ERROR if wrong else logging.INFO, "CleanupReport", fields


def funds(record: v.FundsJudged) -> Line:
    if record.broke:
        held, needed = value(record.threshold), value(record.needed)
        return logging.ERROR, "Out of funds", {"threshold": held, "needed": needed or None}
    return logging.WARNING, "Funded again", {}


def halt(record: v.HaltJudged) -> Line:
    if record.reason:
        return logging.ERROR, "Halted", {"nonce": record.nonce, "reason": record.reason}
    return logging.WARNING, "Goes on", {"nonce": record.nonce}


WARNING = logging.WARNING
LINES: dict[type, Any] = {
    v.AttemptSigned: line(
        logging.INFO,
        "Attempt signed",
        tx="intent",
        nonce="nonce",
        attempt="attempt.number",
        purpose="attempt.purpose",
        hash="attempt.hash",
        maxFeePerGas="attempt.fee.cap",
    ),
    v.SlotIncluded: line(
        logging.INFO, "Transaction included", tx="intent", nonce="nonce", block="inclusion.block"
    ),
    v.AttemptReoffered: reoffered,
    v.SlotFreed: freed,
    v.SlotDropped: line(WARNING, "Nonce given up", tx="intent", nonce="nonce", reason="reason"),
    v.BumpOrdered: line(
        WARNING, "Further attempt ordered", tx="intent", purpose="purpose", reason="reason"
    ),
    v.MakingDelayed: line(WARNING, "Attempt put off", slot="slot", reason="reason"),
    v.ContentReplaced: line(
        WARNING, "Content replaced", tx="content.intent", by="by", reason="reason"
    ),
    v.HeadMoved: moved,
    v.CleanupDone: cleaned,
    v.FundsJudged: funds,
    v.HaltJudged: halt,
    v.InclusionDenied: line(
        WARNING, "Inclusion denied by a majority of nodes", tx="intent", nonce="nonce", hash="hash"
    ),
    v.NoncesCrowded: line(
        logging.ERROR,
        "Too many recycled nonces; see reset-nonce --dry-run",
        recycled="free",
        max_recycled_nonces="bound",
    ),
    v.NoncesReset: line(WARNING, "Nonces reset", nonceNext="nonce_next", by="by", reason="reason"),
    ModeChanged: mode,
    CommandRefused: refused,
}

QUIET = frozenset((v.AttemptSigned, v.SlotIncluded))
