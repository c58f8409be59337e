"""A node of the Cosmos devnet on a loopback socket: CometBFT's RPC, posted or as a URI, and the
SDK's REST gateway on the same port."""

from typing import Final

from aiohttp import web
from msgspec import json

from laneway.devnets.cosmos import rest
from laneway.devnets.cosmos.calls import answer, answer_uri, status_of
from laneway.devnets.cosmos.comet import METHODS, Json
from laneway.devnets.cosmos.limits import BODY_BYTES_MAX, SHUTDOWN_S
from laneway.devnets.cosmos.model import CosmosChain

LOOPBACK: Final = "127.0.0.1"
JSON: Final = "application/json"


class CosmosSocket:
    """Serves one node of a chain; `open` says where. While its node is down nobody is let in."""

    def __init__(self, chain: CosmosChain, node: int = 0, *, port: int = 0) -> None:
        self.url = ""
        """Where it listens, once opened."""
        self._chain = chain
        self._node = node
        self._port = port
        self._runner: web.AppRunner | None = None

    async def open(self) -> None:
        app = web.Application(client_max_size=BODY_BYTES_MAX)
        router = app.router
        router.add_post("/", self._post)
        router.add_get("/", self._list)
        router.add_get("/cosmos/auth/v1beta1/accounts/{address}", self._account)
        router.add_get("/cosmos/bank/v1beta1/balances/{address}/by_denom", self._balance)
        router.add_get("/cosmos/consensus/v1/params", self._params)
        router.add_post("/cosmos/tx/v1beta1/txs", self._broadcast)
        router.add_post("/cosmos/tx/v1beta1/simulate", self._simulate)
        router.add_get("/cosmos/tx/v1beta1/txs/{hash}", self._transaction)
        router.add_get("/{method}", self._uri)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_S)
        await self._runner.setup()
        await web.TCPSite(self._runner, LOOPBACK, self._port).start()
        self._port = self._runner.addresses[0][1]
        self.url = f"http://{LOOPBACK}:{self._port}"

    async def close(self) -> None:
        """Opened again it is at the same place."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _post(self, request: web.Request) -> web.Response:
        answers = answer(self._chain, self._node, await request.read())
        return web.Response(status=204) if answers is None else said(status_of(answers), answers)

    async def _list(self, _request: web.Request) -> web.Response:
        lines = [f"/{name}?{'&'.join(names)}" for name, (_, names) in METHODS.items()]
        return web.Response(text="\n".join(lines) + "\n")

    async def _uri(self, request: web.Request) -> web.Response:
        method, words = request.match_info["method"], request.rel_url.raw_query_string
        return said(*answer_uri(self._chain, self._node, method, words))

    async def _account(self, request: web.Request) -> web.Response:
        return said(*rest.account(self._chain, request.match_info["address"]))

    async def _balance(self, request: web.Request) -> web.Response:
        denom = request.query.get("denom", "")
        return said(*rest.balance(self._chain, request.match_info["address"], denom))

    async def _params(self, _request: web.Request) -> web.Response:
        return said(*rest.consensus_params())

    async def _broadcast(self, request: web.Request) -> web.Response:
        return said(*rest.broadcast(self._chain, self._node, await request.read()))

    async def _simulate(self, request: web.Request) -> web.Response:
        return said(*rest.simulate(self._chain, self._node, await request.read()))

    async def _transaction(self, request: web.Request) -> web.Response:
        return said(*rest.transaction(self._chain, request.match_info["hash"]))


def said(status: int, content: Json | list[Json]) -> web.Response:
    return web.Response(status=status, body=json.encode(content), content_type=JSON)
