"""Nodes that lie, forget or count what nothing shows, over real sockets: nothing lands twice."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.anvil import CHAIN_ID, address
from tests.laws.eoa_engine import mining, once, opened, paid, run
from tests.rpc_stub import No, Stub

from laneway.core.outcome import Status
from laneway.devnets.chaos.proxy import ChaosProxy
from laneway.devnets.chaos.rules import read_rule
from laneway.devnets.evm.devnet import EvmDevnet
from laneway.evm.envelope import draft, seal
from laneway.evm.keccak import keccak
from laneway.evm.secp256k1 import sign
from laneway.evm.transaction import DynamicFeeTransaction
from laneway.lanes.eoa.values import HaltJudged
from laneway.wire.rpc_server.methods import RpcRefused

SENDER = "0x" + address().hex()
AHEAD = 50
BY_NONCE = "error method=eth_getTransactionBySenderAndNonce code=-32601 message=no"


class Liar:
    """A node that is 50 blocks ahead of the others, and knows an owner of every nonce."""

    def __init__(self, devnet: EvmDevnet) -> None:
        self._devnet = devnet
        self.told = 0

    def __call__(self, method: str, params: list[Any]) -> Any:
        head = self._devnet.chain.head(0).number
        match method:
            case "eth_blockNumber":
                return hex(head + AHEAD)
            case "eth_getBlockByNumber":
                number = head + AHEAD if params[0] == "latest" else int(params[0], 16)
                if number > head:
                    return self._block(number, head)
            case "eth_getTransactionCount":
                return hex(int(self._honest("eth_getTransactionCount", [SENDER, "latest"]), 16) + 5)
            case "eth_getTransactionBySenderAndNonce":
                self.told += 1
                return self._owner(int(params[1], 16))
            case "eth_getTransactionReceipt":
                self.told += 1
                return self._receipt(params[0])
            case "eth_getBalance":
                params = [params[0], "latest"]
            case "eth_sendRawTransaction":
                return "0x" + keccak(bytes.fromhex(params[0][2:])).hex()
            case _:
                pass
        return self._honest(method, params)

    def _honest(self, method: str, params: list[Any]) -> Any:
        try:
            return self._devnet.say(method, *params)
        except RpcRefused as error:
            raise No(error.code, error.message) from error

    def _block(self, number: int, head: int) -> dict[str, Any]:
        def invented(at: int) -> str:
            known = self._devnet.chain.block(0, at)
            return "0x" + (keccak(b"lie%d" % at) if known is None else known.hash).hex()

        return {
            "number": hex(number),
            "hash": invented(number),
            "parentHash": invented(number - 1),
            "baseFeePerGas": "0x7",
            "transactions": [],
        }

    def _owner(self, nonce: int) -> dict[str, Any]:
        """Somebody else's signature, in the account's name."""
        made = draft(DynamicFeeTransaction(CHAIN_ID, nonce, 1, 9, 21_000, b"\x66" * 20))
        sealed = seal(made, sign(keccak(made.payload), b"\x07" * 32))
        return {
            "type": "0x2", "chainId": hex(CHAIN_ID), "nonce": hex(nonce), "from": SENDER,
            "hash": "0x" + sealed.hash.hex(), "to": "0x" + "66" * 20, "gas": "0x5208",
            "value": "0x0", "input": "0x", "maxFeePerGas": "0x9", "maxPriorityFeePerGas": "0x1",
            "r": "0x1", "s": "0x1", "v": "0x0", "yParity": "0x0", "accessList": [],
            "blockNumber": "0x1", "blockHash": "0x" + self._first().hex(),
        }  # fmt: skip

    def _first(self) -> bytes:
        block = self._devnet.chain.block(0, 1)
        assert block is not None
        return block.hash

    def _receipt(self, digest: str) -> dict[str, Any]:
        """Whatever is asked for succeeded long ago."""
        return {
            "transactionHash": digest, "blockNumber": "0x1",
            "blockHash": "0x" + self._first().hex(),
            "gasUsed": "0x5208", "status": "0x1", "effectiveGasPrice": "0x8",
        }  # fmt: skip


@pytest.mark.slow
def test_one_lying_node_of_three_makes_no_payment_go_out_twice(tmp_path: Path) -> None:
    """It did: eight times in 24 seconds, by one idempotency key."""

    async def story() -> None:
        async with EvmDevnet(block_ms=None, nodes=2, chain_id=CHAIN_ID) as devnet:
            devnet.mine(3)
            liar = Liar(devnet)
            async with (
                Stub(liar) as lying,
                opened(tmp_path, [lying.url, *devnet.urls], bump_after_ms=500) as pays,
            ):
                handle = await pays.pay(1, key="order-1")
                # Nothing is mined for a while: the liar alone knows of receipts and owners.
                await asyncio.sleep(3)
                assert pays.heard.results == [], "the liar alone makes nothing final"
                async with mining(devnet):
                    again = await pays.pay(1, key="order-1")
                    await pays.confirmed(handle, again)
                    await pays.confirmed(await pays.pay(2))
                    await asyncio.sleep(1)
                assert liar.told > 0
                assert paid(devnet) == once([1, 2])

    run(story())


@pytest.mark.slow
def test_what_was_mined_while_laneway_was_away_settles_on_a_node_without_old_state(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        async with (
            EvmDevnet(block_ms=None, chain_id=CHAIN_ID) as devnet,
            ChaosProxy(devnet.url, [read_rule(BY_NONCE)]) as full,
        ):
            devnet.chain.keep_state(0, 128)
            devnet.mine()
            async with opened(tmp_path, [full.url]) as before:
                for number in range(1, 31):
                    await before.pay(number, key=f"order-{number}")
                await before.until_taken(30)
            devnet.mine(200)
            async with opened(tmp_path, [full.url]) as after:
                same = [await after.pay(number, key=f"order-{number}") for number in range(1, 31)]
                await after.confirmed(*same)
            assert paid(devnet) == once(range(1, 31))

    run(story())


@pytest.mark.slow
def test_a_nonce_that_no_transaction_used_halts_the_lane_until_somebody_decides(
    tmp_path: Path,
) -> None:
    """As an EIP-7702 authorisation does it, or code that the account delegates to."""

    async def story() -> None:
        async with (
            EvmDevnet(block_ms=None, chain_id=CHAIN_ID) as devnet,
            opened(tmp_path, [devnet.url]) as pays,
        ):
            devnet.mine()
            handle = await pays.pay(1)
            await pays.until_taken(1)
            devnet.say("anvil_dropAllTransactions")
            devnet.say("anvil_setNonce", SENDER, "0x1")
            devnet.mine(4)
            (halt,) = await pays.until_heard(HaltJudged)
            for word in ("nonce 0", "count 1", "shows none", "cancel"):
                assert word in halt.reason
            await pays.tell("cancel", handle.id)
            (end,) = await pays.final(handle)
            assert end.status == Status.INDETERMINATE.value
            async with mining(devnet):
                await pays.confirmed(await pays.pay(2))
            assert paid(devnet) == [(1, 2)]

    run(story())


ESTIMATE = "method=eth_estimateGas"
ESTIMATES = {
    "nothing": f"lie {ESTIMATE} result='\"0x0\"'",
    "too much": f"lie {ESTIMATE} result='\"0x10000000000\"'",
    "a revert": f"error {ESTIMATE} code=3 message='execution reverted'",
}


@pytest.mark.slow
@pytest.mark.parametrize("lie", ESTIMATES)
def test_the_first_of_three_nodes_ends_no_payment_by_its_estimate(tmp_path: Path, lie: str) -> None:
    """It stopped the lane by a division by zero, or had the payment refused for good."""

    async def story() -> None:
        async with (
            EvmDevnet(block_ms=None, nodes=3, chain_id=CHAIN_ID) as devnet,
            ChaosProxy(devnet.urls[0], [read_rule(ESTIMATES[lie])]) as liar,
        ):
            devnet.mine(3)
            async with opened(tmp_path, [liar.url, *devnet.urls[1:]]) as pays, mining(devnet):
                bounded = await pays.pay(1, gas=None, max_cost=str(10**17))
                await pays.confirmed(bounded, await pays.pay(2, gas=None))
            assert paid(devnet) == once([1, 2])

    run(story())


@pytest.mark.slow
@pytest.mark.parametrize("lie", ESTIMATES)
def test_the_first_of_three_nodes_keeps_no_payment_from_being_cancelled(
    tmp_path: Path, lie: str
) -> None:
    """Its no-ops had no gas, or a trillion: all were refused, and the payment landed."""

    async def story() -> None:
        async with (
            EvmDevnet(block_ms=None, nodes=3, chain_id=CHAIN_ID) as devnet,
            ChaosProxy(devnet.urls[0], [read_rule(ESTIMATES[lie])]) as liar,
        ):
            devnet.mine(3)
            async with opened(
                tmp_path, [liar.url, *devnet.urls[1:]], bump_after_ms=500, cost_wei_max=str(10**17)
            ) as pays:
                handle = await pays.pay(1)
                await pays.until_taken(3)
                await pays.tell("cancel", handle.id)
                await pays.until_taken(6)
                async with mining(devnet):
                    (end,) = await pays.final(handle)
            assert end.status == Status.CANCELLED.value
            assert paid(devnet) == once([0])

    run(story())


@pytest.mark.slow
@pytest.mark.parametrize(
    "rule",
    [
        "lie method=eth_getTransactionCount result='\"0x-1\"'",
        "lie method=eth_getBalance result='\"1000000\"'",
        "lie method=eth_gasPrice result='null'",
        "error method=eth_getTransactionCount code=-32000 message='missing trie node'",
    ],
    ids=["count", "balance", "price", "state"],
)
def test_a_node_whose_numbers_cannot_be_read_is_named(tmp_path: Path, rule: str) -> None:
    """The lane was called ready, and the payment waited for an account that was not read."""

    async def story() -> None:
        async with (
            EvmDevnet(block_ms=None, chain_id=CHAIN_ID) as devnet,
            ChaosProxy(devnet.url, [read_rule(rule)]) as node,
            opened(tmp_path, [node.url]) as pays,
        ):
            devnet.mine(3)
            handle = await pays.pay(1)
            async with asyncio.timeout(30):
                while "cannot be read" not in (await pays.laneway.show(handle.id)).reason:
                    await asyncio.sleep(0.05)
            (lane,) = await pays.laneway.lanes()
            assert lane.state == "backing off"
            assert "cannot be read" in lane.reason
            node.rule()
            async with mining(devnet):
                await pays.confirmed(handle)
            (lane,) = await pays.laneway.lanes()
            assert "cannot be read" not in lane.reason

    run(story())
