"""A proof of many keys at once, of those that have a value and of those that have none.

It holds the groups of the keys, sorted, and beside the ways to them the hashes of all else. Groups
stand in the tree in the order of their stems, so a reader sees between which of them nothing else
can be: a key whose group is not in the tree is proven by its two neighbours, with nothing but
zeros between their ways. This holds whether or not a profile hashes levels that have one child.

In a profile without tags the hash of two hashes can be read as that of a group, of which then no
value can be shown. So there each group shows one of its values.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from laneway.ubt.errors import MalformedTreeKey, UnprovenTree, UnprovenTreeKey
from laneway.ubt.limits import PROOF_KEYS_MAX, STEM_BITS, STEM_BYTES, SUBTREE_LEVELS
from laneway.ubt.nodes import BranchNode, Hashes, StemNode, TreeNode, leaf_hash, subtree
from laneway.ubt.profile import ZERO, TreeProfile
from laneway.ubt.single import check_hashes, folded, paired, stem_hash
from laneway.ubt.tree import UnifiedTree, find


class MultiProof(Struct, frozen=True):
    keys: tuple[tuple[int, int], ...]
    """The place of a key's stem in `stems`, and the subindex; sorted."""
    values: tuple[bytes | None, ...]
    """Of each key."""
    nodes: tuple[bytes, ...]
    """Hashes, each once, in the order in which they are first needed."""
    refs: tuple[int, ...]
    """Which of the nodes is needed next, from the smallest key to the largest."""
    stems: tuple[bytes, ...]


class ProvenKeys(Struct, frozen=True):
    """What a proof shows of the tree with this root."""

    root: bytes
    values: Mapping[bytes, bytes | None]
    stems: Sequence[bytes]
    gaps: Sequence[bool]
    """Whether something that was not shown stands before each stem, and after the last."""

    def get(self, key: bytes) -> bytes | None:
        """The key's value, None if it has none; UnprovenTreeKey if the proof shows neither."""
        if key in self.values:
            return self.values[key]
        stem = key[:STEM_BYTES]
        at = bisect_left(self.stems, stem)
        is_group_shown = at < len(self.stems) and self.stems[at] == stem
        if is_group_shown or self.gaps[at] or len(key) != 32:
            raise UnprovenTreeKey(key=key.hex())
        return None


# Proving.


def prove(tree: UnifiedTree, keys: Iterable[bytes]) -> MultiProof:
    """A proof of these keys, and of those that it takes to show them."""
    tree.root()
    groups = wanted(tree, keys)
    stems = sorted(groups)
    listed: list[bytes] = []
    if tree.node is not None:
        _Collector(tree.profile, stems, groups, listed).collect(tree.node, 0, len(stems), 0)
    places: dict[bytes, int] = {}
    refs = [places.setdefault(one, len(places)) for one in listed]
    pairs = [(at, subindex) for at, stem in enumerate(stems) for subindex in groups[stem][1]]
    values = [groups[stems[at]][0].get(subindex) for at, subindex in pairs]
    return MultiProof(tuple(pairs), tuple(values), tuple(places), tuple(refs), tuple(stems))


def wanted(tree: UnifiedTree, keys: Iterable[bytes]) -> dict[bytes, tuple[StemNode, list[int]]]:
    """The groups that a proof of these keys shows, with the subindices that it shows of each."""
    groups: dict[bytes, tuple[StemNode, dict[int, None]]] = {}
    neighbours: list[StemNode] = []
    for key in keys:
        if len(key) != 32:
            raise MalformedTreeKey(given=len(key))
        stem = key[:STEM_BYTES]
        node = find(tree.node, stem)
        if node is None:
            neighbours += beside(tree.node, stem)
        else:
            groups.setdefault(stem, (node, {}))[1][key[STEM_BYTES]] = None
    if not groups and not neighbours:
        neighbours += beside(tree.node, bytes(STEM_BYTES))
    for node in neighbours:
        groups.setdefault(node.stem, (node, {}))
    is_tagged = bool(tree.profile.stem_tag)
    for node, shown in groups.values():
        if not shown or not (is_tagged or any(one in node.indices for one in shown)):
            shown[node.indices[0]] = None
    return {stem: (node, sorted(shown)) for stem, (node, shown) in groups.items()}


def beside(node: TreeNode | None, stem: bytes) -> list[StemNode]:
    """The group before a stem and the one after it, or itself; as far as they are there."""
    before: TreeNode | None = None
    after: TreeNode | None = None
    depth = 0
    while type(node) is BranchNode:
        if stem[depth >> 3] & (128 >> (depth & 7)):
            before, node = node.left or before, node.right
        else:
            after, node = node.right or after, node.left
        depth += 1
    if type(node) is StemNode:
        before, after = (node, after) if node.stem < stem else (before, node)
    while type(before) is BranchNode:
        before = before.right or before.left
    while type(after) is BranchNode:
        after = after.left or after.right
    return [one for one in (before, after) if type(one) is StemNode]


