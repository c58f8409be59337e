"""Control methods of the devnet beside a real anvil's: each story is told to both, and what it
asks is answered alike."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs
from tests.anvil import GWEI, KEYS, address
from tests.contracts.evm_answers import answer, told
from tests.evm_blobs import blob_transaction, sent, sidecar
from tests.evm_worlds import World

from laneway.devnets.evm.node.control import CONTROLS

pytestmark = pytest.mark.slow

A, B = ("0x" + address(key).hex() for key in KEYS[:2])
STRANGER, BARE = "0x" + "ab" * 20, "0x" + "11" * 20
DAY_S = 86_400
Answers = list[Any]


class Asked:
    """What one world answered, in its order."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.answers: Answers = []
        # Anvil's first block does not follow the rule of the base fee, so it is given.
        self.silently("anvil_setNextBlockBaseFeePerGas", hex(GWEI))
        self.silently("evm_mine")

    def ask(self, method: str, *params: object) -> Any:
        found = answer(self.world, method, *params)
        self.answers.append((method, found))
        return found

    def silently(self, method: str, *params: object) -> Any:
        return self.world.say(method, *params)

    def moments(self, count: int, since_s: int) -> None:
        """The times of the newest blocks, from a moment on."""
        head = int(self.silently("eth_blockNumber"), 16)
        blocks = [
            self.silently("eth_getBlockByNumber", hex(head - back), False) for back in range(count)
        ]
        self.answers.append([int(block["timestamp"], 16) - since_s for block in blocks])


def snapshots(asked: Asked) -> None:
    asked.ask("evm_revert", "0x0")
    first = asked.ask("evm_snapshot")
    asked.ask("anvil_setBalance", STRANGER, "0x5")
    fees = {"maxFeePerGas": hex(9 * GWEI), "maxPriorityFeePerGas": hex(GWEI), "gas": "0x5208"}
    asked.ask("eth_sendTransaction", {"from": A, "to": B, "value": "0x1", **fees})
    asked.ask("evm_mine")
    second = asked.ask("anvil_snapshot")
    asked.ask("evm_mine")
    asked.ask("evm_snapshot")
    asked.ask("evm_revert", second)
    asked.ask("eth_blockNumber")
    asked.ask("evm_revert", second)
    asked.ask("eth_getBalance", STRANGER, "latest")
    asked.ask("anvil_revert", first)
    asked.ask("eth_getBalance", STRANGER, "latest")
    asked.ask("eth_getTransactionCount", A, "latest")
    asked.ask("evm_snapshot")
    for wrong in ("nonsense", None, -1):
        asked.ask("evm_revert", wrong)
    asked.ask("evm_revert", 7)
    asked.ask("eth_blockNumber")


def impersonation(asked: Asked) -> None:
    from_stranger = {"from": STRANGER, "to": B, "value": "0x1", "gas": "0x5208"}
    asked.ask("eth_sendTransaction", from_stranger)
    asked.ask("anvil_impersonateAccount", STRANGER)
    asked.ask("anvil_impersonateAccount", "0x12")
    asked.ask("eth_accounts")
    asked.ask("eth_sendTransaction", from_stranger)
    asked.ask("anvil_setBalance", STRANGER, hex(10**18))
    asked.ask("anvil_setCode", STRANGER, "0x00")
    priced = {"gasPrice": hex(10 * GWEI), "nonce": "0x0"}
    digest = asked.ask("eth_sendTransaction", {**from_stranger, **priced})
    asked.ask("eth_getTransactionByHash", digest)
    asked.ask("txpool_status")
    asked.ask("evm_mine")
    asked.ask("eth_getTransactionByHash", digest)
    asked.ask("eth_getTransactionReceipt", digest)
    asked.ask("hardhat_stopImpersonatingAccount", STRANGER)
    asked.ask("eth_sendTransaction", from_stranger)
    asked.ask("anvil_autoImpersonateAccount", True)
    fees = {"maxFeePerGas": hex(9 * GWEI), "maxPriorityFeePerGas": hex(GWEI)}
    asked.ask("eth_sendTransaction", {**from_stranger, **fees, "nonce": "0x1"})
    asked.ask("anvil_autoImpersonateAccount", False)
    asked.ask("eth_sendUnsignedTransaction", {**from_stranger, **fees, "nonce": "0x2"})
    asked.ask("eth_sendUnsignedTransaction", {"to": B})
    asked.ask("evm_mine")
    asked.ask("eth_getTransactionCount", STRANGER, "latest")


