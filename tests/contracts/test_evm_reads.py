"""What is read of a chain on which contracts ran: the model answers as anvil does."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import ClientSession
from tests.anvil import GWEI, KEYS, address
from tests.contracts.evm_answers import SEND, answer, digest, raw, same, told
from tests.evm_worlds import WORLDS, World

pytestmark = pytest.mark.slow

SENDER = "0x" + address().hex()
OTHER = "0x" + address(KEYS[1]).hex()
BARE = "0x" + "11" * 20
REVERTS = "0x" + "22" * 20
STORES = "0x" + "33" * 20
CALLS = "0x" + "44" * 20
ZERO, ONE, SEVEN = ("0x" + f"{number:064x}" for number in (0, 1, 7))
TOPIC = "0x" + f"{0x2B:064x}"

CODE = {
    REVERTS: "60006000fd",
    # Key 0 is 1, a log, key 1 is key 0 and 1 more; 0x20 is returned.
    STORES: "6001600055602a602b60206000a1600054600101600155602060005260206000f3",
    # Calls it, and returns whether that went well.
    CALLS: "6000600060006000600073" + STORES[2:] + "5af160005260206000f3",
}
NUMBER, TIME, SLOT = "4360005260206000f3", "4260005260206000f3", "60005460005260206000f3"
"""Code that returns the block's number, its time, and key 0."""
STORED = digest(1, to=STORES, gas=200_000)
CALLED = digest(2, to=CALLS, gas=200_000)
REVERTED = digest(3, to=REVERTS, gas=100_000)
MADE = digest(4, to="", data="0x60006000f3", gas=100_000)
TO_STORES = {"from": SENDER, "to": STORES}
LATEST = "latest"
WAIT_S = 20.0

