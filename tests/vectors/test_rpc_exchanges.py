"""Exchanges that nodes had on hive's chain, with the EVM devnet's socket: what it answers has the
shape of the specification, and the values that the nodes answered.

The devnet goes on from the state before block 45, so what lies before it has no value to compare:
there it refuses, or knows nothing. Which exchange that is follows from what it asks for.
"""

import asyncio
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from aiohttp import ClientSession
from msgspec import json
from tests.vectors.block_replay import FIRST, chain, is_there, listed
from tests.vectors.evm_devnet import imported
from tests.vectors.folder import folder, unhex

from laneway.devnets.evm.accounts import DEV_ACCOUNTS
from laneway.devnets.evm.devnet import EvmDevnet
from laneway.devnets.evm.model.continued import ContinuedModel
from laneway.devnets.evm.node.logs import TAGS
from laneway.devnets.evm.node.rpc import CHANGING, EvmRpc
from laneway.evm.envelope import encode_canonical
from laneway.evm.header import hash_of
from laneway.evm.keccak import keccak

pytestmark = [
    pytest.mark.vectors,
    pytest.mark.skipif(not is_there(), reason="no chain.rlp in evm/rpc/tests"),
]

EXCHANGES = sorted(folder("evm", "rpc", "tests").glob("*/*.io"))
SPEC_ONLY = "// speconly:"
UNKNOWN_METHOD = -32601
SERVED = EvmRpc().methods


def read(path: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]], bool]:
    """Requests, the answers of the nodes, and whether values are to be compared."""
    lines = path.read_text().splitlines()
    asked = [json.decode(line[3:]) for line in lines if line.startswith(">>")]
    got = [json.decode(line[3:]) for line in lines if line.startswith("<<")]
    return asked, got, not any(line.startswith(SPEC_ONLY) for line in lines)


@cache
def specification() -> dict[str, Any]:
    found: dict[str, Any] = listed("openrpc.json")
    return found


@cache
def methods() -> dict[str, dict[str, Any]]:
    return {method["name"]: method for method in specification()["methods"]}


@cache
def result_of(method: str) -> Any:
    """What a result of it is checked with."""
    schema = methods()[method]["result"]["schema"]
    shapes = dict(specification()["components"]["schemas"])
    # An empty list is one of hashes, and of logs.
    results = dict(shapes["FilterResults"])
    shapes["FilterResults"] = {"anyOf": results.pop("oneOf"), **results}
    whole = {**schema, "components": {"schemas": shapes}}
    return jsonschema_rs.validator_for(whole)


OF_STATE = (
    "eth_call",
    "eth_createAccessList",
    "eth_estimateGas",
    "eth_getBalance",
    "eth_getCode",
    "eth_getProof",
    "eth_getStorageAt",
    "eth_getStorageValues",
    "eth_getTransactionCount",
    "debug_getRawHeader",
)
"""They can ask for the block that the devnet begins from, whose state and header it was given."""


def oldest(method: str) -> int:
    """The first block that a method can be asked for."""
    return FIRST - 1 if method in OF_STATE else FIRST


@cache
def old_hashes(before: int) -> set[bytes]:
    """Of the blocks before this number, and of their transactions."""
    old = [block for _, block in chain()[: before - 1]]
    found = {hash_of(block.header) for block in old} | {old[0].header.parent_hash}
    return found | {keccak(encode_canonical(one)) for block in old for one in block.transactions}


BLOCK_SCHEMAS = ("BlockNumberOrTag", "BlockNumberOrTagOrHash", "Filter")


def blocks_asked(request: dict[str, Any]) -> Iterator[Any]:
    """The blocks that a request names by number or tag, or as the oldest of several."""
    described = methods()[request["method"]]["params"]
    if request["method"] == "eth_feeHistory":
        count, newest, *_ = request["params"]
        height = len(chain()) if newest in TAGS else int(newest, 16)
        yield hex(max(height - int(str(count), 0) + 1, 0))
    for parameter, value in zip(described, request.get("params", []), strict=False):
        if parameter["schema"].get("$ref", "").rpartition("/")[2] in BLOCK_SCHEMAS:
            if isinstance(value, dict):
                yield from (value.get(name) for name in ("fromBlock", "toBlock", "blockNumber"))
            else:
                yield value


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value:
        if not isinstance(value, str) and isinstance(inner, str | dict | list):
            yield from strings(inner)


def is_before(request: dict[str, Any]) -> bool:
    """Whether it asks for a block, or a transaction of one, that the devnet was not given."""
    first = oldest(request["method"])
    for named in blocks_asked(request):
        if named == "earliest":
            return True
        is_number = isinstance(named, str) and named.startswith("0x") and len(named) < 66
        if is_number and int(named, 16) < first:
            return True
    return any(
        unhex(text) in old_hashes(first)
        for text in strings(request.get("params", []))
        if len(text) == 66
    )


@cache
def read_alone() -> ContinuedModel:
    """For all exchanges that change nothing."""
    return imported()


