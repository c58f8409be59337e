"""What final blocks executed outlives the blocks, and says how far down it reaches."""

import pytest
from tests.builder.test_shelf import base, final, sealed

from laneway.builder import past
from laneway.builder.past import PastBlock, PastTransaction, newest
from laneway.builder.shelf import FinalBlock, Shelf
from laneway.rollups.rules import TransactionOutcome


def block(number: int, *hashes: bytes) -> FinalBlock:
    outcomes = tuple(TransactionOutcome(one, "ok") for one in hashes)
    return FinalBlock(sealed=sealed(number), payload=b"p", outcomes=outcomes, package_hash=b"q")


def remembered(number: int, *hashes: bytes) -> PastBlock:
    transactions = tuple(PastTransaction(one, place, "ok") for place, one in enumerate(hashes))
    return PastBlock(number, b"block %d" % number, b"q", transactions)


def begun(number: int = 0, *, hashes_kept: int = 1_000, blocks_kept: int = 1) -> Shelf:
    shelf = Shelf(None, blocks_kept, hashes_kept)
    shelf.begin(base(number, b"base", b"tx of the base"), ())
    return shelf


def place_of(shelf: Shelf, hashed: bytes) -> tuple[int, int] | None:
    found = shelf.receipt(hashed)
    return None if found is None else (found.block.number, found.place)


def test_from_the_genesis_on_all_is_known() -> None:
    shelf = begun()
    assert (shelf.past_lowest(), shelf.past_count()) == (1, 0)
    shelf.finalise([block(1, b"a", b"b"), block(2, b"c")])
    shelf.finalise([block(3, b"d")])
    assert (shelf.past_lowest(), shelf.past_count()) == (1, 4)
    assert place_of(shelf, b"b") == (1, 1)
    assert shelf.by_number(1) is None


def test_what_blocks_below_a_state_executed_is_unknown_until_it_is_remembered() -> None:
    shelf = begun(7)
    shelf.finalise([block(8, b"i")])
    assert shelf.past_lowest() == 7
    assert place_of(shelf, b"tx of the base") == (7, 0)
    shelf.remember([block(6, b"h"), block(5, b"g")])
    assert shelf.past_lowest() == 5
    shelf.remember([block(2, b"d")])
    assert shelf.past_lowest() == 5, "without a gap"
    shelf.remember([block(4, b"f"), block(3, b"e")])
    assert shelf.past_lowest() == 2
    shelf.remember([block(1)])
    assert shelf.past_lowest() == 1
    assert [place_of(shelf, hashed) for hashed in (b"g", b"d")] == [(5, 0), (2, 0)]


def test_of_two_blocks_with_the_same_bytes_the_newest_is_the_answer() -> None:
    shelf = begun(7)
    shelf.finalise([block(8, b"x", b"x")])
    shelf.remember([block(6, b"other", b"x")])
    assert place_of(shelf, b"x") == (8, 0)
    shelf.finalise([block(9, b"y", b"x")])
    assert place_of(shelf, b"x") == (9, 1)


def test_the_oldest_are_forgotten_when_there_are_too_many_and_that_is_known() -> None:
    shelf = begun(hashes_kept=4)
    for number in range(1, 5):
        shelf.finalise([block(number, b"a%d" % number, b"b%d" % number)])
    assert (shelf.past_lowest(), shelf.past_count()) == (3, 4)
    assert [place_of(shelf, b"b%d" % number) for number in (2, 3)] == [None, (3, 1)]
    shelf.finalise([block(5, b"one")])
    assert (shelf.past_lowest(), shelf.past_count()) == (4, 3)
    shelf.finalise([block(6, b"two"), block(7, b"three")])
    assert (shelf.past_lowest(), shelf.past_count()) == (5, 3)


def test_what_is_below_a_gap_is_forgotten_first() -> None:
    shelf = begun(7, hashes_kept=3)
    shelf.remember([block(2, b"d")])
    shelf.finalise([block(8, b"x", b"y")])
    assert (shelf.past_lowest(), shelf.past_count()) == (7, 3)
    assert place_of(shelf, b"d") is None


def test_receipts_of_blocks_that_are_kept_are_never_forgotten() -> None:
    shelf = begun(hashes_kept=1, blocks_kept=2)
    shelf.finalise([block(number, b"%d" % number) for number in (1, 2, 3)])
    assert (shelf.past_lowest(), shelf.past_count()) == (2, 2)
    assert [place_of(shelf, b"%d" % number) for number in (1, 2)] == [None, (2, 0)]


def test_a_change_that_fails_is_not_counted() -> None:
    shelf = begun()
    shelf.finalise([block(1, b"a")])
    assert shelf.past_count() == 1
    with pytest.raises(Exception, match="NOT NULL"):
        shelf.finalise([block(2, b"b"), final(3, b=None)])  # type: ignore[arg-type]
    assert (shelf.past_lowest(), shelf.past_count(), place_of(shelf, b"b")) == (1, 1, None)


def test_the_past_is_read_downwards_up_to_the_first_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "PAST_PAGE_BLOCKS", 2)
    shelf = begun(7)
    shelf.remember([block(6, b"h", b"i"), block(5), block(3, b"d")])
    assert list(shelf.past(6)) == [remembered(6, b"h", b"i"), remembered(5)]
    assert [one.number for one in shelf.past(7)] == [7, 6, 5]
    assert list(shelf.past(4)) == []
    shelf.remember([block(4, b"e")])
    assert [one.number for one in newest(shelf.past(6), 3)] == [6, 5, 4]
    assert [one.number for one in newest(shelf.past(6), 2)] == [6, 5]


def test_a_package_that_was_not_known_is_filled_in() -> None:
    shelf = begun()
    unknown = FinalBlock(sealed=sealed(1), payload=b"", outcomes=block(1, b"a").outcomes)
    shelf.finalise([unknown])
    shelf.add_package(b"block 1", b"one")
    shelf.add_package(b"block 1", b"two")
    found = shelf.receipt(b"a")
    assert found is not None
    assert found.block.package_hash == b"one"


def test_a_state_of_the_same_line_takes_nothing_from_what_is_known() -> None:
    shelf = begun(blocks_kept=3)
    shelf.finalise([block(number, b"tx %d" % number) for number in (1, 2, 3)])
    shelf.put(sealed(4, " open"), b"open", block(4, b"open").outcomes)
    known = (remembered(5, b"tx 5"), remembered(4, b"tx 4"))
    shelf.begin(base(5, b"state", b"tx 5"), (), known, keeps_final=True)
    assert shelf.past_lowest() == 1
    assert [place_of(shelf, b"tx %d" % number) for number in (1, 4, 5)] == [(1, 0), (4, 0), (5, 0)]
    assert shelf.open_blocks() == []
    assert place_of(shelf, b"open") is None
    assert [shelf.by_number(number) is None for number in range(1, 6)] == [
        True,
        True,
        False,
        True,
        False,
    ]
