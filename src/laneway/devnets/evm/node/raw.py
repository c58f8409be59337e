"""Blocks, receipts and transactions as bytes (`debug_getRaw*`)."""

from collections.abc import Mapping
from typing import Final

from laneway.devnets.evm.node.blocks import block_mined, block_named, check_executes
from laneway.devnets.evm.node.logs import check_content
from laneway.devnets.evm.node.parameters import anything, digest_of
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.devnets.evm.node.views import block_bytes
from laneway.evm.envelope import encode_canonical
from laneway.evm.execution.receipt import EvmReceipt
from laneway.evm.header import encode_header
from laneway.wire.hex import octets
from laneway.wire.rpc_server.methods import Method


def raw_header(caller: EvmCaller, where: object) -> str:
    check_executes(caller)
    header = block_named(caller, where).header
    assert header is not None, "every block of a chain that executes has one"
    return octets(encode_header(header))


def raw_block(caller: EvmCaller, where: object) -> str:
    check_executes(caller)
    block = block_named(caller, where)
    check_content(block)
    return octets(block_bytes(block, [caller.chain.sent(one) for one in block.transactions]))


def raw_receipts(caller: EvmCaller, where: object) -> list[str]:
    """As they stand in the trie of their block."""
    block, found = block_mined(caller, where), []
    check_content(block)
    for receipt in caller.chain.receipts_of(block):
        made = EvmReceipt(
            type=caller.chain.sent(receipt.hash).transaction.type,
            succeeded=receipt.succeeded,
            gas_used=receipt.gas_used,
            effective_price_wei=receipt.price_wei,
            logs=receipt.logs,
        )
        found.append(octets(made.encode(receipt.gas_total)))
    return found


def raw_transaction(caller: EvmCaller, digest: bytes) -> str | None:
    found = caller.chain.transaction(caller.node, digest)
    return None if found is None else octets(encode_canonical(found.sent.transaction))


RAW: Final[Mapping[str, Method]] = {
    "debug_getRawHeader": Method((anything,), raw_header),
    "debug_getRawBlock": Method((anything,), raw_block),
    "debug_getRawReceipts": Method((anything,), raw_receipts),
    "debug_getRawTransaction": Method((digest_of,), raw_transaction),
    "eth_getRawTransactionByHash": Method((digest_of,), raw_transaction),
}
