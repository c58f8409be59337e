"""Which transaction was mined at a nonce. Only what is found is said: nothing found is no proof."""

from msgspec.structs import replace

from laneway.chains.evm.blocks import BY_NUMBER
from laneway.chains.evm.endpoint import Endpoint
from laneway.chains.evm.limits import NONCE_SCAN_BLOCKS_MAX
from laneway.chains.evm.shapes import (
    FULL_BLOCK,
    MINED,
    FullBlockShape,
    read,
    read_number,
    translated,
)
from laneway.core.facts import NonceOwner
from laneway.wire.hex import octets, quantity, read_octets, read_quantity
from laneway.wire.jsonrpc import RpcCall, RpcError

BLOCK_NUMBER = RpcCall("eth_blockNumber")


async def read_owner(node: Endpoint, address: bytes, nonce: int) -> NonceOwner | None:
    calls = [BLOCK_NUMBER]
    if node.has_by_nonce:
        given = (octets(address), quantity(nonce))
        calls.append(RpcCall("eth_getTransactionBySenderAndNonce", given))
    head_said, *said = await node.ask(calls)
    head = read_number(node, head_said)
    node.saw_head(head)
    if said and not isinstance(said[0], RpcError):
        mined = read(node, said[0], MINED)
        block = None if mined is None else translated(node, mined.block)
        if mined is None or block is None:
            return None
        found = translated(node, lambda: read_octets(mined.hash))
        return NonceOwner(found, block, node.name, head)
    # Geth, for one, has no such method.
    node.has_by_nonce = False
    return await scan(node, address, nonce, head)


async def scan(node: Endpoint, address: bytes, nonce: int, head: int) -> NonceOwner | None:
    """Find the block where the account's count passed the nonce, and look into it."""
    passed, not_passed = head, max(-1, head - NONCE_SCAN_BLOCKS_MAX)
    if not await has_passed(node, address, nonce, head):
        return None
    while passed - not_passed > 1:
        middle = (passed + not_passed) // 2
        if await has_passed(node, address, nonce, middle):
            passed = middle
        else:
            not_passed = middle
    (answer,) = await node.ask([RpcCall(BY_NUMBER, (quantity(passed), True))])
    block = read(node, answer, FULL_BLOCK)
    if block is None:
        return None
    owner = translated(node, lambda: find_owner(node, block, address, nonce))
    return None if owner is None else replace(owner, head=head)


def find_owner(
    node: Endpoint, block: FullBlockShape, address: bytes, nonce: int
) -> NonceOwner | None:
    sender = octets(address)
    for mined in block.transactions:
        if mined.sender.lower() == sender and read_quantity(mined.nonce) == nonce:
            return NonceOwner(read_octets(mined.hash), block.ref(), node.name)
    return None


async def has_passed(node: Endpoint, address: bytes, nonce: int, number: int) -> bool:
    """False also where the node no longer has the state: what is found in the end is looked at."""
    given = (octets(address), quantity(number))
    (answer,) = await node.ask([RpcCall("eth_getTransactionCount", given)])
    return not isinstance(answer, RpcError) and read_number(node, answer) > nonce
