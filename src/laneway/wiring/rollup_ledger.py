"""What the builder of a ledger knows, for the server's desk. Other kinds of rollups have their own.

Imported late: the curve is an extra (`rollup`).
"""

from msgspec import Struct

from laneway.builder.ledger import LedgerBuilder
from laneway.builder.receipts import BlockView, Receipt
from laneway.jam.hashing import HASH_BYTES
from laneway.jam.service.ledger.account import Account
from laneway.jam.service.ledger.transfer import TRANSFER, account_id
from laneway.lanes.bundle.rows import Tip


class AccountView(Struct, frozen=True, kw_only=True):
    newest: Account
    final: Account
    number: int
    """Of the block that leaves `newest`."""
    is_newest: bool
    """Whether that is the block which was asked for, or one behind it."""


class LedgerView:
    """One ledger as its builder in this process has it."""

    def __init__(self, builder: LedgerBuilder) -> None:
        self._builder = builder

    def chain(self) -> bytes:
        """The hash of the JAM chain's genesis header, which signatures name."""
        return self._builder.rollup.identity[:HASH_BYTES]

    # Whether it can be asked.

    def problem(self, tip: Tip, *, held: bool) -> str:
        """Why its answers would be old ones, by what the chain and the lane have; empty: they would
        not be. Who holds the lane may be told of a final block before its builder is."""
        builder = self._builder
        if builder.lag:
            return builder.lag
        have = builder.heads.final_number
        is_here = held and builder.snapshot(tip.block) is not None
        if not tip.block or have >= tip.number or is_here:
            return ""
        return f"it has block {have}, and block {tip.number} is final"

    async def catch_up(self) -> None:
        await self._builder.caught_up()

    # What it knows.

    async def receipt(self, transaction_hash: bytes) -> Receipt | None:
        return await self._builder.receipt(transaction_hash)

    async def block(self, number: int) -> BlockView | None:
        return await self._builder.block(number)

    def account(self, id_: bytes, newest: Tip | None) -> AccountView:
        """Behind this block, if it is open here, or else behind the newest final one; and behind
        that."""
        heads = self._builder.heads
        final = heads.final.account(id_)
        asked = None if newest is None else self._builder.snapshot(newest.block)
        if asked is not None and asked.sealed.number > heads.final_number:
            number = asked.sealed.number
            own = asked.state.account(id_)
            return AccountView(newest=own, final=final, number=number, is_newest=True)
        number = heads.final_number
        is_newest = newest is not None and number >= newest.number
        return AccountView(newest=final, final=final, number=number, is_newest=is_newest)

    def spent(self, raw: bytes) -> tuple[bytes, int]:
        """Whose nonce a transfer uses, and which."""
        transfer = TRANSFER.decode(raw, "transfer")
        return account_id(transfer.sender), transfer.nonce
