"""The builder of a rollup of any kind, opened with its file on its chain.

builder = await open_builder(kind, chain, service, "rollup.db", genesis=first_header_hash)
"""

import asyncio
from collections.abc import Iterator
from contextlib import suppress

from laneway.builder.builder import ChainedBuilder
from laneway.builder.limits import (
    BLOCKS_KEPT_DEFAULT,
    FOLLOW_MS_DEFAULT,
    STATE_BLOCKS_DEFAULT,
)
from laneway.builder.opening import opened
from laneway.builder.packages import Authorizer
from laneway.builder.shelf import Shelf
from laneway.builder.sync import Source, read
from laneway.core.errors import BuildFailed
from laneway.jam.hashing import HASH_BYTES
from laneway.jam.state import SERVICE_ACCOUNT
from laneway.ports import JamChain
from laneway.rollups.domain import Domain
from laneway.rollups.kind import KindOfRollup
from laneway.rollups.rules import B, S


async def open_builder(
    kind: KindOfRollup[S, B],
    chain: JamChain,
    service: int,
    path: str | None,
    *,
    genesis: bytes | None = None,
    authorizer: Authorizer | None = None,
    blocks_kept: int = BLOCKS_KEPT_DEFAULT,
    latest_is_safe: bool = False,
    slot_ms: int = FOLLOW_MS_DEFAULT,
    state_blocks: int = STATE_BLOCKS_DEFAULT,
) -> ChainedBuilder[S, B]:
    """`path` is a file of the builder's own; without one all is forgotten with the process.

    What is final is read from the chain before this returns, and while there are no orders once in
    each slot. Blocks that cannot be read are no reason not to open: `lag` says what is missing.

    `genesis` is the hash of the chain's first header, which signatures and the service's code name.
    Nodes do not report it. Without it the file's own is taken, or that of a chain so young that its
    first block can still be reached; what is found is compared with the service's code."""
    shelf = await asyncio.to_thread(Shelf, path, blocks_kept)
    try:
        domain = Domain(await genesis_of(kind, chain, service, shelf, genesis), service)
        authorizer = authorizer or Authorizer(host=service)
        parts = await opened(kind, domain, shelf, Source(chain, service), authorizer)
    except BaseException:
        shelf.close()
        raise
    builder = ChainedBuilder(
        parts, latest_is_safe=latest_is_safe, slot_ms=slot_ms, state_blocks=state_blocks
    )
    try:
        await builder.follow()
    except BaseException:
        await builder.aclose()
        raise
    return builder


async def genesis_of(
    kind: KindOfRollup[S, B],
    chain: JamChain,
    service: int,
    shelf: Shelf,
    genesis: bytes | None,
) -> bytes:
    """The first header's hash that the service's code was made for."""
    head = await chain.head()
    at = (head.finalised or head.best).header_hash
    raw = await chain.service_account(at, service)
    if raw is None:
        raise BuildFailed(f"the chain has no service {service}; is its number right?")
    code = read(SERVICE_ACCOUNT, raw, "service").code_hash
    if genesis is not None:
        if kind.code_hash(genesis) != code:
            raise BuildFailed(
                f"service {service} is no {kind.name} of a chain that began with {genesis.hex()}; "
                "are its number and the chain's genesis right?"
            )
        return genesis
    for known in known_chains(shelf):
        if kind.code_hash(known) == code:
            return known
    sizes = await chain.parameters()
    oldest = await chain.context(offset=sizes.recent_block_count - 1)
    if kind.code_hash(oldest.anchor.header_hash) == code:
        return oldest.anchor.header_hash
    raise BuildFailed(
        f"service {service} is no {kind.name}, or of a chain whose first block is no longer at "
        "hand; name the hash of the chain's first header as its genesis"
    )


def known_chains(shelf: Shelf) -> Iterator[bytes]:
    """First headers that the file and the states beside it were made for."""
    known = shelf.identity()
    if known is not None:
        yield known[1][:HASH_BYTES]
    for number in shelf.states.numbers():
        with suppress(BuildFailed):  # It is damaged, and says nothing.
            yield shelf.states.about(number).identity[:HASH_BYTES]
