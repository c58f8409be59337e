"""Kill −9 of a real process that builds a ledger rollup, on the devnet in bad weather.

A slice of what `make soak` does with the same runner: 5 kills over 500 transfers on each store.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).parent / "rollup_runner.py"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("store", "order"),
    [("sqlite", "parallel"), ("redis", "chained"), ("postgres", "parallel")],
)
def test_each_transfer_has_its_effect_once_through_kills(
    store: str, order: str, tmp_path: Path
) -> None:
    # PostgreSQL's own user cannot enter a folder of pytest's.
    place = {} if store == "postgres" else {"TMPDIR": str(tmp_path)}
    words = f"--store {store} --order {order} --kills 5 --transfers 500 --seed 1"
    ran = subprocess.run(
        [sys.executable, str(RUNNER), "--json", *words.split()],
        env=os.environ | place,
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert ran.stdout, ran.stderr
    report: dict[str, object] = json.loads(ran.stdout)
    assert report["problems"] == []
    assert ran.returncode == 0
    assert (report["kills"], report["applied"], report["integrity"]) == (5, 500, "ok")
