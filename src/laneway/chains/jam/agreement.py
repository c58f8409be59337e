"""What several nodes show alike: one that lies, lags or lost its state decides nothing alone.

A head is the newest block that two nodes have on their forks, and final is what two of them call
so. What is read of that head's state and would be a verdict is read from another node too. Where
no other can be asked, one is believed; where two contradict each other and no third can be asked,
neither is, and the trouble says so. What a node leaves unsaid is no contradiction: nodes lose
state, and another one has it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import combinations
from typing import TypeVar

from msgspec import Struct

from laneway.chains.endpoint import loop_s
from laneway.chains.jam.blocks import Forks
from laneway.chains.jam.clock import BlockArrivals
from laneway.chains.jam.limits import FINAL_NEAR_SLOTS, NEW_SLOTS_MAX
from laneway.chains.jam.node import Identity, JamNode, NodeLacksBlock
from laneway.chains.limits import CONFIRMING_NODES_MIN
from laneway.chains.nodes import NodeLags, NodeSet, cancel_all
from laneway.chains.race import Race
from laneway.core.errors import ChainError, ChainUnreadable
from laneway.core.jam import JamBlockRef, JamHead
from laneway.core.majority import reached

T = TypeVar("T")


class NodeContradicted(ChainUnreadable):
    """Another node says otherwise, and too few say the same. The next try may find more of them."""

    code = "node_contradicted"
    retry = "later"
    changed = False

    def __init__(self, node: str, what: str, others: Sequence[str]) -> None:
        named = " and ".join(others)
        super().__init__(node, f"{what} is not what {named} shows")
        remedy = "with three nodes two that agree are believed"
        self.args = (f"{node} and {named} do not agree on {what}; {remedy}",)


class Confirmation(Struct, frozen=True):
    """Another node's head, and where it meets that of the node that is asked."""

    node: JamNode
    head: JamHead
    common: JamBlockRef | None
    """The newest block on both forks; None if none was reached."""