READS: list[tuple[str, Any]] = [
    *(
        ("eth_getProof", [who, [], where])
        for who in (SENDER, STORES, BARE)
        for where in (LATEST, "0x0", "0x99")
    ),
    ("eth_getProof", [STORES, [ZERO, ONE, SEVEN], LATEST]),
    ("eth_getProof", [SENDER, [], {"blockNumber": "0x1"}]),
    ("eth_getProof", [SENDER, [], ZERO]),
    ("eth_getStorageValues", [{STORES: [ZERO, ONE], BARE: [ONE]}, LATEST]),
    *(
        (method, [who, LATEST])
        for method in ("eth_getAccount", "eth_getAccountInfo")
        for who in (SENDER, STORES, "0x" + "99" * 20)
    ),
    ("eth_coinbase", []),
    ("eth_networkId", []),
    ("web3_sha3", ["0x68"]),
    ("eth_getRawTransactionByBlockNumberAndIndex", ["0x2", "0x1"]),
    ("eth_getRawTransactionByBlockNumberAndIndex", ["0x99", "0x0"]),
    ("eth_getRawTransactionByBlockHashAndIndex", [ZERO, "0x0"]),
    ("eth_getStorageAt", [STORES, "0x1", LATEST]),
    ("eth_createAccessList", [TO_STORES, LATEST]),
    ("eth_createAccessList", [{"from": SENDER, "to": BARE}, LATEST]),
    ("eth_createAccessList", [{"from": SENDER, "to": CALLS}, LATEST]),
    ("eth_createAccessList", [{"from": SENDER, "to": REVERTS}, LATEST]),
    ("eth_call", [TO_STORES, LATEST, {STORES: {"code": "0x" + SLOT}}]),
    ("eth_call", [TO_STORES, LATEST, {STORES: {"code": "0x" + SLOT, "stateDiff": {ZERO: SEVEN}}}]),
    ("eth_call", [TO_STORES, LATEST, {STORES: {"code": "0x" + SLOT, "state": {ONE: SEVEN}}}]),
    ("eth_call", [{**TO_STORES, "value": "0x1"}, LATEST, {SENDER: {"balance": "0x0"}}]),
    ("eth_call", [TO_STORES, LATEST, {STORES: {"code": "0x" + NUMBER}}]),
    ("eth_call", [TO_STORES, LATEST, {STORES: {"code": "0x" + NUMBER}}, {"number": "0x99"}]),
    ("eth_call", [TO_STORES, LATEST, {STORES: {"code": "0x" + TIME}}, {"time": "0x99"}]),
    ("eth_call", [TO_STORES, LATEST, {}, {}]),
    ("eth_call", [{**TO_STORES, "value": hex(10**30)}, LATEST]),
    ("eth_call", [{**TO_STORES, "gasPrice": "0x77777777"}, LATEST]),
    ("eth_call", [TO_STORES, LATEST, {"0x12": {}}]),
    ("eth_call", [TO_STORES, ZERO]),
    *(("eth_getBlockTransactionCountByNumber", [where]) for where in (LATEST, "0x0", "0x99")),
    ("eth_getBlockTransactionCountByHash", [ZERO]),
    *(("eth_getUncleCountByBlockNumber", [where]) for where in (LATEST, "0x0", "0x99")),
    ("eth_getUncleCountByBlockHash", [ZERO]),
    *(("eth_getUncleByBlockNumberAndIndex", [where, "0x0"]) for where in (LATEST, "0x99")),
    ("eth_getUncleByBlockHashAndIndex", [ZERO, "0x0"]),
    *(
        ("eth_getTransactionByBlockNumberAndIndex", [where, index])
        for where, index in ((LATEST, "0x0"), ("0x2", "0x2"), (LATEST, "0x9"), ("0x99", "0x0"))
    ),
    ("eth_getTransactionByBlockHashAndIndex", [ZERO, "0x0"]),
    ("eth_getBlockReceipts", [LATEST]),
    ("eth_getBlockReceipts", [ZERO]),
    ("eth_getBlockReceipts", [{"blockHash": ZERO}]),
    ("eth_getBalance", [SENDER, ZERO]),
    ("debug_getRawTransaction", [STORED]),
    ("debug_getRawTransaction", [ZERO]),
    ("eth_getRawTransactionByHash", [STORED]),
    ("txpool_content", []),
    ("txpool_inspect", []),
    ("txpool_status", []),
    *(
        ("eth_feeHistory", [count, LATEST, percentiles])
        for count in ("0x0", "0x1", "0x2", "0x9")
        for percentiles in ([], [50], [0, 10, 40, 41, 60, 99.5, 100])
    ),
    ("eth_fillTransaction", [{"from": SENDER, "to": BARE, "value": "0x1"}]),
    ("eth_fillTransaction", [{"from": SENDER, "to": BARE, "gasPrice": "0x77777777"}]),
    (
        "eth_fillTransaction",
        [
            {
                "from": OTHER,
                "to": BARE,
                "nonce": "0x9",
                "gas": "0x9999",
                "chainId": "0x1",
                "maxFeePerGas": "0x77777777",
                "maxPriorityFeePerGas": "0x1",
            }
        ],
    ),
    ("eth_fillTransaction", [{"from": SENDER, "to": REVERTS}]),
    *(
        ("eth_getLogs", [criteria])
        for criteria in (
            {},
            {"fromBlock": "0x0"},
            {"fromBlock": "earliest", "toBlock": LATEST, "address": STORES},
            {"fromBlock": "0x0", "toBlock": "0x99", "topics": [TOPIC]},
            {"fromBlock": "0x0", "topics": [[TOPIC, ZERO]]},
            {"fromBlock": "0x0", "topics": [None]},
            {"fromBlock": "0x0", "topics": [[None, ZERO]]},
            {"fromBlock": "0x0", "topics": [ZERO]},
            {"fromBlock": "0x0", "topics": [None, ZERO]},
            {"fromBlock": "0x0", "address": [BARE, STORES]},
            {"fromBlock": "0x0", "address": []},
            {"fromBlock": "0x0", "address": BARE},
            {"fromBlock": "0x0", "topics": [None] * 5},
            {"fromBlock": "0x2", "toBlock": "0x1"},
            {"fromBlock": "0x98", "toBlock": "0x99"},
            {"blockHash": ZERO},
            {"blockHash": ZERO, "fromBlock": "0x0"},
        )
    ),
    ("eth_newFilter", [{"fromBlock": "0x98"}]),
    ("eth_newFilter", [{"topics": [None] * 5}]),
    *((method, ["0x12"]) for method in ("eth_getFilterChanges", "eth_getFilterLogs")),
    ("eth_uninstallFilter", ["0x12"]),
]


