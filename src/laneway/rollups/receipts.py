"""What a builder can say of transactions and blocks, as values."""

from enum import Enum
from typing import Final, Literal

from msgspec import Struct

OK: Final = "ok"
"""The status of a transaction that did what it says; any other is the kind's own name for how it
failed."""


class BlockStage:
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
    """The hashes of its transactions, in their order."""
    package_hash: bytes
    """The package that brought it; empty while it is not accumulated."""
    is_canonical: bool
    is_final: bool


class TransactionReceipt(Struct, frozen=True, kw_only=True):
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
    """After the newest block that was built."""
    LATEST = "latest"
    """The same, or `safe` where that was chosen."""
    SAFE = "safe"
    """After the newest block that is accumulated."""
    FINALIZED = "finalized"


class AccountState(Struct, frozen=True):
    """An account in one state. One that never had anything has zeros."""

    balance: int = 0
    nonce: int = 0
    """How many of its transactions are in blocks: the nonce of the next one."""


class AccountView(Struct, frozen=True, kw_only=True):
    """An account as the block leaves it that was asked for, and as the newest final one does."""

    asked: AccountState
    final: AccountState
    number: int
    """The number of the block that leaves `asked`."""
    at: Literal["pending", "safe", "finalized"]
    """Which block that is."""
    nonce: int
    """After the newest block that is known here: `asked` may be of an older one."""
    is_newest: bool
    """Whether that is the newest block of the lane, or one after it."""
