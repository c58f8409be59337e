"""A world for a bundle lane: a chain that loses reports and forks, nodes that keep silent, builders
that fail, and a process that dies. One seed tells all of it."""

import random
from typing import Any

from tests.lanes.bundle.chain import State
from tests.lanes.bundle.stage import SLOT_MS, Stage

from laneway.core.ids import IntentId
from laneway.core.jam import PackageKind
from laneway.lanes.bundle.records import BlockSealed
from laneway.lanes.bundle.values import (
    BuildBlock,
    BuildUnanswered,
    BuildVersion,
    LookAtChain,
    NotifyBuilder,
    NotifyUser,
    SubmitPackage,
)


class World(Stage):
    def __init__(self, seed: int, **settings: Any) -> None:
        super().__init__(**settings)
        self.dice = random.Random(seed)
        self.is_calm = False
        self.crashes = 0

    def chance(self, percent: int) -> bool:
        return not self.is_calm and self.dice.randrange(100) < percent

    def settle(self) -> None:
        """Everyone answers in some order, wrongly at times, or dies before."""
        while True:
            if self.chance(3):
                self.crashes += 1
                self.crash()
            self.pull()
            kinds = [
                BuildBlock,
                BuildVersion,
                SubmitPackage,
                LookAtChain,
                NotifyBuilder,
                NotifyUser,
            ]
            found = [kind for kind in kinds if any(isinstance(one, kind) for one in self.out)]
            if not found:
                return
            self.answer(self.dice.choice(found))

    def take_found(self) -> BuildBlock | None:
        """The order that was found by a start, if that is the one that is answered next."""
        found = [one for one in self.out if isinstance(one, BuildBlock)][:1]
        return self.take(BuildBlock, 1)[0] if found and found[0].is_found else None

    def answer(self, kind: Any) -> None:
        if kind is BuildBlock and (found := self.take_found()):
            self.post(BuildUnanswered(self.now_ms, found.slot, found.order))
        elif kind is BuildBlock:
            self.not_built() if self.chance(10) else self.build(**self.verdicts())
        elif kind is BuildVersion:
            self.not_made() if self.chance(10) else self.make()
        elif kind is SubmitPackage:
            words = [PackageKind.TAKEN] * 4 + [PackageKind.SILENT, PackageKind.CORE_BUSY]
            word = PackageKind.TAKEN if self.is_calm else self.dice.choice(words)
            if self.chance(4):
                self.send(PackageKind.BAD_CONTEXT, final=True)
            else:
                reaches = self.dice.random() < 0.5 if word is PackageKind.SILENT else None
                self.send(word, reaches=reaches)
        elif kind is LookAtChain:
            self.blind() if self.chance(10) else self.look(self.dice.choice((1, 2, 64)))
        elif kind is NotifyBuilder:
            self.note(is_done=not self.chance(10))
        else:
            self.hear(is_done=not self.chance(10))

    def verdicts(self) -> dict[str, str]:
        if not self.chance(10):
            return {}
        return {"t0": self.dice.choice(("refused", "deferred", "reverted"))}

    # The chain.

    def pass_slot(self) -> None:
        """A timeslot: a block on the best chain, on a fork, or none."""
        self.until((self.now_ms // SLOT_MS + 1) * SLOT_MS)
        chain = self.chain
        if self.chance(10):
            return
        parent: State = chain.best
        back = self.dice.choice((1, 2, 3)) if self.chance(12) else 0
        for _ in range(back):
            if parent.height > chain.final.height:
                parent = chain.states[parent.parent]
        slot = self.now_ms // SLOT_MS
        for at in range(back + 1):
            # A fork wins when it is longer.
            is_best = at == back
            parent = self.block(parent, slot - back + at, is_best=is_best)
        if not self.chance(30):
            chain.finalise(behind=3)

    def block(self, parent: State, slot: int, *, is_best: bool) -> State:
        chain = self.chain
        reports: list[bytes] = []
        cores: list[int] = []
        for one in chain.packages:
            free = chain.cores[one] not in cores
            if free and chain.can_report(one, parent, reports) and not self.chance(35):
                reports.append(one)
                cores.append(chain.cores[one])
        pending = [
            one for one in parent.reported if one not in parent.ready and one not in parent.lost
        ]
        lose = [one for one in pending if self.chance(5)]
        ready = [one for one in pending if one not in lose and not self.chance(20)]
        skip = max(0, slot - parent.ref.slot - 1)
        return chain.produce(
            reports, ready=ready, lose=lose, parent=parent, skip=skip, is_best=is_best
        )

    def is_over(self) -> bool:
        return len(self.results) == len(self.accepted) and not self.lane.slots


def run(seed: int, slots: int = 40, count: int = 12, **settings: Any) -> World:
    world = World(seed, **{"block_txs_max": 2, "rotation_slots": 4, **settings})
    for _ in range(slots):
        if world.dice.random() < 0.5 and len(world.accepted) < count:
            world.accept(world.dice.choice((1, 2, 3)))
        world.pass_slot()
        world.check_places()
    world.is_calm = True
    for _ in range(80):
        if world.is_over():
            break
        world.pass_slot()
    return world


def check(world: World) -> None:
    """The promises."""
    assert world.is_over(), f"never lost: {world.picture()} {world.lane.head.mode}"
    check_line(world)
    line = world.chain.line()
    sealed = [one for record in world.of(BlockSealed) for one in record.members]
    if not any(one.verdict == "deferred" for one in sealed):
        seqs = [world.accepted[IntentId(one)].seq for one in line]
        assert seqs == sorted(seqs), "in order"
    said = [one for one, result in world.results.items() if result.status != "refused"]
    assert sorted(said) == sorted(line), "what is confirmed is on the chain, and the other way"
    world.check_places()


def check_line(stage: Stage) -> None:
    """What had an effect on the best chain had it once, and no number stays empty."""
    line = stage.chain.line()
    assert len(line) == len(set(line)), "never twice"
    numbers = [number for number, _, _ in stage.chain.best.applied]
    assert numbers == list(range(1, len(numbers) + 1)), "no number stays empty"
