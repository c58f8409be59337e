"""Amounts as rows keep them."""

import pytest

from laneway.core.units import amount, value


@pytest.mark.parametrize("wei", [0, 1, 255, 256, 2**64, 10**26, 2**256 - 1])
def test_an_amount_comes_back_as_it_was(wei: int) -> None:
    assert value(amount(wei)) == wei


def test_an_amount_is_as_short_as_can_be() -> None:
    assert (amount(0), amount(255), amount(256)) == (b"", b"\xff", b"\x01\x00")


@pytest.mark.parametrize("wei", [-1, 2**256])
def test_what_no_account_can_hold_is_a_bug(wei: int) -> None:
    with pytest.raises(AssertionError):
        amount(wei)
