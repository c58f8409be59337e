"""The fault proxy's WebSockets: calls and notices, each struck by the same rules as over HTTP.

A notice goes by the method `eth_subscription`. Those of a node that lags come that much later.
"""

import asyncio
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from aiohttp import ClientError, ClientSession, ClientWebSocketResponse, WSMsgType, web
from msgspec import DecodeError, json

from laneway.core.nesting import bounded
from laneway.devnets.chaos.limits import BODY_BYTES_MAX
from laneway.devnets.chaos.rules import INVENTED_FAULTS, ProxyFault, Rule

if TYPE_CHECKING:
    from laneway.devnets.chaos.proxy import ChaosProxy

NOTICE = "eth_subscription"


class Sockets:
    def __init__(self, chaos: "ChaosProxy", session: ClientSession, upstream: str) -> None:
        self._chaos = chaos
        self._session = session
        self._upstream = upstream.replace("http", "ws", 1)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        here = web.WebSocketResponse(max_msg_size=BODY_BYTES_MAX)
        if not here.can_prepare(request).ok:
            return web.Response(status=405, text="JSON-RPC is posted")
        await here.prepare(request)
        try:
            there = await self._session.ws_connect(self._upstream, max_msg_size=BODY_BYTES_MAX)
        except (ClientError, OSError, TimeoutError):
            await here.close()
            return here
        async with there:
            tasks = [
                asyncio.create_task(self._pass_calls(here, there)),
                asyncio.create_task(self._pass_answers(there, here)),
            ]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        await here.close()
        return here

    async def _pass_calls(
        self, here: web.WebSocketResponse, there: ClientWebSocketResponse
    ) -> None:
        with suppress(ClientError, OSError):
            async for message in here:
                if message.type is not WSMsgType.TEXT:
                    return
                call = decoded(message.data)
                rule = self._chaos.dice.strike(str(call.get("method")))
                if not await self._pass_call(call, rule, message.data, here, there):
                    return

    async def _pass_call(
        self,
        call: dict[str, Any],
        rule: Rule | None,
        text: str,
        here: web.WebSocketResponse,
        there: ClientWebSocketResponse,
    ) -> bool:
        """Whether the connection stays."""
        fault = None if rule is None else rule.fault
        if rule is not None and fault in (*INVENTED_FAULTS, ProxyFault.LAG):
            (answer,) = await self._chaos.answer([(call, rule)])
            await here.send_str(json.encode(answer).decode())
            return True
        if rule is not None and fault is ProxyFault.DELAY:
            await asyncio.sleep(rule.ms / 1000)
        if fault in (ProxyFault.HANG, ProxyFault.HANG_ANSWER):
            # Over a socket nobody else's answer waits for this one, so both are silence.
            if fault is ProxyFault.HANG_ANSWER:
                await self._chaos.answer([(call, None)])
            return True
        if fault not in (ProxyFault.LOSE_REQUEST, ProxyFault.STATUS):
            self._chaos.passed.append(str(call.get("method")))
            for _ in range(2 if fault is ProxyFault.DUPLICATE else 1):
                await there.send_str(text)
        return fault not in (ProxyFault.LOSE_REQUEST, ProxyFault.LOSE_ANSWER, ProxyFault.STATUS)

    async def _pass_answers(
        self, there: ClientWebSocketResponse, here: web.WebSocketResponse
    ) -> None:
        held: deque[str] = deque()
        with suppress(ClientError, OSError):
            async for message in there:
                if message.type is not WSMsgType.TEXT:
                    return
                is_notice = decoded(message.data).get("method") == NOTICE
                rule = self._chaos.dice.strike(NOTICE) if is_notice else None
                if rule is None:
                    await here.send_str(message.data)
                    continue
                match rule.fault:
                    case ProxyFault.LAG:
                        held.append(message.data)
                        if len(held) > rule.blocks:
                            await here.send_str(held.popleft())
                    case ProxyFault.DELAY:
                        await asyncio.sleep(rule.ms / 1000)
                        await here.send_str(message.data)
                    case ProxyFault.DUPLICATE:
                        await here.send_str(message.data)
                        await here.send_str(message.data)
                    case ProxyFault.LOSE_REQUEST | ProxyFault.LOSE_ANSWER | ProxyFault.STATUS:
                        return
                    case (
                        ProxyFault.HANG | ProxyFault.HANG_ANSWER | ProxyFault.ERROR | ProxyFault.LIE
                    ):
                        pass


def decoded(text: str) -> dict[str, Any]:
    try:
        message = json.decode(bounded(text.encode()))
    except DecodeError:
        return {}
    return message if isinstance(message, dict) else {}
