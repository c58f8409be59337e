"""One run from end to end, small; timings are printed and never judged."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from laneway_bench import contest
from laneway_bench.anvil import KEY, MINES, Anvil, anvil, program
from laneway_bench.child import BenchFailed, module
from laneway_bench.eoa import bench as eoa
from laneway_bench.eoa import driver as eoa_driver
from laneway_bench.eoa.bench import (
    CPU_RATIOS,
    FULL,
    GOALS,
    NEEDS,
    PEERS,
    QUICK,
    RATIOS,
    RAW,
    TRANSFER,
    EoaBench,
    Stalled,
    Watchman,
    grown,
    main,
    with_best,
)
from laneway_bench.eoa.decide import DecideStage, measure
from laneway_bench.eoa.driver import answer, fill, run
from laneway_bench.eoa.engine import BenchTransfer
from laneway_bench.frame import Lines, Sample, cpu_ratio
from laneway_bench.guests import Guests
from laneway_bench.limits import CYCLE_TRANSFERS
from laneway_bench.report import table

ROOT = Path(__file__).parents[2]
THRESHOLDS = {
    "sqlite_vs_raw_tps": ">= 0.75",
    "redis_vs_raw_tps": ">= 0.55",
    "sqlite_vs_viem_tps": ">= 4",
    "sqlite_vs_ethers_tps": ">= 10",
    "sqlite_cpu_vs_raw": "<= 2.5",
    "redis_cpu_vs_raw": "<= 3",
    "rss_growth_mb_1m_waiting": "<= 100",
    "decide_us_at_4096_inflight_vs_16": "<= 1.5",
}
WAITING: dict[str, Any] = {
    "waiting": [1_000, 1_000_000],
    "rss_mb": {"few": 60.0, "same_process": 80.0, "fresh_process": 75.0},
    "rss_growth_mb": 20.0,
}
TIMES = {"16": [{"ChainRead": 8.0}], "4096": [{"ChainRead": 10.0}]}
PARTS = {"waiting": WAITING, "decide": grown((16, 4_096), TIMES)}
MACHINE = {
    "cores": 2, "cpu": "c", "python": "3", "sqlite": "3", "kernel": "6", "filesystem": "ext4",
    "peers": {"viem": "2"},
}  # fmt: skip


class Counted(EoaBench):
    """A run whose contestants answer at once: laneway takes twice raw's time and thrice its CPU."""

    def measure(self, name: str, place: Path) -> Sample:
        self.node_cpu_s.setdefault(name, []).append(300e-6)
        slow = 2 if name.startswith("laneway") else 1
        return Sample(jobs=100, seconds=0.1 * slow, cpu_s=0.15 if slow == 2 else 0.05)


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contest, "fdatasync_per_s", lambda _: 1_000.0)


def counted(tmp_path: Path) -> Counted:
    bench = Counted(QUICK, tmp_path, Guests(anvil="anvil"), Lines(1.0))
    bench.run_rounds()
    return bench


def test_the_goals_are_those_of_the_issue() -> None:
    assert {goal.name: goal.words() for goal in GOALS} == THRESHOLDS


def test_every_ratio_divides_two_who_run() -> None:
    names = {*FULL.jobs, "web3py_best"}
    for ours, theirs in (*RATIOS.values(), *CPU_RATIOS.values()):
        assert {ours, theirs} <= names
    assert set(FULL.jobs) == set(QUICK.jobs) == set(NEEDS) - set(EoaBench.parts)
    assert {*RAW, *PEERS, "laneway_sqlite", "laneway_redis"} == set(FULL.jobs)


def test_a_full_run_means_something() -> None:
    assert FULL.rounds >= 3
    assert {FULL.jobs[name] for name in ("raw", "laneway_sqlite", "laneway_redis")} == {12_000}
    assert FULL.waiting == (1_000, 1_000_000)
    assert FULL.inflight == QUICK.inflight == (16, 4_096)
    assert EoaBench.seconds_of(FULL, list(NEEDS)) < 12 * 60


