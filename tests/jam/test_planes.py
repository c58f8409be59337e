"""Laws of bit planes: rows come back as they were, and XORs of planes are products of words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laneway.jam.field import Words, multiplied, scaled, tables
from laneway.jam.planes import (
    PLANE_COUNT,
    SPARE_PLANES,
    WORDS,
    Planes,
    add_product,
    read_planes,
    write_planes,
)

GROUPS, GROUP, NUMBERS = 3, 4, 2
SPARE: Planes = np.empty((PLANE_COUNT + SPARE_PLANES) * GROUPS * GROUP * NUMBERS, np.uint64)


def some_rows(seed: int = 1) -> Words:
    shape = (GROUPS * GROUP, NUMBERS * WORDS)
    return np.random.default_rng(seed).integers(0, 1 << 16, shape, dtype=np.uint16)


def written(rows: Words) -> Planes:
    planes = np.empty((GROUPS, PLANE_COUNT, GROUP * NUMBERS), np.uint64)
    write_planes(rows, planes, SPARE)
    return planes


def read(planes: Planes) -> Words:
    rows = np.empty((GROUPS * GROUP, NUMBERS * WORDS), np.uint16)
    read_planes(planes, rows, SPARE)
    return rows


@pytest.mark.parametrize("seed", range(5))
def test_rows_come_back_as_they_were(seed: int) -> None:
    rows = some_rows(seed)
    before = rows.copy()
    planes = written(rows)
    kept = planes.copy()
    assert (read(planes) == before).all()
    assert (rows == before).all()
    assert (planes == kept).all()


def test_planes_of_a_sum_are_the_sums_of_planes() -> None:
    one, other = some_rows(1), some_rows(2)
    assert (written(one ^ other) == written(one) ^ written(other)).all()
    assert not written(np.zeros_like(one)).any()


@settings(max_examples=40)
@given(st.integers(1, 65_535), st.integers(0, 2**32))
def test_xors_of_planes_are_the_products_of_words(factor: int, seed: int) -> None:
    rows = some_rows(seed)
    planes = written(rows)
    add_product(planes[0], planes[2], factor, SPARE)
    rows[:GROUP] ^= scaled(rows[2 * GROUP :], tables().log[[factor]])
    assert (read(planes) == rows).all()


@pytest.mark.parametrize("factor", [1, 2, 3, 4, 9, 15, 16, 77, 255, 256, 300, 2_047])
def test_factors_of_every_field_of_the_tower_multiply(factor: int) -> None:
    rows = some_rows()
    planes = written(rows)
    add_product(planes[1], planes[0], factor, SPARE)
    rows[GROUP : 2 * GROUP] ^= multiplied(rows[:GROUP], factor)
    assert (read(planes) == rows).all()
