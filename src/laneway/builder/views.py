"""What a builder's file and snapshots have, as the values that people are given."""

from laneway.builder.receipts import BlockView, Heads, Receipt, Stage
from laneway.builder.rollup import B, Rollup, S
from laneway.builder.shelf import ShelvedBlock, ShelvedReceipt
from laneway.builder.snapshots import Snapshots


def heads_of(snapshots: Snapshots[S, B]) -> Heads[S]:
    newest, safe, final = snapshots.newest(), snapshots.accumulated(), snapshots.base
    return Heads(
        newest=newest.state,
        newest_number=newest.sealed.number,
        accumulated=safe.state,
        accumulated_number=safe.sealed.number,
        final=final.state,
        final_number=final.sealed.number,
    )


def receipt_of(hashed: bytes, found: ShelvedReceipt | None) -> Receipt | None:
    if found is None:
        return None
    return Receipt(
        hash=hashed,
        number=found.block.number,
        block=found.block.hash,
        index=found.place,
        status=found.status,
        package_hash=found.block.package_hash,
        is_canonical=found.block.stage >= Stage.ACCUMULATED,
        is_final=found.block.stage >= Stage.FINAL,
    )


def block_view(rollup: Rollup[S, B], found: ShelvedBlock | None) -> BlockView | None:
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
        is_canonical=found.stage >= Stage.ACCUMULATED,
        is_final=found.stage >= Stage.FINAL,
    )
