"""The shuffle of a JAM chain (Gray Paper, appendix F): Fisher–Yates with numbers drawn from a hash.

It holds no entropy of its own: the same hash gives the same order everywhere.
"""

import struct
from collections.abc import Sequence
from typing import TypeVar

from laneway.jam.hashing import HASH_BYTES, blake2b

T = TypeVar("T")

DRAWS_PER_HASH = HASH_BYTES // 4


def shuffled(items: Sequence[T], entropy: bytes) -> tuple[T, ...]:
    """The items in the order that the entropy gives them."""
    left = list(items)
    drawn: list[T] = []
    for draw in draws(entropy, len(left)):
        at = draw % len(left)
        drawn.append(left[at])
        # The last takes the place of the drawn one; when they are the same, it just goes.
        last = left.pop()
        if at < len(left):
            left[at] = last
    return tuple(drawn)


def draws(entropy: bytes, count: int) -> list[int]:
    """So many numbers of 32 bits, eight from each hash (Q)."""
    assert len(entropy) == HASH_BYTES
    found: list[int] = []
    for place in range((count + DRAWS_PER_HASH - 1) // DRAWS_PER_HASH):
        found += struct.unpack("<8I", blake2b(entropy + place.to_bytes(4, "little")))
    return found[:count]
