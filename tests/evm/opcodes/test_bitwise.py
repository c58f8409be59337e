"""0x10s: comparison and bits."""

import pytest
from hypothesis import given
from tests.evm.opcodes.test_arithmetic import MIN, MINUS, WORDS, done
from tests.evm.scene import WORD_MAX

from laneway.evm.opcodes import bitwise as b
from laneway.evm.opcodes.arithmetic import signed


@pytest.mark.parametrize(
    ("do", "operands", "word"),
    [
        (b.lt, (1, 2), 1),
        (b.lt, (2, 2), 0),
        (b.gt, (3, 2), 1),
        (b.gt, (2, 2), 0),
        (b.slt, (MINUS, 0), 1),
        (b.slt, (0, MIN), 0),
        (b.sgt, (0, MIN), 1),
        (b.sgt, (MINUS, 0), 0),
        (b.eq, (5, 5), 1),
        (b.eq, (5, 6), 0),
        (b.iszero, (0,), 1),
        (b.iszero, (9,), 0),
        (b.and_, (6, 3), 2),
        (b.or_, (6, 3), 7),
        (b.xor, (6, 3), 5),
        (b.not_, (0,), MINUS),
        (b.byte, (31, 0x1234), 0x34),
        (b.byte, (0, MIN), 0x80),
        (b.byte, (32, MINUS), 0),
        (b.shl, (1, MIN + 1), 2),
        (b.shl, (256, 1), 0),
        (b.shl, (MINUS, 1), 0),
        (b.shr, (1, MIN), MIN >> 1),
        (b.shr, (256, MINUS), 0),
        (b.sar, (1, MIN), MIN + (MIN >> 1)),
        (b.sar, (MINUS, MIN), MINUS),
        (b.sar, (300, MIN - 1), 0),
        (b.clz, (0,), 256),
        (b.clz, (1,), 255),
        (b.clz, (MIN,), 0),
    ],
)
def test_bits_are_what_the_yellow_paper_says(
    do: object, operands: tuple[int, ...], word: int
) -> None:
    assert done(do, *operands) == word


@given(WORDS, WORDS)
def test_signed_order_is_that_of_signed_numbers(x: int, y: int) -> None:
    assert done(b.slt, x, y) == (signed(x) < signed(y))
    assert done(b.sgt, x, y) == (signed(x) > signed(y))


@given(WORDS, WORDS)
def test_every_result_is_a_word(x: int, y: int) -> None:
    for do in (b.and_, b.or_, b.xor, b.byte, b.shl, b.shr, b.sar):
        assert 0 <= done(do, x, y) <= WORD_MAX
