"""What each opcode, precompile and bomb costs the machine per gas, the worst first.

Run by path: `costs.py` prints the table, `costs.py --json` the measurements, `costs.py --write`
keeps both (bench/results/evm-costs.json, docs/evm-costs.md). Each is measured in the form that is
worst for it: operands that whoever compiles the loop knows or does not know, memory and storage
that are warm, cold or new. Processor time, the best of several runs.
"""

import json
import platform
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.differential import hostile
from tests.differential.assembly import OPCODES, Word, assemble
from tests.differential.bombs import (
    HUGE,
    OPERANDS,
    OTHER,
    Bomb,
    bombs,
    ladder,
    looped,
    opcode_bombs,
    precompile_bombs,
)
from tests.differential.snippets import called

from laneway.evm.keccak import keccak
from laneway.evm.limits import BLOCK_GAS_DEFAULT, BLOCK_SAFETY, BLOCK_TIME_S

ROOT = Path(__file__).parents[2]
DATA = ROOT / "bench/results/evm-costs.json"
PAGE = ROOT / "docs/evm-costs.md"
ENGINES = ("interpreted", "usual")
GAS = 1_000_000
BOMB_GAS = 3_000_000
"""Of a bomb. `hostile.py --bombs` runs each with all gas of a block and bounds its memory."""
WARM_GAS = 300_000
"""What is executed before the clock runs, so that the usual engine has compiled."""
ROUNDS = 2
UNROLLED = 40
LEFT_GAS = 100_000
ANCHOR_HASHES = 20_000
PAID_FIRST = 21_000

OTHER_FORMS: dict[str, list[list[Word]]] = {
    "SLOAD": [[0]],
    "SSTORE": [[1, 0], ["GAS", 0]],
    "TLOAD": [[0]],
    "TSTORE": [[1, 0]],
    "BALANCE": [["ADDRESS"]],
    "EXTCODESIZE": [["ADDRESS"]],
    "EXTCODEHASH": [["ADDRESS"]],
    "EXTCODECOPY": [[0, 0, 0, "ADDRESS"]],
    "KECCAK256": [[0, 0], [64, 0], [4_096, 0]],
    "MLOAD": [[0]],
    "MSTORE": [["GAS", 0]],
    "MCOPY": [[0, 0, 0], [32, 0, 1]],
    "CALLDATACOPY": [[0, 0, 0], [32, 0, 1]],
    "CODECOPY": [[0, 0, 0], [32, 0, 1]],
    "RETURNDATACOPY": [[0, 0, 0]],
    "CALLDATALOAD": [[HUGE]],
    "BLOCKHASH": [[HUGE]],
    "BLOBHASH": [[HUGE]],
    "EXP": [[0, HUGE], [HUGE, 2], [255, HUGE]],
    "DIV": [[0, HUGE], [3, HUGE]],
    "MOD": [[3, HUGE]],
    "LOG0": [[32, 0], [1_024, 0]],
    "LOG4": [[HUGE, HUGE, HUGE, HUGE, 32, 0]],
    "CALL": [[0, 0, 0, 0, 0, 0x99, 0]],
    "CALLCODE": [[0, 0, 0, 0, 0, 0x99, 0]],
    "DELEGATECALL": [[0, 0, 0, 0, 0x99, 0]],
    "STATICCALL": [[0, 0, 0, 0, 0x99, 0]],
    "CREATE": [[32, 0, 0]],
    "CREATE2": [["GAS", 32, 0, 0]],
}
"""Operands besides those of bombs.py, from the first that is pushed to the last."""
CHAINED: dict[int, list[Word]] = {
    1: [],
    2: ["DUP2"],
    3: ["DUP3", "SWAP1", "DUP3"],
}
"""How an operand is brought above the last result, so that nothing but the opcode is left."""
WITHIN: dict[str, tuple[list[Word], int]] = {
    "STOP": (["STOP"], 100),
    "RETURN": ([0, 0, "RETURN"], 100),
    "REVERT": ([0, 0, "REVERT"], 100),
    "INVALID": (["INVALID"], 3),
    "SELFDESTRUCT": (["ADDRESS", "SELFDESTRUCT"], 10_000),
}
"""Opcodes that end their frame: what a called contract does, and with how much gas."""


def forms() -> Iterator[tuple[str, str, Bomb]]:
    """A name in the table, which form of it, and code that does nothing else."""
    for bomb in opcode_bombs():
        yield bomb.name, "opcode", bomb
        for begin, body in bodies(bomb.name):
            for code in (looped(body, begin), ended(body, begin)):
                yield bomb.name, "opcode", Bomb(bomb.name, code, fork="Osaka")
    for name, (body, gas) in WITHIN.items():
        far = int.from_bytes(OTHER, "big")
        call: list[Word] = [0, 0, 0, 0, 0, far, gas, "CALL", "POP"]
        yield name, "opcode", Bomb(name, looped(call), {OTHER: assemble([tuple(body)])}, "Osaka")
    yield "JUMP", "opcode", Bomb("JUMP", ladder(0) + b"\x5f\x56", {}, "Osaka")
    yield "JUMP", "opcode", Bomb("JUMP", ended(["PC", 5, "ADD", "JUMP", b"\x5b"], []), {}, "Osaka")
    for bomb in precompile_bombs():
        yield f"precompile {bomb.name.split()[1]}", "precompile", bomb


