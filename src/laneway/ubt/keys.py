"""Where an account's header, code and storage stand in the tree (EIP-7864, "Tree embedding").

A key is the stem of a group, which is hashed from the address and the group's number, and one
byte that chooses in the group. Group 0 of an account is its header: basic data, code hash, the
first 64 slots of its storage and the first 128 chunks of its code.
"""

from enum import IntEnum
from typing import Final

from msgspec import Struct

from laneway.ubt.limits import CODE_INDEX_MAX, STEM_BYTES
from laneway.ubt.profile import ZERO, TreeProfile

BASIC_DATA: Final = 0
CODE_HASH: Final = 1
HEADER_STORAGE: Final = 64
CODE: Final = 128
WIDTH: Final = 256
MAIN_STORAGE: Final = 256**30
"""The number of the group in which the slots begin that are not in the header."""

ADDRESS_PADDING: Final = bytes(12)


class KeyKind(IntEnum):
    BASIC_DATA = 0
    CODE_HASH = 1
    CODE_CHUNK = 2
    STORAGE = 3
    NEIGHBOUR = 4
    """Not of the original: a key that shows where a missing stem would be."""


class TouchedKey(Struct, frozen=True):
    """A key that a block read or wrote, and what it is the key of."""

    key: bytes
    kind: KeyKind
    address: bytes
    chunk: int = 0
    slot: bytes = ZERO
    tx_index: int = 0
    """The first transaction that touched it; 0 is before all of them, 1 is the first."""


def stem_of(profile: TreeProfile, address: bytes, index: int) -> bytes:
    """The stem of an account's group."""
    size = profile.index_bytes
    number = (index % (1 << 8 * size)).to_bytes(size, profile.index_order)
    return profile.key_hasher(ADDRESS_PADDING + address + number).digest()[:STEM_BYTES]


def basic_data_key(profile: TreeProfile, address: bytes) -> bytes:
    return stem_of(profile, address, 0) + b"\x00"


def code_hash_key(profile: TreeProfile, address: bytes) -> bytes:
    return stem_of(profile, address, 0) + b"\x01"


def chunk_key(profile: TreeProfile, address: bytes, chunk: int) -> bytes:
    index, subindex = divmod(CODE + chunk, WIDTH)
    return stem_of(profile, address, index) + bytes((subindex,))


def slot_key(profile: TreeProfile, address: bytes, slot: int) -> bytes:
    index, subindex = slot_place(slot)
    return stem_of(profile, address, index) + bytes((subindex,))


def slot_place(slot: int) -> tuple[int, int]:
    """The number of the group that holds a slot, and the slot's subindex there."""
    if slot < CODE - HEADER_STORAGE:
        return 0, HEADER_STORAGE + slot
    index, subindex = divmod(slot, WIDTH)
    return MAIN_STORAGE + index, subindex


def touched_chunk(profile: TreeProfile, address: bytes, chunk: int) -> TouchedKey:
    return TouchedKey(chunk_key(profile, address, chunk), KeyKind.CODE_CHUNK, address, chunk)


def touched_slot(profile: TreeProfile, address: bytes, slot: int) -> TouchedKey:
    key = slot_key(profile, address, slot)
    return TouchedKey(key, KeyKind.STORAGE, address, slot=slot.to_bytes(32, "big"))


def is_shadowed(profile: TreeProfile, slot: int) -> bool:
    """Whether a slot's group is, because its number wraps, one of the account's header and code.

    So it is with 31 bytes and a slot of 0xff and then zeros: a contract that writes it would set
    the account's balance.
    """
    index, _ = slot_place(slot)
    return index > CODE_INDEX_MAX and index % (1 << 8 * profile.index_bytes) <= CODE_INDEX_MAX
