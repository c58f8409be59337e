"""The command `laneway sim`: it runs many seeds and counts, or prints one seed's story."""

import json as jsonlib
import logging
import sys
import time

import msgspec

from laneway.sim.kinds import names, world_kind
from laneway.sim.run import LAYERS, WorldVerdict, run_world, run_worlds

STORY_LINES_MAX = 400
"""A story longer than this is cut in the middle: its beginning and its end say most."""


def main(
    seed: int | None,
    seeds: int,
    layer: str,
    json: bool,
    kind: str = "contract",
    *,
    lying: bool = False,
) -> int:
    """Exit code 0 when every law held."""
    if layer not in LAYERS:
        print(f"laneway sim: no layer {layer!r}; one of {', '.join(LAYERS)}", file=sys.stderr)
        return 2
    if kind not in names():
        print(f"laneway sim: no kind {kind!r}; one of {', '.join(names())}", file=sys.stderr)
        return 2
    if lying and not world_kind(kind).has_liars:
        print(f"laneway sim: no node lies in worlds of kind {kind!r}", file=sys.stderr)
        return 2
    # A world's own warnings are part of its story, not of this command's.
    logger = logging.getLogger("laneway")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        if seed is not None:
            return print_story(run_world(seed, layer, kind, lying=lying), json=json)
        return count(seeds, layer, kind, json=json, lying=lying)
    finally:
        logger.setLevel(level)


def print_story(verdict: WorldVerdict, *, json: bool) -> int:
    if json:
        print(msgspec.json.encode(verdict).decode())
    else:
        lines = list(verdict.story)
        if len(lines) > STORY_LINES_MAX:
            half = STORY_LINES_MAX // 2
            cut = len(lines) - STORY_LINES_MAX
            lines = [*lines[:half], f"          … {cut} lines …", *lines[-half:]]
        print("\n".join(lines))
        print(f"seed {verdict.seed}, {verdict.kind} {verdict.layer}: {verdict.steps} steps")
        print(f"trace {verdict.trace}")
        print(f"BROKEN  {verdict.broken}" if verdict.broken else "every law held")
    return 1 if verdict.broken else 0


def count(seeds: int, layer: str, kind: str, *, json: bool, lying: bool) -> int:
    def report(verdict: WorldVerdict, failed: int) -> None:
        if verdict.broken:
            print(f"seed {verdict.seed} broke: {verdict.broken}", file=sys.stderr)
        if sys.stderr.isatty() and verdict.seed % 50 == 49:
            progress = f"\r{verdict.seed + 1}/{seeds} seeds, {failed} broken"
            print(progress, end="", file=sys.stderr)

    begun = time.monotonic()
    verdicts, seen, steps = run_worlds(range(seeds), layer, kind, lying=lying, on_verdict=report)
    broken = [verdict.seed for verdict in verdicts]
    if sys.stderr.isatty():
        print(file=sys.stderr)
    took_s = time.monotonic() - begun
    if json:
        answer = {
            "kind": kind,
            "layer": layer,
            "seeds": seeds,
            "steps": steps,
            "seconds": round(took_s, 2),
            "broken": broken,
            "seen": dict(sorted(seen.items())),
        }
        print(jsonlib.dumps(answer))
    else:
        print(f"{seeds} worlds of kind {kind}, layer {layer}, {steps} steps in {took_s:.1f} s")
        for name, number in sorted(seen.items()):
            print(f"  sometimes {name}: {number}")
        failing = ", ".join(map(str, broken))
        again = f"laneway sim --kind {kind} --layer {layer}{' --lying' * lying} --seed N"
        print(f"BROKEN  seeds {failing}: {again}" if broken else "every law held")
    return 1 if broken else 0
