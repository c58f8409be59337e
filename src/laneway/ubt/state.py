"""A chain's state as a unified binary tree: accounts, storage and code as the EVM asks for them.

What an execution wrote becomes a batch of changes to keys. Code is kept by its hash beside the
tree, which holds its chunks only so that they have a place under the root. The view answers in
values of the caller's own, so nothing of an EVM is known here.

The tree cannot list an account's storage. So an account that is deleted takes along only the
slots that the write set names, as EIP-6780 has it since Cancun, and nobody knows whether an account
has any storage: `has_storage` answers False, as EIP-7610's authors expect of such trees.
"""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Final, Generic, Protocol, TypeVar

from msgspec import Struct, field

from laneway.ubt.account import (
    BasicData,
    chunk_count,
    chunkify,
    decode_basic_data,
    encode_basic_data,
)
from laneway.ubt.errors import CodeUnknown, SlotShadowed
from laneway.ubt.keys import (
    KeyKind,
    TouchedKey,
    basic_data_key,
    code_hash_key,
    is_shadowed,
    slot_key,
    touched_chunk,
    touched_slot,
)
from laneway.ubt.profile import ZERO
from laneway.ubt.tree import UnifiedTree

EMPTY_CODE_HASH: Final = bytes.fromhex(
    "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
)
"""Keccak-256 of no bytes."""

ViewAccount = TypeVar("ViewAccount")


class WrittenAccount(Protocol):
    """What a write set says of an account."""

    @property
    def nonce(self) -> int: ...
    @property
    def balance_wei(self) -> int: ...
    @property
    def code_hash(self) -> bytes: ...


class StateWrites(Protocol):
    """What an execution changed: `laneway.evm.state.changes.WriteSet`."""

    @property
    def accounts(self) -> Mapping[bytes, WrittenAccount | None]:
        """None if the account is deleted."""
        ...

    @property
    def storage(self) -> Mapping[bytes, Mapping[int, int]]: ...

    @property
    def codes(self) -> Mapping[bytes, bytes]:
        """New code by its hash."""
        ...


class StateReads(Protocol):
    """What an execution asked its state for: `laneway.evm.state.changes.ReadSet`."""

    @property
    def accounts(self) -> Mapping[bytes, object]: ...
    @property
    def storage(self) -> Mapping[bytes, Mapping[int, int]]: ...
    @property
    def codes(self) -> Mapping[bytes, bytes]:
        """Code by its account."""
        ...


