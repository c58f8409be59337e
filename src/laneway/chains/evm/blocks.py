"""Blocks after a known one, with the hashes in them; and how far a reorganisation went.

A known block is called gone only when the node has another one at its height. A node that has none
there may lag, which is no news.
"""

from collections.abc import Sequence

from laneway.chains.evm.endpoint import EvmEndpoint
from laneway.chains.evm.limits import BLOCKS_COUNT_MAX, KNOWN_COUNT_MAX
from laneway.chains.evm.shapes import BLOCK, HEADER, read, read_header, translated
from laneway.core.facts import BlockRef, BlockSeen, BlocksSeen
from laneway.wire.hex import quantity
from laneway.wire.jsonrpc import RpcAnswer, RpcCall

BY_NUMBER = "eth_getBlockByNumber"
LATEST = RpcCall(BY_NUMBER, ("latest", False))


async def read_blocks(node: EvmEndpoint, known: Sequence[BlockRef], limit: int) -> BlocksSeen:
    with node.reading("blocks"):
        limit = min(limit, BLOCKS_COUNT_MAX)
        if not known:
            return await read_newest(node)
        newest = known[-1]
        wanted = range(newest.number + 1, newest.number + 1 + limit)
        answers = await node.ask([by_number(number) for number in wanted])
        chain = linked(newest, [read_block(node, answer) for answer in answers])
        if chain:
            # The usual case: what came on top stands on what is known, and nothing else changed.
            head = chain[-1].block
            if head.number > node.head_number:
                node.saw_head(head.number)
            return BlocksSeen(newest, chain, head, node.name)
        common = await find_common(node, known)
        if common is None:
            return await read_newest(node)
        return await read_after(node, common, limit)


async def read_newest(node: EvmEndpoint) -> BlocksSeen:
    (answer,) = await node.ask([LATEST])
    read_header(node, answer)
    block = read_block(node, answer)
    assert block is not None
    return BlocksSeen(None, (block,), block.block, node.name)


async def read_after(node: EvmEndpoint, common: BlockRef, limit: int) -> BlocksSeen:
    numbers = range(common.number + 1, common.number + 1 + limit)
    newest, *answers = await node.ask([LATEST, *(by_number(number) for number in numbers)])
    head = read_header(node, newest)
    following = [read_block(node, answer) for answer in answers]
    return BlocksSeen(common, linked(common, following), head, node.name)


async def find_common(node: EvmEndpoint, known: Sequence[BlockRef]) -> BlockRef | None:
    """The newest known block that the node does not contradict; what it has not is not judged."""
    recent = known[-KNOWN_COUNT_MAX:]
    common: BlockRef | None = None
    for begin in range(0, len(recent), BLOCKS_COUNT_MAX):
        part = recent[begin : begin + BLOCKS_COUNT_MAX]
        answers = await node.ask([by_number(block.number) for block in part])
        for block, answer in zip(part, answers, strict=True):
            header = read(node, answer, HEADER)
            if header is not None and translated(node, header.ref) != block:
                # Blocks stand on each other: above this one everything is gone too.
                return common
            common = block
    return common


def linked(after: BlockRef, blocks: Sequence[BlockSeen | None]) -> tuple[BlockSeen, ...]:
    """As many as stand on each other; the chain may have changed between two answers."""
    chain: list[BlockSeen] = []
    parent = after
    for block in blocks:
        if block is None or block.parent != parent.hash:
            break
        chain.append(block)
        parent = block.block
    return tuple(chain)


def by_number(number: int) -> RpcCall:
    return RpcCall(BY_NUMBER, (quantity(number), False))


def read_block(node: EvmEndpoint, answer: RpcAnswer) -> BlockSeen | None:
    shape = read(node, answer, BLOCK)
    return None if shape is None else translated(node, shape.seen)
