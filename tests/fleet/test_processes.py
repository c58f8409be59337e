"""Three real processes on one shared store, killed, stopped and cut off from it.

A slice of what `make soak` does with the same runner: 10 kills over 2,000 executions.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).parent / "runner.py"


@pytest.mark.slow
@pytest.mark.parametrize("store", ["postgres", "redis", "redis-cluster"])
def test_each_execution_lands_once_and_in_its_lanes_order(store: str) -> None:
    plan = ["--store", store, "--kills", "10", "--stops", "2", "--server-kills", "1"]
    ran = subprocess.run(
        [sys.executable, str(RUNNER), "--json", *plan, "--executions", "2000", "--seed", "1"],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    report = json.loads(ran.stdout)
    assert report["problems"] == []
    done = (report["kills"], report["stops"], report["server_kills"], report["on_chain"])
    assert done == (10, 2, 1, 2_000)
    assert ran.returncode == 0
