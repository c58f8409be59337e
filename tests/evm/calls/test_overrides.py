"""States and blocks that are others but for what is named."""

import pytest
from tests.evm.scene import BLOCK, CONTRACT, OTHER, SENDER, Scene, returns

from laneway.evm.calls.call import call
from laneway.evm.calls.errors import AccountOverriddenTwice
from laneway.evm.calls.overrides import AccountOverride, BlockOverride, OverriddenView
from laneway.evm.calls.request import CallRequest
from laneway.evm.keccak import keccak
from laneway.evm.state.plain import PlainState
from laneway.evm.state.view import StateAccount


def state() -> PlainState:
    made = PlainState()
    made.put(CONTRACT, nonce=1, balance_wei=2, code=b"\x01", storage={1: 10, 2: 20})
    return made


def view(**fields: object) -> OverriddenView:
    return OverriddenView(state(), {CONTRACT: AccountOverride(**fields)})  # type: ignore[arg-type]


def test_what_is_not_named_stays() -> None:
    same = view()
    assert same.account(CONTRACT) == state().account(CONTRACT)
    assert same.account(OTHER) is None
    assert (same.storage(CONTRACT, 1), same.storage(OTHER, 1)) == (10, 0)
    assert (same.code(CONTRACT), same.code(OTHER)) == (b"\x01", b"")
    assert (same.has_storage(CONTRACT), same.has_storage(OTHER)) == (True, False)


def test_fields_of_an_account_are_replaced_one_by_one() -> None:
    assert view(nonce=0).account(CONTRACT) == StateAccount(0, 2, keccak(b"\x01"))
    assert view(balance_wei=0).account(CONTRACT) == StateAccount(1, 0, keccak(b"\x01"))
    other = view(code=b"\x02")
    assert other.account(CONTRACT) == StateAccount(1, 2, keccak(b"\x02"))
    assert other.code(CONTRACT) == b"\x02"


def test_an_account_appears_if_it_is_given_something() -> None:
    base = PlainState()
    assert OverriddenView(base, {OTHER: AccountOverride(balance_wei=5)}).account(OTHER)
    assert OverriddenView(base, {OTHER: AccountOverride(state={1: 1})}).account(OTHER) is None


def test_storage_is_replaced_as_a_whole_or_by_keys() -> None:
    whole = view(state={2: 7})
    assert [whole.storage(CONTRACT, key) for key in (1, 2)] == [0, 7]
    assert whole.has_storage(CONTRACT)
    assert not view(state={}).has_storage(CONTRACT)
    some = view(state_diff={2: 7})
    assert [some.storage(CONTRACT, key) for key in (1, 2)] == [10, 7]
    assert some.has_storage(CONTRACT)
    assert OverriddenView(PlainState(), {OTHER: AccountOverride(state_diff={1: 1})}).has_storage(
        OTHER
    )


def test_storage_cannot_be_replaced_both_ways() -> None:
    with pytest.raises(AccountOverriddenTwice, match=CONTRACT.hex()):
        view(state={}, state_diff={})


def test_a_block_is_another_one_but_for_what_is_named() -> None:
    assert BlockOverride().applied(BLOCK) == BLOCK
    changed = BlockOverride(number=0, base_fee_wei=9, coinbase=OTHER).applied(BLOCK)
    assert (changed.number, changed.base_fee_wei, changed.coinbase) == (0, 9, OTHER)
    assert changed.timestamp_s == BLOCK.timestamp_s


def test_a_call_sees_what_is_overridden() -> None:
    scene = Scene()
    made = OverriddenView(
        scene.state,
        {
            CONTRACT: AccountOverride(code=returns("1 SLOAD NUMBER ADD"), state={1: 40}),
            OTHER: AccountOverride(balance_wei=5),
        },
    )
    block = BlockOverride(number=2).applied(scene.block)
    request = CallRequest(sender=OTHER, to=CONTRACT, value_wei=5)
    assert int.from_bytes(call(made, block, scene.rules, request).output, "big") == 42
    assert scene.state.account(SENDER) is not None
