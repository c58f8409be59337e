"""Hexadecimal as Ethereum's JSON-RPC writes it: quantities without leading zeros, bytes in pairs.

It exists at the edges alone; everything inside has `int` and `bytes`.
"""

import re

from laneway.wire.limits import NUMBER_MAX

# Some nodes write zero as "0x", and some pad a quantity to the 32 bytes of a word.
_QUANTITY = re.compile(r"0x[0-9a-fA-F]{0,64}")


def quantity(number: int) -> str:
    return hex(number)


def octets(content: bytes) -> str:
    return "0x" + content.hex()


def read_quantity(text: str, most: int = NUMBER_MAX) -> int:
    """A number up to `most`; ValueError on anything but 0x and hexadecimal digits, and above it.

    Without a bound of its own a quantity counts something: blocks, nonces, gas or seconds.
    """
    if _QUANTITY.fullmatch(text) is None:
        raise ValueError(f"{text[:80]!r} is not a quantity")
    number = int(text[2:] or "0", 16)
    if number > most:
        raise ValueError(f"{text!r} is more than {most}")
    return number


def read_octets(text: str) -> bytes:
    """ValueError on anything that is not 0x and pairs of hexadecimal digits."""
    if not text.startswith("0x"):
        raise ValueError(f"{text[:80]!r} is not hexadecimal")
    return bytes.fromhex(text[2:])
