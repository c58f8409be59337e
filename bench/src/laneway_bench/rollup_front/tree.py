"""What the unified binary tree costs: updates against their bare hashes, size, snapshots, opening.

The trees have one value for each stem, as the slots of mappings have them, in the profile JAM. An
update is 100 keys that are there, and the root after it. Its bare hashes are the very inputs that
it hashed, hashed once more in a loop that does nothing else. Sizes are measured in turn in one
process, by CPU time, so that they see the same minutes.
"""

import gc
import random
import time
from collections.abc import Callable, Sequence
from copy import copy
from statistics import median
from typing import Any, TypeAlias

import msgspec

from laneway.ubt.profile import JAM, Digest
from laneway.ubt.state import TreeState
from laneway.ubt.tree import UnifiedTree
from laneway_bench.contestant import answer_all

UPDATED_KEYS = 100
CLONES = 10_000
SEED = 24


Update: TypeAlias = tuple[float, float, int]
"""CPU seconds of an update with its root, and of its hashes alone; how many these are."""


class TreeStage:
    """A tree of N stems, and what is done to it."""

    def __init__(self, count: int) -> None:
        self._chance = random.Random(SEED)
        keys = [self._chance.randbytes(32) for _ in range(count)]
        changes = {key: self._chance.randbytes(32) for key in keys}
        begun_ns = time.process_time_ns()
        self.tree = UnifiedTree(JAM).updated(changes)
        self.insert_s = since_s(begun_ns)
        begun_ns = time.process_time_ns()
        self.tree.root()
        self.root_s = since_s(begun_ns)
        self._keys = keys

    def update(self) -> Update:
        changes: dict[bytes, bytes | None] = {
            key: self._chance.randbytes(32)
            for key in self._chance.sample(self._keys, min(UPDATED_KEYS, len(self._keys)))
        }
        begun_ns = time.process_time_ns()
        updated = self.tree.updated(changes)
        root = updated.root()
        spent_s = since_s(begun_ns)
        inputs, hasher = self._inputs(changes, root), JAM.hasher
        begun_ns = time.process_time_ns()
        for one in inputs:
            hasher(one).digest()
        return spent_s, since_s(begun_ns), len(inputs)

    def clone(self) -> float:
        """CPU seconds of many snapshots, each a state of its own."""
        state = TreeState(self.tree)
        begun_ns = time.process_time_ns()
        for _ in range(CLONES):
            copy(state)
        return since_s(begun_ns)

    def open(self) -> float:
        """CPU seconds of a tree from its groups as a file holds them, up to its root."""
        stored = list(self.tree.stored())
        gc.collect()
        begun_ns = time.process_time_ns()
        opened = UnifiedTree.opened(stored, JAM)
        root = opened.root()
        spent_s = since_s(begun_ns)
        assert root == self.tree.root(), "the tree that was opened is another one"
        return spent_s

    def _inputs(self, changes: dict[bytes, bytes | None], root: bytes) -> list[bytes]:
        """What an update hashes; the same update once more, watched."""
        inputs: list[bytes] = []
        hasher: Callable[[bytes], Digest] = JAM.hasher

        def watched(content: bytes) -> Digest:
            inputs.append(content)
            return hasher(content)

        profile = msgspec.structs.replace(JAM, hasher=watched)
        again = UnifiedTree(profile, self.tree.node).updated(changes)
        assert again.root() == root, "the update that was watched is another one"
        return inputs


def since_s(begun_ns: int) -> float:
    return (time.process_time_ns() - begun_ns) / 1e9


def measure(few: int, many: int, most: int, rounds: int) -> dict[str, Any]:
    """The goals' values; of costs that are compared across sizes the best round, since what
    disturbs a round can only lengthen it."""
    stages = {count: TreeStage(count) for count in (few, many)}
    tidy()
    alone = [stages[many].update() for _ in range(rounds)]
    # Only now, since the largest one would take the others' place in the caches.
    stages[most] = TreeStage(most)
    tidy()
    updates: dict[int, list[Update]] = {many: [], most: []}
    clones: dict[int, list[float]] = {few: [], many: []}
    for number in range(rounds):
        for count in (many, most) if number % 2 == 0 else (most, many):
            updates[count].append(stages[count].update())
        for count in (few, many) if number % 2 == 0 else (many, few):
            clones[count].append(stages[count].clone())
    open_s = {count: stages[count].open() for count in (many, most)}
    return {
        "stems": [few, many, most],
        "insert_s": {str(count): stages[count].insert_s for count in (many, most)},
        "root_s": {str(count): stages[count].root_s for count in (many, most)},
        "open_s": {str(count): spent for count, spent in open_s.items()},
        "update_ms": {str(count): 1e3 * best(spent) for count, spent in updates.items()},
        "hashes": {str(count): median(one[2] for one in spent) for count, spent in updates.items()},
        "clone_us": {str(count): 1e6 * min(spent) / CLONES for count, spent in clones.items()},
        "tree_update_100_of_100k_vs_its_bare_hashes": median(
            spent / bare for spent, bare, _ in alone
        ),
        "tree_update_1m_vs_100k": best(updates[most]) / best(updates[many]),
        "snapshot_clone_100k_vs_100": min(clones[many]) / min(clones[few]),
        "tree_open_1m_stems_cpu_s": open_s[most],
    }


def tidy() -> None:
    """What is there now is looked at by no later collection."""
    gc.collect()
    gc.freeze()


def best(spent: Sequence[Update]) -> float:
    return min(one[0] for one in spent)


def main() -> None:
    answer_all(lambda question: measure(**question))


if __name__ == "__main__":
    main()
