"""An account lane's records → events."""

from collections.abc import Sequence

import msgspec

from laneway.core.rows import FeedEntry
from laneway.feeds.account_events import (
    Said,
    Tell,
    Told,
    command_refused,
    ended,
    mode_changed,
    of_intent,
    told,
)
from laneway.lanes.eoa.values import (
    AttemptAnswered,
    AttemptReoffered,
    AttemptSigned,
    AttemptsTaken,
    CommandRefused,
    ContentReplaced,
    FundsJudged,
    HaltJudged,
    IntentDropped,
    ModeChanged,
    NoncesCrowded,
    NoncesReset,
    Record,
    SlotDropped,
    SlotFellOut,
    SlotFreed,
    SlotIncluded,
    SlotSettled,
)
from laneway.wire.hex import octets

decode = msgspec.msgpack.Decoder(tuple[Record, ...]).decode

ONCE = ("lane.out_of_funds",)
"""Several of one batch may find the account without funds."""


REMINDED = "it was not mined and nodes may have forgotten it"
"""Why bytes that no reorg took back are offered again."""


def eoa_events(entry: FeedEntry) -> Sequence[Told]:
    """What one commit told. No-ops are nobody's transaction, and tell nothing."""
    return told(entry, decode(entry.records), EOA, ONCE)


def signed(record: AttemptSigned) -> Said | None:
    return of_intent("signed", record, nonce=record.nonce, hash=octets(record.attempt.hash))


def answered(record: AttemptAnswered) -> Said | None:
    return of_intent("submitted", record, hash=octets(record.hash))


def all_taken(record: AttemptsTaken) -> list[Said]:
    return [
        ("transaction.submitted", {"tx": intent, "status": "submitted", "hash": octets(hash_)})
        for intent, hash_ in zip(record.intents, record.hashes, strict=True)
        if intent is not None
    ]


def reoffered(record: AttemptReoffered) -> Said | None:
    why = "its block was taken back" if record.reorg else record.reason or REMINDED
    reason = f"{why}; the same bytes are sent again"
    return of_intent("submitted", record, hash=octets(record.hash), reason=reason)


def freed(record: SlotFreed) -> Said | None:
    """Seed 002's two ways back to pending: every node refused it, or its number was used."""
    word = "send_attempt_nack" if record.recycle else "replaced"
    return of_intent(word, record, status="queued", nonce=record.nonce, reason=record.reason)


def included(record: SlotIncluded) -> Said | None:
    return of_intent(
        "included",
        record,
        nonce=record.nonce,
        block=record.inclusion.block,
        hash=octets(record.hash),
    )


def settled(record: SlotSettled) -> Said | None:
    return of_intent(
        record.status,
        record,
        nonce=record.nonce,
        block=record.block,
        hash=octets(record.hash),
        reason=record.reason,
    )


def content_replaced(record: ContentReplaced) -> Said:
    return "transaction.content_replaced", {
        "tx": record.content.intent,
        "reason": record.reason,
        "by": record.by,
    }


def funds_judged(record: FundsJudged) -> Said:
    return "lane.out_of_funds" if record.broke else "lane.funded", {}


def halt_judged(record: HaltJudged) -> Said:
    return "lane.halted" if record.reason else "lane.resumed", {
        "nonce": record.nonce,
        "reason": record.reason,
    }


def nonces_reset(record: NoncesReset) -> Said:
    return "lane.nonces_reset", {
        "nonce": record.nonce_next,
        "reason": record.reason,
        "by": record.by,
    }


def nonces_crowded(record: NoncesCrowded) -> Said:
    reason = (
        f"{record.free} nonces are free, more than {record.bound}: no new ones are given out; "
        "reset-nonce with dry_run shows what it can do"
    )
    return "lane.recycled_above_max", {"reason": reason}


EOA: dict[type, Tell] = {
    AttemptSigned: signed,
    AttemptsTaken: all_taken,
    AttemptAnswered: answered,
    AttemptReoffered: reoffered,
    SlotFreed: freed,
    SlotIncluded: included,
    SlotSettled: settled,
    SlotDropped: ended,
    SlotFellOut: ended,
    IntentDropped: ended,
    ContentReplaced: content_replaced,
    ModeChanged: mode_changed,
    FundsJudged: funds_judged,
    HaltJudged: halt_judged,
    NoncesReset: nonces_reset,
    NoncesCrowded: nonces_crowded,
    CommandRefused: command_refused,
}
"""Which records people hear of, and how each is told."""
