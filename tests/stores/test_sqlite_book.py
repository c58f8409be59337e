"""What only the book in a file has: its caches, its bounded scans, its two connections."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from laneway.core.errors import StoreClosed, StoreCorrupt
from laneway.core.ids import LaneId, Owner, intent_id
from laneway.core.intent import Accepted, Arrival
from laneway.core.rows import START, Command, HeadWrite, Lease, Result, Write
from laneway.stores.book import flush
from laneway.stores.sqlite import SqliteBook, book, reader

ME = Owner("me")
LANES = [LaneId(f"contract:{number}") for number in range(40)]


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[SqliteBook]:
    opened = SqliteBook(str(tmp_path / "f.db"))
    yield opened
    opened.close()


def arrival(number: int, lane: LaneId) -> Arrival:
    id_ = intent_id(number, number.to_bytes(10, "big"))
    return Arrival(id=id_, lane=lane, payload=b"p", digest=b"", accepted_ms=number)


def accept(sqlite: SqliteBook, *arrivals: Arrival) -> None:
    sqlite.begin()
    assert all(isinstance(answer, Accepted) for answer in sqlite.accept(arrivals))
    flush(sqlite)


def claim(sqlite: SqliteBook, lane: LaneId) -> Lease:
    sqlite.begin()
    lease = sqlite.claim(lane, ME, 0)
    flush(sqlite)
    assert lease is not None
    return lease


def test_lanes_that_fall_out_of_the_cache_are_read_again(
    sqlite: SqliteBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book, "LANES_CACHED_MAX", 8)
    monkeypatch.setattr(reader, "LANES_CACHED_MAX", 8)
    for round_ in range(3):
        for place, lane in enumerate(LANES):
            accept(sqlite, arrival(100 * round_ + place + 1, lane))
            lease = claim(sqlite, lane)
            assert len(sqlite.backlog(lease, START, 9).intents) == round_ + 1
            assert len(sqlite._entries) <= 8
            assert len(sqlite._numbers) <= 8
    for lane in LANES:
        view = sqlite.lane(lane)
        assert view is not None
        assert (view.depth(), view.head.fence, view.tail.seq_next) == (3, 3, 4)


def test_a_lane_that_falls_out_of_the_cache_keeps_its_mail(
    sqlite: SqliteBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite.begin()
    told = [sqlite.tell(Command(0, LANES[0], verb, 0)) for verb in ("pause", "resume")]
    flush(sqlite)
    lease = claim(sqlite, LANES[0])
    sqlite._entries.clear()
    sqlite.begin()
    sqlite.commit(lease, 1, Write(HeadWrite(START, 0, 0, None, b""), (), (told[0].id,)))
    flush(sqlite)
    assert sqlite.ready(0, None, 9) == [LANES[0]]
    sqlite._entries.clear()
    sqlite.begin()
    sqlite.commit(lease, 2, Write(HeadWrite(START, 0, 0, None, b""), (), (told[1].id,)))
    flush(sqlite)
    assert sqlite.ready(0, None, 9) == []


def test_young_results_in_front_do_not_keep_old_ones_behind_them(
    sqlite: SqliteBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book, "PRUNE_SCAN_MAX", 5)
    lane, arrivals = LANES[0], [arrival(number, LANES[0]) for number in range(1, 31)]
    accept(sqlite, *arrivals)
    lease = claim(sqlite, lane)
    young = tuple(Result(one.id, "confirmed", 100) for one in arrivals[:18])
    old = tuple(Result(one.id, "confirmed", 10) for one in arrivals[18:])
    sqlite.begin()
    sqlite.commit(lease, 1, Write(HeadWrite((30,), 30, 30, None, b""), young + old))
    flush(sqlite)
    pruned = 0
    for _ in range(20):
        sqlite.begin()
        pruned += sqlite.prune(50, 0, 3)
        flush(sqlite)
    assert pruned == 12
    assert len(sqlite.page("confirmed", None, 99)) == 18


def test_the_reader_sees_nothing_that_is_not_committed(sqlite: SqliteBook) -> None:
    lane = LANES[0]
    sqlite.begin()
    sqlite.accept([arrival(1, lane)])
    assert sqlite.lane(lane) is None
    sqlite.write()
    assert sqlite.lane(lane) is None
    assert sqlite.ready(0, None, 9) == []
    sqlite.sync()
    assert sqlite.ready(0, None, 9) == [lane]


def test_a_group_that_changes_nothing_is_not_even_begun(sqlite: SqliteBook) -> None:
    accept(sqlite, arrival(1, LANES[0]))
    sqlite.begin()
    sqlite.beat(ME, 1_000, 0)
    sqlite.accept([arrival(1, LANES[0])])
    sqlite.prune(0, 0, 10)
    sqlite.write()
    assert not sqlite._db.in_transaction
    sqlite.sync()


def test_the_first_failure_is_the_one_that_is_told(sqlite: SqliteBook) -> None:
    first = sqlite._translate(apsw.CorruptError("malformed"))
    assert isinstance(first, StoreCorrupt)
    assert sqlite._translate(apsw.IOError("disk I/O error")) is first
    assert not isinstance(first, StoreClosed)


def test_an_abandoned_file_is_left_as_a_crash_would_leave_it(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    sqlite = SqliteBook(str(path))
    accept(sqlite, arrival(1, LANES[0]))
    before = path.read_bytes()
    sqlite.abandon()
    sqlite.abandon()
    assert path.read_bytes() == before
    assert Path(f"{path}-wal").exists()
    again = SqliteBook(str(path))
    assert again.intent(arrival(1, LANES[0]).id) is not None
    again.close()
    assert not Path(f"{path}-wal").exists()