def bodies(name: str) -> Iterator[tuple[list[Word], list[Word]]]:
    """What a loop over an opcode begins with, and the loop."""
    opcode = OPCODES[name]
    after: list[Word] = ["POP"] * opcode.gives
    usual = OPERANDS.get(name, [HUGE] * opcode.takes)
    before: list[Word] = [1, 4_096, "MSTORE"]
    if name[:3] == "DUP":
        yield [HUGE] * opcode.takes, [name, "POP"]
        return
    if name[:4] == "SWAP":
        yield [HUGE] * opcode.takes, [name]
        return
    for operands in (usual, *OTHER_FORMS.get(name, [])):
        yield before, [*operands, called(name), *after]
    if opcode.takes in CHAINED and opcode.gives == 1 and name not in ("KECCAK256", "SLOAD"):
        # What is added to zero that comes from outside is known to nobody who compiles.
        begin: list[Word] = [word for one in usual for word in (one, "CALLVALUE", "ADD")]
        yield begin, [*CHAINED[opcode.takes], called(name)]


def ended(body: list[Word], before: list[Word]) -> bytes:
    """The body again and again, with an end before the gas is: only such code is ever compiled."""
    loop: list[Word] = [":Again", *body * UNROLLED, LEFT_GAS, "GAS", "GT", "@Again", "JUMPI"]
    return assemble([(*before, *loop, "STOP")])


def ns_per_gas(bomb: Bomb, engine: str, gas: int = GAS) -> float:
    hostile.explode(bomb, WARM_GAS, engine)
    found = []
    for _ in range(ROUNDS):
        took = hostile.explode(bomb, gas, engine)
        found.append(1e9 * took["cpu_s"] / (took["gas"] - PAID_FIRST))
    return min(found)


def anchor_us() -> float:
    """Processor time of a Keccak-256 of 64 bytes and a dozen of Python's steps, to compare machines
    by."""
    found = []
    for _ in range(ROUNDS):
        begun_s, word, total = process_time(), bytes(64), 0
        for number in range(ANCHOR_HASHES):
            word = keccak(word) * 2
            total = (total * 31 + int.from_bytes(word, "big") + number) % (1 << 256)
        found.append(1e6 * (process_time() - begun_s) / ANCHOR_HASHES)
    return min(found)


def measured(only: list[str]) -> dict[str, Any]:
    """All costs in nanoseconds per gas: of each name its worst form, the worst name first. With
    `only`, those of these names, and the others as they were kept."""
    kept_before = json.loads(DATA.read_text())["costs"] if only else []
    worst: dict[str, dict[str, Any]] = {
        one["name"]: one for one in kept_before if one["name"] not in only
    }

    def note(name: str, kind: str, found: dict[str, float]) -> None:
        kept = worst.setdefault(name, {"name": name, "kind": kind, **dict.fromkeys(ENGINES, 0.0)})
        for engine, cost in found.items():
            kept[engine] = max(kept[engine], round(cost, 1))

    for name, kind, bomb in forms():
        if only and name not in only:
            continue
        note(name, kind, {engine: ns_per_gas(bomb, engine) for engine in ENGINES})
        print(f"{name:<20}{worst[name]}", file=sys.stderr)
    for bomb in bombs():
        if only and bomb.name not in only:
            continue
        note(bomb.name, "bomb", {engine: ns_per_gas(bomb, engine, BOMB_GAS) for engine in ENGINES})
        print(f"{bomb.name:<20}{worst[bomb.name]}", file=sys.stderr)
    costs = sorted(worst.values(), key=lambda one: (-cost_of(one), one["name"]))
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    return {"machine": machine, "anchor_us": round(anchor_us(), 3), "costs": costs}


def cost_of(entry: dict[str, Any]) -> float:
    """In the engine where it is dearer: whoever builds a block chooses neither."""
    return max(float(entry[engine]) for engine in ENGINES)


def page(found: dict[str, Any]) -> str:
    """The table as docs have it."""
    worst = found["costs"][0]
    block_s = cost_of(worst) * BLOCK_GAS_DEFAULT / 1e9
    lines = [
        "# What gas costs the machine",
        "",
        "Nanoseconds of processor time for a unit of gas, of each opcode of Osaka, each precompiled"
        " contract and each bomb of `tests/differential/bombs.py`, in the form that is worst for it"
        " and in both engines.",
        "`python tests/differential/costs.py --write` measures them and writes this page and"
        " [evm-costs.json](../bench/results/evm-costs.json).",
        "",
        f"* The machine: {found['machine']}; a Keccak-256 of 64 bytes with a dozen of Python's"
        f" steps takes it {found['anchor_us']} microseconds.",
        f"* The worst is {worst['name']}: a block of {BLOCK_GAS_DEFAULT:,} gas that is full of it"
        f" takes {block_s:.1f} s.",
        "* `interpreted` compiles nothing; `usual` compiles what spent gas before.",
        "* An opcode stands with what brings its operands and takes its result away, in a loop.",
        "",
        "A rollup's block has"
        f" {BLOCK_GAS_DEFAULT:,} gas by default (`BLOCK_GAS_DEFAULT` in `laneway.evm.limits`):"
        f" a machine that is {BLOCK_SAFETY:g} times slower than this one still builds the worst"
        f" block within a slot of {BLOCK_TIME_S:g} s.",
        "",
        "| | kind | interpreted | usual |",
        "|---|---|---:|---:|",
    ]
    lines += [
        f"| {one['name']} | {one['kind']} | {one['interpreted']} | {one['usual']} |"
        for one in found["costs"]
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("names", nargs="*", help="only these; the others stay as they were kept")
    options = parser.parse_args()
    found = measured(options.names)
    if options.write:
        DATA.write_text(json.dumps(found, indent=1) + "\n")
        PAGE.write_text(page(found))
    print(json.dumps(found) if options.json else page(found), end="\n" if options.json else "")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
