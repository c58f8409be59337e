"""Laws of following heads: told where there is a subscription, asked elsewhere, never stuck."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from msgspec import json
from tests.chains.evm.stage import CHAIN_ID, Node, run, served
from tests.rpc_stub import Drop, Stub

from laneway.chains.evm.endpoint import EvmEndpoint, EvmPlace
from laneway.chains.evm.heads import EvmHeads
from laneway.chains.nodes import PollPace
from laneway.core.facts import BlockRef
from laneway.wire.hex import read_octets

WAIT_S = 30.0


def ref(node: Node, number: int) -> BlockRef:
    return BlockRef(number, read_octets(node.hash(number)))


async def next_of(heads: AsyncIterator[BlockRef]) -> BlockRef:
    return await asyncio.wait_for(anext(heads), WAIT_S)


class Telling:
    """A WebSocket that tells the heads it is given."""

    def __init__(self) -> None:
        self.told: asyncio.Queue[object] = asyncio.Queue()
        self.subscribed_count = 0

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        asked = json.decode((await socket.receive()).data)
        assert asked["params"] == ["newHeads"]
        self.subscribed_count += 1
        await socket.send_str('{"jsonrpc":"2.0","id":1,"result":"0x1"}')
        while (said := await self.told.get()) is not None:
            notice = {"subscription": "0x1", "result": said}
            told = {"jsonrpc": "2.0", "method": "eth_subscription", "params": notice}
            await socket.send_str(json.encode(told).decode())
        await socket.close()
        return socket

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_get("/", self.serve)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            yield f"ws://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            self.told.put_nowait(None)
            await runner.cleanup()


def test_nodes_without_a_subscription_are_polled() -> None:
    async def story() -> None:
        node = Node(10)
        async with served([node], poll_ms=5) as (chain, _):
            heads = chain.heads()
            assert await next_of(heads) == ref(node, 10)
            node.head = 11
            assert await next_of(heads) == ref(node, 11)
            node.branches = {11: 1}
            assert await next_of(heads) == ref(node, 11), "a reorganisation is news"
            node.said["eth_getBlockByNumber"] = Drop()
            await asyncio.sleep(0.05)
            del node.said["eth_getBlockByNumber"]
            node.head = 12
            assert await next_of(heads) == ref(node, 12)
            await heads.aclose()  # type: ignore[attr-defined]

    run(story)


def test_a_subscription_tells_and_its_end_is_followed_by_polling() -> None:
    async def story() -> None:
        node, telling = Node(10), Telling()
        async with Stub(node) as stub, telling.listening() as ws_url:
            endpoint = EvmEndpoint(EvmPlace(stub.url, ws_url=ws_url), CHAIN_ID)
            heads = EvmHeads([endpoint], PollPace(poll_ms=5, resubscribe_ms=20)).follow()
            assert await next_of(heads) == ref(node, 10)
            telling.told.put_nowait(node.block(9) or {})
            assert await next_of(heads) == ref(node, 9), "the chain was set back"
            node.head = 13
            telling.told.put_nowait(None)
            assert await next_of(heads) == ref(node, 13)
            while telling.subscribed_count < 2:
                await asyncio.sleep(0.005)
            node.head = 14
            telling.told.put_nowait(node.block(14))
            assert await next_of(heads) == ref(node, 14)
            await heads.aclose()  # type: ignore[attr-defined]
            await endpoint.client.close()

    run(story)


def test_a_silent_subscription_is_given_up() -> None:
    async def story() -> None:
        node, telling = Node(10), Telling()
        async with Stub(node) as stub, telling.listening() as ws_url:
            endpoint = EvmEndpoint(EvmPlace(stub.url, ws_url=ws_url), CHAIN_ID)
            heads = EvmHeads(
                [endpoint], PollPace(poll_ms=5, silence_ms=30, resubscribe_ms=20)
            ).follow()
            await next_of(heads)
            node.head = 11
            assert await next_of(heads) == ref(node, 11)
            await heads.aclose()  # type: ignore[attr-defined]
            await endpoint.client.close()

    run(story)


def test_nonsense_in_a_subscription_is_followed_by_polling() -> None:
    async def story() -> None:
        node, telling = Node(10), Telling()
        async with Stub(node) as stub, telling.listening() as ws_url:
            endpoint = EvmEndpoint(EvmPlace(stub.url, ws_url=ws_url), CHAIN_ID)
            heads = EvmHeads([endpoint], PollPace(poll_ms=5)).follow()
            await next_of(heads)
            telling.told.put_nowait({"number": "x", "hash": "y"})
            node.head = 11
            assert await next_of(heads) == ref(node, 11)
            await heads.aclose()  # type: ignore[attr-defined]
            await endpoint.client.close()

    run(story)


def test_the_node_that_is_ahead_is_followed() -> None:
    async def story() -> None:
        one, two = (
            EvmEndpoint(EvmPlace("http://127.0.0.1:1", name=name), CHAIN_ID) for name in "ab"
        )
        heads = EvmHeads([one, two], PollPace())
        follow = heads.follow()
        node = Node(20)
        first = asyncio.create_task(next_of(follow))
        await asyncio.sleep(0)
        heads.saw(one, ref(node, 10))
        assert await first == ref(node, 10)
        heads.saw(two, ref(node, 9))
        heads.saw(two, ref(node, 11))
        assert await next_of(follow) == ref(node, 11)
        heads.saw(one, ref(node, 11))
        heads.saw(one, ref(node, 12))
        assert await next_of(follow) == ref(node, 12)
        await follow.aclose()  # type: ignore[attr-defined]
        for endpoint in (one, two):
            await endpoint.client.close()

    run(story)
