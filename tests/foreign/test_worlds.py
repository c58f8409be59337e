"""The simulator runs the worlds that a kind of another distribution hands in."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.foreign.counter import machine
from tests.foreign.counter.values import CounterRead
from tests.foreign.counter.world import WORLD
from tests.foreign.distribution import ROOT, Installed

from laneway.sim import kinds
from laneway.sim.run import LAYERS, run_world, run_worlds


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "_registered", dict(kinds._registered))
    kinds.register(WORLD)


@pytest.mark.slow
@pytest.mark.parametrize("layer", LAYERS)
def test_every_law_holds_in_its_worlds(layer: str) -> None:
    broken, seen, _ = run_worlds(range(40), layer, "counter")
    assert broken == []
    assert seen["commit answer lost"] > 0


@pytest.mark.slow
def test_bugs_stop_its_lanes_and_no_more() -> None:
    for seed in range(15):
        assert run_world(seed, "s1", "counter", bugs=True).broken is None


def test_its_laws_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """An addition of our own that is taken for another's is made again."""
    judge = machine.judge_read

    def forget(lane: machine.CounterLane, event: CounterRead) -> machine.Decision:
        return judge(lane, replace(event, mark=""))

    monkeypatch.setattr(machine, "judge_read", forget)
    broken, _, _ = run_worlds(range(30), "s1", "counter")
    assert broken
    assert {(verdict.broken or "").partition(":")[0] for verdict in broken} == {"never twice"}


@pytest.mark.slow
def test_commands_find_its_worlds_by_the_kind(tmp_path: Path) -> None:
    installed = Installed(tmp_path)
    for layer in LAYERS:
        code, said = installed.laneway(
            *("sim", "--kind", "counter", "--layer", layer, "--seeds", "10")
        )
        assert (code, "every law held" in said) == (0, True), said
    code, said = installed.python(
        *(str(ROOT / "scripts/seeds.py"), "s1", "30", "--kind", "counter", "--jobs", "1")
    )
    assert (code, "counter s1: 30 worlds" in said, "0 broken" in said) == (0, True, True), said
