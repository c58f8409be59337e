"""The server: one route table, one way in for every request, listeners with bounds."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Self

from aiohttp import web
from msgspec import Struct

from laneway.core.errors import Draining, LanewayError
from laneway.server import docs, events, health, lanes, transactions
from laneway.server.access import AccessCheck, Key
from laneway.server.answers import RequestRefused, refuse, refuse_error, reply
from laneway.server.call import Call, Counts
from laneway.server.connection import ConnectionGate
from laneway.server.desk import Desk
from laneway.server.limits import (
    BODY_BYTES_MAX,
    CONNECTIONS_MAX,
    LISTEN_BACKLOG,
    REQUEST_S,
    SHUTDOWN_S,
    WAIT_S_MAX,
)
from laneway.server.openapi import document
from laneway.server.route import Route, get, one
from laneway.version import __version__
from laneway.wire.problem import Problem, problem


class Bounds(Struct, frozen=True, kw_only=True):
    """The bounds an operator may set."""

    body_bytes_max: int = BODY_BYTES_MAX
    tx_body_bytes_max: int = 0
    """The bound of a transaction's body where it may be larger; 0: like all others."""
    connections_max: int = CONNECTIONS_MAX
    request_s_max: float = REQUEST_S


class Site:
    """All routes of a server, and the document that describes them."""

    def __init__(self, bodies: Sequence[type[Struct]], own: Sequence[Route]) -> None:
        """`bodies` are the requests of each kind of lane, `own` the routes of the kinds."""
        self.routes: tuple[Route, ...] = (
            *transactions.routes(bodies),
            *lanes.ROUTES,
            *events.ROUTES,
            *health.ROUTES,
            *own,
            get(
                "/openapi.json",
                self.openapi,
                "The OpenAPI document",
                one("OpenAPI 3.1.", dict),
                None,
            ),
            get(
                "/docs",
                self.docs_page,
                "The OpenAPI document, for people",
                one("A page.", str, "text/html"),
                None,
            ),
        )
        self.document = document(self.routes, __version__)
        self._page = docs.page(self.document)

    async def docs_page(self, _call: Call) -> web.Response:
        """The OpenAPI document for people: one page that needs nothing but itself."""
        return web.Response(body=self._page, headers=docs.HEADERS)

    async def openapi(self, _call: Call) -> web.Response:
        """This document."""
        return reply(self.document)


class Server:
    """Serves a desk on one or more addresses, until it is closed."""

    def __init__(
        self, desk: Desk, site: Site, *, keys: Sequence[Key] = (), bounds: Bounds | None = None
    ) -> None:
        self._site = site
        self.urls: list[str] = []
        """The addresses that it listens at."""
        self.counts = Counts()
        self._desk = desk
        self._access = AccessCheck(keys)
        self._bounds = bounds or Bounds()
        self._runner: web.AppRunner | None = None
        self._gate: ConnectionGate | None = None
        self._listening: list[asyncio.Server] = []

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=self._bounds.body_bytes_max, middlewares=[translated])
        for route in self._site.routes:
            app.router.add_route(route.method, route.pattern(), self._serve(route))
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_S)
        await self._runner.setup()
        assert self._runner.server is not None
        self._gate = ConnectionGate(self._runner.server, self._bounds.connections_max)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def connections(self) -> int:
        """How many are open now."""
        return 0 if self._gate is None else self._gate.count

    async def listen(self, host: str, port: int) -> str:
        assert self._gate is not None
        loop = asyncio.get_running_loop()
        server = await loop.create_server(self._gate, host, port, backlog=LISTEN_BACKLOG)
        self._listening.append(server)
        bound = server.sockets[0].getsockname()[1]
        self.urls.append(f"http://{f'[{host}]' if ':' in host else host}:{bound}")
        return self.urls[-1]

    def deafen(self) -> None:
        """Take no new connection; those that are open go on."""
        for server in self._listening:
            server.close()
        self._listening.clear()

    async def close(self) -> None:
        """End what is under way, within bounds."""
        self.deafen()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def _serve(self, route: Route) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        large = self._bounds.tx_body_bytes_max if route.large else 0
        size_max = large if large > self._bounds.body_bytes_max else None
        deadline_s = self._bounds.request_s_max + (WAIT_S_MAX if route.waits else 0)

        async def serve(request: web.Request) -> web.StreamResponse:
            try:
                caller = self._access.caller(request, route.scope)
                if route.writes and self._desk.draining:
                    raise Draining
                call = Call(request, self._desk, caller, self.counts, size_max)
                if route.endless:
                    return await route.act(call)
                async with asyncio.timeout(deadline_s):
                    return await route.act(call)
            except RequestRefused as refused:
                return refuse(refused.problem, refused.headers)
            except LanewayError as error:
                return refuse_error(error)
            except TimeoutError:
                return refuse(too_slow(route, deadline_s))

        return serve


def too_slow(route: Route, deadline_s: float) -> Problem:
    detail = f"no answer within {deadline_s:g} s"
    if route.writes:
        # It may become durable yet: only the same key makes a second try safe.
        detail += "; nobody knows whether it was accepted: ask, or send it with the same key"
    return problem(503, "too_slow", detail, retryable=not route.writes)


@web.middleware
async def translated(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """The router's own refusals as problems."""
    try:
        return await handler(request)
    except web.HTTPMethodNotAllowed as error:
        allowed = ", ".join(sorted(error.allowed_methods))
        detail = f"{request.path} takes {allowed}"
        return refuse(problem(405, "method_not_allowed", detail), {"Allow": allowed})
    except web.HTTPNotFound:
        return refuse(problem(404, "no_such_path", f"there is nothing at {request.path}"))
