"""The law: whatever a node, a signer or a receiver answers, no performer raises, and no lane stops.

Real machines, performers and adapters over a transport that spoils good answers: wrong types, huge
and negative numbers, floats, missing fields, digits of other scripts, deep nesting, long texts,
bodies that are no JSON, malformed headers.
"""

import asyncio
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.chains.jam import stage as jam
from tests.contracts.test_store import ME, Desk, opened
from tests.contracts.test_widths import WORLD, Driver, cosmos_door, evm_door
from tests.engine.bundle import stage as bundle
from tests.engine.eoa import stage as eoa
from tests.engine.sequence import stage as sequence
from tests.engine.virtual import VirtualTime
from tests.laws.nasty import Nasty, NastyClient, NastySession, NastySocket
from tests.rpc_stub import No

from laneway.chains.contract_rest import RestHost
from laneway.chains.cosmos.chain import CometChain
from laneway.chains.endpoint import NodePlace
from laneway.chains.evm.chain import RpcChain
from laneway.chains.evm.endpoint import EvmPlace
from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.node import JamPlace
from laneway.core.errors import ChainError, SignerError
from laneway.core.ids import intent_id, lane_id
from laneway.core.intent import Arrival
from laneway.cosmos.messages import Any as Packed
from laneway.cosmos.messages import BaseAccount, QueryAccountResponse
from laneway.cosmos.protobuf import encode
from laneway.engine.contract import ContractPerformer
from laneway.engine.delivery import DeliveryPerformer, encode_message
from laneway.evm.keccak import keccak
from laneway.feeds.sender import HttpSender, WebhookEndpoint
from laneway.kinds.contract.arrivals import ContractArrivals
from laneway.lanes.bundle.machine import bundle_kind
from laneway.lanes.bundle.settings import BundleSettings
from laneway.lanes.contract import ContractSettings, contract_kind
from laneway.lanes.delivery.machine import delivery_kind
from laneway.lanes.eoa.machine import eoa_kind
from laneway.lanes.eoa.settings import EoaSettings
from laneway.lanes.kind import LaneKind
from laneway.lanes.sequence.machine import sequence_kind
from laneway.lanes.sequence.settings import SequenceSettings
from laneway.ports import ContractCall, DeliveryMessage
from laneway.signers.web3signer import Web3Signer

NODES = ("a", "b", "c")
SEEDS = st.integers(min_value=0, max_value=1 << 32)
CHANCES = (0.05, 0.4)
"""Of an answer to be spoilt: seldom, so that a lane gets far, or often."""
Perform = Callable[[Any], Awaitable[list[Any]]]


def lives(
    kind: LaneKind, arrivals: list[Arrival], loop: Any, perform: Perform, folder: Path
) -> None:
    """Many turns, after which the lane still runs."""
    with opened("memory", folder) as desk:
        try:
            run(desk, kind, arrivals, loop, perform)
        finally:
            loop.close()


def run(desk: Desk, kind: LaneKind, arrivals: list[Arrival], loop: Any, perform: Perform) -> None:
    desk.accept(arrivals)

    def performed(effect: Any) -> list[Any]:
        try:
            events: list[Any] = loop.run_until_complete(perform(effect))
        except Exception as error:  # noqa: BLE001 - the law is that there is none.
            pytest.fail(f"the performer raised {error!r} on {effect!r}"[:2_000])
        return events

    driver = Driver(desk, kind, performed)
    lane = arrivals[0].lane
    for _ in range(4):
        driver.run(lane)
    assert not driver.reactor.stopped
    assert driver.reactor.owner == ME


# EVM accounts.