def test_the_object_holds_every_goal(tmp_path: Path) -> None:
    found = counted(tmp_path).assembled(MACHINE, PARTS)
    assert list(found["goals"]) == list(THRESHOLDS)
    assert set(found["ratios"]) == {*RATIOS, *CPU_RATIOS}
    goals = found["goals"]
    assert goals["sqlite_vs_raw_tps"] == {"value": 0.5, "goal": ">= 0.75", "met": False}
    assert goals["redis_cpu_vs_raw"] == {"value": 3.0, "goal": "<= 3", "met": True}
    assert goals["rss_growth_mb_1m_waiting"]["value"] == 20
    assert goals["decide_us_at_4096_inflight_vs_16"]["value"] == 1.25
    assert found["results"]["anvil_cpu_us_per_transfer"]["raw"] == 300


def test_the_table_tells_of_the_node_of_memory_and_of_the_machine(tmp_path: Path) -> None:
    bench = counted(tmp_path)
    bench.stalls["viem"] = 1
    said = table(bench.assembled(MACHINE, PARTS))
    assert "| `decide_us_at_4096_inflight_vs_16` | 1.25 | <= 1.5 | yes |" in said
    assert "the node itself for each transfer: raw 300, laneway_sqlite 300" in said
    assert "were made again: viem 1." in said
    assert "with 1,000,000 80 MB in the process that took them, 75 MB in a fresh one." in said
    assert "| 4,096 | 10 | ChainRead 10 |" in said


def test_who_did_not_run_leaves_its_goals_unmet(tmp_path: Path) -> None:
    bench = Counted(QUICK, tmp_path, Guests(anvil="anvil"), Lines(1.0))
    bench.run_rounds(["raw", "viem"])
    found = bench.assembled(MACHINE, {})
    assert set(bench.rounds) == {"raw", "viem"}
    assert found["ratios"]["raw_vs_viem_tps"] == 1
    assert all(goal["value"] is None and not goal["met"] for goal in found["goals"].values())
    assert "not measured" in table(found)


def test_a_cpu_ratio_is_by_the_job_and_within_a_round() -> None:
    rounds = {
        "a": [Sample(10, 1.0, 2.0), Sample(10, 1.0, 4.0), Sample(10, 1.0, 8.0)],
        "b": [Sample(20, 1.0, 2.0), Sample(20, 1.0, 2.0), Sample(20, 1.0, 2.0)],
    }
    assert cpu_ratio(rounds, "a", "b") == 4
    assert cpu_ratio(rounds, "a", "c") is None


def test_the_quicker_web3py_of_a_round_is_what_others_are_compared_to() -> None:
    one = [Sample(10, 1.0, 1.0), Sample(10, 2.0, 1.0)]
    other = [Sample(10, 2.0, 2.0), Sample(10, 1.0, 2.0)]
    assert with_best({"web3py": one, "web3py_gather": other})["web3py_best"] == [one[0], other[1]]
    assert "web3py_best" not in with_best({"web3py": one})


def test_growth_is_the_median_of_the_rounds_own() -> None:
    few = [{"a": 1.0, "b": 1.0}, {"a": 2.0, "b": 2.0}, {"a": 1.0, "b": 1.0}]
    many = [{"a": 2.0, "b": 1.0}, {"a": 2.0, "b": 2.0}, {"a": 8.0, "b": 2.0}]
    found = grown((16, 4_096), {"16": few, "4096": many})
    assert found["growth"] == 1.5
    assert found["us_per_transfer"]["4096"] == {"all": 4.0, "events": {"a": 2.0, "b": 2.0}}


def test_contestants_are_chosen_by_name_or_kind() -> None:
    assert EoaBench.chosen("") == list(NEEDS)
    assert EoaBench.chosen("web3py,decide") == ["web3py", "web3py_gather", "decide"]
    assert EoaBench.chosen("laneway") == ["laneway_sqlite", "laneway_redis"]
    with pytest.raises(BenchFailed, match="nobody is called dance"):
        EoaBench.chosen("raw,dance")


def test_an_unknown_name_is_told_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(json=True, quick=True, out=tmp_path / "out", only="dance") == 2
    assert "nobody is called dance" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


# Stalls.


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s


class Node:
    def __init__(self, counts: list[int]) -> None:
        self._counts = counts

    def count(self) -> int:
        return self._counts.pop(0)


