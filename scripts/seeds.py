"""Runs many worlds on all cores: `seeds.py LAYER COUNT [--kind KIND] [--lying] [--bugs]`.

Rare states have *sometimes* counters; those that stayed at zero are an error when enough seeds
ran. A seed that breaks a law is printed with the command that tells its story. The lines that begin
with `red:` say for scripts whether laws broke or the code fell over (scripts/failures.py).
"""

import argparse
import logging
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from laneway.kinds.worlds import register_worlds
from laneway.sim.kinds import names, world_kind
from laneway.sim.run import LAYERS, run_world

sys.path.insert(0, str(Path(__file__).parent.parent))

from scripts.failures import Failure, Stops

CHUNK = 25

MANY = 250
"""Seeds that together must have met every state that is rare."""

Broken = tuple[int, str, Failure]
"""A seed, why its world broke, and what kind of failure that is."""

register_worlds()  # Here, so that each process of the pool does it too.

STOPS = Stops()
STOPS.watch()


def quieten() -> None:
    """Begin a process of the pool: a world's own warnings are part of its story, not of ours."""
    logging.disable(logging.CRITICAL)


def run_chunk(
    kind: str, layer: str, first: int, count: int, *, lying: bool = False, bugs: bool = False
) -> tuple[list[Broken], dict[str, int]]:
    broken: list[Broken] = []
    seen: Counter[str] = Counter()
    for seed in range(first, first + count):
        STOPS.clear()
        errors: list[Exception] = []
        try:
            verdict = run_world(seed, layer, kind, lying=lying, bugs=bugs, on_broken=errors.append)
        except Exception as error:  # noqa: BLE001 - no law: it is named, with its seed.
            broken.append((seed, repr(error), STOPS.judge(error)))
            continue
        seen.update(verdict.seen)
        seen["steps"] += verdict.steps
        if verdict.broken is not None:
            broken.append((seed, verdict.broken, STOPS.judge(errors[0])))
    return broken, dict(seen)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("layer", choices=LAYERS)
    parser.add_argument("count", type=int)
    parser.add_argument("--kind", choices=names(), default="contract")
    parser.add_argument(
        "--lying", action="store_true", help="One node of three lies (kinds eoa and cosmos)."
    )
    parser.add_argument("--bugs", action="store_true", help="Bugs stop lanes (layers s1 and s2).")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    kind = world_kind(options.kind)
    if options.lying and not kind.has_liars:
        parser.error(f"no node lies in worlds of kind {options.kind}")
    begun = time.monotonic()
    broken: list[Broken] = []
    seen: Counter[str] = Counter()
    last = options.first + options.count
    starts = list(range(options.first, last, CHUNK))
    with ProcessPoolExecutor(options.jobs, initializer=quieten) as pool:
        futures = [
            pool.submit(
                run_chunk,
                options.kind,
                options.layer,
                start,
                min(CHUNK, last - start),
                lying=options.lying,
                bugs=options.bugs,
            )
            for start in starts
        ]
        for number, future in enumerate(futures, 1):
            chunk_broken, chunk_seen = future.result()
            broken.extend(chunk_broken)
            seen.update(chunk_seen)
            if sys.stderr.isatty():
                done = min(number * CHUNK, options.count)
                print(f"\r{done}/{options.count} worlds", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    took_s = time.monotonic() - begun
    worlds = options.layer + " lying" * options.lying + " bugs" * options.bugs
    counts = f"{options.count} worlds, {seen['steps']} steps, {took_s:.1f} s"
    print(f"{options.kind} {worlds}: {counts}, {len(broken)} broken")
    for seed, why, _ in broken[:20]:
        told = f"--kind {options.kind} --layer {options.layer} --seed {seed}"
        told += " --lying" if options.lying else ""
        told += " (run_world with bugs=True)" if options.bugs else ""
        print(f"  laneway sim {told}   # {why}")
    for failure in dict.fromkeys(one for _, _, one in broken):
        print(f"  {failure.line()}")
    wanted = kind.sometimes.get(worlds, ())
    missed = [state for state in wanted if not seen[state]]
    if missed and options.count >= MANY:
        print(f"  never met: {', '.join(missed)}")
        return 1
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
