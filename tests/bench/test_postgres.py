"""A PostgreSQL for the time of a run."""

import subprocess
from pathlib import Path

import pytest

from laneway_bench.child import BenchFailed
from laneway_bench.postgres import Postgres, is_open_to_all, postgres, programs


def test_the_newest_postgresql_is_taken_by_number_and_not_by_spelling(tmp_path: Path) -> None:
    for version in ("9.6", "15", "16"):
        (tmp_path / version / "bin").mkdir(parents=True)
        (tmp_path / version / "bin" / "postgres").touch()
    assert programs(tmp_path) == tmp_path / "16" / "bin"


def test_a_missing_postgresql_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(BenchFailed, match="apt-get install -y postgresql"):
        programs(tmp_path)


def test_a_folder_is_open_to_all_only_if_all_above_it_are(tmp_path: Path) -> None:
    shut = tmp_path / "shut"
    inner = shut / "inner"
    inner.mkdir(parents=True)
    inner.chmod(0o755)
    shut.chmod(0o700)
    assert not is_open_to_all(inner)
    assert is_open_to_all(Path("/usr"))


@pytest.mark.slow
def test_the_server_syncs_every_commit_and_is_gone_afterwards(tmp_path: Path) -> None:
    with postgres(tmp_path) as server:
        socket = Path(server.conninfo.split()[0].removeprefix("host="))
        pid = int((socket / ".s.PGSQL.5432.lock").read_text().split()[0])
        psql = [str(programs() / "psql"), "-h", str(socket), "-U", "postgres", "-At", "bench"]
        for setting in ("fsync", "synchronous_commit"):
            command = [*psql, "-c", f"SHOW {setting}"]
            shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            assert shown.strip() == "on"
    assert not Path(f"/proc/{pid}").exists()
    assert not socket.exists()
    assert list(tmp_path.iterdir()) == []


def test_the_same_server_has_an_address_for_our_own_store() -> None:
    server = Postgres("host=/run/x user=postgres dbname=bench", "15")
    assert server.url() == "postgresql://postgres@/bench?host=/run/x"
