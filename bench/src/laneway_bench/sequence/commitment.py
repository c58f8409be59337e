"""How many bytes a second a blob's commitment is computed of, by the pure package alone."""

from random import Random
from time import perf_counter
from typing import Any

from laneway.cosmos.blobs import CelestiaBlob, commitment, namespace_of
from laneway_bench.contestant import answer_all


def measure(question: dict[str, Any]) -> dict[str, Any]:
    """Each size as often as it takes to reach the same number of bytes."""
    namespace = namespace_of(b"laneway")
    seconds, found = {}, {}
    for size in question["sizes"]:
        data = Random(size).randbytes(size)
        begun_s = perf_counter()
        for _ in range(question["bytes"] // size):
            made = commitment(CelestiaBlob(namespace, data))
        seconds[size] = perf_counter() - begun_s
        found[size] = made.hex()
    return {"seconds": seconds, "commitments": found}


def main() -> None:
    answer_all(measure)


if __name__ == "__main__":
    main()