def signing(asked: Asked) -> None:
    asked.ask("eth_sign", A, "0x1234")
    asked.ask("personal_sign", "0x1234", A)
    asked.ask("eth_sign", STRANGER, "0x1234")
    fees = {"maxFeePerGas": hex(9 * GWEI), "maxPriorityFeePerGas": hex(GWEI), "gas": "0x7530"}
    pays = {"from": A, "to": B, "value": "0x1", **fees}
    priced = {"from": A, "to": B, "gasPrice": hex(9 * GWEI), "gas": "0x7530"}
    asked.ask("eth_signTransaction", pays)
    asked.ask("eth_signTransaction", {**priced, "nonce": "0x9"})
    asked.ask("eth_signTransaction", {**pays, "from": STRANGER})
    asked.ask("eth_signTransaction", {"from": A, "to": B, "value": "0x1"})
    asked.ask("eth_sendTransaction", {"to": B, **fees})
    asked.ask("eth_sendTransaction", {**priced, "value": "0x2"})
    asked.ask("eth_sendTransaction", {**priced, "accessList": []})
    asked.ask("eth_sendTransaction", {"from": A, "data": "0x60006000fd", **fees, "gas": "0xfffff"})
    asked.ask("eth_sendTransaction", {**pays, "chainId": "0x5"})
    asked.ask("eth_sendTransaction", {**pays, "nonce": "0x0"})
    asked.ask("eth_sendTransaction", {**pays, "gas": "0x100"})
    asked.ask("eth_sendTransaction", {**pays, "value": hex(10**30)})
    asked.ask("eth_sendTransaction", {"from": A, "to": B, "gas": "0x5208", "maxFeePerGas": "0x1"})
    asked.ask("txpool_status")
    asked.ask("evm_mine")
    asked.ask("eth_getTransactionCount", A, "latest")


def times(asked: Asked) -> None:
    # A day ahead of the machines' clocks, so that a second more or less is none of the answers.
    now_s = int(time.time()) + DAY_S
    asked.ask("evm_setNextBlockTimestamp", now_s)
    asked.ask("evm_mine")
    asked.ask("anvil_setNextBlockTimestamp", hex(now_s + 5_000))
    asked.ask("evm_mine")
    asked.moments(2, now_s)
    asked.ask("evm_setNextBlockTimestamp", now_s)
    asked.ask("evm_mine", now_s + 6_000)
    asked.ask("evm_mine", {"timestamp": now_s + 7_000, "blocks": 1})
    asked.moments(2, now_s)
    for wrong in (5, "0x5", {"timestamp": 5}, {"blocks": 2}):
        asked.ask("evm_mine", wrong)
    asked.ask("eth_blockNumber")
    asked.ask("anvil_setBlockTimestampInterval", 100)
    asked.ask("anvil_mine", 3)
    asked.ask("evm_increaseTime", "abc")
    asked.ask("evm_mine")
    asked.moments(5, now_s)
    asked.ask("anvil_removeBlockTimestampInterval")
    asked.ask("anvil_removeBlockTimestampInterval")
    asked.ask("evm_setNextBlockTimestamp", now_s + 9_000)
    asked.ask("anvil_mine", "0x1", hex(50))
    asked.ask("hardhat_mine", "0x0")
    asked.moments(1, now_s)
    asked.ask("anvil_setTime", now_s)
    asked.ask("eth_blockNumber")


def controls(asked: Asked) -> None:
    asked.ask("anvil_setCoinbase", STRANGER)
    asked.ask("eth_coinbase")
    asked.ask("evm_mine")
    asked.ask("eth_getBlockByNumber", "pending", False)
    asked.ask("anvil_setMinGasPrice", "0x5")
    asked.ask("hardhat_setNextBlockBaseFeePerGas", hex(3 * GWEI))
    asked.ask("anvil_setBlockGasLimit", hex(10**8))
    asked.ask("evm_mine")
    asked.ask("eth_getBlockByNumber", "latest", False)
    asked.ask("anvil_setChainId", 77)
    asked.ask("eth_chainId")
    asked.ask("anvil_setChainId", 31_337)
    for alias in ("hardhat_setBalance", "tenderly_setBalance", "anvil_addBalance"):
        asked.ask(alias, STRANGER, "0x5")
        asked.ask("eth_getBalance", STRANGER, "latest")
    asked.ask("evm_setAccountNonce", STRANGER, "0x6")
    asked.ask("hardhat_setCode", STRANGER, "0x6001")
    asked.ask("hardhat_setStorageAt", STRANGER, "0x5", "0x" + "01" * 32)
    asked.ask("eth_getStorageAt", STRANGER, "0x5", "latest")
    asked.ask("anvil_setLoggingEnabled", True)
    asked.ask("hardhat_getAutomine")
    asked.ask("anvil_getIntervalMining")
    asked.ask("hardhat_dropTransaction", "0x" + "00" * 32)
    asked.ask("anvil_getBlobByHash", "0x" + "01" * 32)
    asked.ask("anvil_getBlobsByTransactionHash", "0x" + "01" * 32)
    for contract in (
        "0x0000f90827f1c53a10cb7a02335b175320002935",
        "0x4e59b44847b379578588920ca78fbf26c0b4956c",
        "0x000f3df6d732807ef1319fb7b8bb8522d0beac02",
        "0x00000961ef480eb55e80d19ad83579a64c007002",
    ):
        asked.ask("eth_getCode", contract, "latest")
    named = asked.silently("anvil_nodeInfo")
    asked.answers.append(({**named, "hardFork": ""}.keys(), named["environment"]))
    asked.answers.append(sorted(asked.silently("anvil_metadata")))
    asked.ask("anvil_reset", {})
    asked.ask("anvil_reset")
    asked.ask("eth_blockNumber")
    asked.ask("eth_getBalance", STRANGER, "latest")


