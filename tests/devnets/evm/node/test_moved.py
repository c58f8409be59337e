"""Laws of what is read of a chain that its controls moved: snapshots, time, impersonation, blobs,
pending blocks and system contracts, told by the devnet alone."""

from typing import Any

from tests.anvil import GWEI
from tests.devnets.evm.node.said import BARE, SENDER, Node
from tests.evm_blobs import blob_transaction, sent, sidecar

from laneway.devnets.evm.model.rules import GETH
from laneway.devnets.evm.node.logs import LogCriteria
from laneway.devnets.evm.node.subscriptions import HeadFollower, LogFollower
from laneway.evm.abi.addresses import checksummed
from laneway.evm.execution.system_calls import HISTORY
from laneway.evm.keccak import keccak
from laneway.evm.trie.accounts import decode_account
from laneway.evm.trie.proof import verify

LOGS = "0x" + "33" * 20
CODE = "0x602a602b60206000a1"
"""Logs with the topic 0x2b."""
KEEPER = "0x" + HISTORY.hex()
ZERO = "0x" + "00" * 32
TREE = {"tracer": "callTracer"}
LATEST, PENDING = "latest", "pending"


def unhex(text: str) -> bytes:
    return bytes.fromhex(text[2:])


def logging(**options: Any) -> Node:
    node = Node(**options)
    node.say("anvil_setCode", LOGS, CODE)
    return node


def log(node: Node, nonce: int) -> str:
    return node.send(nonce, to=LOGS, gas=100_000)


def changes(node: Node, name: str) -> list[Any]:
    found: list[Any] = node.say("eth_getFilterChanges", name)
    return found


# Filters and subscriptions.


def test_a_filter_follows_the_chain_back_to_a_snapshot_and_on_from_there() -> None:
    node = logging()
    blocks, logs = node.say("eth_newBlockFilter"), node.say("eth_newFilter", {"address": LOGS})
    kept = node.say("evm_snapshot")
    log(node, 0)
    node.devnet.mine(2)
    assert (len(changes(node, blocks)), len(changes(node, logs))) == (2, 1)
    node.say("evm_revert", kept)
    assert (changes(node, blocks), changes(node, logs)) == ([], []), "it was set back"
    assert node.say("eth_getFilterLogs", logs) == []
    again = log(node, 0)
    node.devnet.mine()
    newest = node.say("eth_getBlockByNumber", LATEST, False)["hash"]
    assert changes(node, blocks) == [newest]
    assert [one["transactionHash"] for one in changes(node, logs)] == [again]
    node.say("anvil_reset")
    node.devnet.mine()
    assert changes(node, blocks) == [node.say("eth_getBlockByNumber", "0x1", False)["hash"]]
    assert changes(node, logs) == []


def test_as_geth_reads_a_revert_and_a_reset_take_logs_back() -> None:
    for method, *params in (("evm_revert", "0x0"), ("anvil_reset",)):
        node = logging(rules=GETH)
        name = node.say("eth_newFilter", {"address": LOGS})
        node.say("evm_snapshot")
        log(node, 0)
        node.devnet.mine()
        (shown,) = changes(node, name)
        node.say(method, *params)
        assert changes(node, name) == [{**shown, "removed": True}]


def test_subscriptions_follow_the_chain_back_and_on() -> None:
    node = logging(rules=GETH)
    chain = node.devnet.chain
    first = chain.head(0)
    node.say("evm_snapshot")
    log(node, 0)
    node.devnet.mine()
    old = chain.head(0)
    node.say("evm_revert", "0x0")
    heads, logs = HeadFollower(), LogFollower(LogCriteria())
    assert (chain.head(0), heads.fresh(chain, old, first)) == (first, [])
    (gone,) = logs.fresh(chain, old, first)
    assert isinstance(gone, dict)
    assert (gone["blockHash"], gone["removed"]) == ("0x" + old.hash.hex(), True)
    node.devnet.mine(2)
    assert len(heads.fresh(chain, old, chain.head(0))) == 2


def test_a_pending_filter_sees_what_is_sent_again_after_a_reset() -> None:
    node = Node()
    name = node.say("eth_newPendingTransactionFilter")
    digest = node.send(0)
    assert changes(node, name) == [digest]
    node.say("anvil_reset")
    assert changes(node, name) == []
    assert (node.send(0), changes(node, name)) == (digest, [digest])


# Traces.


def test_a_trace_sees_what_the_system_contracts_of_its_block_kept() -> None:
    node = Node()
    first = node.say("eth_getBlockByNumber", "0x0", False)["hash"]
    digest = node.send(0, to=checksummed(HISTORY), data=ZERO, gas=100_000)
    node.devnet.mine()
    assert node.say("debug_traceTransaction", digest, TREE)["output"] == first
    (shown,) = node.say("debug_traceBlockByNumber", "0x1", TREE)
    assert (shown["txHash"], shown["result"]["output"]) == (digest, first)


def test_what_an_impersonated_contract_sent_is_traced() -> None:
    node = logging()
    node.say("anvil_setBalance", LOGS, hex(10**18))
    node.say("anvil_impersonateAccount", LOGS)
    fees = {"maxFeePerGas": hex(9 * GWEI), "gas": "0x186a0"}
    digest = node.say("eth_sendTransaction", {"from": LOGS, "to": LOGS, **fees})
    node.devnet.mine()
    used = node.say("eth_getTransactionReceipt", digest)["gasUsed"]
    shown = node.say("debug_traceTransaction", digest, TREE)
    assert (shown["from"], shown["gasUsed"]) == (LOGS, used)
    assert node.say("debug_traceTransaction", digest)["gas"] == int(used, 16)


