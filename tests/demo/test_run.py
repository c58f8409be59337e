"""Laws of the demo's run: kills hit running work, and whatever goes wrong is in the verdict."""

import asyncio
import shutil
from pathlib import Path

import pytest

from laneway.demo import node as demo_node
from laneway.demo import pay as demo_pay
from laneway.demo import run as demo_module
from laneway.demo.run import run_demo
from laneway.demo.values import (
    DemoPlan,
    DemoSnapshot,
    DemoVerdict,
    Direct,
    Kill,
    Naive,
    Surroundings,
)

pytestmark = pytest.mark.slow


class Watcher:
    """A view that remembers."""

    def __init__(self) -> None:
        self.contracts: list[str] = []
        self.accounts: list[str] = []
        self.nodes: list[str] = []
        self.naives: list[Naive] = []
        self.directs: list[Direct] = []
        self.snapshots: list[DemoSnapshot] = []
        self.kills: list[Kill] = []
        self.verdict: DemoVerdict | None = None
        self.surroundings: list[Surroundings] = []

    def began(self, plan: DemoPlan, contracts: list[str], accounts: list[str]) -> None:
        self.contracts = contracts
        self.accounts = accounts

    def node(self, name: str) -> None:
        self.nodes.append(name)

    def naive(self, naive: Naive) -> None:
        self.naives.append(naive)

    def direct(self, direct: Direct) -> None:
        self.directs.append(direct)

    def moved(self, snapshot: DemoSnapshot) -> None:
        self.snapshots.append(snapshot)

    def killed(self, kill: Kill) -> None:
        self.kills.append(kill)

    def ended(self, verdict: DemoVerdict) -> None:
        self.verdict = verdict

    def stays(self, surroundings: Surroundings) -> None:
        self.surroundings.append(surroundings)

    def close(self) -> None:
        pass


def show(plan: DemoPlan) -> tuple[Watcher, DemoVerdict]:
    watcher = Watcher()
    verdict = asyncio.run(run_demo(plan, watcher, once=True))
    assert verdict is not None
    return watcher, verdict


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_kills_come_by_progress_and_hit_running_rounds(tmp_path: Path) -> None:
    plan = DemoPlan(contracts=4, executions=8, kills=3, round_ms=60, accounts=0, seed=1)
    watcher, verdict = show(plan)
    assert verdict.is_right(), verdict
    assert watcher.directs == [Direct(10, 1, 9)]
    assert [kill.number for kill in watcher.kills] == [1, 2, 3]
    for kill in watcher.kills:
        assert kill.landed >= plan.landed_at_kill(kill.number)
        assert kill.running >= 1
    assert len({kill.pid for kill in watcher.kills}) == 3
    assert watcher.snapshots
    assert verdict.on_chain == verdict.sent == 32
    assert list(tmp_path.iterdir()) == []


def test_rounds_that_outlive_a_restart_are_tried_again_and_refused_once() -> None:
    _, verdict = show(
        DemoPlan(contracts=3, executions=3, kills=2, round_ms=1_500, accounts=0, seed=2)
    )
    assert verdict.is_right(), verdict
    assert verdict.tries_refused > 0


def test_a_worker_that_ends_by_itself_is_the_verdict_and_its_files_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(demo_module, "WORKER_CONFIG", "[store]\npath = {path}\nurl = {url}\n")
    _, verdict = show(DemoPlan(contracts=1, executions=3, kills=1, round_ms=20, accounts=0))
    assert not verdict.is_right()
    assert "the worker ended with code 2" in verdict.problem
    assert "unknown field `url`" in verdict.problem
    assert (Path(verdict.folder) / "worker.log").exists()
    shutil.rmtree(verdict.folder)


def test_work_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_module, "WORK_S_MAX", 2.5)
    _, verdict = show(DemoPlan(contracts=1, executions=30, kills=0, round_ms=500, accounts=0))
    assert verdict.problem == "the work did not end within 2.5 s"
    assert not verdict.is_right()
    assert verdict.rows[0].gaps > 0


PAYING = DemoPlan(
    contracts=2, executions=8, kills=3, round_ms=100, accounts=3, payments=20, block_ms=100, seed=3
)


@pytest.mark.parametrize("name", ["anvil", "laneway's devnet"])
def test_accounts_pay_once_and_in_order_through_kills_and_lost_answers(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name != "anvil":
        monkeypatch.setattr(demo_node, "anvil_program", lambda: None)
    watcher, verdict = show(PAYING)
    assert verdict.is_right(), verdict
    assert watcher.accounts == ["payer1", "payer2", "payer3"]
    assert [found.partition(" 1")[0] for found in watcher.nodes] == [name]
    assert watcher.naives == [Naive(10, 3, 13, 3)]
    assert len(watcher.kills) == 3
    assert all(kill.unmined >= 1 for kill in watcher.kills)
    for row in verdict.payments:
        assert (row.accepted, row.once, row.twice, row.lost, row.dense) == (20, 20, 0, 0, True)
    assert verdict.answers_lost >= 1
    assert sum(watcher.snapshots[-1].paid.values()) >= 60
    assert list(tmp_path.iterdir()) == []


def test_without_the_curve_the_contracts_are_shown_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_module, "has_curve", lambda: False)
    watcher, verdict = show(DemoPlan(contracts=1, executions=3, kills=1, round_ms=20))
    assert verdict.is_right(), verdict
    assert (watcher.accounts, watcher.nodes, verdict.payments) == ([], [""], [])


def test_a_payment_that_is_made_past_laneway_makes_the_verdict_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The naive sender takes an account that laneway uses: the chain shows it, and so do we."""
    monkeypatch.setattr(demo_pay, "NAIVE_PLACE", 0)
    _, verdict = show(PAYING)
    assert not verdict.is_right()
    assert not verdict.payments[0].in_order
    assert verdict.payments[0].twice == 10
    assert [row.is_right() for row in verdict.payments[1:]] == [True, True]
    shutil.rmtree(verdict.folder)