def pending(asked: Asked) -> None:
    asked.ask("evm_mine")
    asked.ask("anvil_setNextBlockBaseFeePerGas", hex(GWEI))
    fees = {"maxFeePerGas": hex(9 * GWEI), "maxPriorityFeePerGas": hex(GWEI), "gas": "0x5208"}
    asked.ask("eth_sendTransaction", {"from": A, "to": BARE, "value": "0x5", **fees})
    found = asked.ask("eth_getBlockByNumber", "pending", False)
    asked.answers.append((found["number"], found["transactions"]))
    for tag in ("pending", "latest"):
        asked.ask("eth_getBalance", BARE, tag)
        asked.ask("eth_getTransactionCount", A, tag)
        asked.ask("eth_call", {"to": BARE}, tag)
    asked.ask("eth_getBlockReceipts", "pending")
    asked.ask("eth_feeHistory", "0x1", "pending", [])
    asked.ask("eth_blockNumber")


def blobs(asked: Asked) -> None:
    one, two = sidecar(1), sidecar(1, count=2, version=1)
    bare, digest = sent(blob_transaction(0, one, sidecar=None))
    asked.ask("eth_sendRawTransaction", bare)
    for version in (0, 1):
        made = sidecar(1, version=version)
        wrong = structs.replace(made, proofs=made.commitments * len(made.proofs))
        asked.ask("eth_sendRawTransaction", sent(blob_transaction(0, wrong))[0])
        wrong = structs.replace(made, proofs=(bytes(48),) * len(made.proofs))
        asked.ask("eth_sendRawTransaction", sent(blob_transaction(0, wrong))[0])
    asked.ask("eth_sendRawTransaction", sent(blob_transaction(0, one, blob_fee_wei_max=0))[0])
    asked.ask("eth_sendRawTransaction", sent(blob_transaction(0, one))[0])
    asked.ask("eth_sendRawTransaction", sent(blob_transaction(0, one))[0])
    same = blob_transaction(0, one, blob_fee_wei_max=50, tip_wei_max=2 * GWEI)
    asked.ask("eth_sendRawTransaction", sent(same)[0])
    dearer = blob_transaction(0, one, fee_wei_max=11 * GWEI, blob_fee_wei_max=5)
    digest = asked.ask("eth_sendRawTransaction", sent(dearer)[0])
    asked.ask("eth_sendRawTransaction", sent(blob_transaction(1, two))[0])
    asked.ask("txpool_status")
    asked.ask("evm_mine")
    block = asked.ask("eth_getBlockByNumber", "latest", False)
    asked.answers.append((block["blobGasUsed"], block["excessBlobGas"]))
    found = asked.silently("eth_getTransactionByHash", digest)
    asked.answers.append((found["blobVersionedHashes"], found["maxFeePerBlobGas"]))
    asked.ask("eth_getTransactionReceipt", digest)
    asked.ask("eth_blobBaseFee")
    asked.ask("eth_feeHistory", "0x2", "latest", [])
    asked.ask("anvil_getBlobsByTransactionHash", digest)
    asked.ask("anvil_getBlobByHash", found["blobVersionedHashes"][0])
    asked.ask("anvil_getBlobByHash", "0x01" + "00" * 31)


STORIES: dict[str, Callable[[Asked], None]] = {
    story.__name__: story
    for story in (snapshots, impersonation, signing, times, controls, pending, blobs)
}


def answers_of(name: str, story: Callable[[Asked], None]) -> Answers:
    async def run(world: World) -> Answers:
        asked = Asked(world)
        story(asked)
        return asked.answers

    found: Answers = told(name, run)
    return found


@pytest.mark.parametrize("story", STORIES)
def test_both_answer_alike(story: str) -> None:
    expected = answers_of("anvil", STORIES[story])
    for given, wanted in zip(answers_of("model", STORIES[story]), expected, strict=True):
        assert given == wanted


def test_every_control_is_one_of_anvils() -> None:
    """Under each of its names: anvil knows the method, whatever it says to a call without
    parameters."""

    async def story(world: World) -> list[str]:
        unknown = (-32601, "Method not found")
        return [name for name in CONTROLS if answer(world, name) == unknown]

    assert told("anvil", story) == []
