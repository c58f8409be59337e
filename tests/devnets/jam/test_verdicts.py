import pytest
from msgspec.structs import replace
from tests.jam.rules.stage import SLOT, STATE, guarantee, report

from laneway.devnets.jam.verdicts import Verdict, verify_guarantee
from laneway.jam.extrinsic import ReportGuarantee
from laneway.jam.rotation import guarantors_for
from laneway.jam.rules.checks import Bench, ReportFault
from laneway.jam.spec import TINY

BENCH = Bench(
    state=STATE,
    slot=SLOT,
    spec=TINY,
    known_packages=frozenset(),
    guarantors={
        3: guarantors_for(STATE.standing, SLOT, SLOT, TINY),
        2: guarantors_for(STATE.standing, SLOT, SLOT - 4, TINY),
    },
    recent={block.header_hash: block for block in STATE.recent},
    packages=frozenset(),
    exports=frozenset(),
)


def with_context(**fields: object) -> ReportGuarantee:
    made = report()
    return guarantee(replace(made, context=replace(made.context, **fields)))


def test_a_guarantee_that_keeps_every_rule_is_not_refused() -> None:
    assert verify_guarantee(BENCH, guarantee(report())) is None


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        (
            replace(guarantee(report()), slot=SLOT - 7),
            Verdict(
                ReportFault.REPORT_EPOCH_BEFORE_LAST, "checkAssignment", "ErrGReportEpochBeforeLast"
            ),
        ),
        (
            with_context(anchor=bytes(32)),
            Verdict(ReportFault.ANCHOR_NOT_RECENT, "checkRecentBlock", "ErrGAnchorNotRecent"),
        ),
        (
            with_context(lookup_anchor_slot=SLOT + 1),
            Verdict(
                ReportFault.LOOKUP_ANCHOR_NOT_RECENT,
                "checkTimeSlotHeader",
                "ErrGReportEpochBeforeLast",
            ),
        ),
        (
            replace(guarantee(report()), signatures=()),
            Verdict(
                ReportFault.INSUFFICIENT_GUARANTEES, "check_credential", "insufficient_guarantees"
            ),
        ),
    ],
)
def test_the_checks_of_age_have_the_names_that_builders_know(
    made: ReportGuarantee, verdict: Verdict
) -> None:
    assert verify_guarantee(BENCH, made) == verdict
