"""Laws of a node's methods, told by the model alone; tests/contracts holds them against anvil."""

from contextlib import suppress
from itertools import product

import pytest
from tests.anvil import GWEI, KEYS, signed
from tests.devnets.calls import now
from tests.devnets.evm.node.said import BARE, OTHER, SEND, SENDER, Node

from laneway.devnets.evm.devnet import EvmDevnet
from laneway.devnets.evm.limits import BLOCK_GAS_MIN
from laneway.devnets.evm.node.control import CONTROLS
from laneway.devnets.evm.node.host import EvmHost
from laneway.devnets.evm.node.methods import METHODS
from laneway.devnets.evm.node.rpc import EvmRpc
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.wire.rpc_server.methods import RpcRefused

REVERTING = "0x" + "22" * 20


def test_a_transaction_is_shown_waiting_and_then_mined() -> None:
    node = Node()
    digest = node.send(0)
    waiting = node.say("eth_getTransactionByHash", digest)
    assert (waiting["blockHash"], waiting["from"], waiting["type"]) == (None, SENDER, "0x2")
    assert node.say("eth_getTransactionReceipt", digest) is None
    node.devnet.mine()
    mined = node.say("eth_getTransactionByHash", digest)
    block = node.say("eth_getBlockByNumber", "latest", True)
    assert block["transactions"] == [mined]
    assert node.say("eth_getBlockByHash", block["hash"], False)["transactions"] == [digest]
    receipt = node.say("eth_getTransactionReceipt", digest)
    assert (receipt["blockHash"], receipt["status"]) == (block["hash"], "0x1")
    assert node.say("eth_getBlockReceipts", "0x1") == [receipt]
    assert node.say("eth_getBlockReceipts", "0x9") is None
    assert node.say("eth_getTransactionBySenderAndNonce", SENDER, "0x0") == mined
    assert node.say("eth_getTransactionBySenderAndNonce", SENDER, "0x1") is None


def test_each_type_shows_its_own_fees_and_signature() -> None:
    node = Node()
    plain = {"maxFeePerGas": None, "maxPriorityFeePerGas": None, "gasPrice": 10 * GWEI}
    legacy = node.say("eth_getTransactionByHash", node.send(0, **plain))
    assert int(legacy["v"], 16) in (31_337 * 2 + 35, 31_337 * 2 + 36)
    assert "accessList" not in legacy
    unprotected = node.say("eth_getTransactionByHash", node.send(1, **plain, chainId=None))
    assert unprotected["v"] in ("0x1b", "0x1c")
    assert "chainId" not in unprotected
    listed = [{"address": BARE, "storageKeys": ["0x" + "00" * 32]}]
    entry = {"accessList": listed, "gas": 50_000}
    berlin = node.say("eth_getTransactionByHash", node.send(2, **plain, **entry))
    assert (berlin["type"], berlin["accessList"]) == ("0x1", listed)
    assert "maxFeePerGas" not in berlin
    london = node.say("eth_getTransactionByHash", node.send(3))
    assert (london["maxFeePerGas"], london["v"]) == (hex(100 * GWEI), london["yParity"])


def test_a_creation_tells_its_address() -> None:
    node = Node()
    digest = node.send(0, to="", gas=100_000)
    node.devnet.mine()
    receipt = node.say("eth_getTransactionReceipt", digest)
    assert receipt["to"] is None
    # The first contract of anvil's first account, as every tutorial shows it.
    assert receipt["contractAddress"] == "0x5fbdb2315678afecb367f032d93f642f64180aa3"
    assert node.say("eth_getTransactionByHash", digest)["to"] is None


def test_state_is_told_by_tag_number_and_hash() -> None:
    node = Node()
    node.send(0)
    node.devnet.mine()
    node.send(1)
    first, newest = (node.say("eth_getBlockByNumber", n, False)["hash"] for n in ("0x0", "0x1"))
    for where, count in (
        ("latest", 1),
        ("pending", 2),
        ("earliest", 0),
        ("finalized", 0),
        ("0x1", 1),
        ({"blockNumber": "0x0"}, 0),
        ({"blockHash": first}, 0),
        ({"blockHash": newest}, 1),
    ):
        assert node.count(where) == count
    assert node.say("eth_getBalance", BARE, {"blockHash": newest}) == "0x1"
    assert node.refusal("eth_getBalance", BARE, {"blockHash": "0x" + "01" * 32}).code == -32001


