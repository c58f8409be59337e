"""One WebSocket connection that carries JSON-RPC calls and subscriptions, until it ends.

An answer finds its call by its id, whenever it comes; a subscription is left whatever becomes of
the caller who asked for it, also when its number arrives afterwards. Nothing here connects, waits
for a caller or tries again: that is `rpc_socket`'s.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Final

from aiohttp import ClientError, ClientWebSocketResponse, WSMsgType
from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType, field, json

from laneway.core.errors import ChainError, ChainUnreachable, ChainUnreadable
from laneway.core.nesting import bounded
from laneway.wire.jsonrpc import (
    CallWithheld,
    RpcAnswer,
    RpcAnswerLost,
    RpcError,
    WritePermit,
)
from laneway.wire.limits import (
    REASON_CHARS_MAX,
    SOCKET_ABANDONED_MAX,
    SOCKET_BRACKETS_MAX,
    SOCKET_LEAVE_S,
    SOCKET_NOTICES_MAX,
)

NULL: Final = b"null"


class Received(Struct):
    """One message: an answer has an id, a notice has a method."""

    id: int | str | None = None
    result: Raw | UnsetType = UNSET
    error: Raw = Raw(NULL)
    method: str = ""
    params: Raw | UnsetType = UNSET


class NoticeShape(Struct):
    """JIP-2 says `subscription`, a number; typeberry's node says `subscriptionId`, a string."""

    subscription: int | str = ""
    subscription_id: int | str = field(name="subscriptionId", default="")
    result: Raw | UnsetType = UNSET
    error: Raw = Raw(NULL)

    def key(self) -> str:
        return str(self.subscription_id if self.subscription == "" else self.subscription)


RECEIVED = json.Decoder(Received)
NOTICE = json.Decoder(NoticeShape)
NUMBER = json.Decoder(int | str)


def read_error(raw: Raw) -> RpcError:
    """A node's refusal, also one without a code or a message, or that is nothing but a text. No
    more of the message is kept than is shown."""
    error = json.decode(raw)
    if not isinstance(error, dict):
        return RpcError(message=str(error)[:REASON_CHARS_MAX])
    code, message = error.get("code"), error.get("message")
    return RpcError(
        code if type(code) is int else 0,
        message[:REASON_CHARS_MAX] if isinstance(message, str) else "",
        Raw(json.encode(error.get("data"))),
    )


class NodeSubscription:
    """A node's notifications until it ends. Its owner leaves it, once or more often."""

    def __init__(self, connection: "RpcConnection", leaving: str) -> None:
        self.leaving = leaving
        """The method that ends it."""
        self.number: int | str | None = None
        """None: the node has not answered yet."""
        self.passed_over_count = 0
        """Notices that gave way to newer ones before they were read."""
        self._connection = connection
        self._notices: deque[Raw] = deque()
        self._end: ChainError | None = None
        self._changed = asyncio.Event()
        self.is_left = False

    async def __aenter__(self) -> "NodeSubscription":
        return self

    async def __aexit__(self, *_: object) -> None:
        self.leave()

    async def next(self, silence_ms: int) -> Raw:
        """The next notice; AnswerLost or ChainUnreadable is how it ends, and nothing else."""
        try:
            async with asyncio.timeout(silence_ms / 1000):
                while not self._notices and self._end is None:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError as error:
            raise RpcAnswerLost(self._connection.name, "its subscription is silent") from error
        if self._notices:
            return self._notices.popleft()
        assert self._end is not None
        raise self._end

    def leave(self) -> None:
        """Let the node end it; nothing is awaited, so this works in a task that is cancelled."""
        if not self.is_left:
            self.is_left = True
            self._connection.leave(self)

    def notify(self, notice: NoticeShape) -> None:
        if bytes(notice.error) != NULL:
            text = bytes(notice.error)[:REASON_CHARS_MAX].decode(errors="replace")
            self.end(ChainUnreadable(self._connection.name, f"its subscription ended: {text}"))
            return
        if len(self._notices) == SOCKET_NOTICES_MAX:
            self._notices.popleft()
            self.passed_over_count += 1
        self._notices.append(Raw(NULL) if notice.result is UNSET else Raw(bytes(notice.result)))
        self._changed.set()

    def end(self, error: ChainError) -> None:
        self._end = self._end or error
        self._changed.set()


class Asked:
    """One call under way."""

    def __init__(self, number: int, content: str) -> None:
        self.number = number
        self.content = content
        self.answered: asyncio.Future[RpcAnswer] = asyncio.get_running_loop().create_future()
        self.is_written = False
        self.is_abandoned = False
        """Nobody waits for its answer."""
        self.permit: WritePermit | None = None
        self.opens: NodeSubscription | None = None
        self.ends: NodeSubscription | None = None
        self.patience: asyncio.TimerHandle | None = None
        """Of a call that ends a subscription: when its answer no longer matters."""


