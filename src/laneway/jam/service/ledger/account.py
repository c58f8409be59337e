"""Accounts: a balance and a nonce, as they stand in the ledger's state trie."""

from typing import Final

import msgspec

from laneway.jam.codec import U64, Codec, Record
from laneway.jam.hashing import blake2b
from laneway.jam.state_keys import KEY_BYTES

AMOUNT_MAX: Final = (1 << 64) - 1
"""What a balance has room for, and a nonce."""


class Account(msgspec.Struct, frozen=True):
    balance: int = 0
    nonce: int = 0
    """Of its next transfer."""


NOBODY: Final = Account()
"""An account that never had anything is not in the state."""

ACCOUNT: Final[Codec[Account]] = Record(Account, balance=U64, nonce=U64)


def account_key(account: bytes) -> bytes:
    """Where the account stands in the trie; hashed, since a sender chooses recipients freely."""
    return blake2b(account)[:KEY_BYTES]


def account_of(raw: bytes | None) -> Account:
    return NOBODY if raw is None else ACCOUNT.decode(raw, "account")
