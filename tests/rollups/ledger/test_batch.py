"""Which transfers make a block: in their order, nonces without a gap, each once."""

from hypothesis import given, settings
from hypothesis import strategies as st

from laneway.rollups.ledger.account import AMOUNT_MAX
from laneway.rollups.ledger.batch import Arranged, arranged
from laneway.rollups.ledger.transfer import Transfer, account_id


def arrange(*given: tuple[str, int], **nonces: int) -> Arranged:
    """Senders are named by letters; a sender's next nonce is 0 unless it is given."""
    known = {account_id(name.encode() * 32): nonce for name, nonce in nonces.items()}
    transfers = [
        Transfer(sender=name.encode() * 32, recipient=bytes(32), amount=1, nonce=nonce)
        for name, nonce in given
    ]
    return arranged(transfers, lambda id_: known.get(id_, 0))


def test_what_comes_in_order_stays_in_order() -> None:
    found = arrange(("a", 0), ("b", 0), ("a", 1), ("b", 1))
    assert found == Arranged((0, 1, 2, 3), {}, {})


def test_a_transfer_that_comes_too_early_stands_right_behind_the_one_before_it() -> None:
    found = arrange(("a", 2), ("a", 1), ("b", 0), ("a", 0), ("b", 1))
    assert found == Arranged((2, 3, 1, 0, 4), {}, {})


def test_a_used_nonce_is_told_with_the_next() -> None:
    found = arrange(("a", 3), ("a", 4), a=4)
    assert found == Arranged((1,), {0: 4}, {})


def test_a_gap_is_told_with_the_nonce_that_is_missing() -> None:
    found = arrange(("a", 0), ("a", 2), ("b", 1))
    assert found == Arranged((0,), {}, {1: 1, 2: 0})


def test_of_two_transfers_with_one_nonce_the_first_has_it() -> None:
    assert arrange(("a", 0), ("a", 0)) == Arranged((0,), {1: 1}, {})
    early = arrange(("a", 1), ("a", 1), ("a", 0))
    assert early == Arranged((2, 0), {1: 2}, {})


def test_the_last_nonce_of_all_is_never_used() -> None:
    last = AMOUNT_MAX
    assert arrange(("a", last), a=last) == Arranged((), {0: last}, {})
    found = arrange(("a", last), ("a", last - 1), a=last - 1)
    assert found == Arranged((1,), {}, {0: last})


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 6)), max_size=24))
def test_each_transfer_has_one_place_and_nonces_have_no_gap(given: list[tuple[str, int]]) -> None:
    found = arrange(*given, a=2)
    places = [*found.inside, *found.used, *found.early]
    assert sorted(places) == list(range(len(given)))
    for sender, first in (("a", 2), ("b", 0), ("c", 0)):
        inside = [given[place][1] for place in found.inside if given[place][0] == sender]
        assert inside == list(range(first, first + len(inside)))
        following = first + len(inside)
        # Nothing is left out that could have been in it.
        assert all(given[place] != (sender, following) for place in (*found.used, *found.early))
        for place, told in (*found.used.items(), *found.early.items()):
            if given[place][0] == sender:
                assert (place in found.used) == (given[place][1] < following)
                assert first <= told <= following
