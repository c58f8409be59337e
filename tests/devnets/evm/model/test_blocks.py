"""Blocks of a chain and of the forks that it left."""

import pytest

from laneway.devnets.evm.model.block import EvmBlock
from laneway.devnets.evm.model.blocks import EvmBlocks
from laneway.devnets.evm.model.states import (
    EvmAccountState,
    ExecutedState,
    first_executed_state,
    first_value_state,
)
from laneway.devnets.evm.model.values import ChainSnapshot

WHO = b"\x01" * 20


def block(number: int, name: bytes, parent: bytes) -> EvmBlock:
    return EvmBlock(number, name, parent, 1, 0, 10, 0, ())


FIRST = block(0, b"0", b"")
STATE = first_executed_state({WHO: 5})


class Blocks(EvmBlocks):
    """One that is moved by hand."""

    def add(self, name: bytes) -> EvmBlock:
        newest = self.newest()
        made = block(newest.number + 1, name, newest.hash)
        self._append(made, self._states[newest.hash])
        return made

    def back(self, kept: ChainSnapshot) -> None:
        self._go_back(kept)

    def wait(self, pending: EvmBlock, state: ExecutedState) -> None:
        self._pending = (pending, state)


def test_what_is_set_is_of_the_newest_block_alone() -> None:
    blocks = Blocks(FIRST, STATE)
    newest = blocks.add(b"1")
    blocks.set_account(WHO, nonce=3)
    blocks.set_account(WHO, balance_wei=9)
    blocks.set_code(WHO, b"\x01")
    blocks.set_storage(WHO, 1, 2)
    assert blocks.account(newest, WHO) == EvmAccountState(9, 3)
    assert blocks.account(FIRST, WHO) == EvmAccountState(5)
    state = blocks.executed(newest)
    assert (state.code(WHO), state.storage(WHO, 1)) == (b"\x01", 2)
    assert blocks.executed(FIRST).code(WHO) == b""


def test_a_chain_goes_back_and_onto_a_fork_again() -> None:
    blocks = Blocks(FIRST, STATE)
    names = [blocks.add(name) for name in (b"1", b"2")]
    kept = blocks.snapshot()
    blocks.back(ChainSnapshot(FIRST, STATE))
    assert blocks.history() == (FIRST,)
    other = blocks.add(b"other")
    assert blocks.hash_at(1) == b"other"
    assert blocks.hash_at(1, names[1]) == b"1", "below a block of a fork it is the fork's"
    assert blocks.hash_at(0, names[1]) == b"0"
    assert blocks.parent(other) is FIRST
    blocks.back(kept)
    assert blocks.history() == (FIRST, *names)
    assert blocks.newest() is names[1]
    with pytest.raises(AssertionError, match="below its own"):
        blocks.hash_at(3)


def test_a_pending_block_has_a_state_until_there_is_another() -> None:
    blocks = Blocks(FIRST, STATE)
    waiting, later = block(1, b"p", b"0"), block(1, b"q", b"0")
    blocks.wait(waiting, STATE)
    assert blocks.account(waiting, WHO) == EvmAccountState(5)
    blocks.wait(later, STATE)
    with pytest.raises(KeyError):
        blocks.account(waiting, WHO)


def test_a_chain_that_moves_value_has_no_storage() -> None:
    with pytest.raises(AssertionError, match="value alone"):
        EvmBlocks(FIRST, first_value_state({})).executed(FIRST)
