"""Laws of hexadecimal at the edge."""

import pytest

from laneway.wire.hex import octets, quantity, read_octets, read_quantity
from laneway.wire.limits import NUMBER_MAX, WEI_MAX


def test_numbers_and_bytes_come_back_as_they_went() -> None:
    assert read_quantity(quantity(0)) == 0
    assert quantity(1024) == "0x400"
    assert read_octets(octets(b"\x00\xff")) == b"\x00\xff"


def test_sloppy_zeros_are_borne() -> None:
    assert read_quantity("0x") == 0
    assert read_quantity("0x0010") == 16


def test_a_quantity_is_read_up_to_its_bound() -> None:
    assert read_quantity(quantity(NUMBER_MAX)) == NUMBER_MAX
    assert read_quantity(quantity(WEI_MAX), WEI_MAX) == WEI_MAX
    assert read_quantity("0x" + "1".rjust(64, "0")) == 1


@pytest.mark.parametrize("number", [NUMBER_MAX + 1, 1 << 64, WEI_MAX])
def test_a_quantity_above_its_bound_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match="is more than"):
        read_quantity(quantity(number))


NONE = ("", "10", "0xzz", "0x1_0x", "0x-1", "0x+1", "0x 1", "0x1_0", "0X1", "-0x1", "0x1\n")


@pytest.mark.parametrize("text", [*NONE, "0x\u0663", "0x" + "0" * 65, "0x" + "f" * 100_000])
def test_what_is_not_hexadecimal_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_quantity(text)


@pytest.mark.parametrize("text", ["", "00", "0xz0", "0x0"])
def test_bytes_come_in_pairs(text: str) -> None:
    with pytest.raises(ValueError):
        read_octets(text)
