"""The full counts of every promise: resumable, one log, time shown per part.

`soak.py [--part NAME] [--fresh]`. A part that is done is not run again; a part of many seeds goes
on where it stopped. State and log stand under soak/.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple, NotRequired, TypedDict

ROOT = Path(__file__).parent.parent
SOAK = ROOT / "soak"
STATE = SOAK / "state.json"
LOG = SOAK / "soak.log"
JOBS = os.cpu_count() or 1


class Part(NamedTuple):
    """A count, and the command that does a slice of it."""

    name: str
    total: int
    slice: int
    command: list[str]
    """`{first}` and `{count}` are filled in."""
    tells: bool = False
    """Whether its figures are shown, and its last line again in the summary."""


def seeds(
    layer: str, total: int, piece: int, kind: str = "contract", *, lying: bool = False
) -> Part:
    command = ["scripts/seeds.py", layer, "{count}", "--first", "{first}", "--jobs", str(JOBS)]
    if kind == "contract":
        return Part(f"simulator {layer}", total, piece, command)
    name, more = f"simulator {kind} {layer}", ["--kind", kind]
    if lying:
        name, more = f"{name} lying", [*more, "--lying"]
    return Part(name, total, piece, [*command, *more])


def fleet(store: str) -> Part:
    """Three processes on one store: kills, stops past the lease, and a server that dies too."""
    words = "--kills {count} --stops 4 --server-kills 3 --executions {executions} --seed {first}"
    command = ["tests/fleet/runner.py", "--store", store, *words.split()]
    return Part(f"fleet on {store}", 200, 50, command)


def payments(store: str) -> Part:
    """A worker that pays from four EVM accounts on a real anvil, killed again and again."""
    words = "--kills {count} --payments 2000 --window 12 --seed {first}"
    more = ["--server-kills", "10"] if store == "redis" else []
    command = ["tests/kill/eoa_runner.py", "--store", store, *words.split(), *more]
    return Part(f"payments on {store}", 100, 50, command)


def blobs() -> Part:
    """A process that submits blobs from three Cosmos accounts, killed again and again."""
    words = "--kills {count} --blobs 1000 --evictions 0.5 --seed {first}"
    return Part("blobs", 100, 50, ["tests/kill/sequence_runner.py", *words.split()])


def rollups(store: str, order: str) -> Part:
    """A process that builds a ledger rollup on a devnet in bad weather, killed again and again."""
    words = f"--order {order} --kills {{count}} --transfers {{executions}} --seed {{first}}"
    command = ["tests/kill/rollup_runner.py", "--store", store, *words.split()]
    return Part(f"rollup kills on {store}", 200, 25, command)


def story(name: str, *, seeds: int, blocks: int = 0, kept: int = 0) -> Part:
    """Real processes with a rollup to which something bad happens, each seed a story of its own."""
    words = f"--story {name} --blocks {blocks} --kept {kept} --seed {{first}}"
    return Part(f"story {name}", seeds, 1, ["tests/scenarios/runner.py", *words.split()])


def watches(network: str) -> Part:
    """Packages that are watched on a JAM network; none leaves a subscription behind."""
    words = f"--network {network} --count {{count}} --first {{first}}"
    return Part(
        f"watches on {network}", 5_000, 2_500, ["-m", "tests.contracts.jam_leaks", *words.split()]
    )


def evm_cases(name: str, script: str, total: int, piece: int) -> Part:
    """Generated cases of the EVM, from seeds (tests/differential)."""
    words = "--cases {count} --first {first}"
    return Part(name, total, piece, [f"tests/differential/{script}.py", *words.split()])


def hostile_code(engine: str) -> Part:
    """Bytes by chance as code."""
    words = f"--engine {engine} --count {{count}} --first {{first}}".split()
    command = ["tests/differential/hostile.py", *words]
    return Part(f"hostile code {engine}", 200_000, 50_000, command)


def bombs(engine: str) -> Part:
    """Code that is made to be slow, with the gas of a block."""
    command = ["tests/differential/hostile.py", "--engine", engine, "--bombs"]
    return Part(f"EVM bombs {engine}", 1, 1, command, tells=True)


FAULTS = ("null", "garbage", "silent", "lying", "blind")
HOUR_S = 3_600
RESTORED = ("-with-builder", "-without-builder")

PARTS = [
    seeds("s1", 100_000, 5_000),
    seeds("s2", 10_000, 1_000),
    seeds("s3", 30_000, 5_000),
    seeds("s1", 100_000, 5_000, "eoa"),
    seeds("s1", 20_000, 5_000, "eoa", lying=True),
    seeds("s2", 5_000, 500, "eoa"),
    seeds("s3", 10_000, 1_000, "eoa"),
    seeds("s1", 100_000, 5_000, "cosmos"),
    seeds("s1", 20_000, 5_000, "cosmos", lying=True),
    seeds("s2", 5_000, 500, "cosmos"),
    seeds("s3", 10_000, 1_000, "cosmos"),
    seeds("s1", 100_000, 5_000, "rollup"),
    seeds("s2", 5_000, 500, "rollup"),
    seeds("s3", 10_000, 1_000, "rollup"),
    Part(
        "exhaustive small scope",
        1,
        1,
        ["-m", "tests.small_scope.survey", "--full"],
    ),
    Part("exhaustive rollup scope", 1, 1, ["-m", "tests.laws.bundle_scope"], tells=True),
    Part(
        "kill -9",
        100,
        25,
        [
            "tests/kill/runner.py",
            "--kills",
            "{count}",
            "--executions",
            "{executions}",
            "--seed",
            "{first}",
        ],
    ),
    *(payments(store) for store in ("sqlite", "redis")),
    blobs(),
    rollups("sqlite", "parallel"),
    rollups("redis", "chained"),
    rollups("postgres", "parallel"),
    *(story(f"restored{how}", seeds=10, blocks=60) for how in ("", *RESTORED)),
    story("lost-commits", seeds=10, blocks=60),
    story("two-deployments", seeds=10, blocks=200),
    story("builder-lost", seeds=1, blocks=3_000, kept=1_024),
    *(story(f"{fault}-node", seeds=10, blocks=100) for fault in FAULTS),
    story("poisoned", seeds=10, blocks=50),
    story("nodes-dead-at-start", seeds=10, blocks=50),
    story("half-walked", seeds=10, blocks=20),
    story("ended-by-one", seeds=10, blocks=20),
    story("nothing-left", seeds=5, blocks=100),
    Part("rollup memory", 1, 1, ["tests/scenarios/memory.py", "--blocks", "20000"], tells=True),
    Part(
        "hostile JAM bytes",
        200_000,
        50_000,
        ["tests/jam/hostile.py", "--count", "{count}", "--first", "{first}"],
    ),
    evm_cases("EVM against EELS", "run", 3_000, 500),
    evm_cases("EVM against anvil", "anvil_run", 500, 250),
    evm_cases("EVM compiled against interpreted", "engines", 40_000, 5_000),
    *(hostile_code(engine) for engine in ("interpreted", "compiled")),
    *(bombs(engine) for engine in ("interpreted", "usual")),
    *(watches(network) for network in ("devnet", "typeberry")),
    *(fleet(store) for store in ("postgres", "redis", "redis-cluster")),
    # One slice: an hour that was cut off begins anew, for only a whole one shows what grows slowly.
    Part(
        "an hour of load",
        HOUR_S,
        HOUR_S,
        ["tests/load/runner.py", "--seconds", "{count}"],
        tells=True,
    ),
    Part("mutations", 1, 1, ["scripts/mutants.py"]),
    Part("demo", 1, 1, ["-m", "laneway", "demo", "--once"]),
]

EXECUTIONS_PER_KILL = 50
"""100 kills over 5,000 executions."""


class Entry(TypedDict):
    """What is known of a part."""

    done: int
    seconds: float
    figures: NotRequired[str]


State = dict[str, Entry]


def load() -> State:
    return json.loads(STATE.read_text()) if STATE.exists() else {}


def note(line: str) -> None:
    stamped = f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {line}"
    print(stamped, flush=True)
    with LOG.open("a") as log:
        log.write(stamped + "\n")


def run_part(part: Part, state: State) -> bool:
    entry = state.setdefault(part.name, {"done": 0, "seconds": 0.0})
    while entry["done"] < part.total:
        first = entry["done"]
        count = min(part.slice, part.total - first)
        filled = [
            word.format(first=first, count=count, executions=count * EXECUTIONS_PER_KILL)
            for word in part.command
        ]
        begun = time.monotonic()
        with LOG.open("a") as log:
            ran = subprocess.run(
                [sys.executable, *filled],
                cwd=ROOT,
                stdout=subprocess.PIPE if part.tells else log,
                stderr=log,
                text=True,
                check=False,
            )
        took_s = time.monotonic() - begun
        if part.tells:
            figures = ran.stdout.splitlines()
            for line in figures:
                note(f"  {line}")
            entry["figures"] = figures[-1] if figures else "it said nothing"
        if ran.returncode != 0:
            note(f"{part.name}: FAILED from {first} on, see {LOG.relative_to(ROOT)}")
            return False
        entry["done"] = first + count
        entry["seconds"] += took_s
        STATE.write_text(json.dumps(state, indent=1))
        note(f"{part.name}: {first + count}/{part.total}, {took_s:.1f} s")
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", action="append", default=[])
    parser.add_argument("--fresh", action="store_true", help="forget what was done before")
    options = parser.parse_args()
    SOAK.mkdir(exist_ok=True)
    if options.fresh:
        STATE.unlink(missing_ok=True)
        LOG.unlink(missing_ok=True)
    state = load()
    chosen = [part for part in PARTS if not options.part or part.name in options.part]
    results = [run_part(part, state) for part in chosen]
    note("summary")
    for part, held in zip(chosen, results, strict=True):
        entry = state[part.name]
        word = "held" if held else "FAILED"
        count = f"{entry['done']}/{part.total}"
        note(f"  {part.name:<24} {count:>15} {entry['seconds']:>8.0f} s  {word}")
        if "figures" in entry:
            note(f"    {entry['figures']}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
