"""Names that only point at an intent, in a SQLite file."""

from pathlib import Path

import pytest
from tests.contracts.test_store import A, arrival, head

from laneway.core.ids import Owner
from laneway.core.intent import Arrival, IntentRow
from laneway.core.rows import Index, Lease, Result, Write
from laneway.stores.book import flush
from laneway.stores.sqlite import SqliteBook
from laneway.stores.sqlite import book as sqlite_book
from laneway.stores.sqlite.inserts import is_pointer, pack_value, pointed

HASH = "ab" * 32
ME = Owner("me")


def held(path: str, *arrivals: Arrival) -> tuple[SqliteBook, Lease]:
    book = SqliteBook(path)
    book.begin()
    book.accept(arrivals)
    book.beat(ME, 1_000, 0)
    lease = book.claim(A, ME, 0)
    assert lease is not None
    flush(book)
    return book, lease


def commit(book: SqliteBook, lease: Lease, write: Write) -> None:
    book.begin()
    book.commit(lease, 1, write)
    flush(book)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "laneway.db")


def test_a_hash_is_kept_in_half_the_bytes_and_never_mistaken_for_a_text() -> None:
    assert pack_value(HASH) == b"h" + b"\xab" * 32
    assert pack_value(HASH.upper()) == b"t" + HASH.upper().encode()
    assert pack_value("z" * 64) == b"t" + b"z" * 64
    assert pack_value("évm#1") == b"t" + "évm#1".encode()


def test_only_what_says_nothing_else_is_a_pointer() -> None:
    plain = Index("hash", HASH, arrival(1).id, A)
    assert is_pointer(plain)
    assert not is_pointer(Index("key", "k", arrival(1).id, A, b"digest"))
    assert not is_pointer(Index("id", "i", arrival(1).id, A, b"", "confirmed"))


def test_a_pointer_is_found_again_also_by_a_new_process(path: str) -> None:
    one = arrival(1)
    index = Index("hash", HASH, one.id, A)
    number = Index("nonce", f"{A}#7", one.id, A)
    book, lease = held(path, one)
    commit(book, lease, Write(head(0), (index, number), (), 1, b"r"))
    assert book.find("hash", HASH) == index
    book.close()
    again = SqliteBook(path)
    assert (again.find("hash", HASH), again.find("nonce", f"{A}#7")) == (index, number)
    assert again.find("hash", "cd" * 32) is None
    again.close()


def test_intents_beyond_the_bound_of_what_is_at_hand_are_looked_up(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_book, "OPEN_NUMBERS_MAX", 1)
    arrivals = [arrival(number) for number in (1, 2)]
    results = [Result(one.id, "confirmed", 5) for one in arrivals]
    names = [Index("nonce", f"{A}#{place}", one.id, A) for place, one in enumerate(arrivals)]
    book, lease = held(path, *arrivals)
    commit(book, lease, Write(head(2), (*names, *results), (), 1, b"r"))
    views = [book.intent(one.id) for one in arrivals]
    assert [view and view.result for view in views] == results
    assert [book.find(name.name, name.value) for name in names] == names
    book.close()


def test_a_name_of_an_intent_that_is_not_here_is_kept_in_full(path: str) -> None:
    book, lease = held(path)
    index = Index("hash", HASH, arrival(9).id, A)
    commit(book, lease, Write(head(0), (index,), (), 1, b"r"))
    assert book.find("hash", HASH) == index
    book.close()


def test_what_is_pruned_is_still_found_by_its_hash_and_its_number(path: str) -> None:
    one = arrival(1)
    hash_ = bytes.fromhex(HASH)
    result = Result(one.id, "confirmed", 5, 7, hash_)
    book, lease = held(path, one)
    touched = (Index("hash", HASH, one.id, A), Index("nonce", f"{A}#7", one.id, A), result)
    commit(book, lease, Write(head(1), touched, (), 1, b"r"))
    book.begin()
    assert book.prune(1_000, 0, 10) == 1
    flush(book)
    for name, value in (("hash", HASH), ("nonce", f"{A}#7")):
        left = book.find(name, value)
        assert left is not None
        assert (left.intent, left.status, left.hash) == (one.id, "confirmed", hash_)
    book.close()


def test_what_never_stood_on_a_chain_leaves_no_such_names() -> None:
    row = IntentRow(arrival(1).id, A, 1, 0, 1, None, None, "", b"", b"")
    assert pointed(row, Result(row.id, "refused", 5)) == []


def test_a_name_is_found_in_whatever_stretch_its_intent_is(path: str) -> None:
    arrivals = [arrival(number) for number in range(1, 2_100)]
    asked = (arrivals[0], arrivals[1_100], arrivals[-1])
    names = [Index("nonce", f"{A}#{one.id}", one.id, A) for one in asked]
    book, lease = held(path, *arrivals)
    commit(book, lease, Write(head(0), tuple(names), (), 1, b"r"))
    assert [book.find(name.name, name.value) for name in names] == names
    assert book.find("nonce", f"{A}#{arrivals[1].id}") is None
    book.close()
