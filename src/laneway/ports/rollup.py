"""What a rollup lane asks of its builder: execute blocks, make packages of them, hear of them."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from laneway.core.jam import Context, Package
from laneway.lanes.bundle.rows import Tell
from laneway.lanes.bundle.values import BuildBlock, BuildVersion, Judged


class ExecutedBlock(Struct, frozen=True, kw_only=True):
    """A block on its parent, with what became of each transaction that was given to it."""

    payload: bytes
    """All that versions are made from: it is kept as it is, and handed back for each of them."""
    digest: bytes
    """Of the payload."""
    block: bytes
    """Its hash, which nothing of a work package is in."""
    pre_root: bytes
    post_root: bytes
    judged: tuple[Judged, ...]
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
        """Make the block of these transactions on the state behind its parent. The same order has
        the same answer."""

    async def package(self, order: BuildVersion, context: Context) -> MadePackage:
        """Make a package of a sealed block: executed again from its payload, refined once here
        before anyone else is asked to."""

    async def told(self, tells: Sequence[Tell]) -> None:
        """What became of blocks, in this order: a snapshot is committed (accumulated, finalised),
        brought back (restored) or given up (failed). A tell that was heard before changes
        nothing."""

    async def aclose(self) -> None: ...
