"""Scenes that several tests begin with: facts as a node shows them, dead versions, forks."""

from typing import Any

from tests.lanes.bundle.chain import State, digest
from tests.lanes.bundle.stage import Stage, replace, submitted

from laneway.core.jam import JamBlockRef, JamBlockSeen, May, PackageFact, PackageSeen, Reported
from laneway.lanes.bundle.values import ChainLooked, LookAtChain


def show(stage: Stage, *facts: tuple[int, int, PackageFact], may: tuple[May, ...] = ()) -> None:
    """A new block shows this of versions: number, version and fact."""
    state = stage.chain.produce()
    seen = tuple(
        PackageSeen(stage.hash_of(number, version), state.ref, fact, may, "node")
        for number, version, fact in facts
    )
    if not stage.lane.head.looking:
        stage.now_ms = max(stage.now_ms, stage.lane.head.look_ms or 0)
        stage.tick()
    (order,) = stage.take(LookAtChain, 1)
    plain = stage.chain.look(order.known, ())
    blocks = tuple(
        JamBlockSeen(one.block, one.parent, seen if one.block == state.ref else ())
        for one in plain.blocks
    )
    stage.post(ChainLooked(stage.now_ms, replace(plain, blocks=blocks), stage.clock()))


def reported(stage: Stage) -> Reported:
    return Reported(JamBlockRef(digest("somewhere"), stage.chain.best.ref.slot + 1), 0, b"")


def aged(**settings: Any) -> Stage:
    """A block whose first version died with its anchor."""
    stage = submitted(**{"guarantee_timeout_ms": 0, **settings})
    while not stage.version(1).is_dead():
        stage.slot()
    return stage


def two(**settings: Any) -> Stage:
    """A second version was submitted."""
    stage = aged(**settings)
    stage.to_slot(2_500)
    assert stage.version(1, 2).is_sent()
    return stage


def fork(stage: Stage, back: int, *reports: bytes) -> State:
    """Another branch, longer by one."""
    parent = stage.chain.best
    for _ in range(back):
        parent = stage.chain.states[parent.parent]
    for _ in range(back):
        parent = stage.chain.produce(parent=parent, is_best=False)
    return stage.chain.produce(reports, parent=parent)
