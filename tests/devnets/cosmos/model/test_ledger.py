"""Laws of states that stand on one another: nothing is written below until it is settled."""

import pytest

from laneway.devnets.cosmos.model.ledger import BankAccount, Grant, Ledger

A, B, C = b"\x0a" * 20, b"\x0b" * 20, b"\x0c" * 20


def test_an_account_is_opened_by_its_first_change_with_the_next_number() -> None:
    ledger = Ledger()
    assert ledger.account(A) is None
    assert ledger.change(A, balance=5) == BankAccount(0, 0, 5)
    assert ledger.change(B) == BankAccount(1, 0, 0, b"")
    assert ledger.change(A, sequence=1, public_key=b"key") == BankAccount(0, 1, 5, b"key")
    assert ledger.account(A) == BankAccount(0, 1, 5, b"key")


def test_a_state_above_sees_what_is_below_and_hides_what_it_writes() -> None:
    below = Ledger()
    below.change(A, balance=5)
    above = below.above()
    assert above.account(A) == BankAccount(0, 0, 5)
    assert above.account(B) is None
    above.change(A, balance=4)
    assert above.account(A) == BankAccount(0, 0, 4)
    assert below.account(A) == BankAccount(0, 0, 5)


def test_what_is_settled_stands_below() -> None:
    below = Ledger()
    below.change(A, balance=5)
    above = below.above()
    above.change(A, balance=4)
    above.change(B, balance=1)
    above.allow(A, B, Grant(3))
    above.settle()
    assert below.account(A) == BankAccount(0, 0, 4)
    assert below.account(B) == BankAccount(1, 0, 1)
    assert below.grant(A, B) == Grant(3)
    assert below.change(C) == BankAccount(2), "the count is settled too"


def test_numbers_of_a_state_that_is_thrown_away_are_given_again() -> None:
    below = Ledger()
    below.change(A)
    assert below.above().change(B).number == 1
    assert below.change(C).number == 1


def test_a_state_of_three_floors_settles_one_floor_at_a_time() -> None:
    ground = Ledger()
    middle = ground.above()
    top = middle.above()
    top.change(A, balance=1)
    top.settle()
    assert middle.account(A) == BankAccount(0, 0, 1)
    assert ground.account(A) is None


def test_a_grant_is_for_one_pair_and_in_one_direction() -> None:
    below = Ledger()
    below.allow(A, B, Grant())
    above = below.above()
    assert above.grant(A, B) == Grant(None)
    assert above.grant(B, A) is None
    above.allow(A, B, Grant(7))
    assert (above.grant(A, B), below.grant(A, B)) == (Grant(7), Grant(None))


def test_accounts_are_told_in_the_order_of_their_opening() -> None:
    below = Ledger()
    below.change(B)
    above = below.above()
    above.change(A)
    above.change(B, balance=9)
    above.settle()
    assert list(below.accounts()) == [(B, BankAccount(0, 0, 9)), (A, BankAccount(1))]


def test_only_the_lowest_state_tells_all_and_has_nothing_to_settle_into() -> None:
    ground = Ledger()
    with pytest.raises(AssertionError):
        ground.settle()
    with pytest.raises(AssertionError):
        ground.above().accounts()
