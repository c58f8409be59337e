"""A JSON-RPC 2.0 client over kept-alive HTTP connections: one request, or one bounded batch.

It says what is known of a request that failed, and nothing more: `ChainUnreachable`, nothing
left; `RpcAnswerLost`, it may have arrived; `NodeBusy`, the node asks for patience;
`ChainUnreadable`, an answer came that says nothing. It retries nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from time import time
from typing import Generic, TypeAlias, TypeVar

from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientSession,
    ClientTimeout,
    ConnectionTimeoutError,
)
from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType, json
from msgspec.structs import replace

from laneway.core.errors import ChainError, ChainUnreachable, ChainUnreadable
from laneway.core.nesting import bounded
from laneway.core.urls import scrubbed
from laneway.wire.http_session import HttpSession, read_body
from laneway.wire.limits import (
    REASON_CHARS_MAX,
    RETRY_AFTER_S_DEFAULT,
    RETRY_AFTER_S_MAX,
    RPC_ANSWER_BYTES_MAX,
    RPC_BATCH_BYTES_MAX,
    RPC_BATCH_COUNT_MAX,
    RPC_CONNECT_MS,
    RPC_CONNECTIONS_MAX,
    RPC_KEEPALIVE_S,
)
from laneway.wire.retry_after import read_retry_after
from laneway.wire.trouble import no_answer, trouble_of

Item = TypeVar("Item")


class RpcAnswerLost(ChainError):
    """The request was handed to the network, and no answer came back."""

    code = "answer_lost"

    def __init__(self, node: str, problem: str) -> None:
        self.node = node
        self.problem = problem
        super().__init__(f"{node} did not answer: {problem}")


class NodeBusy(ChainError):
    """The node, or a gateway before it, asks for fewer requests."""

    code = "node_busy"
    retry = "later"

    def __init__(self, node: str, status: int, retry_after_s: float) -> None:
        self.node = node
        self.status = status
        self.retry_after_s = retry_after_s
        super().__init__(f"{node} is busy (HTTP {status}); again in {retry_after_s:g} s")


class CallWithheld(ChainError):
    """The caller took its leave back before the call was written: nothing of it left."""

    code = "call_withheld"
    retry = "later"

    def __init__(self, node: str, reason: str) -> None:
        self.node = node
        self.reason = reason
        super().__init__(f"{node} was not asked: {reason}")


WritePermit: TypeAlias = Callable[[], str]
"""Returns why a call must not be written now; empty if it may. It is asked right before."""


class RpcCall(Struct, frozen=True):
    method: str
    params: Sequence[object] = ()


class RpcError(Struct, frozen=True):
    """A node's refusal, in its own phrase."""

    code: int = 0
    message: str = ""
    data: Raw = Raw(b"null")


RpcAnswer: TypeAlias = Raw | RpcError
"""A result as it came, to be read by a caller who knows its shape; or the node's refusal."""


Result = TypeVar("Result")


class Reply(Struct, Generic[Result]):
    id: int | str | None = None
    result: Result | UnsetType = UNSET
    error: RpcError | None = None

    def has_answer(self) -> bool:
        return self.error is not None or self.result is not UNSET

    def answer(self) -> Result | RpcError:
        if self.error is not None:
            return self.error
        assert self.result is not UNSET
        return self.result


Replies: TypeAlias = json.Decoder[list[Reply[Result]] | Reply[Result]]
"""Reads one reply or a batch of them, the results in a shape that is known before."""

ONE_OR_MANY: Replies[Raw] = json.Decoder(list[Reply[Raw]] | Reply[Raw])


