"""What a proof of one key costs in a small and in a large JAM state: made from a trie, and judged.

The states are a rollup's: the chain's own components, one service's account, and its records, of
the length of what a service commits of a block. Their trie is kept, as a chain model keeps one a
block, and is not timed. Both sizes are measured in turn in one process, by CPU time, so that both
see the same minutes.
"""

import gc
import random
import time
from collections.abc import Sequence
from typing import Any

from laneway.jam.state_keys import account_key, component_key, storage_key
from laneway.jam.state_proof import verify_presence
from laneway.jam.trie import Trie
from laneway_bench.contestant import answer_all

GOAL = "state_proof_us_growth_100_to_100k_keys"
COMPONENTS = 16
SERVICE = 1_729
RECORD_BYTES = 100
"""Package, exports root, block and slot."""
SAMPLE_KEYS = 80
"""Proven in each round, the same ones each time; no more than a small state has records."""
SEED = 6


class StateStage:
    """A state of N keys, and those of them that are proven."""

    def __init__(self, count: int) -> None:
        self.state = state_of(count)
        self.trie = Trie.of(self.state)
        records = [key for key in self.state if key not in state_of(COMPONENTS + 1)]
        self.keys = random.Random(SEED).sample(records, min(SAMPLE_KEYS, len(records)))

    def run(self) -> float:
        """CPU microseconds a proof."""
        state, trie, root = self.state, self.trie, self.trie.root
        begun_ns = time.process_time_ns()
        for key in self.keys:
            verify_presence(root=root, key=key, value=state[key], nodes=trie.proof(key))
        return (time.process_time_ns() - begun_ns) / 1_000 / len(self.keys)

    def nodes(self) -> float:
        """Of a proof, on average."""
        return sum(len(self.trie.proof(key)) for key in self.keys) / len(self.keys)


def state_of(count: int) -> dict[bytes, bytes]:
    fixed = {component_key(number): bytes([number]) for number in range(1, COMPONENTS + 1)}
    fixed[account_key(SERVICE)] = bytes(89)
    for number in range(count - len(fixed)):
        name = number.to_bytes(8, "little")
        fixed[storage_key(SERVICE, b"b" + name)] = name.ljust(RECORD_BYTES, b"r")
    return fixed


def measure(counts: Sequence[int], rounds: int) -> dict[str, Any]:
    """CPU microseconds in each round, and the growth from the smaller to the larger state: the
    best of each, since what disturbs a round can only lengthen it."""
    small, large = (StateStage(count) for count in counts)
    gc.collect()
    spent: dict[str, list[float]] = {str(count): [] for count in counts}
    for _ in range(rounds):
        for count, stage in zip(counts, (small, large), strict=True):
            spent[str(count)].append(stage.run())
    few, many = (min(spent[str(count)]) for count in counts)
    return {
        "us_per_proof": spent,
        "nodes_per_proof": [small.nodes(), large.nodes()],
        GOAL: many / few,
    }


def main() -> None:
    answer_all(lambda question: measure(**question))


if __name__ == "__main__":
    main()
