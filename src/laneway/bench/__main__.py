"""`python -m laneway.bench NAME`: the same as `laneway bench NAME`."""

import argparse
import sys
from pathlib import Path

BENCHES = ("contract", "door", "eoa", "jam", "rollup", "sequence")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m laneway.bench", description=__doc__)
    parser.add_argument("bench", choices=[*BENCHES])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="small counts; the numbers are noise")
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    parser.add_argument("--peers", type=Path, default=Path(".venv-peers"))
    parser.add_argument("--only", default="", help="contestants, separated by commas")
    chosen = parser.parse_args(arguments)

    from laneway.bench import contract, door, eoa, jam, rollup, sequence

    with_parts = {"eoa": eoa.main, "jam": jam.main, "sequence": sequence.main}
    if chosen.bench == "rollup":
        return rollup.main(chosen.json, chosen.quick, chosen.out, chosen.only)
    if (some := with_parts.get(chosen.bench)) is not None:
        return some(chosen.json, chosen.quick, chosen.out, chosen.peers, chosen.only)
    if chosen.only:
        parser.error("--only belongs to eoa, jam, rollup and sequence")
    run = contract.main if chosen.bench == "contract" else door.main
    return run(chosen.json, chosen.quick, chosen.out, chosen.peers)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
