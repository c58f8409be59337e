"""A state in dictionaries."""

from laneway.evm.state.changes import WriteSet
from laneway.evm.state.plain import PlainState
from laneway.evm.state.view import StateAccount

A, B = b"\x0a" * 20, b"\x0b" * 20


def test_an_account_that_was_put_is_read_whole() -> None:
    state = PlainState()
    state.put(A, nonce=2, balance_wei=3, code=b"\x60", storage={1: 5, 2: 0})
    account = state.account(A)
    assert account is not None
    assert (account.nonce, account.balance_wei) == (2, 3)
    assert (state.code(A), state.storage(A, 1), state.storage(A, 2)) == (b"\x60", 5, 0)
    assert state.has_storage(A)


def test_what_is_not_there_is_empty() -> None:
    state = PlainState()
    assert (state.account(A), state.code(A), state.storage(A, 1)) == (None, b"", 0)
    assert not state.has_storage(A)


def test_an_account_that_is_put_again_keeps_nothing_of_before() -> None:
    state = PlainState()
    state.put(A, storage={1: 5})
    state.put(A, storage={2: 6})
    assert (state.storage(A, 1), state.storage(A, 2)) == (0, 6)
    state.put(A)
    assert not state.has_storage(A)


def test_changes_are_applied_and_deleted_accounts_lose_their_storage() -> None:
    state = PlainState()
    state.put(A, balance_wei=1, storage={1: 5})
    state.put(B, balance_wei=1, storage={1: 5})
    copy = state.copy()
    code_hash = b"\x07" * 32
    changed = StateAccount(1, 9, code_hash)
    state.apply(WriteSet({A: changed, B: None}, {A: {1: 0, 2: 7}}, {code_hash: b"\x00"}))
    assert (state.account(A), state.account(B)) == (changed, None)
    assert (state.storage(A, 1), state.storage(A, 2), state.code(A)) == (0, 7, b"\x00")
    assert not state.has_storage(B)
    assert (copy.storage(A, 1), copy.storage(B, 1)) == (5, 5), "a copy is a state of its own"
    state.apply(WriteSet({A: None}, {}, {}))
    state.apply(WriteSet({A: None}, {}, {}))
    assert not state.has_storage(A)
