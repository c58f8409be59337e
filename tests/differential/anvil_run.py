"""Compares laneway's EVM with a real anvil on generated cases, each transaction in its own block.

Run by path: `python tests/differential/anvil_run.py --cases 500 --first 0`. Each case is followed
by one that gives a transaction less gas. Exit code 0 only if both agree on what is included, on
gas, output, logs, receipts and every account. Only cases of Prague and Osaka run.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import monotonic

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.differential import core
from tests.differential.anvil_oracle import FORKS, NODE_RESULTS, Anvils, anvils, for_anvil
from tests.differential.case import Answer, Case
from tests.differential.compare import RESULTS, Difference, differences, story
from tests.differential.engines import shorter
from tests.differential.generator import case_named
from tests.differential.shrink import Shrinker

SAY_EVERY_S = 10.0
BROKEN_MAX = 5


def compared(case: Case, nodes: Anvils, engine: str) -> tuple[list[Difference], Answer]:
    theirs, mined = nodes.answer(case)
    ours = core.answer_in_blocks(case, mined.before, mined.blocks, engine)
    return differences(theirs, ours, (*RESULTS, *NODE_RESULTS)), theirs


class Comparison:
    def __init__(self, nodes: Anvils, engine: str) -> None:
        self.nodes = nodes
        self.engine = engine
        self.cases = self.transactions = self.included = self.broken = 0

    def run(self, names: Iterator[str]) -> None:
        said_s = monotonic()
        for name in names:
            case = for_anvil(case_named(name))
            if case.fork not in FORKS:
                continue
            answer = self._compare(case)
            for one in shorter(case, answer, Random(name)):
                self._compare(for_anvil(one))
            if self.broken >= BROKEN_MAX:
                return
            if monotonic() - said_s > SAY_EVERY_S:
                said_s = monotonic()
                print(self.text(), file=sys.stderr, flush=True)

    def _compare(self, case: Case) -> Answer:
        found, answer = compared(case, self.nodes, self.engine)
        self.cases += 1
        self.transactions += len(case.drafts)
        self.included += sum("excluded" not in one for one in answer["transactions"])
        if found:
            self.broken += 1
            kinds = {one.kind for one in found}
            small = Shrinker(lambda tried: self._differs(tried, kinds)).shrink(case)
            found, _ = compared(small, self.nodes, self.engine)
            print(story(small, found).replace("the oracle", "anvil"), flush=True)
        return answer

    def _differs(self, case: Case, kinds: set[str]) -> bool:
        found, _ = compared(for_anvil(case), self.nodes, self.engine)
        return any(one.kind in kinds for one in found)

    def text(self) -> str:
        return (
            f"{self.cases} cases, {self.transactions} transactions, {self.included} of them"
            f" included; {self.broken} cases differ"
        )


def options() -> Namespace:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--engine", choices=core.ENGINES, default=core.ENGINES[0])
    parser.add_argument("--case", action="append", default=[], help="SEED or SEED/INDEX=GAS")
    return parser.parse_args()


def main() -> int:
    chosen = options()
    seeds = range(chosen.first, chosen.first + chosen.cases)
    begun_s = monotonic()
    with anvils() as nodes:
        comparison = Comparison(nodes, chosen.engine)
        comparison.run(iter(chosen.case or map(str, seeds)))
    print(f"{comparison.text()}; {monotonic() - begun_s:.0f} s")
    return 1 if comparison.broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
