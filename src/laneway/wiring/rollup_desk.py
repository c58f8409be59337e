"""The server's desk for rollups: what differs from accounts, and what is asked of their blocks."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from laneway.core.errors import (
    AccountNotFound,
    BadRequest,
    BundleNotFound,
    HeldElsewhere,
    RollupBehind,
)
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import Accepted, Answer, Arrival, IntentRow
from laneway.core.outcome import Status
from laneway.core.rows import LaneView, Result
from laneway.engine.waiters import PRUNED_INDEX
from laneway.lanes.bundle.lane import BundleLane, decode_history
from laneway.lanes.bundle.rows import Finished, Slot, Tip, Verdict, Word
from laneway.lanes.bundle.show import read_head
from laneway.lanes.bundle.standing import word_of
from laneway.ports import IntentView, Store
from laneway.server.desk import Taken
from laneway.wire.cursor import BundlePlace
from laneway.wire.hex import octets
from laneway.wire.rollup import (
    BundlePage,
    BundleShown,
    BundleTx,
    NewRollupTx,
    Rollup,
    RollupAccount,
    RollupReceipt,
    RollupStatus,
    RollupTx,
)
from laneway.wire.times import to_ms
from laneway.wire.values import Tx
from laneway.wiring.account_desk import AccountDesk
from laneway.wiring.account_shown import taken_tx
from laneway.wiring.arrivals import RETRY_SCOPE
from laneway.wiring.finding import HASH, HASH_INDEX
from laneway.wiring.limits import ANSWERS_PAGE, CATCH_UP_S_MAX, SPENDERS_MAX
from laneway.wiring.rollup_arrivals import WITHOUT_EFFECT
from laneway.wiring.rollup_bundles import (
    bundle_of,
    final_of,
    final_shown,
    found,
    is_behind,
    listed,
    number_of,
    place_of,
    shown_of,
)
from laneway.wiring.rollup_shown import RollupTeller
from laneway.wiring.transfers import Transfers

if TYPE_CHECKING:
    # The curve is an extra (`rollup`); contracts need none of it.
    from laneway.builder.receipts import Receipt
    from laneway.wiring.rollup_ledger import LedgerView

Accept = Callable[[Arrival], Awaitable[Answer]]
Answered = Callable[[Arrival, Answer], Awaitable[Taken]]

STOPPED = ("paused", "halted")
NOT_IN_FINAL = (
    "{depth} transactions of this lane are not final, and which of them are in blocks is known to "
    "the process that holds it: balance and nonce are without them"
)
NOT_HERE_YET = (
    "the newest blocks of this lane were not executed by this process yet: balance and nonce are "
    "without them"
)


class RollupsDesk(AccountDesk[RollupTeller]):
    """Makes arrivals of rollups' transactions, and tells of their blocks."""

    def __init__(
        self,
        store: Store,
        teller: RollupTeller,
        transfers: Transfers,
        accept: Accept,
        answered: Answered,
    ) -> None:
        super().__init__(store, teller)
        self._transfers = transfers
        self._accept = accept
        self._answered = answered
        self._spent: dict[tuple[str, bytes], tuple[int, str]] = {}
        """The highest nonce that each account handed in here, and the intent that has it."""

    # Transactions, as accounts have them.

    def accepted(self, arrival: Arrival, answer: Accepted) -> Tx:
        return taken_tx(arrival, answer, rollup=RollupTx(raw=octets(arrival.payload)))

    async def retried(self, view: IntentView) -> Taken:
        """What came to nothing once more: the same bytes, under a key of their own."""
        row = view.intent
        arrival, answer = await self._transfers.submit(
            row.lane, row.payload, self._accept, key=row.id, scope=RETRY_SCOPE
        )
        return await self._answered(arrival, answer)

    def effect(self, _verb: str, row: IntentRow, /) -> str:
        if self.teller.slot(row.lane, row.id) is not None:
            return "refused: it is in a block, which never changes"
        return "it would never be in a block"

    def followed(self, _verb: str, _row: IntentRow, /, *, final: bool) -> str:
        return "it will never be in a block" if final else "the lane has followed"

    async def submit(self, lane: str, new: NewRollupTx, key: str | None, scope: str) -> Taken:
        until_ms = None if new.valid_until is None else max(0, to_ms(new.valid_until))
        arrival, answer = await self._transfers.submit(
            lane, new.raw, self._accept, key=key, scope=scope, valid_until_ms=until_ms
        )
        taken = await self._answered(arrival, answer)
        self._note(arrival, taken.tx.id)
        return taken

    def _note(self, arrival: Arrival, intent: str) -> None:
        """Whose nonce it uses, so that the next one can be told while it waits."""
        account, nonce = self._ask(arrival.lane).spent(arrival.payload)
        known = self._spent.pop((arrival.lane, account), (-1, ""))
        self._spent[arrival.lane, account] = max(known, (nonce, intent))
        while len(self._spent) > SPENDERS_MAX:
            del self._spent[next(iter(self._spent))]

    # Rollups.

    def lane(self, rollup: str) -> str:
        """By its name, its service, or either behind `rollup:` as other outputs have it."""
        return self.teller.name(f"rollup:{rollup.removeprefix('rollup:')}")

    async def listed(self) -> Sequence[Rollup]:
        places = self.teller.places
        lanes = [] if places is None else sorted(places.lanes())
        return [self.teller.rollup(await self.view(lane)) for lane in lanes]

    async def status(self, lane: str) -> RollupStatus:
        return as_it_may(self.teller.status(await self.view(lane), self._ask(lane).chain()))

    async def held(self) -> list[tuple[BundleLane, LaneView]]:
        """The lanes that are held here, with what the store knows of them."""
        places = self.teller.places
        lanes = [] if places is None else places.lanes()
        held = [(one, lane) for lane in lanes if (one := self.teller.held(lane)) is not None]
        return [(one, await self.view(lane)) for one, lane in held]

    # Blocks.

    async def bundles(
        self, lane: str, state: str | None, after: BundlePlace | None, limit: int
    ) -> tuple[BundlePage, BundlePlace | None]:
        name = self.teller.name(lane)
        behind = None if after is None else (after.final, after.number)
        held = self.teller.held(name)
        if held is None:
            return await self._stored(name, state, behind, limit)
        items: list[Slot | Finished] = []
        for block in listed(held):
            if not is_behind(block, behind) or state not in (None, state_of(held, block)):
                continue
            if len(items) == limit:
                return page_of(held, items, "", more=True)
            items.append(block)
        return page_of(held, items, "", more=False)

    async def _stored(
        self, lane: LaneId, state: str | None, after: tuple[bool, int] | None, limit: int
    ) -> tuple[BundlePage, BundlePlace | None]:
        """What transactions' final answers tell, where another process holds the lane."""
        view = await self.view(lane)
        head = read_head(view.head.state)
        await self._level(lane, head.tip)
        elsewhere = "" if self.teller.is_asleep(view) else self.teller.elsewhere(view)
        number = after[1] - 1 if after is not None and after[0] else head.tip.number
        items: list[Slot | Finished] = []
        while state in (None, Word.FINALISED) and len(items) <= limit:
            block = await self._finished(lane, number)
            if block is None:
                break
            items.append(block)
            number -= 1
        return page_of(None, items[:limit], elsewhere, more=len(items) > limit)

    async def bundle(self, lane: str, name: str) -> BundleShown:
        own = self.teller.name(lane)
        held = self.teller.held(own)
        if held is None:
            await self._level(own, read_head((await self.view(own)).head.state).tip)
        block = None if held is None else found(held, name)
        if block is None and (number := number_of(name)) is not None:
            block = await self._finished(own, number)
        if block is None:
            if held is None and not self.teller.is_asleep(await self.view(own)):
                raise HeldElsewhere(own, f"block {name}")
            raise BundleNotFound(own, f"block {name}")
        if isinstance(block, Slot):
            return shown_of(held_by(held), block)
        return final_shown(block, await self._transactions(own, block))

    async def _finished(self, lane: LaneId, number: int) -> Finished | None:
        """A final block, found by one of its transactions."""
        block = await self._ask(lane).block(number) if number >= 0 else None
        if block is None or not block.is_final or not block.hashes:
            return None
        index = await self._store.find(HASH_INDEX, block.hashes[0].hex())
        view = None if index is None else await self._store.intent(index.intent)
        if view is None or view.result is None or not view.result.history:
            return None  # It came another way, or retention removed it.
        return decode_history(view.result.history).finished

    async def _transactions(self, lane: LaneId, block: Finished) -> list[BundleTx]:
        """Of a final block, as far as builder and store still know them."""
        known = await self._ask(lane).block(block.number)
        if known is None or known.hash != block.block:
            return []
        ids: list[IntentId | None] = []
        for hash_ in known.hashes:
            index = await self._store.find(HASH_INDEX, hash_.hex())
            ids.append(None if index is None else index.intent)
        named = [one for one in ids if one is not None]
        answers: dict[str, Result] = {}
        for at in range(0, len(named), ANSWERS_PAGE):
            for result in await self._store.answers(lane, named[at : at + ANSWERS_PAGE]):
                answers[result.intent] = result
        return [
            final_member(hash_, intent, answers.get(intent or ""))
            for hash_, intent in zip(known.hashes, ids, strict=True)
        ]

    # What its builder knows.

    def _ask(self, lane: str) -> "LedgerView":
        from laneway.wiring.rollup_ledger import LedgerView

        places = self.teller.places
        if places is None:
            raise AccountNotFound(lane)
        return LedgerView(places.rollup(self.teller.name(lane)).builder)

    async def _level(self, lane: LaneId, tip: Tip, *, held: bool = False) -> "LedgerView":
        """Whom to ask, once it has all that the chain and the lane say is final: an old balance or
        nonce would be used to sign with."""
        ask = self._ask(lane)
        if ask.problem(tip, held=held):
            with suppress(TimeoutError):
                async with asyncio.timeout(CATCH_UP_S_MAX):
                    await ask.catch_up()
        problem = ask.problem(tip, held=held)
        if problem:
            raise RollupBehind(lane, problem)
        return ask

    async def receipt(self, lane: str, hash_: str) -> RollupReceipt:
        digits, own = HASH.fullmatch(hash_), self.teller.name(lane)
        name = f"receipt of {hash_}"
        if digits is None:
            raise BundleNotFound(own, name)
        seen = await self._receipt(own, name, bytes.fromhex(digits[1]))
        index = await self._store.find(HASH_INDEX, digits[1].lower())
        return RollupReceipt(
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

    async def _receipt(self, lane: LaneId, name: str, transaction_hash: bytes) -> "Receipt":
        """In a final block, or in an open one of the lane that is held here: what else this builder
        built once may have come to nothing elsewhere."""
        view, held = await self.view(lane), self.teller.held(lane)
        tip = read_head(view.head.state).tip if held is None else held.head.tip
        ask = await self._level(lane, tip, held=held is not None)
        seen = await ask.receipt(transaction_hash)
        if seen is not None and (seen.is_final or (held is not None and has(held, seen.block))):
            return seen
        if held is None and not self.teller.is_asleep(view):
            raise HeldElsewhere(lane, name)
        raise BundleNotFound(lane, name)

    async def account(self, lane: str, account: str) -> RollupAccount:
        digits, own = HASH.fullmatch(account), self.teller.name(lane)
        if digits is None:
            raise BadRequest("account", "64 hexadecimal digits, with 0x before them or without")
        id_ = bytes.fromhex(digits[1])
        view, held = await self.view(own), self.teller.held(own)
        tip = read_head(view.head.state).tip if held is None else held.head.tip
        ask = await self._level(own, tip, held=held is not None)
        seen = ask.account(id_, None if held is None else newest_of(held))
        elsewhere = "" if seen.is_newest else NOT_HERE_YET
        if held is None:
            elsewhere = NOT_IN_FINAL.format(depth=view.depth()) if view.depth() else ""
        return RollupAccount(
            account=octets(id_),
            balance=str(seen.newest.balance),
            nonce=seen.newest.nonce,
            nonce_next=await self._nonce_next(own, id_, seen.newest.nonce),
            balance_final=str(seen.final.balance),
            nonce_final=seen.final.nonce,
            block=seen.number,
            at="pending" if seen.is_newest else "finalized",
            held=held is not None,
            elsewhere=elsewhere,
        )

    async def _nonce_next(self, lane: str, account: bytes, nonce: int) -> int:
        """Behind the last that was handed in here, unless that came to nothing. Its block may be
        final already, and not be in the state that was asked."""
        used, intent = self._spent.get((lane, account), (-1, ""))
        if used < nonce:
            return nonce
        view = await self._store.intent(IntentId(intent))
        if view is not None:
            status = "" if view.result is None else view.result.status
        else:
            left = await self._store.find(PRUNED_INDEX, intent)
            status = Status.REFUSED.value if left is None else left.status
        return nonce if status in WITHOUT_EFFECT else used + 1


def as_it_may(status: RollupStatus) -> RollupStatus:
    """The picture counts blocks alone: a lane that is stopped, or whose clock is off, submits
    nothing, whatever room there is."""
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


def state_of(lane: BundleLane, block: Slot | Finished) -> str:
    return Word.FINALISED if isinstance(block, Finished) else word_of(lane, block)


def page_of(
    lane: BundleLane | None, items: Sequence[Slot | Finished], elsewhere: str, *, more: bool
) -> tuple[BundlePage, BundlePlace | None]:
    shown = [
        final_of(one) if isinstance(one, Finished) else bundle_of(held_by(lane), one)
        for one in items
    ]
    place = BundlePlace(*place_of(items[-1])) if more else None
    return BundlePage(items=shown, next_cursor=None, elsewhere=elsewhere), place


def held_by(lane: BundleLane | None) -> BundleLane:
    """Open blocks are only ever read from a lane that is held."""
    assert lane is not None
    return lane


VERDICTS = {Status.CONFIRMED.value: Verdict.INCLUDED, Status.REVERTED.value: Verdict.REVERTED}


def final_member(hash_: bytes, intent: IntentId | None, result: Result | None) -> BundleTx:
    return BundleTx(
        tx=intent or "",
        hash=octets(hash_),
        verdict="" if result is None else VERDICTS.get(result.status, ""),
        reason="" if result is None else result.reason,
    )


def stage_of(seen: "Receipt") -> str:
    if seen.is_final:
        return Word.FINALISED
    return Word.ACCUMULATED if seen.is_canonical else "built"
