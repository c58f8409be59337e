"""Calls that nodes answered on the last state of hive's chain: the same answers and reasons."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.vectors.block_replay import chain, is_there, listed, rules_at, state
from tests.vectors.evm_engine import plain_state
from tests.vectors.evm_states import number
from tests.vectors.folder import folder, unhex
from tests.vectors.state_tests import authorization

from laneway.evm.calls.access_list import make_access_list
from laneway.evm.calls.call import call, revert_message
from laneway.evm.calls.errors import CallFailed
from laneway.evm.calls.estimate import estimate
from laneway.evm.calls.request import CallRequest
from laneway.evm.execution.replay import context_of
from laneway.evm.header import hash_of

pytestmark = [
    pytest.mark.vectors,
    pytest.mark.skipif(not is_there(), reason="no chain.rlp in evm/rpc/tests"),
]

METHODS = ("eth_call", "eth_estimateGas", "eth_createAccessList")
EXCHANGES = sorted(
    path for method in METHODS for path in folder("evm", "rpc", "tests", method).glob("*.io")
)
GETH_TOLERANCE_PERMILLE = 15
"""The node that answered ends its search when it is as near."""
UNKNOWN_TO_CALLS = ("nonce", "type", "chainId")


def asked(fields: dict[str, Any]) -> CallRequest:
    names = {
        "gas": "gas",
        "gasPrice": "gas_price_wei",
        "maxFeePerGas": "fee_wei_max",
        "maxPriorityFeePerGas": "tip_wei_max",
        "maxFeePerBlobGas": "blob_fee_wei_max",
        "value": "value_wei",
    }
    given: dict[str, Any] = {}
    for name, value in fields.items():
        if name in names:
            given[names[name]] = number(value)
        elif name in ("input", "data"):
            given["data"] = unhex(value)
        elif name in ("from", "to"):
            given["sender" if name == "from" else name] = unhex(value)
        elif name == "blobVersionedHashes":
            given["blob_hashes"] = tuple(unhex(one) for one in value)
        elif name == "authorizationList":
            given["authorizations"] = tuple(authorization(one) for one in value)
        else:
            assert name in UNKNOWN_TO_CALLS, name
    return CallRequest(**given)


def answered(method: str, request: CallRequest) -> Any:
    """As a node would say it: a result, or the message and data of an error."""
    headers = [block.header for _, block in chain()]
    last = headers[-1]
    rules = rules_at(last.timestamp_s)
    chain_id = listed("tests", "genesis.json")["config"]["chainId"]
    hashes = {header.number: hash_of(header) for header in headers}
    block = context_of(last, rules, chain_id=chain_id, block_hash=hashes.__getitem__)
    on = (plain_state(state("post_state_block54.json")), block, rules, request)
    if method == "eth_estimateGas":
        try:
            return hex(estimate(*on, tolerance_permille=GETH_TOLERANCE_PERMILLE))
        except CallFailed as failed:
            return {"message": str(failed), "data": "0x" + failed.output.hex()}
    if method == "eth_createAccessList":
        made = make_access_list(*on)
        entries = [
            {
                "address": "0x" + entry.address.hex(),
                "storageKeys": ["0x" + key.hex() for key in entry.keys],
            }
            for entry in made.entries
        ]
        return {"accessList": entries, "gasUsed": hex(made.answer.gas_used)}
    answer = call(*on)
    output = "0x" + answer.output.hex()
    if answer.is_good():
        return output
    return {"message": revert_message(answer.output), "data": output}


@pytest.mark.parametrize("path", EXCHANGES, ids=lambda path: path.stem)
def test_a_call_is_answered_as_the_nodes_did(path: Path) -> None:
    lines = path.read_text().splitlines()
    requests = [msgspec.json.decode(line[3:]) for line in lines if line.startswith(">>")]
    replies = [msgspec.json.decode(line[3:]) for line in lines if line.startswith("<<")]
    assert requests
    for sent, got in zip(requests, replies, strict=True):
        wanted = got.get("result") or {name: got["error"][name] for name in ("message", "data")}
        assert answered(sent["method"], asked(sent["params"][0])) == wanted
