"""Laws of GF(2^16): the tables are the plain arithmetic of polynomials, read in a Cantor basis."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laneway.jam.field import ORDER, ZERO_LOG, Logs, Words, multiplied, product, scaled, tables

BASIS = bytes.fromhex("0001ACCA3C0E163EC582ED2E914C40126C9810D86A72B900FDB8FB34FF38991E")
words = st.integers(0, ORDER)


def read(word: int) -> int:
    """The polynomial that a word stands for."""
    found = 0
    for bit in range(16):
        if word >> bit & 1:
            found ^= int.from_bytes(BASIS[2 * bit : 2 * bit + 2])
    return found


def times(a: int, b: int) -> int:
    """A product of polynomials, modulo x^16 + x^5 + x^3 + x^2 + 1."""
    found = 0
    for bit in range(16):
        if b >> bit & 1:
            found ^= a << bit
    for bit in reversed(range(16, 31)):
        if found >> bit & 1:
            found ^= 0x1002D << (bit - 16)
    return found


@settings(max_examples=50)
@given(words, words)
def test_a_product_is_that_of_the_polynomials(a: int, b: int) -> None:
    assert read(product(a, b)) == times(read(a), read(b))
    assert product(a, b) == product(b, a)


@settings(max_examples=50)
@given(words, words, words)
def test_products_distribute_over_sums(a: int, b: int, c: int) -> None:
    assert product(a ^ b, c) == product(a, c) ^ product(b, c)


def test_each_basis_element_is_a_root_of_the_one_before_it() -> None:
    assert product(1, 1) == 1
    for bit in range(1, 16):
        element = 1 << bit
        assert product(element, element) ^ element == element >> 1


def test_every_element_but_zero_has_one_logarithm() -> None:
    log, exp = tables().log, tables().exp
    assert log[0] == ZERO_LOG
    assert sorted(log[1:]) == list(range(ORDER))
    assert (exp[log] == np.arange(ORDER + 1)).all()
    assert (exp[log[1:] + ORDER] == np.arange(1, ORDER + 1)).all()


def test_nothing_times_zero_is_anything_but_zero() -> None:
    every = np.arange(ORDER + 1, dtype=np.uint16)
    assert not scaled(every, tables().log[[0]]).any()
    assert not scaled(np.zeros_like(every), tables().log).any()


def test_rows_have_factors_of_their_own() -> None:
    rows: Words = np.array([[1, 2, 3], [4, 5, 6]], np.uint16)
    factors: Logs = tables().log[[7, 8]]
    found = scaled(rows, factors[:, None])
    assert found.tolist() == [
        [product(word, factor) for word in row]
        for row, factor in zip(rows.tolist(), (7, 8), strict=True)
    ]


@pytest.mark.parametrize("factor", [0, 1, 2, 77, 256, ORDER])
def test_all_products_with_one_factor_are_the_same_as_each_for_itself(factor: int) -> None:
    every = np.arange(ORDER + 1, dtype=np.uint16)
    assert (multiplied(every, factor) == scaled(every, tables().log[[factor]])).all()
    assert multiplied(every[5:7], factor).tolist() == [product(5, factor), product(6, factor)]


def test_tables_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        tables().exp[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        tables().log[0] = 1
