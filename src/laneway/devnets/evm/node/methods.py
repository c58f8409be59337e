"""The methods of a node by their names, on the model. Names and shapes are anvil's."""

from collections.abc import Mapping
from typing import Final

from laneway.devnets.evm.limits import TIP_WEI_SUGGESTED
from laneway.devnets.evm.model.rules import ANVIL
from laneway.devnets.evm.node import execution
from laneway.devnets.evm.node.blocks import (
    NOT_FOUND,
    block_found,
    block_held,
    block_named,
    state_at,
)
from laneway.devnets.evm.node.fees import fee_history, gas_price, percentiles_of
from laneway.devnets.evm.node.following import FILTERS
from laneway.devnets.evm.node.logs import LogCriteria, asked_logs, check_content, criteria_of
from laneway.devnets.evm.node.mined import block_view, mined, transaction_view
from laneway.devnets.evm.node.parameters import (
    address_of,
    anything,
    block_hash_of,
    digest_of,
    fields_of,
    flag_of,
    number_of,
    octets_of,
)
from laneway.devnets.evm.node.pools import POOLS
from laneway.devnets.evm.node.prices import base_fee_next
from laneway.devnets.evm.node.proofs import keys_of, proof
from laneway.devnets.evm.node.raw import RAW, raw_transaction
from laneway.devnets.evm.node.sending import fill, send_raw_transaction, send_sync
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.devnets.evm.node.traces import TRACES
from laneway.evm.gas import floor_gas, intrinsic_gas
from laneway.evm.keccak import keccak
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
    return block_view(caller, block_held(caller, where), full=full)


def block_by_hash(caller: EvmCaller, digest: bytes, full: bool) -> Json | None:
    return block_view(caller, block_held(caller, octets(digest)), full=full)


def block_receipts(caller: EvmCaller, where: object) -> list[Json] | None:
    block = None if where == "pending" else block_held(caller, where)
    return None if block is None else [mined(caller, digest) for digest in block.transactions]


def transaction_count_by_number(caller: EvmCaller, where: object) -> str:
    block = block_named(caller, where)
    check_content(block)
    return quantity(len(block.transactions))


def transaction_count_by_hash(caller: EvmCaller, digest: bytes) -> str | None:
    block = block_held(caller, octets(digest))
    return None if block is None else quantity(len(block.transactions))


def uncle_count(caller: EvmCaller, where: object) -> str:
    """None has any since the Merge."""
    if block_found(caller, where) is None:
        raise RpcRefused(NOT_FOUND, "Resource not found")
    return "0x0"


def uncle_by_number(caller: EvmCaller, where: object, _index: int) -> None:
    block_named(caller, where)


def uncle_by_hash(caller: EvmCaller, digest: bytes, _index: int) -> None:
    uncle_count(caller, octets(digest))


def transaction_in(caller: EvmCaller, where: object, index: int) -> Json | None:
    """The transaction at a place of a block."""
    block = block_held(caller, where)
    if block is None or index >= len(block.transactions):
        return None
    return transaction_by_hash(caller, block.transactions[index])


def raw_transaction_in(caller: EvmCaller, where: object, index: int) -> str | None:
    block = block_held(caller, where)
    if block is None or index >= len(block.transactions):
        return None
    return raw_transaction(caller, block.transactions[index])


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


def estimate_gas(
    caller: EvmCaller,
    fields: Mapping[str, object],
    where: object = "latest",
    accounts: object = None,
    overridden: object = None,
) -> str:
    """On a chain that does not execute, what the transaction pays before its first step."""
    if caller.chain.executes:
        return quantity(execution.estimate_on(caller, fields, where, accounts, overridden))
    to = check_reverts(caller, fields)
    written = fields.get("input", fields.get("data"))
    content = b"" if written is None else octets_of(written)
    value = number_of(fields.get("value", 0))
    made = DynamicFeeTransaction(caller.chain.chain_id, 0, 0, 0, 0, to, value, content)
    fork = caller.chain.fork
    return quantity(max(intrinsic_gas(made, fork), floor_gas(made, fork)))


def call(
    caller: EvmCaller,
    fields: Mapping[str, object],
    where: object = "latest",
    accounts: object = None,
    overridden: object = None,
) -> str:
    if caller.chain.executes:
        return execution.call_on(caller, fields, where, accounts, overridden)
    check_reverts(caller, fields)
    return "0x"


def logs(caller: EvmCaller, criteria: LogCriteria) -> list[Json]:
    """The logs of a range of blocks, or of one by its hash, that fit."""
    return asked_logs(caller.chain, caller.node, criteria)


