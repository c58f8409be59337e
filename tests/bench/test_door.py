"""One run from end to end, small; timings are printed and never judged."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from laneway_bench import contest
from laneway_bench.child import BenchFailed, module
from laneway_bench.door.bench import (
    FLEETS,
    FULL,
    GOALS,
    HTTP,
    NEEDS,
    QUICK,
    RATIOS,
    STORES,
    DoorBench,
)
from laneway_bench.frame import Lines, Sample
from laneway_bench.guests import Guests
from laneway_bench.service import ENDS_AT_ONCE, laneway_up

ROOT = Path(__file__).parents[2]
THRESHOLDS = {
    "http_enqueue_vs_bare_aiohttp_group_commit": ">= 0.5",
    "redis_contracts_100_vs_arq": ">= 5",
    "redis_vs_sqlite_contracts_100": ">= 0.4",
    "postgres_contracts_100_vs_procrastinate": ">= 10",
    "fleet_3_vs_1_process": "shown",
    "takeover_s": "<= 15",
    "sse_1000_clients_throughput_loss": "<= 0.15",
}
NOBODY = Guests(missing=dict.fromkeys(NEEDS, "it cannot be had"))


class Counted(DoorBench):
    """A run whose contestants answer at once."""

    def measure(self, name: str, place: Path) -> Sample:
        return Sample(jobs=100, seconds=0.11 if name == "http_execute_sse" else 0.1, cpu_s=0.05)


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contest, "fdatasync_per_s", lambda _: 1_000.0)


def test_the_goals_are_those_of_the_issue() -> None:
    assert {goal.name: goal.words() for goal in GOALS} == THRESHOLDS


def test_every_ratio_divides_two_who_run() -> None:
    for ours, theirs in RATIOS.values():
        assert {ours, theirs} <= set(FULL.jobs)
    assert {*STORES, *HTTP, *FLEETS} < set(FULL.jobs)
    assert set(FULL.jobs) == set(QUICK.jobs)


def test_a_full_run_means_something() -> None:
    assert FULL.rounds >= 3
    assert FULL.readers == 1_000
    assert DoorBench.seconds_of(FULL, DoorBench.chosen("")) < 12 * 60


def test_the_object_holds_every_goal_and_what_the_readers_cost(tmp_path: Path) -> None:
    bench = Counted(QUICK, tmp_path, Guests(), Lines(1.0))
    bench.run_rounds()
    found = bench.assembled({"cores": 2}, {"takeover_redis": [9.5, 11.25]})
    assert list(found["goals"]) == list(THRESHOLDS)
    assert set(found["ratios"]) == set(RATIOS)
    assert found["goals"]["takeover_s"] == {"value": 11.25, "goal": "<= 15", "met": True}
    lost = found["goals"]["sse_1000_clients_throughput_loss"]["value"]
    assert lost == pytest.approx(1 / 11, rel=1e-3)
    assert found["goals"]["fleet_3_vs_1_process"] == {"value": 1.0, "goal": "shown", "met": True}


def test_who_is_missing_leaves_its_goals_unmet(tmp_path: Path) -> None:
    bench = Counted(QUICK, tmp_path, NOBODY, Lines(1.0))
    bench.run_rounds()
    found = bench.assembled({}, {})
    for name in ("takeover_s", "fleet_3_vs_1_process", "redis_contracts_100_vs_arq"):
        assert found["goals"][name]["value"] is None
        assert found["goals"][name]["met"] is False


@pytest.mark.slow
def test_a_refusal_ends_the_pressure_with_the_servers_words(tmp_path: Path) -> None:
    question = {"jobs": 5, "connections": 2, "settle": False, "contracts": 1, "path": "/v1/no"}
    with (
        laneway_up(tmp_path, ENDS_AT_ONCE) as up,
        module("door.pressure") as crowd,
        pytest.raises(BenchFailed, match="404"),
    ):
        crowd.ask({**question, "port": up.port})


@pytest.mark.slow
def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(BenchFailed, match="nowhere"), laneway_up(tmp_path, "nowhere:at_all"):
        pass


@pytest.mark.slow
def test_the_audience_hears_every_execution(tmp_path: Path) -> None:
    question = {"jobs": 60, "contracts": 20, "connections": 4, "settle": True}
    with laneway_up(tmp_path, ENDS_AT_ONCE) as up, module("door.audience") as audience:
        audience.ask({"port": up.port, "contracts": 20, "readers": 20})
        with module("door.pressure") as crowd:
            assert crowd.ask({**question, "port": up.port})["seconds"] > 0
        bench = DoorBench(QUICK, tmp_path, NOBODY, Lines(1.0))
        assert bench._heard(audience, 80) >= 80


@pytest.mark.slow
def test_an_audience_that_is_turned_away_says_so(tmp_path: Path) -> None:
    with module("door.bare_web") as web, module("door.audience") as audience:
        port = web.ask({"folder": str(tmp_path)})["port"]
        with pytest.raises(BenchFailed, match="404"):
            audience.ask({"port": port, "contracts": 1, "readers": 1})


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_quick_run_measures_everything_and_leaves_only_its_results(tmp_path: Path) -> None:
    peers = Path(os.environ.get("LANEWAY_PEERS", ROOT / ".venv-peers"))
    command = [sys.executable, "-m", "laneway_bench", "door", "--quick", "--json"]
    command += ["--out", str(tmp_path / "out"), "--peers", str(peers)]
    (tmp_path / "here").mkdir()
    ran = subprocess.run(
        command, cwd=tmp_path / "here", capture_output=True, text=True, check=False, timeout=600
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["quick"] is True
    for name, goal in found["goals"].items():
        assert goal["value"] is not None, (name, found["machine"]["peers"])
    assert found["goals"]["takeover_s"]["met"] is True
    assert str(tmp_path) not in ran.stdout
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".json", ".md", ".svg"}
    assert list((tmp_path / "here").iterdir()) == []
