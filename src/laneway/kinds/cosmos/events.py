"""A sequence lane's records → events."""

from collections.abc import Sequence

from laneway.core.rows import FeedEntry
from laneway.feeds.events import NamedEvent
from laneway.kinds.common import events as common
from laneway.lanes.common.values import CommandRefused, IntentDropped, ModeChanged
from laneway.lanes.sequence import values as v
from laneway.lanes.sequence.released import decode_records


def sequence_events(entry: FeedEntry) -> Sequence[NamedEvent]:
    return common.account_events(entry, decode_records(entry.records), SEQUENCE, digits=digits)


def digits(hash_: bytes) -> str:
    """As Cosmos chains name it."""
    return hash_.hex().upper()


def attempt_ended(record: v.AttemptEnded) -> common.EventDraft | None:
    """It can land no more, and its intent is signed again."""
    more = {"sequence": record.sequence, "hash": record.hash, "reason": record.reason}
    return common.of_intent("attempt_ended", record, status="queued", **more)


def taken(record: v.AttemptTaken) -> common.EventDraft | None:
    """Of a first attempt its own record says so."""
    if record.number == 1:
        return None
    return common.of_intent("submitted", record, sequence=record.sequence, hash=record.hash)


def settled(record: v.SlotSettled) -> common.EventDraft | None:
    seen, stays = record.seen, record.stays
    hash_ = None if seen is None else seen.hash
    if stays is not None and stays.told and stays.attempt is not None:
        hash_ = stays.attempt.hash
    return common.of_intent(
        record.status,
        record,
        sequence=record.sequence,
        block=None if seen is None else seen.height,
        hash=hash_,
        reason=record.reason,
    )


def corrected(record: v.SlotCorrected) -> common.EventDraft | None:
    """What was reported as indeterminate is in a block after all."""
    seen = record.seen
    if seen is None:
        return None
    status = "reverted" if seen.code else "confirmed"
    reason = "it was told to be indeterminate"
    return common.of_intent(
        "corrected",
        record,
        status=status,
        block=seen.height,
        hash=seen.hash,
        reason=reason,
    )


SEQUENCE: dict[type, common.EventMaker] = {
    v.AttemptSigned: common.tx_event(
        "signed", of="slot", sequence="slot.sequence", hash="slot.attempt.hash"
    ),
    v.Submitted: common.submitted,
    v.AttemptTaken: taken,
    v.AttemptEnded: attempt_ended,
    v.SlotSettled: settled,
    v.SlotFellOut: common.ended,
    v.SlotCorrected: corrected,
    v.SlotsRenumbered: common.lane_event("renumbered", sequence="start", reason="reason"),
    IntentDropped: common.ended,
    v.LaneHalted: common.lane_event("halted", reason="reason"),
    v.SequenceSet: common.lane_event(
        "sequence_set", sequence="sequence_next", reason="reason", by="by"
    ),
    ModeChanged: common.mode_changed,
    CommandRefused: common.command_refused,
}
"""The records that have events, and how each is made."""
