"""Laws of bech32, with the examples of BIP-173."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.cosmos.bech32 import decode, encode, regrouped
from laneway.cosmos.errors import MalformedAddress

ACCOUNT = "cosmos1pkptre7fdkl6gfrzlesjjvhxhlc3r4gmmk8rs6"


@given(st.sampled_from(["cosmos", "celestia", "a1b"]), st.binary(max_size=40))
def test_what_is_written_is_read_as_it_was(prefix: str, data: bytes) -> None:
    assert decode(encode(prefix, data)) == (prefix, data)


def test_large_letters_say_the_same() -> None:
    assert decode(ACCOUNT.upper()) == decode(ACCOUNT)
    assert encode(*decode(ACCOUNT)) == ACCOUNT


@pytest.mark.parametrize("valid", ["A12UEL5L", "a12uel5l"])
def test_the_standards_shortest_one_is_valid(valid: str) -> None:
    assert decode(valid) == ("a", b"")


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("", "form"),
        ("cosmos", "form"),
        ("1qzzfhee", "form"),
        ("pzry9x0s0muk", "form"),
        ("li1dgmt3", "form"),
        (
            "an84characterslonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1569pvx",
            "form",
        ),
        (ACCOUNT[:-1] + "q", "checksum"),
        (ACCOUNT.replace("pkp", "kpp"), "checksum"),
        ("cosmos1Pkptre7fdkl6gfrzlesjjvhxhlc3r4gmmk8rs6", "mixed"),
        ("x1b4n0q5v", "character"),
        ("\x201nwldj5", "prefix"),
        ("\x7f1axkwrx", "prefix"),
    ],
)
def test_what_is_none_is_refused_with_the_reason(address: str, problem: str) -> None:
    with pytest.raises(MalformedAddress, match=problem):
        decode(address)


def test_bits_that_are_left_over_are_refused() -> None:
    with pytest.raises(ValueError, match="left over"):
        regrouped([31], 5, 8)
    with pytest.raises(ValueError, match="left over"):
        regrouped([0, 1], 5, 8)
    word = "split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w"
    assert decode(word)[0] == "split"


def test_an_address_whose_bits_do_not_fill_bytes_is_refused() -> None:
    with pytest.raises(MalformedAddress, match="left over"):
        decode("a1lmyple6")
