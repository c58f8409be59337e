"""Amounts that outgrow 64 bits, as rows keep them.

An account may hold more wei than msgpack's integers can say: 18.4 ether. Inside, amounts are
integers; in a row they are bytes, the largest first, without leading zeros.
"""

Amount = bytes

AMOUNT_BITS_MAX = 256


def amount(value: int) -> Amount:
    assert 0 <= value < 1 << AMOUNT_BITS_MAX
    return value.to_bytes((value.bit_length() + 7) // 8, "big")


def value(amount: Amount) -> int:
    return int.from_bytes(amount, "big")
