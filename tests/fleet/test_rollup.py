"""Two real builders of one rollup on one Redis: the one that holds the lane is killed or stopped in
mid-flight, and the other goes on where it was."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).parent / "rollup_runner.py"


@pytest.mark.slow
@pytest.mark.parametrize("order", ["parallel", "chained"])
def test_only_the_holder_submits_and_a_takeover_doubles_nothing(order: str, tmp_path: Path) -> None:
    words = f"--order {order} --kills 2 --stops 2 --transfers 400 --seed 1"
    ran = subprocess.run(
        [sys.executable, str(RUNNER), "--json", *words.split()],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    report = json.loads(ran.stdout)
    assert report["problems"] == []
    assert ran.returncode == 0
    assert (report["kills"], report["stops"], report["applied"]) == (2, 2, 400)
    # Each time somebody else went on; one that was stopped learns it when it wakes up.
    assert report["takeovers"] >= 4
