"""What a node is asked: each method by its name, on the model. Names and shapes are anvil's."""

from collections.abc import Callable, Mapping

from laneway.devnets.evm.accounts import DEV_ACCOUNTS
from laneway.devnets.evm.block import Block, base_fee_after, price_wei
from laneway.devnets.evm.given import (
    INTERNAL,
    INVALID_PARAMS,
    NOT_FOUND,
    REVERTED,
    Given,
    RpcRefused,
    number_of,
    octets_of,
)
from laneway.devnets.evm.host import EvmHost
from laneway.devnets.evm.limits import FEE_HISTORY_BLOCKS_MAX, TIP_WEI_SUGGESTED
from laneway.devnets.evm.model import Accepted, Found
from laneway.devnets.evm.rules import ANVIL
from laneway.devnets.evm.shown import Json, block_of, receipt_of, transaction_of
from laneway.evm.gas import floor_gas, intrinsic_gas
from laneway.evm.transaction import DynamicFeeTransaction
from laneway.wire.hex import octets, quantity

Method = Callable[[EvmHost, int, Given], object]

REVERTING_CODE = bytes.fromhex("60006000fd")
"""PUSH1 0, PUSH1 0, REVERT: the only code there is."""

FINAL_TAGS = ("safe", "finalized", "earliest")
NEWEST_TAGS = ("latest", "pending")


def client_version(host: EvmHost, _node: int, _given: Given) -> str:
    """It begins with whose words it speaks, so that they are read by the right table."""
    speaks = "anvil" if host.chain.rules.words is ANVIL.words else "geth"
    return f"{speaks}/laneway-devnet"


def chain_id(host: EvmHost, _node: int, _given: Given) -> str:
    return quantity(host.chain.chain_id)


def net_version(host: EvmHost, _node: int, _given: Given) -> str:
    return str(host.chain.chain_id)


def accounts(_host: EvmHost, _node: int, _given: Given) -> list[str]:
    return [octets(account.address) for account in DEV_ACCOUNTS]


def block_number(host: EvmHost, node: int, _given: Given) -> str:
    return quantity(host.chain.head(node).number)


def block_by_number(host: EvmHost, node: int, given: Given) -> Json | None:
    return shown_block(host, node, block_at(host, node, given.at(0)), full=given.flag(1))


def block_by_hash(host: EvmHost, node: int, given: Given) -> Json | None:
    block = host.chain.block_by_hash(node, given.digest(0))
    return shown_block(host, node, block, full=given.flag(1))


def block_receipts(host: EvmHost, node: int, given: Given) -> list[Json] | None:
    block = block_at(host, node, given.at(0))
    return None if block is None else [mined(host, node, digest) for digest in block.transactions]


def transaction_by_hash(host: EvmHost, node: int, given: Given) -> Json | None:
    return shown_transaction(host, node, host.chain.transaction(node, given.digest(0)))


def transaction_at(host: EvmHost, node: int, given: Given) -> Json | None:
    found = host.chain.transaction_at(node, given.address(0), given.number(1))
    return shown_transaction(host, node, found)


def receipt(host: EvmHost, node: int, given: Given) -> Json | None:
    digest = given.digest(0)
    return None if host.chain.receipt(node, digest) is None else mined(host, node, digest)


def transaction_count(host: EvmHost, node: int, given: Given) -> str:
    address, where = given.address(0), given.at(1)
    if where == "pending":
        return quantity(host.chain.count(node, address, "pending"))
    return quantity(host.chain.account(state_at(host, node, where), address).nonce)


def balance(host: EvmHost, node: int, given: Given) -> str:
    block = state_at(host, node, given.at(1))
    return quantity(host.chain.account(block, given.address(0)).balance_wei)


def code(host: EvmHost, _node: int, given: Given) -> str:
    reverts = given.address(0) in host.chain.reverts
    return octets(REVERTING_CODE if reverts else b"")


def gas_price(host: EvmHost, node: int, _given: Given) -> str:
    return quantity(base_fee_next(host, node) + TIP_WEI_SUGGESTED)


def priority_fee(_host: EvmHost, _node: int, _given: Given) -> str:
    return quantity(TIP_WEI_SUGGESTED)


def fee_history(host: EvmHost, node: int, given: Given) -> Json:
    newest = state_at(host, node, given.at(1))
    count = min(max(given.number(0), 1), FEE_HISTORY_BLOCKS_MAX, newest.number + 1)
    percentiles = given.rows(2) if len(given) > 2 else []
    blocks = [newest]
    while len(blocks) < count:
        blocks.append(host.chain.parent(blocks[-1]))
    blocks.reverse()
    bases = [block.base_fee_wei for block in blocks] + [base_fee_after(newest)]
    rewards = [rewards_of(host, block, len(percentiles)) for block in blocks] if percentiles else []
    return {
        "oldestBlock": quantity(blocks[0].number),
        "baseFeePerGas": [quantity(base) for base in bases],
        "gasUsedRatio": [block.gas_used / block.gas_limit for block in blocks],
        "reward": rewards,
    }


def estimate_gas(host: EvmHost, _node: int, given: Given) -> str:
    """What the transaction pays before its first step: there is no other."""
    fields = given.fields(0)
    to = check_reverts(host, fields)
    written = fields.get("input", fields.get("data"))
    content = b"" if written is None else octets_of(written)
    value = number_of(fields.get("value", 0))
    made = DynamicFeeTransaction(host.chain.chain_id, 0, 0, 0, 0, to, value, content)
    fork = host.chain.fork
    return quantity(max(intrinsic_gas(made, fork), floor_gas(made, fork)))