class _Collector:
    """Lists what stands beside the ways to some groups, from left to right."""

    def __init__(
        self,
        profile: TreeProfile,
        stems: Sequence[bytes],
        groups: Mapping[bytes, tuple[StemNode, list[int]]],
        listed: list[bytes],
    ) -> None:
        self._profile = profile
        self._stems = stems
        self._groups = groups
        self._listed = listed

    def collect(self, node: TreeNode | None, begin: int, end: int, depth: int) -> None:
        if end - begin == 1:
            self._collect_one(node, self._stems[begin], depth)
            return
        assert type(node) is BranchNode, "two groups stand below a branch"
        middle = parting(self._stems, begin, end, depth)
        if middle == begin:
            self._listed.append(node.left_digest)
        else:
            self.collect(node.left, begin, middle, depth + 1)
        if middle == end:
            self._listed.append(node.right_digest)
        else:
            self.collect(node.right, middle, end, depth + 1)

    def _collect_one(self, node: TreeNode | None, stem: bytes, depth: int) -> None:
        """Left siblings from the top, what is inside the group, right siblings from below; zeros
        for the levels below the group's place."""
        rights: list[bytes] = []
        while type(node) is BranchNode:
            if stem[depth >> 3] & (128 >> (depth & 7)):
                self._listed.append(node.left_digest)
                node = node.right
            else:
                rights.append(node.right_digest)
                node = node.left
            depth += 1
        assert type(node) is StemNode
        ones = rest_of(stem, depth).bit_count()
        self._listed += [ZERO] * ones
        hashes = subtree(self._profile, node)
        self._collect_inside(hashes, self._groups[stem][1], 1, SUBTREE_LEVELS)
        self._listed += [ZERO] * (STEM_BITS - depth - ones)
        self._listed += reversed(rights)

    def _collect_inside(
        self, hashes: Hashes, shown: Sequence[int], position: int, levels: int
    ) -> None:
        if levels == 0:
            return
        left, right = halves(shown, levels)
        if left:
            self._collect_inside(hashes, left, 2 * position, levels - 1)
        else:
            self._listed.append(hashes.get(2 * position, ZERO))
        if right:
            self._collect_inside(hashes, right, 2 * position + 1, levels - 1)
        else:
            self._listed.append(hashes.get(2 * position + 1, ZERO))


def rest_of(stem: bytes, depth: int) -> int:
    """The bits of a stem below a depth."""
    return int.from_bytes(stem, "big") & ((1 << (STEM_BITS - depth)) - 1)


def parting(stems: Sequence[bytes], begin: int, end: int, depth: int) -> int:
    """Where the stems with a one at this depth begin, of some that are sorted."""
    byte, bit = depth >> 3, 128 >> (depth & 7)
    return bisect_left(range(end), True, begin, key=lambda at: bool(stems[at][byte] & bit))


def halves(shown: Sequence[int], levels: int) -> tuple[Sequence[int], Sequence[int]]:
    """Sorted subindices without and with the highest of the lowest `levels` bits."""
    bit = 1 << (levels - 1)
    middle = bisect_left(shown, True, key=lambda one: bool(one & bit))
    return shown[:middle], shown[middle:]


# Verifying.


def verify(root: bytes, proof: MultiProof, profile: TreeProfile) -> ProvenKeys:
    """What the proof shows of the tree with this root; UnprovenTree if it is not one of it."""
    check_form(proof)
    if not proof.stems:
        if root != ZERO:
            raise UnprovenTree(problem="it shows nothing, and the tree is not empty")
        return ProvenKeys(root, {}, (), (False,))
    reader = _Rebuilder(profile, proof)
    if reader.hash_of(0, len(proof.stems), 0) != root:
        raise UnprovenTree(problem="it leads to another root")
    reader.check_end()
    return ProvenKeys(root, reader.values(), proof.stems, reader.gaps)


