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

from laneway.devnets.evm.devnet import EvmDevnet
from laneway.devnets.evm.model.continued import ContinuedModel
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
    whole = {**schema, "components": specification()["components"]}
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
    """The blocks that a request names by number or tag."""
    described = methods()[request["method"]]["params"]
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
