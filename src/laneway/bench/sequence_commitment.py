"""How many bytes a second a blob's commitment is computed of, by the pure package alone."""

import json
import sys
from random import Random
from time import perf_counter
from typing import Any

from laneway.bench.driver import say
from laneway.cosmos.blobs import Blob, commitment, namespace_of


def measure(question: dict[str, Any]) -> dict[str, Any]:
    """Each size as often as it takes to reach the same number of bytes."""
    namespace = namespace_of(b"laneway")
    seconds, found = {}, {}
    for size in question["sizes"]:
        data = Random(size).randbytes(size)
        begun_s = perf_counter()
        for _ in range(question["bytes"] // size):
            made = commitment(Blob(namespace, data))
        seconds[size] = perf_counter() - begun_s
        found[size] = made.hex()
    return {"seconds": seconds, "commitments": found}


def main() -> None:
    while line := sys.stdin.readline():
        say(result=measure(json.loads(line)))


if __name__ == "__main__":
    main()
