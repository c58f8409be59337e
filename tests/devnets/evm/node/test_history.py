"""Laws of a node whose chain began elsewhere: what lies before it is refused in words."""

import pytest
from msgspec import structs
from tests.devnets.evm.model.continuing import FIRST, A, chain, following, origin, pay
from tests.devnets.evm.node.said import Node

from laneway.devnets.evm.devnet import EvmDevnet
from laneway.devnets.evm.model.continued import ContinuedModel

OWNER = "0x" + A.hex()
NUMBERS = {name: hex(number) for name, number in (("before", FIRST - 1), ("first", FIRST))}
PRUNED = 4444


def continued(model: ContinuedModel | None = None) -> Node:
    """Two blocks were imported."""
    node = Node()
    model = model or chain()
    model.import_block(following(model, pay(0)))
    model.import_block(following(model, pay(1)))
    node.devnet = EvmDevnet(block_ms=None, chain=model)
    return node


CONTENT_ASKED = (
    "eth_getBlockReceipts",
    "eth_getBlockTransactionCountByNumber",
    "debug_getRawReceipts",
    "debug_getRawBlock",
    "debug_traceBlockByNumber",
)


@pytest.mark.parametrize("method", CONTENT_ASKED)
def test_what_lies_before_the_first_block_is_refused(method: str) -> None:
    node = continued()
    for where in (NUMBERS["before"], "0x0", "earliest"):
        assert node.refusal(method, where).code == PRUNED
        assert node.refusal("eth_getBalance", OWNER, where).code == PRUNED
        assert node.refusal("eth_getBlockByNumber", where, False).code == PRUNED
        assert node.refusal("eth_getLogs", {"fromBlock": where}).code == PRUNED


@pytest.mark.parametrize("method", CONTENT_ASKED)
def test_the_first_block_has_a_state_and_a_header_and_no_known_content(method: str) -> None:
    header = structs.replace(origin().header, transactions_root=b"\x01" * 32)
    node = continued(ContinuedModel(origin(header=header), chain_id=77))
    first = NUMBERS["first"]
    assert node.refusal(method, first).code == PRUNED
    for asked in (
        ("eth_getBlockByNumber", first, True),
        ("eth_getTransactionByBlockNumberAndIndex", first, "0x0"),
        ("eth_getLogs", {"fromBlock": first}),
        ("eth_feeHistory", "0x3", "latest", [50]),
        ("eth_feeHistory", "0x4", "latest", []),
    ):
        assert node.refusal(*asked).code == PRUNED
    assert node.say("eth_getTransactionCount", OWNER, first) == "0x0"
    assert node.say("debug_getRawHeader", first).startswith("0xf9")
    assert len(node.say("eth_feeHistory", "0x3", "latest", [])["gasUsedRatio"]) == 3
    assert len(node.say("eth_feeHistory", "0x2", "latest", [50])["reward"]) == 2


def test_an_empty_first_block_is_known_whole() -> None:
    node = continued()
    assert node.say("eth_getBlockReceipts", NUMBERS["first"]) == []


def test_what_was_imported_is_read_and_traced_and_final() -> None:
    node = continued()
    newest = node.say("eth_getBlockByNumber", "latest", True)
    assert newest["number"] == hex(FIRST + 2)
    for tag in ("safe", "finalized"):
        assert node.say("eth_getBlockByNumber", tag, True) == newest
    assert newest["withdrawals"] == [
        {"index": "0x1", "validatorIndex": "0x2", "address": "0x" + "99" * 20, "amount": "0x7"}
    ]
    (sent,) = newest["transactions"]
    assert node.say("eth_getTransactionByHash", sent["hash"]) == sent
    shown = node.say("debug_traceTransaction", sent["hash"], {"tracer": "prestateTracer"})
    assert shown[OWNER]["nonce"] == 1
    calls = node.say("debug_traceTransaction", sent["hash"], {"tracer": "callTracer"})
    assert calls["from"] == OWNER


def test_the_chain_is_not_set_back_before_its_first_block() -> None:
    node = continued()
    assert node.refusal("anvil_rollback", 3).code == -32602
    assert node.refusal("anvil_reorg", 3, []).code == -32602
    node.say("anvil_rollback", 2)
    assert node.say("eth_blockNumber") == NUMBERS["first"]


def test_a_reset_goes_back_to_where_the_chain_stood_and_a_revert_too() -> None:
    node = continued()
    stood = node.devnet.chain.newest()
    kept = node.say("evm_snapshot")
    node.devnet.mine(2)
    assert node.say("evm_revert", kept) is True
    assert node.devnet.chain.newest() is stood
    node.devnet.mine(2)
    node.say("anvil_reset")
    assert node.devnet.chain.newest() is stood
    final = node.say("eth_getBlockByNumber", "finalized", False)
    assert int(final["number"], 16) == stood.number
    assert node.refusal("anvil_rollback", 3).code == -32602, "nothing lies before the first"
    node.say("anvil_rollback", 2)
    final = node.say("eth_getBlockByNumber", "finalized", False)
    assert int(final["number"], 16) == FIRST, "what was taken back is not final"
