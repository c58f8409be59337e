"""Chained snapshots: the state after every open block, each on the one before it.

The base is the newest final block. Blocks stand on it in chains, and some beside others that will
never land. A block that failed takes with it all that stands on it. Every change may come twice.
Nothing is lost with a snapshot: its block's payload makes it again.
"""

from collections.abc import Iterator
from typing import Generic

from msgspec import Struct

from laneway.builder.limits import SNAPSHOTS_MAX
from laneway.core.errors import BuildFailed
from laneway.rollups.rules import B, S, SealedBlock


class Snapshot(Struct, Generic[S, B], frozen=True):
    """A block, and the state that it leaves."""

    sealed: SealedBlock
    block: B
    state: S


class Snapshots(Generic[S, B]):
    def __init__(self, base: Snapshot[S, B], most: int = SNAPSHOTS_MAX) -> None:
        assert most > 1
        self._most = most
        self.base = base
        self._above: dict[bytes, Snapshot[S, B]] = {}
        """By hash; a parent is always before its children."""
        self._canonical: dict[bytes, bytes] = {}
        """Blocks that are accumulated, also those whose snapshot has yet to be made, and the
        packages that brought them; empty where that is not known."""

    def __len__(self) -> int:
        """Those above the base."""
        return len(self._above)

    def __iter__(self) -> Iterator[Snapshot[S, B]]:
        """Those above the base, parents first."""
        return iter(self._above.values())

    def get(self, block: bytes) -> Snapshot[S, B] | None:
        return self.base if block == self.base.sealed.hash else self._above.get(block)

    def put(self, snapshot: Snapshot[S, B]) -> None:
        """Another one, on a block that is here."""
        sealed = snapshot.sealed
        parent = self.get(sealed.parent)
        assert parent is not None
        assert sealed.number == parent.sealed.number + 1
        assert sealed.pre_root == parent.sealed.post_root
        if sealed.hash in self._above:
            return
        if len(self._above) >= self._most - 1:
            self._push_out(sealed.parent)
        self._above[sealed.hash] = snapshot

    def commit(self, block: bytes, package_hash: bytes = b"") -> None:
        """It is accumulated, until that is taken back."""
        if block != self.base.sealed.hash:
            self._canonical[block] = package_hash or self.package_of(block)
            if len(self._canonical) > self._most:
                del self._canonical[next(iter(self._canonical))]

    def restore(self, block: bytes) -> None:
        """Its accumulation was taken back; the block stays as it was before."""
        self._canonical.pop(block, None)

    def invalidate(self, block: bytes) -> tuple[Snapshot[S, B], ...]:
        """It will never land, nor will what stands on it: all that is gone now, parents first. What
        is final stays."""
        self._canonical.pop(block, None)
        if block not in self._above:
            return ()
        gone = {block: self._above[block]}
        for one in self._above.values():
            if one.sealed.parent in gone:
                gone[one.sealed.hash] = one
        for name in gone:
            del self._above[name]
            self._canonical.pop(name, None)
        return tuple(gone.values())

    def way(self, block: bytes) -> tuple[Snapshot[S, B], ...]:
        """From the base to a block, that one included, the lowest first; empty if it is not
        above the base."""
        way: list[Snapshot[S, B]] = []
        at = self._above.get(block)
        while at is not None:
            way.append(at)
            at = self._above.get(at.sealed.parent)
        return tuple(reversed(way))

    def finalise(self, block: bytes) -> None:
        """It is the base from now on, and what does not stand on it is dropped. One that is not
        above the base changes nothing."""
        base = self._above.get(block)
        if base is None:
            return
        self.base = base
        kept: dict[bytes, Snapshot[S, B]] = {}
        for name, one in self._above.items():
            if one.sealed.parent == block or one.sealed.parent in kept:
                kept[name] = one
            elif name in self._canonical:
                del self._canonical[name]
        self._above = kept

    def package_of(self, block: bytes) -> bytes:
        """The package that brought a block which is accumulated; empty if that is not known."""
        return self._canonical.get(block, b"")

    def is_canonical(self, block: bytes) -> bool:
        return block == self.base.sealed.hash or block in self._canonical

    def newest(self) -> Snapshot[S, B]:
        """The highest; of several the one that was made last."""
        found = self.base
        for one in self._above.values():
            if one.sealed.number >= found.sealed.number:
                found = one
        return found

    def accumulated(self) -> Snapshot[S, B]:
        """The highest that is canonical."""
        found = self.base
        for name in self._canonical:
            one = self._above.get(name)
            if one is not None and one.sealed.number > found.sealed.number:
                found = one
        return found

    def _push_out(self, parent: bytes) -> None:
        """Drop the first snapshot that no other stands on, and that is not this parent."""
        parents = {one.sealed.parent: None for one in self._above.values()}
        parents[parent] = None
        for name in self._above:
            if name not in parents:
                del self._above[name]
                return
        count = len(self._above)
        raise BuildFailed(f"{count} blocks stand on the last final one, and no more are kept here")