class TreeState(Struct, frozen=True):
    """One version of a state. Versions share the codes, which only grow."""

    tree: UnifiedTree = field(default_factory=UnifiedTree)
    codes: MutableMapping[bytes, bytes] = field(default_factory=dict)

    def root(self) -> bytes:
        return self.tree.root()

    def account(self, address: bytes) -> tuple[BasicData, bytes] | None:
        """Basic data and code hash; None if there is no such account."""
        tree = self.tree
        key = basic_data_key(tree.profile, address)
        leaf = tree.get(key) or ZERO
        code_hash = tree.get(key[:-1] + b"\x01") or ZERO
        if code_hash == ZERO:
            code_hash = EMPTY_CODE_HASH
        data = decode_basic_data(leaf)
        if data == BasicData() and code_hash == EMPTY_CODE_HASH:
            return None
        return data, code_hash

    def storage(self, address: bytes, slot: int) -> int:
        """0 where nothing is stored, and where nothing can be (`is_shadowed`)."""
        profile = self.tree.profile
        if is_shadowed(profile, slot):
            return 0
        return int.from_bytes(self.tree.get(slot_key(profile, address, slot)) or ZERO, "big")

    def code(self, address: bytes) -> bytes:
        """The account's code; CodeUnknown if nobody has kept it here."""
        found = self.account(address)
        if found is None or found[1] == EMPTY_CODE_HASH:
            return b""
        code = self.codes.get(found[1])
        if code is None:
            raise CodeUnknown(address=address.hex(), code_hash=found[1].hex())
        return code

    def view(
        self, account_type: Callable[[int, int, bytes], ViewAccount]
    ) -> "TreeStateView[ViewAccount]":
        """This state as an EVM reads it, with accounts of its own type: nonce, balance and code
        hash, in this order."""
        return TreeStateView(self, account_type)

    def changes(self, writes: StateWrites) -> dict[bytes, bytes]:
        """The new value of every key that a write set touches; zeros for what is gone."""
        return {touched.key: value for touched, value in self.written(writes)}

    def written(self, writes: StateWrites) -> Iterator[tuple[TouchedKey, bytes]]:
        """The same with what each key is the key of, for a witness."""
        profile = self.tree.profile
        for address, account in writes.accounts.items():
            yield from self._account_changes(address, account, writes.codes)
        for address, slots in writes.storage.items():
            for slot, value in slots.items():
                if is_shadowed(profile, slot):
                    raise SlotShadowed(slot=hex(slot), address=address.hex())
                yield touched_slot(profile, address, slot), value.to_bytes(32, "big")

    def read(self, reads: StateReads) -> Iterator[TouchedKey]:
        """The keys that answer what an execution read of this state, for a witness."""
        profile = self.tree.profile
        for address in reads.accounts:
            yield TouchedKey(basic_data_key(profile, address), KeyKind.BASIC_DATA, address)
            yield TouchedKey(code_hash_key(profile, address), KeyKind.CODE_HASH, address)
        for address, slots in reads.storage.items():
            for slot in slots:
                if not is_shadowed(profile, slot):
                    yield touched_slot(profile, address, slot)
        for address, code in reads.codes.items():
            for number in range(chunk_count(len(code))):
                yield touched_chunk(profile, address, number)

    def updated(self, writes: StateWrites) -> "TreeState":
        """The state after a write set; this one stays as it is."""
        changes = self.changes(writes)
        self.codes.update(writes.codes)
        return TreeState(self.tree.updated(changes), self.codes)

    def _account_changes(
        self, address: bytes, account: WrittenAccount | None, codes: Mapping[bytes, bytes]
    ) -> Iterator[tuple[TouchedKey, bytes]]:
        profile = self.tree.profile
        found = self.account(address)
        before, code_hash_before = found or (BasicData(), EMPTY_CODE_HASH)
        size, chunks, leaf, hash_leaf = before.code_size, None, ZERO, None
        if account is None:
            chunks, hash_leaf = [], ZERO
        else:
            if account.code_hash != code_hash_before:
                code = self._new_code(address, account.code_hash, codes)
                size, chunks = len(code), chunkify(code)
                hash_leaf = account.code_hash if size or profile.has_empty_code_hash else ZERO
            elif found is None and profile.has_empty_code_hash:
                hash_leaf = EMPTY_CODE_HASH
            data = BasicData(account.nonce, account.balance_wei, size)
            leaf = encode_basic_data(address, data)
        key = basic_data_key(profile, address)
        yield TouchedKey(key, KeyKind.BASIC_DATA, address), leaf
        if hash_leaf is not None:
            key = code_hash_key(profile, address)
            yield TouchedKey(key, KeyKind.CODE_HASH, address), hash_leaf
        if chunks is not None:
            chunks += [ZERO] * (chunk_count(before.code_size) - len(chunks))
            for number, chunk in enumerate(chunks):
                yield touched_chunk(profile, address, number), chunk

    def _new_code(self, address: bytes, code_hash: bytes, codes: Mapping[bytes, bytes]) -> bytes:
        if code_hash == EMPTY_CODE_HASH:
            return b""
        code = codes.get(code_hash)
        if code is None:
            code = self.codes.get(code_hash)
        if code is None:
            raise CodeUnknown(address=address.hex(), code_hash=code_hash.hex())
        return code


class TreeStateView(Generic[ViewAccount]):
    """A state that `laneway.evm` executes on."""

    __slots__ = ("_account_type", "_state")

    def __init__(
        self, state: TreeState, account_type: Callable[[int, int, bytes], ViewAccount]
    ) -> None:
        self._state = state
        self._account_type = account_type

    def account(self, address: bytes) -> ViewAccount | None:
        found = self._state.account(address)
        if found is None:
            return None
        data, code_hash = found
        return self._account_type(data.nonce, data.balance_wei, code_hash)

    def storage(self, address: bytes, key: int) -> int:
        return self._state.storage(address, key)

    def code(self, address: bytes) -> bytes:
        return self._state.code(address)

    def has_storage(self, address: bytes) -> bool:  # noqa: ARG002  The tree cannot know.
        return False
