"""Probes and metrics: whether the process is alive, whether traffic may come, its numbers."""

from aiohttp import web

from laneway.core.errors import StoreBusy
from laneway.server.answers import SERVER, refuse_error, reply
from laneway.server.call import Call
from laneway.server.route import GoodAnswer, get, one
from laneway.wire.values import Check, Liveness, Readiness

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


async def livez(_call: Call) -> web.Response:
    """The process answers. It says nothing of store or chain: a restart would fix neither."""
    return reply(Liveness())


async def healthz(_call: Call) -> web.Response:
    """The same as /livez."""
    return reply(Liveness())


async def readyz(call: Call) -> web.Response:
    """Whether traffic may come; what is wrong is named, with `?verbose` and without."""
    checks = list(await call.desk.checks())
    if call.desk.draining:
        checks.append(Check("draining", False, "this process is about to end"))
    ready = all(check.ok for check in checks)
    return reply(Readiness(ready, checks), 200 if ready else 503)


async def metrics(call: Call) -> web.Response:
    """The numbers, in Prometheus' text form."""
    body = await call.desk.measure()
    return web.Response(body=body, headers={"Content-Type": METRICS_TYPE, "Server": SERVER})


ALIVE = {200: GoodAnswer("It answers.", Liveness)}

ROUTES = (
    get("/livez", livez, "Alive?", ALIVE, None),
    get("/healthz", healthz, "Alive?", ALIVE, None),
    get(
        "/readyz",
        readyz,
        "Ready for traffic?",
        {200: GoodAnswer("Ready.", Readiness), 503: GoodAnswer("Not ready, and why.", Readiness)},
        None,
    ),
    get(
        "/metrics",
        metrics,
        "Prometheus metrics",
        one("All series.", str, "text/plain"),
        "metrics:read",
    ),
)


class WaitingDoor:
    """The door while the store cannot be reached: the process is alive, and not ready.

    It answers 503 to everything but the question whether the process lives, and knows no desk.
    """

    def __init__(self) -> None:
        self.why = ""
        """Why the store could not be reached the last time, and when it is asked again."""
        self._runner: web.AppRunner | None = None

    async def open(self, host: str, port: int) -> None:
        """Listen, unless it does already."""
        if self._runner is None:
            app = web.Application()
            app.router.add_route("*", "/{path:.*}", self._answer)
            self._runner = web.AppRunner(app, access_log=None)
            await self._runner.setup()
            await web.TCPSite(self._runner, host, port).start()

    async def close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _answer(self, request: web.Request) -> web.Response:
        if request.path in ("/livez", "/healthz"):
            return reply(Liveness())
        if request.path == "/readyz":
            return reply(Readiness(False, [Check("store", False, self.why)]), 503)
        return refuse_error(StoreBusy(self.why))