class EvmNode:
    """A small chain of its own: what is sent is in the next block."""

    def __init__(self) -> None:
        self.blocks: list[list[str]] = [[]]
        self.pool: list[str] = []

    def hash(self, number: int) -> str:
        return f"0x{number:064x}"

    def block(self, number: int) -> dict[str, Any] | None:
        if number >= len(self.blocks):
            return None
        return {
            "number": hex(number),
            "hash": self.hash(number),
            "parentHash": self.hash(number - 1) if number else "0x" + "00" * 32,
            "baseFeePerGas": hex(10**9),
            "transactions": self.blocks[number],
        }

    def receipt(self, wanted: str) -> dict[str, Any] | None:
        for number, hashes in enumerate(self.blocks):
            if wanted in hashes:
                return {
                    "transactionHash": wanted,
                    "blockNumber": hex(number),
                    "blockHash": self.hash(number),
                    "gasUsed": "0x5208",
                    "status": "0x1",
                    "effectiveGasPrice": hex(2 * 10**9),
                }
        return None

    def __call__(self, method: str, params: list[Any]) -> Any:
        match method:
            case "eth_chainId":
                return hex(eoa.CHAIN_ID)
            case "web3_clientVersion":
                return "Geth/v1.16.0"
            case "eth_sendRawTransaction":
                sent = "0x" + keccak(bytes.fromhex(params[0][2:])).hex()
                self.pool.append(sent)
                return sent
            case "eth_getBlockByNumber":
                if params[0] == "latest":
                    self.blocks.append(self.pool)
                    self.pool = []
                    return self.block(len(self.blocks) - 1)
                return self.block(int(params[0], 16))
            case "eth_blockNumber":
                return hex(len(self.blocks) - 1)
            case "eth_getTransactionCount":
                return hex(sum(map(len, self.blocks)))
            case "eth_getBalance":
                return hex(10**20)
            case "eth_getTransactionReceipt":
                return self.receipt(params[0])
            case "eth_estimateGas":
                return hex(21_000)
            case "eth_gasPrice" | "eth_maxPriorityFeePerGas" | "eth_blobBaseFee":
                return hex(10**9)
            case _:
                raise No(-32601, f"the method {method} does not exist")


