"""The server's desk for rollups: what differs from accounts, and what is asked of their blocks."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from laneway.core.errors import (
    AccountNotFound,
    BundleNotFound,
    HeldElsewhere,
    RollupBehind,
)
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import Arrival
from laneway.core.outcome import Status
from laneway.core.rows import LaneView, Result
from laneway.engine.waiters import PRUNED_INDEX
from laneway.kinds.limits import ANSWERS_PAGE, CATCH_UP_S_MAX, SPENDERS_MAX
from laneway.kinds.names import HASH, HASH_INDEX
from laneway.kinds.rollup.arrivals import WITHOUT_EFFECT
from laneway.kinds.rollup.bundles import (
    bundle_of,
    comes_after,
    final_of,
    final_shown,
    found,
    listed,
    number_of,
    place_of,
    shown_of,
)
from laneway.kinds.rollup.registry import rollup_kinds
from laneway.kinds.rollup.views import ConfiguredRollup, RollupViews
from laneway.lanes.bundle.lane import BundleLane, decode_history
from laneway.lanes.bundle.rows import BlockState, ExecutionVerdict, Finished, Slot, Tip
from laneway.lanes.bundle.show import read_head
from laneway.ports import RollupReads
from laneway.wire import rollup as wire
from laneway.wire.cursor import BundlePlace
from laneway.wire.hex import octets

if TYPE_CHECKING:
    # The curve is an extra (`rollup`); contracts need none of it.
    from laneway.rollups.receipts import TransactionReceipt

B = TypeVar("B", bound=Slot | Finished)

STOPPED = ("paused", "halted")
NOT_IN_FINAL = (
    "{depth} transactions of this lane are not final, and which of them are in blocks is known to "
    "the process that holds it: balance and nonce are without them"
)
NOT_HERE_YET = (
    "the newest blocks of this lane were not executed by this process yet: balance and nonce are "
    "without them"
)


class RollupsDesk:
    """What is asked of rollups' blocks, receipts and accounts."""

    def __init__(self, views: RollupViews) -> None:
        self.views = views
        self._spent: dict[tuple[str, bytes], tuple[int, str]] = {}
        """The highest nonce that each account handed in here, and the intent that has it."""

    async def note(self, arrival: Arrival, intent: str) -> None:
        """Whose nonce it uses, so that the next one can be shown while it waits."""
        spent = await self._rollup(arrival.lane).reads.spent(arrival.payload)
        if spent is None:
            return
        account, nonce = spent
        known = self._spent.pop((arrival.lane, account), (-1, ""))
        self._spent[arrival.lane, account] = max(known, (nonce, intent))
        while len(self._spent) > SPENDERS_MAX:
            del self._spent[next(iter(self._spent))]

    # Rollups.

    def lane(self, rollup: str) -> str:
        """By its name, its service, or either after `rollup:` as other outputs have it."""
        return self.views.lane_name(f"rollup:{rollup.removeprefix('rollup:')}")

    async def listed(self) -> Sequence[wire.Rollup]:
        lanes = [] if self.views.lanes is None else sorted(self.views.lanes.lanes())
        return [self.views.rollup(await self.views.view(lane)) for lane in lanes]

    async def status(self, lane: str) -> wire.RollupStatus:
        genesis = self._rollup(lane).genesis or None
        return as_it_may(self.views.status(await self.views.view(lane), genesis))

    async def held(self) -> list[tuple[BundleLane, LaneView]]:
        """The lanes that are held here, with what the store knows of them."""
        lanes = [] if self.views.lanes is None else self.views.lanes.lanes()
        held = [(one, lane) for lane in lanes if (one := self.views.held(lane)) is not None]
        return [(one, await self.views.view(lane)) for one, lane in held]

    # Blocks.

    async def bundles(
        self, lane: str, state: str | None, after: BundlePlace | None, limit: int
    ) -> tuple[wire.BundlePage, BundlePlace | None]:
        name = self.views.lane_name(lane)
        place = None if after is None else (after.final, after.number)
        held = self.views.held(name)
        if held is None:
            return await self._stored(name, state, place, limit)
        after_it = (block for block in listed(held) if comes_after(block, place))
        items = (one for one in after_it if state is None or bundle_of(held, one).state == state)
        return page_of(partial(bundle_of, held), list(islice(items, limit + 1)), limit)

    async def _stored(
        self, lane: LaneId, state: str | None, after: tuple[bool, int] | None, limit: int
    ) -> tuple[wire.BundlePage, BundlePlace | None]:
        """What transactions' final answers say, where another process holds the lane."""
        view = await self.views.view(lane)
        head = read_head(view.head.state)
        await self._level(lane, head.tip)
        elsewhere = "" if self.views.is_asleep(view) else self.views.elsewhere(view)
        number = after[1] - 1 if after is not None and after[0] else head.tip.number
        items: list[Finished] = []
        while state in (None, BlockState.FINALISED) and len(items) <= limit:
            block = await self._finished(lane, number)
            if block is None:
                break
            items.append(block)
            number -= 1
        return page_of(final_of, items, limit, elsewhere)

    async def bundle(self, lane: str, name: str) -> wire.BundleShown:
        own = self.views.lane_name(lane)
        held = self.views.held(own)
        if held is None:
            await self._level(own, read_head((await self.views.view(own)).head.state).tip)
        block = None if held is None else found(held, name)
        if block is None and (number := number_of(name)) is not None:
            block = await self._finished(own, number)
        if block is None:
            if held is None and not self.views.is_asleep(await self.views.view(own)):
                raise HeldElsewhere(own, f"block {name}")
            raise BundleNotFound(own, f"block {name}")
        if isinstance(block, Slot):
            assert held is not None  # Open blocks are only ever read from a lane that is held.
            return shown_of(held, block)
        return final_shown(block, await self._transactions(own, block))

    async def _finished(self, lane: LaneId, number: int) -> Finished | None:
        """A final block, found by one of its transactions."""
        block = await self._rollup(lane).reads.block(number) if number >= 0 else None
        if block is None or not block.is_final or not block.hashes:
            return None
        index = await self.views.store.find(HASH_INDEX, block.hashes[0].hex())
        view = None if index is None else await self.views.store.intent(index.intent)
        if view is None or view.result is None or not view.result.history:
            return None  # It came another way, or retention removed it.
        return decode_history(view.result.history).finished

    async def _transactions(self, lane: LaneId, block: Finished) -> list[wire.BundleTx]:
        """Of a final block, as far as builder and store still know them."""
        known = await self._rollup(lane).reads.block(block.number)
        if known is None or known.hash != block.block:
            return []
        ids: list[IntentId | None] = []
        for hash_ in known.hashes:
            index = await self.views.store.find(HASH_INDEX, hash_.hex())
            ids.append(None if index is None else index.intent)
        named = [one for one in ids if one is not None]
        answers: dict[str, Result] = {}
        for at in range(0, len(named), ANSWERS_PAGE):
            for result in await self.views.store.answers(lane, named[at : at + ANSWERS_PAGE]):
                answers[result.intent] = result
        return [
            final_member(hash_, intent, answers.get(intent or ""))
            for hash_, intent in zip(known.hashes, ids, strict=True)
        ]

    # What its builder knows.

    def _rollup(self, lane: str) -> ConfiguredRollup:
        lanes = self.views.lanes
        if lanes is None:
            raise AccountNotFound(lane, *self.views.named_so)
        return lanes.account(self.views.lane_name(lane))

    async def _level(self, lane: LaneId, tip: Tip, *, held: bool = False) -> RollupReads:
        """The builder's answers, once it has all that the chain and the lane say is final: an old
        balance or nonce would be used to sign with."""
        reads = self._rollup(lane).reads
        if await reads.problem(tip, held=held):
            with suppress(TimeoutError):
                async with asyncio.timeout(CATCH_UP_S_MAX):
                    await reads.catch_up()
        problem = await reads.problem(tip, held=held)
        if problem:
            raise RollupBehind(lane, problem)
        return reads

    async def _newest(self, lane: LaneId) -> tuple[LaneView, BundleLane | None, RollupReads]:
        view, held = await self.views.view(lane), self.views.held(lane)
        tip = read_head(view.head.state).tip if held is None else held.head.tip
        return view, held, await self._level(lane, tip, held=held is not None)

    async def receipt(self, lane: str, hash_: str) -> wire.RollupReceipt:
        digits, own = HASH.fullmatch(hash_), self.views.lane_name(lane)
        name = f"receipt of {hash_}"
        if digits is None:
            raise BundleNotFound(own, name)
        seen = await self._receipt(own, name, bytes.fromhex(digits[1]))
        index = await self.views.store.find(HASH_INDEX, digits[1].lower())
        return wire.RollupReceipt(
            hash=octets(seen.hash),
            tx=None if index is None else index.intent,
            status=seen.status,
            ok=seen.status.upper() == "OK",
            number=seen.number,
            block=octets(seen.block),
            index=seen.index,
            state=stage_of(seen),
            package=octets(seen.package_hash) if seen.package_hash else None,
        )

    async def _receipt(
        self, lane: LaneId, name: str, transaction_hash: bytes
    ) -> "TransactionReceipt":
        """In a final block, or in an open one of the lane that is held here: what else this builder
        built once may have come to nothing elsewhere."""
        view, held, reads = await self._newest(lane)
        seen = await reads.receipt(transaction_hash)
        if seen is not None and (seen.is_final or (held is not None and has(held, seen.block))):
            return seen
        if held is None and not self.views.is_asleep(view):
            raise HeldElsewhere(lane, name)
        raise BundleNotFound(lane, name)

    async def account(self, lane: str, account: str) -> wire.RollupAccount:
        own = self.views.lane_name(lane)
        id_ = rollup_kinds()[self._rollup(own).kind].account_id(account)
        view, held, reads = await self._newest(own)
        seen = await reads.account(id_, None if held is None else newest_of(held))
        elsewhere = "" if seen.is_newest else NOT_HERE_YET
        if held is None:
            elsewhere = NOT_IN_FINAL.format(depth=view.depth()) if view.depth() else ""
        return wire.RollupAccount(
            account=octets(id_),
            balance=str(seen.asked.balance),
            nonce=seen.asked.nonce,
            nonce_next=await self._nonce_next(own, id_, seen.nonce),
            balance_final=str(seen.final.balance),
            nonce_final=seen.final.nonce,
            block=seen.number,
            at=seen.at,
            held=held is not None,
            elsewhere=elsewhere,
        )

    async def _nonce_next(self, lane: str, account: bytes, nonce: int) -> int:
        """After the last that was handed in here, unless that came to nothing. Its block may be
        final already, and not be in the state that was asked."""
        used, intent = self._spent.get((lane, account), (-1, ""))
        if used < nonce:
            return nonce
        view = await self.views.store.intent(IntentId(intent))
        if view is not None:
            status = "" if view.result is None else view.result.status
        else:
            left = await self.views.store.find(PRUNED_INDEX, intent)
            status = Status.REFUSED.value if left is None else left.status
        return nonce if status in WITHOUT_EFFECT else used + 1


