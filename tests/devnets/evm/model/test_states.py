"""States that never change."""

from laneway.devnets.evm.model.states import (
    PREDEPLOYED,
    EvmAccountState,
    first_executed_state,
    first_value_state,
)
from laneway.evm.execution.system_calls import HISTORY
from laneway.evm.state.changes import WriteSet
from laneway.evm.state.view import StateAccount

A, B = b"\x0a" * 20, b"\x0b" * 20


def test_an_account_that_nobody_paid_has_nothing() -> None:
    for state in (first_value_state({A: 7}), first_executed_state({A: 7})):
        assert state.standing(A) == EvmAccountState(7)
        assert state.standing(B) == EvmAccountState()


def test_a_state_with_another_account_is_another_state() -> None:
    for state in (first_value_state({A: 7}), first_executed_state({A: 7})):
        after = state.with_standing(B, EvmAccountState(3, 2))
        assert (after.standing(A), after.standing(B)) == (EvmAccountState(7), EvmAccountState(3, 2))
        assert state.standing(B) == EvmAccountState()


def test_code_and_storage_stay_when_a_balance_is_set() -> None:
    state = first_executed_state({A: 7}).with_code(A, b"\x00").with_storage(A, 1, 5)
    state = state.with_standing(A, EvmAccountState(9, 1))
    assert (state.code(A), state.storage(A, 1), state.has_storage(A)) == (b"\x00", 5, True)
    assert state.standing(A) == EvmAccountState(9, 1)
    assert state.with_storage(A, 1, 0).has_storage(A) is False


def test_what_is_not_there_is_empty() -> None:
    state = first_executed_state({A: 7})
    assert (state.account(B), state.code(B), state.code(A)) == (None, b"", b"")
    assert (state.storage(B, 1), state.has_storage(B)) == (0, False)
    made = state.with_code(B, b"\x01").with_storage(B, 1, 2)
    assert (made.code(B), made.storage(B, 1)) == (b"\x01", 2)


def test_changes_make_another_state() -> None:
    state = first_executed_state({A: 7})
    digest = b"\x05" * 32
    after = state.after(WriteSet({A: None, B: StateAccount(1, 2, digest)}, {}, {digest: b"\x02"}))
    assert (after.account(A), after.code(B)) == (None, b"\x02")
    assert after.after(WriteSet({B: StateAccount(2, 2, digest)}, {}, {})).codes is after.codes
    assert state.account(A) is not None


def test_what_anvil_begins_with_is_there() -> None:
    state = first_executed_state({HISTORY: 3})
    for address, code in PREDEPLOYED.items():
        assert state.code(address) == code
    assert state.standing(HISTORY) == EvmAccountState(3)
