"""All that can happen to three blocks with two versions each, in small steps.

A step is a timeslot: validators report any of the packages they have, make reports available or
not, a fork takes the last block back, slots pass without a report until versions die, or the
process dies. States that differ in nothing the lane or the chain can see are followed once. Run as
a script with a depth to search further.
"""

import sys
from collections.abc import Iterator
from copy import copy
from itertools import chain, combinations

import msgspec
import pytest
from tests.lanes.bundle.chain import Chain, State
from tests.lanes.bundle.stage import SLOT_MS, Stage, submitted
from tests.laws.bundle_world import check_line

from laneway.lanes.bundle.values import SubmitPackage

BLOCKS = 3
VERSIONS = 2


class Budget(msgspec.Struct, frozen=True):
    """What may still go wrong."""

    reorgs: int = 1
    crashes: int = 1
    timeouts: int = 1


def first(**settings: object) -> Stage:
    return submitted(BLOCKS, **{"cores": (0, 1, 2), **settings})


# One world beside another.


def clone(stage: Stage) -> Stage:
    twin = copy(stage)
    lane = stage.lane.fork()
    lane.bound, lane.finished = dict(lane.bound), dict(lane.finished)
    lane.intents, lane.inherited = dict(lane.intents), dict(lane.inherited)
    twin.lane = lane
    twin.chain = clone_chain(stage.chain)
    for name in ("rows", "results", "indexes", "accepted"):
        setattr(twin, name, dict(getattr(stage, name)))
    for name in ("out", "owed", "told", "heard", "sent"):
        setattr(twin, name, list(getattr(stage, name)))
    twin.all = []
    return twin


def clone_chain(found: Chain) -> Chain:
    twin = copy(found)
    twin.states, twin.packages = dict(found.states), dict(found.packages)
    twin.cores = dict(found.cores)
    return twin


def key(stage: Stage, budget: Budget) -> str:
    """All that the lane and the chain can see, with times and heights from here."""
    lane, best, now = stage.lane, stage.chain.best, stage.now_ms
    slots = [
        (
            slot.number, slot.word, slot.queued, slot.version, slot.winner, slot.faults,
            slot.overdue, slot.told, slot.building, slot.making is not None,
        )
        for slot in lane.in_order()
    ]  # fmt: skip
    versions = [
        (
            one.slot, one.version, min(one.sends, 8), one.is_held, one.offering,
            one.first_ms is None or min(now - one.first_ms, 60_000),
            [(fact.kind, lane.head.height - fact.height, fact.number) for fact in one.facts],
            stage.chain.age(one.anchor, best),
            None if one.package_hash not in best.reported
            else best.height - best.reported[one.package_hash][1],
            one.package_hash in best.ready, best.done.get(one.package_hash, "open"),
        )
        for slot in lane.in_order()
        for one in lane.of(slot.id)
    ]  # fmt: skip
    return repr((slots, versions, list(lane.returned), len(stage.results), budget))


# What can happen in a timeslot.


def subsets(found: list[bytes]) -> Iterator[tuple[bytes, ...]]:
    return chain.from_iterable(combinations(found, size) for size in range(len(found) + 1))


def valid(stage: Stage, parent: State, chosen: tuple[bytes, ...]) -> bool:
    taken: list[bytes] = []
    for one in chosen:
        if not stage.chain.can_report(one, parent, taken):
            return False
        taken.append(one)
    return True


def steps(stage: Stage, budget: Budget) -> Iterator[tuple[str, Stage, Budget]]:
    ready = clone(stage)
    ready.to_slot()
    best = ready.chain.best
    open_ones = [
        one
        for one in ready.chain.packages
        if ready.chain.can_report(one, best, list(ready.chain.packages))
    ]
    for chosen in subsets(open_ones):
        if valid(ready, best, chosen):
            for available in (None, ()):
                yield "report", passed(ready, chosen, available), budget
    if budget.reorgs and best.parent and best.height > ready.chain.final.height:
        twin = clone(ready)
        parent = twin.chain.states[best.parent]
        bare = twin.chain.produce(parent=parent, ready=(), is_best=False)
        twin.chain.produce(parent=bare, ready=())
        yield "reorg", seen(twin), msgspec.structs.replace(budget, reorgs=budget.reorgs - 1)
    if budget.crashes:
        less = msgspec.structs.replace(budget, crashes=budget.crashes - 1)
        yield "crash", crashed(stage), less
    if (
        budget.timeouts
        and max((slot.version for slot in ready.lane.slots.values()), default=0) < VERSIONS
    ):
        twin = clone(ready)
        for _ in range(10):
            twin.chain.produce(ready=())
            twin.until(twin.chain.best.ref.slot * SLOT_MS + 1_000)
            twin.to_slot()
        less = msgspec.structs.replace(budget, timeouts=budget.timeouts - 1)
        yield "timeout", twin, less


def passed(stage: Stage, chosen: tuple[bytes, ...], available: tuple[()] | None) -> Stage:
    twin = clone(stage)
    twin.chain.produce(chosen, ready=available)
    return seen(twin)


def seen(stage: Stage) -> Stage:
    stage.chain.finalise(behind=4)
    stage.until(stage.chain.best.ref.slot * SLOT_MS + 1_000)
    return stage


def crashed(stage: Stage) -> Stage:
    """It dies while packages are being submitted, with some node having them or none."""
    twin = clone(stage)
    twin.until((twin.chain.best.ref.slot + 1) * SLOT_MS - 3_001)
    twin.tick(1)
    twin.make()
    for order in twin.take(SubmitPackage)[:1]:
        twin.reach(order)
    twin.crash()
    twin.settle()
    return twin


# The search.


def judge(stage: Stage) -> None:
    """After any step: each transaction is in one place, and what had an effect had it once."""
    stage.check_places()
    check_line(stage)
    for result in stage.results.values():
        assert result.intent in stage.chain.line()


def ends(stage: Stage) -> None:
    """When nothing goes wrong any more, all is confirmed."""
    twin = clone(stage)
    for _ in range(30):
        twin.slot_all(2)
        if not twin.lane.slots and not twin.lane.returned:
            break
    judge(twin)
    assert twin.statuses() == ["confirmed"] * BLOCKS
    assert twin.chain.line() == list(twin.accepted)


def search(depth: int, **settings: object) -> int:
    level = {"": (first(**settings), Budget())}
    known: dict[str, None] = {}
    for _ in range(depth):
        after: dict[str, tuple[Stage, Budget]] = {}
        for stage, budget in level.values():
            for _, twin, left in steps(stage, budget):
                judge(twin)
                name = key(twin, left)
                if name not in known:
                    known[name] = None
                    after[name] = twin, left
        level = after
    for stage, _ in level.values():
        ends(stage)
    return len(known)


def test_a_slice_of_all_that_can_happen() -> None:
    assert search(1) > 5


@pytest.mark.slow
@pytest.mark.parametrize("order", ["chained", "parallel"])
def test_all_that_can_happen_in_three_steps(order: str) -> None:
    assert search(3, order=order) > 200


if __name__ == "__main__":
    print(search(int(sys.argv[1]), order=sys.argv[2] if len(sys.argv) > 2 else "chained"))
