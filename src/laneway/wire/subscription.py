"""A JSON-RPC subscription over WebSocket (`eth_subscribe`): what it tells, until it ends.

It ends with an error, always: a subscription that is silent, closed or refused is told from one
that has nothing to say by the caller's bound on silence alone.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

from aiohttp import ClientError, ClientSession, ClientWebSocketResponse, ClientWSTimeout, WSMsgType
from msgspec import DecodeError, Raw, Struct, json

from laneway.core.errors import ChainUnreadable
from laneway.wire.jsonrpc import AnswerLost, RpcError
from laneway.wire.limits import MESSAGE_BYTES_MAX, RPC_CONNECT_MS
from laneway.wire.urls import scrubbed

CLOSE_S = 1.0


class Notice(Struct):
    subscription: str | int = ""
    result: Raw = Raw(b"null")


class Message(Struct):
    """An answer has an id, a notice has params."""

    id: int | None = None
    result: Raw = Raw(b"null")
    error: RpcError | None = None
    method: str = ""
    params: Notice | None = None


MESSAGES = json.Decoder(Message)


async def subscribe(
    session: ClientSession,
    url: str,
    params: Sequence[object],
    *,
    name: str,
    silence_ms: int,
    headers: Mapping[str, str] | None = None,
) -> AsyncIterator[Raw | None]:
    """Ask once, say None when it is established, and pass on every notice.

    What happened before the None was not told, and must be asked for. AnswerLost or ChainUnreadable
    is how it ends.
    """
    asked = {"jsonrpc": "2.0", "id": 1, "method": "eth_subscribe", "params": params}
    try:
        async with asyncio.timeout(RPC_CONNECT_MS / 1000):
            socket = await session.ws_connect(
                url,
                max_msg_size=MESSAGE_BYTES_MAX,
                headers=headers,
                timeout=ClientWSTimeout(ws_close=CLOSE_S),
            )
        async with socket:
            await socket.send_str(json.encode(asked).decode())
            while True:
                message = await receive(socket, name, silence_ms)
                if message.error is not None:
                    raise ChainUnreadable(name, scrubbed(message.error.message, url))
                yield None if message.params is None else message.params.result
    except TimeoutError as error:
        raise AnswerLost(name, "its subscription is silent") from error
    except (ClientError, OSError) as error:
        # Their own texts may hold the whole address, so nothing is chained.
        raise AnswerLost(name, f"its subscription ended ({type(error).__name__})") from None


async def receive(socket: ClientWebSocketResponse, name: str, silence_ms: int) -> Message:
    said = await socket.receive(timeout=silence_ms / 1000)
    if said.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
        raise AnswerLost(name, "its subscription was closed")
    try:
        return MESSAGES.decode(said.data)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ChainUnreadable(name, str(said.data)[:200]) from error
