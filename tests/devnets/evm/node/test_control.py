"""Control methods where no anvil is beside them: their bounds, and what they leave as it was."""

from typing import Any

import pytest
from tests.anvil import KEYS, address, signed
from tests.evm_blobs import blob_transaction, sent, sidecar

from laneway.devnets.evm.devnet import EvmDevnet
from laneway.devnets.evm.limits import (
    CHAIN_ID_MAX,
    IMPERSONATED_COUNT_MAX,
    MINE_COUNT_MAX,
    SNAPSHOTS_COUNT_MAX,
    TIMESTAMP_S_MAX,
)
from laneway.evm.fork import Fork
from laneway.wire.rpc_server.methods import RpcRefused

A, B = ("0x" + address(key).hex() for key in KEYS[:2])
STRANGER = "0x" + "ab" * 20


@pytest.fixture
def devnet() -> EvmDevnet:
    return EvmDevnet(block_ms=None)


def problem(devnet: EvmDevnet, method: str, *params: object) -> str:
    with pytest.raises(RpcRefused) as no:
        devnet.say(method, *params)
    return no.value.message


def timestamp(devnet: EvmDevnet, tag: str = "latest") -> int:
    block: Any = devnet.say("eth_getBlockByNumber", tag, False)
    return int(block["timestamp"], 16)


def test_snapshots_are_bounded(devnet: EvmDevnet) -> None:
    for number in range(SNAPSHOTS_COUNT_MAX):
        assert devnet.say("evm_snapshot") == hex(number)
    assert problem(devnet, "evm_snapshot").startswith("at most 4096 snapshots")
    assert devnet.say("evm_revert", 0) is True
    assert devnet.say("evm_snapshot") == hex(SNAPSHOTS_COUNT_MAX)
    kept: Any = devnet.say("anvil_metadata")
    assert list(kept["snapshots"]) == [hex(SNAPSHOTS_COUNT_MAX)]


def test_impersonated_accounts_are_bounded(devnet: EvmDevnet) -> None:
    for number in range(IMPERSONATED_COUNT_MAX):
        devnet.say("anvil_impersonateAccount", f"0x{number:040x}")
    devnet.say("anvil_impersonateAccount", "0x" + "00" * 20)
    assert "at most 1024 accounts" in problem(devnet, "anvil_impersonateAccount", STRANGER)
    devnet.say("anvil_stopImpersonatingAccount", "0x" + "00" * 20)
    devnet.say("anvil_impersonateAccount", STRANGER)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("evm_increaseTime", [TIMESTAMP_S_MAX + 1]),
        ("evm_setNextBlockTimestamp", [TIMESTAMP_S_MAX + 1]),
        ("evm_mine", [TIMESTAMP_S_MAX + 1]),
        ("evm_mine", [{"timestamp": 2**33, "blocks": MINE_COUNT_MAX + 1}]),
        ("anvil_mine", [1, TIMESTAMP_S_MAX + 1]),
        ("anvil_mine", [MINE_COUNT_MAX + 1]),
        ("anvil_setTime", [1_000 * TIMESTAMP_S_MAX + 1]),
        ("anvil_setBlockTimestampInterval", [TIMESTAMP_S_MAX + 1]),
        ("anvil_setChainId", [CHAIN_ID_MAX + 1]),
    ],
)
def test_what_is_too_much_is_refused_and_changes_nothing(
    devnet: EvmDevnet, method: str, params: list[object]
) -> None:
    assert problem(devnet, method, *params).startswith("at most")
    assert devnet.chain.newest().number == 0
    devnet.mine()
    assert timestamp(devnet) - timestamp(devnet, "earliest") < 60


def test_a_revert_brings_its_time_back(devnet: EvmDevnet) -> None:
    kept = devnet.say("evm_snapshot")
    before = timestamp(devnet)
    devnet.say("evm_increaseTime", 10_000)
    devnet.mine()
    assert timestamp(devnet) - before >= 10_000
    assert devnet.say("evm_revert", kept) is True
    devnet.mine()
    assert timestamp(devnet) - before < 60


def test_a_reset_begins_anew(devnet: EvmDevnet) -> None:
    first = devnet.chain.newest()
    devnet.say("anvil_setBalance", STRANGER, "0x5")
    devnet.say("eth_sendTransaction", {"from": A, "to": B})
    devnet.say("evm_increaseTime", 10_000)
    devnet.say("evm_snapshot")
    devnet.mine()
    devnet.say("eth_sendTransaction", {"from": A, "to": B})
    devnet.say("anvil_reset")
    assert devnet.chain.newest() is first
    assert devnet.chain.pool(0) == ((), ())
    assert devnet.say("eth_getBalance", STRANGER, "latest") == "0x0"
    assert devnet.say("evm_revert", "0x0") is False
    devnet.mine()
    assert timestamp(devnet) - timestamp(devnet, "earliest") < 60


