"""Whether a builder that starts now comes to what is final on its chain, asked without one.

The next block that its file or the newest state beside it has not is read from the chain, and
nothing is kept of it. A file that another process has open is that process' to judge.
"""

import asyncio
from contextlib import aclosing
from os.path import exists
from typing import Any

from msgspec.structs import replace

from laneway.builder.limits import STATE_BLOCKS_DEFAULT
from laneway.builder.shelf import HELD, REMEDY, Shelf
from laneway.builder.states import StateFiles
from laneway.builder.sync import FinalHead, Source
from laneway.core.errors import BuildFailed, StoreError, StoreRefused
from laneway.jam.hashing import HASH_BYTES
from laneway.kinds.rollup.registry import rollup_kinds
from laneway.kinds.rollup.section import RollupSection, genesis_of
from laneway.ports import JamChain
from laneway.rollups.domain import Domain
from laneway.rollups.rules import RollupRules, SealedBlock


async def unreadable(section: RollupSection, chain: JamChain, path: str | None) -> str:
    """Why it would not, and what to do; empty if it would, or if that is not to be seen here."""
    if path is None:
        return ""
    source: Source[Any, Any] = Source(chain, section.service)
    try:
        rules, base = await asyncio.to_thread(kept, section, path)
        if rules is None:
            return ""
        final = await source.final()
        if base is not None and 0 < base.number <= final.head.number:
            applied = await source.applied(final.at, base.number)
            if applied.block != base.hash:
                return f"{path} has another block {base.number} than the chain; {REMEDY}"
        await next_block(source, rules, final, level(path, base))
    except (BuildFailed, StoreError) as error:
        is_held = isinstance(error, StoreRefused) and error.problem == HELD
        return "" if is_held else str(error)
    return ""


def kept(
    section: RollupSection, path: str
) -> tuple[RollupRules[Any, Any] | None, SealedBlock | None]:
    """The rules of the rollup, unless its genesis is known nowhere, and the newest final block in
    the builder's file."""
    genesis, payload = genesis_of(section), None
    if exists(path):
        shelf = Shelf(path)
        try:
            identity, found = shelf.identity(), shelf.base()
        finally:
            shelf.close()
        genesis = genesis if identity is None else identity[1][:HASH_BYTES]
        payload = None if found is None else found[1]
    if genesis is None:
        return None, None
    rules = rollup_kinds()[section.kind].rules(Domain(genesis, section.service))
    return rules, None if payload is None else rules.sealed(rules.decode(payload))


def level(path: str, base: SealedBlock | None) -> int:
    """The newest block whose state a start would have, if what is here is sound."""
    number = 0 if base is None else base.number
    newest = next(iter(StateFiles(path).numbers()), 0)
    # As opening does it: a state that is little newer than the file is not looked at.
    return newest if base is None or newest >= number + STATE_BLOCKS_DEFAULT else number


async def next_block(
    source: Source[Any, Any], rules: RollupRules[Any, Any], final: FinalHead, number: int
) -> None:
    """BuildFailed if the block after this number cannot be read, though it is final."""
    if number >= final.head.number:
        return
    one = FinalHead(final.at, replace(final.head, number=number + 1))
    async with aclosing(source.pages(rules, one, number + 1, lambda _block: False)) as pages:
        async for _ in pages:
            return
