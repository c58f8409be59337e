"""Laws of hexadecimal at the edge."""

import pytest

from laneway.wire.hex import octets, quantity, read_octets, read_quantity


def test_numbers_and_bytes_come_back_as_they_went() -> None:
    assert read_quantity(quantity(0)) == 0
    assert quantity(1024) == "0x400"
    assert read_octets(octets(b"\x00\xff")) == b"\x00\xff"


def test_sloppy_zeros_are_borne() -> None:
    assert read_quantity("0x") == 0
    assert read_quantity("0x0010") == 16


@pytest.mark.parametrize("text", ["", "10", "0xzz", "0x1_0x"])
def test_what_is_not_hexadecimal_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_quantity(text)


@pytest.mark.parametrize("text", ["", "00", "0xz0", "0x0"])
def test_bytes_come_in_pairs(text: str) -> None:
    with pytest.raises(ValueError):
        read_octets(text)
