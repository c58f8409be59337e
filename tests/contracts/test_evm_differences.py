"""Where control methods differ from anvil's: the rows of docs/evm-devnet.md, each of which still
holds. A row whose difference is gone fails here; a difference without a row fails in the suites
beside this one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.anvil import GWEI, KEYS, address
from tests.contracts.test_evm_node import answer, told
from tests.evm_blobs import blob_transaction, sent, sidecar
from tests.evm_worlds import World

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs/evm-devnet.md"
A, B = ("0x" + address(key).hex() for key in KEYS[:2])
DEPLOYER = "0x4e59b44847b379578588920ca78fbf26c0b4956c"
ABSENT = (
    *("eth_signTypedData_v4", "eth_sendTransactionSync", "anvil_dumpState", "anvil_loadState"),
    "evm_mine_detailed",
)


def send(world: World, **fields: str) -> Any:
    fees = {"maxFeePerGas": hex(9 * GWEI), "gas": "0x5208"}
    return world.say("eth_sendTransaction", {"from": A, "to": B, **fees, **fields})


def base_fee_of_block_1(world: World) -> Any:
    world.mine()
    return world.say("eth_getBlockByNumber", "latest", False)["baseFeePerGas"]


def order(world: World) -> Any:
    highest = send(world, maxFeePerGas=hex(20 * GWEI), maxPriorityFeePerGas=hex(GWEI))
    send(world, **{"from": B}, maxPriorityFeePerGas=hex(5 * GWEI))
    world.mine()
    return world.say("eth_getBlockByNumber", "latest", False)["transactions"].index(highest)


def pending_transactions(world: World) -> Any:
    send(world)
    (found,) = world.say("eth_getBlockByNumber", "pending", True)["transactions"]
    return found["blockNumber"]


def excess(world: World) -> Any:
    # Nine are three more than a block of Prague should have.
    for nonce, count in enumerate((6, 3)):
        raw, _ = sent(blob_transaction(nonce, sidecar(1, count=count)))
        world.say("eth_sendRawTransaction", raw)
    world.mine(2)
    return world.say("eth_getBlockByNumber", "latest", False)["excessBlobGas"]


def blobs_in_words(world: World) -> Any:
    raw, digest = sent(blob_transaction(0, sidecar(1)))
    world.say("eth_sendRawTransaction", raw)
    return "blobs" in world.say("eth_getTransactionByHash", digest)


def later_snapshot(world: World) -> Any:
    first = world.say("evm_snapshot")
    world.mine()
    later = world.say("evm_snapshot")
    world.say("evm_revert", first)
    return answer(world, "evm_revert", later)


def reset(world: World) -> Any:
    world.say("anvil_reset")
    return len(world.say("eth_getCode", DEPLOYER, "latest"))


def absent(world: World) -> Any:
    unknown = (-32601, "Method not found")
    return [answer(world, method) == unknown for method in ABSENT]


DIFFERENCES: dict[str, tuple[Callable[[World], Any], Any, Any]] = {
    "base fee of block 1": (base_fee_of_block_1, hex(GWEI), hex(GWEI * 7 // 8)),
    "order in a block": (order, 0, 1),
    "transactions of the `pending` block": (pending_transactions, "0x1", None),
    "excess of blob gas": (excess, "0x0", hex(3 * 131_072)),
    "a blob transaction in words": (blobs_in_words, True, False),
    "a snapshot after one that was reverted to": (
        later_snapshot,
        (-32001, "Resource not found"),
        False,
    ),
    "`anvil_reset`": (reset, 2, 140),
    "`eth_signTypedData_v4`": (absent, [False] * len(ABSENT), [True] * len(ABSENT)),
}
"""The beginning of each row: how it is asked, what anvil says, and what the devnet does."""


@pytest.mark.parametrize("row", DIFFERENCES)
def test_a_listed_difference_is_there(row: str) -> None:
    assert f"\n| {row}" in PAGE.read_text()
    story, anvils, ours = DIFFERENCES[row]

    async def run(world: World) -> Any:
        return story(world)

    assert (told("anvil", run), told("model", run)) == (anvils, ours)
