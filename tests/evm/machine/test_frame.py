"""Gas and memory of a frame."""

import pytest
from tests.evm.scene import Scene

from laneway.evm.machine.halts import InvalidOpcode, OutOfGas


def test_what_cannot_be_paid_ends_the_frame() -> None:
    frame = Scene().frame(gas=5)
    frame.charge(5)
    with pytest.raises(OutOfGas):
        frame.charge(1)


@pytest.mark.parametrize(
    ("at", "size", "gas", "words"),
    [(0, 0, 0, 0), (1 << 255, 0, 0, 0), (0, 1, 3, 1), (31, 2, 6, 2), (0, 32 * 724, 3195, 724)],
)
def test_memory_costs_by_its_highest_word(at: int, size: int, gas: int, words: int) -> None:
    frame = Scene().frame(gas=10_000)
    frame.extend(at, size)
    assert (10_000 - frame.gas, len(frame.memory)) == (gas, 32 * words)
    frame.extend(at, size)
    assert 10_000 - frame.gas == gas, "a range that is there costs nothing"


def test_memory_that_cannot_be_paid_is_not_made() -> None:
    frame = Scene().frame(gas=10_000)
    with pytest.raises(OutOfGas):
        frame.extend(1 << 255, 1)
    assert len(frame.memory) == 0


def test_what_is_written_is_read() -> None:
    frame = Scene().frame()
    frame.extend(0, 64)
    frame.write(3, b"abc")
    frame.write(9, b"")
    assert (frame.read(2, 5), frame.read(1 << 200, 0)) == (b"\0abc\0", b"")


def test_storage_is_looked_up_once() -> None:
    frame = Scene().frame()
    assert frame.own_storage() is frame.own_storage()


def test_a_frame_is_good_unless_it_halted_or_reverted() -> None:
    frame = Scene().frame()
    assert frame.is_good()
    frame.is_reverted = True
    assert not frame.is_good()
    frame.is_reverted, frame.halt = False, InvalidOpcode()
    assert not frame.is_good()
