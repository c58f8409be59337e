"""Blocks, transactions, receipts and logs as a node writes them.

What a chain of plain transfers has not is there and empty: roots, blooms, logs.
"""

from collections.abc import Iterable
from typing import Any, Final

from laneway.devnets.evm.model.block import EvmBlock
from laneway.devnets.evm.model.pool import PooledTransaction
from laneway.devnets.evm.model.values import FoundTransaction, MinedReceipt
from laneway.evm.execution.receipt import bloom
from laneway.evm.header import ExecutionBlock, Withdrawal, encode_block
from laneway.evm.opcodes.logs import EvmLog
from laneway.evm.opcodes.system import created_address
from laneway.evm.transaction import (
    Access,
    Authorization,
    BlobTransaction,
    DynamicFeeTransaction,
    LegacyTransaction,
    SetCodeTransaction,
    Transaction,
    access_list,
    fee_wei_max,
)
from laneway.wire.hex import octets, quantity
from laneway.wire.rpc_server.methods import Json

ZERO = octets(bytes(32))
NO_UNCLES = "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347"
"""The hash of an empty list."""
EMPTY_ROOT = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"
"""The root of an empty trie."""
NO_REQUESTS = "0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""The hash of no requests to the consensus layer (EIP-7685)."""
EMPTY_BLOOM = octets(bytes(256))
PLAIN_HEADER: Final[Json] = {
    "sha3Uncles": NO_UNCLES,
    "miner": octets(bytes(20)),
    "stateRoot": ZERO,
    "transactionsRoot": EMPTY_ROOT,
    "receiptsRoot": EMPTY_ROOT,
    "logsBloom": EMPTY_BLOOM,
    "difficulty": "0x0",
    "extraData": "0x",
    "mixHash": ZERO,
    "nonce": octets(bytes(8)),
    "withdrawalsRoot": EMPTY_ROOT,
    "blobGasUsed": "0x0",
    "excessBlobGas": "0x0",
    "parentBeaconBlockRoot": ZERO,
    "totalDifficulty": "0x0",
}
"""What stands in every header of a chain that moves value alone."""


def header_of(block: EvmBlock, *, as_geth: bool = False) -> Json:
    shown = header_fields(block)
    if as_geth:
        del shown["totalDifficulty"]
    return shown