def test_fees_are_told_for_the_next_block() -> None:
    node = Node()
    assert int(node.say("eth_gasPrice"), 16) == GWEI - GWEI // 8 + GWEI
    node.say("anvil_setNextBlockBaseFeePerGas", hex(7 * GWEI))
    assert int(node.say("eth_gasPrice"), 16) == 8 * GWEI
    node.send(0, maxPriorityFeePerGas=3 * GWEI)
    node.devnet.mine()
    node.devnet.mine()
    history = node.say("eth_feeHistory", "0x2", "latest", [10, 90])
    assert history["oldestBlock"] == "0x1"
    assert history["reward"] == [[hex(3 * GWEI)] * 2, ["0x0"] * 2]
    assert len(history["baseFeePerGas"]) == 3
    assert history["gasUsedRatio"] == [21_000 / 30_000_000, 0]
    assert node.say("eth_feeHistory", "0x99", "0x1")["oldestBlock"] == "0x0"
    assert node.say("eth_maxPriorityFeePerGas") == hex(GWEI)
    assert node.say("eth_blobBaseFee") == "0x1"


def test_gas_is_estimated_by_the_bytes_and_a_revert_is_told() -> None:
    node = Node()
    assert node.say("eth_estimateGas", {"to": BARE, "value": "0x1"}) == hex(21_000)
    assert node.say("eth_estimateGas", {"to": BARE, "data": "0x00ff00"}) == "0x5244"
    assert int(node.say("eth_estimateGas", {"input": "0x00"}), 16) > 53_000
    assert node.say("eth_call", {"to": BARE}, "latest") == "0x"
    node.say("anvil_setCode", REVERTING, "0x60006000fd")
    for method in ("eth_estimateGas", "eth_call"):
        no = node.refusal(method, {"to": REVERTING})
        assert (no.code, no.message, no.data) == (3, "execution reverted", "0x")
    host = EvmHost(node.devnet.chain)
    body = b'{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"%s"}]}'
    said = now(EvmRpc().answer(EvmCaller(host, 0), body % REVERTING.encode()))
    assert isinstance(said, dict)
    assert said["error"] == {"code": 3, "message": "execution reverted", "data": "0x"}
    assert node.say("eth_getCode", REVERTING, "latest") == "0x60006000fd"
    node.say("anvil_setCode", REVERTING, "0x")
    assert node.say("eth_getCode", REVERTING, "latest") == "0x"
    assert node.say("eth_estimateGas", {"to": REVERTING}) == hex(21_000)


COUNTS = "0x5f546001018060005560005260206000a0"
"""Counts in key 0, and logs the count."""


def test_contracts_run_and_their_logs_are_found() -> None:
    node = Node()
    node.say("anvil_setCode", BARE, COUNTS)
    word = "0x" + "00" * 31
    node.say("anvil_setStorageAt", BARE, "0x0", word + "04")
    assert node.say("eth_getStorageAt", BARE, "0x0", "latest") == word + "04"
    gas = node.say("eth_estimateGas", {"from": SENDER, "to": BARE, "data": "0x00"})
    assert 26_000 < int(gas, 16) < 40_000
    node.send(0, to=BARE, gas=100_000)
    node.devnet.mine()
    (log,) = node.say("eth_getLogs", {"fromBlock": "0x0", "toBlock": "latest"})
    assert (log["address"], log["data"], log["logIndex"]) == (BARE, word + "05", "0x0")
    block = node.say("eth_getBlockByNumber", "latest", False)
    receipt = node.say("eth_getTransactionReceipt", log["transactionHash"])
    assert receipt["logs"] == [log]
    assert receipt["logsBloom"] == block["logsBloom"] != "0x" + "00" * 256
    assert block["stateRoot"] != node.say("eth_getBlockByNumber", "0x0", False)["stateRoot"]
    found = [
        ({"blockHash": block["hash"]}, 1),
        ({"address": BARE}, 1),
        ({"address": [SENDER, BARE]}, 1),
        ({"address": SENDER}, 0),
        ({"topics": []}, 1),
        ({"topics": [None]}, 0),
        ({"fromBlock": "earliest", "toBlock": "0x0"}, 0),
        ({"fromBlock": "0x1", "toBlock": "0xffff"}, 1),
    ]
    for criteria, count in found:
        assert len(node.say("eth_getLogs", criteria)) == count, criteria


