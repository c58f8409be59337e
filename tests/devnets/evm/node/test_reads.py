"""Laws of what is read of a chain on which contracts ran, told by the devnet alone;
tests/contracts holds it against anvil."""

import asyncio
from contextlib import suppress
from itertools import product
from typing import Any

import pytest
from tests.anvil import GWEI, KEYS, signed
from tests.devnets.evm.node.said import BARE, OTHER, SENDER, Node

from laneway.devnets.evm.devnet import EvmDevnet
from laneway.devnets.evm.limits import PERCENTILES_COUNT_MAX, STORAGE_KEYS_COUNT_MAX
from laneway.devnets.evm.model.rules import GETH
from laneway.evm.header import decode_header, hash_of
from laneway.evm.keccak import keccak
from laneway.evm.trie.accounts import decode_account
from laneway.evm.trie.proof import verify
from laneway.evm.trie.tree import ordered_root
from laneway.wire.rpc_server.methods import RpcRefused

COUNTS = "0x" + "33" * 20
CODE = bytes.fromhex("5f546001018060005560005260205fa000")
"""Counts in key 0, and logs the count."""
REVERTS = "0x" + "22" * 20
LATEST = "latest"
ZERO, SEVEN = ("0x" + f"{number:064x}" for number in (0, 7))
SLOT = "0x5f545f5260205ff3"
"""Returns key 0."""
TO_COUNTS = {"from": SENDER, "to": COUNTS}


def unhex(text: str) -> bytes:
    return bytes.fromhex(text[2:])


def counting(**options: Any) -> Node:
    node = Node(**options)
    node.devnet.chain.set_code(unhex(COUNTS), CODE)
    node.devnet.chain.set_code(unhex(REVERTS), bytes.fromhex("60006000fd"))
    return node


def count(node: Node, nonce: int) -> str:
    return node.send(nonce, to=COUNTS, gas=100_000)


# Proofs.


def test_a_proof_shows_an_account_and_its_storage_under_the_blocks_root() -> None:
    node = counting()
    count(node, 0)
    node.devnet.mine(2)
    for where, number in (("0x1", "0x1"), (LATEST, "0x2"), ({"blockNumber": "0x1"}, "0x1")):
        block = node.say("eth_getBlockByNumber", number, False)
        proof = node.say("eth_getProof", COUNTS, [ZERO, SEVEN], where)
        nodes = [unhex(one) for one in proof["accountProof"]]
        leaf = verify(unhex(block["stateRoot"]), keccak(unhex(COUNTS)), nodes)
        account = decode_account(leaf)
        assert account.storage_root == unhex(proof["storageHash"])
        assert account.code_hash == unhex(proof["codeHash"]) == keccak(CODE)
        for slot, value in zip(proof["storageProof"], (b"\x01", b""), strict=True):
            slots = [unhex(one) for one in slot["proof"]]
            assert verify(account.storage_root, keccak(unhex(slot["key"])), slots) == value
    absent = node.say("eth_getProof", "0x" + "99" * 20, [])
    nodes = [unhex(one) for one in absent["accountProof"]]
    newest = node.say("eth_getBlockByNumber", LATEST, False)
    assert verify(unhex(newest["stateRoot"]), keccak(b"\x99" * 20), nodes) == b""


def test_a_key_of_a_proof_is_shown_as_long_as_it_was_given() -> None:
    node = counting()
    shown = node.say("eth_getProof", COUNTS, ["0x00", ZERO, "0x0007"])["storageProof"]
    assert [one["key"] for one in shown] == ["0x0", ZERO, "0x7"]


def test_keys_are_so_many_and_no_more() -> None:
    node = counting()
    most = [ZERO] * STORAGE_KEYS_COUNT_MAX
    assert len(node.say("eth_getProof", COUNTS, most)["storageProof"]) == len(most)
    assert node.refusal("eth_getProof", COUNTS, [*most, ZERO]).code == -32602
    assert len(node.say("eth_getStorageValues", {COUNTS: most})[COUNTS]) == len(most)
    assert node.refusal("eth_getStorageValues", {COUNTS: most, BARE: [ZERO]}).code == -32602
    assert node.refusal("eth_getProof", COUNTS, ["0x" + "00" * 33]).code == -32602


