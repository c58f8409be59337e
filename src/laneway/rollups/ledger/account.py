"""Accounts: a balance and a nonce, as they stand in the ledger's state trie. Those that the ledger
of every JAM devnet begins with have keys that everybody knows.
"""

from typing import Final

import msgspec

from laneway.jam.codec import U32, Codec, Uint64, record
from laneway.jam.ed25519 import HeldEd25519Key
from laneway.jam.hashing import blake2b
from laneway.jam.state_keys import KEY_BYTES
from laneway.rollups.kind import KnownAccount
from laneway.rollups.ledger.limits import ACCOUNTS_DEV
from laneway.rollups.ledger.transfer import account_id

AMOUNT_MAX: Final = (1 << 64) - 1
"""The largest balance, and the largest nonce."""


class LedgerEntry(msgspec.Struct, frozen=True):
    balance: Uint64 = 0
    nonce: Uint64 = 0
    """The nonce of its next transfer."""


NOBODY: Final = LedgerEntry()
"""An account that never had anything is not in the state."""

ACCOUNT: Final[Codec[LedgerEntry]] = record(LedgerEntry)


def account_key(account: bytes) -> bytes:
    """Where the account stands in the trie; hashed, since a sender chooses recipients freely."""
    return blake2b(account)[:KEY_BYTES]


def account_of(raw: bytes | None) -> LedgerEntry:
    return NOBODY if raw is None else ACCOUNT.decode(raw, "account")


SEED_TAG: Final = b"laneway-ledger-dev-account/1"


class LedgerAccount(KnownAccount, frozen=True):
    """Its secret is the seed of its Ed25519 key."""

    @property
    def key(self) -> HeldEd25519Key:
        return HeldEd25519Key(self.secret)


def dev_account(number: int) -> LedgerAccount:
    secret = blake2b(SEED_TAG + U32.encode(number))
    return LedgerAccount(account_id(HeldEd25519Key(secret).public_key), secret)


DEV_ACCOUNTS: Final = tuple(dev_account(number) for number in range(ACCOUNTS_DEV))
