"""0x00s, against Python's own integers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evm.scene import WORD_MAX, gas_of, word_of

from laneway.evm.opcodes import arithmetic as a

MIN = 1 << 255
MINUS = WORD_MAX
"""−1."""
WORDS = st.one_of(
    st.sampled_from([0, 1, 2, 31, 32, MIN - 1, MIN, MIN + 1, MINUS - 1, MINUS]),
    st.integers(0, WORD_MAX),
)


def done(do: object, *operands: int) -> int:
    """The first operand is on top."""
    stack = list(reversed(operands))
    do(stack)  # type: ignore[operator]
    (word,) = stack
    return word


@pytest.mark.parametrize(
    ("do", "operands", "word"),
    [
        (a.add, (MINUS, 2), 1),
        (a.mul, (MINUS, MINUS), 1),
        (a.sub, (1, 2), MINUS),
        (a.div, (7, 2), 3),
        (a.div, (7, 0), 0),
        (a.sdiv, (MINUS - 6, 2), MINUS - 2),
        (a.sdiv, (MIN, MINUS), MIN),
        (a.sdiv, (MINUS - 6, MINUS - 1), 3),
        (a.sdiv, (7, 0), 0),
        (a.mod, (7, 4), 3),
        (a.mod, (7, 0), 0),
        (a.smod, (MINUS - 6, 4), MINUS - 2),
        (a.smod, (7, MINUS - 3), 3),
        (a.smod, (7, 0), 0),
        (a.addmod, (MINUS, MINUS, 10), 2 * MINUS % 10),
        (a.addmod, (1, 2, 0), 0),
        (a.mulmod, (MINUS, MINUS, 12), MINUS * MINUS % 12),
        (a.mulmod, (1, 2, 0), 0),
        (a.signextend, (0, 0x80), MINUS - 127),
        (a.signextend, (0, 0x17F), 0x7F),
        (a.signextend, (31, MIN), MIN),
        (a.signextend, (1 << 200, 5), 5),
    ],
)
def test_words_are_computed_as_the_yellow_paper_says(
    do: object, operands: tuple[int, ...], word: int
) -> None:
    assert done(do, *operands) == word


@given(WORDS, WORDS, WORDS)
def test_every_result_is_a_word(x: int, y: int, z: int) -> None:
    for do in (a.add, a.mul, a.sub, a.div, a.sdiv, a.mod, a.smod, a.signextend):
        assert 0 <= done(do, x, y) <= WORD_MAX
    for do in (a.addmod, a.mulmod):
        assert 0 <= done(do, x, y, z) <= WORD_MAX


@given(WORDS, WORDS)
def test_signed_quotient_and_rest_make_the_number_again(x: int, y: int) -> None:
    quotient, rest = done(a.sdiv, x, y), done(a.smod, x, y)
    if y:
        assert (quotient * y + rest) & WORD_MAX == x
    else:
        assert (quotient, rest) == (0, 0)


@pytest.mark.parametrize(
    ("exponent", "gas"), [(0, 0), (1, 50), (255, 50), (256, 100), (MINUS, 1600)]
)
def test_a_power_costs_by_the_bytes_of_its_exponent(exponent: int, gas: int) -> None:
    code = f"0x{exponent.to_bytes(32, 'big').hex()} 3 EXP"
    assert gas_of(code) == 16 + gas
    assert word_of(code) == pow(3, exponent, 1 << 256)