# Bytes.


def test_raw_bytes_come_to_the_hashes_that_are_shown() -> None:
    node = counting()
    count(node, 0)
    reverted = node.send(1, to=REVERTS, gas=50_000)
    node.devnet.mine()
    block = node.say("eth_getBlockByNumber", LATEST, False)
    assert keccak(unhex(node.say("debug_getRawHeader", LATEST))) == unhex(block["hash"])
    raw = unhex(node.say("debug_getRawBlock", LATEST))
    assert len(raw) == int(block["size"], 16)
    receipts = [unhex(one) for one in node.say("debug_getRawReceipts", LATEST)]
    assert ordered_root(receipts) == unhex(block["receiptsRoot"])
    raws = [unhex(node.say("debug_getRawTransaction", one)) for one in block["transactions"]]
    assert ordered_root(raws) == unhex(block["transactionsRoot"])
    assert keccak(raws[1]) == unhex(reverted)
    assert node.say("eth_getRawTransactionByBlockNumberAndIndex", LATEST, "0x1") == (
        "0x" + raws[1].hex()
    )
    assert hash_of(decode_header(unhex(node.say("debug_getRawHeader", "0x0")))) == unhex(
        block["parentHash"]
    )


# Calls.


def test_a_call_sees_what_it_overrides_and_nothing_of_it_stays() -> None:
    node = counting()
    count(node, 0)
    node.devnet.mine()

    def called(*overrides: object) -> int:
        return int(node.say("eth_call", TO_COUNTS, LATEST, *overrides), 16)

    assert called({COUNTS: {"code": SLOT}}) == 1
    assert called({COUNTS: {"code": SLOT, "stateDiff": {SEVEN: SEVEN}}}) == 1
    assert called({COUNTS: {"code": SLOT, "state": {SEVEN: SEVEN}}}) == 0
    assert called({COUNTS: {"code": SLOT, "stateDiff": {ZERO: SEVEN}}}) == 7
    assert called({COUNTS: {"code": "0x435f5260205ff3"}}) == 1
    assert called({COUNTS: {"code": "0x435f5260205ff3"}}, {"number": "0x99"}) == 0x99
    for name in ("time", "timestamp"):
        assert called({COUNTS: {"code": "0x425f5260205ff3"}}, {name: "0x77"}) == 0x77
    for name in ("coinbase", "feeRecipient"):
        assert called({COUNTS: {"code": "0x415f5260205ff3"}}, {name: BARE}) == int(BARE, 16)
    for name in ("random", "prevRandao"):
        assert called({COUNTS: {"code": "0x445f5260205ff3"}}, {name: SEVEN}) == 7
    assert called({COUNTS: {"code": "0x455f5260205ff3"}}, {"gasLimit": "0x5000"}) == 0x5000
    assert node.say("eth_getCode", COUNTS) == "0x" + CODE.hex()
    assert node.say("eth_getStorageAt", COUNTS, "0x0") == "0x" + f"{1:064x}"


def test_a_call_of_another_number_sees_the_hashes_that_there_are() -> None:
    node = counting()
    node.devnet.mine(2)
    hashes = {COUNTS: {"code": "0x5f35405f5260205ff3"}}

    def hash_at(number: int) -> str:
        asked = {**TO_COUNTS, "input": "0x" + f"{number:064x}"}
        found: str = node.say("eth_call", asked, LATEST, hashes, {"number": "0x50"})
        return found

    assert hash_at(1) == node.say("eth_getBlockByNumber", "0x1", False)["hash"]
    assert hash_at(0x40) == ZERO, "no block of the chain has it"


def test_an_estimate_sees_what_it_overrides() -> None:
    node = counting()
    plain = node.say("eth_estimateGas", {"from": SENDER, "to": BARE})
    coded = node.say(
        "eth_estimateGas", {"from": SENDER, "to": BARE}, LATEST, {BARE: {"code": SLOT}}
    )
    assert plain == "0x5208" < coded
    reverting = {BARE: {"code": "0x60006000fd"}}
    no = node.refusal("eth_estimateGas", {"from": SENDER, "to": BARE}, LATEST, reverting)
    assert (no.code, no.data) == (3, "0x")


