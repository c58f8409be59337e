"""laneway as it is installed: the wheel of this tree, built once for all who try it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", str(folder)]
    built = subprocess.run(
        [*command, str(ROOT)], capture_output=True, text=True, timeout=240, check=False
    )
    assert built.returncode == 0, built.stderr
    (found,) = folder.glob("laneway-*.whl")
    return found
