"""The newest state beside the builder's file that the chain confirms.

No state file is believed. Its block must be the one that the service has under that number, and its
entries must come to the root that this block says. What does not hold is left out, with a line in
the log, and the one before it is tried. For what the blocks before it executed its digest vouches
alone, as nothing more does for the builder's own file.
"""

import asyncio
import logging
from collections import deque
from functools import partial
from typing import Generic

from msgspec import Struct

from laneway.builder.final import final_block
from laneway.builder.orders import guarded
from laneway.builder.shelf import Shelf
from laneway.builder.snapshots import Snapshot
from laneway.builder.states import SavedState, StateFiles
from laneway.builder.sync import FinalHead, Source
from laneway.core.errors import BuildFailed, ChainUnreadable
from laneway.rollups.rules import B, RollupRules, S

log = logging.getLogger("laneway.builder")


class StateUnproven(ChainUnreadable):
    """The chain says nothing about a state beside the file: a node is behind it, or has no record
    of its block. That passes, or the chain began anew and says so with its next blocks."""

    code = "state_unproven"
    retry = "later"
    changed = False

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(path, problem)
        self.args = (
            f"{path} cannot be compared with the chain ({problem}), and what is asked is compared "
            "again; if the chain began anew, delete it",
        )


class RecalledState(Struct, Generic[S, B], frozen=True):
    """A state beside the file that the chain confirmed."""

    snapshot: Snapshot[S, B]
    package_hash: bytes


async def recalled(
    rollup: RollupRules[S, B],
    shelf: Shelf,
    source: Source[S, B],
    *,
    least: int,
    insists: bool = False,
) -> RecalledState[S, B] | None:
    """The newest state from this block's number on; None if there is none that holds. `insists`:
    StateUnproven if one may hold that cannot be compared with the chain now."""
    unproven: StateUnproven | None = None
    for number in shelf.states.numbers():
        if number < least:
            break
        path = shelf.states.path(number)
        try:
            return await confirmed(rollup, shelf, source, number)
        except (BuildFailed, StateUnproven) as error:
            log.warning("Left out the state %s: %s", path, error)
            if isinstance(error, StateUnproven):
                unproven = unproven or error
    if insists and unproven is not None:
        raise unproven
    return None


def begin(
    rollup: RollupRules[S, B], shelf: Shelf, found: RecalledState[S, B], *, keeps_final: bool
) -> None:
    """Let the file begin with this state. `keeps_final`: its final blocks are of the same line."""
    snapshot = found.snapshot
    number, entries = snapshot.sealed.number, rollup.entries(snapshot.state)
    base = final_block(rollup, snapshot, found.package_hash)
    shelf.begin(base, entries, shelf.states.past(number), keeps_final=keeps_final)
    log.info("Begun with the state after block %d: %s", number, shelf.states.path(number))


async def confirmed(
    rollup: RollupRules[S, B], shelf: Shelf, source: Source[S, B], number: int
) -> RecalledState[S, B]:
    """A block with its state; BuildFailed unless the chain has this block, and the block this
    state."""
    saved = await asyncio.to_thread(shelf.states.load, number)
    if (saved.kind, saved.identity) != shelf.identity():
        raise BuildFailed(f"it is of another rollup ({saved.kind} {saved.identity.hex()})")
    final = await source.final()
    path, head = shelf.states.path(number), final.head
    if head.number < number:
        problem = f"the chain's newest final block is {head.number}"
        known = await asyncio.to_thread(block_before, shelf.states, number, head.number)
        if known and known != head.block:
            raise BuildFailed(f"{problem}, and another one than below it: the chain began anew")
        raise StateUnproven(path, f"{problem}: the node is behind, or the chain began anew")
    try:
        record = await source.applied(final.at, number)
    except BuildFailed as error:
        raise StateUnproven(path, str(error)) from error
    if record.block != saved.block:
        raise BuildFailed(f"the chain has another block {number}")
    read = partial(restored, rollup, shelf.states, saved, final)
    return RecalledState(await asyncio.to_thread(guarded, read), record.package_hash)


def block_before(files: StateFiles, number: int, wanted: int) -> bytes:
    """The hash of a block that a state file has below its own; empty if it does not have it."""
    return next((one.hash for one in files.past(number) if one.number == wanted), b"")


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
    deque(files.past(saved.number), maxlen=0)  # What is written down is read a second time.
    return Snapshot(sealed, block, state)
