"""The state of a chain as a trie: accounts by the hash of their address, each with its storage.

An account's leaf carries the root node of its storage, so one value is a whole state: a block's
changes give another one, the old one stays as it was, and they share what neither changed.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from msgspec import Struct

from laneway.evm import rlp
from laneway.evm.fields import elements, fixed, number
from laneway.evm.keccak import keccak
from laneway.evm.rlp import encode_int, encode_list
from laneway.evm.trie.merge import Entry, merged
from laneway.evm.trie.nodes import (
    EMPTY,
    HASH,
    HexaryBranch,
    HexaryLeaf,
    HexaryNode,
    hash_of,
    path_of,
)
from laneway.evm.trie.proof import prove
from laneway.evm.trie.tree import find


class AccountFields(Protocol):
    """What the state's own accounts have of a leaf; the storage root is the trie's."""

    @property
    def nonce(self) -> int: ...
    @property
    def balance_wei(self) -> int: ...
    @property
    def code_hash(self) -> bytes: ...


class AccountLeaf(Struct, frozen=True):
    """The value that the trie holds of an account."""

    nonce: int
    balance_wei: int
    storage_root: bytes
    code_hash: bytes


class AccountTrie(Struct, frozen=True):
    node: HexaryNode = EMPTY

    def root(self) -> bytes:
        return hash_of(self.node)

    def account(self, address: bytes) -> AccountLeaf | None:
        found = self._leaf(_place(address))
        return decode_account(found.value) if found is not None else None

    def storage(self, address: bytes, key: int) -> int:
        found = self._leaf(_place(address))
        slot = find(found.below, _slot(key)) if found is not None else None
        return number(rlp.decode(slot.value), "value", 256) if slot is not None else 0

    def has_storage(self, address: bytes) -> bool:
        found = self._leaf(_place(address))
        return found is not None and found.below is not EMPTY

    def proof(self, address: bytes) -> tuple[bytes, ...]:
        """The nodes that show an account or its absence, for the key `keccak(address)`."""
        return prove(self.node, _place(address))

    def storage_proof(self, address: bytes, key: int) -> tuple[bytes, ...]:
        """The nodes from the account's storage root, for the key `keccak(32 bytes of key)`."""
        found = self._leaf(_place(address))
        return prove(found.below, _slot(key)) if found is not None else ()

    def updated(
        self,
        accounts: Mapping[bytes, AccountFields | None],
        storages: Mapping[bytes, Mapping[int, int]],
    ) -> "AccountTrie":
        """The state after a write set: None deletes an account with its storage, 0 a slot.

        Slots that are not named stay, so a storage has to be emptied by deleting its account.
        """
        entries = [
            self._entry(_place(address), account, storages.get(address, {}))
            for address, account in accounts.items()
        ]
        entries += [
            self._stored(_place(address), slots)
            for address, slots in storages.items()
            if address not in accounts and slots
        ]
        # No path stands twice, so values are never compared.
        entries.sort()
        return AccountTrie(merged(self.node, entries))

    def _entry(self, path: bytes, account: AccountFields | None, slots: Mapping[int, int]) -> Entry:
        if account is None:
            return path, b"", EMPTY
        found = self._leaf(path)
        below = _written(found.below if found is not None else EMPTY, slots)
        value = encode_account(
            account.nonce, account.balance_wei, hash_of(below), account.code_hash
        )
        return path, value, below

    def _stored(self, path: bytes, slots: Mapping[int, int]) -> Entry:
        """The entry of an account of which nothing but the storage changes."""
        found = self._leaf(path)
        assert found is not None, "storage is written only in an account that exists"
        below = _written(found.below, slots)
        # An account's RLP ends in two hashes: that of the storage, and that of the code.
        value = found.value[:-65] + hash_of(below) + found.value[-33:]
        return path, value, below

    def _leaf(self, path: bytes) -> HexaryLeaf | None:
        found = find(self.node, path)
        assert not isinstance(found, HexaryBranch), "all addresses' hashes have one length"
        return found


def state_root(accounts: Iterable[tuple[bytes, AccountFields, Mapping[int, int]]]) -> bytes:
    """The root of a state that is listed: each address once, its account and its storage."""
    listed = list(accounts)
    storages = {address: slots for address, _, slots in listed}
    named = {address: account for address, account, _ in listed}
    return AccountTrie().updated(named, storages).root()


def storage_root(slots: Mapping[int, int]) -> bytes:
    return hash_of(_written(EMPTY, slots))


def encode_account(nonce: int, balance_wei: int, storage: bytes, code_hash: bytes) -> bytes:
    fields = (encode_int(nonce), encode_int(balance_wei), HASH, storage, HASH, code_hash)
    return encode_list(b"".join(fields))


def decode_account(raw: bytes) -> AccountLeaf:
    nonce, balance, storage, code = elements(rlp.decode(raw), "the account", 4)
    return AccountLeaf(
        number(nonce, "nonce", 64),
        number(balance, "balance", 256),
        fixed(storage, "storage_root", 32),
        fixed(code, "code_hash", 32),
    )


def _written(storage: HexaryNode, slots: Mapping[int, int]) -> HexaryNode:
    entries = [
        (_slot(key), encode_int(value) if value else b"", EMPTY) for key, value in slots.items()
    ]
    entries.sort()
    return merged(storage, entries)


def _place(address: bytes) -> bytes:
    return path_of(keccak(address))


def _slot(key: int) -> bytes:
    return path_of(keccak(key.to_bytes(32, "big")))
