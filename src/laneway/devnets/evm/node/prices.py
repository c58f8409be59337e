"""What gas costs in the next block, as a node sees it."""

from laneway.devnets.evm.model.chain import EvmModel


def base_fee_next(chain: EvmModel, node: int) -> int:
    chosen = chain.base_fee_next_wei
    return chain.fees(node).base_fee_next_wei if chosen is None else chosen
