"""Amounts as rows keep them."""

import pytest

from laneway.core.errors import BadRequest
from laneway.core.units import amount, read_wei, value


@pytest.mark.parametrize("wei", [0, 1, 255, 256, 2**64, 10**26, 2**256 - 1])
def test_an_amount_comes_back_as_it_was(wei: int) -> None:
    assert value(amount(wei)) == wei


def test_an_amount_is_as_short_as_can_be() -> None:
    assert (amount(0), amount(255), amount(256)) == (b"", b"\xff", b"\x01\x00")


@pytest.mark.parametrize("wei", [-1, 2**256])
def test_what_no_account_can_hold_is_a_bug(wei: int) -> None:
    with pytest.raises(AssertionError):
        amount(wei)


@pytest.mark.parametrize(
    ("text", "wei"),
    [
        ("1000", 1_000),
        ("7 wei", 7),
        ("30 gwei", 30 * 10**9),
        ("1.5gwei", 1_500_000_000),
        ("0.5 ether", 5 * 10**17),
        ("1.0000000000 gwei", 10**9),
    ],
)
def test_amounts_are_read_as_people_write_them(text: str, wei: int) -> None:
    assert read_wei(text) == wei


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ten", "not an amount"),
        ("-1", "not an amount"),
        ("1.5", "part of a wei"),
        ("0.0000000001 gwei", "part of a wei"),
        ("9" * 80, "256 bits"),
        ("9" * 5_000, "not an amount"),
    ],
)
def test_what_is_no_amount_is_refused_with_a_reason(text: str, problem: str) -> None:
    with pytest.raises(BadRequest, match=problem):
        read_wei(text)
