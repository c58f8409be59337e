"""The methods of a node by their names, on the model. Names and shapes are anvil's."""

from collections.abc import Mapping, Sequence
from typing import Final

from laneway.devnets.evm.accounts import DEV_ACCOUNTS
from laneway.devnets.evm.limits import FEE_HISTORY_BLOCKS_MAX, TIP_WEI_SUGGESTED
from laneway.devnets.evm.model.block import EvmBlock, base_fee_after
from laneway.devnets.evm.model.rules import ANVIL
from laneway.devnets.evm.model.values import FoundTransaction, TransactionTaken
from laneway.devnets.evm.node import execution
from laneway.devnets.evm.node.blocks import block_at, state_at
from laneway.devnets.evm.node.parameters import (
    address_of,
    anything,
    digest_of,
    fields_of,
    flag_of,
    number_of,
    octets_of,
    rows_of,
    wrong,
)
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.devnets.evm.node.views import block_of, receipt_of, transaction_of
from laneway.evm.execution.fees import effective_price_wei
from laneway.evm.gas import floor_gas, intrinsic_gas
from laneway.evm.transaction import DynamicFeeTransaction
from laneway.wire.hex import octets, quantity
from laneway.wire.rpc_server.methods import Json, Method, RpcRefused

REVERTED: Final = 3
"""Anvil's own code."""

REVERTING_CODE: Final = bytes.fromhex("60006000fd")
"""PUSH1 0, PUSH1 0, REVERT: the only code that a chain knows which does not execute."""


def client_version(caller: EvmCaller) -> str:
    """It begins with whose messages it uses, so that they are read by the right table."""
    name = "anvil" if caller.chain.rules.refusals is ANVIL.refusals else "geth"
    return f"{name}/laneway-devnet"


def block_by_number(caller: EvmCaller, where: object, full: bool) -> Json | None:
    return block_view(caller, block_at(caller, where), full=full)


def block_by_hash(caller: EvmCaller, digest: bytes, full: bool) -> Json | None:
    return block_view(caller, caller.chain.block_by_hash(caller.node, digest), full=full)


def block_receipts(caller: EvmCaller, where: object) -> list[Json] | None:
    block = None if where == "pending" else block_at(caller, where)
    return None if block is None else [mined(caller, digest) for digest in block.transactions]


def transaction_by_hash(caller: EvmCaller, digest: bytes) -> Json | None:
    return transaction_view(caller, caller.chain.transaction(caller.node, digest))


def transaction_at(caller: EvmCaller, sender: bytes, nonce: int) -> Json | None:
    return transaction_view(caller, caller.chain.transaction_at(caller.node, sender, nonce))


def receipt(caller: EvmCaller, digest: bytes) -> Json | None:
    return None if caller.chain.receipt(caller.node, digest) is None else mined(caller, digest)


def transaction_count(caller: EvmCaller, address: bytes, where: object) -> str:
    if where == "pending":
        return quantity(caller.chain.count(caller.node, address, "pending"))
    return quantity(caller.chain.account(state_at(caller, where), address).nonce)


def balance(caller: EvmCaller, address: bytes, where: object) -> str:
    return quantity(caller.chain.account(state_at(caller, where), address).balance_wei)


def code(caller: EvmCaller, address: bytes, where: object = "latest") -> str:
    if caller.chain.executes:
        return execution.code(caller, address, where)
    return octets(REVERTING_CODE if address in caller.chain.reverts else b"")


def storage_at(caller: EvmCaller, address: bytes, key: int, where: object = "latest") -> str:
    if caller.chain.executes:
        return execution.storage_at(caller, address, key, where)
    return octets(bytes(32))


def fee_history(
    caller: EvmCaller, count: int, where: object, percentiles: Sequence[object] = ()
) -> Json:
    newest = state_at(caller, "latest" if where == "pending" else where)
    count = min(max(count, 1), FEE_HISTORY_BLOCKS_MAX, newest.number + 1)
    blocks = [newest]
    while len(blocks) < count:
        blocks.append(caller.chain.parent(blocks[-1]))
    blocks.reverse()
    is_head = newest is caller.chain.head(caller.node)
    after = base_fee_next(caller) if is_head else base_fee_after(newest)
    bases = [block.base_fee_wei for block in blocks] + [after]
    chain = caller.chain
    blob_bases = [chain.blob_fee(block) for block in blocks] + [chain.blob_fee_next(newest)]
    rewards = (
        [rewards_of(caller, block, len(percentiles)) for block in blocks] if percentiles else []
    )
    return {
        "oldestBlock": quantity(blocks[0].number),
        "baseFeePerGas": [quantity(base) for base in bases],
        "gasUsedRatio": [block.gas_used / block.gas_limit for block in blocks],
        "baseFeePerBlobGas": [quantity(base) for base in blob_bases],
        "blobGasUsedRatio": [chain.blobs_ratio(block) for block in blocks],
        "reward": rewards,
    }


def estimate_gas(caller: EvmCaller, fields: Mapping[str, object], where: object = "latest") -> str:
    """On a chain that does not execute, what the transaction pays before its first step."""
    if caller.chain.executes:
        return execution.estimate_on(caller, fields, where)
    to = check_reverts(caller, fields)
    written = fields.get("input", fields.get("data"))
    content = b"" if written is None else octets_of(written)
    value = number_of(fields.get("value", 0))
    made = DynamicFeeTransaction(caller.chain.chain_id, 0, 0, 0, 0, to, value, content)
    fork = caller.chain.fork
    return quantity(max(intrinsic_gas(made, fork), floor_gas(made, fork)))