def test_what_cannot_be_overridden_is_refused() -> None:
    node = counting()
    wrong: tuple[Any, ...] = (
        {COUNTS: {"nonsense": "0x1"}},
        {COUNTS: {"movePrecompileToAddress": BARE}},
        {COUNTS: {"nonce": "0x" + "f" * 17}},
        {COUNTS: {"state": {"0x0": ZERO}}},
        {COUNTS: {"stateDiff": {ZERO: "0x0"}}},
        {COUNTS: 5},
        {"0x12": {}},
        5,
    )
    for accounts in wrong:
        assert node.refusal("eth_call", TO_COUNTS, LATEST, accounts).code == -32602
    for block in ({"nonsense": "0x1"}, {"number": "x"}, {"coinbase": "0x12"}, 5):
        assert node.refusal("eth_call", TO_COUNTS, LATEST, {}, block).code == -32602
    twice: dict[str, Any] = {COUNTS: {"state": {}, "stateDiff": {}}}
    assert "both" in node.refusal("eth_call", TO_COUNTS, LATEST, twice).message


def test_a_call_that_contradicts_itself_is_refused_in_words() -> None:
    node = counting()
    both = {**TO_COUNTS, "gasPrice": "0x77777777", "maxFeePerGas": "0x77777777"}
    for method in ("eth_call", "eth_estimateGas", "eth_createAccessList", "debug_traceCall"):
        assert "gas price" in node.refusal(method, both).message
    assert "gas price" in node.refusal("eth_fillTransaction", {**both, "gas": "0x5208"}).message


def test_an_access_list_is_what_the_call_touches() -> None:
    node = counting()
    made = node.say("eth_createAccessList", TO_COUNTS)
    assert made["accessList"] == [{"address": COUNTS, "storageKeys": [ZERO]}]
    reverting = {"from": SENDER, "to": REVERTS}
    assert node.refusal("eth_createAccessList", reverting).code == 3
    geth = counting(rules=GETH).say("eth_createAccessList", reverting)
    assert (geth["accessList"], geth["error"]) == ([], "execution reverted")


# Transactions that are filled up, and receipts that are waited for.


def test_what_a_wallet_leaves_out_is_filled_in() -> None:
    node = counting()
    node.send(0)
    made = node.say("eth_fillTransaction", TO_COUNTS)["tx"]
    assert (made["nonce"], made["type"], made["chainId"]) == ("0x1", "0x2", hex(31_337))
    assert made["gas"] == node.say("eth_estimateGas", TO_COUNTS)
    assert made["maxFeePerGas"] == node.say("eth_gasPrice")
    listed = [{"address": COUNTS, "storageKeys": [ZERO]}]
    berlin = node.say(
        "eth_fillTransaction", {**TO_COUNTS, "gasPrice": "0x77777777", "accessList": listed}
    )["tx"]
    assert (berlin["type"], berlin["accessList"]) == ("0x1", listed)
    signed_over = {"chainId": "0x1", "address": BARE, "nonce": "0x0"}
    prague = node.say("eth_fillTransaction", {**TO_COUNTS, "authorizationList": [signed_over]})[
        "tx"
    ]
    assert (prague["type"], len(prague["authorizationList"])) == ("0x4", 1)
    assert node.refusal("eth_fillTransaction", {"nonce": "0x" + "f" * 20}).code == -32602
    blobs = {**TO_COUNTS, "blobVersionedHashes": [ZERO]}
    assert node.refusal("eth_fillTransaction", blobs).code == -32602


def test_a_receipt_is_answered_at_once_or_waited_for_or_not_in_time() -> None:
    async def story() -> None:
        async with EvmDevnet(block_ms=None) as devnet:
            send = "eth_sendRawTransactionSync"
            raws = ["0x" + signed(nonce)[0].hex() for nonce in range(3)]
            waiting: Any = devnet.say(send, raws[0])
            waited = asyncio.ensure_future(waiting)
            await asyncio.sleep(0)
            devnet.mine()
            assert (await waited)["blockNumber"] == "0x1"
            late: Any = devnet.say(send, raws[1], 0)
            with pytest.raises(RpcRefused, match="timeout"):
                await late
            devnet.say("evm_setAutomine", True)
            at_once: Any = devnet.say(send, raws[2])
            assert at_once["blockNumber"] == "0x3"

    asyncio.run(story())