def test_an_estimate_sees_what_waits(devnet: EvmDevnet) -> None:
    """Code that returns STOP: its call needs it deployed, in the pending block at least."""
    devnet.say("anvil_setCode", STRANGER, "0x5f355f55")  # Writes its input into key 0.
    write = {"from": A, "to": STRANGER, "data": "0x" + "01" * 32}
    first = devnet.say("eth_sendTransaction", write)
    second = devnet.say("eth_sendTransaction", write)
    found: Any = [devnet.say("eth_getTransactionByHash", digest) for digest in (first, second)]
    gas = [int(one["gas"], 16) for one in found]
    assert gas[0] > gas[1], "the key is written already where the second one runs"
    devnet.mine()
    assert devnet.say("eth_getTransactionCount", A, "latest") == "0x2"


def test_what_fails_in_an_estimate_is_sent_with_a_blocks_gas() -> None:
    for fork, gas in ((Fork.PRAGUE, 30_000_000), (Fork.OSAKA, 1 << 24)):
        devnet = EvmDevnet(block_ms=None, fork=fork)
        digest = devnet.say("eth_sendTransaction", {"from": A, "data": "0x60006000fd"})
        found: Any = devnet.say("eth_getTransactionByHash", digest)
        assert int(found["gas"], 16) == gas


def test_a_delegation_is_sent_by_the_node(devnet: EvmDevnet) -> None:
    entry = {"chainId": "0x7a69", "address": B, "nonce": "0x0", "yParity": "0x0", "r": "0x1",
             "s": "0x1"}  # fmt: skip
    request = {"from": A, "to": B, "gas": "0x186a0", "authorizationList": [entry]}
    digest = devnet.say("eth_sendTransaction", request)
    found: Any = devnet.say("eth_getTransactionByHash", digest)
    assert (found["type"], len(found["authorizationList"])) == ("0x4", 1)
    devnet.mine()
    receipt: Any = devnet.say("eth_getTransactionReceipt", digest)
    assert receipt["status"] == "0x1"


def test_a_node_makes_no_blobs_and_names_who_signs_for_nobody(devnet: EvmDevnet) -> None:
    request = {"from": A, "to": B, "blobVersionedHashes": ["0x01" + "00" * 31]}
    assert "makes no blobs" in problem(devnet, "eth_sendTransaction", request)
    nobody = EvmDevnet(block_ms=None, accounts=0)
    assert nobody.say("eth_accounts") == []
    assert problem(nobody, "eth_sendTransaction", {"to": B}) == "No Signer available"


def test_on_a_chain_that_moves_value_accounts_are_impersonated_too() -> None:
    devnet = EvmDevnet(block_ms=0, executes=False)
    devnet.say("anvil_setBalance", STRANGER, hex(10**18))
    devnet.say("anvil_impersonateAccount", STRANGER)
    devnet.say("eth_sendTransaction", {"from": STRANGER, "to": B, "value": "0x5"})
    assert devnet.say("eth_getTransactionCount", STRANGER, "latest") == "0x1"
    entry = {"chainId": "0x0", "address": B, "nonce": "0x0", "yParity": "0x0", "r": "0x1",
             "s": "0x1"}  # fmt: skip
    delegation = {"from": STRANGER, "to": B, "gas": "0x186a0", "authorizationList": [entry]}
    assert problem(devnet, "eth_sendTransaction", delegation) == "Failed to decode transaction"
    pending: Any = devnet.say("eth_getBlockByNumber", "pending", True)
    assert pending["number"] == "0x2"


def test_both_forms_of_a_sidecar_are_taken_on_every_fork() -> None:
    for fork in (Fork.CANCUN, Fork.PRAGUE, Fork.OSAKA):
        devnet = EvmDevnet(block_ms=None, fork=fork)
        raws = [
            sent(blob_transaction(nonce, sidecar(1, version=version)))[0]
            for nonce, version in enumerate((0, 1))
        ]
        for raw in raws:
            devnet.say("eth_sendRawTransaction", raw)
        devnet.mine()
        assert len(devnet.chain.newest().transactions) == 2
        too_many = blob_transaction(2, sidecar(1, count=10))
        words = problem(devnet, "eth_sendRawTransaction", sent(too_many)[0])
        bound = 9 if fork is Fork.PRAGUE else 6
        assert words == f"too many blobs in one transaction, have: 10, max: {bound}"


def test_a_signed_transaction_of_an_impersonated_account_is_its_own(devnet: EvmDevnet) -> None:
    devnet.say("anvil_impersonateAccount", A)
    digest = devnet.say("eth_sendTransaction", {"from": A, "to": B})
    assert digest != "0x" + signed(0)[1].hex()
    found: Any = devnet.say("eth_getTransactionByHash", digest)
    assert (found["from"], found["r"]) == (A, "0x0")
