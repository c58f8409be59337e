"""What a builder can say of transactions and blocks, as values."""

from enum import Enum
from typing import Generic

from msgspec import Struct

from laneway.builder.rollup import S


class Stage:
    """Where a block is, as the builder's file has it. Plain numbers: of several blocks the one with
    the highest stage is the answer."""

    BUILT = 0
    ACCUMULATED = 1
    """It is canonical, until that is taken back."""
    FINAL = 2


class BlockView(Struct, frozen=True, kw_only=True):
    number: int
    hash: bytes
    parent: bytes
    pre_root: bytes
    post_root: bytes
    hashes: tuple[bytes, ...]
    """Of its transactions, in their order."""
    package_hash: bytes
    """Of the package that brought it; empty while it is not accumulated."""
    is_canonical: bool
    is_final: bool


class Receipt(Struct, frozen=True, kw_only=True):
    """What became of a transaction in a block."""

    hash: bytes
    number: int
    block: bytes
    index: int
    """Its place in the block."""
    status: str
    package_hash: bytes
    is_canonical: bool
    is_final: bool


class At(Enum):
    """Which state is asked for (ARCHITECTURE §9)."""

    PENDING = "pending"
    """Behind the newest block that was built."""
    LATEST = "latest"
    """The same, or `safe` where that was chosen."""
    SAFE = "safe"
    """Behind the newest block that is accumulated."""
    FINALIZED = "finalized"


class Heads(Struct, Generic[S], frozen=True, kw_only=True):
    """The states that can be asked for, all of one moment, with the numbers of their blocks."""

    newest: S
    newest_number: int
    accumulated: S
    accumulated_number: int
    final: S
    final_number: int
