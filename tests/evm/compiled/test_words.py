"""What stands on the stack while code is translated, against the opcodes themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evm.opcodes.test_arithmetic import WORDS

from laneway.evm.compiled import words
from laneway.evm.compiled.words import EXPRESSIONS, Word, computed, constant, negated
from laneway.evm.fork import Fork
from laneway.evm.opcodes.table import opcode_table

OPCODES = {opcode.name: opcode for opcode in opcode_table(Fork.OSAKA).known.values()}


def executed(name: str, operands: list[int]) -> int:
    stack = operands[::-1]
    plain = OPCODES[name].plain
    assert plain is not None
    plain(stack)
    return stack[0]


@pytest.mark.parametrize("name", EXPRESSIONS)
@given(st.data())
def test_an_expression_gives_what_its_opcode_gives(name: str, data: st.DataObject) -> None:
    operands = data.draw(st.lists(WORDS, min_size=OPCODES[name].pops, max_size=OPCODES[name].pops))
    known = data.draw(st.booleans())
    which, least = data.draw(st.integers(0, 2)), data.draw(st.booleans())
    some = [
        constant(number)
        if known and index == which
        else Word(f"x{index}", bits=number.bit_length() if least else 256)
        for index, number in enumerate(operands)
    ]
    names = {f"x{index}": number for index, number in enumerate(operands)}
    word = EXPRESSIONS[name](some)
    assert eval(word.as_number(), names) == executed(name, operands)
    assert executed(name, operands).bit_length() <= word.bits
    condition = word.text if word.is_flag or word.is_simple() else f"({word.text})"
    assert bool(eval(condition, names)) == bool(executed(name, operands))
    assert bool(eval(negated(condition), names)) != bool(executed(name, operands))
    assert negated(negated(condition)) == condition


@pytest.mark.parametrize("name", ["SHL", "SHR"])
@pytest.mark.parametrize("distance", [0, 255, 256, 1 << 200])
def test_a_shift_by_a_known_distance_is_that_shift(name: str, distance: int) -> None:
    for bits in (256, 3):
        word = EXPRESSIONS[name]([constant(distance), Word("x", bits=bits)])
        assert eval(word.as_number(), {"x": 5}) == executed(name, [distance, 5])


def test_a_flag_is_one_or_zero_where_it_counts() -> None:
    flag = words.flag("x")
    assert [eval(flag.as_number(), {"x": each}) for each in (True, False)] == [1, 0]
    assert Word("x").as_number() == "x"
    assert eval(EXPRESSIONS["ADD"]([flag, flag]).text, {"x": True}) == 2


def test_what_changes_nothing_is_left_out() -> None:
    address, mask = Word("x", bits=160), constant((1 << 160) - 1)
    assert EXPRESSIONS["AND"]([mask, address]) == address
    assert EXPRESSIONS["AND"]([address, mask]) == address
    assert EXPRESSIONS["ADD"]([constant(0), address]) == address
    assert EXPRESSIONS["ADD"]([address, constant(0)]) == address
    assert EXPRESSIONS["SUB"]([address, constant(0)]) == address
    assert EXPRESSIONS["ADD"]([address, address]).text == "x + x"


def test_what_is_known_is_computed_while_translating() -> None:
    assert computed(OPCODES["SUB"], [constant(5), constant(3)]) == constant(2)
    assert computed(OPCODES["SUB"], [constant(5), Word("x")]) is None
    assert computed(OPCODES["EXP"], [constant(5), constant(3)]) is None
