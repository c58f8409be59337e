"""A sequence lane's records → events."""

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
from laneway.lanes.sequence.values import (
    AttemptSigned,
    CommandRefused,
    IntentDropped,
    LaneHalted,
    ModeChanged,
    Record,
    SequenceSet,
    SlotChanged,
    SlotCorrected,
    SlotFellOut,
    SlotSettled,
    SlotsRenumbered,
    Submitted,
)

decode = msgspec.msgpack.Decoder(tuple[Record, ...]).decode


def sequence_events(entry: FeedEntry) -> Sequence[Told]:
    return told(entry, decode(entry.records), SEQUENCE)


def digits(hash_: bytes) -> str:
    """As Cosmos chains name it."""
    return hash_.hex().upper()


def signed(record: AttemptSigned) -> Said | None:
    slot = record.slot
    assert slot.attempt is not None
    return of_intent("signed", slot, sequence=slot.sequence, hash=digits(slot.attempt.hash))


def submitted(record: Submitted) -> list[Said]:
    return [
        ("transaction.submitted", {"tx": intent, "status": "submitted", "hash": digits(hash_)})
        for intent, hash_ in zip(record.intents, record.hashes, strict=True)
        if intent is not None
    ]


def changed(record: SlotChanged) -> Said | None:
    """Of what is made again: that its bytes can land no more, and that a node took the next."""
    slot, attempt = record.slot, record.slot.attempt
    if record.what == "dead":
        gone = slot.past[-1]
        return of_intent(
            "attempt_ended",
            slot,
            status="queued",
            sequence=slot.sequence,
            hash=digits(gone.hash),
            reason=gone.reason,
        )
    if record.what == "taken" and attempt is not None and attempt.number > 1:
        return of_intent("submitted", slot, sequence=slot.sequence, hash=digits(attempt.hash))
    return None


def settled(record: SlotSettled) -> Said | None:
    seen, stays = record.seen, record.stays
    hash_ = None if seen is None else seen.hash
    if stays is not None and stays.told and stays.attempt is not None:
        hash_ = stays.attempt.hash
    return of_intent(
        record.status,
        record,
        sequence=record.sequence,
        block=None if seen is None else seen.height,
        hash=None if hash_ is None else digits(hash_),
        reason=record.reason,
    )


def corrected(record: SlotCorrected) -> Said | None:
    """What was told to be indeterminate is in a block after all."""
    seen = record.seen
    if seen is None:
        return None
    status = "reverted" if seen.code else "confirmed"
    reason = "it was told to be indeterminate"
    return of_intent(
        "corrected",
        record,
        status=status,
        block=seen.height,
        hash=digits(seen.hash),
        reason=reason,
    )


def renumbered(record: SlotsRenumbered) -> Said:
    return "lane.renumbered", {"sequence": record.start, "reason": record.reason}


def halted(record: LaneHalted) -> Said:
    return "lane.halted", {"reason": record.reason}


def sequence_set(record: SequenceSet) -> Said:
    return "lane.sequence_set", {
        "sequence": record.sequence_next,
        "reason": record.reason,
        "by": record.by,
    }


SEQUENCE: dict[type, Tell] = {
    AttemptSigned: signed,
    Submitted: submitted,
    SlotChanged: changed,
    SlotSettled: settled,
    SlotFellOut: ended,
    SlotCorrected: corrected,
    SlotsRenumbered: renumbered,
    IntentDropped: ended,
    LaneHalted: halted,
    SequenceSet: sequence_set,
    ModeChanged: mode_changed,
    CommandRefused: command_refused,
}
"""Which records people hear of, and how each is told."""
