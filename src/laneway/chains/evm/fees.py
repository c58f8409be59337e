"""What a place in the next block costs, as most of the nodes say.

Each number is the median over the nodes that answer, and the lower of two: one node that names a
fee of its own moves nothing where others answer.
"""

import asyncio
from collections.abc import Sequence
from statistics import median_low

from laneway.chains.evm.blocks import LATEST
from laneway.chains.evm.endpoint import Endpoint
from laneway.chains.evm.limits import FEES_GRACE_MS
from laneway.chains.evm.nodes import Nodes
from laneway.chains.evm.shapes import read_number, read_whole_header, translated
from laneway.core.errors import ChainError
from laneway.core.facts import FeesSeen
from laneway.wire.hex import read_quantity
from laneway.wire.jsonrpc import RpcCall, RpcError
from laneway.wire.limits import FEE_WEI_MAX

FEES = (
    LATEST,
    RpcCall("eth_gasPrice"),
    RpcCall("eth_maxPriorityFeePerGas"),
    RpcCall("eth_blobBaseFee"),
)


async def read_fees(node: Endpoint) -> FeesSeen:
    head_said, price_said, tip_said, blob_said = await node.ask(FEES)
    header = read_whole_header(node, head_said)
    price = read_number(node, price_said, FEE_WEI_MAX)
    written = header.base_fee_per_gas
    base = 0 if written is None else translated(node, lambda: read_quantity(written, FEE_WEI_MAX))
    # Older nodes know the price alone, in which the tip stands on the base fee.
    tip = max(price - base, 0)
    if not isinstance(tip_said, RpcError):
        tip = read_number(node, tip_said, FEE_WEI_MAX)
    blob = None if isinstance(blob_said, RpcError) else read_number(node, blob_said, FEE_WEI_MAX)
    return FeesSeen(
        base_fee_wei=base,
        priority_fee_wei=tip,
        gas_price_wei=price,
        blob_base_fee_wei=blob,
        supports_1559=written is not None,
        block=header.ref(),
        node=node.name,
    )


async def fees_of(nodes: Nodes, grace_ms: int = FEES_GRACE_MS) -> FeesSeen:
    """The median of what the nodes say; those that failed a moment ago are asked only where no
    other is left."""
    asked = [node for node in nodes.all if not node.is_resting()] or list(nodes.all)
    if len(asked) == 1:
        return await nodes.read(read_fees)
    tasks = [asyncio.create_task(read_fees(node)) for node in asked]
    try:
        waiting = set(tasks)
        while waiting and not any(is_answered(task) for task in tasks):
            _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if waiting:
            await asyncio.wait(waiting, timeout=grace_ms / 1000)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    found = [task.result() for task in tasks if is_answered(task)]
    if not found:
        # What is wrong is said as it is of every other question.
        return await nodes.read(read_fees)
    return middle(found)


def is_answered(task: asyncio.Task[FeesSeen]) -> bool:
    """Whether the node answered. An error of a node is no answer; any other one is a bug."""
    if not task.done() or task.cancelled():
        return False
    trouble = task.exception()
    if trouble is not None and not isinstance(trouble, ChainError):
        raise trouble
    return trouble is None


def middle(found: Sequence[FeesSeen]) -> FeesSeen:
    """Each number by itself, in the middle of what the nodes say."""
    base_wei = median_low([seen.base_fee_wei for seen in found])
    with_blobs = [seen.blob_base_fee_wei for seen in found if seen.blob_base_fee_wei is not None]
    one = next(seen for seen in found if seen.base_fee_wei == base_wei)
    return FeesSeen(
        base_fee_wei=base_wei,
        priority_fee_wei=median_low([seen.priority_fee_wei for seen in found]),
        gas_price_wei=median_low([seen.gas_price_wei for seen in found]),
        blob_base_fee_wei=median_low(with_blobs) if 2 * len(with_blobs) > len(found) else None,
        supports_1559=2 * sum(seen.supports_1559 for seen in found) > len(found),
        block=one.block,
        node=one.node,
    )