class RpcClient:
    """One node's address. Its session is opened by the first call, inside the running loop.

    Errors name the node, never its address: addresses of hosted nodes hold their keys.
    """

    def __init__(self, url: str, *, name: str, headers: Mapping[str, str] | None = None) -> None:
        self.name = name
        self._url = url
        self._headers = {"Content-Type": "application/json", **(headers or {})}
        self._connect_s = RPC_CONNECT_MS / 1000
        self._session = HttpSession(RPC_CONNECTIONS_MAX, RPC_KEEPALIVE_S)
        self._closed = False
        self._id_next = 1
        self._losses_count = 0

    @property
    def losses_count(self) -> int:
        """Connections that the other side ended, as far as that is seen: another node may be at
        the same address since."""
        return self._losses_count

    async def ask(self, calls: Sequence[RpcCall], timeout_ms: int) -> list[RpcAnswer]:
        """One request; the answers in the order of the calls, whatever order they came in."""
        assert 0 < len(calls) <= RPC_BATCH_COUNT_MAX
        first = self._id_next
        self._id_next += len(calls)
        asked = [
            {"jsonrpc": "2.0", "id": first + place, "method": call.method, "params": call.params}
            for place, call in enumerate(calls)
        ]
        # A single call is no batch: some gateways take none.
        content = json.encode(asked if len(asked) > 1 else asked[0])
        replies = await self._post(content, timeout_ms, ONE_OR_MANY)
        return self._match(first, len(calls), replies)

    async def ask_each(
        self, method: str, params: Sequence[str], timeout_ms: int, replies: Replies[Result]
    ) -> list[Result | RpcError]:
        """One method, asked with each of these hexadecimal texts: what is asked most, and so it is
        written by hand and read in one go."""
        assert 0 < len(params) <= RPC_BATCH_COUNT_MAX
        first = self._id_next
        self._id_next += len(params)
        begun = f'{{"jsonrpc":"2.0","method":"{method}","params":["'
        calls = [f'{begun}{text}"],"id":{first + place}}}' for place, text in enumerate(params)]
        content = calls[0] if len(calls) == 1 else f"[{','.join(calls)}]"
        answered = await self._post(content.encode(), timeout_ms, replies)
        return self._match(first, len(params), answered)

    def session(self) -> ClientSession:
        """The connections to this node, for a subscription beside the calls."""
        if self._closed:
            raise ChainUnreachable(self.name, "this client was closed")
        return self._session.opened()

    async def close(self) -> None:
        self._closed = True
        await self._session.close()

    def _match(
        self, first: int, count: int, replies: list[Reply[Result]] | Reply[Result]
    ) -> list[Result | RpcError]:
        if isinstance(replies, Reply):
            if replies.error is not None and (count > 1 or replies.id in (None, first)):
                # One error for the whole request.
                return [self._cleaned(replies.error)] * count
            replies = [replies]
        in_order = [
            reply.result
            for number, reply in enumerate(replies, first)
            if reply.id == number and reply.error is None and reply.result is not UNSET
        ]
        if len(in_order) == len(replies) == count:
            return in_order  # type: ignore[return-value]
        by_id: dict[int | str | None, Reply[Result]] = {}
        for reply in replies:
            if reply.has_answer():
                by_id.setdefault(reply.id, reply)
        found = [by_id.get(number) for number in range(first, first + count)]
        complete = [reply.answer() for reply in found if reply is not None]
        if len(complete) < count:
            raise ChainUnreadable(self.name, f"it answered {len(complete)} of {count} calls")
        return [self._cleaned(one) if isinstance(one, RpcError) else one for one in complete]

    def _cleaned(self, error: RpcError) -> RpcError:
        """A gateway may repeat the key that it was asked with."""
        message = scrubbed(error.message, self._url)
        return error if message == error.message else replace(error, message=message)

    async def _post(
        self, content: bytes, timeout_ms: int, decoder: Replies[Result]
    ) -> list[Reply[Result]] | Reply[Result]:
        status, retry_after, raw = await self._exchange(content, timeout_ms)
        if status == 429 or (status == 503 and retry_after is not None):
            raise NodeBusy(self.name, status, wait_of(retry_after))
        try:
            replies = decoder.decode(bounded(raw))
        except (DecodeError, UnicodeDecodeError) as error:
            text = scrubbed(raw[:REASON_CHARS_MAX].decode(errors="replace"), self._url)
            if status >= 500:
                raise RpcAnswerLost(self.name, f"HTTP {status}") from error
            raise ChainUnreadable(self.name, f"HTTP {status} {text}") from error
        # Besu and many gateways give a JSON-RPC error with a status of its own: the body decides,
        # where it is one.
        if status != 200 and not (isinstance(replies, list) or replies.has_answer()):
            raise ChainUnreadable(self.name, f"HTTP {status}")
        return replies

    async def _exchange(self, content: bytes, timeout_ms: int) -> tuple[int, str | None, bytes]:
        """The status, the header Retry-After and the body of the answer to one post."""
        timeout = ClientTimeout(total=timeout_ms / 1000, connect=self._connect_s)
        try:
            # A redirect would send the body again, so none is followed.
            async with self.session().post(
                self._url,
                data=content,
                timeout=timeout,
                headers=self._headers,
                allow_redirects=False,
            ) as response:
                raw = await read_body(response.content, RPC_ANSWER_BYTES_MAX)
                if raw is None:
                    raise ChainUnreadable(self.name, f"more than {RPC_ANSWER_BYTES_MAX} bytes")
                return response.status, response.headers.get("Retry-After"), raw
        # Their own texts may hold the whole address, so nothing is chained.
        except (ClientConnectorError, ConnectionTimeoutError) as error:
            raise ChainUnreachable(self.name, trouble_of(error, self._connect_s)) from None
        except TimeoutError:
            raise RpcAnswerLost(self.name, no_answer(timeout_ms)) from None
        except (ClientError, OSError) as error:
            raise RpcAnswerLost(self.name, f"cut off ({type(error).__name__})") from None


def cut(items: Sequence[Item], size_of: Callable[[Item], int]) -> Iterator[Sequence[Item]]:
    """Batches within both bounds, in order; an item that is too large goes alone."""
    begin, size = 0, 0
    for place, item in enumerate(items):
        more = size_of(item)
        if place > begin and (
            place - begin == RPC_BATCH_COUNT_MAX or size + more > RPC_BATCH_BYTES_MAX
        ):
            yield items[begin:place]
            begin, size = place, 0
        size += more
    if begin < len(items):
        yield items[begin:]


def wait_of(retry_after: str | None) -> float:
    """How many seconds a busy node asks for, within our own bound."""
    wait_s = read_retry_after(retry_after, time(), RETRY_AFTER_S_MAX)
    return RETRY_AFTER_S_DEFAULT if wait_s is None else wait_s
