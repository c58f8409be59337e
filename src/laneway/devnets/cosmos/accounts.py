"""Accounts that every devnet has, and whose keys everybody knows: those of a well-known phrase."""

from typing import Final

from msgspec import Struct

from laneway.cosmos.keys import HeldCosmosKey, address, derived, raw_address, seed_of
from laneway.devnets.cosmos.limits import ACCOUNTS_DEV

PHRASE: Final = "test test test test test test test test test test test junk"


class CosmosDevAccount(Struct, frozen=True):
    secret: bytes
    public_key: bytes

    @property
    def raw(self) -> bytes:
        return raw_address(self.public_key)

    def address(self, prefix: str) -> str:
        return address(prefix, self.public_key)


def dev_account(number: int) -> CosmosDevAccount:
    secret = derived(seed_of(PHRASE), f"m/44'/118'/0'/0/{number}")
    return CosmosDevAccount(secret, HeldCosmosKey(secret).public_key)


DEV_ACCOUNTS: Final = tuple(dev_account(number) for number in range(ACCOUNTS_DEV))
