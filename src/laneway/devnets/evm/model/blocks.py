"""The blocks of a chain, those of forks that it left too, and the state after each."""

from laneway.devnets.evm.model.block import EvmBlock
from laneway.devnets.evm.model.states import EvmAccountState, EvmChainState, ExecutedState
from laneway.devnets.evm.model.values import ChainSnapshot


class EvmBlocks:
    """Every block that ever was, and which of them are the chain now."""

    def __init__(self, first: EvmBlock, state: EvmChainState) -> None:
        self._begin(first, state)

    def _begin(self, first: EvmBlock, state: EvmChainState) -> None:
        self.first_number = self.final_number = first.number
        """Of the oldest block that is known, and of the last one that is final."""
        self._blocks = {first.hash: first}
        self._states = {first.hash: state}
        self._chain = [first]
        self._pending: tuple[EvmBlock, EvmChainState] | None = None

    def newest(self) -> EvmBlock:
        """The chain's last block, whether any node has seen it or not."""
        return self._chain[-1]

    def history(self) -> tuple[EvmBlock, ...]:
        """The chain as it is now, from the oldest block that is known."""
        return tuple(self._chain)

    def parent(self, block: EvmBlock) -> EvmBlock:
        return self._blocks[block.parent]

    def account(self, block: EvmBlock, address: bytes) -> EvmAccountState:
        """How an account stood after a block."""
        return self._state(block).standing(address)

    def executed(self, block: EvmBlock) -> ExecutedState:
        """All that stood in the state after a block of a chain that executes."""
        state = self._state(block)
        assert isinstance(state, ExecutedState), "this chain moves value alone"
        return state

    def _state(self, block: EvmBlock) -> EvmChainState:
        if self._pending is not None and block is self._pending[0]:
            return self._pending[1]
        return self._states[block.hash]

    def snapshot(self) -> ChainSnapshot:
        """What `restore` goes back to. It costs nothing: states never change."""
        newest = self._chain[-1]
        return ChainSnapshot(newest, self._states[newest.hash])

    def set_account(
        self, address: bytes, *, balance_wei: int | None = None, nonce: int | None = None
    ) -> None:
        """Overwrite an account in the newest state, as if somebody else had used its key."""
        state = self._states[self._chain[-1].hash]
        old = state.standing(address)
        standing = EvmAccountState(
            old.balance_wei if balance_wei is None else balance_wei,
            old.nonce if nonce is None else nonce,
        )
        self._states[self._chain[-1].hash] = state.with_standing(address, standing)

    def set_code(self, address: bytes, code: bytes) -> None:
        """Overwrite the code of an account in the newest state. Only of a chain that executes."""
        newest = self._chain[-1]
        self._states[newest.hash] = self.executed(newest).with_code(address, code)

    def set_storage(self, address: bytes, key: int, value: int) -> None:
        """Overwrite one key of an account in the newest state. Only of a chain that executes."""
        newest = self._chain[-1]
        self._states[newest.hash] = self.executed(newest).with_storage(address, key, value)

    def hash_at(self, number: int, below: EvmBlock | None = None) -> bytes:
        """Of the block of this number, below another one or on the chain as it is now."""
        found = self._ancestor(below or self._chain[-1], number)
        assert found is not None, "code reads no hash but of blocks below its own"
        return found.hash

    def _append(self, block: EvmBlock, state: EvmChainState) -> None:
        self._blocks[block.hash] = block
        self._states[block.hash] = state
        self._chain.append(block)

    def _go_back(self, kept: ChainSnapshot) -> None:
        branch, block = [], kept.block
        while not self._is_canonical(block):
            branch.append(block)
            block = self._blocks[block.parent]
        self._cut(block.number)
        self._chain += reversed(branch)
        self._states[kept.block.hash] = kept.state

    def _cut(self, number: int) -> None:
        """Take away all blocks after the one of this number, those too that were final."""
        del self._chain[number + 1 - self.first_number :]
        self.final_number = min(self.final_number, number)

    def _ancestor(self, block: EvmBlock, number: int) -> EvmBlock | None:
        """The block of this number below another, which may be on a dead fork."""
        if not self.first_number <= number <= block.number:
            return None
        while block.number > number and not self._is_canonical(block):
            block = self._blocks[block.parent]
        return block if block.number == number else self._chain[number - self.first_number]

    def _is_canonical(self, block: EvmBlock) -> bool:
        place = block.number - self.first_number
        return place < len(self._chain) and self._chain[place] is block
