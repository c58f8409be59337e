"""The tree of blocks, and what a party has seen of it: forks, the best block, the final one.

The best block is the highest that stands upon the final one; of two of one height it is the
earlier, and so the one that was there first. A final block never changes. Blocks far below it are
forgotten, whatever fork they are on.
"""

from collections.abc import Iterator
from copy import copy
from itertools import takewhile
from typing import Final

from laneway.devnets.jam.limits import BLOCKS_KEPT_MAX
from laneway.devnets.jam.model.state import ChainState
from laneway.devnets.jam.model.values import (
    BlockUnavailable,
    Descriptor,
    PackageFailed,
    PackageReady,
    PackageReportable,
    PackageReported,
    Status,
    StepReport,
)
from laneway.jam.header import Block
from laneway.jam.votes import Justification
from laneway.jam.windows import remaining_blocks

OTHER_FORK: Final = PackageFailed("anchor is not among the recent blocks of this fork")
UNAVAILABLE: Final = PackageFailed("the report was not made available in time")
TOO_OLD: Final = PackageFailed("the package was not reported before its anchor was too old")


class TreeEntry:
    """A block of the tree with the state after it."""

    def __init__(
        self,
        block: Block,
        header_hash: bytes,
        state: ChainState,
        made: StepReport,
        variant: int = 0,
    ) -> None:
        self.block = block
        self.hash = header_hash
        self.parent = block.header.parent
        self.slot = block.header.slot
        self.number = made.number
        self.state = state
        self.made = made
        self.variant = variant
        self.finality: tuple[bytes, Justification] | None = None
        """The block that was voted for, which is this one or stands upon it, and the votes."""

    @property
    def descriptor(self) -> Descriptor:
        return Descriptor(self.hash, self.slot)


class BlockTree:
    """All blocks that are remembered."""

    def __init__(self, genesis: TreeEntry, lookup_slots_max: int) -> None:
        self._entries = {genesis.hash: genesis}
        self._lookup_slots_max = lookup_slots_max
        self._final_slots = {genesis.hash: genesis.slot}
        """Of final blocks, for as long as one may be a lookup anchor."""
        self.final = genesis

    def get(self, block: bytes) -> TreeEntry | None:
        return self._entries.get(block)

    def __iter__(self) -> Iterator[TreeEntry]:
        """A parent comes before its children."""
        return iter(tuple(self._entries.values()))

    def add(self, entry: TreeEntry) -> None:
        self._entries[entry.hash] = entry

    def lineage(self, entry: TreeEntry) -> Iterator[TreeEntry]:
        """The entry, its parent, and so on, as far as they are remembered."""
        found: TreeEntry | None = entry
        while found is not None:
            yield found
            found = self._entries.get(found.parent)

    def ancestor(self, entry: TreeEntry, number: int) -> TreeEntry:
        """The block of this height below an entry."""
        assert number <= entry.number
        return next(one for one in self.lineage(entry) if one.number == number)

    def is_ancestor(self, older: TreeEntry, newer: TreeEntry) -> bool:
        """Whether one is the other or before it on its fork. The genesis is before all."""
        if older.number == 0:
            return True
        return older.number <= newer.number and self.ancestor(newer, older.number) is older

    def slot_before(self, block: bytes, head: TreeEntry) -> int | None:
        """The slot of a block that is the head or before it; None of any other."""
        entry = self._entries.get(block)
        if entry is not None:
            return entry.slot if self.is_ancestor(entry, head) else None
        return self._final_slots.get(block)

    def between(self, older: TreeEntry, newer: TreeEntry) -> list[TreeEntry]:
        """The blocks after one up to the other, oldest first."""
        found = list(takewhile(lambda one: one is not older, self.lineage(newer)))
        return found[::-1]

    def status(self, at: TreeEntry, package: bytes, anchor: TreeEntry) -> Status:
        """The status of a package with this anchor after this block, on this fork alone. Ready is
        the last: a package that waits for another which never comes stays so. BlockUnavailable
        where a block between them is forgotten: it may have reported the package."""
        if not self.is_ancestor(anchor, at):
            return OTHER_FORK
        between = self.between(anchor, at)
        if len(between) < at.number - anchor.number:
            raise BlockUnavailable(anchor.hash)
        ready: TreeEntry | None = None
        for entry in reversed(between):
            if package in entry.made.available:
                ready = entry
            for one in entry.made.reported:
                if one.package_hash == package:
                    where = (entry.descriptor, one.core, one.report_hash)
                    if ready is not None:
                        return PackageReady(*where, ready.descriptor)
                    is_pending = at.made.pending[one.core] == package
                    return PackageReported(*where) if is_pending else UNAVAILABLE
        left = remaining_blocks(anchor.number, at.number)
        return PackageReportable(left) if left else TOO_OLD

    def finalise(self, entry: TreeEntry) -> None:
        """From now on nothing is built on any other fork."""
        assert self.is_ancestor(self.final, entry)
        for one in self.between(self.final, entry):
            self._final_slots[one.hash] = one.slot
        self.final = entry
        oldest = entry.slot - self._lookup_slots_max
        while (first := next(iter(self._final_slots.items())))[1] < oldest:
            del self._final_slots[first[0]]

    def forget(self, number: int) -> list[TreeEntry]:
        """Forget the blocks too far below this height, and return them. The genesis stays: by it
        builders recognise the chain."""
        gone = [one for one in self if 0 < one.number < number - BLOCKS_KEPT_MAX]
        for one in gone:
            del self._entries[one.hash]
        return gone


class TreeView:
    """What a party has seen of the tree."""

    def __init__(self, tree: BlockTree, genesis: TreeEntry) -> None:
        self._tree = tree
        self.seen: dict[bytes, None] = {genesis.hash: None}
        self.best = genesis
        self.final = genesis
        self.preferred: TreeEntry | None = None

    def copy(self) -> "TreeView":
        made = copy(self)
        made.seen = dict(self.seen)
        return made

    def see(self, entry: TreeEntry) -> None:
        """A block whose parent was seen."""
        self.seen[entry.hash] = None
        if entry is self.preferred:
            self.choose()
        elif rank(entry) > rank(self.best) and self._may_lead(entry):
            self.best = entry

    def prefer(self, entry: TreeEntry | None) -> None:
        """Follow this block, whatever is longer."""
        self.preferred = entry
        self.choose()

    def finalise(self, entry: TreeEntry) -> None:
        self.final = entry
        if not self._tree.is_ancestor(entry, self.best):
            self.choose()

    def choose(self) -> None:
        """Find the best block anew."""
        self.best = self.final
        for entry in self._tree:
            if entry.hash in self.seen and rank(entry) > rank(self.best) and self._may_lead(entry):
                self.best = entry

    def forget(self, block: bytes) -> None:
        self.seen.pop(block, None)

    def _may_lead(self, entry: TreeEntry) -> bool:
        if not self._tree.is_ancestor(self.final, entry):
            return False
        preferred = self.preferred
        if preferred is None or preferred.hash not in self.seen:
            return True
        # One that another fork's finality has passed by leads nowhere.
        is_dead = not self._tree.is_ancestor(self.final, preferred)
        return is_dead or self._tree.is_ancestor(preferred, entry)


def rank(entry: TreeEntry) -> tuple[int, int, bytes]:
    """The rank of a block; the greatest is best. The hash decides between blocks that differ only
    because of a partition."""
    return entry.number, -entry.slot, entry.hash