def as_it_may(status: wire.RollupStatus) -> wire.RollupStatus:
    """The picture counts blocks alone: a lane that is stopped, or whose clock is off, submits
    nothing, whatever capacity there is."""
    is_held_up = status.clock is not None and status.clock.is_held_up
    if status.picture is None or (status.rollup.state not in STOPPED and not is_held_up):
        return status
    return replace(status, picture=replace(status.picture, can_submit=False))


def newest_of(lane: BundleLane) -> Tip:
    """The newest block of a lane that is executed."""
    sealed = [one for one in lane.slots.values() if one.block]
    newest = max(sealed, key=lambda one: one.number, default=None)
    return lane.head.tip if newest is None else Tip(newest.number, newest.block, newest.post_root)


def has(lane: BundleLane, block: bytes) -> bool:
    """Whether a block is open in the lane, or was just now."""
    if any(one.block == block for one in lane.slots.values()):
        return True
    return any(one.block == block for one in lane.finished.values())


def page_of(
    show: Callable[[B], wire.Bundle], blocks: Sequence[B], limit: int, elsewhere: str = ""
) -> tuple[wire.BundlePage, BundlePlace | None]:
    """A page of this many of the blocks; where there are more, the place to go on after."""
    items = [show(one) for one in blocks[:limit]]
    place = BundlePlace(*place_of(blocks[limit - 1])) if len(blocks) > limit else None
    return wire.BundlePage(items=items, next_cursor=None, elsewhere=elsewhere), place


VERDICTS = {
    Status.CONFIRMED.value: ExecutionVerdict.INCLUDED,
    Status.REVERTED.value: ExecutionVerdict.REVERTED,
}


def final_member(hash_: bytes, intent: IntentId | None, result: Result | None) -> wire.BundleTx:
    return wire.BundleTx(
        tx=intent or "",
        hash=octets(hash_),
        verdict="" if result is None else VERDICTS.get(result.status, ""),
        reason="" if result is None else result.reason,
    )


def stage_of(seen: "TransactionReceipt") -> str:
    if seen.is_final:
        return BlockState.FINALISED
    return BlockState.ACCUMULATED if seen.is_canonical else "built"
