"""The answers of a builder, as values made from its file and its snapshots."""

from typing import Generic

from msgspec import Struct

from laneway.builder.shelf import ShelvedBlock, ShelvedReceipt
from laneway.builder.snapshots import Snapshot
from laneway.rollups.receipts import BlockStage, BlockView, TransactionReceipt
from laneway.rollups.rules import B, RollupRules, S


class StateHeads(Struct, Generic[S, B], frozen=True):
    """The snapshots whose states can be asked for, all of one moment."""

    newest: Snapshot[S, B]
    accumulated: Snapshot[S, B]
    final: Snapshot[S, B]


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
