"""A receiver of webhooks on loopback: it remembers what came, and answers as a test says."""

import asyncio
import base64
import hashlib
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import web
from tests.waits import within

SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Receiver:
    def __init__(self) -> None:
        self.heard: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int | Answer] = []
        """For the next requests, in turn; then 200."""
        self.came = asyncio.Event()
        self.url = ""

    async def serve(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.heard.append(({k.lower(): v for k, v in request.headers.items()}, body))
        self.came.set()
        answer = self.answers.pop(0) if self.answers else 200
        if isinstance(answer, int):
            return web.Response(status=answer, text=f"status {answer}")
        return await answer(request)

    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in self.heard]

    def bodies(self) -> list[dict[str, Any]]:
        return [msgspec.json.decode(body) for _, body in self.heard]

    def types(self) -> list[str]:
        return [body["type"] for body in self.bodies()]

    async def until(self, count: int, *, distinct: bool = False, timeout_s: float = 20.0) -> None:
        """So many came, or so many different ones: after a crash some come twice."""
        async with within(timeout_s, f"{count} messages"):
            while len(set(self.ids()) if distinct else self.heard) < count:
                self.came.clear()
                await self.came.wait()


def verified(headers: dict[str, str], body: bytes, secret: str = SECRET) -> bool:
    """As a receiver does it, by the text of Standard Webhooks."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    return expected in headers["webhook-signature"].split(" ")


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", receiver.serve)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    try:
        yield receiver
    finally:
        await runner.cleanup()
