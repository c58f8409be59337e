"""What transactions pay: now, and in past blocks."""

from collections.abc import Sequence

from laneway.devnets.evm.limits import (
    FEE_HISTORY_BLOCKS_MAX,
    PERCENTILES_COUNT_MAX,
    TIP_WEI_SUGGESTED,
)
from laneway.devnets.evm.model.block import EvmBlock, base_fee_after
from laneway.devnets.evm.node.blocks import block_named
from laneway.devnets.evm.node.logs import check_content, check_kept
from laneway.devnets.evm.node.parameters import rows_of, wrong
from laneway.devnets.evm.node.prices import base_fee_next
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.evm.execution.fees import blob_fee_wei, effective_price_wei, excess_blob_gas_after
from laneway.evm.limits import BLOB_GAS
from laneway.wire.hex import quantity
from laneway.wire.rpc_server.methods import Json


def gas_price(caller: EvmCaller) -> int:
    """What is likely to be mined next: also what is offered for those who name no fee."""
    return base_fee_next(caller.chain, caller.node) + TIP_WEI_SUGGESTED


def blob_fee(caller: EvmCaller, block: EvmBlock) -> int:
    return blob_fee_of(caller, block, 0 if block.header is None else block.header.excess_blob_gas)


def blob_fee_after(caller: EvmCaller, block: EvmBlock) -> int:
    """In a block right after this one."""
    header = block.header
    if header is None:
        return blob_fee_of(caller, block, 0)
    excess = excess_blob_gas_after(
        caller.chain.fork_rules(block.made_ms // 1000),
        excess_gas=header.excess_blob_gas or 0,
        used_gas=header.blob_gas_used or 0,
        base_fee_wei=block.base_fee_wei,
    )
    return blob_fee_of(caller, block, excess)


def blob_fee_of(caller: EvmCaller, block: EvmBlock, excess: int | None) -> int:
    return blob_fee_wei(excess or 0, caller.chain.fork_rules(block.made_ms // 1000).blobs)


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
    newest = block_named(caller, where)
    count = min(max(count, 1), FEE_HISTORY_BLOCKS_MAX, newest.number + 1)
    check_kept(caller.chain, newest.number - count + 1)
    blocks = [newest]
    while len(blocks) < count:
        blocks.append(caller.chain.parent(blocks[-1]))
    blocks.reverse()
    bases = [block.base_fee_wei for block in blocks] + [base_fee_after(newest)]
    blobs = [blob_fee(caller, block) for block in blocks] + [blob_fee_after(caller, newest)]
    return {
        "oldestBlock": quantity(blocks[0].number),
        "baseFeePerGas": [quantity(base) for base in bases],
        "gasUsedRatio": [block.gas_used / block.gas_limit for block in blocks],
        "baseFeePerBlobGas": [quantity(fee) for fee in blobs],
        "blobGasUsedRatio": [blobs_ratio(caller, block) for block in blocks],
        "reward": [rewards(caller, block, percentiles) for block in blocks] if percentiles else [],
    }


def blobs_ratio(caller: EvmCaller, block: EvmBlock) -> float:
    used = 0 if block.header is None else block.header.blob_gas_used or 0
    return used / (caller.chain.fork_rules(block.made_ms // 1000).blobs.most * BLOB_GAS)


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
