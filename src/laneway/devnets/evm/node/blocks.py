"""Which block a caller names: by number, tag or hash, and whether its state is still known."""

from typing import Final

from laneway.devnets.evm.model.block import EvmBlock
from laneway.devnets.evm.node.parameters import number_of, octets_of, wrong
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.wire.hex import octets
from laneway.wire.rpc_codes import INTERNAL
from laneway.wire.rpc_server.methods import RpcRefused

NOT_FOUND: Final = -32001
"""Anvil's own code."""

FINAL_TAGS = ("safe", "finalized", "earliest")
NEWEST_TAGS = ("latest", "pending")


def block_at(caller: EvmCaller, where: object) -> EvmBlock | None:
    """The block of a number or tag; the pending one is built anew for each who asks."""
    if where == "pending":
        return caller.host.pending(caller.node)
    head = caller.chain.head(caller.node)
    if where in NEWEST_TAGS:
        return head
    if where in FINAL_TAGS:
        return caller.chain.block(caller.node, 0)
    if isinstance(where, str) and not where.startswith("0x"):
        raise wrong("hex string without 0x prefix")
    return caller.chain.block(caller.node, number_of(where))


def state_at(caller: EvmCaller, where: object) -> EvmBlock:
    """The block whose state is asked for; a node that forgot it says so in geth's phrase."""
    block = block_named(caller, where)
    if not caller.chain.has_state(caller.node, block):
        root = octets(block.hash)
        message = f"missing trie node {root[2:]} (path ) state {root} is not available, not found"
        raise RpcRefused(INTERNAL, message)
    return block


def block_named(caller: EvmCaller, where: object) -> EvmBlock:
    """The block of a number or tag, also by its hash (EIP-1898)."""
    if isinstance(where, dict) and "blockHash" in where:
        block = caller.chain.block_by_hash(caller.node, octets_of(where["blockHash"], 32))
        if block is None:
            raise RpcRefused(NOT_FOUND, "Resource not found")
        return block
    if isinstance(where, dict):
        where = where.get("blockNumber")
    block = block_at(caller, where)
    if block is None:
        height = caller.chain.head(caller.node).number
        asked = number_of(where)
        raise wrong(f"BlockOutOfRangeError: block height is {height} but requested was {asked}")
    return block
