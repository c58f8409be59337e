"""What the state of one block shows of packages: their status, the service's records, and where
nodes serve it the chain's own history.

No answer is believed against a better one: a package that was accumulated has not failed, whatever
the status says, and one that stays "reported" for ever may be done. What a node does not show is
not called absent, until it cannot be there any more (`silence`).
"""

from collections import OrderedDict
from collections.abc import Sequence
from functools import partial

from msgspec import Struct

from laneway.chains.jam.blocks import Forks
from laneway.chains.jam.limits import HELD_NEAR, STATES_KEPT_MAX
from laneway.chains.jam.node import JamNode, NodeLacksBlock
from laneway.chains.jam.phrases import may_after
from laneway.chains.jam.records import Found, ask_some, held, numbers, refusals
from laneway.chains.jam.shapes import read_as, read_optional_blob, read_status
from laneway.chains.jam.silence import OVER, blocks_needed, is_over
from laneway.core.jam import (
    Accumulated,
    Failed,
    JamBlockRef,
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


class StateAt(Struct, frozen=True):
    """The state of a block, as one node has it."""

    node: JamNode
    block: JamBlockRef
    parameters: Parameters


class Statuses:
    """Reads blocks; what it remembers of them is true of them for ever."""

    def __init__(self, forks: Forks) -> None:
        self._forks = forks
        self._accumulated: OrderedDict[bytes, frozenset[bytes]] = OrderedDict()

    async def read(self, at: StateAt, packages: Sequence[Watched]) -> tuple[PackageSeen, ...]:
        """What is seen of each package; NodeLacksBlock if the node has no state of this block."""
        # Before its anchor there is nothing to see, and a node may call that failed.
        asked = [one for one in packages if one.anchor.slot <= at.block.slot]
        statuses = await self._statuses(at, asked)
        done = await self._done(at, asked, statuses)
        seen: list[PackageSeen] = []
        for one in asked:
            name = one.package_hash
            status, end = statuses.get(name), done.get(name)
            if end is not None and isinstance(status, Failed | Reportable):
                status = None
            facts = [fact for fact in (status, end) if fact is not None]
            seen += [
                PackageSeen(name, at.block, fact, may_after(fact), at.node.name) for fact in facts
            ]
        return tuple(seen)

    async def _done(self, at: StateAt, asked: Sequence[Watched], statuses: Found) -> Found:
        """How packages ended, by the best record that there is: the service's own, the chain's, and
        last that there is none."""
        done = await numbers(at.node, at.block, [one for one in asked if one.keeps_records])
        perhaps = [one for one in asked if is_perhaps_done(at, statuses.get(one.package_hash))]
        keeping = [one for one in perhaps if one.keeps_records]
        done |= await refusals(at.node, at.block, without(keeping, done))
        unanswered = without(perhaps, done)
        if unanswered:
            history = await self._history(at)
            named = [one.package_hash for one in unanswered if one.package_hash in history]
            done |= dict.fromkeys(named, Accumulated(None))
        return done | await self._late(at, without(keeping, done), statuses)

    async def _late(self, at: StateAt, packages: Sequence[Watched], statuses: Found) -> Found:
        """How packages without a lasting record ended: the chain's history has forgotten what was
        accumulated an epoch ago, and a node what it knew of an anchor."""
        silent = [one for one in packages if one.package_hash not in statuses]
        over = await self._over(at, silent)
        old = [
            one
            for one in packages
            if isinstance(statuses.get(one.package_hash), Failed)
            and at.block.slot > one.anchor.slot + at.parameters.epoch_slots
        ]
        found: Found = {}
        for service in dict.fromkeys(one.service for one in (*over, *old)):
            count = EARLY_COUNT_MAX if any(one.service == service for one in over) else HELD_NEAR
            waiting = await held(at.node, at.block, service, count)
            if waiting is None:
                continue  # Whatever it does with packages, it keeps no records as described here.
            found |= {one.package_hash: OVER for one in over if one.service == service}
            known = {one.package_hash: None for one in (*over, *old)}
            found |= {name: fact for name, fact in waiting.items() if name in known}
        return found

    async def _over(self, at: StateAt, packages: Sequence[Watched]) -> list[Watched]:
        most = blocks_needed(at.parameters)
        # Below this no number of blocks is enough, so that nothing is asked in most cases.
        late = [one for one in packages if at.block.slot >= one.anchor.slot + most]
        if not late:
            return []
        after = min(one.anchor.slot for one in late)
        slots = await self._forks.slots(at.node, at.block, after, most)
        return [one for one in late if is_over(slots, one.anchor.slot, at.parameters)]

    async def _statuses(self, at: StateAt, packages: Sequence[Watched]) -> Found:
        node, block = at.node, at.block
        if not node.has_status:
            return await self._reported(at, packages)
        calls = [
            call("workPackageStatus", block.header_hash, one.package_hash, one.anchor.header_hash)
            for one in packages
        ]
        found: Found = {}
        for one, answer in zip(packages, await ask_some(node, calls), strict=True):
            if isinstance(answer, RpcError) and node.is_unsupported(answer):
                node.has_status = False
                return await self._reported(at, packages)
            if isinstance(answer, RpcError) and answer.code == BLOCK_UNAVAILABLE:
                about = hash_in(answer)
                if about == block.header_hash:
                    raise NodeLacksBlock(node.name, block.header_hash, about)
                continue  # It is the anchor that this node does not know: nothing is proven.
            found[one.package_hash] = read_as(
                node.name, answer, lambda value: read_status(value, partial(node.words.kind, 0))
            )
        return found

    async def _history(self, at: StateAt) -> frozenset[bytes]:
        """The packages of the last epoch that were accumulated; none if the node has no answer."""
        kept = self._accumulated.get(at.block.header_hash)
        if kept is not None:
            return kept
        raw = await self._component(at, ACCUMULATED_KEY)
        if raw is None:
            return frozenset()
        try:
            blocks = Exactly(HASH_SET, at.parameters.epoch_slots).decode(raw, "history")
        except InvalidJam:
            at.node.has_state_value = False
            return frozenset()
        found = frozenset(package for packages in blocks for package in packages)
        self._accumulated[at.block.header_hash] = found
        if len(self._accumulated) > STATES_KEPT_MAX:
            self._accumulated.popitem(last=False)
        return found

    async def _reported(self, at: StateAt, packages: Sequence[Watched]) -> Found:
        """Statuses from the chain's recent history, for nodes that serve that and no status."""
        raw = await self._component(at, RECENT_HISTORY_KEY) if packages else None
        if raw is None:
            return {}
        try:
            recent = RECENT_HISTORY.decode(raw, "recent history")
        except InvalidJam:
            at.node.has_state_value = False
            return {}
        slots = await self._slots(at, len(recent.blocks))
        found: Found = {}
        for one in packages:
            fact = recent_fact(recent, one, slots)
            if fact is not None:
                found[one.package_hash] = fact
        return found

    async def _slots(self, at: StateAt, count: int) -> dict[bytes, int]:
        """The slots of the latest blocks, which the history does not hold."""
        slots: dict[bytes, int] = {}
        block: JamBlockRef | None = at.block
        for _ in range(count):
            if block is None:
                break
            slots[block.header_hash] = block.slot
            block = await self._forks.step(at.node, at.block, block)
        return slots

    async def _component(self, at: StateAt, key: bytes) -> bytes | None:
        node = at.node
        if not node.has_state_value:
            return None
        (answer,) = await node.ask([call("stateValue", at.block.header_hash, key)])
        if isinstance(answer, RpcError):
            # A draft that is not served is no trouble, and no other no proves anything.
            node.has_state_value = not node.is_unsupported(answer)
            return None
        return read_as(node.name, answer, read_optional_blob)


def without(packages: Sequence[Watched], done: Found) -> list[Watched]:
    return [one for one in packages if one.package_hash not in done]


def is_perhaps_done(at: StateAt, status: PackageFact | None) -> bool:
    """Whether it may have been accumulated up to this block: not if it waits for its report, or was
    reported in this very block."""
    if isinstance(status, Reportable):
        return False
    return not (isinstance(status, Reported) and status.reported_in == at.block)


def recent_fact(
    recent: RecentHistory, package: Watched, slots: dict[bytes, int]
) -> PackageFact | None:
    """What the last blocks say of a package; nothing where it may be in the pipeline, unseen."""
    for one in recent.blocks:
        if any(reported.hash == package.package_hash for reported in one.reported):
            slot = slots.get(one.header_hash)
            return None if slot is None else Reported(JamBlockRef(one.header_hash, slot))
    hashes = [one.header_hash for one in recent.blocks]
    if package.anchor.header_hash not in hashes:
        return None
    age = len(hashes) - 1 - hashes.index(package.anchor.header_hash)
    return Reportable(RECENT_BLOCK_COUNT - age)