# Fees.


def test_rewards_are_those_that_percentages_of_the_gas_paid() -> None:
    node = counting()
    for place, (key, tip) in enumerate(((KEYS[0], 1), (KEYS[1], 9), (KEYS[2], 4))):
        fields = {"maxPriorityFeePerGas": tip * GWEI, "gas": 21_000}
        node.send(0, key=key, value=place, **fields)
    node.devnet.mine()
    history = node.say("eth_feeHistory", "0x2", LATEST, [0, 33, 34, 66, 67, 100])
    assert history["reward"] == [
        ["0x0"] * 6,
        [hex(tip * GWEI) for tip in (1, 1, 4, 4, 9, 9)],
    ]
    most = [50] * PERCENTILES_COUNT_MAX
    assert len(node.say("eth_feeHistory", "0x1", LATEST, most)["reward"][0]) == len(most)
    for wrong in ([*most, 50], [-1], [100.5], ["50"], [True], 5):
        assert node.refusal("eth_feeHistory", "0x1", LATEST, wrong).code == -32602


# Traces.


def steps(node: Node, digest: str, **config: Any) -> list[Any]:
    found: list[Any] = node.say("debug_traceTransaction", digest, config)["structLogs"]
    return found


def test_a_transaction_is_traced_after_those_before_it() -> None:
    node = counting()
    sent = [count(node, nonce) for nonce in range(3)]
    node.devnet.mine()
    node.devnet.mine()
    for place, digest in enumerate(sent):
        shown = node.say(
            "debug_traceTransaction", digest, {"tracer": "prestateTracer", "tracerConfig": {}}
        )
        assert shown[SENDER]["nonce"] == place if place else "nonce" not in shown[SENDER]
        assert int(shown[COUNTS]["storage"][ZERO], 16) == place
        (stored,) = [one for one in steps(node, digest) if one["op"] == "SSTORE"]
        assert int(stored["storage"][ZERO], 16) == place + 1
        receipt = node.say("eth_getTransactionReceipt", digest)
        traced = node.say("debug_traceTransaction", digest)
        assert traced["gas"] == int(receipt["gasUsed"], 16)
    whole = node.say("debug_traceBlockByNumber", "0x1")
    assert [one["txHash"] for one in whole] == sent
    assert [one["result"] for one in whole] == [
        node.say("debug_traceTransaction", digest) for digest in sent
    ]
    block = node.say("eth_getBlockByNumber", "0x1", False)["hash"]
    assert node.say("debug_traceBlockByHash", block) == whole


def test_a_difference_is_what_the_transaction_changed() -> None:
    node = counting()
    digest = count(node, 0)
    node.devnet.mine()
    config = {"tracer": "prestateTracer", "tracerConfig": {"diffMode": True}}
    shown = node.say("debug_traceTransaction", digest, config)
    assert shown["post"][COUNTS]["storage"] == {ZERO: "0x" + f"{1:064x}"}
    assert shown["post"][SENDER]["nonce"] == 1
    assert int(shown["pre"][SENDER]["balance"], 16) == 10_000 * 10**18


def test_a_trace_is_of_the_chain_that_is_there() -> None:
    node = counting()
    digest = count(node, 0)
    assert node.refusal("debug_traceTransaction", digest).message == "transaction not found"
    node.devnet.mine()
    assert steps(node, digest)
    node.say("anvil_reorg", 1, [])
    assert node.refusal("debug_traceTransaction", digest).message == "transaction not found"