def call(host: EvmHost, _node: int, given: Given) -> str:
    check_reverts(host, given.fields(0))
    return "0x"


def send_raw_transaction(host: EvmHost, node: int, given: Given) -> str:
    raw = given.octets(0)
    if not raw:
        raise RpcRefused(INVALID_PARAMS, "Empty transaction data")
    answer = host.chain.send(node, raw)
    if isinstance(answer, Accepted):
        return octets(answer.hash)
    raise RpcRefused(answer.code, answer.message)


def pool_status(host: EvmHost, node: int, _given: Given) -> Json:
    pending, queued = host.chain.pool(node)
    return {"pending": quantity(len(pending)), "queued": quantity(len(queued))}


METHODS: Mapping[str, Method] = {
    "web3_clientVersion": client_version,
    "net_version": net_version,
    "net_listening": lambda *_: True,
    "eth_syncing": lambda *_: False,
    "eth_chainId": chain_id,
    "eth_accounts": accounts,
    "eth_blockNumber": block_number,
    "eth_getBlockByNumber": block_by_number,
    "eth_getBlockByHash": block_by_hash,
    "eth_getBlockReceipts": block_receipts,
    "eth_getTransactionByHash": transaction_by_hash,
    "eth_getTransactionBySenderAndNonce": transaction_at,
    "eth_getTransactionReceipt": receipt,
    "eth_getTransactionCount": transaction_count,
    "eth_getBalance": balance,
    "eth_getCode": code,
    "eth_gasPrice": gas_price,
    "eth_maxPriorityFeePerGas": priority_fee,
    # There are no blobs, so their price stays at its least.
    "eth_blobBaseFee": lambda *_: "0x1",
    "eth_feeHistory": fee_history,
    "eth_estimateGas": estimate_gas,
    "eth_call": call,
    "eth_sendRawTransaction": send_raw_transaction,
    "txpool_status": pool_status,
}


def block_at(host: EvmHost, node: int, where: object) -> Block | None:
    """The block of a number or tag; the pending one is not shown before it is mined."""
    head = host.chain.head(node)
    if where in NEWEST_TAGS:
        return head
    if where in FINAL_TAGS:
        return host.chain.block(node, 0)
    if isinstance(where, str) and not where.startswith("0x"):
        raise RpcRefused(INVALID_PARAMS, "hex string without 0x prefix")
    return host.chain.block(node, number_of(where))


def state_at(host: EvmHost, node: int, where: object) -> Block:
    """The block whose state is asked for; a node that forgot it says so in geth's words."""
    block = block_named(host, node, where)
    if not host.chain.has_state(node, block):
        root = octets(block.hash)
        words = f"missing trie node {root[2:]} (path ) state {root} is not available, not found"
        raise RpcRefused(INTERNAL, words)
    return block


def block_named(host: EvmHost, node: int, where: object) -> Block:
    """The block of a number or tag, also by its hash (EIP-1898)."""
    if isinstance(where, dict) and "blockHash" in where:
        block = host.chain.block_by_hash(node, octets_of(where["blockHash"], 32))
        if block is None:
            raise RpcRefused(NOT_FOUND, "Resource not found")
        return block
    if isinstance(where, dict):
        where = where.get("blockNumber")
    block = block_at(host, node, where)
    if block is None:
        height = host.chain.head(node).number
        asked = number_of(where)
        words = f"BlockOutOfRangeError: block height is {height} but requested was {asked}"
        raise RpcRefused(INVALID_PARAMS, words)
    return block


def base_fee_next(host: EvmHost, node: int) -> int:
    given = host.chain.base_fee_next_wei
    return host.chain.fees(node).base_fee_next_wei if given is None else given


def rewards_of(host: EvmHost, block: Block, count: int) -> list[str]:
    """The block's lowest tip for each percentile asked for: good enough to choose one's own by."""
    tips = [
        price_wei(host.chain.sent(digest).transaction, block.base_fee_wei) - block.base_fee_wei
        for digest in block.transactions
    ]
    return [quantity(min(tips, default=0))] * count


def check_reverts(host: EvmHost, fields: Mapping[str, object]) -> bytes | None:
    """Whom a call goes to; the chain's own no where that reverts."""
    written = fields.get("to")
    to = None if written is None else octets_of(written, 20)
    if to in host.chain.reverts:
        raise RpcRefused(REVERTED, "execution reverted", "0x")
    return to


def shown_block(host: EvmHost, node: int, block: Block | None, *, full: bool) -> Json | None:
    if block is None:
        return None
    if not full:
        return block_of(block, [octets(digest) for digest in block.transactions])
    found = [host.chain.transaction(node, digest) for digest in block.transactions]
    return block_of(block, [shown_transaction(host, node, each) for each in found])


def shown_transaction(host: EvmHost, node: int, found: Found | None) -> Json | None:
    if found is None:
        return None
    base = base_fee_next(host, node) if found.block is None else found.block.base_fee_wei
    receipt = host.chain.receipt(node, found.sent.hash)
    return transaction_of(found, receipt, price_wei(found.sent.transaction, base))


def mined(host: EvmHost, node: int, digest: bytes) -> Json:
    """The receipt of one that the node's chain holds."""
    found = host.chain.receipt(node, digest)
    assert found is not None
    block = host.chain.block_by_hash(node, found.block)
    assert block is not None
    return receipt_of(found, host.chain.sent(digest), block)
