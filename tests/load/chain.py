"""The chain of a run of hours: it keeps the order of what landed, and little else."""

from array import array

from laneway.demo.audit import WatchedChain
from laneway.devnets.contract.model import ContractBlock, RoundEnded

KEPT = 64
"""Blocks at the end of each chain that stay whole: a search looks at the very last ones."""


class ThinChain(WatchedChain):
    """What is executed here begins with its number; the numbers are what stays."""

    def __init__(self, *, round_ms: int) -> None:
        super().__init__(round_ms=round_ms)
        self.landed: dict[str, array[int]] = {}
        self.count = 0

    def step(self, now_ms: int) -> list[RoundEnded]:
        ended = super().step(now_ms)
        for end in ended:
            if end.block is not None:
                self._note(end.contract, end.block)
        return ended

    def last(self, contract: str) -> int:
        """The number that landed last; they rise."""
        landed = self.landed.get(contract)
        return landed[-1] if landed else 0

    def _note(self, contract: str, number: int) -> None:
        token = self._tokens[contract]
        landed = self.landed.setdefault(contract, array("Q"))
        landed.append(number_of(token.blocks[number].data))
        self.count += 1
        old = number - KEPT
        if old > 0:
            whole = token.blocks[old]
            token.numbers.pop((whole.executor, whole.data), None)
            token.blocks[old] = ContractBlock(old, old - 1, contract, "", "", 0, 0, "")


def number_of(data: str) -> int:
    return int(data.partition(" ")[0])
