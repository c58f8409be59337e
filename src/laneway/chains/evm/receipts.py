"""Receipts: one by one in batches, or a block's all at once where most of it is ours."""

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial

from laneway.chains.evm.endpoint import EvmEndpoint
from laneway.chains.evm.limits import BLOCK_RECEIPTS_COUNT_MIN, BLOCKS_AT_ONCE
from laneway.chains.evm.nodes import EvmNodes
from laneway.chains.evm.shapes import (
    BLOCK_RECEIPTS,
    RECEIPTS,
    Quantities,
    ReceiptShape,
    read_number,
    translated,
)
from laneway.core.errors import ChainError, ChainUnreadable
from laneway.core.facts import BlockRef, BlockSeen, NodeReceipts, ReceiptSeen
from laneway.wire.hex import octets, quantity
from laneway.wire.jsonrpc import RpcCall, RpcError
from laneway.wire.limits import RPC_BATCH_COUNT_MAX
from laneway.wire.rpc_codes import METHOD_NOT_FOUND

RECEIPT = "eth_getTransactionReceipt"
OF_BLOCK = "eth_getBlockReceipts"
BLOCK_NUMBER = RpcCall("eth_blockNumber")

Found = dict[bytes, ReceiptSeen | None]


async def receipts_of(
    nodes: EvmNodes, hashes: Sequence[bytes], blocks: Sequence[BlockSeen], first: str = ""
) -> list[ReceiptSeen | None]:
    """In the order of the hashes; None for what is in no block."""
    found: Found = {}
    wanted = frozenset(hashes)
    whole: list[tuple[BlockSeen, list[bytes]]] = []
    for block in blocks:
        ours = [mined for mined in block.hashes if mined in wanted]
        if len(ours) >= max(BLOCK_RECEIPTS_COUNT_MIN, len(block.hashes) / 2):
            whole.append((block, ours))
    for begin in range(0, len(whole), BLOCKS_AT_ONCE):
        asked = [read_block(nodes, *one, first) for one in whole[begin : begin + BLOCKS_AT_ONCE]]
        for block_receipts in await asyncio.gather(*asked):
            found |= block_receipts
    rest = [mined for mined in hashes if mined not in found]
    for begin in range(0, len(rest), RPC_BATCH_COUNT_MAX):
        part = rest[begin : begin + RPC_BATCH_COUNT_MAX]
        answers = await nodes.read(partial(ask_receipts, part), first=first)
        found |= zip(part, answers, strict=True)
    absent = [mined for mined in hashes if found[mined] is None]
    if absent and len(nodes.all) > 1:
        # A node without them may have lost its history, or lie; another may have them.
        for node_receipts in await nodes.each(lambda node: ask_node_receipts(node, absent)):
            for mined, one in zip(absent, node_receipts.receipts, strict=True):
                found[mined] = found[mined] or one
    return [found[mined] for mined in hashes]


async def read_block(nodes: EvmNodes, block: BlockSeen, ours: Sequence[bytes], first: str) -> Found:
    """A node that fails at such a long answer may still give them one by one."""
    try:
        return await nodes.read(partial(ask_block, block, ours), first=first)
    except ChainError:
        return {}


async def ask_block(block: BlockSeen, ours: Sequence[bytes], node: EvmEndpoint) -> Found:
    """Those of our hashes in a block; nothing where the node has no such method, or another
    block there by now: asked for one by one they may still be found."""
    if not node.has_block_receipts:
        return {}
    (answers,) = await node.ask_each(OF_BLOCK, [quantity(block.block.number)], BLOCK_RECEIPTS)
    if isinstance(answers, RpcError):
        node.has_block_receipts = answers.code != METHOD_NOT_FOUND
        return {}
    if answers is None or len(answers) != len(block.hashes):
        return {}
    wanted = frozenset(ours)
    asked = [(octets(mined), mined) for mined in block.hashes]
    seen = read_receipts(node, asked, answers)
    return {
        mined: one
        for mined, one in zip(block.hashes, seen, strict=True)
        if mined in wanted and one is not None and one.hash == mined
    }


async def ask_receipts(hashes: Sequence[bytes], node: EvmEndpoint) -> list[ReceiptSeen | None]:
    texts = [octets(mined) for mined in hashes]
    with node.reading("receipts"):
        answers = await node.ask_each(RECEIPT, texts, RECEIPTS)
        return read_receipts(node, zip(texts, hashes, strict=True), answers)


async def ask_node_receipts(node: EvmEndpoint, hashes: Sequence[bytes]) -> NodeReceipts:
    """All that one node shows of these hashes, and how far it was before."""
    head = node.binding_head()
    if head < 0:
        (answer,) = await node.ask([BLOCK_NUMBER])
        head = read_number(node, answer)
        node.saw_head(head)
    receipts: list[ReceiptSeen | None] = []
    for begin in range(0, len(hashes), RPC_BATCH_COUNT_MAX):
        receipts += await ask_receipts(hashes[begin : begin + RPC_BATCH_COUNT_MAX], node)
    return NodeReceipts(node.name, head, tuple(receipts))


def read_receipts(
    node: EvmEndpoint,
    asked: Iterable[tuple[str, bytes]],
    answers: Sequence[ReceiptShape | RpcError | None],
) -> list[ReceiptSeen | None]:
    """`asked` are the hashes, each as it was written and itself."""
    receipts: list[ReceiptShape | None] = []
    for answer in answers:
        if isinstance(answer, RpcError):
            raise ChainUnreadable(node.name, f"{answer.code} {answer.message}")
        receipts.append(answer)
    blocks: dict[str, BlockRef] = {}
    quantities = Quantities()
    return translated(
        node,
        lambda: [
            None if receipt is None else receipt.seen(node.name, one, blocks, quantities)
            for receipt, one in zip(receipts, asked, strict=True)
        ],
    )