STEPS: dict[str, Any] = {}
BARE_STEPS = {"enableMemory": True, "enableReturnData": True, "disableStack": True}
WITHOUT_STORAGE = {"disableStorage": True}
CALL_TREE = {"tracer": "callTracer"}
WITH_LOGS = {"tracer": "callTracer", "tracerConfig": {"withLog": True}}
TOP_CALL = {"tracer": "callTracer", "tracerConfig": {"onlyTopCall": True}}
BEFORE = {"tracer": "prestateTracer"}
CHANGED = {"tracer": "prestateTracer", "tracerConfig": {"diffMode": True}}
WISHES = (STEPS, BARE_STEPS, WITHOUT_STORAGE, CALL_TREE, WITH_LOGS, TOP_CALL, BEFORE, CHANGED)
A_CALL = {"from": SENDER, "gas": "0x30000"}
OVERRIDES = {
    "stateOverrides": {STORES: {"code": "0x" + NUMBER}},
    "blockOverrides": {"number": "0x77"},
}

TRACES: list[tuple[str, Any]] = [
    *(
        ("debug_traceTransaction", [sent, wish])
        for sent in (digest(0), STORED, CALLED, REVERTED, MADE)
        for wish in WISHES
        # Anvil lists a contract before it was made; see the differences.
        if (sent, wish) != (MADE, BEFORE)
    ),
    ("debug_traceTransaction", [CALLED]),
    *(
        ("debug_traceCall", [{**A_CALL, "to": to}, LATEST, wish])
        for to in (STORES, CALLS, REVERTS, BARE)
        for wish in WISHES
    ),
    ("debug_traceCall", [{**A_CALL, "to": STORES}, LATEST]),
    ("debug_traceCall", [{**A_CALL, "to": STORES}, LATEST, {**CALL_TREE, **OVERRIDES}]),
    ("debug_traceCall", [{**A_CALL, "to": STORES, "value": hex(10**30)}, LATEST, CALL_TREE]),
    *(
        ("debug_traceBlockByNumber", [where, wish])
        for where in ("0x0", "0x1", "0x2", "0x99")
        for wish in (STEPS, CALL_TREE, CHANGED)
    ),
    ("debug_traceBlockByNumber", ["0x2"]),
    ("debug_traceBlockByHash", [ZERO, CALL_TREE]),
]


def ended(value: Any) -> Any:
    """Traces without what anvil counts in its own way; see the differences."""
    if isinstance(value, list):
        return [ended(one) for one in value]
    if not isinstance(value, dict):
        return value
    whole = "structLogs" in value or "type" in value
    left_out = ("index", *(("gas", "gasUsed") if whole else ()))
    return {name: ended(one) for name, one in value.items() if name not in left_out}


async def story_of_reads(world: World) -> list[Any]:
    for who, code in CODE.items():
        world.set_code(bytes.fromhex(who[2:]), bytes.fromhex(code))
    # Anvil's first block does not follow the rule of the base fee, so it is given.
    world.set_base_fee(2 * GWEI)
    world.say(SEND, raw(0))
    world.mine()
    world.say(SEND, raw(1, to=STORES, gas=200_000))
    world.say(SEND, raw(2, to=CALLS, gas=200_000))
    world.say(SEND, raw(3, to=REVERTS, gas=100_000))
    world.say(SEND, raw(4, to="", data="0x60006000f3", gas=100_000))
    # First in both orders: anvil goes by the highest fee, the model by the tip that is paid.
    world.say(SEND, raw(0, key=KEYS[1], maxPriorityFeePerGas=9 * GWEI, maxFeePerGas=101 * GWEI))
    world.mine()
    world.say(SEND, raw(5))
    world.say(SEND, raw(6, to="", gas=100_000, maxFeePerGas=None, maxPriorityFeePerGas=None,
                        gasPrice=10 * GWEI))  # fmt: skip
    world.say(SEND, raw(9))
    return [answer(world, method, *params) for method, params in (*READS, *TRACES)]


@pytest.fixture(scope="module")
def answers() -> dict[str, list[Any]]:
    return {name: told(name, story_of_reads) for name in WORLDS}


@pytest.mark.parametrize("place", range(len(READS)), ids=lambda place: READS[place][0])
def test_the_model_answers_as_anvil_does(answers: dict[str, list[Any]], place: int) -> None:
    assert answers["model"][place] == answers["anvil"][place]


