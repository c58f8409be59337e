"""Rows of words as sixteen planes of bits, where the product with one factor is a few XORs.

A plane holds one bit of each word, 64 words in a number. To multiply all words by the same element
is linear in these bits, so it is a fixed list of XORs of whole planes, which for long rows takes a
fraction of the time of a lookup for each word. How the words of a row are dealt to the bits of a
number does not matter, since the way back is the same.

The planes are not those of the words' own basis but of products of v_1, v_2, v_4 and v_8, a tower
of fields: for an element of a smaller field the planes fall into parts that are treated alike, and
these are neighbours here, so that one XOR does for all of them. Nothing here knows of shards, or of
polynomials over the field.
"""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import combinations
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from laneway.jam.field import Words, product
from laneway.jam.limits import PROGRAMS_KEPT_MAX

Planes: TypeAlias = NDArray[np.uint64]

PLANE_COUNT: Final = 16
WORDS: Final = 64
"""In one number of a plane."""
SPARE_PLANES: Final = 24
"""Memory that a product needs beside its planes: no factor of the erasure code asks for more."""

_EXCHANGES: Final = (
    (np.uint64(8), np.uint64(0x00FF_00FF_00FF_00FF)),
    (np.uint64(4), np.uint64(0x0F0F_0F0F_0F0F_0F0F)),
    (np.uint64(2), np.uint64(0x3333_3333_3333_3333)),
    (np.uint64(1), np.uint64(0x5555_5555_5555_5555)),
)
"""How far apart bits are that change places, and which of them are the lower ones."""


class Program(msgspec.Struct, frozen=True):
    """A linear map of bits as a list of XORs."""

    joined: tuple[tuple[int, int], ...]
    """Pairs that are added first; each sum counts as one bit more, after the inputs."""
    sums: tuple[tuple[int, ...], ...]
    """For each bit that comes out, those that it is the sum of."""


def write_planes(rows: Words, planes: Planes, spare: Planes) -> None:
    """Write rows of a multiple of 64 words as groups of rows: group, plane, number."""
    groups, _, width = planes.shape
    bits, spare = _split(spare, PLANE_COUNT, groups * width)
    numbers = rows.shape[1] // WORDS
    cut = rows.view(np.uint64).reshape(len(rows), PLANE_COUNT, numbers)
    bits.reshape(PLANE_COUNT, len(rows), numbers)[...] = cut.transpose(1, 0, 2)
    _exchange(bits, spare)
    shape = (groups, width)
    inputs = [plane.reshape(shape) for plane in bits]
    _map(inputs, [planes[:, place] for place in range(PLANE_COUNT)], _into_tower(), spare)


def read_planes(planes: Planes, rows: Words, spare: Planes) -> None:
    """Write the rows of which these are the planes."""
    groups, _, width = planes.shape
    bits, spare = _split(spare, PLANE_COUNT, groups * width)
    shape = (groups, width)
    found = [plane.reshape(shape) for plane in bits]
    _map([planes[:, place] for place in range(PLANE_COUNT)], found, _out_of_tower(), spare)
    _exchange(bits, spare)
    numbers = rows.shape[1] // WORDS
    cut = rows.view(np.uint64).reshape(len(rows), PLANE_COUNT, numbers)
    cut[...] = bits.reshape(PLANE_COUNT, len(rows), numbers).transpose(1, 0, 2)


