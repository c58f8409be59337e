"""What gas and blob gas cost in a block, and in the one after it."""

from laneway.evm.fork import Fork
from laneway.evm.limits import BLOB_GAS
from laneway.evm.rules import BlobSchedule, ForkRules
from laneway.evm.transaction import Transaction, fee_wei_max, tip_wei_max

ELASTICITY = 2
BASE_FEE_CHANGE_DENOMINATOR = 8
"""EIP-1559: the target is half a block, and the base fee moves by at most an eighth."""
BLOB_FEE_WEI_MIN = 1
BLOB_BASE_COST = 1 << 13
"""EIP-7918: what a blob's execution should pay at least, in gas."""


def effective_price_wei(transaction: Transaction, base_fee_wei: int) -> int:
    """What it pays for a unit of gas; its fee covers the base fee."""
    return min(fee_wei_max(transaction), base_fee_wei + tip_wei_max(transaction))


def base_fee_after(*, base_fee_wei: int, gas_used: int, gas_limit: int) -> int:
    """EIP-1559: it follows how full a block was, around half."""
    target = gas_limit // ELASTICITY
    beyond = gas_used - target
    change = base_fee_wei * abs(beyond) // target // BASE_FEE_CHANGE_DENOMINATOR
    return base_fee_wei + max(change, 1) if beyond > 0 else base_fee_wei - change


def blob_fee_wei(excess_gas: int, blobs: BlobSchedule) -> int:
    """The price of blob gas: e to the power of the excess, in the integers of EIP-4844."""
    fraction = blobs.update_fraction
    total, step, index = 0, BLOB_FEE_WEI_MIN * fraction, 1
    while step > 0:
        total += step
        step = step * excess_gas // (fraction * index)
        index += 1
    return total // fraction


def excess_blob_gas_after(
    rules: ForkRules, *, excess_gas: int, used_gas: int, base_fee_wei: int
) -> int:
    """The excess of the block after one with this excess, blob gas and base fee."""
    blobs = rules.blobs
    total, target = excess_gas + used_gas, blobs.target * BLOB_GAS
    if total < target:
        return 0
    if rules.fork >= Fork.OSAKA:
        least = BLOB_BASE_COST * base_fee_wei
        if least > BLOB_GAS * blob_fee_wei(excess_gas, blobs):
            return excess_gas + used_gas * (blobs.most - blobs.target) // blobs.most
    return total - target
