"""Runs many worlds on all cores: `seeds.py LAYER COUNT [--kind KIND] [--lying] [--bugs]`.

Rare states have *sometimes* counters; those that stayed at zero are an error when enough seeds
ran. A seed that breaks a law is printed with the command that tells its story.
"""

import argparse
import logging
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

from laneway.sim.run import KINDS, LAYERS, LYING_KINDS, run_world

CHUNK = 25

MUST_BE_SEEN = {
    "contract s1": (
        "commit answer lost",
        "conflict",
        "crash:inside a commit",
        "crash:after a commit",
        "crash:before perform",
        "crash:before answer",
        "declared dead",
        "lane released",
        "fault:crash",
        "fault:double_second_told",
        "fault:lost",
        "foreign writer",
        "found on the chain",
        "frozen",
        "group of lanes",
        "halted",
        "host restarted",
        "host unreachable",
        "lane full",
        "operator:cancel",
        "operator:drain",
        "operator:pause",
        "owned by another",
        "replayed",
        "result:cancelled",
        "result:confirmed",
        "result:dead",
        "result:expired",
        "result:refused",
        "second try",
        "store busy",
        "submit answer lost",
        "too late to act",
        "zombie refused",
    ),
    "contract s2": (
        "commit answer lost",
        "crash:inside a commit",
        "crash:after a commit",
        "found on the chain",
        "second try",
        "result:confirmed",
    ),
    "contract s3": (
        "commit answer lost",
        "killed",
        "lived to the end",
        "store busy",
        "submit answer lost",
    ),
    "eoa s1": (
        "answer lost",
        "bump",
        "bytes doubled",
        "bytes late",
        "cancel lost",
        "cancel won",
        "caps raised",
        "commit answer lost",
        "crash:after a commit",
        "crash:before answer",
        "crash:before perform",
        "crash:inside a commit",
        "declared dead",
        "dropped by a pool",
        "fee lie",
        "fee storm",
        "fell out",
        "foreign replaced",
        "fork seen",
        "frozen",
        "funds are back",
        "gap filled",
        "lane released",
        "no-op filled",
        "node behind",
        "node says insufficient_funds",
        "node says oversized",
        "node says pool_full",
        "node says replacement_underpriced",
        "number freed",
        "offered before its time was over",
        "outage",
        "out of funds",
        "owned by another",
        "parked by cap",
        "poison ended",
        "pool lost on restart",
        "recycled nonce reused",
        "reorg took back included",
        "replayed",
        "reset",
        "result:cancelled",
        "result:confirmed",
        "result:expired",
        "result:refused",
        "result:reverted",
        "returned intent claimed",
        "signed under a cap on spending",
        "store busy",
        "taken in a row",
        "too late to act",
        "zombie refused",
    ),
    "eoa s1 lying": (
        "count outvoted",
        "foreign replaced",
        "inclusion denied",
        "lie:absent",
        "lie:branch",
        "lie:count",
        "lie:head",
        "lie:inclusion",
        "lie:network",
        "lie:owner",
        "lie:receipt",
        "lie:refusal",
        "receipt outvoted",
        "result:confirmed",
        "result:reverted",
    ),
    "eoa s2": (
        "bump",
        "commit answer lost",
        "crash:inside a commit",
        "crash:after a commit",
        "number freed",
        "reorg took back included",
        "result:confirmed",
    ),
    "cosmos s1": (
        "account missing",
        "answer lost",
        "bytes doubled",
        "bytes late",
        "casualty landed behind a filler",
        "commit answer lost",
        "conflict refused",
        "corrected",
        "crash:after a commit",
        "crash:before answer",
        "crash:before heard",
        "crash:before perform",
        "crash:inside a commit",
        "declared dead",
        "doubted",
        "evicted by a mempool",
        "fell out",
        "filler landed",
        "filler made",
        "foreign transaction",
        "forgotten",
        "frozen",
        "gate opened",
        "gate:mempool_full",
        "gate:no_funds",
        "gate:wrong_sequence",
        "indeterminate",
        "lane released",
        "making delayed",
        "mempool lost on restart",
        "node remembered",
        "node says fee_too_low",
        "node says in_mempool",
        "node says timed_out",
        "node says too_large",
        "node says unauthorized",
        "node says bad_blob",
        "node stopped",
        "nodes rewired",
        "owned by another",
        "proposals held",
        "recovery entered",
        "recovery left",
        "refused:cancel",
        "renumbered",
        "replayed",
        "result:cancelled",
        "result:confirmed",
        "result:expired",
        "result:indeterminate",
        "result:refused",
        "result:reverted",
        "retry:rate_limited",
        "retry:silent",
        "retry:unreachable",
        "sequence set",
        "set back:evicted",
        "set back:rejected",
        "set back:unknown",
        "signed again after its timeout",
        "signed again, refused",
        "store busy",
        "too late to act",
        "unsure",
        "zombie refused",
    ),
    "cosmos s1 lying": (
        "honest nodes out of reach",
        "lie that mattered:address",
        "lie that mattered:expiry",
        "lie that mattered:height",
        "lie that mattered:inclusion",
        "lie that mattered:missing",
        "lie that mattered:network",
        "lie that mattered:number",
        "lie that mattered:offer",
        "lie that mattered:origin",
        "lie that mattered:proof",
        "lie that mattered:sequence",
        "failed before its number was taken",
        "result:confirmed",
        "result:expired",
        "result:refused",
        "shown",
        "signed again after its timeout",
    ),
    "cosmos s2": (
        "commit answer lost",
        "crash:inside a commit",
        "crash:after a commit",
        "fell out",
        "filler made",
        "result:confirmed",
        "set back:unknown",
        "signed again after its timeout",
    ),
    "rollup s1": (
        "an old fork is back",
        "an old version wins",
        "answer lost",
        "block dropped",
        "block not built",
        "block unmade",
        "bytes doubled",
        "bytes late",
        "cascade",
        "clock skewed",
        "commit answer lost",
        "condemned: bad_context",
        "crash while building",
        "crash while offering",
        "crash:after a commit",
        "crash:before answer",
        "crash:before perform",
        "crash:inside a commit",
        "dead: anchor_not_recent",
        "dead: prerequisite",
        "dead: unavailable",
        "declared dead",
        "discarded: its anchor grew too old before it was submitted",
        "duplicate_accumulate",
        "duplicate_guarantee",
        "frozen",
        "held by the service",
        "hopeless",
        "lane released",
        "look failed",
        "node unreachable",
        "overdue",
        "owned by another",
        "refused by all",
        "refused by whim",
        "refused:cancel",
        "reorg took back accumulated",
        "reorg took back dead",
        "reorg took back reported",
        "replayed",
        "requeued",
        "restored",
        "resubmitted on another fork",
        "result:cancelled",
        "result:confirmed",
        "result:expired",
        "result:refused",
        "result:reverted",
        "returned transactions in a block",
        "revived",
        "same bytes resubmitted",
        "store busy",
        "submitted in its window",
        "taken over in flight",
        "the builder did not hear",
        "the user did not hear",
        "told twice",
        "too late to act",
        "undecided",
        "v1 final beside v2",
        "v1 wins",
        "v2 built",
        "v2 final",
        "v2 wins",
        "v3 built",
        "version_cancelled",
        "window closed",
        "zombie refused",
    ),
    "rollup s2": (
        "commit answer lost",
        "crash while offering",
        "crash:inside a commit",
        "crash:after a commit",
        "reorg took back reported",
        "requeued",
        "result:confirmed",
        "same bytes resubmitted",
        "taken over in flight",
        "v2 wins",
    ),
    "eoa s3": ("commit answer lost", "killed", "lived to the end", "reorg", "store busy"),
    "cosmos s3": (
        "answer lost",
        "bytes late",
        "commit answer lost",
        "evicted by a mempool",
        "killed",
        "lived to the end",
        "mempool lost on restart",
        "node says mempool_full",
        "node says wrong_sequence",
        "store busy",
    ),
    "rollup s3": (
        "answer lost",
        "bytes late",
        "callback failed",
        "commit answer lost",
        "killed",
        "lived to the end",
        "reorg took back reported",
        "requeued",
        "same bytes resubmitted",
        "store busy",
        "told twice",
        "v2 wins",
        "version not built",
    ),
}
"""States so rare that they are easily missed; MANY seeds together must have met each."""

