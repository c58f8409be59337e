"""GF(2^16) as the erasure code counts in it: products of words by tables of logarithms.

The field is made by x^16 + x^5 + x^3 + x^2 + 1, and a word is read in a Cantor basis: bit i stands
for an element v_i with v_i^2 + v_i = v_(i-1) and v_0 = 1. Addition is XOR. Nothing here knows of
shards, or of polynomials over the field.
"""

from functools import cache, lru_cache
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from laneway.jam.limits import FACTOR_TABLES_KEPT_MAX

Words: TypeAlias = NDArray[np.uint16]
Logs: TypeAlias = NDArray[np.int32]

ORDER: Final = 65_535
"""Elements besides zero; each is a power of x."""
ZERO_LOG: Final = 2 * ORDER
"""Stands for the logarithm of zero. No two real logarithms add up to it and from there on the
powers are zero, so that no product needs a case of its own."""

_POLYNOMIAL: Final = 0x1_002D
_CANTOR_BASIS: Final = (
    *(0x0001, 0xACCA, 0x3C0E, 0x163E, 0xC582, 0xED2E, 0x914C, 0x4012),
    *(0x6C98, 0x10D8, 0x6A72, 0xB900, 0xFDB8, 0xFB34, 0xFF38, 0x991E),
)


class Tables(msgspec.Struct, frozen=True):
    """Every product as a sum: exp[log[a] + log[b]]."""

    log: Logs
    """Of every word; ZERO_LOG for zero."""
    exp: Words
    """Of every sum of two entries of `log`."""


@cache
def tables() -> Tables:
    """Made at first use, since that takes some 10 ms and most programs never ask."""
    words = np.empty(ORDER + 1, np.uint16)
    words[_elements()] = np.arange(ORDER + 1, dtype=np.uint16)
    exp = np.zeros(2 * ZERO_LOG + 1, np.uint16)
    exp[:ORDER] = exp[ORDER:ZERO_LOG] = words[_powers()]
    log = np.full(ORDER + 1, ZERO_LOG, np.int32)
    log[exp[:ORDER]] = np.arange(ORDER, dtype=np.int32)
    exp.setflags(write=False)
    log.setflags(write=False)
    return Tables(log, exp)


def _elements() -> Words:
    """The polynomial that each word stands for, its bit i for x^i."""
    elements = np.zeros(1, np.uint16)
    for element in _CANTOR_BASIS:
        elements = np.concatenate((elements, elements ^ np.uint16(element)))
    return elements


def _powers() -> Words:
    """Those of x, each as a polynomial."""
    powers = np.empty(ORDER, np.uint16)
    power = 1
    for exponent in range(ORDER):
        powers[exponent] = power
        power <<= 1
        if power > ORDER:
            power ^= _POLYNOMIAL
    return powers


def scaled(words: Words, logs: Logs) -> Words:
    """The words, multiplied by the elements with these logarithms; the shapes are broadcast."""
    known = tables()
    # No index is out of range: "wrap" only spares numpy a look at each of them.
    sums = known.log.take(words, mode="wrap")
    np.add(sums, logs, out=sums)
    return known.exp.take(sums, mode="wrap")


def product(one: int, other: int) -> int:
    """Of two words."""
    known = tables()
    return int(known.exp[known.log[one] + known.log[other]])


def multiplied(words: Words, factor: int) -> Words:
    """The words, multiplied by one element: in half the time, once all its products are known."""
    return _products(factor).take(words, mode="wrap")


@lru_cache(maxsize=FACTOR_TABLES_KEPT_MAX)
def _products(factor: int) -> Words:
    """Those of all words."""
    return scaled(np.arange(ORDER + 1, dtype=np.uint16), tables().log[[factor]])
