"""What a watch has told of one package, block by block, and what there is to tell next.

A fact is told when it is news on its fork. What was accumulated at a block stays so at those behind
it, also when the chain's own history has forgotten it. Nothing here asks or waits.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from laneway.chains.jam.limits import KNOWN_BLOCKS_MAX
from laneway.chains.jam.words import may_after
from laneway.core.jam import (
    Accumulated,
    BlockRef,
    BlocksGone,
    BlocksSeen,
    Failed,
    Finalised,
    Head,
    PackageFact,
    PackageSeen,
    ServiceRefused,
    Watched,
)

Told: TypeAlias = PackageSeen | BlocksGone


class Step(Struct, frozen=True):
    """One block of the trail."""

    block: BlockRef
    facts: tuple[PackageFact, ...] = ()
    end: PackageSeen | None = None
    """How the package ended on this fork, so far: the first sighting of it."""


class Trail:
    def __init__(self, package: Watched, known: Sequence[BlockRef]) -> None:
        self.is_over = False
        """Whether nothing can change any more."""
        self._package = package
        self._steps = [Step(block) for block in known]
        self._final_end: PackageSeen | None = None

    def known(self) -> list[BlockRef]:
        return [step.block for step in self._steps]

    def take(self, look: BlocksSeen) -> Iterator[Told]:
        yield from self._turn_back(look)
        for seen in look.blocks:
            last = self._steps[-1] if self._steps else Step(seen.block)
            facts = tuple(one.fact for one in seen.seen) if seen.is_readable else last.facts
            news = [one for one in seen.seen if one.fact not in last.facts]
            end = last.end
            for one in news:
                end = self._ended(end, one)
            yield from news
            self._steps.append(Step(seen.block, facts, end))
        del self._steps[:-KNOWN_BLOCKS_MAX]
        yield from self._settle(look.head)

    def _turn_back(self, look: BlocksSeen) -> Iterator[Told]:
        """Go back to where the fork begins, or begin anew behind a gap."""
        if look.gone:
            yield BlocksGone(look.gone, look.head.best)
        if look.after is None:
            self._steps.clear()
            return
        while self._steps and self._steps[-1].block != look.after:
            self._steps.pop()

    def _ended(self, end: PackageSeen | None, seen: PackageSeen) -> PackageSeen | None:
        has_failed = end is not None and isinstance(end.fact, Failed)
        if isinstance(seen.fact, ServiceRefused):
            return seen
        if isinstance(seen.fact, Accumulated):
            # The service's own word is better than the chain's, which says less.
            return seen if end is None or has_failed or seen.fact.number is not None else end
        if isinstance(seen.fact, Failed):
            return seen if end is None else end
        # A package that can be reported again, or was, has not failed on this fork.
        return None if has_failed else end

    def _settle(self, head: Head) -> Iterator[Told]:
        end = self._steps[-1].end if self._steps else None
        if end is None or head.finalised is None or end.block.slot > head.finalised.slot:
            return
        if end != self._final_end:
            self._final_end = end
            fact = Finalised(head.finalised)
            yield PackageSeen(end.package_hash, end.block, fact, may_after(fact), head.node)
        if isinstance(end.fact, Accumulated):
            self.is_over = end.fact.number is not None or not self._package.keeps_records
        elif isinstance(end.fact, ServiceRefused):
            self.is_over = True
