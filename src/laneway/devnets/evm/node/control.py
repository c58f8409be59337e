"""Methods that control a devnet, under the names that anvil has for them."""

from collections.abc import Mapping, Sequence
from typing import Final

from laneway.devnets.evm.limits import BLOCK_GAS_MIN, BLOCK_MS_MAX, MINE_COUNT_MAX, REORG_BLOCKS_MAX
from laneway.devnets.evm.model.rules import ANVIL, RefusalReason
from laneway.devnets.evm.node.methods import REVERTING_CODE
from laneway.devnets.evm.node.parameters import (
    address_of,
    anything,
    digest_of,
    flag_of,
    number_of,
    octets_of,
    rows_of,
    wrong,
)
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.evm.errors import InvalidTransaction
from laneway.evm.limits import NONCE_MAX
from laneway.wire.rpc_codes import INTERNAL
from laneway.wire.rpc_server.methods import Method, RpcRefused


def mine_one(caller: EvmCaller, *times: object) -> str:
    if times:
        raise wrong("this devnet mines at the time it is")
    caller.host.mine()
    return "0x0"


def mine_many(caller: EvmCaller, count: int = 1) -> None:
    caller.host.mine(bounded(count, MINE_COUNT_MAX))


def set_interval(caller: EvmCaller, interval_s: int) -> None:
    """Mine a block every `interval_s`; 0 stops mining."""
    caller.host.set_interval(bounded(interval_s, BLOCK_MS_MAX // 1000) * 1000)


def set_balance(caller: EvmCaller, address: bytes, balance_wei: int) -> None:
    caller.chain.set_account(address, balance_wei=balance_wei)


def set_nonce(caller: EvmCaller, address: bytes, nonce: int) -> None:
    if nonce > NONCE_MAX:
        raise wrong("number too large to fit in target type")
    caller.chain.set_account(address, nonce=nonce)


def set_code(caller: EvmCaller, address: bytes, code: bytes) -> None:
    """On a chain that does not execute only the code that reverts, or none."""
    if caller.chain.executes:
        caller.chain.set_code(address, code)
    elif code not in (b"", REVERTING_CODE):
        raise wrong("this devnet knows only the code 0x60006000fd")
    elif code:
        caller.chain.reverts[address] = None
    else:
        caller.chain.reverts.pop(address, None)


def set_storage(caller: EvmCaller, address: bytes, key: int, value: bytes) -> bool:
    if not caller.chain.executes:
        raise wrong("this devnet has no storage")
    caller.chain.set_storage(address, key, int.from_bytes(value, "big"))
    return True


def set_base_fee(caller: EvmCaller, base_fee_wei: int) -> None:
    caller.chain.base_fee_next_wei = base_fee_wei


def set_gas_limit(caller: EvmCaller, gas: int) -> bool:
    caller.chain.block_gas_max = max(gas, BLOCK_GAS_MIN)
    return True


def drop(caller: EvmCaller, digest: bytes) -> None:
    caller.chain.drop(digest, caller.node)


def drop_all(caller: EvmCaller, sender: bytes | None = None) -> None:
    """Drop the transactions of one sender, or all."""
    for sent in (sent for part in caller.chain.pool(caller.node) for sent in part):
        if sender in (None, sent.sender):
            caller.chain.drop(sent.hash, caller.node)


def reorg(caller: EvmCaller, depth: int, rows: Sequence[object]) -> None:
    """Make the newest blocks again, empty but for these transactions with their block's place."""
    check_depth(caller, depth, "Reorg")
    blocks: list[list[bytes]] = [[] for _ in range(depth)]
    for row in rows:
        if not isinstance(row, list) or len(row) != 2 or not isinstance(row[1], int):
            raise wrong("invalid type, expected a tuple of size 2")
        if not 0 <= row[1] < depth:
            raise wrong(
                "Block number for reorg tx will exceed the reorged chain height. "
                f"Block number {row[1]} must not exceed (depth-1) {depth - 1}"
            )
        blocks[row[1]].append(octets_of(row[0]))
    if depth == 0:
        raise RpcRefused(INTERNAL, "Required data unavailable")
    try:
        caller.chain.reorg(depth, caller.host.now_ms(), blocks=blocks, strict=False)
    except InvalidTransaction as error:
        raise RpcRefused(*ANVIL.refusals[RefusalReason.MALFORMED]) from error


def rollback(caller: EvmCaller, depth: int) -> None:
    check_depth(caller, depth, "Rollback")
    if depth > 0:
        caller.chain.reorg(depth, caller.host.now_ms(), blocks=())


CONTROLS: Final[Mapping[str, Method]] = {
    "evm_mine": Method((anything,), mine_one, optional=1),
    "anvil_mine": Method((number_of,), mine_many, optional=1),
    "evm_setAutomine": Method((flag_of,), lambda caller, is_on: caller.host.set_automine(is_on)),
    "anvil_setAutomine": Method((flag_of,), lambda caller, is_on: caller.host.set_automine(is_on)),
    "anvil_getAutomine": Method((), lambda caller: caller.host.automines),
    "evm_setIntervalMining": Method((number_of,), set_interval),
    "anvil_setIntervalMining": Method((number_of,), set_interval),
    "evm_setBlockGasLimit": Method((number_of,), set_gas_limit),
    "anvil_setBalance": Method((address_of, number_of), set_balance),
    "anvil_setNonce": Method((address_of, number_of), set_nonce),
    "anvil_setCode": Method((address_of, octets_of), set_code),
    "anvil_setStorageAt": Method((address_of, number_of, digest_of), set_storage),
    "anvil_setNextBlockBaseFeePerGas": Method((number_of,), set_base_fee),
    "anvil_dropTransaction": Method((digest_of,), drop),
    "anvil_dropAllTransactions": Method((), drop_all),
    "anvil_removePoolTransactions": Method((address_of,), drop_all),
    "anvil_reorg": Method((number_of, rows_of), reorg),
    "anvil_rollback": Method((number_of,), rollback),
}


def check_depth(caller: EvmCaller, depth: int, what: str) -> None:
    height = caller.chain.newest().number
    if depth > height - caller.chain.first_number:
        problem = f"{what} depth must not exceed current chain height: "
        raise wrong(f"{problem}current height {height}, depth {depth}")
    bounded(depth, REORG_BLOCKS_MAX)


def bounded(count: int, most: int) -> int:
    if count > most:
        raise wrong(f"at most {most}")
    return count
