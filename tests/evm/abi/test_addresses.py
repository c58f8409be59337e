"""Laws of addresses and bytes as people write them."""

import pytest

from laneway.core.errors import BadRequest
from laneway.evm.abi.addresses import checksummed, read_address, read_bytes

EIP_55 = (
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
)
"""The examples of EIP-55."""


@pytest.mark.parametrize("written", EIP_55)
def test_letters_of_both_cases_are_a_checksum(written: str) -> None:
    account = bytes.fromhex(written[2:])
    assert checksummed(account) == written
    for good in (written, written.lower(), "0x" + written[2:].upper(), account):
        assert read_address(good, "to") == account
    wrong = "0x" + written[2:].swapcase()
    with pytest.raises(BadRequest, match=f"to: its checksum is wrong; {written} would be right"):
        read_address(wrong, "to")


@pytest.mark.parametrize("written", ["", "0x1", "0xzz", "12", "0X12", 5, None, "0x12\n", "0x12 34"])
def test_bytes_are_0x_and_pairs_of_digits(written: object) -> None:
    with pytest.raises(BadRequest, match="pairs of hexadecimal digits"):
        read_bytes(written, "data")


def test_bytes_are_taken_as_they_are() -> None:
    assert read_bytes(b"\x01\xff", "data") == read_bytes("0x01Ff", "data") == b"\x01\xff"


def test_an_address_has_twenty_bytes() -> None:
    for wrong in ("0x", "0x" + "11" * 19, b"\x11" * 21):
        with pytest.raises(BadRequest, match="20 bytes, not"):
            read_address(wrong, "to")
