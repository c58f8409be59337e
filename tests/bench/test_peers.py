"""The peers' own environment."""

import sys
from pathlib import Path

import pytest

from laneway_bench import peers
from laneway_bench.child import BenchFailed

PACKAGES = ("huey", "uvloop")


def test_the_scripts_are_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (peers.scripts() / "huey_noop.py").is_file()


def test_a_command_that_fails_says_what_it_was_for() -> None:
    with pytest.raises(BenchFailed, match="could not count: no"):
        peers.run([sys.executable, "-c", "raise SystemExit('no')"], "count")


def test_versions_come_from_the_environment_asked(tmp_path: Path) -> None:
    assert list(peers.versions(Path(sys.executable), ["msgspec"])) == ["msgspec"]
    with pytest.raises(BenchFailed):
        peers.versions(Path(sys.executable), ["no-such-package-anywhere"])


def test_an_environment_that_is_complete_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    asked: list[str] = []

    def run(command: list[str], purpose: str) -> str:
        asked.append(purpose)
        return "1 2"

    monkeypatch.setattr(peers, "run", run)
    peers.environment(tmp_path, PACKAGES)
    assert asked == ["ask the peers for their versions"]


def test_an_environment_that_lacks_a_peer_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def run(command: list[str], purpose: str) -> str:
        asked.append(purpose)
        if "versions" in purpose:
            raise BenchFailed("no huey")
        return ""

    monkeypatch.setattr(peers, "run", run)
    assert peers.environment(tmp_path, PACKAGES) == tmp_path / "bin" / "python"
    assert asked == [
        "make an environment for the peers",
        "ask the peers for their versions",
        "install the peers",
    ]