BUGS_SEEN = ("bug:cursed", "bug:once", "lane stopped", "put aside", "lane revived")
PERFORMERS_SEEN = ("bug:hexed", "bug:performer once", "execution put aside")
"""Contract lanes' performers have bugs too."""

MANY = 250


def run_chunk(
    kind: str, layer: str, first: int, count: int, *, lying: bool = False, bugs: bool = False
) -> tuple[list[tuple[int, str]], dict[str, int]]:
    logging.disable(logging.CRITICAL)  # A world's own warnings are part of its story, not of ours.
    broken = []
    seen: Counter[str] = Counter()
    for seed in range(first, first + count):
        verdict = run_world(seed, layer, kind, lying=lying, bugs=bugs)
        seen.update(verdict.seen)
        seen["steps"] += verdict.steps
        if verdict.broken is not None:
            broken.append((seed, verdict.broken))
    return broken, dict(seen)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("layer", choices=LAYERS)
    parser.add_argument("count", type=int)
    parser.add_argument("--kind", choices=KINDS, default="contract")
    parser.add_argument(
        "--lying", action="store_true", help="One node of three lies (kinds eoa and cosmos)."
    )
    parser.add_argument("--bugs", action="store_true", help="Bugs stop lanes (layers s1 and s2).")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if options.lying and options.kind not in LYING_KINDS:
        parser.error(f"no node lies in worlds of kind {options.kind}")
    begun = time.monotonic()
    broken: list[tuple[int, str]] = []
    seen: Counter[str] = Counter()
    last = options.first + options.count
    starts = list(range(options.first, last, CHUNK))
    with ProcessPoolExecutor(options.jobs) as pool:
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
    name = f"{options.kind} {options.layer}" + (" lying" if options.lying else "")
    name += " bugs" if options.bugs else ""
    counts = f"{options.count} worlds, {seen['steps']} steps, {took_s:.1f} s"
    print(f"{name}: {counts}, {len(broken)} broken")
    for seed, why in broken[:20]:
        told = f"--kind {options.kind} --layer {options.layer} --seed {seed}"
        told += " --lying" if options.lying else ""
        told += " (run_world with bugs=True)" if options.bugs else ""
        print(f"  laneway sim {told}   # {why}")
    wanted = BUGS_SEEN if options.bugs else MUST_BE_SEEN.get(name, ())
    if options.bugs and options.kind == "contract":
        wanted += PERFORMERS_SEEN
    missed = [state for state in wanted if not seen[state]]
    if missed and options.count >= MANY:
        print(f"  never met: {', '.join(missed)}")
        return 1
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
