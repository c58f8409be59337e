"""While nodes disagree, looks are what the adapter makes of them."""

from collections import Counter

import pytest
from msgspec.structs import replace

from laneway.core.errors import ChainUnreachable
from laneway.core.jam import Failed, JamBlockRef, LineAsked, Watched
from laneway.devnets.jam.model.chain import JamModel
from laneway.sim.bundle.doubts import DOUBTS, Doubt, DoubtfulView
from laneway.sim.bundle.looks import ComparedLooks
from laneway.sim.bundle.maker import SERVICE
from laneway.sim.bundle.network import JamNetwork
from laneway.sim.bundle.node_view import NodeView
from laneway.sim.bundle.plan import NODES, rollup_plan
from laneway.sim.bundle.probes import Probes
from laneway.sim.bundle.world import RollupWorld
from laneway.sim.disks import MemoryDisk
from laneway.sim.run import run_worlds

CALM = next(seed for seed in range(100) if rollup_plan(seed).is_calm)
NOTHING = LineAsked(SERVICE, ())


class Pair:
    """Two nodes of a chain on which others have built two blocks; the first is doubtful."""

    def __init__(self) -> None:
        plan = rollup_plan(CALM)
        plan = replace(plan, settings=replace(plan.settings, nodes=NODES), tells_history=False)
        self.world = RollupWorld(plan, MemoryDisk())
        self.network: JamNetwork = self.world.network
        self.model: JamModel = self.network.model
        for number in (1, 2):
            self.world.stranger.act()
            while self.network.service_head(self.network.final().header_hash).number < number:
                self.network.step(self.model.slot + 1)
        self.seen: Counter[str] = Counter()
        self.reached = [True, True]
        probes = Probes(self.network, plan, self.world.clock)
        self.looks = ComparedLooks(
            probes, self.world.maker, lambda node: self.reached[node], self.seen
        )

    def doubt(self, doubt: Doubt, chosen: int = 0) -> DoubtfulView:
        view = DoubtfulView(self.network.views[0], doubt, chosen)
        self.network._doubtful[0] = view
        return view

    def watched(self) -> list[Watched]:
        """The packages of the blocks."""
        packages = self.world.maker.packages
        return [
            Watched(package_hash=name, anchor=made.anchor, service=SERVICE)
            for name, made in packages.items()
        ]

    def truth(self) -> NodeView:
        return self.network.views[0]


def test_a_line_that_is_not_expected_is_shown_by_both_nodes_or_left_out() -> None:
    pair = Pair()
    honest = pair.looks.look((), (), 64, NOTHING)
    assert honest.line is not None
    assert honest.line.number == 2
    for chosen in (1, 2):
        pair.doubt(Doubt.FALSE_LINE, chosen)
        assert pair.looks.look((), (), 64, replace(NOTHING, numbers=(2, 3))).line is None
    assert pair.seen["a line was not confirmed"] == 2
    pair.reached[1] = False
    assert pair.looks.look((), (), 64, NOTHING).line is None
    assert pair.seen["a false line was left out"] == 1


def test_a_line_that_is_shorter_than_it_is_known_to_be_is_believed() -> None:
    pair = Pair()
    pair.doubt(Doubt.FALSE_LINE, 0)
    line = pair.looks.look((), (), 64, replace(NOTHING, tip=2)).line
    assert line is not None
    assert line.number == 1


def test_a_node_without_records_has_no_line_and_no_word_of_packages() -> None:
    pair = Pair()
    view = pair.doubt(Doubt.NO_RECORDS)
    found = pair.looks.look((), (), 64, NOTHING)
    assert found.line is None
    assert found.head == pair.truth().head()
    assert view.value(found.head.best.header_hash, SERVICE, b"anything") is None


def test_a_walk_that_was_pruned_shows_the_head_alone() -> None:
    pair = Pair()
    best = pair.network.best()
    known = [pair.truth().below(best, depth) for depth in (6, 5)]
    assert pair.looks.look(known, (), 64).after == known[-1]
    pair.doubt(Doubt.PRUNED_WALK)
    found = pair.looks.look(known, (), 64)
    assert found.after is None
    assert found.gone == ()
    assert [one.block for one in found.blocks] == [best]


def test_states_that_were_pruned_cannot_be_read_and_the_newest_can() -> None:
    pair = Pair()
    known: list[JamBlockRef] = [pair.truth().below(pair.network.best(), 3)]
    pair.doubt(Doubt.PRUNED_STATES)
    found = pair.looks.look(known, (), 64)
    assert [one.is_readable for one in found.blocks] == [False, False, True]


def test_a_node_may_know_no_final_block() -> None:
    pair = Pair()
    pair.doubt(Doubt.NOT_FINAL)
    assert pair.looks.look((), (), 64, NOTHING).head.finalised is None
    pair.reached[:] = [False, False]
    with pytest.raises(ChainUnreachable):
        pair.looks.look((), (), 64)


def test_a_package_that_failed_by_one_node_alone_is_looked_at_by_the_other() -> None:
    pair = Pair()
    watched = pair.watched()
    pair.doubt(Doubt.FALSE_DEATHS)
    assert pair.looks.look((), watched, 64).head.node == NODES[1]
    assert pair.seen["a node was contradicted"] == 1
    assert not pair.world.maker.lost
    pair.reached[1] = False
    found = pair.looks.look((), watched, 64)
    assert [type(one.fact) for one in found.blocks[-1].seen] == [Failed, Failed]
    assert list(pair.world.maker.lost) == [one.package_hash for one in watched]


def test_worlds_meet_all_that_nodes_may_show() -> None:
    chosen = [seed for seed in range(3_000) if rollup_plan(seed).faults.doubt]
    broken, seen, _ = run_worlds(chosen[:150], "s1", "rollup")
    assert [(verdict.seed, verdict.broken) for verdict in broken] == []
    assert all(seen[f"a node showed {doubt.value}"] for doubt in DOUBTS)
    assert seen["a line was not confirmed"]