def call(caller: EvmCaller, fields: Mapping[str, object], where: object = "latest") -> str:
    if caller.chain.executes:
        return execution.call_on(caller, fields, where)
    check_reverts(caller, fields)
    return "0x"


def logs(caller: EvmCaller, criteria: Mapping[str, object]) -> list[Json]:
    return execution.logs(caller, criteria) if caller.chain.executes else []


def blob_base_fee(caller: EvmCaller) -> str:
    return quantity(caller.chain.blob_fee_next(caller.chain.head(caller.node)))


def send_raw_transaction(caller: EvmCaller, raw: bytes) -> str:
    if not raw:
        raise wrong("Empty transaction data")
    answer = caller.chain.send(caller.node, raw)
    if isinstance(answer, TransactionTaken):
        return octets(answer.hash)
    raise RpcRefused(answer.code, answer.message)


def pool_status(caller: EvmCaller) -> Json:
    pending, queued = caller.chain.pool(caller.node)
    return {"pending": quantity(len(pending)), "queued": quantity(len(queued))}


METHODS: Final[Mapping[str, Method]] = {
    "web3_clientVersion": Method((), client_version),
    "net_version": Method((), lambda caller: str(caller.chain.chain_id)),
    "net_listening": Method((), lambda _: True),
    "eth_syncing": Method((), lambda _: False),
    "eth_chainId": Method((), lambda caller: quantity(caller.chain.chain_id)),
    "eth_accounts": Method((), lambda _: [octets(account.address) for account in DEV_ACCOUNTS]),
    "eth_blockNumber": Method((), lambda caller: quantity(caller.chain.head(caller.node).number)),
    "eth_getBlockByNumber": Method((anything, flag_of), block_by_number),
    "eth_getBlockByHash": Method((digest_of, flag_of), block_by_hash),
    "eth_getBlockReceipts": Method((anything,), block_receipts),
    "eth_getTransactionByHash": Method((digest_of,), transaction_by_hash),
    "eth_getTransactionBySenderAndNonce": Method((address_of, number_of), transaction_at),
    "eth_getTransactionReceipt": Method((digest_of,), receipt),
    "eth_getTransactionCount": Method((address_of, anything), transaction_count),
    "eth_getBalance": Method((address_of, anything), balance),
    "eth_getCode": Method((address_of, anything), code, optional=1),
    "eth_getStorageAt": Method((address_of, number_of, anything), storage_at, optional=1),
    "eth_gasPrice": Method((), lambda caller: quantity(base_fee_next(caller) + TIP_WEI_SUGGESTED)),
    "eth_maxPriorityFeePerGas": Method((), lambda _: quantity(TIP_WEI_SUGGESTED)),
    "eth_blobBaseFee": Method((), blob_base_fee),
    "eth_feeHistory": Method((number_of, anything, rows_of), fee_history, optional=1),
    "eth_estimateGas": Method((fields_of, anything), estimate_gas, optional=1),
    "eth_call": Method((fields_of, anything), call, optional=1),
    "eth_getLogs": Method((fields_of,), logs),
    "eth_sendRawTransaction": Method((octets_of,), send_raw_transaction),
    "txpool_status": Method((), pool_status),
}


def base_fee_next(caller: EvmCaller) -> int:
    chosen = caller.chain.base_fee_next_wei
    return caller.chain.fees(caller.node).base_fee_next_wei if chosen is None else chosen


def rewards_of(caller: EvmCaller, block: EvmBlock, count: int) -> list[str]:
    """The block's lowest tip for each percentile asked for: good enough to choose one's own by."""
    tips = [
        effective_price_wei(caller.chain.sent(digest).transaction, block.base_fee_wei)
        - block.base_fee_wei
        for digest in block.transactions
    ]
    return [quantity(min(tips, default=0))] * count


def check_reverts(caller: EvmCaller, fields: Mapping[str, object]) -> bytes | None:
    """Whom a call goes to; the chain's own refusal where that reverts."""
    written = fields.get("to")
    to = None if written is None else octets_of(written, 20)
    if to in caller.chain.reverts:
        raise RpcRefused(REVERTED, "execution reverted", "0x")
    return to


def block_view(caller: EvmCaller, block: EvmBlock | None, *, full: bool) -> Json | None:
    if block is None:
        return None
    if not full:
        return block_of(block, [octets(digest) for digest in block.transactions])
    found = [caller.chain.transaction(caller.node, digest) for digest in block.transactions]
    return block_of(block, [transaction_view(caller, each) for each in found])


def transaction_view(caller: EvmCaller, found: FoundTransaction | None) -> Json | None:
    if found is None:
        return None
    base = base_fee_next(caller) if found.block is None else found.block.base_fee_wei
    receipt = caller.chain.receipt(caller.node, found.sent.hash)
    return transaction_of(found, receipt, effective_price_wei(found.sent.transaction, base))


def mined(caller: EvmCaller, digest: bytes) -> Json:
    """The receipt of a transaction that the node's chain holds."""
    found = caller.chain.receipt(caller.node, digest)
    assert found is not None
    block = caller.chain.block_by_hash(caller.node, found.block)
    assert block is not None
    return receipt_of(found, caller.chain.sent(digest), block)
