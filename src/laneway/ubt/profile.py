"""The profiles of the tree: what is hashed, and from what keys are made; each is one row.

EIP-7864 changed several times, and systems kept the form of their day: a profile names one.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import Final, Literal, Protocol

from blake3 import blake3
from msgspec import Struct

ZERO: Final = bytes(32)
"""The root of the empty tree, and the hash of whatever is not there."""


class Digest(Protocol):
    def digest(self) -> bytes: ...


Hasher = Callable[[bytes], Digest]


class TreeProfile(Struct, frozen=True, kw_only=True):
    name: str
    hasher: Hasher
    """Of nodes."""
    leaf_tag: bytes = b""
    """What stands before a value that is hashed."""
    branch_tag: bytes = b""
    """What stands before two hashes that are hashed together."""
    stem_tag: bytes = b""
    """What stands before a stem that is hashed with the root of its values."""
    lifts_lone_child: bool = False
    """Whether a branch with one child has the hash of that child; otherwise the missing one is
    hashed as zeros."""
    is_zero_absent: bool = False
    """Whether a value of zeros is the same as none; otherwise it is a value like others."""
    has_empty_code_hash: bool = True
    """Whether an account without code has a leaf with the hash of no code."""
    key_hasher: Hasher
    index_bytes: int = 32
    """How long the number of a group is where keys are made. It wraps if it is longer."""
    index_order: Literal["little", "big"] = "big"


JAM: Final = TreeProfile(
    name="jam",
    hasher=blake3,
    leaf_tag=b"\x00",
    branch_tag=b"\x01",
    stem_tag=b"\x02",
    lifts_lone_child=True,
    is_zero_absent=True,
    has_empty_code_hash=False,
    key_hasher=blake3,
    index_bytes=31,
)
"""JAM DUNA's own, and the default here."""

JAM_EIP: Final = TreeProfile(
    name="jam-eip",
    hasher=blake3,
    lifts_lone_child=True,
    is_zero_absent=True,
    has_empty_code_hash=False,
    key_hasher=sha256,
    index_bytes=31,
)
"""The other profile of JAM DUNA: without tags."""

EIP7864_2025: Final = TreeProfile(
    name="eip7864-2025", hasher=blake3, key_hasher=blake3, index_order="little"
)
"""EIP-7864 as it was first published, in January 2025."""

EIP7864_2026: Final = TreeProfile(name="eip7864-2026", hasher=blake3, key_hasher=blake3)
"""EIP-7864 as of March 2026: indices are big endian."""

GETH: Final = TreeProfile(name="geth", hasher=sha256, key_hasher=sha256)
"""go-ethereum's `trie/bintrie` since April 2026."""

PROFILES: Final = {one.name: one for one in (JAM, JAM_EIP, EIP7864_2025, EIP7864_2026, GETH)}
