"""An account as its chain shows it: its count, and which of its bytes are in which block."""

from collections.abc import Sequence

from msgspec import Struct

from laneway.core.facts import BlockRef, BlockSeen, NonceClaim, ReceiptSeen
from laneway.core.majority import final_quorum, look_quorum, verdicts
from laneway.core.reason import clip
from laneway.engine.eoa.account import EvmAccount
from laneway.engine.limits import OWNERS_ASKED_MAX, RECEIPTS_AT_ONCE
from laneway.evm.validity import owner_hash
from laneway.lanes.eoa.values import ChainRead, LookAtChain, ProveNonce, Receipt
from laneway.ports import Clock


class Proof(Struct, frozen=True):
    """The common answer of the nodes about who used one nonce."""

    nonce: int
    receipt: Receipt | None = None
    """The final receipt of the transaction that used it: ours, or another one of this account."""
    evidence: str = ""
    """Why only a person can help; empty where waiting may."""


async def look(account: EvmAccount, order: LookAtChain, clock: Clock) -> ChainRead | None:
    """None when nodes contradict each other, as they do for a moment around a new block."""
    view = account.view
    account.begin_look()
    seen = await view.chain.account(account.address)
    fees = await view.fees_now()
    known = BlockRef(order.block, order.block_hash) if order.block_hash else None
    since = await view.since(known, seen.block, seen.node)
    if since is None:
        return None
    receipts: list[Receipt] | None
    if since.blocks is None or known is None:
        # Too many blocks to read, or none known yet. Receipts alone do not say whether their block
        # is below this one; those of numbers that are used are asked for by their hashes.
        receipts = []
    else:
        found = {hash_: block.block for block in since.blocks for hash_ in block.hashes}
        ours = found.keys() & order.hashes
        # A chain may have mined what was sent after this look was ordered; if it were skipped
        # here, each of these numbers would have to be proven.
        mined = {
            hash_: block
            for hash_, block in found.items()
            if hash_ in ours or account.is_ours(hash_)
        }
        receipts = await receipts_of(account, mined, since.blocks, seen.node)
    if receipts is None:
        return None
    agreed, denied = await judged(account, order, receipts, seen.block.number)
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
        agreed=agreed,
        denied=denied,
    )


async def receipts_of(
    account: EvmAccount, mined: dict[bytes, BlockRef], blocks: Sequence[BlockSeen], node: str
) -> list[Receipt] | None:
    """Receipts of what these blocks hold, all of them or none."""
    if not mined:
        return []
    receipts = await account.view.chain.receipts(list(mined), blocks, node)
    found = [
        receipt(one)
        for one, block in zip(receipts, mined.values(), strict=True)
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


async def judged(
    account: EvmAccount, order: LookAtChain, fresh: Sequence[Receipt], head: int
) -> tuple[tuple[Receipt, ...], tuple[bytes, ...]]:
    """What a majority of several nodes says of all that is final by this look: receipts that it
    shows alike, and hashes of which it shows none. In the order of numbers, a batch at a time, and
    no further than to the first batch that is not agreed on: those above it have to wait anyway."""
    chain = account.view.chain
    nodes = len(chain.nodes)
    if nodes == 1:
        return (), ()
    known = (*order.due, *((one.hash, one.block) for one in fresh))
    due = [(hash_, block) for hash_, block in known if block + order.depth <= head]
    agreed: list[Receipt] = []
    denied: list[bytes] = []
    for begin in range(0, len(due), RECEIPTS_AT_ONCE):
        page = due[begin : begin + RECEIPTS_AT_ONCE]
        by_node = await chain.receipts_by_node([hash_ for hash_, _ in page])
        judged_page = verdicts(by_node, nodes, order.depth)
        agreed += [receipt(one.receipt) for one in judged_page if one.receipt is not None]
        denied += [
            hash_
            for (hash_, block), one in zip(page, judged_page, strict=False)
            if one.is_denied(block + order.depth, nodes)
        ]
        if len(agreed) < begin + len(page):
            break
    return tuple(agreed), tuple(denied)


# Numbers that are used, and none of ours was seen there.


async def prove_all(account: EvmAccount, orders: Sequence[ProveNonce]) -> list[Proof]:
    """Who used these numbers. Our own hashes are asked for first, all at once, of every node: any
    node has receipts of what was mined, however long ago, while the state that shows who used a
    number is soon gone."""
    hashes = [hash_ for order in orders for hash_ in order.hashes]
    nodes, depth = len(account.view.chain.nodes), max(order.depth for order in orders)
    by_node = await account.view.chain.receipts_by_node(hashes)
    known = dict(zip(hashes, verdicts(by_node, nodes, depth), strict=False))
    quorum = final_quorum(nodes)
    proofs: list[Proof] = []
    asked = 0
    for order in orders:
        own = [known[hash_] for hash_ in order.hashes if hash_ in known]
        found = next((one.receipt for one in own if one.receipt is not None), None)
        if found is not None:
            proofs.append(Proof(order.nonce, receipt(found)))
        elif len(own) < len(order.hashes) or any(one.shown >= quorum for one in own):
            # Nobody answered, or it is not final yet. What fewer nodes show may be invented.
            proofs.append(Proof(order.nonce))
        elif asked < OWNERS_ASKED_MAX:
            asked += 1
            proofs.append(await prove_owner(account, order))
        else:
            proofs.append(Proof(order.nonce))
    return proofs


async def prove_owner(account: EvmAccount, order: ProveNonce) -> Proof:
    """Another transaction at this number counts when this account signed it, which is recovered
    here, and when a majority of all nodes shows its receipt in a final block."""
    chain = account.view.chain
    nodes = len(chain.nodes)
    claims = await chain.at_nonce(account.address, order.nonce)
    owners = dict.fromkeys(
        owner for one in claims if (owner := owner_of(account, order.nonce, one)) is not None
    )
    if owners:
        by_node = await chain.receipts_by_node(list(owners))
        judged_owners = verdicts(by_node, nodes, order.depth)
        found = next((one.receipt for one in judged_owners if one.receipt is not None), None)
        return Proof(order.nonce, None if found is None else receipt(found))
    used = [one for one in claims if one.count > order.nonce]
    if len(used) < look_quorum(nodes):
        return Proof(order.nonce)
    return Proof(order.nonce, evidence=evidence_of(order, claims))


def owner_of(account: EvmAccount, nonce: int, claim: NonceClaim) -> bytes | None:
    return owner_hash(claim.raw, address=account.address, nonce=nonce, chain_id=account.chain_id)


def evidence_of(order: ProveNonce, claims: Sequence[NonceClaim]) -> str:
    """Why a lane halts: the number, what a person can do, our hash, and the answer of each node."""
    answers = [
        f"{one.node}: count {one.count}, "
        + (f"{short(one.hash)} not signed by it" if one.hash else "shows none")
        for one in claims
    ]
    ours = short(order.hashes[-1]) if order.hashes else "unsigned"
    return clip(
        f"nonce {order.nonce} is used, by no transaction of this account that nodes show: a lie, "
        "lost history or EIP-7702. Replace or add a node, or cancel the intent. "
        f"Ours: {ours}. {'; '.join(answers)}"
    )


def short(hash_: bytes) -> str:
    return f"0x{hash_.hex()[:8]}"