def blob_base_fee(caller: EvmCaller) -> str:
    return quantity(caller.chain.blob_fee_next(caller.chain.head(caller.node)))


CALL_KINDS = (fields_of, anything, anything, anything)

METHODS: Final[Mapping[str, Method]] = {
    "web3_clientVersion": Method((), client_version),
    "net_version": Method((), lambda caller: str(caller.chain.chain_id)),
    "eth_networkId": Method((), lambda caller: str(caller.chain.chain_id)),
    "web3_sha3": Method((octets_of,), lambda _, content: octets(keccak(content))),
    "net_listening": Method((), lambda _: True),
    "eth_syncing": Method((), lambda _: False),
    "eth_chainId": Method((), lambda caller: quantity(caller.chain.chain_id)),
    "eth_coinbase": Method((), lambda caller: octets(caller.chain.beneficiary)),
    "eth_blockNumber": Method((), lambda caller: quantity(caller.chain.head(caller.node).number)),
    "eth_getBlockByNumber": Method((anything, flag_of), block_by_number),
    "eth_getBlockByHash": Method((digest_of, flag_of), block_by_hash),
    "eth_getBlockReceipts": Method((anything,), block_receipts),
    "eth_getBlockTransactionCountByNumber": Method((anything,), transaction_count_by_number),
    "eth_getBlockTransactionCountByHash": Method((digest_of,), transaction_count_by_hash),
    "eth_getUncleCountByBlockNumber": Method((anything,), uncle_count),
    "eth_getUncleCountByBlockHash": Method((block_hash_of,), uncle_count),
    "eth_getUncleByBlockNumberAndIndex": Method((anything, number_of), uncle_by_number),
    "eth_getUncleByBlockHashAndIndex": Method((digest_of, number_of), uncle_by_hash),
    "eth_getTransactionByBlockNumberAndIndex": Method((anything, number_of), transaction_in),
    "eth_getTransactionByBlockHashAndIndex": Method((block_hash_of, number_of), transaction_in),
    "eth_getRawTransactionByBlockNumberAndIndex": Method((anything, number_of), raw_transaction_in),
    "eth_getRawTransactionByBlockHashAndIndex": Method(
        (block_hash_of, number_of), raw_transaction_in
    ),
    "eth_getTransactionByHash": Method((digest_of,), transaction_by_hash),
    "eth_getTransactionBySenderAndNonce": Method((address_of, number_of), transaction_at),
    "eth_getTransactionReceipt": Method((digest_of,), receipt),
    "eth_getTransactionCount": Method((address_of, anything), transaction_count),
    "eth_getBalance": Method((address_of, anything), balance),
    "eth_getAccount": Method((address_of, anything), execution.account),
    "eth_getAccountInfo": Method((address_of, anything), execution.account_info),
    "eth_getCode": Method((address_of, anything), code, optional=1),
    "eth_getStorageAt": Method((address_of, number_of, anything), storage_at, optional=1),
    "eth_gasPrice": Method((), lambda caller: quantity(gas_price(caller))),
    "eth_maxPriorityFeePerGas": Method((), lambda _: quantity(TIP_WEI_SUGGESTED)),
    "eth_blobBaseFee": Method((), blob_base_fee),
    "eth_baseFee": Method((), lambda caller: quantity(base_fee_next(caller.chain, caller.node))),
    "eth_feeHistory": Method((number_of, anything, percentiles_of), fee_history, optional=1),
    "eth_estimateGas": Method(CALL_KINDS, estimate_gas, optional=3),
    "eth_call": Method(CALL_KINDS, call, optional=3),
    "eth_createAccessList": Method((fields_of, anything), execution.access_list, optional=1),
    "eth_getProof": Method((address_of, keys_of, anything), proof, optional=1),
    "eth_getStorageValues": Method((fields_of, anything), execution.storage_values, optional=1),
    "eth_getLogs": Method((criteria_of,), logs),
    "eth_fillTransaction": Method((fields_of,), fill),
    "eth_sendRawTransaction": Method((octets_of,), send_raw_transaction),
    "eth_sendRawTransactionSync": Method((octets_of, number_of), send_sync, optional=1),
    **FILTERS,
    **POOLS,
    **RAW,
    **TRACES,
}


def check_reverts(caller: EvmCaller, fields: Mapping[str, object]) -> bytes | None:
    """Whom a call goes to; the chain's own refusal where that reverts."""
    written = fields.get("to")
    to = None if written is None else octets_of(written, 20)
    if to in caller.chain.reverts:
        raise RpcRefused(REVERTED, "execution reverted", "0x")
    return to
