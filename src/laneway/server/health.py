"""What orchestrators and collectors ask: is it alive, may traffic come, what are the numbers."""

from aiohttp import web

from laneway.server.answers import SERVER, reply
from laneway.server.call import Call
from laneway.server.route import Route, Told
from laneway.wire.values import Check, Liveness, Readiness

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


async def livez(_call: Call) -> web.Response:
    """The process answers. It says nothing of store or chain: a restart would mend neither."""
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


ALIVE = {200: Told("It answers.", Liveness)}

ROUTES = (
    Route(method="GET", path="/livez", act=livez, summary="Alive?", scope=None, told=ALIVE),
    Route(method="GET", path="/healthz", act=healthz, summary="Alive?", scope=None, told=ALIVE),
    Route(
        method="GET",
        path="/readyz",
        act=readyz,
        summary="Ready for traffic?",
        scope=None,
        told={200: Told("Ready.", Readiness), 503: Told("Not ready, and why.", Readiness)},
    ),
    Route(
        method="GET",
        path="/metrics",
        act=metrics,
        summary="Prometheus metrics",
        scope="metrics:read",
        told={200: Told("All series.", str, content_type="text/plain")},
    ),
)
