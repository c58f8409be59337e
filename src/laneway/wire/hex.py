"""Hexadecimal as Ethereum's JSON-RPC writes it: quantities without leading zeros, bytes in pairs.

It exists at the edges alone; everything inside has `int` and `bytes`.
"""


def quantity(number: int) -> str:
    return hex(number)


def octets(content: bytes) -> str:
    return "0x" + content.hex()


def read_quantity(text: str) -> int:
    """ValueError on anything that is not 0x and hexadecimal digits."""
    if not text.startswith("0x"):
        raise ValueError(f"{text[:80]!r} is not a quantity")
    # Some nodes write zero as "0x", and some pad quantities with zeros.
    return int(text[2:] or "0", 16)


def read_octets(text: str) -> bytes:
    """ValueError on anything that is not 0x and pairs of hexadecimal digits."""
    if not text.startswith("0x"):
        raise ValueError(f"{text[:80]!r} is not hexadecimal")
    return bytes.fromhex(text[2:])
