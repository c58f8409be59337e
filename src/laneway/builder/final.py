"""Final blocks as the builder's file has them, made from their snapshots, and blocks below them."""

from collections.abc import Sequence

from msgspec.structs import replace

from laneway.builder.shelf import FinalBlock, Shelf
from laneway.builder.snapshots import Snapshot
from laneway.core.errors import BuildFailed
from laneway.rollups.rules import B, RollupRules, S, SealedBlock


def final_block(
    rollup: RollupRules[S, B], snapshot: Snapshot[S, B], package_hash: bytes = b""
) -> FinalBlock:
    """A final block whose changes of the state are written down elsewhere."""
    return FinalBlock(
        sealed=snapshot.sealed,
        payload=rollup.encode(snapshot.block),
        outcomes=rollup.outcomes(snapshot.block),
        package_hash=package_hash,
    )


def final_blocks(
    rollup: RollupRules[S, B], way: Sequence[Snapshot[S, B]], package_hash: bytes
) -> list[FinalBlock]:
    """Those that become final together, the lowest first, with what they changed; this package
    brought the last of them."""
    found = [
        replace(final_block(rollup, one), changes=rollup.changes(one.state, one.block))
        for one in way
    ]
    return [*found[:-1], replace(found[-1], package_hash=package_hash)]


def is_below(shelf: Shelf, base: SealedBlock, sealed: SealedBlock) -> bool:
    """Whether a block is below the base: its lane has yet to see that it is final."""
    if sealed.number > base.number:
        return False
    found = shelf.by_number(sealed.number)
    if sealed.number == base.number or (found is not None and found.hash != sealed.hash):
        problem = f"block {sealed.number} is final, and another one than that below the block"
        raise BuildFailed(f"{problem} that is ordered", final=True)
    return True