def test_steps_are_as_many_as_were_asked_for() -> None:
    node = counting()
    digest = count(node, 0)
    node.devnet.mine()
    every = steps(node, digest)
    assert steps(node, digest, limit=3) == every[:3]
    assert steps(node, digest, limit=0) == every, "as geth has it"
    bare = steps(node, digest, disableStack=True, disableStorage=True)
    assert all("stack" not in one and "storage" not in one for one in bare)
    full = steps(node, digest, enableMemory=True, enableReturnData=True)
    assert all(word.startswith("0x") for one in full for word in one["memory"])
    assert {one["returnData"] for one in full} == {"0x"}


@pytest.mark.parametrize("config", [{}, {"enableMemory": True}, {"tracer": "prestateTracer"}])
def test_a_trace_that_is_too_large_is_refused_in_words(
    config: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("laneway.devnets.evm.node.traces.TRACE_BYTES_MAX", 500)
    node = counting()
    node.devnet.chain.set_code(unhex(COUNTS), bytes.fromhex("5f54506001545060025450600354505f5ff3"))
    digest = node.send(0, to=COUNTS, gas=100_000)
    node.devnet.mine()
    no = node.refusal("debug_traceTransaction", digest, config)
    assert (no.code, "more than 500 bytes" in no.message) == (-32000, True)
    assert node.refusal("debug_traceBlockByNumber", LATEST, config).code == -32000
    assert node.refusal("debug_traceCall", TO_COUNTS, LATEST, config).code == -32000
    assert node.say("eth_getTransactionReceipt", digest)["status"] == "0x1"


def test_storage_that_is_listed_again_with_every_step_counts_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("laneway.devnets.evm.node.traces.TRACE_BYTES_MAX", 25_000)
    node = counting()
    reads = b"".join(bytes([0x60, key, 0x54, 0x50]) for key in range(12))
    node.devnet.chain.set_code(unhex(COUNTS), reads)
    digest = count(node, 0)
    node.devnet.mine()
    assert len(steps(node, digest, disableStorage=True)) == 37
    assert "25000 bytes" in node.refusal("debug_traceTransaction", digest).message


def test_a_tracer_that_is_not_known_is_refused() -> None:
    node = counting()
    digest = count(node, 0)
    node.devnet.mine()
    for config in ({"tracer": "noopTracer"}, {"tracer": 5}, {"limit": "x"}, {"enableMemory": 1}, 5):
        assert node.refusal("debug_traceTransaction", digest, config).code == -32602
        assert node.refusal("debug_traceCall", TO_COUNTS, LATEST, config).code == -32602


# What a node does not know.


STATE_ASKED: tuple[tuple[str, tuple[object, ...]], ...] = (
    ("eth_getBalance", (SENDER,)),
    ("eth_getTransactionCount", (SENDER,)),
    ("eth_getCode", (COUNTS,)),
    ("eth_getAccount", (COUNTS,)),
    ("eth_getAccountInfo", (COUNTS,)),
    ("eth_getStorageAt", (COUNTS, "0x0")),
    ("eth_getStorageValues", ({COUNTS: [ZERO]},)),
    ("eth_getProof", (COUNTS, [])),
    ("eth_call", (TO_COUNTS,)),
    ("eth_estimateGas", (TO_COUNTS,)),
    ("eth_createAccessList", (TO_COUNTS,)),
    ("debug_traceCall", (TO_COUNTS,)),
)


@pytest.mark.parametrize(("method", "params"), STATE_ASKED, ids=[one for one, _ in STATE_ASKED])
def test_a_state_that_a_node_forgot_is_refused_in_words(
    method: str, params: tuple[object, ...]
) -> None:
    node = counting()
    node.devnet.mine(5)
    node.devnet.chain.keep_state(0, 2)
    assert node.say(method, *params, "0x5") is not None
    assert "missing trie node" in node.refusal(method, *params, "0x3").message


def test_a_block_is_not_traced_where_the_state_before_it_is_forgotten() -> None:
    node = counting()
    digest = count(node, 0)
    node.devnet.mine(3)
    node.devnet.chain.keep_state(0, 3)
    for asked in (
        ("debug_traceTransaction", digest),
        ("debug_traceBlockByNumber", "0x1"),
    ):
        assert "missing trie node" in node.refusal(*asked).message, "its own state is not enough"
    assert node.say("debug_traceBlockByNumber", "0x2") == [], "nothing ran in it"
    assert node.say("eth_feeHistory", "0x3", LATEST, [50])["oldestBlock"] == "0x1"
    assert len(node.say("eth_getLogs", {"fromBlock": "0x0"})) == 1


NEEDS_EXECUTION: tuple[tuple[Any, ...], ...] = (
    ("eth_getProof", COUNTS, []),
    ("eth_getAccount", COUNTS, LATEST),
    ("eth_getAccountInfo", COUNTS, LATEST),
    ("eth_getStorageValues", {COUNTS: [ZERO]}),
    ("eth_createAccessList", TO_COUNTS),
    ("eth_fillTransaction", TO_COUNTS),
    ("debug_getRawHeader", LATEST),
    ("debug_getRawBlock", LATEST),
    ("debug_traceCall", TO_COUNTS),
    ("debug_traceBlockByNumber", LATEST),
)


@pytest.mark.parametrize("asked", NEEDS_EXECUTION, ids=[one[0] for one in NEEDS_EXECUTION])
def test_a_chain_that_moves_value_alone_says_so(asked: tuple[Any, ...]) -> None:
    node = Node(executes=False)
    node.send(0)
    node.devnet.mine()
    method, *params = asked
    assert node.refusal(str(method), *params).message == "this devnet moves value alone"


VALUES: tuple[object, ...] = (
    None, True, 0, -1, 1.5, 10**40, "", "0x", "0xzz", "0x0", "0x7", "0x" + "f" * 64, "latest",
    BARE, COUNTS, ZERO, [], [ZERO], [None], [[ZERO]], {}, {ZERO: ZERO}, {"code": "0x"},
    {"withLog": True}, {COUNTS: {"code": "0x4040"}}, {"number": "0x" + "f" * 60},
)  # fmt: skip
FIELDS = {
    "eth_call": (
        "from", "to", "input", "value", "gas", "gasPrice", "maxFeePerGas", "accessList",
        "authorizationList", "blobVersionedHashes", "maxFeePerBlobGas",
    ),
    "eth_getLogs": ("fromBlock", "toBlock", "blockHash", "address", "topics"),
}  # fmt: skip
OF_CALLS = ("eth_call", "eth_estimateGas", "eth_createAccessList", "debug_traceCall",
            "eth_fillTransaction")  # fmt: skip


@pytest.mark.parametrize("executes", [True, False])
@pytest.mark.parametrize("method", [*OF_CALLS, "eth_getLogs", "eth_newFilter"])
def test_no_field_of_an_object_breaks_a_node(method: str, executes: bool) -> None:
    node = counting() if executes else Node(executes=False)
    node.devnet.mine()
    names = FIELDS["eth_call" if method in OF_CALLS else "eth_getLogs"]
    for name, other, value in product(names, names, VALUES):
        with suppress(RpcRefused):
            node.say(method, {"from": OTHER, "to": COUNTS, other: "0x7", name: value})
    assert node.say("eth_chainId") == "0x7a69"


@pytest.mark.parametrize("executes", [True, False])
@pytest.mark.parametrize("method", ["eth_call", "eth_estimateGas", "debug_traceCall"])
def test_no_override_and_no_configuration_breaks_a_node(method: str, executes: bool) -> None:
    node = counting() if executes else Node(executes=False)
    for first, second in product(VALUES, repeat=2):
        with suppress(RpcRefused):
            node.say(method, TO_COUNTS, LATEST, first, second)
    for name in ("balance", "nonce", "code", "state", "stateDiff", "tracer", "tracerConfig",
                 "limit", "number", "time", "gasLimit", "baseFee", "blobBaseFee"):  # fmt: skip
        for value in VALUES:
            account, block = {COUNTS: {name: value}}, {name: value}
            with suppress(RpcRefused):
                node.say(method, TO_COUNTS, LATEST, account, block)
            with suppress(RpcRefused):
                node.say(method, TO_COUNTS, LATEST, {name: value, "stateOverrides": account,
                                                     "blockOverrides": block})  # fmt: skip
    assert node.say("eth_chainId") == "0x7a69"
