"""Real processes with a rollup on a devnet, to which something bad happens; the chain is the judge.

The short form of what `make soak` does with the same runner.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.scenarios.stories import STORIES

HERE = Path(__file__).parent


def ran(runner: str, folder: Path, *words: str) -> dict[str, object]:
    """The report of a runner that kept every promise."""
    done = subprocess.run(
        [sys.executable, str(HERE / runner), "--json", "--seed", "1", *words],
        env=os.environ | {"TMPDIR": str(folder)},
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.stdout, done.stderr[-3_000:]
    report: dict[str, object] = json.loads(done.stdout)
    assert report["problems"] == []
    assert done.returncode == 0
    return report


@pytest.mark.slow
@pytest.mark.parametrize("story", STORIES)
def test_each_accepted_transfer_settles_and_the_ledger_agrees(story: str, tmp_path: Path) -> None:
    ran("runner.py", tmp_path, "--story", story)


@pytest.mark.slow
def test_memory_is_flat_after_the_warm_up(tmp_path: Path) -> None:
    report = ran("memory.py", tmp_path, "--blocks", "80")
    assert report["growth_mb"] is not None
