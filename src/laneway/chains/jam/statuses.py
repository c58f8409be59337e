"""What the state of one block shows of packages: their status, the service's records, and where
nodes tell it the chain's own history.

No word is believed against a better one: a package that was accumulated has not failed, whatever
the status says, and one that stays "reported" for ever may be done. What a node does not tell is
not said to be absent, until it cannot be there any more (`silence`).
"""

from collections import OrderedDict
from collections.abc import Sequence

from laneway.chains.jam.blocks import Forks
from laneway.chains.jam.limits import HELD_NEAR, STATES_KEPT_MAX
from laneway.chains.jam.node import JamNode, Unavailable
from laneway.chains.jam.records import Found, ask_some, held, numbers, refusals
from laneway.chains.jam.shapes import read_as, read_optional_blob, read_status
from laneway.chains.jam.silence import OVER, blocks_needed, is_over
from laneway.chains.jam.words import may_after
from laneway.core.jam import (
    Accumulated,
    BlockRef,
    Failed,
    PackageFact,
    PackageSeen,
    Parameters,
    Reportable,
    Reported,
    Watched,
)
from laneway.jam.codec import Exactly
from laneway.jam.errors import InvalidJam
from laneway.jam.service.limits import EARLY_COUNT_MAX
from laneway.jam.spec import RECENT_BLOCK_COUNT
from laneway.jam.state import HASH_SET, RECENT_HISTORY, RecentHistory
from laneway.jam.state_keys import ACCUMULATED as ACCUMULATED_KEY
from laneway.jam.state_keys import RECENT_HISTORY as RECENT_HISTORY_KEY
from laneway.wire.jip2 import BLOCK_UNAVAILABLE, call, hash_in
from laneway.wire.jsonrpc import RpcError


