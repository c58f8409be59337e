"""Polynomials over GF(2^16), many at once: from values to coefficients and back.

They are written in the basis of Lin, Chung and Han ("Novel polynomial basis and its application to
Reed-Solomon erasure codes", 2014), in which evaluating at 2^n points takes n layers of butterflies.
In a Cantor basis the factor of a butterfly is known without a table: for the pair of blocks that
begins at point r, in the layer whose blocks have 2^i points, it is r >> i.

A row has the words of all polynomials at one point, or of one coefficient. Products come from
tables; where rows are long, the upper layers, which have few factors, work on planes of bits.
Nothing here knows of shards.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from laneway.jam.field import Logs, Words, multiplied, scaled, tables
from laneway.jam.limits import (
    ERASURE_CHUNK_WORDS,
    FACTOR_TABLE_MAX,
    FACTOR_TABLE_WORDS_MIN,
    PLANES_POINTS_MIN,
    PLANES_WORDS_MAX,
    PLANES_WORDS_MIN,
    PRODUCTS_AT_ONCE_MAX,
    WORDS_KEPT_MAX,
)
from laneway.jam.planes import (
    PLANE_COUNT,
    SPARE_PLANES,
    WORDS,
    Planes,
    add_product,
    read_planes,
    write_planes,
)

Coefficients: TypeAlias = NDArray[Any]
"""Rows of words, or planes: group of rows, plane, 64 words of each row of the group."""

Use: TypeAlias = Literal["values", "found", "coefficients", "others", "slab", "spare"]
"""What memory is for."""

GROUP: Final = 8
"""Rows of a group of planes. The layers within it have too many factors for planes."""


class Workspace:
    """What computing takes, once for each use."""

    def __init__(self) -> None:
        self._kept: dict[Use, Words] = {}

    def rows(self, use: Use, count: int, width: int) -> Words:
        """Rows with anything in them."""
        words = count * width
        held = self._kept.get(use)
        if held is None or len(held) < words:
            held = np.empty(words, np.uint16)
            if words <= WORDS_KEPT_MAX:
                self._kept[use] = held
        return held[:words].reshape(count, width)

    def numbers(self, use: Use, count: int) -> Planes:
        return self.rows(use, 4, count).reshape(-1).view(np.uint64)

    def like(self, use: Use, other: Coefficients) -> Coefficients:
        """As much as the other has, and of the same kind."""
        rows = self.rows(use, 1, other.nbytes // 2)
        return rows.view(other.dtype).reshape(other.shape)


_SPARE: Final[deque[Workspace]] = deque(maxlen=1)
"""Memory that nobody uses. The system takes back what is freed, and to get it again, page by
page, takes a fifth of the time that coding takes."""


@contextmanager
def borrowed() -> Iterator[Workspace]:
    """Memory for one caller alone, with numpy set up for long blocks."""
    # By default numpy copies what is not contiguous into a buffer, a few blocks at a time, and
    # computes there; ours are long enough to be taken where they are.
    before = np.setbufsize(16)
    try:
        memory = _SPARE.pop()
    except IndexError:
        memory = Workspace()
    try:
        yield memory
    finally:
        _SPARE.append(memory)
        np.setbufsize(before)


def chunks(size: int, width: int) -> Iterator[slice]:
    """The parts into which rows of this width are cut to bound memory, with `size` points."""
    step = min(ERASURE_CHUNK_WORDS // size, PRODUCTS_AT_ONCE_MAX)
    if _is_wide(size, width):
        count = -(-width // PLANES_WORDS_MAX)
        step = -(-width // count)
    for at in range(0, width, step):
        yield slice(at, min(at + step, width))


def interpolate(values: Words, memory: Workspace, *, first: int, size: int) -> Coefficients:
    """Coefficients of the polynomials with these values at `first` and the points after it, and
    with zeros at the rest of `size` points. They are good until the next are computed."""
    count, width = values.shape
    if _is_wide(size, width):
        return _interpolate_wide(values, memory, first=first, size=size)
    work = memory.rows("coefficients", size, width)
    work[:count] = values
    work[count:] = 0
    _interpolate_words(work, first, count, size)
    return work


def evaluate(
    coefficients: Coefficients, found: Words, memory: Workspace, *, first: int, spoils: bool
) -> None:
    """Write the values at `first` and the points after it. The coefficients may be spoilt if nobody
    needs them any more."""
    work = coefficients
    if not spoils:
        work = memory.like("others", coefficients)
        work[...] = coefficients
    if work.dtype == np.uint64:
        _evaluate_wide(work, found, memory, first)
    else:
        _evaluate_words(work, first, len(found), len(work))
        found[...] = work[: len(found)]


def add_derivative(found: Coefficients, coefficients: Coefficients) -> None:
    """The derivative of a basis polynomial is the sum of those that lack one of its factors, since
    every factor has the derivative 1."""
    half, size = 1, len(found) * (GROUP if found.dtype == np.uint64 else 1)
    while half < size:
        low, _ = _sides(found, half)
        _, high = _sides(coefficients, half)
        np.bitwise_xor(low, high, low)
        half *= 2


def _is_wide(size: int, width: int) -> bool:
    return size >= PLANES_POINTS_MIN and width >= PLANES_WORDS_MIN


def _interpolate_words(work: Words, first: int, count: int, stop: int) -> None:
    """The layers with blocks of less than `stop` rows, in place; rows from `count` on are zero."""
    half = 1
    while half < stop:
        for low, high, factors in _butterflies(work, half, first, count):
            np.bitwise_xor(high, low, high)
            _add_products(low, high, factors)
        half *= 2


def _evaluate_words(work: Words, first: int, wanted: int, stop: int) -> None:
    """The same backwards; what the rows from `wanted` on hold afterwards means nothing."""
    half = stop // 2
    while half:
        for low, high, factors in _butterflies(work, half, first, wanted):
            _add_products(low, high, factors)
            np.bitwise_xor(high, low, high)
        half //= 2


def _butterflies(
    work: Words, half: int, first: int, rows: int
) -> Iterator[tuple[Words, Words, int | Logs]]:
    """Those of a layer that touch the first rows, as many at a time as may be multiplied: their
    lower and upper sides, and the one factor of all or the logarithm of each."""
    pairs, factor = -(-rows // (2 * half)), first // half
    low, high = _sides(work[: 2 * half * pairs], half)
    words = low.shape[1]
    if words < FACTOR_TABLE_WORDS_MIN or factor + 2 * pairs > FACTOR_TABLE_MAX:
        logs = tables().log[factor : factor + 2 * pairs : 2, None]
        step = max(1, PRODUCTS_AT_ONCE_MAX // words)
        for at in range(0, pairs, step):
            yield low[at : at + step], high[at : at + step], logs[at : at + step]
        return
    for pair in range(pairs):
        for at in range(0, words, PRODUCTS_AT_ONCE_MAX):
            some = slice(at, at + PRODUCTS_AT_ONCE_MAX)
            yield low[pair, some], high[pair, some], factor + 2 * pair


def _sides(work: Coefficients, half: int) -> tuple[Coefficients, Coefficients]:
    """The low and the high block of each pair, of `half` rows each."""
    if work.dtype == np.uint64:
        row = work.shape[2] // GROUP
        size = half * row if half < GROUP else half * row * PLANE_COUNT
    else:
        size = half * work.shape[1]
    pairs = work.reshape(-1, 2, size)
    return pairs[:, 0], pairs[:, 1]


def _add_products(low: Words, high: Words, factors: int | Logs) -> None:
    """Add to each low block the high one, times its factor."""
    if not isinstance(factors, int):
        np.bitwise_xor(low, scaled(high, factors), low)
    elif factors:
        np.bitwise_xor(low, multiplied(high, factors), low)


def _interpolate_wide(values: Words, memory: Workspace, *, first: int, size: int) -> Planes:
    """The lower layers some groups at a time, and then the upper ones on planes."""
    count, width = values.shape
    numbers, groups = -(-width // WORDS), -(-count // GROUP)
    planes = memory.numbers("coefficients", size * PLANE_COUNT * numbers)
    planes = planes.reshape(size // GROUP, PLANE_COUNT, GROUP * numbers)
    planes[groups:] = 0
    for begin, end in _slabs(groups, numbers):
        work = memory.rows("slab", GROUP * (end - begin), WORDS * numbers)
        part = values[GROUP * begin : GROUP * end]
        work[: len(part), :width] = part
        work[len(part) :] = 0
        work[:, width:] = 0
        _interpolate_words(work, first + GROUP * begin, len(work), GROUP)
        write_planes(work, planes[begin:end], _spare(memory, len(work) * numbers))
    spare, half = _spare(memory, GROUP * numbers), 1
    while half < len(planes):
        for low, high, factor in _group_pairs(planes, half, first // GROUP, groups):
            np.bitwise_xor(high, low, high)
            if factor:
                add_product(low, high, factor, spare)
        half *= 2
    return planes


def _evaluate_wide(planes: Planes, found: Words, memory: Workspace, first: int) -> None:
    wanted, width = found.shape
    numbers, groups = -(-width // WORDS), -(-wanted // GROUP)
    spare, half = _spare(memory, GROUP * numbers), len(planes) // 2
    while half:
        for low, high, factor in _group_pairs(planes, half, first // GROUP, groups):
            if factor:
                add_product(low, high, factor, spare)
            np.bitwise_xor(high, low, high)
        half //= 2
    for begin, end in _slabs(groups, numbers):
        work = memory.rows("slab", GROUP * (end - begin), WORDS * numbers)
        read_planes(planes[begin:end], work, _spare(memory, len(work) * numbers))
        _evaluate_words(work, first + GROUP * begin, len(work), GROUP)
        part = found[GROUP * begin : GROUP * end]
        part[...] = work[: len(part), :width]


def _slabs(groups: int, numbers: int) -> Iterator[tuple[int, int]]:
    """As many groups at a time as may be multiplied."""
    step = max(1, PRODUCTS_AT_ONCE_MAX // (GROUP * WORDS * numbers))
    for begin in range(0, groups, step):
        yield begin, min(begin + step, groups)


def _spare(memory: Workspace, numbers: int) -> Planes:
    """The free memory for work on planes of this many numbers."""
    return memory.numbers("spare", (PLANE_COUNT + SPARE_PLANES) * numbers)


def _group_pairs(
    planes: Planes, half: int, first: int, groups: int
) -> Iterator[tuple[Planes, Planes, int]]:
    """The butterflies of a layer that touch the first groups, with blocks of `half` groups."""
    for pair in range(-(-groups // (2 * half))):
        factor = first // half + 2 * pair
        for low in range(2 * half * pair, 2 * half * pair + half):
            yield planes[low], planes[low + half], factor
