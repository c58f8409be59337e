"""Opening a builder: what its file has, or else the newest state beside it that the chain confirms,
or else what its service began with."""

import asyncio
import logging
from collections.abc import Iterable
from functools import partial
from typing import Generic

from msgspec import Struct

from laneway.builder.execution import contradiction, replayed
from laneway.builder.final import final_block
from laneway.builder.limits import STATE_BLOCKS_DEFAULT
from laneway.builder.orders import guarded
from laneway.builder.packages import Authorizer
from laneway.builder.recall import begin, recalled
from laneway.builder.shelf import REMEDY, Shelf, damaged
from laneway.builder.snapshots import Snapshot, Snapshots
from laneway.builder.sync import Source
from laneway.core.errors import BuildFailed, StoreRefused
from laneway.rollups.domain import Domain
from laneway.rollups.kind import KindOfRollup
from laneway.rollups.receipts import BlockStage
from laneway.rollups.rules import B, RollupRules, S

log = logging.getLogger("laneway.builder")


class BuilderParts(Struct, Generic[S, B], frozen=True, kw_only=True):
    """All that a builder is made of."""

    domain: Domain
    rollup: RollupRules[S, B]
    shelf: Shelf
    source: Source[S, B]
    snapshots: Snapshots[S, B]
    authorizer: Authorizer


class OtherState(BuildFailed):
    """The entries in a builder's file are not the state after its newest final block."""


async def opened(
    kind: KindOfRollup[S, B],
    domain: Domain,
    shelf: Shelf,
    source: Source[S, B],
    authorizer: Authorizer,
) -> BuilderParts[S, B]:
    """StoreRefused if the file is not of this rollup as the chain has it."""
    rollup = kind.rules(domain)
    shelf.claim(kind.name, domain.identity())
    try:
        base = await asyncio.to_thread(shelved_base, rollup, shelf)
    except OtherState as problem:
        base = await base_beside(rollup, shelf, source, problem)
    is_proven = False
    if base is not None:
        is_proven = await check_history(base.sealed.number, base.sealed.hash, shelf, source)
        await asyncio.to_thread(guarded, partial(remember, rollup, shelf, base))
    # A file that is much older than the newest state was put back: the blocks between may be gone.
    least = 1 if base is None else base.sealed.number + STATE_BLOCKS_DEFAULT
    found = await recalled(rollup, shelf, source, least=least, insists=base is None)
    if found is not None:
        begins = partial(begin, rollup, shelf, found, keeps_final=is_proven)
        await asyncio.to_thread(guarded, begins)
        base = found.snapshot
    if base is None:
        base = await begun(kind, rollup, shelf, source)
    snapshots = await asyncio.to_thread(raised, rollup, shelf, base)
    return BuilderParts(
        domain=domain,
        rollup=rollup,
        shelf=shelf,
        source=source,
        snapshots=snapshots,
        authorizer=authorizer,
    )


def shelved_base(rollup: RollupRules[S, B], shelf: Shelf) -> Snapshot[S, B] | None:
    """The newest final block in the file, with its state."""
    found = shelf.base()
    if found is None:
        return None
    hashed, payload = found
    try:
        return guarded(partial(restored_base, rollup, hashed, payload, shelf.entries()))
    except OtherState:
        raise
    except BuildFailed as error:
        raise damaged(shelf.path, str(error)) from error


async def base_beside(
    rollup: RollupRules[S, B], shelf: Shelf, source: Source[S, B], problem: OtherState
) -> Snapshot[S, B]:
    """The newest state beside a file with other entries, as of rules that named wrong changes: the
    file begins with that, as one that was lost does. It is damaged if there is none."""
    found = await recalled(rollup, shelf, source, least=1)
    if found is None:
        raise damaged(shelf.path, str(problem)) from problem
    log.warning("%s is damaged (%s), and goes on from a state beside it", shelf.path, problem)
    begins = partial(begin, rollup, shelf, found, keeps_final=False)
    await asyncio.to_thread(guarded, begins)
    return found.snapshot


def remember(rollup: RollupRules[S, B], shelf: Shelf, base: Snapshot[S, B]) -> None:
    """Write down what the newest final block executed; the genesis executed nothing."""
    if base.sealed.number:
        shelf.remember([final_block(rollup, base)])


def restored_base(
    rollup: RollupRules[S, B],
    hashed: bytes,
    payload: bytes,
    entries: Iterable[tuple[bytes, bytes]],
) -> Snapshot[S, B]:
    block = rollup.decode(payload)
    sealed = rollup.sealed(block)
    rollup.outcomes(block)  # The file is given its receipts, which needs these.
    state = rollup.restored(entries)
    if sealed.hash != hashed or rollup.root(state) != sealed.post_root:
        raise OtherState(f"its state is not that after block {sealed.number}")
    return Snapshot(sealed, block, state)


async def begun(
    kind: KindOfRollup[S, B], rollup: RollupRules[S, B], shelf: Shelf, source: Source[S, B]
) -> Snapshot[S, B]:
    """What the service began with, from the chain."""
    final = await source.final()
    raw = await source.genesis(final.at, kind, rollup)
    return await asyncio.to_thread(guarded, partial(genesis_base, rollup, shelf, raw))


def genesis_base(rollup: RollupRules[S, B], shelf: Shelf, raw: bytes) -> Snapshot[S, B]:
    """The block and the state that the service began with, and the file with them."""
    block, state = rollup.genesis(raw)
    base = Snapshot(rollup.sealed(block), block, state)
    if rollup.root(state) != base.sealed.post_root:
        raise contradiction("the state of their genesis is not the one that its block names")
    shelf.begin(final_block(rollup, base), rollup.entries(state))
    return base


async def check_history(number: int, hashed: bytes, shelf: Shelf, source: Source[S, B]) -> bool:
    """Whether the chain has the block that the file has: false if a node is behind, which proves
    nothing, and StoreRefused if it has another one."""
    final = await source.final()
    if number == 0 or final.head.number < number:
        return False
    if (await source.applied(final.at, number)).block != hashed:
        raise StoreRefused(
            shelf.path,
            f"its block {number} is not the chain's: it is of another chain, or of one that began "
            f"anew; {REMEDY}",
        )
    return True


def raised(rollup: RollupRules[S, B], shelf: Shelf, base: Snapshot[S, B]) -> Snapshots[S, B]:
    """The open blocks of the file on its base. What does not stand there is left out: who needs it
    brings it."""
    snapshots = Snapshots(base)
    for shelved in shelf.open_blocks():
        try:
            made = guarded(partial(raised_block, rollup, snapshots, shelved.payload))
        except BuildFailed as error:
            log.warning("Left out an open block of %s: %s", shelf.path, error)
            continue
        if made is None:
            continue
        if shelved.stage == BlockStage.ACCUMULATED:
            snapshots.commit(made.sealed.hash, shelved.package_hash)
    return snapshots


def raised_block(
    rollup: RollupRules[S, B], snapshots: Snapshots[S, B], payload: bytes
) -> Snapshot[S, B] | None:
    """A block whose state is among these now; None if it does not stand on any of them."""
    block = rollup.decode(payload)
    sealed = rollup.sealed(block)
    rollup.outcomes(block)  # The builder asks for them, too, when it is opened.
    parent = snapshots.get(sealed.parent)
    if parent is None:
        return None
    made = replayed(rollup, parent, block)
    snapshots.put(made)
    return made
