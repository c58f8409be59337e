"""What is said of a guarantee that a block cannot take: the check, its error, and what follows.

`VerifyGuarantee` is the name that builders know for these checks; three of them judge a guarantee's
age, and they and their errors have their own names. The rules are those of `laneway.jam.rules`.
"""

from typing import Final

from msgspec import Struct

from laneway.jam.extrinsic import ReportGuarantee
from laneway.jam.rules.checks import (
    CHECKS,
    Bench,
    Check,
    ReportFault,
    check_assignment,
    check_recent_block,
    check_time_slot_header,
)

NAMES: Final[dict[Check, str]] = {
    check_assignment: "checkAssignment",
    check_recent_block: "checkRecentBlock",
    check_time_slot_header: "checkTimeSlotHeader",
}
ERRORS: Final = {
    ReportFault.REPORT_EPOCH_BEFORE_LAST: "ErrGReportEpochBeforeLast",
    ReportFault.ANCHOR_NOT_RECENT: "ErrGAnchorNotRecent",
    ReportFault.LOOKUP_ANCHOR_NOT_RECENT: "ErrGReportEpochBeforeLast",
}
"""Two of the checks give their error one name."""
PASSING: Final = frozenset(
    {
        ReportFault.INSUFFICIENT_GUARANTEES,
        ReportFault.REPORT_EPOCH_BEFORE_LAST,
        ReportFault.WRONG_ASSIGNMENT,
        ReportFault.CORE_ENGAGED,
        ReportFault.CORE_UNAUTHORIZED,
        ReportFault.DEPENDENCY_MISSING,
        ReportFault.SEGMENT_ROOT_LOOKUP_INVALID,
    }
)
"""What another signature, another block or another package can mend."""
WAITING: Final = frozenset(
    {ReportFault.DEPENDENCY_MISSING, ReportFault.SEGMENT_ROOT_LOOKUP_INVALID}
)
"""What a guarantee in the same block can mend."""


class Verdict(Struct, frozen=True):
    fault: ReportFault
    check: str
    error: str


def verify_guarantee(bench: Bench, guarantee: ReportGuarantee) -> Verdict | None:
    """The first check that fails, without that of the signatures; None if none does."""
    for check in CHECKS:
        fault = check(bench, guarantee)
        if fault is not None:
            return Verdict(fault, NAMES.get(check, check.__name__), ERRORS.get(fault, fault.value))
    return None
