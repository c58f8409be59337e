"""How long a payload takes to be cut into a full JAM chain's shards, and to come back from some.

The payload and the choice of the 342 shards follow from the question's seed, so that the peer
(bench/peers/jam_erasure.cjs) works on the same bytes, and the digest shows that it came to the same
shards and the same data. The first pass makes the digest and is not timed: it also makes tables
here, and machine code there. Both are timed from bytes to bytes as the chain has them.
"""

from collections.abc import Callable
from hashlib import sha256, shake_256
from math import inf
from time import perf_counter
from typing import Any

from laneway.jam.erasure import decode, encode
from laneway.jam.spec import FULL
from laneway_bench.contestant import answer_all
from laneway_bench.limits import ERASURE_BYTES, ERASURE_REPEATS_MIN


def measure(question: dict[str, Any]) -> dict[str, Any]:
    """The times of one encoding and one decoding."""
    size, seed = question["bytes"], question["seed"]
    data = shake_256(b"laneway payload %d" % seed).digest(size)
    shards = encode(FULL, data)
    shards_kept = [(index, shards[index]) for index in chosen(seed)]
    back = decode(FULL, shards_kept)
    repeats = max(ERASURE_REPEATS_MIN, ERASURE_BYTES // size)
    return {
        "digest": sha256(b"".join(shards) + back).hexdigest(),
        "encode_s": seconds(repeats, lambda: encode(FULL, data)),
        "decode_s": seconds(repeats, lambda: decode(FULL, shards_kept)),
    }


def chosen(seed: int) -> list[int]:
    """The shards with the least of the drawn numbers."""
    drawn = shake_256(b"laneway shards %d" % seed).digest(8 * FULL.validator_count)
    order = sorted(range(FULL.validator_count), key=lambda index: drawn[8 * index : 8 * index + 8])
    return order[: FULL.recovery_count]


def seconds(repeats: int, work: Callable[[], object]) -> float:
    """The best of some: whatever else the machine does can only add to it."""
    best_s = inf
    for _ in range(repeats):
        begun_s = perf_counter()
        work()
        best_s = min(best_s, perf_counter() - begun_s)
    return best_s


def main() -> None:
    answer_all(measure)


if __name__ == "__main__":
    main()
