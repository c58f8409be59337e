"""What stands on the stack while code is translated, against the opcodes themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evm.opcodes.test_arithmetic import WORDS

from laneway.evm.compiled.words import EXPRESSIONS, Word, computed, constant
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
    words = [
        constant(number) if known and index == 0 else Word(f"x{index}")
        for index, number in enumerate(operands)
    ]
    names = {f"x{index}": number for index, number in enumerate(operands)}
    word = EXPRESSIONS[name](words)
    assert eval(word.as_number(), names) == executed(name, operands)
    assert bool(eval(word.as_condition(), names)) == bool(executed(name, operands))
    assert bool(eval(word.negated(), names)) != bool(executed(name, operands))


@pytest.mark.parametrize("name", ["SHL", "SHR"])
@pytest.mark.parametrize("distance", [0, 255, 256, 1 << 200])
def test_a_shift_by_a_known_distance_is_that_shift(name: str, distance: int) -> None:
    word = EXPRESSIONS[name]([constant(distance), Word("x")])
    assert eval(word.as_number(), {"x": 5}) == executed(name, [distance, 5])


def test_a_flag_is_one_or_zero_where_it_counts() -> None:
    flag = Word("x", is_flag=True)
    assert [eval(flag.as_number(), {"x": each}) for each in (True, False)] == [1, 0]
    assert Word("x").as_number() == "x"
    assert eval(EXPRESSIONS["ADD"]([flag, flag]).text, {"x": True}) == 2


def test_what_is_known_is_computed_while_translating() -> None:
    assert computed(OPCODES["SUB"], [constant(5), constant(3)]) == constant(2)
    assert computed(OPCODES["SUB"], [constant(5), Word("x")]) is None
    assert computed(OPCODES["EXP"], [constant(5), constant(3)]) is None
