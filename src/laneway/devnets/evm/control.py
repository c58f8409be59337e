"""The hands that move a devnet, under the names that anvil gives them."""

from collections.abc import Mapping

from laneway.devnets.evm.given import INTERNAL, INVALID_PARAMS, Given, RpcRefused, octets_of
from laneway.devnets.evm.host import EvmHost
from laneway.devnets.evm.limits import BLOCK_GAS_MIN, BLOCK_MS_MAX, MINE_COUNT_MAX, REORG_BLOCKS_MAX
from laneway.devnets.evm.methods import REVERTING_CODE, Method
from laneway.devnets.evm.words import ANVIL, Reason
from laneway.evm.errors import InvalidTransaction


def mine_one(host: EvmHost, _node: int, given: Given) -> str:
    if len(given) > 0:
        raise RpcRefused(INVALID_PARAMS, "this devnet mines at the time it is")
    host.mine()
    return "0x0"


def mine_many(host: EvmHost, _node: int, given: Given) -> None:
    count = given.number(0) if len(given) > 0 else 1
    host.mine(bounded(count, MINE_COUNT_MAX))


def set_automine(host: EvmHost, _node: int, given: Given) -> None:
    host.set_automine(given.flag(0))


def set_interval(host: EvmHost, _node: int, given: Given) -> None:
    """In seconds; 0 mines no more."""
    host.set_interval(bounded(given.number(0), BLOCK_MS_MAX // 1000) * 1000)


def automines(host: EvmHost, _node: int, _given: Given) -> bool:
    return host.automines


def set_balance(host: EvmHost, _node: int, given: Given) -> None:
    host.chain.set_account(given.address(0), balance_wei=given.number(1))


def set_nonce(host: EvmHost, _node: int, given: Given) -> None:
    host.chain.set_account(given.address(0), nonce=given.number(1))


def set_code(host: EvmHost, _node: int, given: Given) -> None:
    """The code that reverts, or none: nothing else is executed here."""
    address, code = given.address(0), given.octets(1)
    if code not in (b"", REVERTING_CODE):
        raise RpcRefused(INVALID_PARAMS, "this devnet knows only the code 0x60006000fd")
    if code:
        host.chain.reverts[address] = None
    else:
        host.chain.reverts.pop(address, None)


def set_base_fee(host: EvmHost, _node: int, given: Given) -> None:
    host.chain.base_fee_next_wei = given.number(0)


def set_gas_limit(host: EvmHost, _node: int, given: Given) -> bool:
    host.chain.block_gas_max = max(given.number(0), BLOCK_GAS_MIN)
    return True


def drop(host: EvmHost, node: int, given: Given) -> None:
    host.chain.drop(given.digest(0), node)


def drop_all(host: EvmHost, node: int, _given: Given) -> None:
    for sent in (sent for part in host.chain.pool(node) for sent in part):
        host.chain.drop(sent.hash, node)


def drop_senders(host: EvmHost, node: int, given: Given) -> None:
    sender = given.address(0)
    for sent in (sent for part in host.chain.pool(node) for sent in part):
        if sent.sender == sender:
            host.chain.drop(sent.hash, node)


def reorg(host: EvmHost, _node: int, given: Given) -> None:
    """The newest blocks are made again, empty but for what is given with the place of its block."""
    depth = depth_of(host, given, "Reorg")
    blocks: list[list[bytes]] = [[] for _ in range(depth)]
    for row in given.rows(1):
        if not isinstance(row, list) or len(row) != 2 or not isinstance(row[1], int):
            raise RpcRefused(INVALID_PARAMS, "invalid type, expected a tuple of size 2")
        if not 0 <= row[1] < depth:
            words = (
                "Block number for reorg tx will exceed the reorged chain height. "
                f"Block number {row[1]} must not exceed (depth-1) {depth - 1}"
            )
            raise RpcRefused(INVALID_PARAMS, words)
        blocks[row[1]].append(octets_of(row[0]))
    if depth == 0:
        raise RpcRefused(INTERNAL, "Required data unavailable")
    try:
        host.chain.reorg(depth, host.now_ms(), blocks=blocks, strict=False)
    except InvalidTransaction as error:
        raise RpcRefused(*ANVIL[Reason.MALFORMED]) from error


def rollback(host: EvmHost, _node: int, given: Given) -> None:
    depth = depth_of(host, given, "Rollback")
    if depth > 0:
        host.chain.reorg(depth, host.now_ms(), blocks=())


CONTROLS: Mapping[str, Method] = {
    "evm_mine": mine_one,
    "anvil_mine": mine_many,
    "evm_setAutomine": set_automine,
    "anvil_setAutomine": set_automine,
    "anvil_getAutomine": automines,
    "evm_setIntervalMining": set_interval,
    "anvil_setIntervalMining": set_interval,
    "evm_setBlockGasLimit": set_gas_limit,
    "anvil_setBalance": set_balance,
    "anvil_setNonce": set_nonce,
    "anvil_setCode": set_code,
    "anvil_setNextBlockBaseFeePerGas": set_base_fee,
    "anvil_dropTransaction": drop,
    "anvil_dropAllTransactions": drop_all,
    "anvil_removePoolTransactions": drop_senders,
    "anvil_reorg": reorg,
    "anvil_rollback": rollback,
}


def depth_of(host: EvmHost, given: Given, what: str) -> int:
    depth, height = given.number(0), host.chain.newest().number
    if depth > height:
        words = f"{what} depth must not exceed current chain height: "
        raise RpcRefused(INVALID_PARAMS, f"{words}current height {height}, depth {depth}")
    return bounded(depth, REORG_BLOCKS_MAX)


def bounded(count: int, most: int) -> int:
    if count > most:
        raise RpcRefused(INVALID_PARAMS, f"at most {most}")
    return count
