"""The bounds of the nouns fit together."""

from laneway.core import limits


def test_two_reasons_and_a_name_leave_room_in_a_row_that_changes() -> None:
    assert 2 * limits.REASON_BYTES_MAX + limits.NAME_BYTES_MAX <= 750


def test_what_an_adapter_cuts_is_not_cut_shorter_than_what_a_row_keeps() -> None:
    assert limits.REASON_CHARS_MAX >= limits.REASON_BYTES_MAX
