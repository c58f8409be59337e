"""Amounts that outgrow 64 bits, as rows keep them.

An account may hold more wei than msgpack's integers can say: 18.4 ether. Inside, amounts are
integers; in a row they are bytes, the largest first, without leading zeros.
"""

import re

from laneway.core.errors import BadRequest

Amount = bytes

AMOUNT_BITS_MAX = 256


def amount(value: int) -> Amount:
    assert 0 <= value < 1 << AMOUNT_BITS_MAX
    return value.to_bytes((value.bit_length() + 7) // 8, "big")


def value(amount: Amount) -> int:
    return int.from_bytes(amount, "big")


UNITS = {"wei": 0, "gwei": 9, "ether": 18}
"""How many digits each unit allows after the decimal point."""


def read_wei(text: str) -> int:
    """ "30 gwei", "0.5 ether" or "1000" as wei; BadRequest for what is none or leaves a rest."""
    found = re.fullmatch(r"([0-9]{1,999})(?:\.([0-9]{1,999}))? ?(wei|gwei|ether)?", text)
    if found is None:
        raise BadRequest("amount", f"{text!r} is not an amount like 1000, 30 gwei or 0.5 ether")
    whole, part, unit = found[1], found[2] or "", found[3] or "wei"
    digits = UNITS[unit]
    if len(part.rstrip("0")) > digits:
        raise BadRequest("amount", f"{text!r} has a part of a wei")
    wei: int = int(whole) * 10**digits + int(part.rstrip("0").ljust(digits, "0") or "0")
    if wei >= 1 << AMOUNT_BITS_MAX:
        raise BadRequest("amount", f"{text!r} is more than {AMOUNT_BITS_MAX} bits can say")
    return wei
