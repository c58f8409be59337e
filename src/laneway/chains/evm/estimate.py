"""How much gas a call needs, or why it fails, as most of the nodes say.

One node that names too much or too little, or a revert of its own, moves nothing where others
answer (`core/majority.py`).
"""

import re

from msgspec import DecodeError, json

from laneway.chains.evm.endpoint import EvmEndpoint
from laneway.chains.evm.limits import ESTIMATE_GRACE_MS, ESTIMATE_MS
from laneway.chains.evm.nodes import EvmNodes
from laneway.chains.evm.nonce import BLOCK_NUMBER
from laneway.chains.evm.shapes import read_number
from laneway.chains.nodes import NodeLags
from laneway.core.errors import ChainUnreadable
from laneway.core.facts import Estimated, NotEstimated, Reverted, SendKind
from laneway.core.limits import REASON_CHARS_MAX
from laneway.core.majority import Estimate, estimate_of
from laneway.evm.abi.reverts import builtin_reason
from laneway.ports import EvmCall
from laneway.wire.hex import octets, quantity, read_octets
from laneway.wire.jsonrpc import NodeBusy, RpcCall, RpcError
from laneway.wire.limits import RETRY_AFTER_S_DEFAULT

REVERTED_CODE = 3
REVERTED_WORDS = re.compile(r"\brevert|vm execution error", re.I)


async def estimate_by_nodes(nodes: EvmNodes, call: EvmCall) -> Estimate:
    """The estimate of all nodes that do not lag, taken together."""
    floor = nodes.highest()

    async def ask(node: EvmEndpoint) -> Estimate:
        seen = await read_estimate(node, call)
        if len(nodes.all) > 1 and node.head_number < floor:
            raise NodeLags(node.name, node.head_number, floor)
        return seen

    said = await nodes.answers(ask, grace_ms=ESTIMATE_GRACE_MS)
    return estimate_of(said, len(nodes.all))


async def read_estimate(node: EvmEndpoint, call: EvmCall) -> Estimate:
    with node.reading("estimate"):
        asked = [BLOCK_NUMBER, RpcCall("eth_estimateGas", (shape_of(call),))]
        head, answer = await node.ask(asked, ESTIMATE_MS)
        node.saw_head(read_number(node, head))
        if not isinstance(answer, RpcError):
            gas = read_number(node, answer)
            if node.gas_limit and gas > node.gas_limit:
                problem = f"it estimates {gas} gas, and its block takes {node.gas_limit}"
                raise ChainUnreadable(node.name, problem)
            return Estimated(gas)
        if is_revert(answer):
            output = output_of(answer)
            return Reverted(builtin_reason(output) or answer.message[:REASON_CHARS_MAX], output)
        kind = node.kind(answer)
        if kind is SendKind.RATE_LIMITED:
            raise NodeBusy(node.name, 200, RETRY_AFTER_S_DEFAULT)
        return NotEstimated(kind, f"{answer.code} {answer.message}"[:REASON_CHARS_MAX])


def is_revert(error: RpcError) -> bool:
    """Whether the call itself reverts, and it is not the node that cannot run it."""
    return error.code == REVERTED_CODE or REVERTED_WORDS.search(error.message) is not None


def shape_of(call: EvmCall) -> dict[str, object]:
    shape: dict[str, object] = {"from": octets(call.sender), "value": quantity(call.value_wei)}
    if call.to is not None:
        shape["to"] = octets(call.to)
    if call.input:
        shape["input"] = octets(call.input)
    if call.access_list:
        shape["accessList"] = [
            {"address": octets(address), "storageKeys": [octets(key) for key in keys]}
            for address, keys in call.access_list
        ]
    if call.blob_hashes:
        shape["blobVersionedHashes"] = [octets(blob) for blob in call.blob_hashes]
    if call.delegations:
        shape["authorizationList"] = [
            {
                "chainId": quantity(signed.chain_id),
                "address": octets(signed.address),
                "nonce": quantity(signed.nonce),
                "yParity": quantity(signed.y_parity),
                "r": quantity(signed.r),
                "s": quantity(signed.s),
            }
            for signed in call.delegations
        ]
    return shape


def output_of(error: RpcError) -> bytes:
    """What the call returned; nodes put it into `data`, some with a word before it."""
    try:
        content = json.decode(error.data)
        text = content if isinstance(content, str) else ""
        return read_octets(text.removeprefix("Reverted "))
    except (DecodeError, ValueError):
        return b""
