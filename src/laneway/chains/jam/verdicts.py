"""What one node's look says that would end something, compared with another node's records.

A package that accumulated, was refused or failed, and the line of its service, decide what becomes
of transactions. Another node is asked about the newest block that shows such an end, one that can
be asked, since a lane that waited for it would stand still with it. A node that has no records of
the service at all has lost them, or hides them, and contradicts nobody.
"""

from collections.abc import Sequence
from typing import TypeAlias

from laneway.chains.jam.agreement import Agreement
from laneway.chains.jam.node import JamNode
from laneway.chains.jam.records import read_line
from laneway.chains.jam.statuses import StateAt, Statuses
from laneway.core.jam import (
    Accumulated,
    Failed,
    JamBlockRef,
    JamBlockSeen,
    LineAsked,
    LineSeen,
    PackageFact,
    Parameters,
    ServiceRefused,
    Watched,
)

Facts: TypeAlias = dict[bytes, PackageFact]
"""What is known of packages, by their hashes."""

ENDS = (Accumulated, ServiceRefused, Failed)


class Verdicts:
    def __init__(self, agreement: Agreement, statuses: Statuses) -> None:
        self._agreement = agreement
        self._statuses = statuses

    async def check(
        self,
        node: JamNode,
        blocks: Sequence[JamBlockSeen],
        packages: Sequence[Watched],
        parameters: Parameters,
    ) -> None:
        """Raise if another node shows other ends at the newest block that shows one."""
        newest = next((seen for seen in reversed(blocks) if ends_of(seen)), None)
        if newest is None:
            return
        block, ends = newest.block, ends_of(newest)
        ended = [one for one in packages if one.package_hash in ends]

        async def ask(other: JamNode) -> Facts | None:
            for service in dict.fromkeys(one.service for one in ended if one.keeps_records):
                if await read_line(other, block, LineAsked(service, ())) is None:
                    return None
            found = await self._statuses.read(StateAt(other, block, parameters), ended)
            return {one.package_hash: one.fact for one in found}  # An end comes last.

        what = f"the end of packages at block {block.header_hash.hex()}"
        await self._agreement.confirmed(node, what, ends, ask, are_same)

    async def line(self, node: JamNode, at: JamBlockRef, asked: LineAsked) -> LineSeen | None:
        """A service's line at a block. One that others moved ends what is open, and one that is as
        expected makes it final."""

        async def ask(other: JamNode) -> LineSeen | None:
            return await read_line(other, at, asked)

        what = f"the line of service {asked.service}"
        return await self._agreement.confirmed(node, what, await ask(node), ask)


def ends_of(seen: JamBlockSeen) -> Facts:
    return {one.package_hash: one.fact for one in seen.seen if isinstance(one.fact, ENDS)}


def are_same(mine: Facts, theirs: Facts) -> bool:
    return all(is_same(fact, theirs.get(name)) for name, fact in mine.items())


def is_same(mine: PackageFact, theirs: PackageFact | None) -> bool:
    """Whether another node shows the same end. That a package failed is contradicted by anything
    that it can still do; that it is done, by everything else."""
    if isinstance(mine, Failed):
        return theirs is None or isinstance(theirs, Failed)
    if isinstance(mine, Accumulated) and isinstance(theirs, Accumulated):
        return mine.number == theirs.number or None in (mine.number, theirs.number)
    return mine == theirs
