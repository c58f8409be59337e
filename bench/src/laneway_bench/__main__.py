"""`python -m laneway_bench NAME`: the same as `laneway bench NAME`."""

import argparse
import sys
from importlib import import_module
from pathlib import Path

BENCHES = ("contract", "door", "eoa", "evm", "jam", "rollup", "rollup-front", "sequence")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m laneway_bench", description=__doc__)
    parser.add_argument("bench", choices=[*BENCHES])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="small counts; the numbers are noise")
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    parser.add_argument("--peers", type=Path, default=Path(".venv-peers"))
    parser.add_argument("--only", default="", help="contestants, separated by commas")
    asked = parser.parse_args(arguments)

    bench = import_module(f"laneway_bench.{asked.bench.replace('-', '_')}.bench")
    called = asked.bench.title().replace("-", "")
    is_divisible = getattr(bench, f"{called}Bench").is_divisible
    if asked.only and not is_divisible:
        parser.error("--only belongs to eoa, evm, jam, rollup, rollup-front and sequence")
    chosen = (asked.only,) if is_divisible else ()
    code: int = bench.main(asked.json, asked.quick, asked.out, asked.peers, *chosen)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
