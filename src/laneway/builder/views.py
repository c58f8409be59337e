"""The answers of a builder, as values made from its file and its snapshots."""

from typing import Generic

from msgspec import Struct

from laneway.builder.shelf import Shelf, ShelvedBlock, ShelvedReceipt
from laneway.builder.snapshots import Snapshot, Snapshots
from laneway.builder.thread import BuilderThread
from laneway.rollups.receipts import At, BlockStage, BlockView, TransactionReceipt
from laneway.rollups.rules import B, RollupRules, S


class StateHeads(Struct, Generic[S, B], frozen=True):
    """The snapshots whose states can be asked for, all of one moment."""

    newest: Snapshot[S, B]
    accumulated: Snapshot[S, B]
    final: Snapshot[S, B]
    ordered: Snapshot[S, B]
    """Of the newest block that is its lane's for certain: what this state takes no more, the lane
    has no use for."""


def receipt_of(hashed: bytes, found: ShelvedReceipt | None) -> TransactionReceipt | None:
    if found is None:
        return None
    return TransactionReceipt(
        hash=hashed,
        number=found.block.number,
        block=found.block.hash,
        index=found.place,
        status=found.status,
        package_hash=found.block.package_hash,
        is_canonical=found.block.stage >= BlockStage.ACCUMULATED,
        is_final=found.block.stage >= BlockStage.FINAL,
    )


def block_view(rollup: RollupRules[S, B], found: ShelvedBlock | None) -> BlockView | None:
    if found is None:
        return None
    block = rollup.decode(found.payload)
    sealed = rollup.sealed(block)
    return BlockView(
        number=sealed.number,
        hash=sealed.hash,
        parent=sealed.parent,
        pre_root=sealed.pre_root,
        post_root=sealed.post_root,
        hashes=tuple(one.hash for one in rollup.outcomes(block)),
        package_hash=found.package_hash,
        is_canonical=found.stage >= BlockStage.ACCUMULATED,
        is_final=found.stage >= BlockStage.FINAL,
    )


class BuilderViews(Generic[S, B]):
    """What people ask of a builder: its heads are read at once, its file in its thread."""

    rollup: RollupRules[S, B]
    latest_is_safe: bool
    heads: StateHeads[S, B]
    _shelf: Shelf
    _snapshots: Snapshots[S, B]
    _thread: BuilderThread

    def state(self, at: At = At.LATEST) -> S:
        if at is At.FINALIZED:
            return self.heads.final.state
        is_safe = at is At.SAFE or (at is At.LATEST and self.latest_is_safe)
        return (self.heads.accumulated if is_safe else self.heads.newest).state

    def snapshot(self, block: bytes) -> Snapshot[S, B] | None:
        """The snapshot of the block with this hash, if it is open or the newest final one."""
        return self._snapshots.get(block)

    async def receipt(self, hashed: bytes) -> TransactionReceipt | None:
        """The receipt of a transaction, in the block that is furthest; None if no block that is
        kept has it."""
        return receipt_of(hashed, await self._thread.do(lambda: self._shelf.receipt(hashed)))

    async def block(self, number: int) -> BlockView | None:
        """The block of this number that is furthest; None if none is kept."""
        return await self._thread.ruled(
            lambda: block_view(self.rollup, self._shelf.by_number(number))
        )

    async def block_by_hash(self, hashed: bytes) -> BlockView | None:
        return await self._thread.ruled(
            lambda: block_view(self.rollup, self._shelf.by_hash(hashed))
        )
