"""Kill −9 at random points of a real worker process: exactly once, in order, nothing lost.

A slice of what `make soak` does with the same runner: 15 kills over 500 executions.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).parent / "runner.py"


def kill_nine(folder: Path, *arguments: str) -> tuple[int, dict[str, object]]:
    ran = subprocess.run(
        [sys.executable, str(RUNNER), "--json", *arguments],
        env=os.environ | {"TMPDIR": str(folder)},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    report: dict[str, object] = json.loads(ran.stdout)
    return ran.returncode, report


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
def test_each_execution_lands_once_and_in_order_through_15_kills(seed: int, tmp_path: Path) -> None:
    code, report = kill_nine(tmp_path, "--kills", "15", "--executions", "500", "--seed", str(seed))
    assert report["problems"] == []
    assert (report["kills"], report["on_chain"], report["integrity"]) == (15, 500, "ok")
    assert code == 0
    assert list(tmp_path.iterdir()) == []
