"""The highest block that was seen of each contract, of the contracts that were seen last."""

from collections import OrderedDict

from laneway.chains.limits import CONTRACTS_SEEN_MAX


class SeenBlocks:
    """What one node showed in this process."""

    def __init__(self) -> None:
        self._blocks: OrderedDict[str, int] = OrderedDict()

    def of(self, contract: str) -> int | None:
        """None if no block of it was seen, or too long ago."""
        return self._blocks.get(contract)

    def saw(self, contract: str, number: int) -> None:
        self._blocks[contract] = max(number, self._blocks.get(contract, 0))
        self._blocks.move_to_end(contract)
        if len(self._blocks) > CONTRACTS_SEEN_MAX:
            self._blocks.popitem(last=False)
