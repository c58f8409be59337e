"""The accounts a devnet starts with: those of anvil and hardhat, whose keys everybody knows.

Never send anything of value to them.
"""

from functools import cache
from typing import Final

from msgspec import Struct

from laneway.evm.secp256k1 import address


class EvmDevAccount(Struct, frozen=True):
    address: bytes
    secret: bytes


MNEMONIC: Final = "test test test test test test test test test test test junk"
PATH: Final = "m/44'/60'/0'/0/"
"""Before the number of each: BIP-44, as wallets derive them."""

SECRETS: Final = (
    "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
    "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
    "5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
    "7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6",
    "47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a",
    "8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba",
    "92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e",
    "4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356",
    "dbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97",
    "2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6",
)

DEV_ACCOUNTS: Final = tuple(
    EvmDevAccount(address(secret), secret) for secret in map(bytes.fromhex, SECRETS)
)


def dev_accounts(count: int) -> tuple[EvmDevAccount, ...]:
    """The first accounts of the mnemonic; more than ten are derived from it."""
    more = range(len(DEV_ACCOUNTS), count)
    return (*DEV_ACCOUNTS[:count], *[derived_account(index) for index in more])


def derived_account(index: int) -> EvmDevAccount:
    # Imported late: only who asks for more than ten accounts needs it.
    from laneway.cosmos.keys import derived

    secret = derived(dev_seed(), f"{PATH}{index}")
    return EvmDevAccount(address(secret), secret)


@cache
def dev_seed() -> bytes:
    from laneway.cosmos.keys import seed_of

    return seed_of(MNEMONIC)
