"""A slice of the comparison with EELS, and of hostile code; `make soak` does the full counts."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.differential import core
from tests.differential.hostile import check
from tests.differential.oracle import python

HERE = Path(__file__).parent
SLICE_S = "60"


@pytest.mark.parametrize("engine", core.ENGINES)
def test_code_by_chance_raises_nothing(engine: str) -> None:
    assert [check(seed, engine) for seed in range(100)] == [None] * 100


@pytest.mark.slow
@pytest.mark.skipif(python() is None, reason="the environment of oracles is not made")
def test_laneway_and_the_specification_agree() -> None:
    """On gas, output, logs, receipts, state and state roots, interpreted and compiled, over cases
    of a minute."""
    words = ["--cases", "1000000", "--seconds", SLICE_S, "--no-keep"]
    ran = subprocess.run(
        [sys.executable, str(HERE / "run.py"), *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-8_000:] + ran.stderr[-2_000:]
