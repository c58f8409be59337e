"""What a place in the next block costs, as most of the nodes say.

Each number is the median over the nodes that answer, and the lower of two: one node that names a
fee of its own moves nothing where others answer.
"""

from collections.abc import Sequence
from statistics import median_low

from laneway.chains.evm.blocks import LATEST
from laneway.chains.evm.endpoint import EvmEndpoint
from laneway.chains.evm.limits import FEES_GRACE_MS
from laneway.chains.evm.nodes import EvmNodes
from laneway.chains.evm.shapes import read_number, read_whole_header, translated
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


async def read_fees(node: EvmEndpoint) -> FeesSeen:
    with node.reading("fees"):
        newest, *answers = await node.ask(FEES)
        header = read_whole_header(node, newest)
        written = header.base_fee_per_gas
        base_text = "0x0" if written is None else written
        base = translated(node, lambda: read_quantity(base_text, FEE_WEI_MAX))
        price = read_number(node, answers[0], FEE_WEI_MAX)
        tip, blob = (
            None if isinstance(answer, RpcError) else read_number(node, answer, FEE_WEI_MAX)
            for answer in answers[1:]
        )
    return FeesSeen(
        base_fee_wei=base,
        # Older nodes know the price alone, in which the tip is added to the base fee.
        priority_fee_wei=max(price - base, 0) if tip is None else tip,
        gas_price_wei=price,
        blob_base_fee_wei=blob,
        supports_1559=written is not None,
        block=header.ref(),
        node=node.name,
    )


async def fees_of(nodes: EvmNodes, grace_ms: int = FEES_GRACE_MS) -> FeesSeen:
    """The median of what the nodes say."""
    return middle(await nodes.answers(read_fees, grace_ms=grace_ms))


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
