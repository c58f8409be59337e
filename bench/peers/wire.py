"""How a contestant talks to the benchmark: one JSON line in, one JSON line out.

It runs in the peers' own environment, so it imports nothing of laneway.
"""

import json
import sys
import time


def asked():
    """What the benchmark wants to be run."""
    return json.loads(sys.stdin.readline())


def told(**result):
    print(json.dumps({"result": result}), flush=True)


class Watch:
    """Wall and CPU time since it was made."""

    def __init__(self):
        self.begun_s = time.perf_counter()
        self.cpu_s = time.process_time()

    def read(self):
        return {
            "seconds": time.perf_counter() - self.begun_s,
            "cpu_s": time.process_time() - self.cpu_s,
        }
