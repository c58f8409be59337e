"""Methods that control a devnet, under the names that anvil has for them."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Final

from laneway.devnets.evm.limits import (
    BLOCK_GAS_MIN,
    BLOCK_MS_MAX,
    CHAIN_ID_MAX,
    REORG_BLOCKS_MAX,
    SNAPSHOTS_COUNT_MAX,
)
from laneway.devnets.evm.model.rules import ANVIL, RefusalReason
from laneway.devnets.evm.node.fees import gas_price
from laneway.devnets.evm.node.methods import REVERTING_CODE, client_version
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
from laneway.devnets.evm.node.prices import base_fee_next
from laneway.devnets.evm.node.signing import SIGNING
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.devnets.evm.node.times import TIMES, bounded, sequence_number_of, whole_of
from laneway.evm.errors import InvalidTransaction
from laneway.evm.limits import NONCE_MAX
from laneway.wire.hex import octets, quantity
from laneway.wire.limits import WEI_MAX
from laneway.wire.rpc_codes import INTERNAL
from laneway.wire.rpc_server.methods import Json, Method, RpcRefused


def snapshot(caller: EvmCaller) -> str:
    number = caller.host.snapshots.take()
    if number is None:
        raise wrong(f"at most {SNAPSHOTS_COUNT_MAX} snapshots; revert to one")
    return quantity(number)


def revert(caller: EvmCaller, number: int) -> bool:
    return caller.host.revert(number)


def reset(caller: EvmCaller, forking: object = None) -> None:
    if forking is not None:
        raise wrong("Forking not enabled and RPC URL not provided to start forking")
    caller.host.reset()


def set_interval(caller: EvmCaller, interval_s: int) -> None:
    """Mine a block every `interval_s`; 0 stops mining."""
    caller.host.set_interval(bounded(interval_s, BLOCK_MS_MAX // 1000) * 1000)


def set_balance(caller: EvmCaller, address: bytes, balance_wei: int) -> None:
    caller.chain.set_account(address, balance_wei=balance_wei)


def add_balance(caller: EvmCaller, address: bytes, wei: int) -> None:
    chain = caller.chain
    held = chain.account(chain.newest(), address).balance_wei
    chain.set_account(address, balance_wei=min(held + wei, WEI_MAX))


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


def set_coinbase(caller: EvmCaller, address: bytes) -> None:
    caller.chain.beneficiary = address


def set_chain_id(caller: EvmCaller, chain_id: int) -> None:
    caller.chain.chain_id = chain_id


def set_gas_price(caller: EvmCaller, price_wei: int) -> None:  # noqa: ARG001
    raise wrong("anvil_setMinGasPrice is not supported when EIP-1559 is active")


def set_logging(caller: EvmCaller, is_on: bool) -> None:
    """It writes no log of its requests, so there is none to end."""


def node_info(caller: EvmCaller) -> Json:
    chain, head = caller.chain, caller.chain.head(caller.node)
    return {
        "currentBlockNumber": quantity(head.number),
        "currentBlockTimestamp": head.made_ms // 1000,
        "currentBlockHash": octets(head.hash),
        "hardFork": chain.fork.name.capitalize(),
        "transactionOrder": "fees",
        "environment": {
            "baseFee": quantity(base_fee_next(chain, caller.node)),
            "chainId": chain.chain_id,
            "gasLimit": quantity(chain.block_gas_max),
            "gasPrice": quantity(gas_price(caller)),
        },
        "forkConfig": {"forkUrl": None, "forkBlockNumber": None, "forkRetryBackoff": None},
    }


def metadata(caller: EvmCaller) -> Json:
    chain, head = caller.chain, caller.chain.head(caller.node)
    return {
        "clientVersion": client_version(caller),
        "clientSemver": version("laneway"),
        "clientCommitSha": None,
        "chainId": chain.chain_id,
        "instanceId": octets(chain.history()[0].hash),
        "latestBlockNumber": head.number,
        "latestBlockHash": octets(head.hash),
        "forkedNetwork": None,
        "snapshots": {
            quantity(number): [kept.block.number, octets(kept.block.hash)]
            for number, kept in caller.host.snapshots.kept().items()
        },
    }


def interval(caller: EvmCaller) -> int | None:
    return caller.host.interval_ms // 1000 or None


def blobs_of(caller: EvmCaller, digest: bytes) -> list[str] | None:
    found = caller.chain.transaction(caller.node, digest)
    blobs = () if found is None else found.sent.blobs()
    return [octets(content) for _, content in blobs] or None


def blob(caller: EvmCaller, versioned_hash: bytes) -> str | None:
    found = caller.chain.blob(caller.node, versioned_hash)
    return None if found is None else octets(found)


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


def chain_id_of(value: object) -> int:
    return bounded(whole_of(value), CHAIN_ID_MAX)


SET_AUTOMINE: Final = Method((flag_of,), lambda caller, is_on: caller.host.set_automine(is_on))
GET_AUTOMINE: Final = Method((), lambda caller: caller.host.automines)
SET_NONCE: Final = Method((address_of, number_of), set_nonce)
NAMED: Final[Sequence[tuple[str, Method]]] = (
    ("evm_setAutomine anvil_setAutomine", SET_AUTOMINE),
    ("anvil_getAutomine hardhat_getAutomine", GET_AUTOMINE),
    ("evm_setIntervalMining anvil_setIntervalMining", Method((number_of,), set_interval)),
    ("anvil_getIntervalMining", Method((), interval)),
    ("evm_snapshot anvil_snapshot", Method((), snapshot)),
    ("evm_revert anvil_revert", Method((sequence_number_of,), revert)),
    ("anvil_reset hardhat_reset", Method((anything,), reset, optional=1)),
    ("evm_setBlockGasLimit anvil_setBlockGasLimit", Method((number_of,), set_gas_limit)),
    (
        "anvil_setBalance hardhat_setBalance tenderly_setBalance",
        Method((address_of, number_of), set_balance),
    ),
    (
        "anvil_addBalance hardhat_addBalance tenderly_addBalance",
        Method((address_of, number_of), add_balance),
    ),
    ("anvil_setNonce hardhat_setNonce evm_setAccountNonce", SET_NONCE),
    ("anvil_setCode hardhat_setCode", Method((address_of, octets_of), set_code)),
    (
        "anvil_setStorageAt hardhat_setStorageAt",
        Method((address_of, number_of, digest_of), set_storage),
    ),
    (
        "anvil_setNextBlockBaseFeePerGas hardhat_setNextBlockBaseFeePerGas",
        Method((number_of,), set_base_fee),
    ),
    ("anvil_setMinGasPrice hardhat_setMinGasPrice", Method((number_of,), set_gas_price)),
    ("anvil_setCoinbase hardhat_setCoinbase", Method((address_of,), set_coinbase)),
    ("anvil_setChainId", Method((chain_id_of,), set_chain_id)),
    ("anvil_setLoggingEnabled hardhat_setLoggingEnabled", Method((flag_of,), set_logging)),
    ("anvil_nodeInfo", Method((), node_info)),
    ("anvil_metadata hardhat_metadata", Method((), metadata)),
    (
        "anvil_getGenesisTime",
        Method((), lambda caller: caller.chain.history()[0].made_ms // 1000),
    ),
    ("anvil_getBlobsByTransactionHash", Method((digest_of,), blobs_of)),
    ("anvil_getBlobByHash", Method((digest_of,), blob)),
    ("anvil_dropTransaction hardhat_dropTransaction", Method((digest_of,), drop)),
    ("anvil_dropAllTransactions hardhat_dropAllTransactions", Method((), drop_all)),
    ("anvil_removePoolTransactions", Method((address_of,), drop_all)),
    ("anvil_reorg", Method((number_of, rows_of), reorg)),
    ("anvil_rollback", Method((number_of,), rollback)),
)
"""Under every name that anvil has for it."""

CONTROLS: Final[Mapping[str, Method]] = {
    **{name: method for names, method in NAMED for name in names.split()},
    **TIMES,
    **SIGNING,
}


def check_depth(caller: EvmCaller, depth: int, what: str) -> None:
    height = caller.chain.newest().number
    if depth > height - caller.chain.first_number:
        problem = f"{what} depth must not exceed current chain height: "
        raise wrong(f"{problem}current height {height}, depth {depth}")
    bounded(depth, REORG_BLOCKS_MAX)
