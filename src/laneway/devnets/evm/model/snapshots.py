"""Where a chain may be set back to, by the numbers that its callers were given."""

from collections.abc import Mapping

from laneway.devnets.evm.limits import SNAPSHOTS_COUNT_MAX
from laneway.devnets.evm.model.chain import EvmModel
from laneway.devnets.evm.model.values import ChainSnapshot


class ChainSnapshots:
    def __init__(self, chain: EvmModel) -> None:
        self._chain = chain
        self._kept: dict[int, ChainSnapshot] = {}
        self._next = 0

    def take(self) -> int | None:
        """A number that no snapshot had before; None if there are too many."""
        if len(self._kept) >= SNAPSHOTS_COUNT_MAX:
            return None
        number, self._next = self._next, self._next + 1
        self._kept[number] = self._chain.snapshot()
        return number

    def revert(self, number: int) -> bool:
        """Go back; this snapshot and all later ones are used up. False if there is none."""
        kept = self._kept.get(number)
        if kept is None:
            return False
        self._kept = {one: each for one, each in self._kept.items() if one < number}
        self._chain.restore(kept)
        return True

    def clear(self) -> None:
        """Forget all; numbers go on."""
        self._kept.clear()

    def kept(self) -> Mapping[int, ChainSnapshot]:
        return dict(self._kept)
