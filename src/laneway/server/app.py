"""The server: one route table, one way in for every request, listeners with bounds."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Self

from aiohttp import web
from msgspec import Struct

from laneway.core.errors import Draining, LanewayError
from laneway.server import (
    audit,
    docs,
    events,
    health,
    lanes,
    rollup,
    seed,
    transactions,
    webhooks,
)
from laneway.server.access import Access, Key
from laneway.server.answers import Refused, refuse, refuse_error, reply
from laneway.server.call import Call, Counts
from laneway.server.connection import Gate
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
from laneway.server.route import Route, Told
from laneway.version import __version__
from laneway.wire.problem import Problem, problem


class Bounds(Struct, frozen=True, kw_only=True):
    """The bounds an operator may set."""

    body_bytes_max: int = BODY_BYTES_MAX
    tx_body_bytes_max: int = 0
    """Of a transaction's body where it may be larger; 0: like all others."""
    connections_max: int = CONNECTIONS_MAX
    request_s_max: float = REQUEST_S


async def docs_page(_call: Call) -> web.Response:
    """The OpenAPI document for people: one page that needs nothing but itself."""
    return web.Response(body=PAGE, headers=docs.HEADERS)


async def openapi(_call: Call) -> web.Response:
    """This document."""
    return reply(DOCUMENT)


ROUTES: tuple[Route, ...] = (
    *transactions.ROUTES,
    *lanes.ROUTES,
    *rollup.ROUTES,
    *audit.ROUTES,
    *webhooks.ROUTES,
    *events.ROUTES,
    *health.ROUTES,
    *seed.ROUTES,
    Route(
        method="GET",
        path="/openapi.json",
        act=openapi,
        summary="The OpenAPI document",
        scope=None,
        told={200: Told("OpenAPI 3.1.", dict)},
    ),
    Route(
        method="GET",
        path="/docs",
        act=docs_page,
        summary="The OpenAPI document, for people",
        scope=None,
        told={200: Told("A page.", str, content_type="text/html")},
    ),
)

DOCUMENT = document(ROUTES, __version__)
PAGE = docs.page(DOCUMENT)


class Server:
    """Serves a desk on one or more addresses, until it is closed."""

    def __init__(
        self, desk: Desk, *, keys: Sequence[Key] = (), bounds: Bounds | None = None
    ) -> None:
        self.urls: list[str] = []
        """Where it listens."""
        self.counts = Counts()
        self._desk = desk
        self._access = Access(keys)
        self._bounds = bounds or Bounds()
        self._runner: web.AppRunner | None = None
        self._gate: Gate | None = None
        self._listening: list[asyncio.Server] = []

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=self._bounds.body_bytes_max, middlewares=[translated])
        for route in ROUTES:
            app.router.add_route(route.method, route.pattern(), self._serve(route))
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_S)
        await self._runner.setup()
        assert self._runner.server is not None
        self._gate = Gate(self._runner.server, self._bounds.connections_max)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
            except Refused as refused:
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
        told = problem(405, "method_not_allowed", f"{request.path} takes {allowed}")
        return refuse(told, {"Allow": allowed})
    except web.HTTPNotFound:
        return refuse(problem(404, "no_such_path", f"there is nothing at {request.path}"))
