"""Laws of accounts as they stand in the state."""

import pytest
from tests.jam.service.ledger.stage import IDS

from laneway.jam.errors import MalformedEncoding
from laneway.jam.hashing import blake2b
from laneway.jam.service.ledger.account import (
    ACCOUNT,
    NOBODY,
    Account,
    account_key,
    account_of,
)


def test_an_account_to_the_byte() -> None:
    account = Account(balance=258, nonce=3)
    raw = b"\2\1\0\0\0\0\0\0" + b"\3\0\0\0\0\0\0\0"
    assert ACCOUNT.encode(account) == raw
    assert account_of(raw) == account


def test_who_is_not_in_the_state_has_nothing() -> None:
    assert account_of(None) == NOBODY == Account(0, 0)


def test_an_account_stands_under_31_bytes_of_its_hash() -> None:
    assert account_key(IDS[0]) == blake2b(IDS[0])[:31]


def test_other_bytes_are_no_account() -> None:
    with pytest.raises(MalformedEncoding):
        account_of(bytes(15))
