"""The fault proxy: JSON-RPC over HTTP and WebSocket, passed on to a node, misbehaving by rule.

What a rule does not strike passes through unchanged. `GET /_chaos/rules` shows the rules and how
often each struck, `PUT` replaces them.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar, web
from msgspec import DecodeError, json, to_builtins

from laneway.core.errors import BadRequest
from laneway.core.nesting import bounded
from laneway.devnets.chaos.lag import older_answer, older_call
from laneway.devnets.chaos.limits import BODY_BYTES_MAX, HANG_MS_MAX, UPSTREAM_MS
from laneway.devnets.chaos.rules import (
    INVENTED_FAULTS,
    WHOLE_FAULTS,
    Dice,
    ProxyFault,
    Rule,
    read_rules,
)
from laneway.devnets.chaos.sockets import Sockets
from laneway.devnets.node.socket import LOOPBACK, NodeSite

RULES = "/_chaos/rules"

Call = dict[str, Any]


class Cut(Exception):
    """The connection ends here, without an answer."""


class ChaosProxy:
    """One proxy before one node."""

    def __init__(
        self,
        upstream: str,
        rules: Sequence[Rule] = (),
        *,
        seed: int = 0,
        host: str = LOOPBACK,
        port: int = 0,
    ) -> None:
        self.url = ""
        """Where it listens, once entered."""
        self.ws_url = ""
        self.dice = Dice(rules, seed)
        self.passed: list[str] = []
        """The methods that were passed on, in order; for tests."""
        self._upstream = upstream
        self._seed = seed
        self._site = NodeSite(host=host, port=port)
        self._closing = asyncio.Event()
        self._session: ClientSession | None = None

    def rule(self, *rules: Rule) -> None:
        """Misbehave by these rules from now on."""
        self.dice = Dice(rules, self._seed)

    def rules_view(self) -> list[dict[str, Any]]:
        """The rules, and how often each struck."""
        return [
            {**to_builtins(rule), "struck": count}
            for rule, count in zip(self.dice.rules, self.dice.struck, strict=True)
        ]

    async def __aenter__(self) -> "ChaosProxy":
        self._session = ClientSession(
            cookie_jar=DummyCookieJar(), timeout=ClientTimeout(total=UPSTREAM_MS / 1000)
        )
        app = web.Application(client_max_size=BODY_BYTES_MAX)
        app.router.add_get(RULES, self._show)
        app.router.add_put(RULES, self._replace)
        app.router.add_get("/{path:.*}", Sockets(self, self._session, self._upstream).serve)
        app.router.add_post("/{path:.*}", self._serve)
        await self._site.open(app)
        self.url, self.ws_url = f"http://{self._site.address}", f"ws://{self._site.address}"
        return self

    async def __aexit__(self, *_: object) -> None:
        # What hangs is let go first, or the server would wait for it.
        self._closing.set()
        await self._site.close()
        if self._session is not None:
            await self._session.close()

    async def hang(self) -> None:
        """Wait for nothing, until the proxy ends or everybody has gone."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), HANG_MS_MAX / 1000)

    async def ask(self, calls: list[Call]) -> list[Call]:
        """Pass calls on as one request; answers in the order of the calls."""
        if not calls:
            return []
        assert self._session is not None
        self.passed += [str(call.get("method")) for call in calls]
        body = json.encode(calls if len(calls) > 1 else calls[0])
        headers = {"Content-Type": "application/json"}
        async with self._session.post(self._upstream, data=body, headers=headers) as response:
            answer = json.decode(await response.read())
        listed: list[Call] = answer if isinstance(answer, list) else [answer]
        by_id = {one.get("id"): one for one in listed}
        return [by_id.get(call.get("id"), listed[0]) for call in calls]

    async def answer(self, calls: list[tuple[Call, Rule | None]]) -> list[Call]:
        """Answers of calls that no fault of the whole request strikes."""
        lags = await self._newest([rule for _, rule in calls])
        passed = [
            older_call(call, lags[id(rule)]) if id(rule) in lags else call
            for call, rule in calls
            if rule is None or rule.fault not in INVENTED_FAULTS or rule.forward
        ]
        answers = iter(await self.ask(passed))
        found: list[Call] = []
        for call, rule in calls:
            if rule is not None and rule.fault in INVENTED_FAULTS:
                found.append(invented_of(call, rule))
                if rule.forward:
                    next(answers)
            elif id(rule) in lags:
                method = str(call.get("method"))
                found.append(older_answer(method, next(answers), lags[id(rule)]))
            else:
                found.append(next(answers))
        return found

    async def _newest(self, rules: list[Rule | None]) -> dict[int, int]:
        """For each rule that lags, what it takes for the newest block."""
        lags = [rule for rule in rules if rule is not None and rule.fault is ProxyFault.LAG]
        if not lags:
            return {}
        asked = {"jsonrpc": "2.0", "id": 0, "method": "eth_blockNumber", "params": []}
        (answer,) = await self.ask([asked])
        head = int(answer["result"], 16)
        return {
            id(rule): max(0, head - rule.blocks) if rule.at is None else min(head, rule.at)
            for rule in lags
        }

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        try:
            content = json.decode(bounded(body))
        except DecodeError:
            content = {}
        calls: list[Call] = content if isinstance(content, list) else [content]
        struck = [(call, self.dice.strike(str(call.get("method")))) for call in calls]
        whole = next((r for _, r in struck if r is not None and r.fault in WHOLE_FAULTS), None)
        try:
            answers = await self._misbehave(struck, whole)
        except Cut:
            if request.transport is not None:
                request.transport.abort()
            return web.Response()
        except (ClientError, OSError, DecodeError, TimeoutError):
            return web.Response(status=502, text="the node behind this proxy did not answer")
        if isinstance(answers, web.Response):
            return answers
        encoded = json.encode(answers if isinstance(content, list) else answers[0])
        return web.Response(body=encoded, content_type="application/json")

    async def _misbehave(
        self, struck: list[tuple[Call, Rule | None]], whole: Rule | None
    ) -> list[Call] | web.Response:
        if whole is None:
            return await self.answer(struck)
        if whole.fault is ProxyFault.STATUS:
            return status_of(whole)
        if whole.fault is ProxyFault.HANG:
            await self.hang()
        if whole.fault in (ProxyFault.HANG, ProxyFault.LOSE_REQUEST):
            raise Cut
        if whole.fault is ProxyFault.DELAY:
            # It goes on also when the caller has left: late requests arrive.
            await asyncio.sleep(whole.ms / 1000)
        if whole.fault is ProxyFault.DUPLICATE:
            await self.answer(struck)
        answers = await self.answer(struck)
        if whole.fault is ProxyFault.HANG_ANSWER:
            await self.hang()
        if whole.fault in (ProxyFault.LOSE_ANSWER, ProxyFault.HANG_ANSWER):
            raise Cut
        return answers

    async def _show(self, _: web.Request) -> web.Response:
        return web.Response(body=json.encode(self.rules_view()), content_type="application/json")

    async def _replace(self, request: web.Request) -> web.Response:
        try:
            self.rule(*read_rules(await request.read()))
        except BadRequest as error:
            return web.Response(status=400, text=str(error))
        return web.Response(status=204)


def status_of(rule: Rule) -> web.Response:
    headers = {}
    if rule.retry_after_s is not None:
        headers["Retry-After"] = str(rule.retry_after_s)
    return web.Response(status=rule.status, headers=headers, text=rule.message)


def invented_of(call: Call, rule: Rule) -> Call:
    """The answer that a rule gives in the node's place."""
    answer: Call = {"error": {"code": rule.code, "message": rule.message}}
    if rule.fault is ProxyFault.LIE:
        answer = {"result": json.decode(rule.result)}
    return {"jsonrpc": "2.0", "id": call.get("id"), **answer}