def test_a_transaction_with_blobs_is_read_and_traced() -> None:
    node = Node(rules=GETH)
    raw, digest = sent(blob_transaction(0, sidecar(1)))
    assert node.say("eth_sendRawTransaction", raw) == digest
    plain = node.send(1)
    node.devnet.mine()
    shown = node.say("debug_traceTransaction", digest, TREE)
    receipt = node.say("eth_getTransactionReceipt", digest)
    assert (shown["gasUsed"], receipt["blobGasUsed"], receipt["blobGasPrice"]) == (
        receipt["gasUsed"], "0x20000", "0x1",
    )  # fmt: skip
    assert {"blobGasUsed", "blobGasPrice"}.isdisjoint(node.say("eth_getTransactionReceipt", plain))
    assert len(node.say("debug_traceBlockByNumber", LATEST)) == 2
    assert len(unhex(node.say("debug_getRawTransaction", digest))) < 1_000, "without its blobs"
    history = node.say("eth_feeHistory", "0x1", LATEST, [0, 100])
    assert history["blobGasUsedRatio"] == [1 / 9]
    assert (len(history["baseFeePerBlobGas"]), len(history["reward"][0])) == (2, 2)


def test_a_block_of_a_chain_that_had_another_id_is_not_traced() -> None:
    node = Node()
    digest = node.send(0)
    node.devnet.mine()
    node.say("anvil_setChainId", 5)
    for asked in (("debug_traceTransaction", digest), ("debug_traceBlockByNumber", LATEST)):
        assert "another id" in node.refusal(*asked).message
    node.say("anvil_setChainId", 31_337)
    assert node.say("debug_traceTransaction", digest)["gas"] == 21_000


def test_a_transaction_that_the_node_signed_is_shown_as_geth_shows_it() -> None:
    asked = {"from": SENDER, "to": BARE}
    raw = Node().say("eth_signTransaction", asked)
    node = Node(rules=GETH)
    shown = node.say("eth_signTransaction", asked)
    assert (shown["raw"], shown["tx"]["from"]) == (raw, SENDER)
    assert node.say("eth_sendRawTransaction", raw) == shown["tx"]["hash"]


# Proofs.


def proven(node: Node, where: str, key: str) -> bytes:
    """What the proof of a key of the keeper of hashes shows under a block's root."""
    block = node.say("eth_getBlockByNumber", where, False)
    proof = node.say("eth_getProof", KEEPER, [key], where)
    nodes = [unhex(one) for one in proof["accountProof"]]
    leaf = decode_account(verify(unhex(block["stateRoot"]), keccak(HISTORY), nodes))
    assert leaf.storage_root == unhex(proof["storageHash"])
    (slot,) = proof["storageProof"]
    value = verify(leaf.storage_root, keccak(unhex(key)), [unhex(one) for one in slot["proof"]])
    # As RLP: a byte of its length, and the hash.
    return value[1:]


def test_hashes_that_blocks_kept_are_proven_in_pending_ones_too() -> None:
    node = Node()
    node.devnet.mine(2)
    for where, key, number in (("0x1", 0, "0x0"), (LATEST, 1, "0x1"), (PENDING, 2, LATEST)):
        wanted = node.say("eth_getBlockByNumber", number, False)["hash"]
        assert proven(node, where, "0x" + f"{key:064x}") == unhex(wanted)


# The pending block.


def test_what_waits_is_read_of_the_pending_block() -> None:
    node = logging()
    node.devnet.mine()
    digest = log(node, 0)
    (shown,) = node.say("debug_traceBlockByNumber", PENDING, TREE)
    assert (shown["txHash"], shown["result"]["to"]) == (digest, LOGS)
    assert node.say("eth_getTransactionByBlockNumberAndIndex", PENDING, "0x0")["hash"] == digest
    assert node.say("eth_getBlockTransactionCountByNumber", PENDING) == "0x1"
    assert node.say("debug_getRawBlock", PENDING) != node.say("debug_getRawBlock", LATEST)
    counts = "0x4360005260206000f3"
    code: dict[str, object] = {BARE: {"code": counts}}
    asked = {"from": SENDER, "to": BARE}
    assert int(node.say("eth_call", asked, PENDING, code), 16) == 2, "the number of its block"
    moved = node.say("debug_traceCall", asked, PENDING, {**TREE, "stateOverrides": code})
    assert int(moved["output"], 16) == 2


def test_what_only_mined_blocks_have_is_that_of_the_newest() -> None:
    node = logging()
    log(node, 0)
    node.devnet.mine()
    log(node, 1)
    assert node.say("eth_getBlockReceipts", PENDING) is None
    for method, *params in (("debug_getRawReceipts",), ("eth_feeHistory", [50])):
        asked = [(where, *params) for where in (PENDING, LATEST)]
        if method == "eth_feeHistory":
            asked = [("0x2", *one) for one in asked]
        pending, latest = (node.say(method, *one) for one in asked)
        assert pending == latest
    assert node.say("eth_getLogs", {"fromBlock": PENDING}) == node.say("eth_getLogs", {})
