"""Databases of every released version still open, migrate and load."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from laneway.core.ids import LaneId, Owner
from laneway.core.intent import Arrival, Conflict, Replayed
from laneway.core.rows import Lease
from laneway.lanes.contract import ContractSettings, contract_kind
from laneway.stores.book import flush
from laneway.stores.judge import KEY_INDEX, key_value
from laneway.stores.sqlite import SqliteBook
from laneway.stores.sqlite.database import migrations

CONTRACT = contract_kind(ContractSettings())
RELEASES = sorted(Path(__file__).parent.glob("v*.sqlite"))
LANES = {
    LaneId(f"contract:{name}"): depth
    for name, depth in (("idle", 0), ("running", 3), ("doubted", 2), ("paused", 2), ("mail", 1))
}


@pytest.fixture(params=RELEASES, ids=lambda path: path.stem)
def release(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    copied = tmp_path / "laneway.db"
    shutil.copy(request.param, copied)
    return copied


@pytest.fixture
def book(release: Path) -> Iterator[SqliteBook]:
    book = SqliteBook(str(release))
    yield book
    book.close()


def claimed(book: SqliteBook, lane: LaneId) -> Lease:
    book.begin()
    lease = book.claim(lane, Owner("a process of today"), 0)
    flush(book)
    assert lease is not None
    return lease


def test_a_release_is_kept_here() -> None:
    assert RELEASES


def test_an_old_database_comes_to_the_newest_shape_and_is_sound(release: Path) -> None:
    SqliteBook(str(release)).close()
    connection = apsw.Connection(str(release))
    assert connection.pragma("user_version") == migrations()[-1][0]
    assert connection.pragma("integrity_check") == "ok"
    connection.close()


def test_every_lane_of_an_old_database_is_there_and_awake_if_it_has_work(book: SqliteBook) -> None:
    views = book.lanes(None, 100)
    assert {view.tail.lane: view.depth() for view in views} == LANES
    awake = [lane for lane, depth in LANES.items() if depth]
    assert sorted(book.ready(0, None, 100)) == sorted(awake)


@pytest.mark.parametrize("lane", LANES)
def test_every_lane_of_an_old_database_stands_up_again(book: SqliteBook, lane: LaneId) -> None:
    rows = book.load(claimed(book, lane))
    restored = CONTRACT.restore(rows)
    CONTRACT.resume(restored)
    state = CONTRACT.describe(rows.head.state)
    kept = (state.word, restored.slot is not None, len(restored.attempts), len(rows.mailbox))
    words = {
        "contract:idle": ("idle", False, 0, 0),
        "contract:running": ("running", True, 1, 0),
        "contract:doubted": ("recovering", True, 1, 0),
        "contract:paused": ("paused", False, 0, 0),
        "contract:mail": ("idle", False, 0, 2),
    }
    assert kept == words[lane]
    if restored.slot is not None:
        assert restored.slot.intent in restored.intents


@pytest.mark.parametrize("lane", LANES)
def test_the_feed_of_an_old_database_still_folds_to_its_lanes(
    book: SqliteBook, lane: LaneId
) -> None:
    folded = CONTRACT.empty(lane)
    for entry in book.feed("", 1_000):
        if entry.lane == lane:
            for record in CONTRACT.decode(entry.records):
                CONTRACT.evolve(folded, record)
    loaded = CONTRACT.restore(book.load(claimed(book, lane)))
    assert CONTRACT.head(folded, None) == CONTRACT.head(loaded, None)
    assert (folded.slot, folded.attempts) == (loaded.slot, loaded.attempts)


def test_finished_and_pruned_intents_of_an_old_database_are_still_known(book: SqliteBook) -> None:
    words = [book.page(word, None, 100) for word in ("confirmed", "refused")]
    assert [len(page) for page in words] == [1, 1]
    first = book.find(KEY_INDEX, key_value("", "key 1"))
    assert first is not None
    assert (first.status, book.intent(first.intent)) == ("confirmed", None)
    again, other = (
        Arrival(
            id=words[0][0].intent.id.replace("tx_0", "tx_f"),  # type: ignore[arg-type]
            lane=LaneId("contract:idle"),
            payload=b"",
            digest=digest,
            accepted_ms=1,
            key="key 1",
        )
        for digest in (b"digest of 1", b"another")
    )
    book.begin()
    assert book.accept([again, other]) == [Replayed(first.intent), Conflict(first.intent)]
    flush(book)
