"""Laws of accounts as they stand in the state."""

import pytest
from tests.rollups.ledger.stage import IDS

from laneway.jam.errors import MalformedEncoding
from laneway.jam.hashing import blake2b
from laneway.rollups.ledger.account import (
    ACCOUNT,
    DEV_ACCOUNTS,
    NOBODY,
    LedgerEntry,
    account_key,
    account_of,
    dev_account,
)
from laneway.rollups.ledger.limits import ACCOUNTS_DEV
from laneway.rollups.ledger.transfer import account_id


def test_an_account_to_the_byte() -> None:
    account = LedgerEntry(balance=258, nonce=3)
    raw = b"\2\1\0\0\0\0\0\0" + b"\3\0\0\0\0\0\0\0"
    assert ACCOUNT.encode(account) == raw
    assert account_of(raw) == account


def test_who_is_not_in_the_state_has_nothing() -> None:
    assert account_of(None) == NOBODY == LedgerEntry(0, 0)


def test_an_account_stands_under_31_bytes_of_its_hash() -> None:
    assert account_key(IDS[0]) == blake2b(IDS[0])[:31]


def test_other_bytes_are_no_account() -> None:
    with pytest.raises(MalformedEncoding):
        account_of(bytes(15))


def test_there_are_ten_each_another_and_always_the_same() -> None:
    assert len({account.id for account in DEV_ACCOUNTS}) == len(DEV_ACCOUNTS) == ACCOUNTS_DEV
    assert tuple(dev_account(number) for number in range(ACCOUNTS_DEV)) == DEV_ACCOUNTS


def test_an_account_is_that_of_its_key() -> None:
    for account in DEV_ACCOUNTS:
        assert account_id(account.key.public_key) == account.id
