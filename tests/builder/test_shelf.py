"""The builder's file: what is in it belongs together, and a file that is not ours is left alone."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import apsw
import pytest

from laneway.builder.shelf import APPLICATION_ID, FinalBlock, Shelf
from laneway.core.errors import StoreBusy, StoreFull, StoreRefused
from laneway.rollups.receipts import BlockStage
from laneway.rollups.rules import SealedBlock, TransactionOutcome


def sealed(number: int, name: str = "") -> SealedBlock:
    return SealedBlock(
        number=number,
        hash=f"block {number}{name}".encode(),
        parent=f"block {number - 1}".encode(),
        pre_root=b"",
        post_root=b"",
    )


def final(number: int, package: bytes = b"package", **changes: bytes) -> FinalBlock:
    return FinalBlock(
        sealed=sealed(number),
        payload=b"payload %d" % number,
        outcomes=(TransactionOutcome(b"tx %d" % number, "ok"),),
        changes={key.encode(): value for key, value in changes.items()},
        package_hash=package,
    )


def base(number: int, payload: bytes, *hashes: bytes) -> FinalBlock:
    outcomes = tuple(TransactionOutcome(one, "ok") for one in hashes)
    return FinalBlock(sealed=sealed(number), payload=payload, outcomes=outcomes)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "builder.db")


@pytest.fixture
def shelf(path: str) -> Shelf:
    made = Shelf(path, blocks_kept=3)
    made.begin(base(0, b"genesis"), {b"a": b"1", b"b": b"2"}.items())
    return made


def put(shelf: Shelf, number: int, name: str = "", *hashes: bytes) -> bytes:
    found = sealed(number, name)
    outcomes = [TransactionOutcome(one, f"status {place}") for place, one in enumerate(hashes)]
    shelf.put(found, b"payload " + found.hash, outcomes)
    return found.hash


def test_a_new_file_knows_nothing_and_then_whose_it_is(path: str) -> None:
    shelf = Shelf(path)
    assert (shelf.identity(), shelf.base(), shelf.open_blocks()) == (None, None, [])
    shelf.claim("ledger", b"one")
    shelf.close()
    shelf = Shelf(path)
    assert shelf.identity() == ("ledger", b"one")
    shelf.claim("ledger", b"one")


@pytest.mark.parametrize(("kind", "identity"), [("evm", b"one"), ("ledger", b"two")])
def test_a_file_of_another_rollup_is_refused_with_what_to_do(kind: str, identity: bytes) -> None:
    shelf = Shelf(None)
    shelf.claim("ledger", b"one")
    with pytest.raises(StoreRefused, match="it is of another rollup") as refused:
        shelf.claim(kind, identity)
    assert "name another file, or delete it" in str(refused.value)
    assert shelf.identity() == ("ledger", b"one")


def test_what_a_file_holds_is_there_when_it_is_opened_again(shelf: Shelf, path: str) -> None:
    block = put(shelf, 1, "", b"tx")
    shelf.set_stage(block, BlockStage.ACCUMULATED, b"package")
    shelf.close()
    again = Shelf(path)
    assert again.base() == (b"block 0", b"genesis")
    assert list(again.entries()) == [(b"a", b"1"), (b"b", b"2")]
    (found,) = again.open_blocks()
    assert (found.hash, found.stage, found.package_hash) == (block, 1, b"package")
    assert found.payload == b"payload block 1"


def test_final_blocks_move_the_base_and_change_only_what_they_changed(shelf: Shelf) -> None:
    shelf.finalise([final(1, a=b"3", c=b"4"), final(2, c=b"5")])
    assert shelf.base() == (b"block 2", b"payload 2")
    assert list(shelf.entries()) == [(b"a", b"3"), (b"b", b"2"), (b"c", b"5")]
    found = shelf.by_hash(b"block 1")
    assert found is not None
    assert (found.stage, found.package_hash) == (BlockStage.FINAL, b"package")


def test_a_block_that_becomes_final_keeps_the_package_that_it_was_accumulated_with(
    shelf: Shelf,
) -> None:
    shelf.set_stage(put(shelf, 1), BlockStage.ACCUMULATED, b"winner")
    shelf.finalise([final(1, b"")])
    found = shelf.by_number(1)
    assert found is not None
    assert (found.stage, found.package_hash) == (BlockStage.FINAL, b"winner")


def test_what_is_open_and_not_above_the_base_is_forgotten(shelf: Shelf) -> None:
    put(shelf, 1, "rival", b"lost")
    put(shelf, 2, "above", b"kept")
    shelf.finalise([final(1)])
    assert [one.hash for one in shelf.open_blocks()] == [b"block 2above"]
    assert shelf.receipt(b"lost") is None
    assert shelf.receipt(b"kept") is not None


def test_only_so_many_final_blocks_are_kept_and_their_receipts_for_longer(shelf: Shelf) -> None:
    for number in range(1, 6):
        shelf.finalise([final(number)])
    assert [shelf.by_number(number) is not None for number in range(1, 6)] == [
        False,
        False,
        True,
        True,
        True,
    ]
    found = shelf.receipt(b"tx 2")
    assert found is not None, "its receipt is"
    assert (found.block.number, found.block.hash, found.block.package_hash) == (
        2,
        b"block 2",
        b"package",
    )
    assert (found.block.stage, found.place, found.status) == (BlockStage.FINAL, 0, "ok")


def test_a_block_is_written_once_and_never_changed(shelf: Shelf) -> None:
    put(shelf, 1, "", b"tx")
    shelf.put(sealed(1), b"other", [TransactionOutcome(b"tx", "other")])
    found = shelf.receipt(b"tx")
    assert found is not None
    assert (found.status, found.place, found.block.payload) == (
        "status 0",
        0,
        b"payload block 1",
    )


def test_the_block_that_is_furthest_is_the_answer(shelf: Shelf) -> None:
    first = put(shelf, 1, "a", b"other", b"tx")
    second = put(shelf, 1, "b", b"tx")
    found = shelf.by_number(1)
    assert found is not None
    assert found.hash == second, "of equals the last that was built"
    shelf.set_stage(first, BlockStage.ACCUMULATED, b"package")
    found, receipt = shelf.by_number(1), shelf.receipt(b"tx")
    assert found is not None
    assert receipt is not None
    assert found.hash == receipt.block.hash == first
    assert receipt.place == 1
    shelf.set_stage(first, BlockStage.BUILT)
    found = shelf.by_number(1)
    assert found is not None
    assert found.hash == second


def test_a_dropped_block_is_gone_with_its_receipts_and_a_final_one_stays(shelf: Shelf) -> None:
    shelf.finalise([final(1)])
    block = put(shelf, 2, "", b"tx")
    shelf.drop([block, b"block 1", b"unknown"])
    assert shelf.by_hash(block) is None
    assert shelf.receipt(b"tx") is None
    assert shelf.by_hash(b"block 1") is not None
    shelf.set_stage(b"block 1", BlockStage.BUILT)
    found = shelf.by_hash(b"block 1")
    assert found is not None
    assert found.stage == BlockStage.FINAL


def test_beginning_anew_forgets_all_that_was_there(shelf: Shelf) -> None:
    put(shelf, 1, "", b"tx")
    shelf.finalise([final(1)])
    shelf.begin(base(2, b"payload"), [(b"x", b"9")])
    assert (shelf.base(), shelf.open_blocks()) == ((b"block 2", b"payload"), [])
    assert (shelf.receipt(b"tx 1"), shelf.by_number(1), shelf.past_lowest()) == (None, None, 2)
    assert list(shelf.entries()) == [(b"x", b"9")]


def test_a_write_that_fails_changes_nothing(shelf: Shelf) -> None:
    with pytest.raises(StoreBusy):
        shelf.finalise([final(1, a=b"9"), final(2, b=None)])  # type: ignore[arg-type]
    assert shelf.base() == (b"block 0", b"genesis")
    assert list(shelf.entries()) == [(b"a", b"1"), (b"b", b"2")]
    assert shelf.by_hash(b"block 1") is None


def test_a_disk_that_is_full_is_named_with_what_to_do_and_passes(shelf: Shelf) -> None:
    shelf._connection.pragma("max_page_count", 1)
    with pytest.raises(StoreFull, match=r"the disk that holds .*builder\.db is full; free some"):
        shelf.finalise([final(1, a=b"9" * 100_000)])
    assert shelf.base() == (b"block 0", b"genesis")
    shelf._connection.pragma("max_page_count", 1_000)
    shelf.finalise([final(1, a=b"9" * 100_000)])
    assert shelf.past_highest() == 1


# Files that are not ours.


def test_the_database_of_another_program_is_refused_and_left_as_it_is(path: str) -> None:
    with apsw.Connection(path) as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = Path(path).read_bytes()
    with pytest.raises(StoreRefused, match="it is no builder's file; name another file"):
        Shelf(path)
    assert Path(path).read_bytes() == before


def test_a_file_that_is_no_database_is_refused_with_what_to_do(path: str) -> None:
    Path(path).write_bytes(b"something else, and not short" * 100)
    with pytest.raises(StoreRefused, match=r"it is damaged .* delete it: it is made again"):
        Shelf(path)


def test_a_file_of_another_shape_is_refused(shelf: Shelf, path: str) -> None:
    shelf.close()
    with apsw.Connection(path) as newer:
        newer.pragma("user_version", 9)
    newer.close()
    with pytest.raises(StoreRefused, match="it has shape 9, and 2 is known"):
        Shelf(path)


def test_a_damaged_file_is_told_with_what_to_do(shelf: Shelf, path: str) -> None:
    shelf.begin(base(0, b"genesis"), ((b"%05d" % one, bytes(100)) for one in range(2_000)))
    shelf.close()
    raw = bytearray(Path(path).read_bytes())
    for at in range(3 * 4096, len(raw), 4096):
        raw[at : at + 64] = b"\xee" * 64
    Path(path).write_bytes(raw)
    with pytest.raises(StoreRefused, match="it is damaged"):
        list(Shelf(path).entries())


def test_a_file_that_does_not_say_whose_it_is_any_more_is_damaged(shelf: Shelf, path: str) -> None:
    shelf.claim("ledger", b"identity")
    shelf.close()
    for statement in ("SET name = 'kine' WHERE name = 'kind'", "SET value = x'ff'"):
        with apsw.Connection(path) as bent:
            bent.execute(f"UPDATE about {statement}")
        bent.close()
        opened = Shelf(path)
        with pytest.raises(StoreRefused, match=r"it is damaged .* delete it"):
            opened.identity()
        opened.close()
        with apsw.Connection(path) as bent:
            bent.execute("UPDATE about SET name = 'kind' WHERE name = 'kine'")
        bent.close()


def test_a_file_whose_tables_are_others_is_damaged_and_not_busy(shelf: Shelf, path: str) -> None:
    shelf.close()
    with apsw.Connection(path) as bent:
        bent.execute("ALTER TABLE blocks RENAME COLUMN stage TO stagf")
    bent.close()
    opened = Shelf(path)
    with pytest.raises(StoreRefused, match=r"it is damaged .* delete it"):
        opened.open_blocks()


def test_a_place_where_no_file_can_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreRefused, match="it cannot be opened and written"):
        Shelf(str(tmp_path / "missing" / "builder.db"))


@pytest.mark.slow
def test_a_file_has_one_user_at_a_time(shelf: Shelf, path: str) -> None:
    with pytest.raises(StoreRefused, match="another process has it open"):
        Shelf(path)
    shelf.close()
    Shelf(path).close()


def test_a_closed_file_is_told(shelf: Shelf) -> None:
    shelf.close()
    with pytest.raises(StoreBusy, match="nothing changed"):
        put(shelf, 1)


def test_a_file_that_cannot_be_written_is_refused(shelf: Shelf) -> None:
    shelf._connection.pragma("query_only", 1)
    with pytest.raises(StoreRefused, match="may this user do that there"):
        put(shelf, 1)


def package_of(shelf: Shelf, hashed: bytes) -> bytes:
    found = shelf.by_hash(hashed)
    assert found is not None
    return found.package_hash


def test_a_package_is_filled_in_and_only_taken_back_with_its_accumulation(shelf: Shelf) -> None:
    hashed = put(shelf, 1)
    shelf.set_stage(hashed, BlockStage.ACCUMULATED)
    assert package_of(shelf, hashed) == b""
    shelf.add_package(hashed, b"one")
    shelf.add_package(hashed, b"two")
    assert package_of(shelf, hashed) == b"one"
    shelf.set_stage(hashed, BlockStage.ACCUMULATED)
    assert package_of(shelf, hashed) == b"one"
    shelf.set_stage(hashed, BlockStage.ACCUMULATED, b"two")
    assert package_of(shelf, hashed) == b"two"
    shelf.set_stage(hashed, BlockStage.BUILT)
    assert package_of(shelf, hashed) == b""
    shelf.add_package(b"unknown", b"one")


def test_a_file_of_the_shape_before_knows_what_its_blocks_executed(path: str) -> None:
    """Of the transactions of blocks that it kept; what is open stays open."""
    with apsw.Connection(path) as old:
        old.execute(
            """
            CREATE TABLE about (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
            CREATE TABLE base (one INTEGER PRIMARY KEY CHECK (one = 1), hash BLOB NOT NULL,
                payload BLOB NOT NULL);
            CREATE TABLE entries (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
            CREATE TABLE blocks (no INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE,
                number INTEGER NOT NULL, stage INTEGER NOT NULL, package_hash BLOB NOT NULL,
                payload BLOB NOT NULL);
            CREATE TABLE receipts (hash BLOB NOT NULL, block INTEGER NOT NULL, place INTEGER
                NOT NULL, status TEXT NOT NULL, PRIMARY KEY (hash, block)) WITHOUT ROWID;
            INSERT INTO base VALUES (1, CAST('block 8' AS BLOB), x'01');
            INSERT INTO blocks VALUES (1, CAST('block 7' AS BLOB), 7, 2, x'07', x'01');
            INSERT INTO blocks VALUES (2, CAST('block 8' AS BLOB), 8, 2, x'08', x'01');
            INSERT INTO blocks VALUES (3, CAST('block 9' AS BLOB), 9, 0, x'', x'01');
            INSERT INTO receipts VALUES (x'aa', 1, 0, 'no'), (x'aa', 2, 1, 'ok');
            INSERT INTO receipts VALUES (x'bb', 1, 2, 'ok'), (x'cc', 3, 0, 'ok');
            """
        )
        old.pragma("application_id", APPLICATION_ID)
        old.pragma("user_version", 1)
    old.close()
    shelf = Shelf(path)
    assert (shelf.past_lowest(), shelf.past_count()) == (7, 3)
    found = [shelf.receipt(hashed) for hashed in (b"\xaa", b"\xbb", b"\xcc")]
    assert [one and (one.block.number, one.place, one.block.stage) for one in found] == [
        (8, 1, BlockStage.FINAL),
        (7, 2, BlockStage.FINAL),
        (9, 0, BlockStage.BUILT),
    ]
    assert found[0] is not None
    assert (found[0].block.hash, found[0].block.package_hash) == (b"block 8", b"\x08")
    shelf.finalise([final(9)])
    assert shelf.past_lowest() == 7
    shelf.close()
    assert Shelf(path).past_lowest() == 7


def test_a_thread_that_never_returns_keeps_nobody_from_closing(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules may hang while a state of theirs is written."""
    monkeypatch.setattr("laneway.builder.shelf.CLOSE_FILE_S_MAX", 0.05)
    begun, may_end = Event(), Event()

    def endless() -> Iterator[tuple[bytes, bytes]]:
        begun.set()
        may_end.wait(60)
        yield b"k", b"v"

    writer = Thread(target=lambda: shelf.begin(base(1, b"p"), endless()))
    writer.start()
    begun.wait(60)
    shelf.close()
    may_end.set()
    writer.join(60)
    assert shelf.base() == (b"block 1", b"p")
    shelf.close()
    with pytest.raises(StoreBusy):
        shelf.base()
