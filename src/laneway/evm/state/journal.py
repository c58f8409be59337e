"""The state while transactions run: what they changed, and how to take it back.

All that a frame may take back stands in dictionaries, and each change leaves one entry with the
old value in a list; so a frame that reverts costs as much as it changed. What holds for one
transaction alone (warm accounts and keys, transient storage, original values) ends with `settle`.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

from laneway.evm.keccak import keccak
from laneway.evm.state.changes import ReadSet, WriteSet
from laneway.evm.state.view import ABSENT_ACCOUNT, EMPTY_CODE_HASH, StateAccount, StateView

ABSENT: Any = object()
"""The old value of a key that a dictionary did not have."""

UndoEntry: TypeAlias = tuple[dict[Any, Any], Any, Any]
"""A dictionary, one of its keys, and the value that it had."""


class StorageJournal:
    """The storage of one account: values as read below, as they are, and as they were when the
    transaction began."""

    __slots__ = ("_view", "address", "base", "now", "original", "warm")

    def __init__(self, address: bytes, view: StateView) -> None:
        self._view = view
        self.address = address
        self.base: dict[int, int] = {}
        self.now: dict[int, int] = {}
        """All that was read or written; a key that is missing here has not been asked for."""
        self.original: dict[int, int] = {}
        """Only of keys that the transaction wrote."""
        self.warm: dict[int, None] = {}

    def load(self, key: int) -> int:
        value = self.now.get(key)
        if value is None:
            value = self.base[key] = self.now[key] = self._view.storage(self.address, key)
        return value


class StateJournal:
    __slots__ = (
        "_code_reads",
        "_codes",
        "_has_storage",
        "_storages",
        "_used",
        "_view",
        "accounts",
        "base",
        "created",
        "destroyed",
        "logs",
        "refund",
        "transient",
        "undo",
        "warm",
    )

    def __init__(self, view: StateView) -> None:
        self._view = view
        self.base: dict[bytes, StateAccount | None] = {}
        self.accounts: dict[bytes, StateAccount | None] = {}
        self._storages: dict[bytes, StorageJournal] = {}
        self._codes: dict[bytes, bytes] = {EMPTY_CODE_HASH: b""}
        self._code_reads: dict[bytes, bytes] = {}
        self._has_storage: dict[bytes, bool] = {}
        self._used: dict[bytes, StorageJournal] = {}
        """The storages that this transaction asked for."""
        self.undo: list[UndoEntry] = []
        self.warm: dict[bytes, None] = {}
        self.transient: dict[tuple[bytes, int], int] = {}
        self.created: dict[bytes, None] = {}
        self.destroyed: dict[bytes, None] = {}
        self.logs: list[Any] = []
        self.refund = 0

    # Accounts.

    def account(self, address: bytes) -> StateAccount:
        """As opcodes see it: one that does not exist is empty."""
        return self.accounts.get(address) or self.find(address) or ABSENT_ACCOUNT

    def find(self, address: bytes) -> StateAccount | None:
        account = self.accounts.get(address, ABSENT)
        if account is ABSENT:
            account = self.base[address] = self.accounts[address] = self._view.account(address)
        return account  # type: ignore[no-any-return]

    def put(self, address: bytes, account: StateAccount | None) -> None:
        """An empty account is deleted (EIP-161)."""
        if account is not None and account.is_empty():
            account = None
        accounts = self.accounts
        old = accounts.get(address, ABSENT)
        self.undo.append((accounts, address, self.find(address) if old is ABSENT else old))
        accounts[address] = account

    def touch(self, address: bytes) -> None:
        """Delete an account that exists and is empty: one that an old state still has."""
        account = self.find(address)
        if account is not None and account.is_empty():
            self.put(address, None)

    def pay(self, address: bytes, wei: int) -> None:
        """Add to a balance, or take from one that has as much."""
        old = self.account(address)
        self.put(address, StateAccount(old.nonce, old.balance_wei + wei, old.code_hash))

    def count(self, address: bytes) -> None:
        """Raise the nonce of an account."""
        old = self.account(address)
        self.put(address, StateAccount(old.nonce + 1, old.balance_wei, old.code_hash))

    def begin(self, sender: bytes, wei: int) -> None:
        """A transaction takes its gas from the sender and raises the nonce."""
        old = self.account(sender)
        self.put(sender, StateAccount(old.nonce + 1, old.balance_wei - wei, old.code_hash))

    def is_taken(self, address: bytes) -> bool:
        """Whether no contract can be created there (EIP-684, EIP-7610)."""
        account = self.account(address)
        return (
            account.nonce > 0 or account.code_hash != EMPTY_CODE_HASH or self._stores_any(address)
        )

    # Code.

    def code(self, address: bytes) -> bytes:
        code_hash = self.account(address).code_hash
        code = self._codes.get(code_hash)
        if code is None:
            code = self._codes[code_hash] = self._code_reads[address] = self._view.code(address)
        return code

    def put_code(self, address: bytes, code: bytes) -> None:
        code_hash = keccak(code)
        self._codes[code_hash] = code
        old = self.account(address)
        self.put(address, StateAccount(old.nonce, old.balance_wei, code_hash))

    # Storage.

    def storage(self, address: bytes) -> StorageJournal:
        found = self._storages.get(address)
        if found is None:
            found = self._storages[address] = StorageJournal(address, self._view)
        self._used[address] = found
        return found

    def store(self, storage: StorageJournal, key: int, value: int) -> None:
        old = storage.load(key)
        storage.original.setdefault(key, old)
        self.undo.append((storage.now, key, old))
        storage.now[key] = value

    def store_transient(self, address: bytes, key: int, value: int) -> None:
        place = (address, key)
        self.undo.append((self.transient, place, self.transient.get(place, 0)))
        self.transient[place] = value

    def _stores_any(self, address: bytes) -> bool:
        written = self._storages.get(address)
        if written is not None and any(written.now.values()):
            return True
        if address not in self._has_storage:
            self._has_storage[address] = self._view.has_storage(address)
        return self._has_storage[address]

    # What a transaction touched (EIP-2929), made and destroyed.

    def warm_account(self, address: bytes) -> bool:
        """Whether it was cold; it is warm now."""
        if address in self.warm:
            return False
        self.undo.append((self.warm, address, ABSENT))
        self.warm[address] = None
        return True

    def warm_key(self, storage: StorageJournal, key: int) -> bool:
        """Whether it was cold; it is warm now."""
        if key in storage.warm:
            return False
        self.undo.append((storage.warm, key, ABSENT))
        storage.warm[key] = None
        return True

    def mark_created(self, address: bytes) -> None:
        self.undo.append((self.created, address, self.created.get(address, ABSENT)))
        self.created[address] = None

    def mark_destroyed(self, address: bytes) -> None:
        self.undo.append((self.destroyed, address, self.destroyed.get(address, ABSENT)))
        self.destroyed[address] = None

    # The ends of frames and transactions.

    def revert(self, mark: int) -> None:
        """Take back all since `undo` had this length."""
        undo = self.undo
        while len(undo) > mark:
            mapping, key, old = undo.pop()
            if old is ABSENT:
                del mapping[key]
            else:
                mapping[key] = old

    def settle(self) -> None:
        """Keep what the transaction did; contracts that it made and destroyed are gone."""
        for address in self.destroyed:
            self.accounts[address] = None
            storage = self._storages.get(address)
            if storage is not None:
                storage.now.update(dict.fromkeys(storage.now, 0))
        self._end()

    def abandon(self) -> None:
        """The transaction cannot be included: it leaves no trace."""
        self.revert(0)
        self._end()

    def _end(self) -> None:
        for storage in self._used.values():
            storage.warm.clear()
            storage.original.clear()
        self._used.clear()
        self.undo.clear()
        self.warm.clear()
        self.transient.clear()
        self.created.clear()
        self.destroyed.clear()
        self.logs = []
        self.refund = 0

    # What is left at the end.

    def write_set(self) -> WriteSet:
        accounts = dict(changed(self.base.items(), self.accounts))
        storage = {
            address: keys
            for address, one in self._storages.items()
            if (keys := dict(changed(one.base.items(), one.now)))
        }
        codes = {
            one.code_hash: self._codes[one.code_hash]
            for address, one in accounts.items()
            if one is not None and one.code_hash != code_hash_of(self.base[address])
        }
        return WriteSet(accounts, storage, codes)

    def read_set(self) -> ReadSet:
        storage = {address: dict(one.base) for address, one in self._storages.items() if one.base}
        return ReadSet(dict(self.base), storage, dict(self._code_reads), dict(self._has_storage))


def changed(before: Iterable[tuple[Any, Any]], now: dict[Any, Any]) -> Iterable[tuple[Any, Any]]:
    """What has another value now. All that is now was read before."""
    return ((key, now[key]) for key, old in before if now[key] != old)


def code_hash_of(account: StateAccount | None) -> bytes:
    return EMPTY_CODE_HASH if account is None else account.code_hash
