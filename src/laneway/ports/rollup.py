"""What is asked of a rollup's builder: orders of its lane, and people's questions.

All values can be sent to another process, where the builder may be.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from laneway.core.jam import Context, Package
from laneway.lanes.bundle.rows import Tell, Tip
from laneway.lanes.bundle.values import BuildBlock, BuildVersion, JudgedTransaction
from laneway.rollups.receipts import AccountState, AccountView, BlockView, TransactionReceipt


class ExecutedBlock(Struct, frozen=True, kw_only=True):
    """A block on its parent, with what became of each transaction in its order."""

    payload: bytes
    """All that versions are made from: it is kept as it is, and handed back for each of them."""
    digest: bytes
    """Of the payload."""
    block: bytes
    """Its hash, which nothing of a work package is in."""
    pre_root: bytes
    post_root: bytes
    judged: tuple[JudgedTransaction, ...]
    """In the order of the transactions. Where none of them is in it there is no block, and its
    payload and its hash are empty."""


class MadePackage(Struct, frozen=True, kw_only=True):
    """A work package of a block, in one context."""

    block: bytes
    """The hash of the block that it carries."""
    package: Package
    package_hash: bytes


class RollupBuilder(Protocol):
    """One rollup's execution and its snapshots.

    Each call may be made twice, and be left in the middle by the end of the process: what it keeps
    is named by its content and written before the answer. `BuildFailed` says that there is no
    answer and whether there ever will be; `ChainError` that the chain could not be asked for what
    is missing here.
    """

    async def execute(self, order: BuildBlock) -> ExecutedBlock:
        """Make the block of these transactions on the state after its parent. The same order has
        the same answer."""

    async def package(self, order: BuildVersion, context: Context) -> MadePackage:
        """Make a package of a sealed block: executed again from its payload, refined once here
        before anyone else is asked to."""

    async def notified(self, tells: Sequence[Tell]) -> None:
        """What became of blocks, in this order: a snapshot is committed (accumulated, finalised),
        brought back (restored) or given up (failed). A notice that came before changes
        nothing, nor does one of another word: a block is on its way (submitted, guaranteed)."""

    async def aclose(self) -> None: ...


class RollupReads(Protocol):
    """What people ask about a rollup. Nothing here waits for an order that is carried out."""

    # Transactions that come in.

    async def check(self, raw: bytes) -> bytes:
        """Let a transaction in: its hash. BadRequest for what no block can hold any more."""

    async def hash_of(self, raw: bytes) -> bytes:
        """The hash of a transaction that may be on the chain already. BadRequest for bytes that
        are none."""

    async def spent(self, raw: bytes) -> tuple[bytes, int] | None:
        """The account whose nonce a transaction uses, and that nonce; None if it uses none."""

    # Whether it can be asked.

    async def problem(self, tip: Tip, *, held: bool) -> str:
        """Why its answers would be old ones, by what the chain and the lane have; empty if they
        would not be. A process that holds the lane may see a final block before its builder."""

    async def catch_up(self) -> None:
        """Read what is final and not here, if that can be done at once."""

    # What it knows.

    async def receipt(self, transaction_hash: bytes) -> TransactionReceipt | None:
        """In the block that is furthest; None if no block that is kept has it."""

    async def block(self, number: int) -> BlockView | None:
        """The block of this number that is furthest; None if none is kept."""

    async def latest(self, account: bytes) -> AccountState:
        """An account, by its id, after the newest block that was built here; or after the newest
        that is accumulated, where that was chosen."""

    async def account(self, account: bytes, newest: Tip | None) -> AccountView:
        """An account, by its id. `newest` is the newest block of the lane that is held here: the
        answer is after it if its state is here, else after the newest final block. BadRequest where
        the rollup has no accounts."""
