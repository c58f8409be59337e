"""What transactions pay: now, and in past blocks."""

from collections.abc import Sequence

from laneway.devnets.evm.limits import (
    FEE_HISTORY_BLOCKS_MAX,
    PERCENTILES_COUNT_MAX,
    TIP_WEI_SUGGESTED,
)
from laneway.devnets.evm.model.block import EvmBlock, base_fee_after
from laneway.devnets.evm.node.blocks import block_mined
from laneway.devnets.evm.node.logs import check_content, check_kept
from laneway.devnets.evm.node.parameters import rows_of, wrong
from laneway.devnets.evm.node.prices import base_fee_next
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.evm.execution.fees import effective_price_wei
from laneway.wire.hex import quantity
from laneway.wire.rpc_server.methods import Json


def gas_price(caller: EvmCaller) -> int:
    """What is likely to be mined next: also what is offered for those who name no fee."""
    return base_fee_next(caller.chain, caller.node) + TIP_WEI_SUGGESTED


def percentiles_of(value: object) -> list[float]:
    found: list[float] = []
    for one in rows_of(value):
        if isinstance(one, bool) or not isinstance(one, int | float) or not 0 <= one <= 100:
            raise wrong("a percentile is a number from 0 to 100")
        found.append(float(one))
    if len(found) > PERCENTILES_COUNT_MAX:
        raise wrong(f"at most {PERCENTILES_COUNT_MAX} percentiles")
    return found


def fee_history(
    caller: EvmCaller, count: int, where: object, percentiles: Sequence[float] = ()
) -> Json:
    chain, newest = caller.chain, block_mined(caller, where)
    count = min(max(count, 1), FEE_HISTORY_BLOCKS_MAX, newest.number + 1)
    check_kept(chain, newest.number - count + 1)
    blocks = [newest]
    while len(blocks) < count:
        blocks.append(chain.parent(blocks[-1]))
    blocks.reverse()
    is_head = newest is chain.head(caller.node)
    after = base_fee_next(chain, caller.node) if is_head else base_fee_after(newest)
    bases = [block.base_fee_wei for block in blocks] + [after]
    blobs = [chain.blob_fee(block) for block in blocks] + [chain.blob_fee_next(newest)]
    return {
        "oldestBlock": quantity(blocks[0].number),
        "baseFeePerGas": [quantity(base) for base in bases],
        "gasUsedRatio": [block.gas_used / block.gas_limit for block in blocks],
        "baseFeePerBlobGas": [quantity(fee) for fee in blobs],
        "blobGasUsedRatio": [chain.blobs_ratio(block) for block in blocks],
        "reward": [rewards(caller, block, percentiles) for block in blocks] if percentiles else [],
    }


def rewards(caller: EvmCaller, block: EvmBlock, percentiles: Sequence[float]) -> list[str]:
    """The tips by which these percentages of the block's gas were paid, the lowest first."""
    check_content(block)
    paid = []
    for receipt in caller.chain.receipts_of(block):
        made = caller.chain.sent(receipt.hash).transaction
        tip = effective_price_wei(made, block.base_fee_wei) - block.base_fee_wei
        paid.append((tip, receipt.gas_used))
    paid.sort()
    return [quantity(tip_at(paid, block.gas_used * percent / 100)) for percent in percentiles]


def tip_at(paid: Sequence[tuple[int, int]], gas: float) -> int:
    """The tip of the transaction with which this much gas is reached."""
    total = 0
    for tip, used in paid:
        total += used
        if total >= gas:
            return tip
    return 0
