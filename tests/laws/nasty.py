"""Answers that no node, signer or receiver should give, and the transports that carry them."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from random import Random
from typing import Any

from msgspec import Raw
from tests.rpc_stub import No

from laneway.wire.jsonrpc import (
    CallWithheld,
    RpcAnswer,
    RpcCall,
    RpcClient,
    RpcError,
    WritePermit,
)

DEEP: Any = "x"
for _ in range(60):
    DEEP = [DEEP]

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 1.5, -0.0, 1e308, float("nan"), float("inf")),
    *(1 << 31, 1 << 32, (1 << 40), (1 << 53) - 1, 1 << 53, (1 << 63) - 1, 1 << 63),
    *((1 << 64) - 5, (1 << 64) - 1, 1 << 64, 1 << 256, 10**400, -(1 << 63)),
    *("", " ", "abc", "0x", "0x-1", "0x1_0", "0xzz", "0X1", "-1", "+1", "1e3", "NaN"),
    *("\u00b2", "\u0663", "\u0000", "\ud7ff", "x" * 5_000, "9" * 5_000, "0x" + "f" * 64),
    *(
        hex(1 << 40),
        hex((1 << 53) - 1),
        hex(1 << 53),
        hex(1 << 64),
        "0x" + "0" * 64,
        "0x" + "f" * 999,
    ),
    *(str(1 << 40), str((1 << 53) - 1), str((1 << 63) - 1), str((1 << 64) - 5), str(1 << 64)),
    *([], {}, [[]], [None], {"": None}, DEEP, {"V1": DEEP}, ["x"] * 300),
)
BODIES = (b"", b"null", b"[]", b"{", b"\xff\xfe", b"[" * 200_000, b'{"a":' * 50_000, b"<html>")
STATUSES = (200, 200, 204, 302, 400, 404, 429, 429, 500, 502, 503, 503, 599)
RETRY_AFTERS = (
    *(None, "", "soon", "-1", "7", "1000000000", "9" * 5_000, "\u00b2", "1e400"),
    *("Mon, 01 Jan 99999999999 00:00:00 GMT", "Mon, 01 Jan 2024 00:00:00 +9999999999"),
)


class Nasty:
    """Spoils a good part of all answers, the same in every run of a seed."""

    def __init__(self, seed: int, chance: float) -> None:
        self.dice = Random(seed)
        self._chance = chance

    def strikes(self) -> bool:
        return self.dice.random() < self._chance

    def value(self, good: Any) -> Any:
        """The same with one place of it spoilt, or as it is."""
        return self._spoilt(good) if self.strikes() else good

    def _spoilt(self, good: Any) -> Any:
        dice = self.dice
        if isinstance(good, dict) and good and dice.random() < 0.85:
            key = dice.choice(list(good))
            rest = {name: one for name, one in good.items() if name != key}
            return rest if dice.random() < 0.1 else {**rest, key: self._spoilt(good[key])}
        if isinstance(good, list) and good and dice.random() < 0.85:
            place = dice.randrange(len(good))
            if dice.random() < 0.1:
                return good[:place] + good[place + 1 :] if dice.random() < 0.5 else good + good
            return [*good[:place], self._spoilt(good[place]), *good[place + 1 :]]
        return dice.choice(VALUES)

    def body(self, good: Any) -> bytes:
        if self.dice.random() < self._chance / 20:
            return self.dice.choice(BODIES)
        raw = json.dumps(self.value(good)).encode()
        return raw[: self.dice.randrange(len(raw))] if self.dice.random() < 0.01 else raw

    def status(self) -> tuple[int, str | None]:
        """An HTTP status, and a header Retry-After."""
        if self.dice.random() > self._chance / 5:
            return 200, None
        return self.dice.choice(STATUSES), self.dice.choice(RETRY_AFTERS)


Node = Callable[[str, list[Any]], Any]


def replied(node: Node, number: Any, method: str, params: list[Any]) -> dict[str, Any]:
    try:
        return {"jsonrpc": "2.0", "id": number, "result": node(method, params)}
    except No as no:
        return {"jsonrpc": "2.0", "id": number, "error": no.error}


class NastyClient(RpcClient):
    """JSON-RPC over HTTP, without the network: what came is read by the client's own code."""

    def __init__(self, name: str, node: Node, nasty: Nasty) -> None:
        super().__init__("http://127.0.0.1:1", name=name)
        self._node = node
        self._nasty = nasty

    async def _exchange(self, content: bytes, timeout_ms: int) -> tuple[int, str | None, bytes]:
        await asyncio.sleep(0)
        asked = json.loads(content)
        calls = asked if isinstance(asked, list) else [asked]
        replies = [
            replied(self._node, call["id"], call["method"], call["params"]) for call in calls
        ]
        status, retry_after = self._nasty.status()
        body = self._nasty.body(replies if isinstance(asked, list) else replies[0])
        return status, retry_after, body


class NastySocket:
    """Calls over a WebSocket, without the network."""

    held_count = 0
    subscriptions_max = 0
    losses_count = 0

    def __init__(self, node: Node, nasty: Nasty) -> None:
        self._node = node
        self._nasty = nasty

    async def ask(
        self, calls: Sequence[RpcCall], timeout_ms: int, permit: WritePermit | None = None
    ) -> list[RpcAnswer]:
        await asyncio.sleep(0)
        if permit is not None and (reason := permit()):
            raise CallWithheld("nasty", reason)
        return [self._answer(call) for call in calls]

    def _answer(self, call: RpcCall) -> RpcAnswer:
        reply = replied(self._node, 1, call.method, json.loads(json.dumps(list(call.params))))
        if "error" in reply:
            error = reply["error"]
            return RpcError(
                error["code"], error["message"], Raw(json.dumps(error["data"]).encode())
            )
        return Raw(self._nasty.body(reply["result"]))

    async def subscribe(self, *_: Any) -> RpcError:
        return RpcError(-32601, "no subscriptions")

    async def close(self) -> None: ...


class NastyResponse:
    """One answer as aiohttp gives it."""

    def __init__(self, status: int, retry_after: str | None, body: bytes) -> None:
        self.status = status
        self.headers = {} if retry_after is None else {"Retry-After": retry_after}
        self._body = body
        self.content = self

    async def __aenter__(self) -> "NastyResponse":
        return self

    async def __aexit__(self, *_: object) -> None: ...

    async def iter_any(self) -> AsyncIterator[bytes]:
        yield self._body

    async def read(self, size: int) -> bytes:
        part, self._body = self._body[:size], self._body[size:]
        return part

    def close(self) -> None: ...


class NastySession:
    """HTTP without the network: `answer(path, body)` is what a good server says."""

    def __init__(self, answer: Callable[[str, Any], Any], nasty: Nasty) -> None:
        self._answer = answer
        self._nasty = nasty

    def post(self, url: Any, *, data: bytes, **_: Any) -> NastyResponse:
        good = self._answer(str(url), json.loads(data) if data else None)
        return NastyResponse(*self._nasty.status(), self._nasty.body(good))

    async def close(self) -> None: ...