class RpcConnection:
    """One connection. `run` is its life; when it returns every call has an answer or an error."""

    def __init__(
        self, socket: ClientWebSocketResponse, name: str, freed: Callable[[], None]
    ) -> None:
        self.name = name
        self.is_open = True
        self.held_count = 0
        """Subscriptions that take a place at the node: asked for, open, or not yet ended there."""
        self.saw_nameless = False
        """Whether the node refused something without naming the call."""
        self._socket = socket
        self._freed = freed
        self._numbers = count(1)
        self._waiting: dict[int, Asked] = {}
        self._abandoned_count = 0
        self._is_owed = False
        """Whether an answer may come to a call that was forgotten."""
        self._open: dict[str, NodeSubscription] = {}
        self._early: deque[NoticeShape] = deque(maxlen=SOCKET_NOTICES_MAX)
        """Notices that came before the answer with the number of their subscription."""
        self._outbox: deque[Asked] = deque()
        self._has_mail = asyncio.Event()
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self._life: asyncio.Task[None] | None = None

    @property
    def under_way_count(self) -> int:
        return len(self._waiting)

    def begin(self) -> None:
        self._life = asyncio.create_task(self._run())

    def ask(
        self,
        method: str,
        params: object,
        opens: NodeSubscription | None = None,
        permit: WritePermit | None = None,
    ) -> Asked:
        """Hand a call to the connection; its future is answered in any case."""
        number = next(self._numbers)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        asked = Asked(number, json.encode(message).decode())
        asked.permit = permit
        if not self.is_open:
            asked.answered.set_exception(ChainUnreachable(self.name, "the connection has ended"))
            return asked
        if opens is not None:
            asked.opens = opens
            self.held_count += 1
        self._waiting[number] = asked
        self._outbox.append(asked)
        self._is_idle.clear()
        self._has_mail.set()
        return asked

    def let_go(self, asked: Asked) -> None:
        """The one who asked waits no longer, whether there is an answer or not."""
        # A caller that is cancelled while it waits cancels what it waits for.
        if not asked.answered.done() or asked.answered.cancelled():
            asked.is_abandoned = True
            if not self.is_open or asked.number not in self._waiting:
                return
            if not asked.is_written:
                self._outbox.remove(asked)
                self._forget(asked)
                self.held_count -= asked.opens is not None
                return
            self._abandoned_count += 1
            if self._abandoned_count > SOCKET_ABANDONED_MAX:
                self.end(RpcAnswerLost(self.name, f"it owes {SOCKET_ABANDONED_MAX} answers"))
        else:
            asked.answered.exception()  # It was looked at, so nobody warns of it.
            if asked.opens is not None and asked.opens.number is not None:
                asked.opens.leave()

    def leave(self, subscription: NodeSubscription) -> None:
        number = subscription.number
        if not self.is_open or number is None:
            return  # Its end, or its number when that comes, is all that is left to do.
        if self._open.get(str(number)) is subscription:
            # A node may give one number twice, and then the later one has it.
            del self._open[str(number)]
        asked = self.ask(subscription.leaving, [number])
        asked.is_abandoned = True
        asked.ends = subscription
        loop = asyncio.get_running_loop()
        asked.patience = loop.call_later(SOCKET_LEAVE_S, self._give_up, asked)

    def end(self, error: ChainError) -> None:
        """Give every call and subscription its end. Of what was not written nothing has left."""
        if not self.is_open:
            return
        self.is_open = False
        for asked in self._waiting.values():
            if asked.patience is not None:
                asked.patience.cancel()
            if not asked.answered.done():
                unsent = ChainUnreachable(self.name, "the connection ended before")
                asked.answered.set_exception(error if asked.is_written else unsent)
                if asked.is_abandoned:
                    asked.answered.exception()
        for subscription in self._open.values():
            subscription.end(error)
        self._waiting.clear()
        self._open.clear()
        self._outbox.clear()
        self.held_count = 0
        self._is_idle.set()
        self._freed()
        if self._life is not None and self._life is not asyncio.current_task():
            self._life.cancel()

    async def close(self, farewell_s: float) -> None:
        """Leave all subscriptions, then end."""
        for subscription in list(self._open.values()):
            subscription.leave()
        try:
            async with asyncio.timeout(farewell_s):
                await self._is_idle.wait()
        except TimeoutError:
            pass
        self.end(RpcAnswerLost(self.name, "this client was closed"))
        if self._life is not None:
            await asyncio.wait([self._life])
        await self._socket.close()  # One whose life was over before it began is open still.

    async def _run(self) -> None:
        writing = asyncio.create_task(self._write())
        problem: ChainError = RpcAnswerLost(self.name, "the connection was closed")
        try:
            async with self._socket:
                async for message in self._socket:
                    if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                        break
                    self._receive(message.data)
                    if not self.is_open:
                        break  # This message was the end.
        except (DecodeError, UnicodeDecodeError) as error:
            problem = ChainUnreadable(self.name, f"no JSON-RPC: {error}")
        except (ClientError, OSError) as error:
            problem = RpcAnswerLost(self.name, f"cut off ({type(error).__name__})")
        finally:
            writing.cancel()
            self.end(problem)
            await asyncio.wait([writing])

    async def _write(self) -> None:
        while True:
            await self._has_mail.wait()
            self._has_mail.clear()
            while self._outbox:
                asked = self._outbox.popleft()
                # What was written before may have taken long, so this is not asked any earlier.
                reason = asked.permit() if asked.permit is not None else ""
                if reason:
                    self._withhold(asked, reason)
                    continue
                asked.is_written = True
                try:
                    await self._socket.send_str(asked.content)
                except (ClientError, OSError) as error:
                    self.end(RpcAnswerLost(self.name, f"cut off ({type(error).__name__})"))
                    return
            self._is_idle.set()

    def _receive(self, data: str | bytes) -> None:
        raw = data.encode() if isinstance(data, str) else data
        message = RECEIVED.decode(bounded(raw, SOCKET_BRACKETS_MAX))
        if message.method:
            self._receive_notice(message)
            return
        is_no = bytes(message.error) != NULL
        if message.id is None:
            if is_no:
                self._receive_nameless(read_error(message.error))
            return
        asked = self._waiting.get(message.id) if isinstance(message.id, int) else None
        if asked is None or not asked.is_written:
            return  # Nobody waits for it, or it answers what was not asked yet.
        if is_no:
            self._settle(asked, read_error(message.error))
        elif message.result is not UNSET:
            self._settle(asked, Raw(bytes(message.result)))

    def _receive_nameless(self, error: RpcError) -> None:
        """JavaJAM says no without an id: believed only where one call is under way, for a refusal
        that is taken for another call's could be believed of a package that was taken."""
        self.saw_nameless = True
        if len(self._waiting) == 1 and not self._is_owed:
            (asked,) = self._waiting.values()
            if asked.is_written and not asked.is_abandoned:
                self._settle(asked, error)
                return
        text = f"{error.code} {error.message}"[:REASON_CHARS_MAX]
        self.end(RpcAnswerLost(self.name, f"an error that names no call: {text}"))

    def _receive_notice(self, message: Received) -> None:
        if message.params is UNSET:
            return
        try:
            notice = NOTICE.decode(message.params)
        except DecodeError:
            return  # It is about no subscription that was asked for.
        subscription = self._open.get(notice.key())
        if subscription is not None:
            subscription.notify(notice)
        elif any(asked.opens is not None for asked in self._waiting.values()):
            self._early.append(notice)

    def _give_up(self, asked: Asked) -> None:
        """A subscription's end that is not answered."""
        self._is_owed = True
        self._settle(asked, RpcError(message="no answer"))

    def _withhold(self, asked: Asked, reason: str) -> None:
        self._forget(asked)
        if not asked.answered.done():
            asked.answered.set_exception(CallWithheld(self.name, reason))

    def _settle(self, asked: Asked, answer: RpcAnswer) -> None:
        self._forget(asked)
        self._abandoned_count -= asked.is_abandoned and asked.ends is None
        if asked.ends is not None:
            self.held_count -= 1
            return
        if asked.opens is not None:
            if isinstance(answer, RpcError) or not self._opened(asked.opens, answer):
                self.held_count -= 1
            elif asked.is_abandoned or asked.opens.is_left:
                self.leave(asked.opens)
        if not asked.answered.done():
            asked.answered.set_result(answer)

    def _opened(self, subscription: NodeSubscription, answer: Raw) -> bool:
        """Take note of its number; notices of it that came before are passed on now."""
        try:
            number = NUMBER.decode(answer)
        except DecodeError:
            return False
        subscription.number = number
        self._open[str(number)] = subscription
        for notice in self._early:
            if notice.key() == str(number):
                subscription.notify(notice)
        if not any(asked.opens is not None for asked in self._waiting.values()):
            self._early.clear()
        return True

    def _forget(self, asked: Asked) -> None:
        del self._waiting[asked.number]
        if asked.patience is not None:
            asked.patience.cancel()
        self._freed()
