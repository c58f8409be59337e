"""The questions a contract lane's rows answer."""

import pytest

from laneway.core.outcome import AttemptWord
from laneway.lanes.contract.values import Attempt

OFFERED = Attempt(slot=1, number=1, parent=5, offered_ms=0, deadline_ms=9, bound=True)


@pytest.mark.parametrize("word", list(AttemptWord))
@pytest.mark.parametrize("doubted", [False, True])
def test_only_an_offered_attempt_may_land_and_only_an_undoubted_one_is_out(
    word: AttemptWord, doubted: bool
) -> None:
    attempt = Attempt(1, 1, 5, 0, 9, True, word, "", doubted)
    assert attempt.may_land() == (word is AttemptWord.OFFERED)
    assert attempt.is_out() == (word is AttemptWord.OFFERED and not doubted)


def test_an_unknown_answer_leaves_the_attempt_offered() -> None:
    assert OFFERED.may_land()
    assert OFFERED.is_out()
