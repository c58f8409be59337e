"""What one node's look says that would end something, compared with another node's records.

A package that accumulated, was refused or failed, and the line of its service, decide what becomes
of transactions. Another node is asked about each block that is the first to show such an end, one
that can be asked, since a lane that waited for it would stand still with it. A node that has no
records of the service at all has lost them, or hides them, and contradicts nobody.
"""

from collections.abc import Sequence

from laneway.chains.jam.agreement import Agreement
from laneway.chains.jam.ends import Facts, are_same, first_shown
from laneway.chains.jam.node import JamNode
from laneway.chains.jam.records import read_line
from laneway.chains.jam.statuses import StateAt, Statuses
from laneway.core.jam import (
    JamBlockRef,
    JamBlockSeen,
    LineAsked,
    LineSeen,
    Parameters,
    Watched,
)


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
        """Raise if another node shows other ends at a block that is the first to show them.

        Each end is compared where it begins: an end of an earlier block is final earlier, while
        a fork may still bring the package."""
        for block, ends in first_shown(blocks):
            await self._check_at(node, block, ends, packages, parameters)

    async def _check_at(
        self,
        node: JamNode,
        block: JamBlockRef,
        ends: Facts,
        packages: Sequence[Watched],
        parameters: Parameters,
    ) -> None:
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
