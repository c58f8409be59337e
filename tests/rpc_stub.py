"""A JSON-RPC node made of one Python function, for what no real node can be made to say."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from msgspec import json


class No(Exception):
    """A JSON-RPC error."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        self.error = {"code": code, "message": message, "data": data}


class Whole(Exception):
    """An HTTP answer instead of a JSON-RPC one."""

    def __init__(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.response = web.Response(
            status=status,
            body=body,
            headers={name.replace("_", "-"): text for name, text in headers.items()},
        )


class Drop(Exception):
    """The connection ends without an answer."""


Answering = Callable[[str, list[Any]], Any]


class Stub:
    """Serves `answer(method, params)`; it may return a value or an awaitable, or raise."""

    def __init__(self, answer: Answering) -> None:
        self.answer = answer
        self.heard: list[tuple[str, list[Any]]] = []
        self.bodies: list[Any] = []
        self.url = ""
        self.closing = asyncio.Event()

    async def __aenter__(self) -> "Stub":
        app = web.Application(client_max_size=64 << 20)
        app.router.add_post("/", self._serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.closing.set()
        await self._runner.cleanup()

    async def hang(self) -> None:
        await self.closing.wait()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        said = json.decode(await request.read())
        self.bodies.append(said)
        calls = said if isinstance(said, list) else [said]
        answers = []
        try:
            for call in calls:
                self.heard.append((call["method"], list(call["params"])))
                answers.append(await self._one(call))
        except Whole as whole:
            return whole.response
        except Drop:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        body = json.encode(answers if isinstance(said, list) else answers[0])
        return web.Response(body=body, content_type="application/json")

    async def _one(self, call: Any) -> dict[str, Any]:
        try:
            result = self.answer(call["method"], list(call["params"]))
            if isinstance(result, Awaitable):
                result = await result
        except No as no:
            return {"jsonrpc": "2.0", "id": call["id"], "error": no.error}
        return {"jsonrpc": "2.0", "id": call["id"], "result": result}
