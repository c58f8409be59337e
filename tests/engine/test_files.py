"""What the engine writes is for its owner alone."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from laneway.builder.shelf import Shelf
from laneway.devnets.contract.journal import BlockJournal
from laneway.devnets.contract.model import ContractChain
from laneway.engine.files import make_private, open_to_others
from laneway.stores.sqlite import SqliteBook


@pytest.fixture(autouse=True)
def _careless() -> Iterator[None]:
    """A user whose new files anyone may read and write."""
    before = os.umask(0)
    yield
    os.umask(before)


def rights(folder: Path) -> dict[str, int]:
    return {entry.name: entry.stat().st_mode & 0o777 for entry in folder.iterdir()}


def test_a_database_its_log_and_its_lock_are_for_their_owner_alone(tmp_path: Path) -> None:
    book = SqliteBook(str(tmp_path / "d.db"))
    found = rights(tmp_path)
    book.close()
    assert set(found) == {"d.db", "d.db-wal", "d.db-shm", "d.db-lock"}
    assert set(found.values()) == {0o600}


def test_a_builders_file_and_a_devnets_blocks_are_too(tmp_path: Path) -> None:
    shelf = Shelf(str(tmp_path / "shelf"))
    journal = BlockJournal(str(tmp_path / "blocks"))
    journal.load(ContractChain(round_ms=1))
    found = rights(tmp_path)
    shelf.close()
    journal.close()
    assert {"shelf", "shelf-wal", "blocks"} <= set(found)
    assert set(found.values()) == {0o600}


def test_a_file_that_is_there_keeps_its_rights_and_its_content(tmp_path: Path) -> None:
    file = tmp_path / "d.db"
    file.write_bytes(b"kept")
    file.chmod(0o640)
    make_private(file)
    assert file.read_bytes() == b"kept"
    assert rights(tmp_path) == {"d.db": 0o640}


def test_what_a_link_names_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    make_private(tmp_path / "link")
    assert (tmp_path / "target").stat().st_mode & 0o777 == 0o600


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        make_private(tmp_path / "none" / "d.db")


def test_a_database_and_all_beside_it_that_others_may_read_is_found(tmp_path: Path) -> None:
    for name, mode in (("d.db", 0o600), ("d.db-wal", 0o640), ("d.db-old", 0o604), ("other", 0o644)):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    found = open_to_others([str(tmp_path / "d.db"), str(tmp_path / "none.db")])
    assert [one.name for one in found] == ["d.db-old", "d.db-wal"]