def watched(
    counts: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Watchman, Clock]:
    clock = Clock()
    monkeypatch.setattr(eoa, "time", clock)
    bench = Counted(QUICK, tmp_path, Guests(), Lines(1.0))
    node: Any = Node(counts)
    return Watchman(node, 100, bench), clock


def test_a_contestant_that_gets_on_or_is_done_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, clock = watched([0, 40, 80, 100, 100, 100], tmp_path, monkeypatch)
    for now_s in (1, 20, 40, 60, 80, 100, 140):
        clock.now_s = now_s
        assert look(None) is None, "it raises when it takes one for stuck"  # type: ignore[func-returns-value]


def test_a_contestant_whose_count_stands_still_is_stuck(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, clock = watched([40, 40, 40], tmp_path, monkeypatch)
    for now_s in (10, 30):
        clock.now_s = now_s
        look(None)
    clock.now_s = 45
    with pytest.raises(Stalled, match="40 of 100"):
        look(None)


def test_a_stuck_round_is_made_again_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stuck(EoaBench):
        left = 1

        def _measured(self, name: str, place: Path, node: Anvil) -> Sample:
            if self.left:
                self.left -= 1
                raise Stalled("stuck")
            return Sample(1, 1.0, 1.0)

    @contextmanager
    def nobody(*_: object) -> Any:
        yield None

    bench = Stuck(QUICK, tmp_path, Guests(anvil="anvil"), Lines(1.0))
    monkeypatch.setattr(bench, "_anvil", nobody)
    assert bench.measure("viem", tmp_path) == Sample(1, 1.0, 1.0)
    assert bench.stalls == {"viem": 1}
    bench.left = 99
    with pytest.raises(BenchFailed, match="got stuck 3 times"):
        bench.measure("viem", tmp_path)


# The machine.


def test_a_full_window_stays_full_and_everything_mined_is_final() -> None:
    stage = DecideStage(16)
    assert stage.wants() == 0
    spent = stage.run(5)
    assert set(spent) == {
        "TimerFired",
        "ChainRead",
        "IntentsOffered",
        "AttemptsMade",
        "BroadcastReturned",
    }
    assert stage.wants() == 0
    # The last block has none above it yet.
    assert stage.lane.head.settled_count == 4 * CYCLE_TRANSFERS
    assert len(stage.lane.slots) == 16 + CYCLE_TRANSFERS


def test_both_windows_are_measured_in_every_round() -> None:
    found = measure((16, 32), rounds=2, cycles=1)["us_per_transfer"]
    assert [len(found[name]) for name in ("16", "32")] == [2, 2]
    assert all(spent >= 0 for one in found["32"] for spent in one.values())


# The engine's place.


class Windowed:
    """An engine with room for ten nonces, on a chain that stands still."""

    def __init__(self) -> None:
        self.taken: list[BenchTransfer] = []
        self.included = False

    async def submit_many(self, requests: Sequence[BenchTransfer]) -> Sequence[str]:
        self.taken += requests
        return [str(len(self.taken))] * len(requests)

    async def all_included(self) -> None:
        self.included = True

    async def waiting(self) -> int:
        return max(0, len(self.taken) - 10)


SOME = BenchTransfer(b"\x11" * 20, 1, 21_000, 1, 1)


@pytest.fixture
def settles_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eoa_driver, "SETTLED_S", 0.0)


def test_a_backlog_is_filled_behind_a_full_window(settles_at_once: None) -> None:
    engine = Windowed()
    assert asyncio.run(fill(engine, SOME, 25)) == {"waiting": 25}
    assert len(engine.taken) == 35


def test_a_run_ends_when_the_engine_knows_that_all_are_included() -> None:
    engine = Windowed()
    spent = asyncio.run(run(engine, SOME, 20, 250))
    assert engine.included
    assert len(engine.taken) == 270
    assert set(spent) == {"seconds", "cpu_s"}


def test_the_driver_answers_every_question_and_no_other(settles_at_once: None) -> None:
    async def ask(question: dict[str, Any]) -> dict[str, float]:
        return await answer(engine, {**TRANSFER, **question})

    engine = Windowed()
    assert asyncio.run(ask({"do": "fill", "waiting": 3})) == {"waiting": 3}
    assert asyncio.run(ask({"do": "rss"}))["rss_mb"] > 1
    assert asyncio.run(ask({"do": "run", "warm": 1, "jobs": 2}))["seconds"] >= 0
    assert engine.taken[0] == BenchTransfer(b"\x11" * 20, 1, 21_000, 100 * 10**9, 10**9)
    with pytest.raises(ValueError, match="dance"):
        asyncio.run(ask({"do": "dance"}))


