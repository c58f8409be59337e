"""The model answers as anvil does: the same calls, the same words, the same shapes.

The suite beside this one asks both through the adapter. Here they are asked word by word, past
every adapter, and their answers are laid side by side.
"""

from typing import Any

import pytest
from tests.anvil import GWEI, KEYS, address
from tests.contracts.evm_answers import SEND, answer, digest, raw, told
from tests.evm_worlds import WORLDS, World

pytestmark = pytest.mark.slow

SENDER = "0x" + address().hex()
OTHER = "0x" + address(KEYS[1]).hex()
BARE = "0x" + "11" * 20


@pytest.mark.parametrize("name", list(WORLDS))
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, (-32003, "transaction already imported")),
        ({"value": 2}, (-32003, "replacement transaction underpriced")),
        (
            {"maxPriorityFeePerGas": 8 * GWEI},
            (-32003, "replacement transaction underpriced"),
        ),
        ({"nonce": 0}, (-32003, "nonce too low")),
        ({"value": 10**30}, (-32003, "Insufficient funds for gas * price + value")),
        ({"gas": 20_000}, (-32000, "intrinsic gas too low")),
        (
            {"gas": 10**9},
            (-32000, "intrinsic gas too high -- tx.gas_limit > env.block.gas_limit"),
        ),
        (
            {"maxFeePerGas": 10, "maxPriorityFeePerGas": 1},
            (-32003, "max fee per gas less than block base fee"),
        ),
        (
            {"maxPriorityFeePerGas": 200 * GWEI},
            (-32003, "max priority fee per gas higher than max fee per gas"),
        ),
        ({"chainId": 1}, (-32003, "invalid chain id for signer")),
    ],
)
def test_a_no_has_this_code_and_these_words(
    name: str, fields: dict[str, Any], words: tuple[int, str]
) -> None:
    async def story(world: World) -> None:
        world.say(SEND, raw(0))
        world.mine()
        world.say(SEND, raw(1))
        assert world.refusal(SEND, raw(**{"nonce": 1, **fields})) == words

    told(name, story)


@pytest.mark.parametrize("name", list(WORLDS))
@pytest.mark.parametrize(
    ("method", "params", "words"),
    [
        (SEND, ["0x02deadbeef"], (-32602, "Failed to decode transaction")),
        (SEND, ["0x"], (-32602, "Empty transaction data")),
        ("eth_mineGold", [], (-32601, "Method not found")),
        ("eth_subscribe", ["newHeads"], (-32601, "Method not found")),
        ("eth_getBalance", ["0x12", "latest"], (-32602, "invalid string length")),
        ("eth_getBalance", [SENDER, "nonsense"], (-32602, "hex string without 0x prefix")),
        ("eth_getBlockByNumber", ["0xzz", False], (-32602, "invalid digit found in string")),
        (
            "eth_getBalance",
            [SENDER, "0x5"],
            (-32602, "BlockOutOfRangeError: block height is 0 but requested was 5"),
        ),
        (
            "eth_getTransactionCount",
            [SENDER, {"blockHash": "0x" + "11" * 32}],
            (-32001, "Resource not found"),
        ),
        (
            "anvil_reorg",
            [9, []],
            (
                -32602,
                "Reorg depth must not exceed current chain height: current height 0, depth 9",
            ),
        ),
        (
            "anvil_rollback",
            [9],
            (
                -32602,
                "Rollback depth must not exceed current chain height: current height 0, depth 9",
            ),
        ),
        ("evm_setIntervalMining", [0.5], (-32602, "invalid number")),
    ],
)
def test_a_wrong_call_is_refused_in_these_words(
    name: str, method: str, params: list[object], words: tuple[int, str]
) -> None:
    async def story(world: World) -> None:
        assert world.refusal(method, *params) == words

    told(name, story)


READS: list[tuple[str, Any]] = [
    ("eth_chainId", []),
    ("net_version", []),
    ("net_listening", []),
    ("eth_syncing", []),
    ("eth_accounts", []),
    ("eth_blockNumber", []),
    ("eth_gasPrice", []),
    ("eth_maxPriorityFeePerGas", []),
    ("eth_blobBaseFee", []),
    ("txpool_status", []),
    ("eth_getBlockByNumber", ["latest", False]),
    ("eth_getBlockByNumber", ["latest", True]),
    ("eth_getBlockByNumber", ["0x1", False]),
    ("eth_getBlockByNumber", ["0x63", False]),
    ("eth_getBlockByHash", ["0x" + "00" * 32, False]),
    ("eth_getBlockReceipts", ["0x1"]),
    ("eth_getBlockReceipts", ["latest"]),
    *(
        (method, [made])
        for method in ("eth_getTransactionByHash", "eth_getTransactionReceipt")
        for made in (digest(0), digest(1), digest(2), digest(9))
    ),
    *(("eth_getTransactionBySenderAndNonce", [SENDER, hex(nonce)]) for nonce in (0, 3, 4, 5, 9)),
    *(
        (method, [who, tag])
        for method in ("eth_getTransactionCount", "eth_getBalance")
        for who in (SENDER, OTHER, BARE)
        for tag in ("latest", "earliest", "0x0", "0x1", {"blockNumber": "0x1"})
    ),
    ("eth_getTransactionCount", [SENDER, "pending"]),
    ("eth_getCode", [SENDER, "latest"]),
    ("eth_getCode", ["0x" + "22" * 20, "latest"]),
    ("eth_estimateGas", [{"from": SENDER, "to": BARE, "value": "0x1"}]),
    ("eth_estimateGas", [{"from": SENDER, "to": BARE, "value": hex(10**30)}]),
    ("eth_estimateGas", [{"from": SENDER, "to": BARE, "input": "0x00ff00"}]),
    ("eth_estimateGas", [{"from": SENDER, "to": "0x" + "22" * 20}]),
    ("eth_call", [{"from": SENDER, "to": BARE}, "latest"]),
    ("eth_call", [{"from": SENDER, "to": "0x" + "22" * 20}, "latest"]),
    ("eth_feeHistory", ["0x2", "latest", [50]]),
    ("eth_feeHistory", [2, "latest"]),
]


async def story_of_reads(world: World) -> list[Any]:
    """Three types mined in two blocks, one that waits, one behind a gap, one that reverts."""
    legacy = {"gasPrice": 10 * GWEI, "maxFeePerGas": None, "maxPriorityFeePerGas": None}
    world.set_code(b"\x22" * 20, bytes.fromhex("60006000fd"))
    # Anvil's first block does not follow the rule of the base fee, so it is given.
    world.set_base_fee(2 * GWEI)
    world.say(SEND, raw(0))
    world.mine()
    world.say(SEND, raw(1, **legacy))
    world.say(SEND, raw(2, accessList=[{"address": BARE, "storageKeys": []}], gas=50_000))
    world.say(SEND, raw(3, to="0x" + "22" * 20, gas=100_000))
    # First in both orders: anvil goes by the highest fee, the model by the tip that is paid.
    world.say(SEND, raw(0, key=KEYS[1], value=5, maxPriorityFeePerGas=9 * GWEI))
    world.mine()
    world.say(SEND, raw(4))
    world.say(SEND, raw(9))
    return [answer(world, method, *params) for method, params in READS]


@pytest.fixture(scope="module")
def answers() -> dict[str, list[Any]]:
    return {name: told(name, story_of_reads) for name in WORLDS}


@pytest.mark.parametrize("place", range(len(READS)), ids=lambda place: READS[place][0])
def test_the_model_answers_as_anvil_does(answers: dict[str, list[Any]], place: int) -> None:
    assert answers["model"][place] == answers["anvil"][place]
