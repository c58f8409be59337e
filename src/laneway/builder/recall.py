"""The newest state beside the builder's file that the chain confirms.

No state file is believed. Its block must be the one that the service has under that number, and its
entries must come to the root that this block says. What does not hold is left out, with a line in
the log, and the one before it is tried.
"""

import asyncio
import logging
from functools import partial

from laneway.builder.orders import guarded
from laneway.builder.shelf import Shelf
from laneway.builder.snapshots import Snapshot
from laneway.builder.states import SavedState, StateFiles
from laneway.builder.sync import FinalHead, Source
from laneway.core.errors import BuildFailed
from laneway.rollups.rules import B, RollupRules, S

log = logging.getLogger("laneway.builder")


async def recalled(
    rollup: RollupRules[S, B], shelf: Shelf, source: Source[S, B], *, least: int
) -> Snapshot[S, B] | None:
    """The newest state from this block's number on, which is in the file from then on; None if
    there is none that holds. The receipts of blocks before it are not there."""
    for number in shelf.states.numbers():
        if number < least:
            break
        try:
            found = await confirmed(rollup, shelf, source, number)
        except BuildFailed as error:
            log.warning("Left out the state %s: %s", shelf.states.path(number), error)
            continue
        payload, entries = rollup.encode(found.block), rollup.entries(found.state)
        await asyncio.to_thread(shelf.begin, found.sealed.hash, payload, entries)
        log.info("Begun with the state after block %d: %s", number, shelf.states.path(number))
        return found
    return None


async def confirmed(
    rollup: RollupRules[S, B], shelf: Shelf, source: Source[S, B], number: int
) -> Snapshot[S, B]:
    """A block and its state; BuildFailed unless the chain has this block, and the block this
    state."""
    saved = await asyncio.to_thread(shelf.states.load, number)
    if (saved.kind, saved.identity) != shelf.identity():
        raise BuildFailed(f"it is of another rollup ({saved.kind} {saved.identity.hex()})")
    final = await source.final()
    if final.head.number < number:
        problem = f"the chain's newest final block is {final.head.number}"
        raise BuildFailed(f"{problem}: the node is behind, or the chain began anew")
    if await source.applied(final.at, number) != saved.block:
        raise BuildFailed(f"the chain has another block {number}")
    read = partial(restored, rollup, shelf.states, saved, final)
    return await asyncio.to_thread(guarded, read)


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
