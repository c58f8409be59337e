"""Accounts that the ledger of every JAM devnet begins with, and whose keys everybody knows."""

from typing import Final

from msgspec import Struct

from laneway.devnets.jam.limits import ACCOUNTS_DEV
from laneway.jam.codec import U32
from laneway.jam.ed25519 import HeldKey
from laneway.jam.hashing import blake2b
from laneway.jam.service.ledger.transfer import account_id

SEED_TAG: Final = b"laneway-ledger-dev-account/1"


class DevAccount(Struct, frozen=True):
    secret: bytes
    """The seed of its Ed25519 key."""
    public_key: bytes

    @property
    def id(self) -> bytes:
        return account_id(self.public_key)

    @property
    def key(self) -> HeldKey:
        return HeldKey(self.secret)


def dev_account(number: int) -> DevAccount:
    secret = blake2b(SEED_TAG + U32.encode(number))
    return DevAccount(secret, HeldKey(secret).public_key)


DEV_ACCOUNTS: Final = tuple(dev_account(number) for number in range(ACCOUNTS_DEV))
