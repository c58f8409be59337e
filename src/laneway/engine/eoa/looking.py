"""What a chain says of one account: its count, and which of its bytes are in which block."""

from collections.abc import Sequence

from laneway.core.facts import BlockRef, BlockSeen, ReceiptSeen
from laneway.engine.eoa.account import EvmAccount
from laneway.lanes.eoa.values import ChainRead, LookAtChain, ProveNonce, Receipt
from laneway.ports import Clock


async def look(account: EvmAccount, order: LookAtChain, clock: Clock) -> ChainRead | None:
    """None when nodes contradict each other, as they do for a moment around a new block."""
    view = account.view
    account.begin_look()
    seen = await view.chain.account(account.address)
    fees = await view.fees_now()
    known = BlockRef(order.block, order.block_hash) if order.block_hash else None
    since = await view.since(known, seen.block)
    if since is None:
        return None
    receipts: list[Receipt] | None
    if since.blocks is None or known is None:
        # Too many blocks to read, or none known yet. Receipts alone do not say whether their block
        # is below this one; whoever used a number is proven one by one.
        receipts = []
    else:
        found = {hash_: block.block for block in since.blocks for hash_ in block.hashes}
        ours = found.keys() & order.hashes
        # A chain may have mined what was sent after this look was ordered; whoever passed it over
        # would have to prove each of these numbers.
        mined = {
            hash_: block
            for hash_, block in found.items()
            if hash_ in ours or account.is_ours(hash_)
        }
        receipts = await receipts_of(account, mined, since.blocks)
    if receipts is None:
        return None
    legacy_wei = 0 if fees.supports_1559 else fees.gas_price_wei
    return ChainRead(
        now_ms=clock.now_ms(),
        since=order.block_hash,
        latest=seen.count,
        preconfirmed=seen.preconfirmed_count,
        balance=seen.balance_wei,
        base_fee=fees.base_fee_wei,
        tip=legacy_wei or fees.priority_fee_wei,
        block=seen.block.number,
        block_hash=seen.block.hash,
        receipts=tuple(receipts),
        fork=since.fork,
    )


async def receipts_of(
    account: EvmAccount, mined: dict[bytes, BlockRef], blocks: Sequence[BlockSeen]
) -> list[Receipt] | None:
    """Receipts of what these blocks hold, all of them or none."""
    if not mined:
        return []
    told = await account.view.chain.receipts(list(mined), blocks)
    found = [
        receipt(one)
        for one, block in zip(told, mined.values(), strict=True)
        if one is not None and one.block == block
    ]
    return found if len(found) == len(mined) else None


def receipt(seen: ReceiptSeen) -> Receipt:
    return Receipt(
        seen.hash,
        seen.block.number,
        seen.block.hash,
        seen.succeeded,
        seen.gas_used,
        seen.effective_gas_price_wei,
    )


async def prove(account: EvmAccount, order: ProveNonce) -> tuple[Receipt | None, int]:
    """Who used a number, from a node at or above the block that gave the count, and how far that
    node is."""
    chain = account.view.chain
    owner = await chain.at_nonce(account.address, order.nonce, BlockRef(order.block, b""))
    if owner is None:
        return None, 0
    (told,) = await chain.receipts([owner.hash])
    if told is None or told.block != owner.block:
        return None, 0  # Another node has it elsewhere.
    return receipt(told), owner.head
