"""The benchmark of rollups' lanes: every goal is there, and says on which chain it was measured."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from laneway_bench.child import BenchFailed
from laneway_bench.frame import Lines
from laneway_bench.guests import Guests
from laneway_bench.report import table, write_report
from laneway_bench.rollup.bench import FULL, GOALS, QUICK, RETAINED, RollupBench, shown

THRESHOLDS = {
    "tick_cost_100k_vs_8_retained": "<= 1.5",
    "slots_to_finality_no_faults": "<= 5",
    "core_slots_busy_341_cores_stub_service": ">= 0.95",
    "blocks_per_s_fast_clock": "shown",
    "rss_growth_mb_100k_blocks": "<= 100",
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


def found() -> dict[str, dict[str, Any]]:
    return {
        "turns": {
            "us_per_block": {"8": [400.0, 420.0, 410.0], "100000": [430.0, 420.0, 425.0]},
            "tick_cost_100k_vs_8_retained": 1.02,
        },
        "finality": {
            "from": "here",
            "to": "there",
            "blocks": 36,
            "slots": {"min": 4, "median": 4.0, "max": 5},
            "slots_to_finality_no_faults": 4.0,
        },
        "cores": {
            "cores": 341,
            "slots": [20, 120],
            "pairs": 34_100,
            "with_a_new_report": 34_000,
            "engaged": 34_100,
            "lane_s": 30.0,
            "model_s": 20.0,
            "core_slots_busy_341_cores_stub_service": 34_000 / 34_100,
        },
        "engine": {
            "clocks": [{"slot_ms": 100, "blocks_per_s": 19.5}],
            "blocks_per_s_fast_clock": 19.5,
        },
        "memory": {
            "blocks": 100_000,
            "blocks_per_s": 900.0,
            "rss_mb": {"warm": 47.5, "end": 48.0},
            "rss_growth_mb_100k_blocks": 0.5,
        },
    }


def report_of(parts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return RollupBench(QUICK, Path(), Guests(), Lines(1.0)).assembled(MACHINE, parts)


def test_the_goals_are_those_that_were_set() -> None:
    assert {goal.name: goal.words() for goal in GOALS} == THRESHOLDS


def test_a_full_run_means_something() -> None:
    assert RETAINED == (8, 100_000)
    assert (FULL.core_first, FULL.core_slots, FULL.memory_blocks) == (20, 100, 100_000)
    assert FULL.turn_rounds >= 5
    assert FULL.finality_slots >= 100 > QUICK.finality_slots


def test_the_object_and_the_table_hold_every_goal(tmp_path: Path) -> None:
    report = report_of(found())
    goals = report["goals"]
    assert list(goals) == list(THRESHOLDS)
    assert all(goal["met"] for goal in goals.values())
    assert goals["core_slots_busy_341_cores_stub_service"]["value"] == 0.9971
    said = table(report)
    assert "8 kept 410 µs; 100,000 kept 425 µs" in said
    assert "4 at least, 4 in the middle, 5 at most" in said
    assert "34,000 have a report in the block of that slot" in said
    assert "slots of 100 ms 19.5" in said
    assert "47.5 MB after the first tenth, 48.0 MB at the end" in said
    assert "SQLite 3.\n" in said
    assert write_report(report, tmp_path, "rollup") == said
    assert "rollup" in (tmp_path / "rollup.svg").read_text()


def test_what_did_not_run_leaves_its_goals_unmet() -> None:
    report = report_of({})
    assert all(goal["value"] is None and not goal["met"] for goal in report["goals"].values())
    assert "not measured" in table(report)


def test_parts_are_chosen_by_name() -> None:
    assert RollupBench.chosen("") == ["turns", "finality", "cores", "engine", "memory"]
    assert RollupBench.chosen("memory,turns") == ["turns", "memory"]
    with pytest.raises(BenchFailed, match="no part dance"):
        RollupBench.chosen("dance")
    assert shown("cores", {"some": 1}) == {"some": 1}


@pytest.mark.slow
def test_a_quick_run_measures_everything(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "laneway_bench", "rollup", "--quick", "--json"]
    ran = subprocess.run(
        [*command, "--out", str(tmp_path)], capture_output=True, text=True, check=True
    )
    report = json.loads(ran.stdout)
    assert report["quick"]
    values = {name: goal["value"] for name, goal in report["goals"].items()}
    assert values["core_slots_busy_341_cores_stub_service"] == 1
    assert values["slots_to_finality_no_faults"] <= 5
    assert all(value is not None for value in values.values())
