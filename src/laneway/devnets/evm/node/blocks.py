"""Which block a caller names: by number, tag or hash, and whether its state is still known."""

from typing import Final

from laneway.devnets.evm.model.block import EvmBlock
from laneway.devnets.evm.node.logs import TAGS, bound_of, check_content, check_kept
from laneway.devnets.evm.node.parameters import number_of, octets_of, wrong
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.wire.hex import octets
from laneway.wire.rpc_codes import INTERNAL
from laneway.wire.rpc_server.methods import RpcRefused

NOT_FOUND: Final = -32001
"""Anvil's own code."""

HASH_CHARS = 66


def block_at(caller: EvmCaller, where: object) -> EvmBlock | None:
    """The block of a number or tag; the pending one is built anew for each who asks."""
    if where == "pending":
        return caller.host.pending(caller.node)
    head = caller.chain.head(caller.node)
    if isinstance(where, str) and where not in TAGS and not where.startswith("0x"):
        raise wrong("hex string without 0x prefix")
    if where is None:
        raise wrong("invalid number")
    number = bound_of(where, head.number, caller.chain.final_number)
    check_kept(caller.chain, number)
    return caller.chain.block(caller.node, number)


def block_found(caller: EvmCaller, where: object) -> EvmBlock | None:
    """The block of a number, a tag, or a hash, which may also stand in a map (EIP-1898)."""
    if isinstance(where, dict):
        where = where["blockHash"] if "blockHash" in where else where.get("blockNumber")
    if isinstance(where, str) and len(where) == HASH_CHARS:
        return caller.chain.block_by_hash(caller.node, octets_of(where, 32))
    return block_at(caller, where)


def block_held(caller: EvmCaller, where: object) -> EvmBlock | None:
    """The same, of a block that is asked for its transactions."""
    block = block_found(caller, where)
    if block is not None:
        check_content(block)
    return block


def block_named(caller: EvmCaller, where: object) -> EvmBlock:
    """That block, which must be there."""
    block = block_found(caller, where)
    if block is not None:
        return block
    named = where.get("blockNumber") if isinstance(where, dict) else where
    if named is None or (isinstance(named, str) and len(named) == HASH_CHARS):
        raise RpcRefused(NOT_FOUND, "Resource not found")
    height = caller.chain.head(caller.node).number
    asked = number_of(named)
    raise wrong(f"BlockOutOfRangeError: block height is {height} but requested was {asked}")


def block_mined(caller: EvmCaller, where: object) -> EvmBlock:
    """The same where only what was mined is known: for the pending one it is the newest."""
    return block_named(caller, "latest" if where == "pending" else where)


def state_at(caller: EvmCaller, where: object) -> EvmBlock:
    """The block whose state is asked for; a node that forgot it says so in geth's phrase."""
    block = block_named(caller, where)
    check_state(caller, block)
    return block


def check_state(caller: EvmCaller, block: EvmBlock) -> None:
    if not caller.chain.has_state(caller.node, block):
        root = octets(block.hash)
        message = f"missing trie node {root[2:]} (path ) state {root} is not available, not found"
        raise RpcRefused(INTERNAL, message)


def check_executes(caller: EvmCaller) -> None:
    if not caller.chain.executes:
        raise wrong("this devnet moves value alone")
