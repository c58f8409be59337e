"""Laws of what is seen of a JAM chain."""

import pytest

from laneway.core.jam import (
    JamBlockRef,
    LineAsked,
    LineBlock,
    LineSeen,
    PackageAnswer,
    PackageKind,
    SlotClock,
    SubmissionAnswers,
)
from laneway.core.outcome import Outcome


def answer(outcome: Outcome, node: str = "a") -> PackageAnswer:
    return PackageAnswer(node=node, core=0, kind=PackageKind.UNKNOWN, outcome=outcome)


YES, NO, DOUBT = (answer(one) for one in (Outcome.ACCEPTED, Outcome.REFUSED, Outcome.UNKNOWN))


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ((YES,), Outcome.ACCEPTED),
        ((NO, NO), Outcome.REFUSED),
        ((), Outcome.REFUSED),
        ((NO, DOUBT), Outcome.UNKNOWN),
        ((DOUBT, NO, NO), Outcome.UNKNOWN),
        ((NO, YES), Outcome.ACCEPTED),
        ((DOUBT, YES), Outcome.ACCEPTED),
    ],
)
def test_one_doubt_is_more_than_any_number_of_refusals(
    answers: tuple[PackageAnswer, ...], outcome: Outcome
) -> None:
    assert SubmissionAnswers(answers, final=False).outcome() is outcome


def test_a_submission_says_who_took_it() -> None:
    assert SubmissionAnswers((NO, YES), final=False).taken() is YES
    assert SubmissionAnswers((NO, DOUBT), final=False).taken() is None


def test_a_clock_says_which_slot_it_is_and_when_the_next_begins() -> None:
    clock = SlotClock(slot_ms=6_000, slot=2, heard_ms=112_500, begin_ms=100_000, skew_ms=None)
    assert [clock.slot_at(now) for now in (100_000, 105_999, 106_000, 112_500)] == [0, 0, 1, 2]
    assert clock.until_next_ms(100_000) == 6_000
    assert clock.until_next_ms(105_999) == 1
    assert clock.until_next_ms(109_000) == 3_000


def test_a_line_is_expected_as_far_as_its_blocks_are_known() -> None:
    at = JamBlockRef(b"\1" * 32, 1)
    asked = LineAsked(7, (4, 5), (b"four", b"five"), tip=3)
    four, five = LineBlock(4, b"four", b""), LineBlock(5, b"five", b"")
    assert asked.expects(LineSeen(at, 3, ()))
    assert asked.expects(LineSeen(at, 5, (four, five)))
    assert not asked.expects(LineSeen(at, 6, (four, five))), "others brought the sixth"
    assert not asked.expects(LineSeen(at, 4, (LineBlock(4, b"theirs", b""),)))
    nothing = LineAsked(7, (), tip=3)
    assert nothing.expects(LineSeen(at, 3, ()))
    assert not nothing.expects(LineSeen(at, 4, ()))
