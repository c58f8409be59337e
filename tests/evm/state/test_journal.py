"""What transactions change, take back, and leave."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.evm.keccak import keccak
from laneway.evm.state.changes import WriteSet
from laneway.evm.state.journal import StateJournal
from laneway.evm.state.plain import PlainState
from laneway.evm.state.view import ABSENT_ACCOUNT, StateAccount

A, B, C = b"\x0a" * 20, b"\x0b" * 20, b"\x0c" * 20


@pytest.fixture
def state() -> PlainState:
    found = PlainState()
    found.put(A, nonce=1, balance_wei=100, code=b"\x60\x01", storage={1: 11})
    found.put(B, balance_wei=5)
    return found


def test_nothing_is_read_before_it_is_asked_for(state: PlainState) -> None:
    journal = StateJournal(state)
    assert journal.read_set().accounts == {}
    assert journal.account(A).balance_wei == 100
    assert journal.account(C) == ABSENT_ACCOUNT
    assert journal.code(A) == journal.code(A) == b"\x60\x01"
    assert journal.storage(A).load(1) == journal.storage(A).load(1) == 11
    read = journal.read_set()
    assert read.accounts == {A: state.account(A), C: None}
    assert (read.storage, read.codes, read.with_storage) == ({A: {1: 11}}, {A: b"\x60\x01"}, {})


def test_the_first_answer_of_the_state_below_is_what_was_read(state: PlainState) -> None:
    journal = StateJournal(state)
    storage = journal.storage(A)
    journal.store(storage, 1, 12)
    journal.pay(A, 1)
    journal.settle()
    assert journal.storage(A).load(1) == 12
    assert journal.read_set().storage == {A: {1: 11}}
    assert journal.read_set().accounts == {A: state.account(A)}


def test_what_is_set_back_is_no_change(state: PlainState) -> None:
    journal = StateJournal(state)
    journal.pay(A, 7)
    journal.pay(A, -7)
    storage = journal.storage(A)
    journal.store(storage, 1, 12)
    journal.store(storage, 1, 11)
    assert journal.write_set() == WriteSet({}, {}, {})


def test_a_transaction_begins_with_the_gas_and_nonce_of_its_sender(state: PlainState) -> None:
    journal = StateJournal(state)
    before = journal.account(A)
    journal.begin(A, 30)
    after = journal.account(A)
    assert (after.nonce, after.balance_wei) == (before.nonce + 1, before.balance_wei - 30)
    journal.abandon()
    assert journal.account(A) == before


def test_an_account_that_becomes_empty_is_deleted(state: PlainState) -> None:
    journal = StateJournal(state)
    journal.pay(B, -5)
    assert journal.write_set().accounts == {B: None}
    assert journal.account(B) == ABSENT_ACCOUNT
    journal.put(C, None)
    assert journal.find(C) is None


def test_an_empty_account_of_an_old_state_is_deleted_when_it_is_touched(state: PlainState) -> None:
    state.put(C)
    journal = StateJournal(state)
    for address in (A, b"\x0d" * 20):
        journal.touch(address)
    assert journal.write_set().accounts == {}
    journal.touch(C)
    assert journal.write_set().accounts == {C: None}


def test_code_that_was_put_is_in_the_write_set_by_its_hash(state: PlainState) -> None:
    journal = StateJournal(state)
    journal.put_code(B, b"\x00")
    assert journal.code(B) == b"\x00"
    assert journal.write_set().codes == {keccak(b"\x00"): b"\x00"}
    journal.put_code(C, b"\x60\x01")
    assert keccak(b"\x60\x01") in journal.write_set().codes, "even if another account has it"


def test_a_place_is_taken_by_nonce_code_or_storage(state: PlainState) -> None:
    state.put(C, storage={1: 1})
    state.accounts[b"\x0d" * 20] = StateAccount(code_hash=b"\x01" * 32)
    journal = StateJournal(state)
    assert journal.is_taken(A)
    assert journal.is_taken(b"\x0d" * 20)
    assert journal.is_taken(C)
    assert not journal.is_taken(B)
    journal.store(journal.storage(B), 1, 1)
    assert journal.is_taken(B)
    journal.store(journal.storage(B), 1, 0)
    assert not journal.is_taken(B)
    assert journal.read_set().with_storage == {C: True, B: False}


def test_a_mark_takes_back_all_that_came_after_it(state: PlainState) -> None:
    journal = StateJournal(state)
    storage = journal.storage(A)
    journal.warm_account(A)
    journal.store(storage, 1, 12)
    mark = len(journal.undo)
    journal.pay(A, 1)
    journal.count(A)
    journal.put_code(B, b"\x01")
    journal.store(storage, 1, 13)
    journal.store(storage, 2, 14)
    journal.store_transient(A, 1, 5)
    assert journal.warm_account(B)
    assert journal.warm_key(storage, 1)
    assert not journal.warm_key(storage, 1)
    journal.mark_created(C)
    journal.mark_destroyed(C)
    journal.revert(mark)
    assert journal.account(A) == state.account(A)
    assert journal.code(B) == b""
    assert (storage.load(1), storage.load(2)) == (12, 0)
    assert journal.transient[A, 1] == 0
    assert not journal.warm_account(A)
    assert journal.warm_account(B)
    assert journal.warm_key(storage, 1)
    assert (journal.created, journal.destroyed) == ({}, {})


def test_what_holds_for_a_transaction_ends_with_it(state: PlainState) -> None:
    journal = StateJournal(state)
    storage = journal.storage(A)
    journal.warm_account(A)
    journal.warm_key(storage, 1)
    journal.store(storage, 1, 12)
    journal.store_transient(A, 1, 5)
    journal.refund = 3
    journal.logs.append("a log")
    logs = journal.logs
    journal.settle()
    assert (journal.refund, journal.logs, journal.transient, logs) == (0, [], {}, ["a log"])
    assert journal.warm_account(A)
    assert journal.warm_key(journal.storage(A), 1)
    assert storage.original == {}
    assert storage.load(1) == 12


def test_the_original_value_is_that_of_the_transactions_begin(state: PlainState) -> None:
    journal = StateJournal(state)
    storage = journal.storage(A)
    journal.store(storage, 1, 12)
    journal.store(storage, 1, 13)
    assert storage.original == {1: 11}


def test_a_transaction_that_is_abandoned_leaves_no_trace(state: PlainState) -> None:
    journal = StateJournal(state)
    journal.pay(A, 1)
    journal.settle()
    journal.pay(A, 1)
    journal.store(journal.storage(A), 1, 99)
    journal.abandon()
    assert journal.account(A).balance_wei == 101
    assert journal.storage(A).load(1) == 11


def test_a_contract_that_was_made_and_destroyed_is_gone_with_its_storage(state: PlainState) -> None:
    journal = StateJournal(state)
    for address in (B, C):
        journal.put(address, StateAccount(1, 7))
        journal.mark_created(address)
        journal.mark_destroyed(address)
    journal.store(journal.storage(C), 1, 5)
    journal.settle()
    assert journal.account(C) == ABSENT_ACCOUNT
    assert journal.storage(C).load(1) == 0
    assert journal.write_set() == WriteSet({B: None}, {}, {})


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), max_size=30))
def test_reverting_to_any_mark_gives_the_state_of_that_mark(
    steps: list[tuple[int, int, int]],
) -> None:
    journal = StateJournal(PlainState())
    marks = []
    for kind, place, value in steps:
        marks.append((len(journal.undo), snapshot(journal)))
        address = bytes([place]) * 20
        if kind == 0:
            journal.pay(address, value)
        elif kind == 1:
            journal.store(journal.storage(address), place, value)
        elif kind == 2:
            journal.warm_account(address)
        else:
            journal.store_transient(address, place, value)
    for mark, was in reversed(marks):
        journal.revert(mark)
        assert snapshot(journal) == was


def snapshot(journal: StateJournal) -> object:
    """All that a transaction can see; what was never set is as what is zero."""
    places = [bytes([place]) * 20 for place in range(4)]
    return (
        [journal.account(address) for address in places],
        [journal.storage(address).load(place) for place, address in enumerate(places)],
        sorted(journal.warm),
        sorted([place for place, value in journal.transient.items() if value]),
    )