def test_memory_grows_by_the_worse_of_the_two_who_hold_the_backlog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    rss = iter([60.0, 90.0, 95.5])

    class Holding:
        def ask(self, question: dict[str, object], *_: object) -> dict[str, float]:
            asked.append(question.get("waiting", question["do"]))
            return {"rss_mb": next(rss)} if question["do"] == "rss" else {}

    @contextmanager
    def nobody(*_: object) -> Any:
        yield Holding()

    bench = EoaBench(FULL, tmp_path, Guests(anvil="anvil"), Lines(1.0))
    monkeypatch.setattr(bench, "_anvil", nobody)
    monkeypatch.setattr(bench, "_engine", nobody)
    assert bench.run_waiting()["rss_growth_mb"] == 35.5
    assert asked == [1_000, "rss", 1_000_000, "rss", "rss"]


# Real nodes.


@pytest.mark.slow
@pytest.mark.parametrize("lines", [1, 2])
def test_the_raw_sender_leaves_every_transfer_on_the_chain(lines: int, tmp_path: Path) -> None:
    with anvil(program(), tmp_path, *MINES) as node, module("eoa.raw") as child:
        question = {
            **TRANSFER,
            "warm": 25,
            "jobs": 225,
            "key": KEY,
            "port": node.port,
            "lines": lines,
            "receipts": 1,
        }
        spent = child.ask(question)
        assert spent["seconds"] > 0
        assert node.count() == 250


@pytest.mark.slow
def test_a_refusal_ends_the_raw_sender_with_the_nodes_words(tmp_path: Path) -> None:
    with anvil(program(), tmp_path, *MINES) as node, module("eoa.raw") as child:
        question = {**TRANSFER, "warm": 1, "jobs": 5, "key": KEY, "port": node.port}
        question |= {"lines": 1, "receipts": 1}
        with pytest.raises(BenchFailed, match="max fee per gas less than block base fee"):
            child.ask({**question, "fee_wei_max": 1, "tip_wei_max": 1})


@pytest.mark.slow
def test_a_contestant_that_sent_less_than_it_says_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = EoaBench(QUICK, tmp_path, Guests(anvil=program()), Lines(1.0))
    monkeypatch.setattr(bench, "_transfer", lambda *_: {"seconds": 1.0, "cpu_s": 1.0})
    with pytest.raises(BenchFailed, match="raw: 0 of 440 transfers are on the chain"):
        bench.measure("raw", tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_quick_slice_measures_and_leaves_only_its_results(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "laneway_bench", "eoa", "--quick", "--json"]
    command += ["--only", "raw,decide", "--out", str(tmp_path / "out")]
    (tmp_path / "here").mkdir()
    ran = subprocess.run(
        command, cwd=tmp_path / "here", capture_output=True, text=True, check=False, timeout=600
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["quick"] is True
    assert found["only"] == ["raw", "raw_1_line", "raw_no_receipts", "decide"]
    assert found["results"]["raw"]["jobs_per_s"] > 0
    assert found["goals"]["decide_us_at_4096_inflight_vs_16"]["value"] > 0
    assert str(tmp_path) not in ran.stdout
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "eoa-quick.json",
        "eoa-quick.md",
        "eoa-quick.svg",
    }
    assert list((tmp_path / "here").iterdir()) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_peers_leave_every_transfer_on_the_chain(tmp_path: Path) -> None:
    peers = Path(os.environ.get("LANEWAY_PEERS", ROOT / ".venv-peers"))
    command = [sys.executable, "-m", "laneway_bench", "eoa", "--quick", "--json"]
    command += ["--only", ",".join(PEERS), "--out", str(tmp_path / "out"), "--peers", str(peers)]
    ran = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    for name in PEERS:
        assert found["results"][name]["jobs"] == QUICK.jobs[name], found["machine"]["peers"]
    assert found["machine"]["peers"]["viem"] == "2.57.1"