def add_product(low: Planes, high: Planes, factor: int, spare: Planes) -> None:
    """Add to one group of rows another, times the factor."""
    program = _times(factor)
    shape = (len(program.sums), low.size // len(program.sums))
    inputs = list(high.reshape(shape))
    _join(inputs, program, spare)
    for total, terms in zip(low.reshape(shape), program.sums, strict=True):
        for term in terms:
            np.bitwise_xor(total, inputs[term], total)


def _split(spare: Planes, count: int, width: int) -> tuple[Planes, Planes]:
    """`count` planes from the start of free memory, and the rest of it."""
    used = count * width
    return spare[:used].reshape(count, width), spare[used:]


def _exchange(bits: Planes, spare: Planes) -> None:
    """Let 16 numbers at the same place, and the 16 bits in every quarter of them, change roles."""
    for distance, mask in _EXCHANGES:
        apart = int(distance)
        moved = spare[: apart * bits.shape[1]]
        for low, high in bits.reshape(-1, 2, apart * bits.shape[1]):
            np.right_shift(low, distance, moved)
            np.bitwise_xor(moved, high, moved)
            np.bitwise_and(moved, mask, moved)
            np.bitwise_xor(high, moved, high)
            np.left_shift(moved, distance, moved)
            np.bitwise_xor(low, moved, low)


def _map(inputs: list[Planes], found: Iterable[Planes], program: Program, spare: Planes) -> None:
    _join(inputs, program, spare)
    for total, (first, *others) in zip(found, program.sums, strict=True):
        total[...] = inputs[first]
        for term in others:
            np.bitwise_xor(total, inputs[term], total)


def _join(inputs: list[Planes], program: Program, spare: Planes) -> None:
    """Append the sums of the pairs to the inputs."""
    shape, size = inputs[0].shape, inputs[0].size
    for place, (one, other) in enumerate(program.joined):
        total = spare[place * size : (place + 1) * size].reshape(shape)
        inputs.append(np.bitwise_xor(inputs[one], inputs[other], total))


@lru_cache(maxsize=PROGRAMS_KEPT_MAX)
def _times(factor: int) -> Program:
    """The product with an element, for the parts of the smallest field of the tower that has it."""
    bits = 2
    while factor >> bits:
        bits *= 2
    tower = [_tower()[index] for index in _reversed(bits)]
    return _program([_coordinates(product(factor, element), tower) for element in tower])


@cache
def _into_tower() -> Program:
    tower = [_tower()[index] for index in _reversed(PLANE_COUNT)]
    return _program([_coordinates(1 << bit, tower) for bit in range(PLANE_COUNT)])


@cache
def _out_of_tower() -> Program:
    return _program([_tower()[index] for index in _reversed(PLANE_COUNT)])


@cache
def _tower() -> tuple[int, ...]:
    """The basis: all products of v_1, v_2, v_4 and v_8. The first 2^n span a field each."""
    found = [1]
    for step in (1, 2, 4, 8):
        found += [product(element, 1 << step) for element in found]
    return tuple(found)


def _reversed(count: int) -> list[int]:
    """In the order that is read from the other end of each number, so that parts of a small field,
    whatever its size, are neighbours."""
    order = [0]
    while len(order) < count:
        order = [2 * index for index in order] + [2 * index + 1 for index in order]
    return order


def _coordinates(element: int, basis: Sequence[int]) -> int:
    """Which basis elements add up to this one, as bits."""
    found = 0
    # Of the elements of the tower, only one has each highest bit.
    for place in sorted(range(len(basis)), key=lambda place: -basis[place]):
        if (element ^ basis[place]) < element:
            element ^= basis[place]
            found |= 1 << place
    assert element == 0
    return found


def _program(columns: Sequence[int]) -> Program:
    """The map with these images of single bits: what most sums have in common is added once
    (the greedy way of Paar, 1997)."""
    rows = [
        {column for column, image in enumerate(columns) if image >> bit & 1}
        for bit in range(len(columns))
    ]
    joined: list[tuple[int, int]] = []
    while True:
        counts: dict[tuple[int, int], int] = {}
        for row in rows:
            for pair in combinations(sorted(row), 2):
                counts[pair] = counts.get(pair, 0) + 1
        shared = [pair for pair, count in counts.items() if count > 1]
        if not shared:
            return Program(tuple(joined), tuple(tuple(sorted(row)) for row in rows))
        best = max(shared, key=lambda pair: (counts[pair], pair))
        for row in rows:
            if row.issuperset(best):
                row.difference_update(best)
                row.add(len(columns) + len(joined))
        joined.append(best)
