"""What the builder of a ledger knows, for the server's desk. Other kinds of rollups have their own.

Imported late: the curve is an extra (`rollup`).
"""

from laneway.builder.ledger import LedgerBuilder
from laneway.builder.receipts import At, BlockView, Receipt
from laneway.jam.hashing import HASH_BYTES
from laneway.jam.service.ledger.account import Account
from laneway.jam.service.ledger.transfer import TRANSFER, account_id


class LedgerView:
    """One ledger as its builder in this process has it."""

    def __init__(self, builder: LedgerBuilder) -> None:
        self._builder = builder

    def chain(self) -> bytes:
        """The hash of the JAM chain's genesis header, which signatures name."""
        return self._builder.rollup.identity[:HASH_BYTES]

    async def receipt(self, transaction_hash: bytes) -> Receipt | None:
        return await self._builder.receipt(transaction_hash)

    async def block(self, number: int) -> BlockView | None:
        return await self._builder.block(number)

    def account(self, id_: bytes) -> tuple[Account, Account, int]:
        """Behind the newest block, behind the newest final one, and the number of the newest."""
        builder = self._builder
        newest, final = builder.account(id_, At.PENDING), builder.account(id_, At.FINALIZED)
        return newest, final, builder.heads.newest_number

    def spent(self, raw: bytes) -> tuple[bytes, int]:
        """Whose nonce a transfer uses, and which."""
        transfer = TRANSFER.decode(raw, "transfer")
        return account_id(transfer.sender), transfer.nonce