PANICS = "0x7f4e487b71" + "00" * 28 + "5f52" + "6011600452" + "60245ffd"
"""Reverts with Panic(0x11)."""


def test_topics_are_filtered_by_their_place() -> None:
    node = Node()
    word = "00" * 31
    node.say("anvil_setCode", BARE, "0x600260015f5fa2")
    node.send(0, to=BARE, gas=100_000)
    node.devnet.mine()
    one, two = "0x" + word + "01", "0x" + word + "02"
    for topics, count in [
        ([one], 1),
        ([one, two], 1),
        ([two], 0),
        ([None, two], 1),
        ([[two, one]], 1),
        ([one, two, None], 0),
    ]:
        assert len(node.say("eth_getLogs", {"topics": topics})) == count, topics


def test_a_call_says_why_it_failed() -> None:
    node = Node()
    node.say("anvil_setCode", REVERTING, PANICS)
    for method in ("eth_call", "eth_estimateGas"):
        no = node.refusal(method, {"to": REVERTING, "data": "0x00"})
        assert (no.code, no.message[:30]) == (3, "execution reverted: Panic(0x11")
    node.say("anvil_setCode", REVERTING, "0xfe")
    assert node.refusal("eth_call", {"to": REVERTING}).message == "EVM error invalid opcode"
    poor = {"from": BARE, "to": OTHER, "value": "0x1"}
    assert node.refusal("eth_call", poor).code == -32003
    dear = {"from": SENDER, "to": REVERTING, "gas": "0x5300", "data": "0x00"}
    assert node.refusal("eth_estimateGas", dear).code in (3, -32003)
    listed = {"to": OTHER, "accessList": [{"address": BARE, "storageKeys": ["0x" + "00" * 32]}]}
    assert node.say("eth_call", listed) == "0x"
    assert node.refusal("eth_call", {"to": OTHER, "accessList": [1]}).code == -32602


def test_a_chain_that_does_not_execute_has_one_code_and_no_storage() -> None:
    node = Node(executes=False)
    assert node.say("eth_estimateGas", {"to": BARE, "data": "0x00ff00"}) == "0x5244"
    assert node.say("eth_call", {"to": BARE}) == "0x"
    assert node.say("eth_getStorageAt", BARE, "0x0") == "0x" + "00" * 32
    assert node.say("eth_getLogs", {}) == []
    node.say("anvil_setCode", REVERTING, "0x60006000fd")
    assert node.say("eth_getCode", REVERTING) == "0x60006000fd"
    for method in ("eth_estimateGas", "eth_call"):
        no = node.refusal(method, {"to": REVERTING})
        assert (no.code, no.message, no.data) == (3, "execution reverted", "0x")
    assert "knows only" in node.refusal("anvil_setCode", REVERTING, "0x00").message
    node.say("anvil_setCode", REVERTING, "0x")
    assert node.say("eth_getCode", REVERTING) == "0x"
    no = node.refusal("anvil_setStorageAt", BARE, "0x0", "0x" + "00" * 32)
    assert "no storage" in no.message


def test_a_node_on_a_dead_fork_calls_with_the_hashes_of_its_own_blocks() -> None:
    """It stands higher than the chain that the others went on with."""
    node = Node()
    node.say("anvil_setCode", BARE, "0x6004405f5260205ff3")  # BLOCKHASH of 4.
    node.devnet.mine(5)
    known = node.say("eth_getBlockByNumber", "0x4", False)["hash"]
    node.devnet.chain.freeze(0)
    node.devnet.chain.reorg(4, 1_000, blocks=[[]])
    assert node.say("eth_call", {"to": BARE}, "latest") == known


def test_a_number_that_no_account_has_is_refused() -> None:
    assert "too large" in Node().refusal("anvil_setNonce", BARE, hex(1 << 64)).message


def test_accounts_are_set_by_hand() -> None:
    node = Node()
    node.say("anvil_setBalance", BARE, "0x5")
    node.say("anvil_setNonce", SENDER, "0x7")
    assert node.say("eth_getBalance", BARE, "latest") == "0x5"
    assert node.count() == 7


def test_what_waits_is_dropped_by_hash_by_sender_or_all() -> None:
    node = Node()
    first = node.send(0)
    node.send(1)
    node.send(0, key=KEYS[1])
    assert node.say("txpool_status") == {"pending": "0x3", "queued": "0x0"}
    node.say("anvil_dropTransaction", first)
    assert node.say("txpool_status") == {"pending": "0x1", "queued": "0x1"}
    node.say("anvil_removePoolTransactions", OTHER)
    assert node.say("txpool_status") == {"pending": "0x0", "queued": "0x1"}
    node.say("anvil_dropAllTransactions")
    assert node.say("txpool_status") == {"pending": "0x0", "queued": "0x0"}