def answers(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The devnet's, over HTTP."""

    async def story() -> list[dict[str, Any]]:
        changes = any(request["method"] in CHANGING for request in requests)
        model = imported() if changes else read_alone()
        found = []
        async with EvmDevnet(block_ms=None, chain=model) as devnet, ClientSession() as session:
            for request in requests:
                async with session.post(devnet.url, json=request) as response:
                    assert response.status == 200
                    found.append(await response.json())
        return found

    return asyncio.run(story())


def samples(model: ContinuedModel) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Calls about all that was imported, and of every kind that there may be no exchange of."""
    for block in model.history()[1:]:
        number, digest = hex(block.number), "0x" + block.hash.hex()
        yield "eth_getBlockByNumber", (number, True)
        yield "eth_getBlockByHash", (digest, True)
        yield "eth_getBlockReceipts", (digest,)
        yield "eth_getBlockTransactionCountByHash", (digest,)
        yield "debug_traceBlockByHash", (digest,)
        for method in OF_BLOCKS:
            yield method, (number,)
        for index, sent in enumerate(block.transactions):
            for method in OF_TRANSACTIONS:
                yield method, ("0x" + sent.hex(),)
            yield "eth_getTransactionByBlockHashAndIndex", (digest, hex(index))
            yield "eth_getTransactionByBlockNumberAndIndex", (number, hex(index))
    yield "eth_feeHistory", ("0x5", "latest", [10, 50])
    for price in ({}, {"gasPrice": "0x77777777"}, {"gasPrice": "0x77777777", "accessList": []}):
        yield "eth_fillTransaction", ({"from": SENDER, "to": STORES, **price},)
    for method in ("eth_getBalance", "eth_getTransactionCount", "eth_getCode"):
        yield method, (STORES, "latest")
    yield "eth_getStorageAt", (STORES, "0x0", "latest")
    yield "eth_getStorageValues", ({STORES: ["0x" + "00" * 32]},)
    yield "eth_getProof", (STORES, ["0x" + "00" * 32, "0x07"], "latest")
    yield "eth_call", ({"to": STORES}, "latest")
    yield "eth_estimateGas", ({"to": STORES}, "latest")
    yield "txpool_contentFrom", (SENDER,)
    yield "eth_createAccessList", ({"to": REVERTS, "input": "0x01"}, "latest")
    yield "eth_getLogs", ({"fromBlock": hex(FIRST)},)
    for criteria in ({}, {"fromBlock": hex(FIRST)}):
        yield "eth_newFilter", (criteria,)
    yield "eth_getFilterLogs", ("0x2",)
    yield "eth_newBlockFilter", ()
    yield "eth_newPendingTransactionFilter", ()
    for name in ("0x1", "0x2", "0x3", "0x4"):
        yield "eth_getFilterChanges", (name,)
        yield "eth_uninstallFilter", (name,)
    for method in OF_NOTHING:
        yield method, ()
    yield "eth_sign", (KNOWN, "0x1234")
    for method in ("eth_signTransaction", "eth_sendTransaction"):
        yield method, ({"from": KNOWN, "to": STORES},)


OF_BLOCKS = (
    "debug_getRawBlock",
    "debug_getRawHeader",
    "debug_getRawReceipts",
    "debug_traceBlockByNumber",
    "eth_getBlockTransactionCountByNumber",
)
OF_TRANSACTIONS = (
    "debug_getRawTransaction",
    "debug_traceTransaction",
    "eth_getTransactionReceipt",
    "eth_getTransactionByHash",
)
OF_NOTHING = (
    *("eth_accounts", "eth_baseFee", "eth_blobBaseFee", "eth_blockNumber", "eth_chainId"),
    *("eth_coinbase", "eth_gasPrice", "eth_maxPriorityFeePerGas", "eth_syncing", "net_version"),
    *("txpool_content", "txpool_status"),
)
SENDER = "0x0c2c51a0990aee1d73c1228de158688341557508"
KNOWN = "0x" + DEV_ACCOUNTS[0].address.hex()
STORES = "0x7dcd17433742f4c0ca53122ab541d0ba67fc27df"
REVERTS = "0x0ee3ab1371c93e7c0c281cc0c2107cdebc8b1930"
"""Of the state after block 54."""


def test_all_that_is_served_has_the_shape_of_the_specification() -> None:
    model = imported()
    assert {
        model.sent(one).transaction.type
        for block in model.history()[1:]
        for one in block.transactions
    } == {0, 1, 2, 3, 4}
    model.set_account(DEV_ACCOUNTS[0].address, balance_wei=10**18)
    devnet = EvmDevnet(block_ms=None, chain=model)
    tried = {"eth_sendRawTransaction"}
    for method, params in samples(model):
        result_of(method).validate(devnet.say(method, *params))
        tried.add(method)
    assert sorted(set(SERVED) & set(methods()) - tried) == [], "every one is tried"


def test_a_trace_uses_the_gas_of_its_receipt() -> None:
    devnet = EvmDevnet(block_ms=None, chain=imported())
    for block in devnet.chain.history()[1:]:
        for digest in ["0x" + one.hex() for one in block.transactions]:
            receipt: Any = devnet.say("eth_getTransactionReceipt", digest)
            traced: Any = devnet.say("debug_traceTransaction", digest)
            assert traced["gas"] == int(receipt["gasUsed"], 16)


@pytest.mark.parametrize("path", EXCHANGES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_an_exchange_has_the_shape_of_the_specification_and_the_values_of_the_nodes(
    path: Path,
) -> None:
    requests, wanted, has_values = read(path)
    assert requests
    for request, node, said in zip(requests, wanted, answers(requests), strict=True):
        method = request["method"]
        assert said["id"] == request["id"]
        if method not in SERVED:
            assert said["error"]["code"] == UNKNOWN_METHOD
            continue
        if is_before(request):
            assert said.get("result") is None
            continue
        check = result_of(method)
        if "result" in said and ("result" not in node or check.is_valid(node["result"])):
            check.validate(said["result"])
        if "error" in node:
            assert said["error"]["code"] == node["error"]["code"]
            assert said["error"].get("data") == node["error"].get("data")
        elif has_values:
            assert said["result"] == node["result"]
        else:
            assert "result" in said
