"""Merkle mountain ranges (Gray Paper 0.7.2, appendix E.2): a list of hashes that only grows.

The range itself is the tuple of its peaks: at place i the root over 2^i leaves, or nothing. Its
super-peak is the hash that is published. `Mountains` keeps the nodes below, which a range forgets,
and so proves any leaf under any super-peak that the range ever had.

Neither leaves nor inner nodes carry a prefix, and the super-peak does not say how many leaves
there are. A leaf is therefore to be a hash over bytes that the verifier forms anew.
"""

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from laneway.jam.errors import InvalidProof
from laneway.jam.hashing import HASH_BYTES, ZERO_HASH, Hashing, keccak

PEAK: Final = b"peak"

Mmr: TypeAlias = tuple[bytes | None, ...]

EMPTY: Final[Mmr] = ()


class MmrProof(Struct, frozen=True):
    """A leaf's place under the peaks of a range of `size` leaves."""

    size: int
    index: int
    path: tuple[bytes, ...]
    """From the leaf up to its peak, what stands beside."""
    peaks: Mmr
    """All of them, the one above the leaf too."""


def append(mmr: Mmr, leaf: bytes, hashing: Hashing = keccak) -> Mmr:
    """A: the range with one more leaf."""
    peaks = list(mmr)
    for place, peak in enumerate(peaks):
        if peak is None:
            peaks[place] = leaf
            return tuple(peaks)
        peaks[place] = None
        leaf = hashing(peak + leaf)
    return (*peaks, leaf)


def super_peak(mmr: Mmr, hashing: Hashing = keccak) -> bytes:
    """M_R: one hash over all peaks, the lowest first."""
    found: bytes | None = None
    for peak in mmr:
        if peak is not None:
            found = peak if found is None else hashing(PEAK + found + peak)
    return ZERO_HASH if found is None else found


def size(mmr: Mmr) -> int:
    """How many leaves there are."""
    return sum(1 << place for place, peak in enumerate(mmr) if peak is not None)


def root_from_proof(leaf: bytes, proof: MmrProof, hashing: Hashing = keccak) -> bytes:
    """The super-peak under which the proof holds; InvalidProof when there is none.

    Path and peaks have exactly the shape that the count of leaves gives them."""
    if not 0 <= proof.index < proof.size:
        raise InvalidProof(problem="its leaf lies after the end")
    # The lengths are compared first: a size of a million bits is refused by them alone.
    if len(proof.peaks) != proof.size.bit_length() or not _are_of(proof.peaks, proof.size):
        raise InvalidProof(problem="these are not the peaks of a range of this size")
    hashes = (*proof.path, *(peak for peak in proof.peaks if peak is not None))
    if any(len(hashed) != HASH_BYTES for hashed in (leaf, *hashes)):
        raise InvalidProof(problem="a node is no hash")
    height = _height(proof.size, proof.index)
    if len(proof.path) != height:
        problem = f"the path has {len(proof.path)} nodes, and the peak stands at {height}"
        raise InvalidProof(problem=problem)
    place, found = proof.index, leaf
    for sibling in proof.path:
        found = hashing(sibling + found) if place & 1 else hashing(found + sibling)
        place >>= 1
    if found != proof.peaks[height]:
        raise InvalidProof(problem=f"the path does not lead to peak {height}")
    return super_peak(proof.peaks, hashing)


def verify(leaf: bytes, proof: MmrProof, root: bytes, hashing: Hashing = keccak) -> None:
    """InvalidProof unless the leaf is proven to be under this super-peak."""
    if root_from_proof(leaf, proof, hashing) != root:
        raise InvalidProof(problem="the peaks belong to another range")


class Mountains:
    """All nodes of a range, by height. A node over a full subtree never changes while the range
    grows, so paths and peaks of every earlier size are still known."""

    __slots__ = ("_hashing", "_levels")

    def __init__(self, leaves: Iterable[bytes] = (), hashing: Hashing = keccak) -> None:
        self._hashing = hashing
        self._levels: list[list[bytes]] = [[]]
        for leaf in leaves:
            self.append(leaf)

    def __len__(self) -> int:
        return len(self._levels[0])

    @property
    def leaves(self) -> Sequence[bytes]:
        return tuple(self._levels[0])

    def append(self, leaf: bytes) -> None:
        height = 0
        self._levels[0].append(leaf)
        while len(self._levels[height]) % 2 == 0:
            left, right = self._levels[height][-2:]
            height += 1
            if height == len(self._levels):
                self._levels.append([])
            self._levels[height].append(self._hashing(left + right))

    def cut(self, size: int) -> None:
        """Forget the leaves from this one on, as when the blocks that brought them are undone."""
        assert 0 <= size <= len(self)
        for height, level in enumerate(self._levels):
            del level[size >> height :]

    def peaks(self, size: int | None = None) -> Mmr:
        """The range as it was when it had `size` leaves; as it is, by default."""
        count = len(self) if size is None else size
        assert 0 <= count <= len(self)
        # The last full subtree of its height is the peak, unless it is the right half of a
        # larger one; then the count has a zero there.
        return tuple(
            self._levels[height][(count >> height) - 1] if count >> height & 1 else None
            for height in range(count.bit_length())
        )

    def proof(self, index: int, size: int | None = None) -> MmrProof:
        """The proof that the leaf at this index is in the range as it was with `size` leaves."""
        count = len(self) if size is None else size
        peaks = self.peaks(count)
        assert 0 <= index < count
        height = _height(count, index)
        path = tuple(self._levels[level][(index >> level) ^ 1] for level in range(height))
        return MmrProof(count, index, path, peaks)


def _are_of(peaks: Mmr, size: int) -> bool:
    """A height has a peak where the count of leaves has a one."""
    return all((peak is not None) == bool(size >> at & 1) for at, peak in enumerate(peaks))


def _height(size: int, index: int) -> int:
    """Of the peak above a leaf; the larger mountains hold the earlier leaves."""
    # Where the two first differ, the size has the one: the mountains of the bits above lie before
    # the leaf, and the one of this bit holds it.
    return (size ^ index).bit_length() - 1
