"""Follows one package to its end: what each new block shows of it, and a subscription that notifies
when there may be something to see.

One subscription for each package, on one node, as far as the node has capacity; the others are
looked at whenever a head changes. Nothing is believed of a notification but that it is time to
look: it may be missed, and sequences of the best chain may be impossible. However a watch ends, it
is left. A fact is reported when it is news on its fork. What was accumulated at a block stays so at
those after it, also when the chain's own history has forgotten it.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from msgspec import Struct

from laneway.chains.jam.heads import JamHeads
from laneway.chains.jam.limits import KNOWN_BLOCKS_MAX, LOOK_BLOCKS_MAX
from laneway.chains.jam.node import JamNode
from laneway.chains.jam.phrases import may_after
from laneway.chains.jam.shapes import read_descriptor, read_raw
from laneway.chains.nodes import PollPace
from laneway.core.errors import ChainError
from laneway.core.jam import (
    Accumulated,
    BlocksGone,
    Failed,
    Finalised,
    JamBlockRef,
    JamBlocksSeen,
    JamHead,
    PackageFact,
    PackageSeen,
    ServiceRefused,
    Watched,
)

News: TypeAlias = PackageSeen | BlocksGone


class Step(Struct, frozen=True):
    """One block of the trail."""

    block: JamBlockRef
    facts: tuple[PackageFact, ...] = ()
    end: PackageSeen | None = None
    """How the package ended on this fork, so far: the first sighting of it."""


class Trail:
    def __init__(self, package: Watched, known: Sequence[JamBlockRef]) -> None:
        self.is_over = False
        """Whether nothing can change any more."""
        self._package = package
        self._steps = [Step(block) for block in known]
        self._final_end: PackageSeen | None = None

    def known(self) -> list[JamBlockRef]:
        return [step.block for step in self._steps]

    def take(self, look: JamBlocksSeen) -> Iterator[News]:
        yield from self._turn_back(look)
        for seen in look.blocks:
            last = self._steps[-1] if self._steps else Step(seen.block)
            facts = tuple(one.fact for one in seen.seen) if seen.is_readable else last.facts
            news = [one for one in seen.seen if one.fact not in last.facts]
            end = last.end
            for one in news:
                end = self._ended(end, one)
            yield from news
            self._steps.append(Step(seen.block, facts, end))
        del self._steps[:-KNOWN_BLOCKS_MAX]
        yield from self._settle(look.head)

    def _turn_back(self, look: JamBlocksSeen) -> Iterator[News]:
        """Go back to where the fork begins, or begin anew after a gap."""
        if look.gone:
            yield BlocksGone(look.gone, look.head.best)
        if look.after is None:
            self._steps.clear()
            return
        while self._steps and self._steps[-1].block != look.after:
            self._steps.pop()

    def _ended(self, end: PackageSeen | None, seen: PackageSeen) -> PackageSeen | None:
        has_failed = end is not None and isinstance(end.fact, Failed)
        if isinstance(seen.fact, ServiceRefused):
            return seen
        if isinstance(seen.fact, Accumulated):
            # The service's own record is better than the chain's, which says less.
            return seen if end is None or has_failed or seen.fact.number is not None else end
        if isinstance(seen.fact, Failed):
            return seen if end is None else end
        # A package that can be reported again, or was, has not failed on this fork.
        return None if has_failed else end

    def _settle(self, head: JamHead) -> Iterator[News]:
        end = self._steps[-1].end if self._steps else None
        if end is None or head.finalised is None or end.block.slot > head.finalised.slot:
            return
        if end != self._final_end:
            self._final_end = end
            fact = Finalised(head.finalised)
            yield PackageSeen(end.package_hash, end.block, fact, may_after(fact), head.node)
        if isinstance(end.fact, Accumulated):
            self.is_over = end.fact.number is not None or not self._package.keeps_records
        elif isinstance(end.fact, ServiceRefused):
            self.is_over = True


STATUS = "subscribeWorkPackageStatus"

Look = Callable[[Sequence[JamBlockRef], Sequence[Watched], int], Awaitable[JamBlocksSeen]]


class Watches:
    def __init__(
        self, nodes: Sequence[JamNode], heads: JamHeads, look: Look, pace: PollPace
    ) -> None:
        self.open_count = 0
        self._nodes = nodes
        self._heads = heads
        self._look = look
        self._pace = pace

    async def watch(
        self, package: Watched, known: Sequence[JamBlockRef]
    ) -> AsyncGenerator[News, None]:
        trail = Trail(package, known or (package.anchor,))
        bell = self._heads.open_bell()
        # Meanwhile a node notifies when the package's status changes, if one can.
        listening = asyncio.create_task(self._listen(package, bell))
        self.open_count += 1
        try:
            while True:
                wait_ms = self._pace.silence_ms
                try:
                    look = await self._look(trail.known(), [package], LOOK_BLOCKS_MAX)
                except ChainError:
                    wait_ms = self._pace.poll_ms
                else:
                    for news in trail.take(look):
                        yield news
                    if trail.is_over:
                        return
                    if not look.is_whole:
                        continue
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait_ms / 1000):
                        await bell.wait()
                bell.clear()
        finally:
            self.open_count -= 1
            listening.cancel()
            await asyncio.wait([listening])
            await self._heads.close_bell(bell)

    async def _listen(self, package: Watched, bell: asyncio.Event) -> None:
        while True:
            node = self._able_node()
            if node is not None:
                with suppress(ChainError):
                    await self._listen_to(node, package, bell)
            await asyncio.sleep(self._pace.resubscribe_ms / 1000)

    def _able_node(self) -> JamNode | None:
        """A node that is well and has a place left, the emptiest first."""
        able = [one for one in self._nodes if one.has_status and one.socket.has_capacity()]
        able.sort(key=lambda one: (one.is_resting(), one.socket.held_count))
        return next((one for one in able if not one.is_resting()), None)

    async def _listen_to(self, node: JamNode, package: Watched, bell: asyncio.Event) -> None:
        wanted = (package.package_hash, package.anchor.header_hash, False)
        subscription = await node.subscribe(STATUS, *wanted)
        if subscription is None:
            return
        async with subscription:
            while True:
                raw = await subscription.next(self._pace.silence_ms)
                self._heads.saw_best(node, read_raw(node.name, raw, read_update))
                bell.set()


def read_update(value: Any) -> JamBlockRef:
    """The block that a notification is about; its state is what is read of the package."""
    if isinstance(value, list):
        return read_descriptor(value[:2])
    return read_descriptor({"header_hash": value["header_hash"], "slot": value["slot"]})
