"""Laws of the demo's run: kills hit running work, and whatever goes wrong is in the verdict."""

import asyncio
import shutil
from pathlib import Path

import pytest

from laneway.wiring import demo as demo_module
from laneway.wiring.demo import run_demo
from laneway.wiring.demo_values import Direct, Kill, Plan, Snapshot, Surroundings, Verdict

pytestmark = pytest.mark.slow


class Watcher:
    """A view that remembers."""

    def __init__(self) -> None:
        self.contracts: list[str] = []
        self.directs: list[Direct] = []
        self.snapshots: list[Snapshot] = []
        self.kills: list[Kill] = []
        self.verdict: Verdict | None = None
        self.surroundings: list[Surroundings] = []

    def began(self, plan: Plan, contracts: list[str]) -> None:
        self.contracts = contracts

    def direct(self, direct: Direct) -> None:
        self.directs.append(direct)

    def moved(self, snapshot: Snapshot) -> None:
        self.snapshots.append(snapshot)

    def killed(self, kill: Kill) -> None:
        self.kills.append(kill)

    def ended(self, verdict: Verdict) -> None:
        self.verdict = verdict

    def stays(self, surroundings: Surroundings) -> None:
        self.surroundings.append(surroundings)

    def close(self) -> None:
        pass


def show(plan: Plan) -> tuple[Watcher, Verdict]:
    watcher = Watcher()
    verdict = asyncio.run(run_demo(plan, watcher, once=True))
    assert verdict is not None
    return watcher, verdict


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_kills_come_by_progress_and_hit_running_rounds(tmp_path: Path) -> None:
    plan = Plan(contracts=4, executions=8, kills=3, round_ms=60, seed=1)
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
    _, verdict = show(Plan(contracts=3, executions=3, kills=2, round_ms=1_500, seed=2))
    assert verdict.is_right(), verdict
    assert verdict.tries_refused > 0


def test_a_worker_that_ends_by_itself_is_the_verdict_and_its_files_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(demo_module, "WORKER_CONFIG", "[store]\npath = {path}\nurl = {url}\n")
    _, verdict = show(Plan(contracts=1, executions=3, kills=1, round_ms=20))
    assert not verdict.is_right()
    assert "the worker ended with code 2" in verdict.problem
    assert "unknown field `url`" in verdict.problem
    assert (Path(verdict.folder) / "worker.log").exists()
    shutil.rmtree(verdict.folder)


def test_work_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_module, "DEMO_S_MAX", 2.5)
    _, verdict = show(Plan(contracts=1, executions=30, kills=0, round_ms=500))
    assert verdict.problem == "the work did not end within 2.5 s"
    assert not verdict.is_right()
    assert verdict.rows[0].gaps > 0