class Agreement:
    def __init__(
        self,
        nodes: NodeSet[JamNode],
        forks: Forks,
        identity: Identity,
        arrivals: BlockArrivals,
    ) -> None:
        self._nodes = nodes
        self._forks = forks
        self._identity = identity
        self._arrivals = arrivals
        self._quickest: JamNode | None = None
        """Of the nodes that were asked last for what another one shows, the first to show it."""
        self._finalised: JamBlockRef | None = None
        """The newest block that two nodes called final."""

    async def head(self, node: JamNode) -> JamHead:
        """The newest block of a node's fork that another node has too, and what is final there."""
        own = await self._forks.head(node)
        compared = await self._compared(node, own)
        self._check_lag(own, compared)
        best = self._best(own, compared)
        node.saw_head(best.slot)
        if best != own.best:
            await self._check_fork(own, best, compared)
        for one in compared:
            if one.common is not None and one.common.slot > one.node.head_number:
                one.node.saw_head(one.common.slot)
        if not self._arrivals.is_too_new(best.slot, self._slot_ms()):
            self._identity.newest_slot = best.slot
        if any(one.common is not None for one in compared):
            # What one alone said when nobody else could be asked binds no longer.
            for far in self._nodes.all:
                if far.head_number > best.slot + NEW_SLOTS_MAX:
                    far.saw_head(best.slot)
        self._arrivals.agreed(best.slot)
        return JamHead(best, await self._final(node, own, best, compared), own.node)

    async def confirmed(
        self,
        node: JamNode,
        what: str,
        found: T,
        ask: Callable[[JamNode], Awaitable[T | None]],
        agrees: Callable[[T, T], bool] = lambda mine, theirs: mine == theirs,
    ) -> T:
        """A node's answer, if another one says the same or no other says anything: `ask` returns
        None for a node that proves nothing. NodeContradicted else, also where several others know
        nothing of the block that it is about: one alone may lag."""
        against: list[str] = []
        lacking: list[str] = []
        others = self.others(node)
        race = Race(others, ask, self._identity.patience())
        try:
            async with asyncio.timeout(self._wait_s(others)):
                while (done := await race.next()) is not None:
                    other, theirs = done
                    if isinstance(theirs, NodeLacksBlock):
                        lacking.append(other.name)
                    elif theirs is None or isinstance(theirs, ChainError):
                        continue
                    elif agrees(found, theirs):
                        return found
                    else:
                        against.append(other.name)
        except TimeoutError:
            pass
        finally:
            for late in race.lost():
                self._nodes.look_after(late)
            await race.leave()
        if len(lacking) >= CONFIRMING_NODES_MIN:
            against += lacking
        if against:
            raise NodeContradicted(node.name, what, against)
        return found

    async def seconded(
        self, node: JamNode, what: str, found: T, ask: Callable[[JamNode], Awaitable[T | None]]
    ) -> T:
        """The same of one of many values, for which no node is waited for that failed or was silent
        lately; and of a block that others may have forgotten."""

        async def ask_other(other: JamNode) -> T | None:
            try:
                return await ask(other)
            except NodeLacksBlock:
                return None

        if not any(self._is_hopeful(one) for one in self.others(node)):
            return found
        return await self.confirmed(node, what, found, ask_other)

    def others(self, node: JamNode) -> list[JamNode]:
        """The other nodes, the quickest first; those that failed or were slow lately come last."""

        def key(one: JamNode) -> tuple[bool, bool, bool]:
            return one.is_resting(), self._nodes.is_late(one), one is not self._quickest

        return sorted([one for one in self._nodes.all if one is not node], key=key)

    def _is_hopeful(self, node: JamNode) -> bool:
        """Whether a node that answered before will do so again."""
        return node.head_number >= 0 and not (node.is_resting() or self._nodes.is_late(node))

    def _wait_s(self, others: Iterable[JamNode]) -> float:
        """How long any of them is waited for: a busy machine may pause for long, and one node is
        not believed alone for that. Those that were silent lately get no more than two hedges."""
        patience = self._identity.patience()
        if any(self._is_hopeful(one) for one in others):
            return patience.silent_ms / 1000
        return 2 * (patience.hedge_s or 0.0)

    async def _final(
        self,
        node: JamNode,
        own: JamHead,
        best: JamBlockRef,
        compared: Sequence[Confirmation],
    ) -> JamBlockRef | None:
        """What two nodes call final on this fork, now or before: the node that is asked next may
        not know of it yet."""
        known, final = self._finalised, final_of(own, best, compared)
        is_newer = known is not None and (final is None or final.slot < known.slot <= best.slot)
        if known is not None and is_newer and await self._forks.is_below(node, known, best):
            return known
        if len(finals(own, best, compared)) >= CONFIRMING_NODES_MIN:
            self._finalised = final
        return final

    async def _compared(self, node: JamNode, own: JamHead) -> list[Confirmation]:
        """What the others show. All of them are asked at once; the first that shows the same head
        ends it, and after two hedges any that has answered."""
        compared: list[Confirmation] = []
        others = [one for one in self.others(node) if not one.is_useless()]
        asked = {asyncio.create_task(self._compare(node, own, one)): one for one in others}
        waiting, begun_s = dict(asked), loop_s()
        try:
            while waiting and not any(is_same(own, one) for one in compared):
                wait_s = 2 * node.hedge_s() if compared else self._wait_s(waiting.values())
                left_s = max(0.0, begun_s + wait_s - loop_s())
                done, _ = await asyncio.wait(
                    waiting, timeout=left_s, return_when=asyncio.FIRST_COMPLETED
                )
                if not done:
                    for late in waiting.values():
                        self._nodes.look_after(late)
                    break
                for task in [one for one in waiting if one in done]:
                    del waiting[task]
                    compared += filter(None, [task.result()])
            same = (one.node for one in compared if is_same(own, one))
            self._quickest = next(same, self._quickest)
        finally:
            await cancel_all(asked)
        return compared

    async def _compare(self, node: JamNode, own: JamHead, other: JamNode) -> Confirmation | None:
        """None if the other node does not answer."""
        try:
            head = await self._forks.head(other)
        except ChainError:
            return None
        common = await self._common(node, own.best, other, head.best)
        return Confirmation(other, head, common)

    def _check_lag(self, own: JamHead, compared: Sequence[Confirmation]) -> None:
        """Two nodes that are further on the same fork, or the only other one, are asked instead."""
        ahead = [
            one.head.best.slot
            for one in compared
            if one.common == own.best and own.best.slot < one.head.best.slot
            if not self._arrivals.is_too_new(one.head.best.slot, self._slot_ms())
        ]
        needed = min(2, len(compared))
        if needed and len(ahead) >= needed:
            raise NodeLags(own.node, own.best.slot, reached(ahead, needed))

    async def _check_fork(
        self, own: JamHead, best: JamBlockRef, compared: Sequence[Confirmation]
    ) -> None:
        """A node on a fork of its own shares only old blocks with the others. Two that share a
        newer one are asked instead, and nothing is lost that was known of their fork."""
        for mine, theirs in combinations(compared, 2):
            common = await self._common(mine.node, mine.head.best, theirs.node, theirs.head.best)
            if common is not None and common.slot > best.slot:
                agreeing = [mine.node.name, theirs.node.name]
                raise NodeContradicted(own.node, "the newest blocks", agreeing)

    async def _common(
        self, node: JamNode, block: JamBlockRef, other: JamNode, theirs: JamBlockRef
    ) -> JamBlockRef | None:
        """The newest block on two forks; None also where that cannot be read."""
        try:
            return await self._forks.common(node, block, other, theirs)
        except ChainError:
            return None

    def _best(self, own: JamHead, compared: Sequence[Confirmation]) -> JamBlockRef:
        if not compared:
            return own.best
        others = [one.node.name for one in compared if has_other_slot(own.best, one.head.best)]
        if others and all(one.head.best != own.best for one in compared):
            raise NodeContradicted(
                own.node, f"the slot of block {own.best.header_hash.hex()}", others
            )
        met = [one.common for one in compared if one.common is not None]
        if len(compared) == 1:
            (other,) = compared
            # Of two, one that only lags takes nothing from the other.
            if met and not self._arrivals.is_too_new(own.best.slot, self._slot_ms()):
                return own.best
            if not met and self._is_far_behind(other.head, own):
                return own.best
        if not met:
            names = [one.node.name for one in compared]
            raise NodeContradicted(own.node, "the newest blocks", names)
        return max(met, key=lambda block: block.slot)

    def _is_far_behind(self, other: JamHead, own: JamHead) -> bool:
        """Whether a node stands still, so that it says nothing of a block that may well be."""
        is_newer = other.best.slot < own.best.slot
        return is_newer and not self._arrivals.is_too_new(own.best.slot, self._slot_ms())

    def _slot_ms(self) -> int:
        parameters = self._identity.parameters
        assert parameters is not None, "a node that has answered has greeted"
        return parameters.slot_ms


