"""Laws of polynomials: values and coefficients are two forms of the same, however they are kept."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.jam.field import ORDER, Words, product, tables
from laneway.jam.limits import (
    ERASURE_CHUNK_WORDS,
    PLANES_POINTS_MIN,
    PLANES_WORDS_MAX,
    PLANES_WORDS_MIN,
    PRODUCTS_AT_ONCE_MAX,
    WORDS_KEPT_MAX,
)
from laneway.jam.polynomials import (
    Workspace,
    add_derivative,
    borrowed,
    chunks,
    evaluate,
    interpolate,
)

WIDE = PLANES_WORDS_MIN + 70
SHAPES = [(1, 3), (2, 5), (16, 9), (64, 300), (512, 80), (PLANES_POINTS_MIN, WIDE)]
"""Points and words, from the least to those that are kept in planes."""


def some_words(count: int, width: int) -> Words:
    shape = (count, width)
    return np.random.default_rng(count).integers(0, 1 << 16, shape, dtype=np.uint16)


def values_at(
    coefficients: np.ndarray, memory: Workspace, first: int, shape: tuple[int, int]
) -> Words:
    found = np.empty(shape, np.uint16)
    evaluate(coefficients, found, memory, first=first, spoils=False)
    return found


def inverse(word: int) -> int:
    return int(tables().exp[ORDER - tables().log[word]])


def lagrange(values: list[int], first: int, point: int) -> int:
    """The value at one point, from those at `first` and the points after it."""
    found = 0
    for here, value in enumerate(values):
        for other in range(len(values)):
            if other != here:
                value = product(value, point ^ (first + other))
                value = product(value, inverse(here ^ other))
        found ^= value
    return found


@pytest.mark.parametrize(("size", "width"), SHAPES)
@pytest.mark.parametrize("block", [0, 1, 2, 5])
def test_values_come_back_from_coefficients(size: int, width: int, block: int) -> None:
    for count in (size, size // 2 + 1):
        values = some_words(count, width)
        memory = Workspace()
        found = interpolate(values, memory, first=block * size, size=size)
        for rows in (size, count, 1):
            back = values_at(found, memory, block * size, (rows, width))
            assert (back[:count] == values[:rows]).all()
            assert not back[count:].any()


@pytest.mark.parametrize("size", [1, 2, 8, 16])
@pytest.mark.parametrize(("first", "at"), [(0, 0), (0, 1), (0, 6), (1, 0), (3, 2)])
def test_values_elsewhere_are_those_of_lagrange(size: int, first: int, at: int) -> None:
    values = some_words(size, 2)
    memory = Workspace()
    coefficients = interpolate(values, memory, first=first * size, size=size)
    found = values_at(coefficients, memory, at * size, (size, 2))
    for column in range(2):
        column_values = [int(word) for word in values[:, column]]
        assert [int(word) for word in found[:, column]] == [
            lagrange(column_values, first * size, at * size + point) for point in range(size)
        ]


@pytest.mark.parametrize("at", [0, 1, 2])
def test_planes_and_tables_agree(at: int) -> None:
    size, count = PLANES_POINTS_MIN, PLANES_POINTS_MIN - 50
    values = some_words(count, WIDE)
    wide, narrow = Workspace(), Workspace()
    planes = interpolate(values, wide, first=size, size=size)
    words = interpolate(values[:, -100:], narrow, first=size, size=size)
    assert planes.dtype == np.uint64
    assert words.dtype == np.uint16
    found = values_at(planes, wide, at * size, (size - 30, WIDE))
    same = values_at(words, narrow, at * size, (size - 30, 100))
    assert (found[:, -100:] == same).all()


def test_coefficients_are_kept_unless_they_may_be_spoilt() -> None:
    values = some_words(16, 9)
    memory = Workspace()
    coefficients = interpolate(values, memory, first=0, size=16)
    before = coefficients.copy()
    found = np.empty_like(values)
    evaluate(coefficients, found, memory, first=0, spoils=False)
    assert (coefficients == before).all()
    evaluate(coefficients, found, memory, first=0, spoils=True)
    assert (coefficients == found).all()


@pytest.mark.parametrize("size", [1, 2, 8, 16])
def test_the_derivative_is_that_of_the_powers(size: int) -> None:
    """The basis polynomials are products of x, x^2 + x, (x^2 + x)^2 + (x^2 + x), …"""
    factors = [[0, 1]]
    while len(factors) < 5:
        squared = [0] * (2 * len(factors[-1]) - 1)
        squared[::2] = [product(word, word) for word in factors[-1]]
        for power, word in enumerate(factors[-1]):
            squared[power] ^= word
        factors.append(squared)
    coefficients = some_words(size, 1)
    powers = [0] * (2 * size)
    for index in range(size):
        basis = [int(coefficients[index, 0])]
        for bit, factor in enumerate(factors):
            if index >> bit & 1:
                basis = times(basis, factor)
        for power, word in enumerate(basis):
            powers[power] ^= word
    slope = [word if power % 2 == 0 else 0 for power, word in enumerate(powers[1:])]

    found = np.zeros_like(coefficients)
    add_derivative(found, coefficients)
    values = values_at(found, Workspace(), 0, (size, 1))
    assert [int(word) for word in values[:, 0]] == [value(slope, point) for point in range(size)]


def times(one: list[int], other: list[int]) -> list[int]:
    found = [0] * (len(one) + len(other) - 1)
    for place, word in enumerate(one):
        for step, factor in enumerate(other):
            found[place + step] ^= product(word, factor)
    return found


def value(powers: list[int], point: int) -> int:
    found = 0
    for word in reversed(powers):
        found = product(found, point) ^ word
    return found


def test_the_derivative_of_planes_is_that_of_words() -> None:
    size = PLANES_POINTS_MIN
    values = some_words(size, WIDE)
    wide, narrow = Workspace(), Workspace()
    planes = interpolate(values, wide, first=0, size=size)
    words = interpolate(values[:, :100], narrow, first=0, size=size)
    slopes = np.zeros_like(planes), np.zeros_like(words)
    add_derivative(slopes[0], planes)
    add_derivative(slopes[1], words)
    found = values_at(slopes[0], wide, 0, (size, WIDE))
    assert (found[:, :100] == values_at(slopes[1], narrow, 0, (size, 100))).all()


@given(st.sampled_from([1, 2, 64, 128, 512]), st.integers(0, 3 * PLANES_WORDS_MAX))
def test_chunks_are_a_whole_row_and_bounded(size: int, width: int) -> None:
    found = list(chunks(size, width))
    assert [one.start for one in found] == [0, *(one.stop for one in found)][: len(found)]
    assert (found[-1].stop if found else 0) == width
    for one in found:
        step = one.stop - one.start
        assert 0 < step <= max(PLANES_WORDS_MAX, ERASURE_CHUNK_WORDS // size)
        assert step <= PRODUCTS_AT_ONCE_MAX


def test_memory_is_used_again_up_to_a_bound() -> None:
    memory = Workspace()
    first = memory.rows("values", 10, 10)
    assert np.shares_memory(memory.rows("values", 5, 20), first)
    assert np.shares_memory(memory.rows("values", 2, 2), first)
    assert not np.shares_memory(memory.rows("found", 10, 10), first)
    larger = memory.rows("values", 10, 11)
    assert not np.shares_memory(larger, first)
    assert np.shares_memory(memory.rows("values", 1, 1), larger)
    huge = memory.rows("values", 2, WORDS_KEPT_MAX)
    assert huge.shape == (2, WORDS_KEPT_MAX)
    assert not np.shares_memory(memory.rows("values", 1, 1), huge)


def test_memory_has_one_borrower_at_a_time() -> None:
    with borrowed() as one, borrowed() as other:
        assert one is not other
    with borrowed() as again:
        assert again is one


def test_numpy_is_left_as_it_was_found() -> None:
    before = np.getbufsize()
    with pytest.raises(RuntimeError), borrowed():
        raise RuntimeError(Random(1).random())
    assert np.getbufsize() == before
