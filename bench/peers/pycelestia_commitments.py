"""pyCelestia: how many bytes a second its compiled `normalize_blob` computes commitments of."""

import json
import sys
from random import Random
from time import perf_counter

from celestia._celestia import types
from wire import told

NAMESPACE = bytes(22) + b"laneway"


def measure(question):
    seconds, found = {}, {}
    for size in question["sizes"]:
        data = Random(size).randbytes(size)
        begun_s = perf_counter()
        for _ in range(question["bytes"] // size):
            made = types.normalize_blob(NAMESPACE, data, None)
        seconds[size] = perf_counter() - begun_s
        found[size] = made["commitment"].hex()
    return {"seconds": seconds, "commitments": found}


def main():
    while line := sys.stdin.readline():
        told(**measure(json.loads(line)))


main()