def header_fields(block: EvmBlock) -> Json:
    header = block.header
    made = {
        "hash": octets(block.hash),
        "parentHash": octets(block.parent),
        "number": quantity(block.number),
        "gasLimit": quantity(block.gas_limit),
        "gasUsed": quantity(block.gas_used),
        "timestamp": quantity(block.made_ms // 1000),
        "baseFeePerGas": quantity(block.base_fee_wei),
    }
    if header is None:
        return {**PLAIN_HEADER, "requestsHash": NO_REQUESTS, **made}
    shown = {
        "sha3Uncles": octets(header.ommers_hash),
        "miner": octets(header.coinbase),
        "stateRoot": octets(header.state_root),
        "transactionsRoot": octets(header.transactions_root),
        "receiptsRoot": octets(header.receipts_root),
        "logsBloom": octets(header.logs_bloom),
        "difficulty": quantity(header.difficulty),
        "extraData": octets(header.extra_data),
        "mixHash": octets(header.prevrandao),
        "nonce": octets(header.nonce),
        "withdrawalsRoot": octets(header.withdrawals_root or bytes(32)),
        "blobGasUsed": quantity(header.blob_gas_used or 0),
        "excessBlobGas": quantity(header.excess_blob_gas or 0),
        "parentBeaconBlockRoot": octets(header.parent_beacon_root or bytes(32)),
    }
    if header.requests_hash is not None:
        shown["requestsHash"] = octets(header.requests_hash)
    return {**PLAIN_HEADER, **made, **shown}


def block_of(
    block: EvmBlock,
    transactions: list[Any],
    sent: Iterable[PooledTransaction],
    *,
    as_geth: bool,
) -> Json:
    """`transactions` as they are shown, of those that were `sent`."""
    withdrawals = block.imported.withdrawals or () if block.imported is not None else ()
    return {
        **header_of(block, as_geth=as_geth),
        "size": quantity(0 if block.header is None else len(block_bytes(block, sent))),
        "uncles": [],
        "transactions": transactions,
        "withdrawals": [withdrawal_of(one) for one in withdrawals],
    }


def block_bytes(block: EvmBlock, sent: Iterable[PooledTransaction]) -> bytes:
    """A block of a chain that executes, with its transactions."""
    assert block.header is not None
    if block.imported is not None:
        return encode_block(block.imported)
    transactions = tuple([one.transaction for one in sent])
    withdrawals = None if block.header.withdrawals_root is None else ()
    return encode_block(ExecutionBlock(block.header, transactions, (), withdrawals))


def withdrawal_of(one: Withdrawal) -> Json:
    return {
        "index": quantity(one.index),
        "validatorIndex": quantity(one.validator_index),
        "address": octets(one.address),
        "amount": quantity(one.amount_gwei),
    }


def transaction_of(found: FoundTransaction, receipt: MinedReceipt | None, price_wei: int) -> Json:
    """One that waits has no block."""
    sent, block = found.sent, found.block
    made = sent.transaction
    mined: Json = {"blockHash": None, "blockNumber": None, "transactionIndex": None}
    if block is not None and receipt is not None:
        mined = {
            "blockHash": octets(block.hash),
            "blockNumber": quantity(block.number),
            "transactionIndex": quantity(receipt.index),
            "blockTimestamp": quantity(block.made_ms // 1000),
        }
    return {
        "type": quantity(made.type),
        "nonce": quantity(made.nonce),
        "gas": quantity(made.gas_limit),
        "to": None if made.to is None else octets(made.to),
        "value": quantity(made.value_wei),
        "input": octets(made.data),
        "hash": octets(sent.hash),
        "from": octets(sent.sender),
        "gasPrice": quantity(price_wei),
        **typed(made),
        **mined,
    }


def waiting_of(sent: PooledTransaction) -> Json:
    """One that waits, as a pool shows it: with the most that it pays."""
    return transaction_of(FoundTransaction(sent, None), None, fee_wei_max(sent.transaction))


def typed(made: Transaction) -> Json:
    """What only some types have, and how each writes its signature."""
    signature = made.signature
    assert signature is not None, "a node holds nothing that is not signed"
    fields: Json = {"r": quantity(signature.r), "s": quantity(signature.s)}
    if made.chain_id is not None:
        fields["chainId"] = quantity(made.chain_id)
    if isinstance(made, LegacyTransaction):
        base = 27 if made.chain_id is None else 35 + 2 * made.chain_id
        return {**fields, "v": quantity(base + signature.y_parity)}
    parity = quantity(signature.y_parity)
    fields |= {"yParity": parity, "v": parity}
    fields["accessList"] = access_entries(access_list(made))
    if isinstance(made, SetCodeTransaction):
        fields["authorizationList"] = [authorization_of(one) for one in made.authorizations]
    if isinstance(made, BlobTransaction):
        fields["blobVersionedHashes"] = [octets(one) for one in made.blob_hashes]
        fields["maxFeePerBlobGas"] = quantity(made.blob_fee_wei_max)
    if isinstance(made, DynamicFeeTransaction | BlobTransaction | SetCodeTransaction):
        fields["maxFeePerGas"] = quantity(fee_wei_max(made))
        fields["maxPriorityFeePerGas"] = quantity(made.tip_wei_max)
    return fields


def access_entries(entries: Iterable[Access]) -> list[Json]:
    return [
        {"address": octets(entry.address), "storageKeys": [octets(key) for key in entry.keys]}
        for entry in entries
    ]


def authorization_of(one: Authorization) -> Json:
    return {
        "chainId": quantity(one.chain_id),
        "address": octets(one.address),
        "nonce": quantity(one.nonce),
        "yParity": quantity(one.y_parity),
        "r": quantity(one.r),
        "s": quantity(one.s),
    }


def receipt_of(receipt: MinedReceipt, sent: PooledTransaction, block: EvmBlock) -> Json:
    made = sent.transaction
    address = None if made.to is not None else octets(created_address(sent.sender, made.nonce))
    blobs = {"blobGasUsed": quantity(receipt.blob_gas)} if receipt.blob_gas else {}
    return {
        "type": quantity(made.type),
        "status": quantity(int(receipt.succeeded)),
        "cumulativeGasUsed": quantity(receipt.gas_total),
        "logs": [
            log_of(log, receipt, block, index)
            for index, log in enumerate(receipt.logs, receipt.log_first)
        ],
        "logsBloom": octets(bloom(receipt.logs)) if receipt.logs else EMPTY_BLOOM,
        "transactionHash": octets(receipt.hash),
        "transactionIndex": quantity(receipt.index),
        "blockHash": octets(receipt.block),
        "blockNumber": quantity(receipt.number),
        "gasUsed": quantity(receipt.gas_used),
        "effectiveGasPrice": quantity(receipt.price_wei),
        **blobs,
        "blobGasPrice": quantity(receipt.blob_price_wei),
        "from": octets(sent.sender),
        "to": None if made.to is None else octets(made.to),
        "contractAddress": address,
        "blockTimestamp": quantity(block.made_ms // 1000),
    }


def log_of(
    log: EvmLog, receipt: MinedReceipt, block: EvmBlock, index: int, *, removed: bool = False
) -> Json:
    """`index` counts the logs of a block."""
    return {
        "address": octets(log.address),
        "topics": [octets(topic) for topic in log.topics],
        "data": octets(log.data),
        "blockHash": octets(block.hash),
        "blockNumber": quantity(block.number),
        "blockTimestamp": quantity(block.made_ms // 1000),
        "transactionHash": octets(receipt.hash),
        "transactionIndex": quantity(receipt.index),
        "logIndex": quantity(index),
        "removed": removed,
    }
