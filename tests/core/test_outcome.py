"""One table of status words."""

from laneway.core.outcome import OPEN_WORDS, Status


def test_a_word_is_final_unless_the_intent_may_still_move() -> None:
    final = {word.value for word in Status if word.is_final()}
    assert final == {
        "confirmed",
        "reverted",
        "refused",
        "cancelled",
        "expired",
        "dead",
        "indeterminate",
    }
    assert {word.value for word in OPEN_WORDS} == {"queued", "signed", "submitted", "included"}
