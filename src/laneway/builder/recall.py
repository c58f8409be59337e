"""The newest state beside the builder's file that the chain confirms.

No state file is believed. Its block must be the one that the service has under that number, and its
entries must come to the root that this block says. What does not hold is left out, with a line in
the log, and the one before it is tried. For what the blocks before it executed its digest vouches
alone, as nothing more does for the builder's own file.
"""

import asyncio
import logging
from functools import partial

from laneway.builder.orders import guarded
from laneway.builder.shelf import FinalBlock, Shelf
from laneway.builder.snapshots import Snapshot
from laneway.builder.states import SavedState, StateFiles
from laneway.builder.sync import FinalHead, Source
from laneway.core.errors import BuildFailed
from laneway.rollups.rules import B, RollupRules, S

log = logging.getLogger("laneway.builder")


async def recalled(
    rollup: RollupRules[S, B],
    shelf: Shelf,
    source: Source[S, B],
    *,
    least: int,
    keeps_final: bool = False,
) -> Snapshot[S, B] | None:
    """The newest state from this block's number on, which is in the file from then on; None if
    there is none that holds. `keeps_final`: the file's final blocks are of the same line."""
    for number in shelf.states.numbers():
        if number < least:
            break
        try:
            found, package_hash = await confirmed(rollup, shelf, source, number)
            base = final_block(rollup, found, package_hash)
            begin = partial(begun_with, rollup, shelf, base, found.state, keeps_final=keeps_final)
            await asyncio.to_thread(guarded, begin)
        except BuildFailed as error:
            log.warning("Left out the state %s: %s", shelf.states.path(number), error)
            continue
        log.info("Begun with the state after block %d: %s", number, shelf.states.path(number))
        return found
    return None


def begun_with(
    rollup: RollupRules[S, B], shelf: Shelf, base: FinalBlock, state: S, *, keeps_final: bool
) -> None:
    """Let the file begin with a state that was confirmed."""
    past = shelf.states.past(base.sealed.number)
    shelf.begin(base, rollup.entries(state), past, keeps_final=keeps_final)


def final_block(
    rollup: RollupRules[S, B], base: Snapshot[S, B], package_hash: bytes = b""
) -> FinalBlock:
    """A base as the file has it."""
    return FinalBlock(
        sealed=base.sealed,
        payload=rollup.encode(base.block),
        outcomes=rollup.outcomes(base.block),
        package_hash=package_hash,
    )


async def confirmed(
    rollup: RollupRules[S, B], shelf: Shelf, source: Source[S, B], number: int
) -> tuple[Snapshot[S, B], bytes]:
    """A block with its state, and the package that brought it; BuildFailed unless the chain has
    this block, and the block this state."""
    saved = await asyncio.to_thread(shelf.states.load, number)
    if (saved.kind, saved.identity) != shelf.identity():
        raise BuildFailed(f"it is of another rollup ({saved.kind} {saved.identity.hex()})")
    final = await source.final()
    if final.head.number < number:
        problem = f"the chain's newest final block is {final.head.number}"
        raise BuildFailed(f"{problem}: the node is behind, or the chain began anew")
    record = await source.applied(final.at, number)
    if record.block != saved.block:
        raise BuildFailed(f"the chain has another block {number}")
    read = partial(restored, rollup, shelf.states, saved, final)
    return await asyncio.to_thread(guarded, read), record.package_hash


def restored(
    rollup: RollupRules[S, B], files: StateFiles, saved: SavedState, final: FinalHead
) -> Snapshot[S, B]:
    block = rollup.decode(saved.payload)
    sealed = rollup.sealed(block)
    if (sealed.hash, sealed.number, sealed.post_root) != (saved.block, saved.number, saved.root):
        raise BuildFailed(f"its block is not the block {saved.number} that it names")
    if final.head.number == saved.number and final.head.state_root != saved.root:
        raise BuildFailed(f"the chain has another state after block {saved.number}")
    # In the order of their keys, as the builder's file has them.
    state = rollup.restored(sorted(files.entries(saved.number)))
    if rollup.root(state) != saved.root:
        raise BuildFailed(f"its entries are not the state after block {saved.number}")
    return Snapshot(sealed, block, state)
