"""The door while the store cannot be reached: the process is alive, and not ready."""

from aiohttp import web

from laneway.core.errors import StoreBusy
from laneway.server.answers import refuse_error, reply
from laneway.wire.values import Check, Liveness, Readiness

ALIVE = ("/livez", "/healthz")


class WaitingDoor:
    """Answers 503 to everything but the question whether the process lives. It knows no desk."""

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
        if request.path in ALIVE:
            return reply(Liveness())
        if request.path == "/readyz":
            return reply(Readiness(False, [Check("store", False, self.why)]), 503)
        return refuse_error(StoreBusy(self.why))