@pytest.mark.slow
@pytest.mark.parametrize("chance", CHANCES)
@settings(max_examples=40)
@given(seed=SEEDS)
def test_no_answer_of_an_evm_node_stops_a_lane(
    chance: float, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    nasty, stage = Nasty(seed, chance), eoa.Stage()
    chain = RpcChain(
        [EvmPlace("http://127.0.0.1:1", name=name) for name in NODES], chain_id=eoa.CHAIN_ID
    )
    for node in chain._nodes.all:
        node.client = NastyClient(node.name, EvmNode(), nasty)
    stage.view.chain = chain
    kind = eoa_kind(EoaSettings(nodes=NODES))
    asked: list[dict[str, Any]] = [{"value": "1"}, {"value": "2", "gas": None}, {"value": "3"}]
    arrivals = [renamed(evm_door(stage.lane, one), place) for place, one in enumerate(asked)]

    async def perform(effect: Any) -> list[Any]:
        return list(await stage.performer.perform_all(stage.lane, (effect,), lambda: None))

    lives(kind, arrivals, stage.time.loop, perform, tmp_path_factory.mktemp("evm"))


def renamed(arrival: Arrival, number: int) -> Arrival:
    """Doors of a fixed world give every arrival the same id."""
    return replace(arrival, id=intent_id(WORLD.now_ms(), number.to_bytes(10, "big")))


# Cosmos accounts.


class CosmosNode:
    def __init__(self, address: str, network: str) -> None:
        self.address = address
        self.network = network
        self.height = 100
        self.txs: list[str] = []

    def account(self) -> str:
        base = BaseAccount(address=self.address, account_number=7, sequence=len(self.txs))
        packed = Packed(BaseAccount.url, encode(base))
        return b64encode(encode(QueryAccountResponse(packed))).decode()

    def status_of(self, name: str) -> dict[str, Any]:
        wanted = b64decode(name).hex().upper()
        known = wanted in self.txs
        result = {"status": "COMMITTED" if known else "UNKNOWN", "height": "101" if known else "0"}
        return {"hash": wanted, "result": {**result, "gas_wanted": "100", "gas_used": "90"}}

    def __call__(self, method: str, params: list[Any]) -> Any:
        match method:
            case "status":
                self.height += 1
                sync = {"latest_block_height": str(self.height), "catching_up": False}
                return {"node_info": {"network": self.network}, "sync_info": sync}
            case "abci_query":
                value = self.account() if "Account" in params[0] else None
                found = {"code": 0, "height": str(self.height), "value": value}
                return {"response": found}
            case "tx_status_batch":
                return {"statuses": [self.status_of(name) for name in params[0]]}
            case "broadcast_tx_sync":
                sent = sha256(b64decode(params[0])).hexdigest().upper()
                if sent not in self.txs:
                    self.txs.append(sent)
                return {"code": 0, "hash": sent, "log": "", "codespace": ""}
            case "tx_search":
                return {"txs": []}
            case _:
                raise No(-32601, f"Method not found: {method}")


@pytest.mark.slow
@pytest.mark.parametrize("chance", CHANCES)
@settings(max_examples=40)
@given(seed=SEEDS)
def test_no_answer_of_a_cosmos_node_stops_a_lane(
    chance: float, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    nasty, stage = Nasty(seed, chance), sequence.Stage()
    places = [NodePlace("http://127.0.0.1:1", name) for name in NODES]
    chain = CometChain(places, sequence.CHAIN_ID)
    for node in chain.endpoints:
        good = CosmosNode(stage.account.address, sequence.CHAIN_ID)
        node.client = NastyClient(node.name, good, nasty)
    stage.view.chain = chain
    kind = sequence_kind(SequenceSettings(nodes=NODES))
    asked: list[dict[str, Any]] = [{"amount": "1"}, {"amount": "2", "gas": None}, {"amount": "3"}]
    arrivals = [renamed(cosmos_door(stage.lane, **one), place) for place, one in enumerate(asked)]

    async def perform(effect: Any) -> list[Any]:
        return list(await stage.performer.perform_all(stage.lane, (effect,), lambda: None))

    lives(kind, arrivals, stage.time.loop, perform, tmp_path_factory.mktemp("cosmos"))


# Contracts.


class ContractNode:
    def __init__(self) -> None:
        self.blocks: list[dict[str, Any]] = [{"BlockNo": 0, "SmartContractData": ""}]
        self.asked: Any = None

    def __call__(self, url: str, body: Any) -> Any:
        if url.endswith("execute-smart-contract"):
            self.asked = body
            return {"status": True, "message": "password needed", "result": {"id": "7", "mode": 0}}
        if url.endswith("signature-response"):
            block = {
                "BlockNo": len(self.blocks),
                "SmartContractData": self.asked["smartContractData"],
                "ExecutorDID": self.asked["executorAddr"],
            }
            self.blocks.append(block)
            return {"status": True, "message": "Executed", "result": {"BlockNo": block["BlockNo"]}}
        shown = self.blocks[-1:] if body["latest"] else self.blocks
        return {"status": True, "message": "", "SCTDataReply": shown}


@pytest.mark.slow
@pytest.mark.parametrize("chance", CHANCES)
@pytest.mark.parametrize("takes_parent", [True, False])
@settings(max_examples=40)
@given(seed=SEEDS)
def test_no_answer_of_a_contract_node_stops_a_lane(
    chance: float, takes_parent: bool, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    nasty, time = Nasty(seed, chance), VirtualTime()
    host = RestHost("http://127.0.0.1:1", password="x", takes_parent=takes_parent)
    session = NastySession(ContractNode(), nasty)
    bare: Any = host
    bare._session.opened = lambda: session
    performer = ContractPerformer(host, time)
    chosen = ContractSettings(takes_parent=takes_parent)
    calls = [ContractCall("T", "did:1", data, 2, "") for data in ("Red", "Blue", "Green")]
    arrivals = [
        renamed(ContractArrivals(chosen, WORLD, WORLD).make(call, None, 0, None), place)
        for place, call in enumerate(calls)
    ]

    async def perform(effect: Any) -> list[Any]:
        return [await performer.perform(arrivals[0].lane, effect)]

    lives(contract_kind(chosen), arrivals, time.loop, perform, tmp_path_factory.mktemp("contract"))


# Receivers of webhooks.


@pytest.mark.slow
@pytest.mark.parametrize("chance", CHANCES)
@settings(max_examples=40)
@given(seed=SEEDS)
def test_no_answer_of_a_receiver_stops_a_lane(
    chance: float, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    nasty, time = Nasty(seed, chance), VirtualTime()
    endpoint = WebhookEndpoint(
        id="hook", url="http://127.0.0.1:1/x", secrets=(b"s" * 32,), allow_private=True
    )
    sender = HttpSender([endpoint], time)
    bare: Any = sender
    bare._session = lambda _: NastySession(lambda *_: {"ok": True}, nasty)
    performer = DeliveryPerformer(sender, time)
    lane = lane_id("delivery", "hook")
    arrivals = [
        Arrival(
            id=intent_id(number, number.to_bytes(10, "big")),
            lane=lane,
            payload=encode_message(
                DeliveryMessage(f"msg_{number}", "transaction.confirmed", b"{}")
            ),
            digest=b"",
            accepted_ms=0,
        )
        for number in range(1, 4)
    ]

    async def perform(effect: Any) -> list[Any]:
        return [await performer.perform(lane, effect)]

    lives(delivery_kind(), arrivals, time.loop, perform, tmp_path_factory.mktemp("hook"))


# Rollups.


def jam_chain(nasty: Nasty, time: VirtualTime) -> Jip2Chain:
    places = [JamPlace("ws://127.0.0.1:1", name=name) for name in NODES]
    chain = Jip2Chain(places, now_ms=time.now_ms)
    nodes: Any = chain.endpoints
    for node in nodes:
        good = jam.Node("a0 a1 a2 a3 a4 a5", final="a1")
        node.client = node.socket = NastySocket(good, nasty)
    return chain


@pytest.mark.slow
@pytest.mark.parametrize("chance", CHANCES)
@settings(max_examples=40)
@given(seed=SEEDS)
def test_no_answer_of_a_jam_node_stops_a_lane(
    chance: float, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    nasty, stage = Nasty(seed, chance), bundle.Stage()
    stage.rollup.chain = jam_chain(nasty, stage.time)
    kind = bundle_kind(BundleSettings(nodes=NODES))
    arrivals = [
        Arrival(
            id=intent_id(number, number.to_bytes(10, "big")),
            lane=stage.lane,
            payload=b"transfer %d" % number,
            digest=b"",
            accepted_ms=0,
        )
        for number in range(1, 4)
    ]

    async def perform(effect: Any) -> list[Any]:
        return list(await stage.performer.perform_all(stage.lane, (effect,), lambda: None))

    lives(kind, arrivals, stage.time.loop, perform, tmp_path_factory.mktemp("rollup"))


@pytest.mark.slow
@pytest.mark.parametrize("chance", CHANCES)
@settings(max_examples=40)
@given(seed=SEEDS)
def test_no_answer_of_a_jam_node_is_more_than_a_chains_trouble(chance: float, seed: int) -> None:
    nasty, time = Nasty(seed, chance), VirtualTime()

    async def story() -> None:
        chain = jam_chain(nasty, time)
        packages = (jam.watched(), jam.watched(keeps_records=True))
        asked: list[Callable[[], Awaitable[Any]]] = [
            chain.parameters, chain.clock, chain.head, chain.context, chain.sync_state,
            lambda: chain.look((jam.ref("a0"),), packages, 8),
            lambda: chain.submit(jam.SENT, (0, 1)),
            lambda: chain.statistics(jam.header("a3")),
            lambda: chain.services(jam.header("a3")),
            lambda: chain.service_request(jam.header("a3"), 1, bytes(32), 5),
            lambda: chain.state_value(jam.header("a3"), bytes(31)),
            lambda: chain.segments(bytes(32), (0, 1)),
        ]  # fmt: skip
        for _ in range(4):
            for ask in asked:
                try:
                    async with asyncio.timeout(60):
                        await ask()
                except (ChainError, TimeoutError):
                    continue
                except Exception as error:  # noqa: BLE001 - the law is that there is no other.
                    pytest.fail(f"{ask} raised {error!r}"[:2_000])

    time.run(story())


# Signers.


@pytest.mark.slow
@pytest.mark.parametrize("chance", CHANCES)
@settings(max_examples=60)
@given(seed=SEEDS)
def test_no_answer_of_a_signer_is_more_than_a_signers_trouble(chance: float, seed: int) -> None:
    nasty, time = Nasty(seed, chance), VirtualTime()
    held = eoa.RemoteSigner()._held

    async def story() -> None:
        signer = Web3Signer("http://127.0.0.1:1", "0x" + held.address.hex())
        signed = held.sign_now(b"payload")
        good = f"0x{signed.r:064x}{signed.s:064x}{27 + signed.y_parity:02x}"

        async def call(method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
            status, _ = nasty.status()
            return status, nasty.body([good] if method == "GET" else good)

        bare: Any = signer
        bare._call = call
        for _ in range(20):
            try:
                assert (await signer.sign(b"payload")).r == signed.r
            except SignerError:
                continue
            except Exception as error:  # noqa: BLE001 - the law is that there is no other.
                pytest.fail(f"the signer raised {error!r}"[:2_000])
        await signer.close()

    time.run(story())


def test_the_spoilt_answers_reach_their_readers() -> None:
    """The law is worth nothing if every answer were good, or none could be read."""
    for chance, least, most in ((0.0, 100, 100), (0.4, 30, 90)):
        nasty = Nasty(7, chance)
        good = {"a": [1, {"b": "0x5"}]}
        whole = sum(nasty.value(good) == good for _ in range(100))
        assert least <= whole <= most
