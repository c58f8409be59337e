"""What a look at the chain cleared away, in the six numbers of seed 002's box F27."""

from collections import Counter
from collections.abc import Sequence

from laneway.core.outcome import Status
from laneway.lanes.eoa.rows import CleanupReport
from laneway.lanes.eoa.values import SlotSettled

MINED = (Status.CONFIRMED.value, Status.REVERTED.value)


def report_of(
    at_ms: int, settled: Sequence[SlotSettled], doubled: int, unseen: int
) -> CleanupReport:
    """Of one look: what is final now, second receipts at one number, and numbers that are used by
    none of our bytes so far. What returns to the queue is told where it is proven."""
    mined = [record for record in settled if record.status in MINED and record.intent is not None]
    owners = Counter(record.intent for record in mined)
    return CleanupReport(
        at_ms=at_ms,
        moved_to_success=len(mined),
        noop_count=len(settled) - len(mined),
        cross_nonce_violations=len(mined) - len(owners),
        per_nonce_violations=doubled,
        nonces_without_receipts=unseen,
    )


def is_telling(report: CleanupReport) -> bool:
    return report != CleanupReport(report.at_ms)