@pytest.mark.parametrize("place", range(len(TRACES)), ids=lambda place: TRACES[place][0])
def test_the_model_traces_as_anvil_does(answers: dict[str, list[Any]], place: int) -> None:
    shown = {name: ended(answers[name][len(READS) + place]) for name in WORLDS}
    assert shown["model"] == shown["anvil"]


async def story_of_filters(world: World) -> list[Any]:
    """What three kinds of filters hand out while blocks are made, replaced and taken away."""
    world.set_code(bytes.fromhex(STORES[2:]), bytes.fromhex(CODE[STORES]))
    world.set_base_fee(2 * GWEI)
    world.say(SEND, raw(0, to=STORES, gas=200_000))
    world.mine()
    wanted = {"address": STORES, "topics": [TOPIC]}
    names = [
        world.say("eth_newFilter", {}),
        world.say("eth_newFilter", {"fromBlock": "0x0", **wanted}),
        world.say("eth_newFilter", {"fromBlock": LATEST, "toBlock": "0x2", **wanted}),
        world.say("eth_newFilter", {"address": BARE}),
        world.say("eth_newBlockFilter"),
        world.say("eth_newPendingTransactionFilter"),
    ]
    found: list[Any] = []

    def ask() -> None:
        for name in names:
            found.append(answer(world, "eth_getFilterChanges", name))
            found.append(answer(world, "eth_getFilterLogs", name))

    ask()
    world.say(SEND, raw(1, to=STORES, gas=200_000))
    world.say(SEND, raw(9))
    world.say(SEND, raw(3))
    world.say(SEND, raw(2))
    ask()
    world.mine()
    ask()
    world.reorg(1)
    ask()
    world.say(SEND, raw(1, to=STORES, gas=200_000))
    world.mine()
    ask()
    world.set_back(1)
    ask()
    found += [world.say("eth_uninstallFilter", name) for name in (*names, *names)]
    ask()
    # Hashes of blocks are each chain's own.
    return [
        len(one) if isinstance(one, list) and index % 12 == 8 else one
        for index, one in enumerate(found)
    ]


def test_filters_hand_out_what_anvils_do() -> None:
    found = {name: told(name, story_of_filters) for name in WORLDS}
    assert found["model"] == found["anvil"]


async def story_of_subscriptions(world: World) -> list[Any]:
    """What each subscription is notified of, in its order."""
    heard: dict[str, list[Any]] = {}
    async with ClientSession() as session, session.ws_connect(world.node.ws_url) as socket:

        async def until(fits: Callable[[], bool]) -> None:
            async with asyncio.timeout(WAIT_S):
                while not fits():
                    said = (await socket.receive_json())["params"]
                    heard[said["subscription"]].append(same(said["result"]))

        names = []
        for topic in (
            ["newHeads"],
            ["logs"],
            ["logs", {"address": STORES, "topics": [[TOPIC, ZERO]]}],
            ["logs", {"address": BARE}],
            ["newPendingTransactions"],
            ["newPendingTransactions", True],
            ["newPendingTransactions", False],
        ):
            asked = {"jsonrpc": "2.0", "id": 1, "method": "eth_subscribe", "params": topic}
            await socket.send_json(asked)
            names.append((await socket.receive_json())["result"])
            heard[names[-1]] = []
        heads, every, some, _none, hashes, full, plain = (heard[name] for name in names)
        world.set_code(bytes.fromhex(STORES[2:]), bytes.fromhex(CODE[STORES]))
        world.set_base_fee(2 * GWEI)
        world.say(SEND, raw(0, to=STORES, gas=200_000))
        world.say(SEND, raw(7))
        world.say("evm_mine")
        await until(lambda: len(heads) == len(every) == len(some) == len(plain) == 1)
        await until(lambda: len(hashes) == len(full) == 1)
        # Anvil keeps the base fee that was next; see the differences.
        world.set_base_fee(2 * GWEI)
        world.reorg(1)
        await until(lambda: len(heads) == 2)
        world.set_back(1)
        world.set_base_fee(2 * GWEI)
        world.say("evm_mine")
        await until(lambda: len(heads) == 3)
    return [heard[name] for name in names]


def test_subscriptions_are_notified_of_what_anvils_are() -> None:
    found = {name: told(name, story_of_subscriptions) for name in WORLDS}
    assert found["model"] == found["anvil"]
