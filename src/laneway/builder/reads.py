"""What people ask of a builder, in the process that has it.

Every answer is a value that can be sent to another process, and none shows a state.
"""

from typing import Generic, Literal

from laneway.builder.builder import ChainedBuilder
from laneway.lanes.bundle.rows import Tip
from laneway.rollups.receipts import AccountState, AccountView, BlockView, TransactionReceipt
from laneway.rollups.rules import B, S


class BuilderReads(Generic[S, B]):
    """Implements `RollupReads` for the builder of any kind of rollup."""

    def __init__(self, builder: ChainedBuilder[S, B]) -> None:
        self._builder = builder

    # Transactions that come in.

    async def check(self, raw: bytes) -> bytes:
        return self._builder.pool.check(raw)

    async def hash_of(self, raw: bytes) -> bytes:
        return self._builder.rollup.checked(raw)

    async def spent(self, raw: bytes) -> tuple[bytes, int] | None:
        return self._builder.rollup.spent(raw)

    # Whether it can be asked.

    async def problem(self, tip: Tip, *, held: bool) -> str:
        builder = self._builder
        if builder.lag:
            return builder.lag
        have = builder.heads.final.sealed.number
        is_here = held and builder.snapshot(tip.block) is not None
        if not tip.block or have >= tip.number or is_here:
            return ""
        return f"it has block {have}, and block {tip.number} is final"

    async def catch_up(self) -> None:
        await self._builder.caught_up()

    # What it knows.

    async def receipt(self, transaction_hash: bytes) -> TransactionReceipt | None:
        return await self._builder.receipt(transaction_hash)

    async def block(self, number: int) -> BlockView | None:
        return await self._builder.block(number)

    async def latest(self, account: bytes) -> AccountState:
        return self._builder.rollup.account(self._builder.state(), account)

    async def account(self, account: bytes, newest: Tip | None) -> AccountView:
        builder, heads = self._builder, self._builder.heads
        read = builder.rollup.account
        final = asked = read(heads.final.state, account)
        number = heads.final.sealed.number
        found = None if newest is None else builder.snapshot(newest.block)
        if found is not None and found.sealed.number > number:
            asked, number = read(found.state, account), found.sealed.number
        is_newest = newest is not None and number >= newest.number
        nonce = asked.nonce
        if is_newest and builder.latest_is_safe:
            safe = heads.accumulated
            asked, number = read(safe.state, account), safe.sealed.number
        newest_tag: Literal["safe", "pending"] = "safe" if builder.latest_is_safe else "pending"
        return AccountView(
            asked=asked,
            final=final,
            number=number,
            at=newest_tag if is_newest else "finalized",
            nonce=nonce,
            is_newest=is_newest,
        )
