"""What a trace knows where it goes on."""

import pytest

from laneway.evm.compiled.known import Known, is_in, memory_gas
from laneway.evm.compiled.words import Word, constant
from laneway.evm.limits import LINKS_SEARCHED_MAX
from laneway.evm.machine.frame import CallFrame

X, Y, SEVEN = Word("x"), Word("y"), constant(7)


def test_a_word_that_was_not_taken_from_the_stack_is_noted() -> None:
    known = Known()
    known.stack = [X]
    assert (known.at(1), known.taken) == (X, 0)
    assert known.at(3) == Word("s1")
    assert known.stack == [Word("s1"), Word("s0"), X]
    assert (known.taken, known.height()) == (2, 1)


def test_a_condition_holds_or_its_opposite_or_nobody_knows() -> None:
    known = Known()
    known.learn("x")
    known.learn("not y")
    assert [known.holds(text) for text in ("x", "not x", "y", "not y", "z")] == [
        True,
        False,
        False,
        True,
        None,
    ]
    assert is_in("x", known.facts)
    assert not is_in("x", None)
    for number in range(LINKS_SEARCHED_MAX):
        known.learn(f"x < {number}")
    assert known.holds("x < 0")
    assert known.holds("x") is None, "it is too long ago"


@pytest.mark.parametrize("size", [32, 64, 1_024, 16_384])
def test_memory_that_is_all_known_is_paid_for_as_a_frame_pays(size: int) -> None:
    known = Known()
    known.has_all_memory = True
    known.grow(5)
    known.grow(size)
    frame = CallFrame.__new__(CallFrame)
    frame.memory, frame.memory_gas, frame.gas = bytearray(), 0, 10**6
    frame.extend(0, size)
    assert (known.gas, known.least_bytes) == (10**6 - frame.gas, len(frame.memory))
    assert memory_gas(size) == frame.memory_gas
    unknown = Known()
    unknown.grow(5)
    assert (unknown.gas, unknown.least_bytes) == (0, 32)


def test_words_of_memory_are_known_as_a_whole() -> None:
    known = Known()
    known.cells = {0: X, 32: Y, 70: SEVEN}
    assert known.cells_of(0, 64) == [X, Y]
    assert known.cells_of(0, 40) is None
    assert known.cells_of(0, 96) is None
    assert known.overlapping(64) == [70]
    assert known.overlapping(32) == []
    assert known.overlapping(1) == [0, 32]


def test_what_is_handed_on_can_be_used_there() -> None:
    known = Known()
    known.stack = [X, SEVEN, X]
    known.cells = {0: Y}
    known.values = {"x + 1": Word("z"), "x + 2": Y, "x + 3": SEVEN}
    known.slots = {"x": Word("z"), "z": X}
    known.learn("x")
    made, names = known.handed_on()
    assert names == ("x", "y")
    assert made.values == {"x + 2": Y, "x + 3": SEVEN}
    assert made.slots == {"z": X}
    assert made.holds("x")
    assert (made.depth, known.depth) == (1, 0)
    assert made.weight() == 3 + 1 + 2 + 1
    made.stack.append(Y)
    made.dirty[0] = None
    assert known.stack == [X, SEVEN, X]
    assert known.dirty == {}
