"""Compares the compiled EVM with the interpreted one, without an oracle: ten times as many cases.

Run by path: `python tests/differential/engines.py --cases 20000 --first 0`. Each case runs once
more with less gas for one of its transactions, so that it ends at another step. Exit code 0 only if
both engines answer the same.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import monotonic

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.differential import core
from tests.differential.case import Answer, Case
from tests.differential.compare import Difference, differences, story
from tests.differential.generator import case_named
from tests.differential.run import keep_seed
from tests.differential.shrink import Shrinker

SAY_EVERY_S = 10.0
BROKEN_MAX = 5


def compared(case: Case) -> tuple[list[Difference], Answer]:
    interpreted, compiled = (core.answer(case, engine) for engine in core.ENGINES)
    return differences(interpreted, compiled), interpreted


def shorter(case: Case, answer: Answer, rng: Random) -> Iterator[Case]:
    """The case with less gas for a transaction that used some."""
    ran = [
        (index, result["gas"])
        for index, result in enumerate(answer["transactions"])
        if result.get("gas", 0) > 30_000
    ]
    if ran:
        index, used = rng.choice(ran)
        gas = used - rng.randrange(50) if rng.random() < 0.3 else rng.randrange(21_000, used)
        yield case_named(f"{case.name}/{index}={gas}")


def main() -> int:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=2_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--no-keep", dest="keep", action="store_false")
    options = parser.parse_args()
    begun_s = said_s = monotonic()
    ran, broken = 0, 0
    for seed in range(options.first, options.first + options.cases):
        case = case_named(str(seed))
        found, answer = compared(case)
        tried = [(case, found)]
        tried += [(one, compared(one)[0]) for one in shorter(case, answer, Random(seed))]
        ran += len(tried)
        for one, found in tried:
            if found:
                small = Shrinker(lambda case: bool(compared(case)[0])).shrink(one)
                print(story(small, compared(small)[0]).replace("the oracle", "the interpreter"))
                broken += 1
                if options.keep:
                    keep_seed(one.name)
        if broken >= BROKEN_MAX:
            break
        if monotonic() - said_s > SAY_EVERY_S:
            said_s = monotonic()
            print(f"{ran} cases, {broken} differ", file=sys.stderr, flush=True)
    print(f"{ran} cases in {monotonic() - begun_s:.0f} s, {broken} differ")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
