"""How a call to the server is tried again until it is answered or its time is over.

Every call may be repeated: reads change nothing, a transaction carries its idempotency key, and an
operator's command given twice is carried out once. So a lost request is sent again, with the very
same bytes.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import Struct

from laneway.client.bodies import target
from laneway.client.errors import TEMPORARY, AnswerLost, Unreachable, Unreadable, refused
from laneway.client.limits import BACKOFF_S_MAX, BACKOFF_S_MIN, PAGE
from laneway.core.errors import LanewayError
from laneway.core.nesting import bounded
from laneway.wire.problem import Problem

T = TypeVar("T")
Item_co = TypeVar("Item_co", covariant=True)


class Ask(Struct, frozen=True, kw_only=True):
    """One request. `target` is path and query, encoded."""

    method: str = "GET"
    target: str
    timeout_s: float
    body: bytes | None = None
    headers: dict[str, str] = {}
    key: str | None = None
    """The idempotency key of the transaction that it sends."""


class ServerAnswer(Struct, frozen=True):
    status: int
    headers: Mapping[str, str]
    """By their names in lower case."""
    body: bytes


class NoAnswer(Struct, frozen=True):
    """Why no answer came. If `reached`, the request may have arrived; silence proves nothing."""

    reached: bool
    problem: str


class Wire(Protocol):
    """Carries requests to the server and answers back."""

    async def exchange(self, ask: Ask) -> ServerAnswer | NoAnswer: ...
    def stream(self, ask: Ask) -> AsyncGenerator[bytes | ServerAnswer | NoAnswer, None]:
        """Chunks of a stream as they come, then the reason why it broke off; no reason if the
        server ended it."""

    async def pause(self, seconds: float) -> None: ...
    async def close(self) -> None: ...


class CallRules(Struct, frozen=True, kw_only=True):
    """How long calls are tried, and the clock and the dice for it."""

    url: str
    retry_s: float
    timeout_s: float
    now: Callable[[], float]
    chance: Callable[[], float]
    """A random number from 0 to 1: callers that failed together must not come back together."""


class Page(Protocol[Item_co]):
    @property
    def items(self) -> Sequence[Item_co]: ...
    @property
    def next_cursor(self) -> str | None: ...


class ServerRequests:
    """Requests to one server, each of which is tried again until it is answered."""

    def __init__(self, wire: Wire, rules: CallRules) -> None:
        self.wire = wire
        self.rules = rules

    async def get(
        self,
        where: str,
        kind: type[T],
        query: Mapping[str, str | None] | None = None,
        wait_s: float = 0.0,
        retry_s: float | None = None,
    ) -> T:
        ask = Ask(target=target(where, query or {}), timeout_s=self.rules.timeout_s + wait_s)
        return read(self.rules, await self.persist(ask, retry_s), kind)

    async def pages(self, where: str, kind: type[Page[T]], **query: str | None) -> AsyncIterator[T]:
        """The items of a list that is read a page at a time."""
        cursor = None
        while True:
            page = await self.get(where, kind, {"limit": str(PAGE), **query, "cursor": cursor})
            for item in page.items:
                yield item
            cursor = page.next_cursor
            if cursor is None:
                return

    async def post(self, where: str, body: Mapping[str, Any], kind: type[T]) -> T:
        return read(self.rules, await self.answer_to(where, body), kind)

    async def answer_to(
        self,
        where: str,
        body: Mapping[str, Any],
        headers: Mapping[str, str] | None = None,
        key: str | None = None,
    ) -> ServerAnswer:
        """The answer to a POST of this body; `key` is the idempotency key that it carries."""
        ask = Ask(
            method="POST",
            target=where,
            timeout_s=self.rules.timeout_s,
            body=msgspec.json.encode(body),
            headers={"Content-Type": "application/json", **(headers or {})},
            key=key,
        )
        return await self.persist(ask)

    async def persist(self, ask: Ask, retry_s: float | None = None) -> ServerAnswer:
        """The first answer that is not "later"; LanewayError when the time for tries is over."""
        rules = self.rules
        until = rules.now() + (rules.retry_s if retry_s is None else min(retry_s, rules.retry_s))
        tries, doubtful = 0, False
        while True:
            answer = await self.wire.exchange(ask)
            if isinstance(answer, ServerAnswer) and answer.status not in TEMPORARY:
                return answer
            doubtful = doubtful or may_have_arrived(answer)
            pause_s = pause_before(answer, tries, rules.chance())
            if rules.now() + pause_s > until:
                raise failure(rules, ask, answer, doubtful=doubtful)
            await self.wire.pause(pause_s)
            tries += 1


def may_have_arrived(answer: ServerAnswer | NoAnswer) -> bool:
    """Whether the server may have received the request; a proxy's 502 or 504 does not say."""
    return answer.reached if isinstance(answer, NoAnswer) else answer.status in (502, 504)


def pause_before(answer: ServerAnswer | NoAnswer, tries: int, chance: float) -> float:
    """Seconds before the next try: what the server asks for, else twice as long each time."""
    asked_s = None if isinstance(answer, NoAnswer) else retry_after_s(answer)
    if asked_s is not None:
        return asked_s
    # The exponent is bounded so that an hour of tries does not overflow.
    ceiling = min(BACKOFF_S_MAX, BACKOFF_S_MIN * (1 << min(tries, 16)))
    return ceiling * (0.5 + chance / 2)


def retry_after_s(answer: ServerAnswer) -> float | None:
    """The header's seconds; its other form, a date, depends on clocks that may disagree."""
    text = answer.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def failure(
    rules: CallRules, ask: Ask, answer: ServerAnswer | NoAnswer, *, doubtful: bool
) -> LanewayError:
    error: LanewayError
    if isinstance(answer, NoAnswer):
        problem, error = answer.problem, Unreachable(rules.url, answer.problem)
    else:
        problem, error = f"the last answer was {answer.status}", refused(problem_in(answer))
    # An earlier try may have been carried out, whatever the last one came to.
    is_lost = doubtful and ask.method != "GET"
    return AnswerLost(rules.url, problem, ask.key) if is_lost else error


def read(rules: CallRules, answer: ServerAnswer, kind: type[T]) -> T:
    """The value of a good answer; anything else is raised."""
    if not 200 <= answer.status < 300:
        raise refusal(rules, answer)
    try:
        return msgspec.json.decode(bounded(answer.body), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unreadable(rules.url, answer.status, str(error)) from error


def refusal(rules: CallRules, answer: ServerAnswer) -> LanewayError:
    if answer.status < 400:
        return Unreadable(rules.url, answer.status, "neither a value nor a problem")
    return refused(problem_in(answer))


def problem_in(answer: ServerAnswer) -> Problem:
    """The server's problem; a proxy's page becomes a problem with its status as the code."""
    try:
        return msgspec.json.decode(bounded(answer.body), type=Problem)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Problem(
            type="about:blank",
            title="",
            status=answer.status,
            code=f"http_{answer.status}",
            detail=f"HTTP status {answer.status} without a problem",
            retryable=answer.status in TEMPORARY,
        )


def server_answer(status: int, headers: Iterable[tuple[str, str]], body: bytes) -> ServerAnswer:
    return ServerAnswer(status, {name.lower(): value for name, value in headers}, body)


def message_of(error: BaseException) -> str:
    strerror = error.strerror if isinstance(error, OSError) else None
    return strerror or str(error) or type(error).__name__
