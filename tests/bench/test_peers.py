"""The peers' own environment and their own PostgreSQL."""

import subprocess
import sys
from pathlib import Path

import pytest

from laneway.bench import peers
from laneway.bench.child import BenchFailed


def test_the_newest_postgresql_is_taken_by_number_and_not_by_spelling(tmp_path: Path) -> None:
    for version in ("9.6", "15", "16"):
        (tmp_path / version / "bin").mkdir(parents=True)
        (tmp_path / version / "bin" / "postgres").touch()
    assert peers.programs(tmp_path) == tmp_path / "16" / "bin"


def test_a_missing_postgresql_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(BenchFailed, match="apt-get install -y postgresql"):
        peers.programs(tmp_path)


def test_the_scripts_are_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (peers.scripts() / "huey_noop.py").is_file()


def test_a_folder_is_open_to_all_only_if_all_above_it_are(tmp_path: Path) -> None:
    shut = tmp_path / "shut"
    inner = shut / "inner"
    inner.mkdir(parents=True)
    inner.chmod(0o755)
    shut.chmod(0o700)
    assert not peers.is_open_to_all(inner)
    assert peers.is_open_to_all(Path("/usr"))


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
        return "1 2 3 4 5"

    monkeypatch.setattr(peers, "run", run)
    peers.environment(tmp_path)
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
    assert peers.environment(tmp_path) == tmp_path / "bin" / "python"
    assert asked == [
        "make an environment for the peers",
        "ask the peers for their versions",
        "install the peers",
    ]


@pytest.mark.slow
def test_the_server_syncs_every_commit_and_is_gone_afterwards(tmp_path: Path) -> None:
    with peers.postgres(tmp_path) as server:
        socket = Path(server.conninfo.split()[0].removeprefix("host="))
        pid = int((socket / ".s.PGSQL.5432.lock").read_text().split()[0])
        psql = [str(peers.programs() / "psql"), "-h", str(socket), "-U", "postgres", "-At", "bench"]
        for setting in ("fsync", "synchronous_commit"):
            command = [*psql, "-c", f"SHOW {setting}"]
            shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            assert shown.strip() == "on"
    assert not Path(f"/proc/{pid}").exists()
    assert not socket.exists()
    assert list(tmp_path.iterdir()) == []
