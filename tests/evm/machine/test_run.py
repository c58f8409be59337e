"""The loop: pushes, jumps, the stack's bounds, and every opcode's fixed price."""

import pytest
from tests.evm.scene import Scene, assemble, gas_of, halt_of, word_of

from laneway.evm.fork import Fork
from laneway.evm.machine.halts import InvalidOpcode
from laneway.evm.machine.run import run


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("PUSH0", 0),
        ("0xff", 255),
        ("0x" + "ab" * 32, int("ab" * 32, 16)),
        ("7 8 DUP2", 7),
        ("7 8 SWAP1", 7),
        ("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 DUP16", 1),
        ("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 SWAP16", 1),
        ("5 6 POP", 5),
        ("PC", 0),
        ("1 POP PC", 3),
        # Over the first push to the destination at 6, and on from there.
        ("9 6 JUMP INVALID JUMPDEST", 9),
        ("9 1 8 JUMPI INVALID JUMPDEST", 9),
        ("9 0 200 JUMPI", 9),
    ],
)
def test_the_stack_and_jumps_do_what_the_yellow_paper_says(code: str, word: int) -> None:
    assert word_of(code) == word


@pytest.mark.parametrize(
    ("code", "gas"),
    [
        ("PUSH0", 2),
        ("1", 3),
        ("1 DUP1", 6),
        ("1 2 SWAP1", 9),
        ("1 POP", 5),
        ("PC", 2),
        ("3 JUMP JUMPDEST", 12),
        ("1 5 JUMPI JUMPDEST", 17),
        ("0 5 JUMPI JUMPDEST", 16),
    ],
)
def test_each_step_costs_its_fixed_gas(code: str, gas: int) -> None:
    assert gas_of(code) == gas


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("POP", "stack underflow"),
        ("ADD", "stack underflow"),
        ("1 ADD", "stack underflow"),
        ("ISZERO", "stack underflow"),
        ("DUP1", "stack underflow"),
        ("1 SWAP1", "stack underflow"),
        ("JUMP", "stack underflow"),
        ("1 JUMPI", "stack underflow"),
        ("1 MSTORE", "stack underflow"),
        ("3 JUMP STOP", "invalid jump destination"),
        ("1 JUMP raw:5b", "invalid jump destination"),
        ("1 1 JUMPI raw:5b", "invalid jump destination"),
        ("0xffffffffffffffffff JUMP", "invalid jump destination"),
        ("INVALID", "invalid opcode"),
        ("raw:0c", "invalid opcode"),
        ("JUMPDEST PUSH0 PUSH0 JUMP", "stack limit reached 1024"),
        ("JUMPDEST PC PUSH0 JUMP", "stack limit reached 1024"),
        ("JUMPDEST ADDRESS PUSH0 JUMP", "stack limit reached 1024"),
        ("JUMPDEST PUSH0 DUP1 POP DUP1 PUSH0 JUMP", "stack limit reached 1024"),
    ],
)
def test_a_step_that_cannot_be_taken_halts_the_frame(code: str, reason: str) -> None:
    assert halt_of(code) == reason


@pytest.mark.parametrize("code", ["raw:" + "5f" * 1024, "raw:" + "5f" * 1023 + "30"])
def test_the_stack_may_be_full(code: str) -> None:
    assert len(Scene().run(code).stack) == 1_024


@pytest.mark.parametrize("gas", range(9))
def test_a_frame_has_its_gas_or_none(gas: int) -> None:
    assert halt_of("1 2 ADD", gas=gas) == "out of gas"


def test_code_without_an_end_ends_after_its_last_byte() -> None:
    frame = Scene().run("1 2")
    assert (frame.is_good(), frame.stack, frame.output) == (True, [1, 2], b"")
    assert Scene().run(assemble("raw:61")).stack == [0]


def test_a_frame_goes_on_where_it_was() -> None:
    frame = Scene().frame("1 2 ADD")
    frame.pc, frame.stack = 2, [7]
    run(frame)
    assert frame.stack == [9]


def test_an_index_error_of_an_opcode_with_a_frame_is_no_underflow() -> None:
    """It would be a bug, and is not taken for the caller's mistake."""
    scene = Scene()

    def broken(frame: object) -> bool:
        raise IndexError

    table = scene.rules.opcodes
    framed = (broken, *table.framed[1:])
    context = scene.context(opcodes=table._replace(framed=framed))
    with pytest.raises(IndexError):
        run(scene.frame("STOP", context=context))


def test_an_opcode_of_a_later_fork_is_invalid() -> None:
    assert word_of("1 CLZ") == 255
    frame = Scene(fork=Fork.PRAGUE).run(assemble("1 CLZ"))
    assert isinstance(frame.halt, InvalidOpcode)
