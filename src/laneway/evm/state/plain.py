"""A state in dictionaries: for tests, small chains and `eth_call` on made-up accounts."""

from collections.abc import Mapping

from laneway.evm.keccak import keccak
from laneway.evm.state.changes import WriteSet
from laneway.evm.state.view import EMPTY_CODE_HASH, StateAccount


class PlainState:
    def __init__(
        self,
        accounts: Mapping[bytes, StateAccount] | None = None,
        codes: Mapping[bytes, bytes] | None = None,
        storages: Mapping[bytes, Mapping[int, int]] | None = None,
    ) -> None:
        """`codes` are by their hash."""
        self.accounts = dict(accounts or {})
        self.codes = {EMPTY_CODE_HASH: b"", **(codes or {})}
        self.storages = {address: dict(keys) for address, keys in (storages or {}).items()}

    def put(
        self,
        address: bytes,
        *,
        nonce: int = 0,
        balance_wei: int = 0,
        code: bytes = b"",
        storage: Mapping[int, int] | None = None,
    ) -> None:
        """Set all of an account."""
        code_hash = keccak(code)
        self.codes[code_hash] = code
        self.accounts[address] = StateAccount(nonce, balance_wei, code_hash)
        self._store(address, dict.fromkeys(self.storages.get(address, ()), 0) | dict(storage or {}))

    def account(self, address: bytes) -> StateAccount | None:
        return self.accounts.get(address)

    def storage(self, address: bytes, key: int) -> int:
        keys = self.storages.get(address)
        return keys.get(key, 0) if keys else 0

    def code(self, address: bytes) -> bytes:
        account = self.accounts.get(address)
        return self.codes[account.code_hash] if account else b""

    def has_storage(self, address: bytes) -> bool:
        return address in self.storages

    def apply(self, changes: WriteSet) -> None:
        self.codes.update(changes.codes)
        for address, keys in changes.storage.items():
            self._store(address, keys)
        for address, account in changes.accounts.items():
            if account is None:
                self.accounts.pop(address, None)
                self.storages.pop(address, None)
            else:
                self.accounts[address] = account

    def copy(self) -> "PlainState":
        return PlainState(self.accounts, self.codes, self.storages)

    def _store(self, address: bytes, keys: Mapping[int, int]) -> None:
        found = self.storages.setdefault(address, {})
        for key, value in keys.items():
            if value:
                found[key] = value
            else:
                found.pop(key, None)
        if not found:
            del self.storages[address]
