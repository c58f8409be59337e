"""The benchmark of the JAM formats: every goal is there, and both sides come to the same bytes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from laneway_bench.child import BenchFailed
from laneway_bench.frame import Lines
from laneway_bench.guests import Guests
from laneway_bench.jam.bench import FULL, GOALS, QUICK, JamBench, compared, shown
from laneway_bench.report import table, write_report

THRESHOLDS = {
    "erasure_encode_256k_vs_npm_wasm": ">= 1.6",
    "erasure_decode_256k_vs_npm_wasm": ">= 0.9",
    "erasure_encode_4m_vs_npm_wasm": ">= 2",
    "erasure_decode_4m_vs_npm_wasm": ">= 2",
    "verify_683_votes_vs_bare_pynacl": "<= 1.3",
    "state_proof_us_growth_100_to_100k_keys": "<= 3",
    "model_slots_per_s_6_validators": "shown",
}
MACHINE = {
    "cores": 2,
    "cpu": "some",
    "python": "3.11",
    "sqlite": "3",
    "kernel": "6",
    "filesystem": "ext4",
    "peers": {"node": "20"},
}


def side(encode_s: float, decode_s: float, digest: str = "d") -> dict[str, Any]:
    calls = {"encode_call_s": 0.75 * encode_s, "decode_call_s": 0.75 * decode_s}
    return {"encode_s": encode_s, "decode_s": decode_s, "digest": digest, **calls}


def found() -> dict[str, dict[str, Any]]:
    sized = compared(1_000_000, [side(1.0, 1.0)] * 3, [side(2.0, 3.0)] * 3)
    return {
        "erasure": {"256k": sized, "4m": sized},
        "votes": {
            "votes": 683,
            "laneway_ms": [44.0, 46.0],
            "pynacl_ms": [40.0, 40.0],
            "verify_683_votes_vs_bare_pynacl": 1.125,
        },
        "proofs": {
            "us_per_proof": {"100": [30.0, 25.0], "100000": [60.0, 55.0]},
            "state_proof_us_growth_100_to_100k_keys": 2.2,
        },
        "model": {
            "slots_per_s": {"empty_blocks": 400.0, "two_packages_a_block": 90.0},
            "model_slots_per_s_6_validators": 90.0,
        },
    }


def report_of(parts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return JamBench(QUICK, Path(), Guests(), Lines(1.0)).assembled(MACHINE, parts)


def test_the_goals_are_those_that_were_set() -> None:
    assert {goal.name: goal.words() for goal in GOALS} == THRESHOLDS


def test_a_full_run_means_something() -> None:
    assert FULL.erasure_rounds >= 5
    assert FULL.vote_rounds >= 5
    assert FULL.proof_rounds >= 20
    assert FULL.model_slots >= 240 > QUICK.model_slots


def test_the_object_and_the_table_hold_every_goal(tmp_path: Path) -> None:
    report = report_of(found())
    goals = report["goals"]
    assert list(goals) == list(THRESHOLDS)
    assert goals["erasure_encode_4m_vs_npm_wasm"] == {"value": 2.0, "goal": ">= 2", "met": True}
    assert goals["erasure_decode_256k_vs_npm_wasm"]["value"] == 3
    assert goals["verify_683_votes_vs_bare_pynacl"]["met"]
    assert report["ratios"]["erasure_encode_4m_vs_npm_wasm_call_alone"] == 1.5
    assert goals["model_slots_per_s_6_validators"] == {"value": 90.0, "goal": "shown", "met": True}
    said = table(report)
    assert "| encode 976 KiB | 1 | 0.5 | 2 | 1.5 |" in said
    assert "A justification of 683 votes is verified in 45 CPU ms" in said
    assert "100,000 keys 55 µs" in said
    assert "empty blocks 400; two packages a block 90" in said
    assert write_report(report, tmp_path, "jam") == said
    assert "JAM" in (tmp_path / "jam.svg").read_text()


def test_what_did_not_run_leaves_its_goals_unmet() -> None:
    report = report_of({})
    assert all(goal["value"] is None and not goal["met"] for goal in report["goals"].values())
    assert "not measured" in table(report)


def test_shards_that_differ_are_compared_no_further() -> None:
    with pytest.raises(BenchFailed, match="differ"):
        compared(1, [side(1.0, 1.0)], [side(1.0, 1.0, "e")])


def test_a_ratio_is_the_median_of_the_rounds() -> None:
    ours = [side(1.0, 1.0), side(1.0, 1.0), side(4.0, 1.0)]
    theirs = [side(2.0, 1.0), side(3.0, 1.0), side(4.0, 1.0)]
    assert compared(1_000, ours, theirs)["encode"]["ratio"] == 2


def test_parts_are_chosen_by_name() -> None:
    assert JamBench.chosen("") == ["erasure", "votes", "proofs", "model"]
    assert JamBench.chosen("votes,erasure") == ["erasure", "votes"]
    with pytest.raises(BenchFailed, match="no part dance"):
        JamBench.chosen("dance")
    assert shown("model", {"some": 1}) == {"some": 1}


@pytest.mark.slow
def test_a_quick_run_measures_everything(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "laneway_bench", "jam", "--quick", "--json"]
    ran = subprocess.run(
        [*command, "--out", str(tmp_path)], capture_output=True, text=True, check=True
    )
    report = json.loads(ran.stdout)
    assert report["quick"]
    assert all(goal["value"] > 0 for goal in report["goals"].values()), report["machine"]["peers"]