def check_form(proof: MultiProof) -> None:
    """Whether it is the one form of its keys: all sorted, nothing twice, nothing too much."""
    keys, stems, nodes = proof.keys, proof.stems, proof.nodes
    if len(keys) > PROOF_KEYS_MAX or len(keys) != len(proof.values):
        raise UnprovenTree(problem=f"it has {len(keys)} keys and {len(proof.values)} values")
    if any(len(stem) != STEM_BYTES for stem in stems):
        raise UnprovenTree(problem="a stem has another length than 31 bytes")
    if any(one >= other for one, other in pairwise(stems)):
        raise UnprovenTree(problem="its stems are not sorted")
    check_hashes(nodes)
    check_hashes([value for value in proof.values if value is not None])
    before = (-1, 255)
    for key in keys:
        at, subindex = key
        if not before < key <= (before[0] + 1, 255) or not 0 <= subindex <= 255:
            raise UnprovenTree(problem="its keys are not sorted")
        before = (at, subindex)
    if before[0] + 1 != len(stems):
        raise UnprovenTree(problem="a stem has no key")
    following = 0
    for ref in proof.refs:
        if not 0 <= ref <= following:
            raise UnprovenTree(problem="its nodes are not in the order of their use")
        following += ref == following
    if following != len(nodes) or len(dict.fromkeys(nodes)) != len(nodes):
        raise UnprovenTree(problem="a node is there twice, or for nothing")


class _Rebuilder:
    """Hashes the tree again from what a proof shows, from left to right."""

    def __init__(self, profile: TreeProfile, proof: MultiProof) -> None:
        self._profile = profile
        self._stems = proof.stems
        self._groups: list[dict[int, bytes | None]] = [{} for _ in proof.stems]
        for (at, subindex), value in zip(proof.keys, proof.values, strict=True):
            self._groups[at][subindex] = value
        self._listed = [proof.nodes[ref] for ref in proof.refs]
        self._read = 0
        self.gaps = [False] * (len(proof.stems) + 1)

    def values(self) -> dict[bytes, bytes | None]:
        return {
            stem + bytes((subindex,)): value
            for stem, group in zip(self._stems, self._groups, strict=True)
            for subindex, value in group.items()
        }

    def check_end(self) -> None:
        if self._read != len(self._listed):
            raise UnprovenTree(problem="it has more siblings than are needed")

    def hash_of(self, begin: int, end: int, depth: int) -> bytes:
        """The hash at a depth above the stems from `begin` to `end`."""
        if end - begin == 1:
            return self._hash_of_one(begin, depth)
        middle = parting(self._stems, begin, end, depth)
        if begin < middle < end:
            left = self.hash_of(begin, middle, depth + 1)
            right = self.hash_of(middle, end, depth + 1)
        elif middle == end:
            left = self.hash_of(begin, end, depth + 1)
            right = self._siblings(1, end)[0]
        else:
            left = self._siblings(1, begin)[0]
            right = self.hash_of(begin, end, depth + 1)
        if self._profile.lifts_lone_child and ZERO in (left, right):
            return right if left == ZERO else left
        return self._profile.hasher(self._profile.branch_tag + left + right).digest()

    def _hash_of_one(self, at: int, depth: int) -> bytes:
        stem, group = self._stems[at], self._groups[at]
        if not self._profile.stem_tag and all(value is None for value in group.values()):
            raise UnprovenTree(problem=f"stem {stem.hex()} shows no value")
        path = rest_of(stem, depth)
        ones = path.bit_count()
        lefts = self._siblings(ones, at)
        found = stem_hash(
            self._profile, stem, self._hash_inside(list(group), group, SUBTREE_LEVELS)
        )
        rights = self._siblings(STEM_BITS - depth - ones, at + 1)
        lefts.reverse()
        from_left, from_right = iter(lefts), iter(rights)
        outer = [
            next(from_left if path >> level & 1 else from_right)
            for level in range(STEM_BITS - depth)
        ]
        return folded(self._profile, stem, found, outer)

    def _hash_inside(
        self, shown: Sequence[int], group: Mapping[int, bytes | None], levels: int
    ) -> bytes:
        if levels == 0:
            value = group[shown[0]]
            return ZERO if value is None else leaf_hash(self._profile, value)
        left, right = halves(shown, levels)
        one = self._hash_inside(left, group, levels - 1) if left else self._next()
        other = self._hash_inside(right, group, levels - 1) if right else self._next()
        return paired(self._profile, one, other)

    def _siblings(self, count: int, gap: int) -> list[bytes]:
        """The next siblings, which stand where a gap between stems is."""
        found = self._listed[self._read : self._read + count]
        if len(found) < count:
            raise UnprovenTree(problem="it has fewer siblings than are needed")
        self._read += count
        if found.count(ZERO) < count:
            self.gaps[gap] = True
        return found

    def _next(self) -> bytes:
        """The next sibling inside a group."""
        if self._read == len(self._listed):
            raise UnprovenTree(problem="it has fewer siblings than are needed")
        self._read += 1
        return self._listed[self._read - 1]