def has_other_slot(mine: JamBlockRef, theirs: JamBlockRef) -> bool:
    """Whether two nodes name one block, each with another slot, so that one of them lies."""
    return mine.header_hash == theirs.header_hash and mine.slot != theirs.slot


def is_same(own: JamHead, other: Confirmation) -> bool:
    """Whether another node shows the same newest block, and much the same to be final."""
    mine, theirs = own.finalised, other.head.finalised
    if other.common != own.best or mine is None or theirs is None:
        return False
    return abs(mine.slot - theirs.slot) <= FINAL_NEAR_SLOTS


def final_of(
    own: JamHead, best: JamBlockRef, compared: Sequence[Confirmation]
) -> JamBlockRef | None:
    """What two nodes call final on the fork of this block; where no more than two answered and one
    of them names no such block, what the other one does."""
    known = finals(own, best, compared)
    if not known or (len(known) < 2 <= len(compared)):
        return None
    slot = reached([one.slot for one in known], min(2, len(known)))
    return next(one for one in known if one.slot == slot)


def finals(own: JamHead, best: JamBlockRef, compared: Sequence[Confirmation]) -> list[JamBlockRef]:
    """What each node calls final on the fork of this block, as far as it names one."""
    named = [own.finalised, *(shared_final(one) for one in compared)]
    return [one for one in named if one is not None and one.slot <= best.slot]


def shared_final(other: Confirmation) -> JamBlockRef | None:
    """What another node calls final, if that is before where the forks meet."""
    final, common = other.head.finalised, other.common
    is_shared = final is not None and common is not None and final.slot <= common.slot
    return final if is_shared else None
