"""The table names every contestant, every goal and the machine."""

import json
from pathlib import Path
from typing import Any

import pytest

from laneway_bench.report import number, scenarios, table, write_report

FOUND: dict[str, Any] = {
    "bench": "contract",
    "machine": {
        "cores": 2,
        "cpu": "Quick One",
        "python": "3.11.2",
        "sqlite": "3.51.3",
        "kernel": "6.1",
        "filesystem": "ext4",
        "peers": {"huey": "2.6.0"},
    },
    "results": {
        "laneway_1": {
            "jobs_per_s": 2_500.0,
            "cpu_us_per_job": 300.0,
            "jobs": 100,
            "rounds_jobs_per_s": [2_400.0, 2_500.0, 2_600.0],
        },
        "huey": {
            "jobs_per_s": 1_900.0,
            "cpu_us_per_job": 200.0,
            "jobs": 100,
            "rounds_jobs_per_s": [1_900.0],
        },
        "fdatasync_per_s": 4_321.0,
        "backlog": {
            "waiting": [1_000, 1_000_000],
            "us_per_job": {"1000": [100.0, 101.0], "1000000": [110.0, 111.0]},
            "cpu_us_per_job": {"1000": [90.0, 91.0], "1000000": [95.0, 96.0]},
            "cost_growth": 1.06,
            "wall_growth": 1.1,
            "rss_mb": {"empty": 30.0, "same_process": 50.0, "fresh_process": 40.0},
            "rss_growth_mb": 20.0,
        },
        "idle": {
            "contracts": 100_000,
            "rss_mb": {"empty": 30.0, "idle": 60.0},
            "rss_growth_mb": 30.0,
        },
    },
    "ratios": {"contract_1_vs_huey": 1.3, "of_no_goal": 0.2},
    "goals": {
        "contract_1_vs_huey": {"value": 1.3, "goal": ">= 1", "met": True},
        "contracts_100_vs_raw": {"value": None, "goal": ">= 0.45", "met": False},
    },
}


def test_the_table_says_what_was_measured_on_what() -> None:
    text = table(FOUND)
    assert "2 cores (Quick One), Linux 6.1, ext4, Python 3.11.2, SQLite 3.51.3; huey 2.6.0." in text
    assert "4,321 fdatasync/s" in text
    assert "| `contract_1_vs_huey` | 1.3 | >= 1 | yes |" in text
    assert "| `contracts_100_vs_raw` | not measured | >= 0.45 | **no** |" in text
    assert "| laneway_1 | 2,500 | 300 | 2,400, 2,500, 2,600 |" in text
    assert "| `of_no_goal` | 0.2 |" in text
    assert "| 1,000,000 | 95, 96 | 110, 111 |" in text
    assert "CPU time grows 1.06-fold and its wall time 1.10-fold." in text
    assert "100,000 idle contracts: 60 MB" in text
    assert "quick" not in text


def test_a_quick_run_says_that_its_numbers_are_noise() -> None:
    assert "its numbers are noise" in table({**FOUND, "quick": True})


def test_only_jobs_a_second_are_contestants() -> None:
    assert list(scenarios(FOUND["results"])) == ["laneway_1", "huey"]


def test_a_report_is_three_files_that_agree(tmp_path: Path) -> None:
    text = write_report(FOUND, tmp_path / "new" / "folder", "contract")
    folder = tmp_path / "new" / "folder"
    assert (folder / "contract.md").read_text() == text
    assert json.loads((folder / "contract.json").read_text()) == FOUND
    assert (folder / "contract.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "not measured"), (0.4567, "0.457"), (12.0, "12"), (1_234.5, "1,234")],
)
def test_a_number_is_shown_short(value: float | None, shown: str) -> None:
    assert number(value) == shown
