"""An account lane's records → events."""

from collections.abc import Sequence

from laneway.core.rows import FeedEntry
from laneway.feeds.events import NamedEvent
from laneway.kinds.common import events as common
from laneway.lanes.common.values import CommandRefused, IntentDropped, ModeChanged
from laneway.lanes.eoa import values as v

ONCE = ("lane.out_of_funds",)
"""Several of one batch may find the account without funds."""


REMINDED = "it was not mined and nodes may have forgotten it"
"""Why bytes that no reorg took back are offered again."""


def eoa_events(entry: FeedEntry) -> Sequence[NamedEvent]:
    """The events of one commit. No-ops are nobody's transaction, and have none."""
    return common.account_events(entry, v.decode_records(entry.records), EOA, ONCE)


def reoffered(record: v.AttemptReoffered) -> common.EventDraft | None:
    why = "its block was taken back" if record.reorg else record.reason or REMINDED
    reason = f"{why}; the same bytes are sent again"
    return common.of_intent("submitted", record, hash=record.hash, reason=reason)


def freed(record: v.SlotFreed) -> common.EventDraft | None:
    """Seed 002's two ways back to pending: every node refused it, or its number was used."""
    word = "send_attempt_nack" if record.recycle else "replaced"
    return common.of_intent(word, record, status="queued", nonce=record.nonce, reason=record.reason)


def content_replaced(record: v.ContentReplaced) -> common.EventDraft:
    body = {"tx": record.content.intent, "reason": record.reason, "by": record.by}
    return "transaction.content_replaced", body


def funds_judged(record: v.FundsJudged) -> common.EventDraft:
    return "lane.out_of_funds" if record.broke else "lane.funded", {}


def halt_judged(record: v.HaltJudged) -> common.EventDraft:
    return "lane.halted" if record.reason else "lane.resumed", {
        "nonce": record.nonce,
        "reason": record.reason,
    }


def nonces_crowded(record: v.NoncesCrowded) -> common.EventDraft:
    reason = (
        f"{record.free} nonces are free, more than {record.bound}: no new ones are given out; "
        "reset-nonce with dry_run shows what it can do"
    )
    return "lane.recycled_above_max", {"reason": reason}


EOA: dict[type, common.EventMaker] = {
    v.AttemptSigned: common.tx_event("signed", nonce="nonce", hash="attempt.hash"),
    v.AttemptsTaken: common.submitted,
    v.AttemptAnswered: common.tx_event("submitted", hash="hash"),
    v.AttemptReoffered: reoffered,
    v.SlotFreed: freed,
    v.SlotIncluded: common.tx_event(
        "included", nonce="nonce", block="inclusion.block", hash="hash"
    ),
    v.SlotSettled: common.tx_event(
        None, nonce="nonce", block="block", hash="hash", reason="reason"
    ),
    v.SlotDropped: common.ended,
    v.SlotFellOut: common.ended,
    IntentDropped: common.ended,
    v.ContentReplaced: content_replaced,
    ModeChanged: common.mode_changed,
    v.FundsJudged: funds_judged,
    v.HaltJudged: halt_judged,
    v.NoncesReset: common.lane_event("nonces_reset", nonce="nonce_next", reason="reason", by="by"),
    v.NoncesCrowded: nonces_crowded,
    CommandRefused: common.command_refused,
}
"""The records that have events, and how each is made."""
