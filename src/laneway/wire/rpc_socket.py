"""A JSON-RPC 2.0 client over one WebSocket, made again when it is needed and lost.

It says what is known of a call that failed, as the client over HTTP does: `ChainUnreachable`,
nothing left; `RpcAnswerLost`, it may have arrived; `ChainUnreadable`, what came says nothing. It
retries nothing. Calls under way and subscriptions are bounded, and every subscription is left.
"""

import asyncio
from collections.abc import Mapping, Sequence

from aiohttp import ClientError, ClientWSTimeout

from laneway.core.errors import ChainError, ChainUnreachable
from laneway.wire.jsonrpc import (
    RpcAnswer,
    RpcAnswerLost,
    RpcCall,
    RpcClient,
    RpcError,
    WritePermit,
)
from laneway.wire.limits import (
    RPC_ANSWER_BYTES_MAX,
    SOCKET_CALLS_MAX,
    SOCKET_CLOSE_S,
    SOCKET_HEARTBEAT_S,
    SOCKET_SUBSCRIPTIONS_MAX,
)
from laneway.wire.rpc_connection import Asked, NodeSubscription, RpcConnection
from laneway.wire.trouble import no_answer, trouble_of


class RpcSocket(RpcClient):
    """One node's address. The connection is opened by the first call, inside the running loop."""

    def __init__(self, url: str, *, name: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(url, name=name, headers=headers)
        self.subscriptions_max = SOCKET_SUBSCRIPTIONS_MAX
        """Lowered by a caller who learns that the node takes fewer."""
        self.connections_count = 0
        self._greeting = dict(headers or {})
        self._connection: RpcConnection | None = None
        self._connecting = asyncio.Lock()
        self._calls_max = SOCKET_CALLS_MAX
        self._freed = asyncio.Event()

    @property
    def losses_count(self) -> int:
        is_open = self._connection is not None and self._connection.is_open
        return self.connections_count - is_open

    @property
    def held_count(self) -> int:
        """Subscriptions that take a place at the node."""
        return self._connection.held_count if self._connection is not None else 0

    def has_capacity(self) -> bool:
        """Whether another subscription may be asked for."""
        return self.held_count < self.subscriptions_max

    async def ask(
        self, calls: Sequence[RpcCall], timeout_ms: int, permit: WritePermit | None = None
    ) -> list[RpcAnswer]:
        """Calls that go out together, each a message of its own; the answers in their order.
        CallWithheld if one of them may not be written any more when its turn comes."""
        asked: list[tuple[RpcConnection, Asked]] = []
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                for call in calls:
                    connection = await self._place()
                    asked.append(
                        (connection, connection.ask(call.method, call.params, permit=permit))
                    )
                return [await one.answered for _, one in asked]
        except TimeoutError as error:
            raise self._late(asked, timeout_ms) from error
        finally:
            for connection, one in asked:
                connection.let_go(one)

    async def subscribe(
        self, call: RpcCall, leaving: str, timeout_ms: int
    ) -> NodeSubscription | RpcError:
        """A subscription, which its owner leaves; or the node's no."""
        asked: list[tuple[RpcConnection, Asked]] = []
        is_handed_over = False
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                connection = await self._place()
                subscription = NodeSubscription(connection, leaving)
                asked.append((connection, connection.ask(call.method, call.params, subscription)))
                answer = await asked[0][1].answered
            if isinstance(answer, RpcError):
                return answer
            if subscription.number is None:
                text = bytes(answer)[:100].decode(errors="replace")
                return RpcError(message=f"no number of a subscription: {text}")
            is_handed_over = True
            return subscription
        except TimeoutError as error:
            raise self._late(asked, timeout_ms) from error
        finally:
            for connection, one in asked:
                if not is_handed_over:
                    connection.let_go(one)

    async def close(self) -> None:
        self._closed = True
        if self._connection is not None:
            await self._connection.close(SOCKET_CLOSE_S)
        await super().close()

    def _late(self, asked: Sequence[tuple[RpcConnection, Asked]], timeout_ms: int) -> ChainError:
        if self._calls_max == 1:
            # A no that comes late and names no call would be taken for the next one's.
            for connection, _ in asked:
                connection.end(RpcAnswerLost(self.name, "it is late, and its errors name no call"))
        problem = no_answer(timeout_ms)
        if any(one.is_written for _, one in asked):
            return RpcAnswerLost(self.name, problem)
        return ChainUnreachable(self.name, problem)

    async def _place(self) -> RpcConnection:
        """A connection on which one more call may go out."""
        while True:
            connection = await self._connected()
            if connection.saw_nameless:
                self._calls_max = 1
            if connection.under_way_count < self._calls_max:
                return connection
            self._freed.clear()
            await self._freed.wait()

    async def _connected(self) -> RpcConnection:
        if self._connection is not None and self._connection.is_open:
            return self._connection
        async with self._connecting:
            if self._connection is None or not self._connection.is_open:
                self._connection = await self._connect()
            return self._connection

    async def _connect(self) -> RpcConnection:
        if self._connection is not None and self._connection.saw_nameless:
            self._calls_max = 1
        try:
            async with asyncio.timeout(self._connect_s):
                socket = await self.session().ws_connect(
                    self._url,
                    max_msg_size=RPC_ANSWER_BYTES_MAX,
                    headers=self._greeting,
                    heartbeat=SOCKET_HEARTBEAT_S,
                    timeout=ClientWSTimeout(ws_close=SOCKET_CLOSE_S),
                )
        except (TimeoutError, ClientError, OSError) as error:
            # Their own texts may hold the whole address, so nothing is chained.
            raise ChainUnreachable(self.name, trouble_of(error, self._connect_s)) from None
        connection = RpcConnection(socket, self.name, self._freed.set)
        connection.begin()
        if self._closed:
            await connection.close(0)
            raise ChainUnreachable(self.name, "this client was closed")
        self.connections_count += 1
        return connection