def test_blocks_are_made_again_with_what_is_given_in_its_place() -> None:
    node = Node()
    node.devnet.mine(3)
    raws = ["0x" + signed(nonce)[0].hex() for nonce in range(3)]
    # The last one's block comes before those that it waits for, so it is left out.
    node.say("anvil_reorg", 2, [[raws[0], 0], [raws[1], 1], [raws[2], 0]])
    assert node.say("eth_blockNumber") == "0x3"
    shown = [node.say("eth_getBlockByNumber", hex(n), False)["transactions"] for n in (2, 3)]
    assert [len(hashes) for hashes in shown] == [1, 1]
    assert node.count() == 2
    assert node.refusal("anvil_reorg", 1, [[raws[0], 1]]).code == -32602
    assert node.refusal("anvil_reorg", 1, [["0x02dead", 0]]).code == -32602
    assert node.refusal("anvil_reorg", 1, ["x"]).code == -32602
    assert node.refusal("anvil_reorg", 0, []).code == -32603
    assert node.count() == 2, "what was refused changed nothing"


def test_a_rollback_takes_blocks_away() -> None:
    node = Node()
    node.send(0)
    node.devnet.mine(2)
    node.say("anvil_rollback", 0)
    assert node.say("eth_blockNumber") == "0x2"
    node.say("anvil_rollback", 2)
    assert (node.say("eth_blockNumber"), node.count()) == ("0x0", 0)
    assert node.refusal("anvil_rollback", 1).code == -32602


def test_a_small_block_holds_few() -> None:
    node = Node()
    for nonce in range(3):
        node.send(nonce)
    assert node.say("evm_setBlockGasLimit", hex(42_000)) is True
    node.devnet.mine()
    assert node.count() == 2
    node.say("evm_setBlockGasLimit", "0x0")
    node.devnet.mine(2)
    assert node.devnet.chain.newest().gas_limit == BLOCK_GAS_MIN


def test_state_that_a_node_forgot_is_refused_in_geths_words() -> None:
    node = Node()
    digest = node.send(0)
    node.devnet.mine(5)
    node.devnet.chain.keep_state(0, 2)
    assert node.count() == 1
    with pytest.raises(RpcRefused, match="missing trie node"):
        node.count("0x1")
    assert node.say("eth_getTransactionReceipt", digest)["blockNumber"] == "0x1"


QUEER: tuple[object, ...] = (
    None, True, 0, 1, -1, 1.5, 10**40, "", "0x", "0xzz", "0x0", "0x1", "0x" + "f" * 70, "latest",
    "é", BARE, "0x" + "00" * 32, [], [[]], [["0x", 0]], {}, {"to": 5}, {"to": BARE, "value": "x"},
    {"blockHash": "0x"},
)  # fmt: skip


NAMES = {method: name for name, method in reversed({**METHODS, **CONTROLS}.items())}
"""The first name of each method."""
NEVER_ANSWERED = (
    *(SEND, "eth_sendRawTransactionSync", "anvil_setStorageAt"),
    *("anvil_setMinGasPrice", "evm_setNextBlockTimestamp"),
    *("eth_sendUnsignedTransaction", "eth_sign", "personal_sign"),
)
"""They take three, later times, or accounts that these are not."""


@pytest.mark.parametrize("method", list(NAMES.values()))
def test_nothing_that_is_asked_breaks_a_node(method: str) -> None:
    devnet = EvmDevnet(block_ms=None)
    raw, digest = signed(0)
    devnet.say(SEND, "0x" + raw.hex())
    devnet.mine(2)
    # The filter 0x1, a block and a transaction are there.
    devnet.say("eth_newFilter", {})
    there = ("0x" + devnet.chain.newest().hash.hex(), "0x" + digest.hex())
    answered = 0
    for count in range(3):
        for params in product((*QUEER, *there), repeat=count):
            with suppress(RpcRefused):
                devnet.say(method, *params)
                answered += 1
    devnet.mine()
    assert devnet.say("eth_chainId") == "0x7a69" or method == "anvil_setChainId"
    assert answered > 0 or method in NEVER_ANSWERED