class Statuses:
    """Reads blocks; what it remembers of them is true of them for ever."""

    def __init__(self, forks: Forks) -> None:
        self._forks = forks
        self._accumulated: OrderedDict[bytes, frozenset[bytes]] = OrderedDict()

    async def read(
        self, node: JamNode, block: BlockRef, packages: Sequence[Watched], parameters: Parameters
    ) -> tuple[PackageSeen, ...]:
        """Unavailable when the node has not the state of this block."""
        # Before its anchor there is nothing to see, and a node may call that failed.
        asked = [one for one in packages if one.anchor.slot <= block.slot]
        statuses = await self._statuses(node, block, asked)
        done = await self._done(node, block, asked, statuses, parameters)
        seen: list[PackageSeen] = []
        for one in asked:
            name = one.package_hash
            status, end = statuses.get(name), done.get(name)
            if end is not None and isinstance(status, Failed | Reportable):
                status = None
            facts = [fact for fact in (status, end) if fact is not None]
            seen += [PackageSeen(name, block, fact, may_after(fact), node.name) for fact in facts]
        return tuple(seen)

    async def _done(
        self,
        node: JamNode,
        block: BlockRef,
        asked: Sequence[Watched],
        statuses: Found,
        parameters: Parameters,
    ) -> Found:
        """How packages ended, by the best word that there is: the service's own, the chain's, and
        last that nobody has one."""
        done = await numbers(node, block, [one for one in asked if one.keeps_records])
        perhaps = [one for one in asked if is_perhaps_done(statuses.get(one.package_hash), block)]
        keeping = [one for one in perhaps if one.keeps_records]
        done |= await refusals(node, block, without(keeping, done))
        unanswered = without(perhaps, done)
        if unanswered:
            history = await self._history(node, block, parameters)
            named = [one.package_hash for one in unanswered if one.package_hash in history]
            done |= dict.fromkeys(named, Accumulated(None))
        return done | await self._late(node, block, without(keeping, done), statuses, parameters)

    async def _late(
        self,
        node: JamNode,
        block: BlockRef,
        packages: Sequence[Watched],
        statuses: Found,
        parameters: Parameters,
    ) -> Found:
        """Of packages without a word that lasts: the chain's history has forgotten what was
        accumulated an epoch ago, and a node what it knew of an anchor."""
        silent = [one for one in packages if one.package_hash not in statuses]
        over = await self._over(node, block, silent, parameters)
        old = [
            one
            for one in packages
            if isinstance(statuses.get(one.package_hash), Failed)
            and block.slot > one.anchor.slot + parameters.epoch_slots
        ]
        found: Found = {}
        for service in dict.fromkeys(one.service for one in (*over, *old)):
            count = EARLY_COUNT_MAX if any(one.service == service for one in over) else HELD_NEAR
            waiting = await held(node, block, service, count)
            if waiting is None:
                continue  # Whatever it does with packages, it does not write it down as said here.
            found |= {one.package_hash: OVER for one in over if one.service == service}
            known = {one.package_hash: None for one in (*over, *old)}
            found |= {name: fact for name, fact in waiting.items() if name in known}
        return found

    async def _over(
        self,
        node: JamNode,
        block: BlockRef,
        packages: Sequence[Watched],
        parameters: Parameters,
    ) -> list[Watched]:
        most = blocks_needed(parameters)
        # Below this no number of blocks is enough, so that nothing is asked in most cases.
        late = [one for one in packages if block.slot >= one.anchor.slot + most]
        if not late:
            return []
        after = min(one.anchor.slot for one in late)
        slots = await self._forks.slots(node, block, after, most)
        return [one for one in late if is_over(slots, one.anchor.slot, parameters)]

    async def _statuses(self, node: JamNode, block: BlockRef, packages: Sequence[Watched]) -> Found:
        if not node.has_status:
            return await self._reported(node, block, packages)
        calls = [
            call("workPackageStatus", block.header_hash, one.package_hash, one.anchor.header_hash)
            for one in packages
        ]
        found: Found = {}
        for one, answer in zip(packages, await ask_some(node, calls), strict=True):
            if isinstance(answer, RpcError) and node.is_unsupported(answer):
                node.has_status = False
                return await self._reported(node, block, packages)
            if isinstance(answer, RpcError) and answer.code == BLOCK_UNAVAILABLE:
                about = hash_in(answer)
                if about == block.header_hash:
                    raise Unavailable(node.name, block.header_hash, about)
                continue  # It is the anchor that this node does not know: nothing is proven.
            found[one.package_hash] = read_as(
                node.name, answer, lambda told: read_status(told, lambda w: node.words.kind(0, w))
            )
        return found

    async def _history(
        self, node: JamNode, block: BlockRef, parameters: Parameters
    ) -> frozenset[bytes]:
        """The packages of the last epoch that were accumulated; none where a node does not tell."""
        kept = self._accumulated.get(block.header_hash)
        if kept is not None:
            return kept
        raw = await self._component(node, block, ACCUMULATED_KEY)
        if raw is None:
            return frozenset()
        try:
            blocks = Exactly(HASH_SET, parameters.epoch_slots).decode(raw, "history")
        except InvalidJam:
            node.has_state_value = False
            return frozenset()
        found = frozenset(package for packages in blocks for package in packages)
        self._accumulated[block.header_hash] = found
        if len(self._accumulated) > STATES_KEPT_MAX:
            self._accumulated.popitem(last=False)
        return found

    async def _reported(self, node: JamNode, block: BlockRef, packages: Sequence[Watched]) -> Found:
        """Statuses from the chain's recent history, for nodes that tell that and no status."""
        raw = await self._component(node, block, RECENT_HISTORY_KEY) if packages else None
        if raw is None:
            return {}
        try:
            recent = RECENT_HISTORY.decode(raw, "recent history")
        except InvalidJam:
            node.has_state_value = False
            return {}
        slots = await self._slots(node, block, len(recent.blocks))
        found: Found = {}
        for one in packages:
            fact = recent_fact(recent, one, slots)
            if fact is not None:
                found[one.package_hash] = fact
        return found

    async def _slots(self, node: JamNode, block: BlockRef, count: int) -> dict[bytes, int]:
        """The slots of the latest blocks, which the history does not hold."""
        slots: dict[bytes, int] = {}
        at: BlockRef | None = block
        for _ in range(count):
            if at is None:
                break
            slots[at.header_hash] = at.slot
            at = await self._forks.parent(node, at)
        return slots

    async def _component(self, node: JamNode, block: BlockRef, key: bytes) -> bytes | None:
        if not node.has_state_value:
            return None
        (answer,) = await node.ask([call("stateValue", block.header_hash, key)])
        if isinstance(answer, RpcError):
            # A draft that is not served is no trouble, and no other no proves anything.
            node.has_state_value = not node.is_unsupported(answer)
            return None
        return read_as(node.name, answer, read_optional_blob)


def without(packages: Sequence[Watched], done: Found) -> list[Watched]:
    return [one for one in packages if one.package_hash not in done]


def is_perhaps_done(status: PackageFact | None, block: BlockRef) -> bool:
    """Whether it may have been accumulated up to this block: not if it waits for its report, or was
    reported in this very block."""
    if isinstance(status, Reportable):
        return False
    return not (isinstance(status, Reported) and status.reported_in == block)


def recent_fact(
    recent: RecentHistory, package: Watched, slots: dict[bytes, int]
) -> PackageFact | None:
    """What the last blocks say of a package; nothing where it may be in the pipeline, unseen."""
    for one in recent.blocks:
        if any(reported.hash == package.package_hash for reported in one.reported):
            slot = slots.get(one.header_hash)
            return None if slot is None else Reported(BlockRef(one.header_hash, slot))
    hashes = [one.header_hash for one in recent.blocks]
    if package.anchor.header_hash not in hashes:
        return None
    age = len(hashes) - 1 - hashes.index(package.anchor.header_hash)
    return Reportable(RECENT_BLOCK_COUNT - age)
