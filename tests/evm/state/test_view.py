"""Accounts as the EVM sees them."""

import pytest

from laneway.evm.state.view import ABSENT_ACCOUNT, EMPTY_CODE_HASH, StateAccount


@pytest.mark.parametrize(
    "account",
    [StateAccount(nonce=1), StateAccount(balance_wei=1), StateAccount(code_hash=b"\x01" * 32)],
)
def test_an_account_is_empty_only_without_nonce_balance_and_code(account: StateAccount) -> None:
    assert not account.is_empty()
    assert ABSENT_ACCOUNT.is_empty()


def test_the_hash_of_no_code_is_the_one_that_every_client_has() -> None:
    assert EMPTY_CODE_HASH.hex().startswith("c5d2460186f7233c927e7db2dcc703c0")
