"""The wheel holds all that the tree has, and runs from nothing else."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.wheel import built
from tests.wiring.test_server import served

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.slow


def files(home: str) -> set[str]:
    """What is committed in a folder, as it is called in a wheel."""
    command = ["git", "ls-files", home]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {line.removeprefix(f"{home}/") for line in listed.splitlines()}


def held_by(wheel: Path) -> set[str]:
    return {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


def test_every_file_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    wanted, held = files("src"), held_by(wheel)
    assert {Path(name).suffix for name in wanted} >= {".py", ".sql", ".lua", ".toml", ".typed"}
    assert held >= wanted
    assert not [name for name in held if name.startswith("tests") or ".db" in name]


def test_the_benchmarks_are_in_a_wheel_of_their_own(wheel: Path, tmp_path: Path) -> None:
    assert held_by(built(ROOT / "bench", tmp_path)) == files("bench/src")
    assert not [name for name in held_by(wheel) if name.startswith(("bench", "laneway_bench"))]


def test_it_starts_a_server_and_sends_from_the_wheel_alone(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(place)
    monkeypatch.setenv("PYTHONPATH", str(place))
    here = tmp_path / "here"
    here.mkdir()

    def laneway(*words: str) -> str:
        ran = subprocess.run(
            [sys.executable, "-m", "laneway", *words],
            cwd=here, env=os.environ, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    where = "import laneway; print(laneway.__file__)"
    told = subprocess.run(
        [sys.executable, "-c", where], cwd=here, capture_output=True, text=True, check=True
    )
    assert told.stdout.startswith(str(place))
    laneway("init")
    with served(here, "--set", "host.round_ms=5") as up:
        url = f"http://127.0.0.1:{up.port}"
        said = laneway("send", "contract:Qm1", "--data", "x", "--wait", "--url", url)
        assert "confirmed" in said
