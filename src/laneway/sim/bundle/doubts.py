"""Nodes that show something else than the others: one of two, for a while.

What becomes of it is in `looks`. These views are as bad as a node's answers may be where no other
node can be asked: then the adapter believes one node about its blocks, about what is final, and
about a package that is on its way.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Final

from laneway.core.jam import (
    Failed,
    JamBlockRef,
    JamBlockSeen,
    JamHead,
    LineAsked,
    LineBlock,
    LineSeen,
    PackageFact,
    Watched,
)
from laneway.devnets.jam.model.tree import TOO_OLD
from laneway.jam.hashing import blake2b
from laneway.sim.bundle.node_view import WORDS, NodeView

KEPT_BLOCKS = (1, 2, 4)
"""How many of its newest blocks a node keeps that prunes."""


class Doubt(Enum):
    """What a node shows instead of the truth."""

    NO_RECORDS = "no records of services"
    FALSE_LINE = "a line of the service that is not"
    PRUNED_WALK = "no parents of older blocks"
    PRUNED_STATES = "no states of older blocks"
    NOT_FINAL = "no final block"
    FALSE_DEATHS = "that packages failed"


DOUBTS: Final = tuple(Doubt)
WITHOUT_RECORDS: Final = (Doubt.NO_RECORDS, Doubt.FALSE_DEATHS)


class DoubtfulView(NodeView):
    """A node in this trouble. `chosen` says how bad it is."""

    def __init__(self, truth: NodeView, doubt: Doubt, chosen: int) -> None:
        self.__dict__.update(truth.__dict__)
        self.doubt = doubt
        self._truth = truth
        self._chosen = chosen
        self._kept = KEPT_BLOCKS[chosen % len(KEPT_BLOCKS)]

    def value(self, at: bytes, service: int, key: bytes) -> bytes | None:
        return None if self.doubt in WITHOUT_RECORDS else super().value(at, service, key)

    def parent(self, block: JamBlockRef) -> JamBlockRef | None:
        is_forgotten = self.doubt is Doubt.PRUNED_WALK and self._is_old(block)
        return None if is_forgotten else super().parent(block)

    def head(self) -> JamHead:
        head = super().head()
        if self.doubt is not Doubt.NOT_FINAL:
            return head
        return JamHead(head.best, None, head.node)

    def has_state(self, block: JamBlockRef) -> bool:
        return not (self.doubt is Doubt.PRUNED_STATES and self._is_old(block))

    def shown(self, block: JamBlockRef, packages: Sequence[Watched]) -> JamBlockSeen:
        seen = super().shown(block, packages if self.has_state(block) else ())
        if self.has_state(block):
            return seen
        return JamBlockSeen(seen.block, seen.parent, (), is_readable=False)

    def _status(self, block: JamBlockRef, package: Watched) -> PackageFact | None:
        if self.doubt is not Doubt.FALSE_DEATHS:
            return super()._status(block, package)
        return Failed(WORDS.kind(0, TOO_OLD.reason), TOO_OLD.reason)

    def line(self, at: JamBlockRef, asked: LineAsked) -> LineSeen | None:
        """A false one is longer or shorter than the true one, or has another block in it."""
        found = super().line(at, asked)
        if found is None or self.doubt is not Doubt.FALSE_LINE:
            return found
        match self._chosen % 3:
            case 0:
                number = max(0, found.number - 1)
                shorter = tuple([one for one in found.blocks if one.number <= number])
                return LineSeen(at, number, shorter)
            case 1:
                more = [one for one in asked.numbers if one == found.number + 1]
                return LineSeen(at, found.number + 1, (*found.blocks, *map(made_up, more)))
            case _:
                *sound, last = found.blocks or [made_up(found.number)]
                return LineSeen(at, found.number, (*sound, made_up(last.number)))

    def _is_old(self, block: JamBlockRef) -> bool:
        return block.slot <= self._model.best(self._node).slot - self._kept


def made_up(number: int) -> LineBlock:
    name = blake2b(b"made up" + bytes([number % 256]))
    return LineBlock(number, name, name)
