"""A node of the Cosmos devnet on a loopback socket: CometBFT's RPC, posted or as a URI, and the
SDK's REST gateway on the same port."""

from aiohttp import web
from msgspec import json

from laneway.devnets.cosmos.model.chain import CosmosModel
from laneway.devnets.cosmos.node import rest
from laneway.devnets.cosmos.node.comet import METHODS
from laneway.devnets.cosmos.node.rpc import CometCaller, CometRpc
from laneway.devnets.node.socket import NodeSocket
from laneway.wire.rpc_server.methods import Json
from laneway.wire.rpc_server.server import JSON, RpcServer


class CosmosSocket(NodeSocket[CometCaller]):
    """While its node is down nobody is let in."""

    def __init__(self, chain: CosmosModel, node: int = 0, *, port: int = 0) -> None:
        self._comet = CometRpc()
        super().__init__(self._comet, CometCaller, chain, node, port=port)
        self._chain = chain

    def add_routes(self, app: web.Application, server: RpcServer[CometCaller]) -> None:
        router = app.router
        router.add_post("/", server.post)
        router.add_get("/", self._list)
        router.add_get("/cosmos/auth/v1beta1/accounts/{address}", self._account)
        router.add_get("/cosmos/bank/v1beta1/balances/{address}/by_denom", self._balance)
        router.add_get("/cosmos/consensus/v1/params", self._params)
        router.add_post("/cosmos/tx/v1beta1/txs", self._broadcast)
        router.add_post("/cosmos/tx/v1beta1/simulate", self._simulate)
        router.add_get("/cosmos/tx/v1beta1/txs/{hash}", self._transaction)
        router.add_get("/{method}", self._uri)

    async def _list(self, _request: web.Request) -> web.Response:
        lines = [f"/{name}?{'&'.join(names)}" for name, (_, names) in METHODS.items()]
        return web.Response(text="\n".join(lines) + "\n")

    async def _uri(self, request: web.Request) -> web.Response:
        method, query = request.match_info["method"], request.rel_url.raw_query_string
        return answer(*self._comet.answer_uri(CometCaller(self._chain, self._node), method, query))

    async def _account(self, request: web.Request) -> web.Response:
        return answer(*rest.account(self._chain, request.match_info["address"]))

    async def _balance(self, request: web.Request) -> web.Response:
        denom = request.query.get("denom", "")
        return answer(*rest.balance(self._chain, request.match_info["address"], denom))

    async def _params(self, _request: web.Request) -> web.Response:
        return answer(*rest.consensus_params())

    async def _broadcast(self, request: web.Request) -> web.Response:
        return answer(*rest.broadcast(self._chain, self._node, await request.read()))

    async def _simulate(self, request: web.Request) -> web.Response:
        return answer(*rest.simulate(self._chain, self._node, await request.read()))

    async def _transaction(self, request: web.Request) -> web.Response:
        return answer(*rest.transaction(self._chain, request.match_info["hash"]))


def answer(status: int, content: Json) -> web.Response:
    return web.Response(status=status, body=json.encode(content), content_type=JSON)
