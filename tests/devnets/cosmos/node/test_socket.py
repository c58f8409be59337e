"""A node on its socket: JSON-RPC posted and as a URI, REST beside it, and a node that is down."""

import asyncio
import base64
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientConnectionError, ClientSession
from tests.devnets.cosmos.stage import DENOM, PREFIX, RICH, A, accepted, address, pay, raw_of

from laneway.devnets.cosmos.devnet import CosmosDevnet
from laneway.devnets.cosmos.model.mempool import MempoolRules

BALANCES = {raw_of(A): RICH}
Story = Callable[[CosmosDevnet, ClientSession], Coroutine[Any, Any, None]]


@asynccontextmanager
async def devnet(**options: Any) -> AsyncIterator[tuple[CosmosDevnet, ClientSession]]:
    chosen = {"block_ms": None, "balances": BALANCES, **options}
    async with CosmosDevnet(**chosen) as found, ClientSession() as session:
        yield found, session


def tell(story: Story, **options: Any) -> None:
    async def whole() -> None:
        async with asyncio.timeout(20), devnet(**options) as (found, session):
            await story(found, session)

    asyncio.run(whole())


async def post(session: ClientSession, url: str, content: Any) -> tuple[int, Any]:
    async with session.post(url, json=content) as response:
        said = await response.json() if response.content_type == "application/json" else None
        return response.status, said


async def get(session: ClientSession, url: str) -> tuple[int, Any]:
    async with session.get(url) as response:
        return response.status, await response.json()


def call(method: str, number: int | None = 1, **params: object) -> dict[str, Any]:
    said = {"jsonrpc": "2.0", "method": method, "params": params}
    return said if number is None else {**said, "id": number}


def test_calls_are_posted_alone_or_together() -> None:
    async def story(net: CosmosDevnet, session: ClientSession) -> None:
        made = pay(0)
        raw = base64.b64encode(made.raw).decode()
        _, said = await post(session, net.url, call("broadcast_tx_sync", tx=raw))
        assert said["result"]["hash"] == made.hash.hex().upper()
        net.produce()
        hashes = [base64.b64encode(made.hash).decode()]
        many = [call("tx_status_batch", hashes=hashes), call("health", 2), call("health", None)]
        _, said = await post(session, net.url, many)
        (status,) = said[0]["result"]["statuses"]
        assert (status["result"]["status"], status["result"]["height"]) == ("COMMITTED", "2")
        assert said[1:] == [{"jsonrpc": "2.0", "id": 2, "result": {}}]
        assert await post(session, net.url, call("health", None)) == (204, None)

    tell(story)


def test_a_call_may_be_a_uri() -> None:
    async def story(net: CosmosDevnet, session: ClientSession) -> None:
        status, said = await get(session, f"{net.url}/status")
        assert (status, said["id"]) == (200, -1)
        assert said["result"]["node_info"]["network"] == net.chain_id
        status, said = await get(session, f"{net.url}/tx_status?hash=0x00")
        assert (status, said["error"]["code"]) == (500, -32603)
        assert (await get(session, f"{net.url}/nothing"))[0] == 404
        async with session.get(net.url) as response:
            assert "/tx_status_batch?hashes" in await response.text()

    tell(story)


def test_rest_stands_beside_it() -> None:
    async def story(net: CosmosDevnet, session: ClientSession) -> None:
        base, own = f"{net.url}/cosmos", address(A)
        made = pay(0)
        body = {"tx_bytes": base64.b64encode(made.raw).decode()}
        status, said = await post(session, f"{base}/tx/v1beta1/simulate", body)
        assert (status, said["gas_info"]["gas_wanted"]) == (200, "100000")
        _, said = await post(session, f"{base}/tx/v1beta1/txs", body)
        net.produce()
        place = f"{base}/tx/v1beta1/txs/{said['tx_response']['txhash']}"
        assert (await get(session, place))[1]["tx_response"]["height"] == "2"
        _, said = await get(session, f"{base}/auth/v1beta1/accounts/{own}")
        assert said["account"]["sequence"] == "1"
        _, said = await get(session, f"{base}/bank/v1beta1/balances/{own}/by_denom?denom={DENOM}")
        assert 0 < int(said["balance"]["amount"]) < RICH
        assert (await get(session, f"{base}/consensus/v1/params"))[0] == 200

    tell(story)


def test_a_node_that_is_down_is_at_its_place_again_and_has_forgotten_what_waited() -> None:
    async def story(net: CosmosDevnet, session: ClientSession) -> None:
        made = pay(0)
        first, second = net.urls
        hashes = [base64.b64encode(made.hash).decode()]

        async def standing(url: str) -> str:
            _, said = await post(session, url, call("tx_status_batch", hashes=hashes))
            return str(said["result"]["statuses"][0]["result"]["status"])

        accepted(net.chain, made)
        assert [await standing(first), await standing(second)] == ["PENDING", "PENDING"]
        await net.stop_node(0)
        with pytest.raises(ClientConnectionError):
            await standing(first)
        await net.start_node(0)
        assert net.urls == (first, second)
        assert [await standing(first), await standing(second)] == ["UNKNOWN", "PENDING"]

    tell(story, nodes=(MempoolRules(), MempoolRules()))


def test_blocks_come_by_the_clock_each_younger_than_the_last() -> None:
    async def story(net: CosmosDevnet, _session: ClientSession) -> None:
        while net.chain.height < 4:
            await asyncio.sleep(0.005)
        made = [block.made_ms for block in net.chain.blocks[1:]]
        assert made == sorted(made)
        assert made[0] > 10**12

    tell(story, block_ms=5)


def test_a_place_that_is_taken_is_said_so() -> None:
    async def story(net: CosmosDevnet, _session: ClientSession) -> None:
        port = int(net.url.rpartition(":")[2])
        with pytest.raises(OSError, match="in use"):
            await CosmosDevnet(port=port).start()

    tell(story)


def test_the_known_accounts_have_what_they_need() -> None:
    net = CosmosDevnet(block_ms=None)
    for account in net.accounts:
        found = net.chain.account(account.raw)
        assert found is not None
        assert found.balance > 0
        assert account.address(PREFIX).startswith(f"{PREFIX}1")
