"""Transactions and receipts of a node's chain, as it shows them."""

from laneway.devnets.evm.model.block import EvmBlock
from laneway.devnets.evm.model.values import FoundTransaction
from laneway.devnets.evm.node.prices import base_fee_next
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.devnets.evm.node.views import block_of, receipt_of, transaction_of
from laneway.evm.execution.fees import effective_price_wei
from laneway.wire.hex import octets
from laneway.wire.rpc_server.methods import Json


def block_view(caller: EvmCaller, block: EvmBlock | None, *, full: bool) -> Json | None:
    if block is None:
        return None
    sent = [caller.chain.sent(digest) for digest in block.transactions]
    shown: list[object] = [octets(digest) for digest in block.transactions]
    if full:
        found = [caller.chain.transaction(caller.node, digest) for digest in block.transactions]
        shown = [transaction_view(caller, each) for each in found]
    return block_of(block, shown, sent, as_geth=caller.chain.rules.reads_as_geth)


def transaction_view(caller: EvmCaller, found: FoundTransaction | None) -> Json | None:
    if found is None:
        return None
    base = (
        base_fee_next(caller.chain, caller.node)
        if found.block is None
        else found.block.base_fee_wei
    )
    receipt = caller.chain.receipt(caller.node, found.sent.hash)
    return transaction_of(found, receipt, effective_price_wei(found.sent.transaction, base))


def mined(caller: EvmCaller, digest: bytes) -> Json:
    """The receipt of a transaction that the node's chain holds."""
    found = caller.chain.receipt(caller.node, digest)
    assert found is not None
    block = caller.chain.block_by_hash(caller.node, found.block)
    assert block is not None
    shown = receipt_of(found, caller.chain.sent(digest), block)
    if caller.chain.rules.reads_as_geth:
        del shown["blockTimestamp"]
        if not found.blob_gas:
            del shown["blobGasPrice"]
    return shown
