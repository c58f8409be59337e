"""Kill −9 of a real worker that pays from four EVM accounts, on a real anvil.

A slice of what `make soak` does with the same runner: 5 kills over 2,000 payments on each store.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).parent / "eoa_runner.py"


def paid(folder: Path, *arguments: str) -> dict[str, object]:
    ran = subprocess.run(
        [sys.executable, str(RUNNER), "--json", *arguments],
        env=os.environ | {"TMPDIR": str(folder)},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    report: dict[str, object] = json.loads(ran.stdout)
    assert report["problems"] == []
    assert ran.returncode == 0
    return report


@pytest.mark.slow
@pytest.mark.parametrize("store", ["sqlite", "redis"])
def test_each_payment_is_mined_once_and_in_order_through_kills(store: str, tmp_path: Path) -> None:
    report = paid(tmp_path, "--store", store, "--kills", "5", "--payments", "2000", "--seed", "1")
    assert (report["kills"], report["mined"], report["integrity"]) == (5, 2000, "ok")


@pytest.mark.slow
def test_a_redis_that_is_killed_in_between_loses_nothing_and_pays_nothing_twice(
    tmp_path: Path,
) -> None:
    words = "--store redis --kills 4 --server-kills 3 --payments 600 --seed 2"
    report = paid(tmp_path, *words.split())
    assert (report["server_kills"], report["mined"]) == (3, 600)


@pytest.mark.slow
def test_on_our_own_chain_it_is_the_same(tmp_path: Path) -> None:
    words = "--node devnet --kills 3 --payments 400 --seed 3"
    report = paid(tmp_path, *words.split())
    assert (report["kills"], report["mined"], report["integrity"]) == (3, 400, "ok")
