"""Records of a sequence lane as earlier releases wrote them, read as what they are called today."""

from laneway.core.ids import IntentId
from laneway.lanes.common.released import (
    Dropped,
    OldCommandRefused,
    dropped,
    records_reader,
    refused,
)
from laneway.lanes.common.values import LaneRecord
from laneway.lanes.sequence import values as v
from laneway.lanes.sequence.rows import Attempt, Slot
from laneway.lanes.sequence.tries import about


class SlotChanged(LaneRecord, frozen=True):
    """A slot as it stood then, and the name of what had changed."""

    slot: Slot
    what: str


def slot_changed(old: SlotChanged) -> v.Record:
    slot, attempt, beside = old.slot, old.slot.attempt, about(old.slot)
    match old.what:
        case "delayed":
            return v.AttemptDelayed(*beside, slot.make_tries)
        case "dead":
            gone, owner = slot.past[-1], (slot.intent, slot.sequence)
            return v.AttemptEnded(slot.id, gone.reason, *owner, gone.hash, gone.proven)
        case "over":
            return v.PastProven(*beside, tuple([one.proven for one in slot.past]))
        case "shown":
            return v.InclusionShown(*beside, slot.shown)
        case "proving":
            return v.ProofOrdered(*beside, slot.doubt_height or 0)
        case "doubted":
            return v.ProofFailed(*beside)
        case _:
            assert attempt is not None
            return attempt_changed(attempt, old.what, beside)


def attempt_changed(
    attempt: Attempt, what: str, beside: tuple[int, str, IntentId | None, int]
) -> v.Record:
    refused, final = attempt.refused, attempt.final
    match what:
        case "refused":
            return v.AttemptRefused(*beside, refused, final, attempt.code, attempt.codespace)
        case "unsure":
            return v.RefusalDoubted(*beside, refused, final)
        case _:
            assert what == "taken"
            return v.AttemptTaken(*beside, refused, final, attempt.number, attempt.hash)


decode_records = records_reader(
    v.Record, {SlotChanged: slot_changed, Dropped: dropped, OldCommandRefused: refused}
)
