"""The benchmark before and behind the queue: every goal is there, and the trees are as large as is
said."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from laneway.ubt.tree import UnifiedTree
from laneway_bench.frame import Lines
from laneway_bench.guests import Guests
from laneway_bench.report import table
from laneway_bench.rollup_front.bench import FULL, GOALS, QUICK, RollupFrontBench
from laneway_bench.rollup_front.tree import TreeStage, main, measure

THRESHOLDS = {
    "tree_update_100_of_100k_vs_its_bare_hashes": "<= 3",
    "tree_update_1m_vs_100k": "<= 1.5",
    "snapshot_clone_100k_vs_100": "<= 1.5",
    "tree_open_1m_stems_cpu_s": "<= 10",
}
MACHINE = {
    "cores": 2,
    "cpu": "some",
    "python": "3.11",
    "sqlite": "3",
    "kernel": "6",
    "filesystem": "ext4",
    "peers": {},
}


def report_of(parts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return RollupFrontBench(QUICK, Path(), Guests(), Lines(1.0)).assembled(MACHINE, parts)


def test_the_goals_are_those_that_were_set() -> None:
    assert {goal.name: goal.words() for goal in GOALS} == THRESHOLDS


def test_a_full_run_means_what_its_goals_say() -> None:
    assert FULL.tree_stems == (100, 100_000, 1_000_000)
    assert FULL.tree_rounds >= 20


def test_a_tree_has_as_many_stems_as_are_asked_for() -> None:
    stage = TreeStage(300)
    assert sum(1 for _ in stage.tree.stems()) == 300


def test_the_bare_hashes_are_those_of_the_update() -> None:
    """A group's own ten hashes for each of 100 values, and the branches above."""
    stage = TreeStage(1_000)
    root = stage.tree.root()
    spent_s, bare_s, count = stage.update()
    assert 1_000 + 100 < count < 1_000 + 1_000
    assert spent_s > 0 < bare_s
    assert stage.tree.root() == root
    assert stage.open() > 0 < stage.clone()


def test_the_object_and_the_table_hold_every_goal() -> None:
    found = measure(few=20, many=150, most=300, rounds=2)
    report = report_of({"ubt": found})
    assert list(report["goals"]) == list(THRESHOLDS)
    assert all(goal["value"] > 0 for goal in report["goals"].values())
    growth = found["update_ms"]["300"] / found["update_ms"]["150"]
    assert found["tree_update_1m_vs_100k"] == pytest.approx(growth)
    page = table(report)
    assert "| 150 |" in page
    assert "20 stems" in page


def test_what_did_not_run_leaves_its_goals_unmet() -> None:
    report = report_of({})
    assert all(goal["value"] is None and not goal["met"] for goal in report["goals"].values())
    assert "not measured" in table(report)


def test_a_tree_that_was_opened_is_the_one_that_was_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = TreeStage(50)
    monkeypatch.setattr(UnifiedTree, "stored", lambda tree: iter(()))
    with pytest.raises(AssertionError, match="opened is another one"):
        stage.open()


def test_a_question_is_answered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    question = json.dumps({"few": 10, "many": 120, "most": 150, "rounds": 1})
    monkeypatch.setattr(sys, "stdin", io.StringIO(question + "\n"))
    main()
    assert "tree_update_1m_vs_100k" in json.loads(capsys.readouterr().out)["result"]


@pytest.mark.slow
def test_a_quick_run_measures_everything(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "laneway_bench", "rollup-front", "--quick", "--json"]
    ran = subprocess.run(
        [*command, "--only", "ubt", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    report = json.loads(ran.stdout)
    assert report["quick"]
    assert all(goal["value"] > 0 for goal in report["goals"].values())
