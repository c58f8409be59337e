"""Chains under all faults at once, by seed: what a chain never does, and that it recovers."""

import random
from typing import Any

import pytest
from tests.devnets.jam.stage import best, chain, made, run, send, work_package

from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.model.faults import Faults, JamFault
from laneway.devnets.jam.model.values import BlockUnavailable, StepReport
from laneway.jam.package import WORK_PACKAGE, WorkPackage, package_hash
from laneway.jam.spec import TINY

VALIDATORS = range(TINY.validator_count)


class Storm:
    """A story that a seed tells."""

    def __init__(self, seed: int, **fields: Any) -> None:
        self.dice = random.Random(seed)
        self.model = chain(2, nodes=2, seed=seed.to_bytes(4, "little"), **fields)
        self.sent: list[WorkPackage] = []
        self.final: list[bytes] = [self.model.genesis]

    def some(self, things: range, most: int) -> set[int]:
        return set(self.dice.sample(things, self.dice.randint(0, most)))

    def turn(self) -> None:
        """Change a switch."""
        faults, dice = self.model.faults, self.dice
        match dice.randrange(16):
            case 0:
                faults.withheld_cores = self.some(range(2), 1)
            case 1:
                faults.mismatched_cores = self.some(range(2), 1)
            case 2:
                faults.late_slots = dice.choice((0, 1, 3, 9))
            case 3:
                faults.wrong_refiners = self.some(VALIDATORS, 2)
            case 4:
                faults.unavailable_cores = self.some(range(2), 2)
            case 5:
                faults.silent_guarantors = self.some(VALIDATORS, 3)
                faults.silent_assurers = self.some(VALIDATORS, 2)
            case 6:
                faults.silent_voters = self.some(VALIDATORS, 2)
                faults.silent_authors = self.some(VALIDATORS, 2)
            case 7:
                faults.reorg_depth = dice.randint(1, 4)
            case 8:
                faults.is_finality_stalled = not faults.is_finality_stalled
            case 9:
                faults.lag_slots = {1: dice.randint(0, 3)}
                faults.skew_slots = {1: dice.randint(-2, 4)}
            case 10:
                groups = [[], sorted(self.some(VALIDATORS, 5))]
                self.model.partition(groups, {1: dice.randint(0, 1)})
            case 11:
                self.model.heal()
            case 12:
                faults.drops_at_rotation = not faults.drops_at_rotation
            case 13:
                faults.keeps_reported = not faults.keeps_reported
            case 14:
                faults.pairs_versions = not faults.pairs_versions
            case _:
                hidden = dice.choice(self.sent) if self.sent else None
                faults.hidden_reports = {1: {package_hash(hidden)}} if hidden else {}

    def calm(self) -> None:
        model = self.model
        bites = model.faults.bites
        model.heal()
        model.faults.__dict__.update(Faults().__dict__)
        model.faults.bites = bites

    def work(self) -> None:
        model, dice = self.model, self.dice
        if self.sent and dice.random() < 0.3:
            again = dice.choice(self.sent)
            model.submit(0, dice.randrange(2), _raw(again))
            return
        needs = [package_hash(self.sent[-1])] if self.sent and dice.random() < 0.3 else []
        made_ = work_package(
            model, bytes([0, dice.randrange(256)]), node=dice.randrange(2), needs=needs
        )
        if model.submit(0, dice.randrange(2), _raw(made_)) is None:
            self.sent.append(made_)

    def step(self) -> StepReport:
        slot = self.model.slot + (1 if self.dice.random() < 0.9 else self.dice.randint(2, 9))
        done = self.model.step(slot)
        for one in done.finalised:
            self.final.append(one.header_hash)
        return done


def _raw(package: WorkPackage) -> bytes:
    return WORK_PACKAGE.encode(package)


def lineage(model: JamModel, at: bytes) -> list[StepReport]:
    """What the blocks up to this one did, as far back as they are known."""
    found = []
    while True:
        found.append(model.made(0, at))
        try:
            at = model.parent(0, at).header_hash
        except BlockUnavailable:
            return found[::-1]


def check(storm: Storm) -> None:
    """What holds in every storm, on the chain that won."""
    model = storm.model
    line = lineage(model, best(model))
    reported = [one.package_hash for done in line for one in done.reported]
    accumulated = [name for done in line for name in done.accumulated]
    assert len(accumulated) == len(set(accumulated))
    known = {model.genesis, *(made(done).header_hash for done in line)}
    # A side that hears of no votes may leave what the other has made final, until it does.
    height = model.number(0, model.finalized(0).header_hash)
    final = [name for name in storm.final if model.has_seen(0, name)]
    assert {name for name in final if model.number(0, name) <= height} <= known
    assert set(accumulated) <= set(reported) | {package_hash(one) for one in storm.sent}
    slots = [done.slot for done in line]
    assert slots == sorted(set(slots))


@pytest.mark.parametrize("seed", range(12))
def test_a_storm_breaks_no_promise_and_passes(seed: int) -> None:
    storm = Storm(seed, signs=False, codes_shards=False)
    for number in range(80):
        if number % 3 == 0:
            storm.turn()
        storm.work()
        storm.step()
    check(storm)
    storm.calm()
    model = storm.model
    run(model, 8)
    assert model.best(0) == model.best(1)
    assert model.finalized(0).slot == model.slot - 2
    last = send(model, b"\0after the storm")
    run(model, 2 + len(model.waiting()))
    assert model.is_accumulated(0, best(model), last)
    check(storm)


@pytest.mark.slow
def test_every_switch_bites_in_some_storm() -> None:
    bites = dict.fromkeys(JamFault, 0)
    for seed in range(40):
        storm = Storm(seed, signs=seed % 8 == 0, codes_shards=seed % 8 == 0)
        for number in range(120):
            if number % 3 == 0:
                storm.turn()
            storm.work()
            storm.model.faults.censored = {package_hash(one) for one in storm.sent[-1:]}
            storm.model.faults.skipped_slots = {storm.model.slot + 3}
            storm.step()
        check(storm)
        for fault, times in storm.model.faults.bites.items():
            bites[fault] += times
    # A block can only be hidden by its name, which nobody knows before it is made.
    assert [fault for fault, times in bites.items() if not times] == [JamFault.HIDDEN_BLOCK]
