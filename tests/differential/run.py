"""Compares laneway's EVM with Ethereum's executable specification on generated cases.

Run by path: `python tests/differential/run.py --cases 1000 --first 0`. Exit code 0 only if both
agree on gas, output, logs and state of every transaction. Each case is followed by some that give
one transaction less gas, so that it ends at another step. Seeds that ever differed stand in
seeds.txt and run first; `--case NAME` tells one of them as a story.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import monotonic

from msgspec import Struct, field, structs

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.differential import core
from tests.differential.case import Answer, Case
from tests.differential.compare import Difference, differences, is_judged, story
from tests.differential.generator import case_named
from tests.differential.oracle import Eels, eels
from tests.differential.reach import Reach
from tests.differential.shrink import Shrinker

SEEDS = Path(__file__).parent / "seeds.txt"
BOTH = "both"
AHEAD = 3
"""Cases under way in the oracle while laneway computes another."""
STORIES_MAX = 5
SAY_EVERY_S = 10.0


class Tally(Struct):
    cases: int = 0
    transactions: int = 0
    excluded: int = 0
    unjudged: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    core_s: float = 0.0


class Runner:
    def __init__(self, options: Namespace, oracle: Eels) -> None:
        self.options = options
        self.oracle = oracle
        self.engines = core.ENGINES if options.engine == BOTH else (options.engine,)
        self.tally = Tally()
        self.begun_s = monotonic()
        self._said_s = self.begun_s
        self._more: deque[str] = deque()

    def run(self) -> Tally:
        under_way: deque[Case] = deque()
        for case in self._cases():
            steps = self.options.sweeps > 0 and "/" not in case.name
            self.oracle.send(case.request(watched=self.options.reach, steps=steps))
            under_way.append(case)
            if len(under_way) > AHEAD:
                self._judge(under_way.popleft())
        while under_way:
            self._judge(under_way.popleft())
        return self.tally

    def _cases(self) -> Iterator[Case]:
        if self.options.case:
            yield from map(case_named, self.options.case)
            return
        for name in kept_seeds():
            yield case_named(name)
        last = self.options.first + self.options.cases
        for seed in range(self.options.first, last):
            if self.options.seconds and monotonic() - self.begun_s > self.options.seconds:
                return
            yield case_named(str(seed))
            while self._more:
                yield case_named(self._more.popleft())

    def _judge(self, case: Case) -> None:
        theirs = self.oracle.receive()
        tally = self.tally
        tally.cases += 1
        tally.transactions += len(case.drafts)
        tally.excluded += sum("excluded" in result for result in theirs["transactions"])
        self._say()
        if not is_judged(theirs):
            tally.unjudged.append(case.name)
            return
        if self.options.oracle_only:
            self._sweep(case, theirs)
            return
        begun_s = monotonic()
        found = self._compared(case, theirs)
        tally.core_s += monotonic() - begun_s
        if found:
            self._tell(case, found)
        else:
            self._sweep(case, theirs)

    def _compared(self, case: Case, theirs: Answer) -> list[Difference]:
        """Where the first engine that differs does so."""
        for engine in self.engines:
            found = differences(theirs, core.answer(case, engine))
            if found:
                return [structs.replace(one, where=f"{one.where}, {engine}") for one in found]
        return []

    def _sweep(self, case: Case, theirs: Answer) -> None:
        if "/" not in case.name:
            self._more += sweeps(case.name, theirs, self.options.sweeps)

    def _tell(self, case: Case, found: list[Difference]) -> None:
        tally = self.tally
        tally.differing.append(case.name)
        tally.kinds[found[0].kind] += 1
        if self.options.keep and not self.options.case:
            keep_seed(case.name)
        if len(tally.differing) > STORIES_MAX:
            print(f"case {case.name} differs too: {found[0].text()}", flush=True)
            return
        if self.options.shrink:
            case, found = self._shrunk(case, found)
        print(story(case, found), flush=True)

    def _shrunk(self, case: Case, found: list[Difference]) -> tuple[Case, list[Difference]]:
        """A smaller case with the same kind of difference, on an oracle of its own."""
        kinds = {one.kind for one in found}
        with eels() as oracle:

            def compared(tried: Case) -> list[Difference]:
                theirs = oracle.ask(tried.request())
                return self._compared(tried, theirs) if is_judged(theirs) else []

            def differs(tried: Case) -> bool:
                return any(one.kind in kinds for one in compared(tried))

            smallest = Shrinker(differs).shrink(case)
            return smallest, compared(smallest)

    def _say(self) -> None:
        now_s = monotonic()
        if now_s - self._said_s > SAY_EVERY_S:
            self._said_s = now_s
            tally = self.tally
            rate = tally.transactions / (now_s - self.begun_s)
            print(
                f"{tally.cases} cases, {tally.transactions} transactions, {rate:.0f} per second,"
                f" {len(tally.differing)} cases differ",
                file=sys.stderr,
                flush=True,
            )


def sweeps(name: str, answer: Answer, count: int) -> list[str]:
    """The case again, with less gas for one transaction: it ends some steps before its end."""
    rng = Random(f"sweep {name}")
    ran = [
        (index, result["steps"])
        for index, result in enumerate(answer["transactions"])
        if result.get("steps")
    ]
    made = []
    for _ in range(count if ran else 0):
        index, left = rng.choice(ran)
        result = answer["transactions"][index]
        least = result["gas_limit"] - left[0]
        # What was used before a step of the outermost frame, at it, or just short of it.
        used = result["gas_limit"] - rng.choice(left)
        chosen = rng.random()
        if chosen < 0.25 and result["keen"]:
            # SSTORE refuses 2,300, and calls leave a 64th behind.
            used = result["gas_limit"] - rng.choice(result["keen"])
            gas = used + rng.choice([100, 2_299, 2_300, 2_300, 2_301, 2_301, 2_302, 5_000, 9_000])
        elif chosen < 0.5:
            gas = rng.randrange(least, used + 1)
        else:
            gas = used - rng.choice([0, 0, 1, 1, 2, 3]) + rng.choice([0, 0, 2, 700])
        made.append(f"{name}/{index}={gas}")
    return made


def kept_seeds() -> list[str]:
    if not SEEDS.exists():
        return []
    lines = [line.partition("#")[0].strip() for line in SEEDS.read_text().splitlines()]
    return [line for line in lines if line]


def keep_seed(name: str) -> None:
    if name not in kept_seeds():
        with SEEDS.open("a") as seeds:
            seeds.write(name + "\n")


def options() -> Namespace:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0, help="stop early after so long")
    parser.add_argument("--sweeps", type=int, default=2, help="cases with less gas, after each")
    parser.add_argument("--engine", choices=(BOTH, *core.ENGINES), default=BOTH)
    parser.add_argument("--case", action="append", default=[], help="SEED or SEED/INDEX=GAS")
    parser.add_argument("--no-shrink", dest="shrink", action="store_false")
    parser.add_argument("--no-keep", dest="keep", action="store_false")
    parser.add_argument("--reach", action="store_true", help="print what was reached")
    parser.add_argument("--oracle-only", action="store_true", help="do not ask laneway")
    return parser.parse_args()


def main() -> int:
    chosen = options()
    with eels() as oracle:
        runner = Runner(chosen, oracle)
        tally = runner.run()
        took_s = monotonic() - runner.begun_s
        if chosen.reach:
            reach = Reach(oracle.ask({"coverage": True}))
            print(reach.text())
            for line in reach.unreached():
                print(f"not reached: {line}")
    included = tally.transactions - tally.excluded
    print(
        f"{tally.cases} cases, {tally.transactions} transactions, {included} of them included;"
        f" {tally.transactions / took_s:.0f} per second, laneway {tally.core_s:.1f} s of"
        f" {took_s:.1f} s; the oracle gave up on {len(tally.unjudged)}"
        f" {tally.unjudged[:5] or ''}"
    )
    if tally.differing:
        print(f"{len(tally.differing)} cases differ: {dict(tally.kinds)}")
        print(" ".join(tally.differing[:50]))
    return 1 if tally.differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
