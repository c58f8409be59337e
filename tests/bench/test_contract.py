"""One run from end to end, small; timings are printed and never judged."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from laneway_bench import contest, guests
from laneway_bench.child import BenchFailed
from laneway_bench.contract.bench import (
    CONTRACTS,
    FULL,
    GOALS,
    QUICK,
    RATIOS,
    ContractBench,
    main,
)
from laneway_bench.frame import Lines, Sample
from laneway_bench.guests import Guests
from laneway_bench.postgres import Postgres

ROOT = Path(__file__).parents[2]
THRESHOLDS = {
    "contracts_100_vs_huey": ">= 5",
    "contracts_100_vs_procrastinate": ">= 20",
    "contracts_100_vs_raw": ">= 0.45",
    "contracts_10000_vs_100": ">= 0.7",
    "contract_1_vs_huey": ">= 1",
    "contract_1_vs_bare_commits": ">= 0.5",
    "cost_growth_1k_to_1m_backlog": "<= 1.5",
    "rss_growth_mb_1m_backlog": "<= 100",
    "rss_mb_100k_idle_contracts": "<= 100",
}
NOBODY = Guests(missing={"huey": "no huey", "procrastinate": "no procrastinate"})
BACKLOG = {
    "waiting": [1_000, 1_000_000],
    "us_per_job": {"1000": [100.0], "1000000": [110.0]},
    "cpu_us_per_job": {"1000": [90.0], "1000000": [95.0]},
    "cost_growth": 1.1,
    "wall_growth": 1.2,
    "rss_mb": {"empty": 30.0, "same_process": 50.0, "fresh_process": 40.0},
    "rss_growth_mb": 20.0,
}
IDLE = {"contracts": 100_000, "rss_mb": {"empty": 30.0, "idle": 60.0}, "rss_growth_mb": 30.0}
PARTS = {"backlog": BACKLOG, "idle": IDLE}


class Counted(ContractBench):
    """A run whose contestants answer at once; it only notes who was asked."""

    def __init__(self, folder: Path, peers: Guests) -> None:
        super().__init__(QUICK, folder, peers, Lines(1.0))
        self.asked: list[str] = []

    def measure(self, name: str, place: Path) -> Sample:
        assert place.is_dir()
        assert list(place.iterdir()) == []
        self.asked.append(name)
        return Sample(jobs=100, seconds=0.1, cpu_s=0.05)


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contest, "fdatasync_per_s", lambda _: 1_000.0)


def everyone(tmp_path: Path) -> Counted:
    return Counted(tmp_path, Guests(Path("python"), Postgres("host=x", "15")))


def test_the_goals_are_those_of_the_issue() -> None:
    assert {goal.name: goal.words() for goal in GOALS} == THRESHOLDS


def test_every_goal_that_is_a_ratio_divides_two_who_run() -> None:
    for ours, theirs in RATIOS.values():
        assert {ours, theirs} <= set(FULL.jobs)
    assert set(FULL.jobs) == set(QUICK.jobs)
    assert set(CONTRACTS) < set(FULL.jobs)


def test_a_full_run_means_something() -> None:
    assert FULL.rounds >= 3
    assert FULL.jobs["laneway_10000"] >= 10 * 10_000
    assert FULL.backlogs == (1_000, 1_000_000)
    assert FULL.idle_contracts == 100_000
    assert ContractBench.seconds_of(FULL, ContractBench.chosen("")) < 12 * 60


def test_rounds_are_interleaved_with_the_peers(tmp_path: Path) -> None:
    bench = everyone(tmp_path)
    bench.run_rounds()
    names = list(QUICK.jobs)
    assert bench.asked == names + names[::-1] + names
    assert len(bench.syncs) == QUICK.rounds
    assert list(tmp_path.iterdir()) == []


def test_the_object_holds_every_goal_ratio_and_result(tmp_path: Path) -> None:
    bench = everyone(tmp_path)
    bench.run_rounds()
    found = bench.assembled({"cores": 2}, PARTS)
    assert list(found) == ["bench", "machine", "results", "ratios", "goals"]
    assert list(found["goals"]) == list(THRESHOLDS)
    assert set(found["ratios"]) == set(RATIOS)
    assert "contracts_100_vs_raw_merged" not in found["goals"]
    assert set(found["results"]) == {*QUICK.jobs, "fdatasync_per_s", "backlog", "idle"}
    assert found["goals"]["contracts_100_vs_raw"] == {"value": 1.0, "goal": ">= 0.45", "met": True}
    assert found["goals"]["rss_growth_mb_1m_backlog"]["value"] == 20


def test_who_is_missing_leaves_its_goals_unmet(tmp_path: Path) -> None:
    bench = Counted(tmp_path, NOBODY)
    bench.run_rounds()
    found = bench.assembled({}, PARTS)
    assert "huey" not in found["results"]
    assert found["goals"]["contract_1_vs_huey"] == {"value": None, "goal": ">= 1", "met": False}
    assert found["ratios"]["contracts_100_vs_procrastinate"] is None


def fail(*_: object) -> Path:
    raise BenchFailed("it cannot be had")


def test_what_cannot_be_run_is_told_on_stderr_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(guests, "environment", fail)
    assert main(json=True, quick=False, out=tmp_path / "out") == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "laneway bench contract: it cannot be had\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("as_json", [True, False])
def test_json_prints_exactly_one_object_and_else_a_table(
    as_json: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    bench = everyone(tmp_path)
    bench.run_rounds()
    machine: dict[str, Any] = {"cores": 2, "cpu": "c", "python": "3", "sqlite": "3", "kernel": "6"}
    machine |= {"filesystem": "ext4", "peers": {"huey": "2"}}
    found = bench.assembled(machine, PARTS)
    monkeypatch.setattr(ContractBench, "execute", lambda *_, **__: found)
    capsys.readouterr()
    assert main(json=as_json, quick=False, out=tmp_path / "out") == 0
    printed = capsys.readouterr().out
    if as_json:
        assert json.loads(printed) == json.loads(json.dumps(found))
    else:
        assert printed.startswith("# laneway bench contract")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "contract.json",
        "contract.md",
        "contract.svg",
    }


def test_a_contestant_whose_file_holds_less_than_it_ran_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Forgetful:
        def ask(self, question: Mapping[str, object], *_: object) -> dict[str, float]:
            return {"seconds": 1, "cpu_s": 1, "executed": 99}

    @contextmanager
    def engine(*_: object, **__: object) -> Any:
        yield Forgetful()

    bench = ContractBench(QUICK, tmp_path, NOBODY, Lines(1.0))
    monkeypatch.setattr(bench, "_engine", engine)
    with pytest.raises(BenchFailed, match="99 of 100"):
        bench.measure("laneway_1", tmp_path)


TINY = msgspec.structs.replace(
    QUICK,
    rounds=1,
    jobs=dict.fromkeys(QUICK.jobs, 100),
    backlogs=(100, 300),
    backlog_jobs=100,
    idle_contracts=100,
)


@pytest.mark.slow
def test_memory_and_cost_are_measured_in_processes_of_their_own(tmp_path: Path) -> None:
    bench = ContractBench(TINY, tmp_path, NOBODY, Lines(1.0))
    backlog = bench.run_backlogs()
    assert backlog["waiting"] == [100, 300]
    assert len(backlog["us_per_job"]["300"]) == 1
    assert backlog["cost_growth"] > 0
    assert backlog["wall_growth"] > 0
    assert backlog["rss_mb"]["fresh_process"] > 1
    idle = bench.run_idle()
    assert idle["contracts"] == 100
    assert idle["rss_mb"]["idle"] > 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_quick_run_measures_everything_and_leaves_only_its_results(tmp_path: Path) -> None:
    peers = Path(os.environ.get("LANEWAY_PEERS", ROOT / ".venv-peers"))
    command = [sys.executable, "-m", "laneway_bench", "contract", "--quick", "--json"]
    command += ["--out", str(tmp_path / "out"), "--peers", str(peers)]
    (tmp_path / "here").mkdir()
    ran = subprocess.run(
        command, cwd=tmp_path / "here", capture_output=True, text=True, check=False, timeout=600
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["quick"] is True
    assert {name: goal["goal"] for name, goal in found["goals"].items()} == THRESHOLDS
    for name, goal in found["goals"].items():
        assert goal["value"] is not None, (name, found["machine"]["peers"])
    for name in QUICK.jobs:
        assert len(found["results"][name]["rounds_jobs_per_s"]) == QUICK.rounds
    assert found["results"]["fdatasync_per_s"] > 0
    assert str(tmp_path) not in ran.stdout
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "contract-quick.json",
        "contract-quick.md",
        "contract-quick.svg",
    }
    assert list((tmp_path / "here").iterdir()) == []
