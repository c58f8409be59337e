"""Hostile code for laneway's EVM: bytes by chance, and bombs; it needs no oracle.

Run by path. `hostile.py --count 200000` executes code made of bytes by chance: exit code 0 only if
no execution raises anything, spends more gas than it has or makes money. `hostile.py --bombs` runs
each bomb (bombs.py) in a process of its own with the gas of a block, within the bounds of time and
memory. What each opcode and precompile costs per gas is measured by costs.py.
"""

import json
import resource
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from random import Random
from time import monotonic, process_time

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.differential import core, programs
from tests.differential.assembly import assemble, opcodes
from tests.differential.bombs import Bomb, bombs
from tests.differential.world import World

BLOCK_GAS = 30_000_000
CPU_S_MAX = {"interpreted": 15.0, "compiled": 60.0, "usual": 8.0}
"""Of a block. Compiling all code at once, whatever it costs, is for comparisons alone."""
MEMORY_MIB_MAX = 512
RECURSION_MAX = 220
"""The machine keeps its frames in a list, so depth costs no recursion; the rest is this runner."""
SAY_EVERY_S = 10.0


def by_chance(rng: Random, fork: str) -> bytes:
    chosen = rng.random()
    if chosen < 0.3:
        return rng.randbytes(rng.randrange(1, 300))
    if chosen < 0.7:
        # Opcodes that exist, and enough on the stack for them.
        known = [one.byte for one in opcodes(fork) if one.name[:4] != "PUSH"]
        made = b"".join(
            bytes([0x60, rng.randrange(256)]) if rng.random() < 0.6 else bytes([rng.choice(known)])
            for _ in range(rng.randrange(5, 150))
        )
        return b"\x60\x01" * rng.randrange(20) + made
    world = World(rng, fork)
    world.contracts = [core.CONTRACT]
    world.libraries = [core.CONTRACT]
    world.self_address = core.CONTRACT
    program = bytearray(assemble(programs.program(world)) or b"\x00")
    for _ in range(rng.choice([0, 1, 3, 10])):
        program[rng.randrange(len(program))] = rng.randrange(256)
    return bytes(program)


def check(seed: int, engine: str) -> str | None:
    """What is wrong with one execution, if anything."""
    rng = Random(seed)
    fork = rng.choice(["Cancun", "Prague", "Osaka"])
    code, data = by_chance(rng, fork), rng.randbytes(rng.choice([0, 4, 36, 68]))
    gas = 30_000 + rng.choice([0, 1_000, 50_000, 200_000, 1_000_000])
    try:
        receipt, state = core.run_code(code, gas, data=data, fork=fork, engine=engine)
    except Exception as error:  # noqa: BLE001 - whatever it is, it may not leave the core.
        return f"{type(error).__name__}: {error}; code {code.hex()}, data {data.hex()}, gas {gas}"
    if not 21_000 <= receipt.gas_used <= gas:
        return f"used {receipt.gas_used} of {gas} gas; code {code.hex()}"
    total = sum(account.balance_wei for account in state.accounts.values())
    if total > core.FUNDS_WEI + 1:
        return f"there are {total} wei afterwards; code {code.hex()}"
    return None


def search(options: Namespace) -> int:
    begun_s = said_s = monotonic()
    longest_s, longest = 0.0, 0
    for done, seed in enumerate(range(options.first, options.first + options.count), 1):
        started_s = process_time()
        problem = check(seed, options.engine)
        took_s = process_time() - started_s
        if took_s > longest_s:
            longest_s, longest = took_s, seed
        if problem is not None:
            print(f"seed {seed}: {problem}")
            return 1
        if monotonic() - said_s > SAY_EVERY_S:
            said_s = monotonic()
            print(f"{done}/{options.count}", file=sys.stderr, flush=True)
    print(
        f"{options.count} codes by chance in {monotonic() - begun_s:.0f} s;"
        f" the longest took {longest_s:.2f} s (seed {longest})"
    )
    return 0


def explode(bomb: Bomb, gas: int, engine: str) -> dict[str, float]:
    """Run a bomb here, and say what it took."""
    begun_s = process_time()
    receipt, _ = core.run_code(bomb.code, gas, fork=bomb.fork, engine=engine, others=bomb.others)
    took_s = process_time() - begun_s
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"cpu_s": took_s, "mib": peak_kib / 1_024, "gas": receipt.gas_used}


def explode_all(options: Namespace) -> int:
    """Each in a process of its own, so that memory is its own as well."""
    failed = 0
    for bomb in bombs():
        command = [sys.executable, __file__, "--bomb", bomb.name, "--engine", options.engine]
        command += ["--gas", str(options.gas)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode:
            print(f"{bomb.name:<50} FAILED: {ran.stderr.strip().splitlines()[-1:]}")
            failed += 1
            continue
        took = json.loads(ran.stdout)
        is_good = (
            took["cpu_s"] <= CPU_S_MAX[options.engine] * options.gas / BLOCK_GAS
            and took["mib"] <= MEMORY_MIB_MAX
        )
        failed += not is_good
        print(
            f"{bomb.name:<50}{took['cpu_s']:>8.2f} s{took['mib']:>7.0f} MiB"
            f"{took['gas']:>12.0f} gas  {'' if is_good else 'TOO MUCH'}",
            flush=True,
        )
    return 1 if failed else 0


def options() -> Namespace:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--engine", choices=tuple(core.COMPILED_AFTER), default=core.ENGINES[0])
    parser.add_argument("--bombs", action="store_true")
    parser.add_argument("--bomb", help="run this one here")
    parser.add_argument("--gas", type=int, default=BLOCK_GAS)
    return parser.parse_args()


def main() -> int:
    chosen = options()
    if chosen.bomb:
        (bomb,) = [one for one in bombs() if one.name == chosen.bomb]
        print(json.dumps(explode(bomb, chosen.gas, chosen.engine)))
        return 0
    if chosen.bombs:
        return explode_all(chosen)
    sys.setrecursionlimit(RECURSION_MAX)
    return search(chosen)


if __name__ == "__main__":
    raise SystemExit(main())
