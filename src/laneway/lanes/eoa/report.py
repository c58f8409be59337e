"""What a look at the chain cleared away, in the six numbers of seed 002's box F27."""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from laneway.core.outcome import Status
from laneway.lanes.eoa.lane import EoaLane
from laneway.lanes.eoa.rows import CleanupReport
from laneway.lanes.eoa.values import SlotFreed, SlotSettled

MINED = (Status.CONFIRMED.value, Status.REVERTED.value)


class Sightings(Struct, frozen=True):
    """What one look found and decided."""

    at_ms: int
    seen: tuple[int, ...]
    """Slots of which an attempt is mined."""
    ended: Sequence[SlotSettled | SlotFreed]
    doubled: int
    """Second receipts at one number."""
    unseen: int
    """Numbers that are used, by none of our bytes so far."""


def report_of(lane: EoaLane, found: Sightings) -> CleanupReport:
    settled = [record for record in found.ended if isinstance(record, SlotSettled)]
    mined = [record for record in settled if record.status in MINED and record.intent is not None]
    owners = Counter(lane.slots[slot].intent for slot in found.seen)
    owners.pop(None, None)
    return CleanupReport(
        at_ms=found.at_ms,
        moved_to_success=len(mined),
        moved_to_pending=len(found.ended) - len(settled),
        noop_count=len(settled) - len(mined),
        cross_nonce_violations=sum(1 for count in owners.values() if count > 1),
        per_nonce_violations=found.doubled,
        nonces_without_receipts=found.unseen,
    )


def is_telling(report: CleanupReport) -> bool:
    return report != CleanupReport(report.at_ms)
