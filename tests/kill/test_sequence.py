"""Kill −9 of a real process that submits blobs from three Cosmos accounts, on the devnet.

A slice of what `make soak` does with the same runner: 5 kills over 300 blobs.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).parent / "sequence_runner.py"


@pytest.mark.slow
def test_each_blob_is_committed_once_and_in_order_through_kills(tmp_path: Path) -> None:
    words = "--json --kills 5 --blobs 300 --evictions 0.5 --seed 1"
    ran = subprocess.run(
        [sys.executable, str(RUNNER), *words.split()],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    report: dict[str, object] = json.loads(ran.stdout)
    assert report["problems"] == []
    assert ran.returncode == 0
    assert (report["kills"], report["committed"], report["integrity"]) == (5, 300, "ok")
    assert (report["restarts"], report["raises"]) == (3, 2)
