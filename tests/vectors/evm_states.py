"""States of accounts as conformance data lists them: genesis files, state tests, dumps."""

from typing import Any

from msgspec import Struct
from tests.vectors.folder import unhex

from laneway.evm.keccak import keccak
from laneway.evm.trie.accounts import AccountTrie


class ListedAccount(Struct, frozen=True):
    nonce: int
    balance_wei: int
    code_hash: bytes


class ListedState(Struct, frozen=True):
    accounts: dict[bytes, ListedAccount]
    codes: dict[bytes, bytes]
    """By hash."""
    storages: dict[bytes, dict[int, int]]
    """No slot holds 0."""

    def trie(self) -> AccountTrie:
        return AccountTrie().updated(self.accounts, self.storages)


def listed_state(listed: dict[str, dict[str, Any]]) -> ListedState:
    accounts = {}
    codes = {}
    storages = {}
    for text, fields in listed.items():
        address = unhex(text).rjust(20, b"\x00")
        code = unhex(fields.get("code", "0x"))
        codes[keccak(code)] = code
        accounts[address] = ListedAccount(
            number(fields.get("nonce", "0x0")), number(fields["balance"]), keccak(code)
        )
        slots = {number(key): number(value) for key, value in fields.get("storage", {}).items()}
        storages[address] = {key: value for key, value in slots.items() if value}
    return ListedState(accounts, codes, storages)


def number(text: str) -> int:
    """A quantity; vectors write some in decimal digits, and pad some with zeros."""
    return int(text or "0x0", 16 if text.startswith("0x") else 10)
