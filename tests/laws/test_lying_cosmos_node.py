"""Three nodes of one Cosmos chain behind real sockets, of which one lies."""

import asyncio
import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cosmos_stage import LANE, NAMESPACE, Stage, written
from tests.server.stage import QUICK, Client

from laneway.devnets.cosmos.devnet import CosmosDevnet
from laneway.devnets.cosmos.model.mempool import MempoolRules
from laneway.devnets.cosmos.node import comet
from laneway.wiring.config import load
from laneway.wiring.server import Up

LIAR = 2
BLOBS = 7


def lie(monkeypatch: pytest.MonkeyPatch, method: str, change: Callable[[Any], None]) -> None:
    """The third node's answers to one method are changed."""
    real, names = comet.METHODS[method]

    def answer(*given: Any) -> Any:
        said = real(*given)
        if given[1] == LIAR:
            change(said)
        return said

    monkeypatch.setitem(comet.METHODS, method, (answer, names))


def run(story: Callable[[Stage], Any], folder: Path, net: CosmosDevnet, **more: str) -> None:
    async def whole() -> None:
        async with asyncio.timeout(60), net:
            file = written(folder, net, "timeout_blocks = 8\nblock_ms = 50\n")
            configuration = load(file, {}, QUICK | {"server.port": "0"} | more)
            async with Up(configuration) as up, Client(up.server.urls[0]) as client:
                await story(Stage(up, client, net))

    asyncio.run(whole())


def published(net: CosmosDevnet) -> list[bytes]:
    """The blobs that are on the chain, in its order."""
    found = []
    for block in net.chain.blocks:
        for hash_ in block.hashes:
            committed = net.chain.committed(hash_)
            assert committed is not None
            found += [blob.data for blob in committed.tx.blobs]
    return found


def test_one_node_of_three_whose_heights_climb_moves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    climbed = 0

    def higher(said: Any) -> int:
        nonlocal climbed
        climbed += 200
        return int(said) + climbed

    def status(said: Any) -> None:
        sync = said["sync_info"]
        sync["latest_block_height"] = str(higher(sync["latest_block_height"]))

    def state(said: Any) -> None:
        said["response"]["height"] = str(higher(said["response"]["height"]))

    lie(monkeypatch, "status", status)
    lie(monkeypatch, "abci_query", state)

    async def story(stage: Stage) -> None:
        net = stage.chain
        net.chain.is_held = True
        datas = [f"blob {number}".encode() for number in range(BLOBS)]
        sent = [
            await stage.send(
                blobs=[{"namespace": NAMESPACE, "data": base64.b64encode(data).decode()}]
            )
            for data in datas
        ]
        # The liar is asked dozens of times while nothing lands and few blocks come.
        for _ in range(4):
            net.produce()
            await asyncio.sleep(0.15)
        assert climbed > 2_000
        for node in range(3):
            net.chain.restart(node)
        net.chain.is_held = False
        for one in sent:
            assert (await stage.finish(one["id"]))["status"] == "confirmed"
        assert published(net) == datas

    run(story, tmp_path, CosmosDevnet(block_ms=None, nodes=(MempoolRules(),) * 3))


def test_one_node_of_three_that_serves_another_chain_or_account_is_not_heard(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def status(said: Any) -> None:
        said["node_info"]["network"] = "another-1"

    async def story(stage: Stage) -> None:
        first = await stage.send()
        assert (await stage.finish(first["id"]))["status"] == "confirmed"
        lie(monkeypatch, "status", status)
        second = await stage.send()
        told = await stage.finish(second["id"])
        assert (told["status"], told["cosmos"]["sequence"]) == ("confirmed", 1)

    run(story, tmp_path, CosmosDevnet(block_ms=None, nodes=(MempoolRules(),) * 3))


def test_a_chain_that_began_anew_is_named_and_an_operator_goes_on_there(tmp_path: Path) -> None:
    database = {"store.path": str(tmp_path / "laneway.db"), "store.durability": "full"}

    async def before(stage: Stage) -> None:
        for _ in range(2):
            tx = await stage.send()
            assert (await stage.finish(tx["id"]))["status"] == "confirmed"

    run(before, tmp_path, CosmosDevnet(block_ms=None), **database)

    async def after(stage: Stage) -> None:
        await asyncio.sleep(0.2)
        tx = await stage.send()
        for _ in range(6_000):
            lane = (await stage.client.get("/v1/lanes/cosmos:dev")).body
            if lane["state"] == "halted":
                break
            await asyncio.sleep(0.01)
        reason = "the nodes serve another chain"
        assert lane["state"] == "halted"
        assert lane["reason"].startswith(reason)
        shown = (await stage.client.get(f"/v1/transactions/{tx['id']}")).body
        assert shown["cosmos"]["wait_reason"].startswith(reason)
        ready = (await stage.client.get("/readyz")).body
        assert any(reason in str(check) for check in ready["checks"])
        health = (await stage.client.get("/v1/lanes/cosmos:dev/health")).body
        assert reason in health["problems"][0]
        path = f"/v1/lanes/{LANE}/set-sequence"
        heard = await stage.client.post(path, {"reason": "a devnet", "dry_run": True})
        assert "becomes 0" in heard.body["effect"]
        await stage.client.post(path, {"reason": "a devnet"})
        told = await stage.finish(tx["id"])
        assert (told["status"], told["cosmos"]["sequence"]) == ("confirmed", 0)

    run(after, tmp_path, CosmosDevnet(block_ms=None), **database)
