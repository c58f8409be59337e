"""How a call is tried again, without any I/O: a generator asks and pauses, a shell carries it out.

Every call may be repeated: reads change nothing, a transaction carries its idempotency key, and an
operator's word said twice is one word. So whatever is lost on the way is asked for again, with the
very same bytes.
"""

from collections.abc import Callable, Generator, Mapping
from typing import TypeVar

import msgspec
from msgspec import Struct

from laneway.client.errors import (
    TEMPORARY,
    AnswerLost,
    Unreachable,
    Unreadable,
    refused,
)
from laneway.client.limits import BACKOFF_S_MAX, BACKOFF_S_MIN
from laneway.core.errors import LanewayError
from laneway.wire.problem import Problem, problem

T = TypeVar("T")


class Ask(Struct, frozen=True, kw_only=True):
    """One request. `target` is path and query, encoded."""

    method: str = "GET"
    target: str
    timeout_s: float
    body: bytes | None = None
    headers: dict[str, str] = {}
    key: str | None = None
    """Of the transaction it sends."""


class Answer(Struct, frozen=True):
    status: int
    headers: Mapping[str, str]
    """By their small names."""
    body: bytes


class Lost(Struct, frozen=True):
    """No answer. `reached`: the request may have arrived; silence proves nothing."""

    reached: bool
    problem: str


class Pause(Struct, frozen=True):
    seconds: float


Heard = Answer | Lost | None
Steps = Generator[Ask | Pause, Heard, T]


class Rules(Struct, frozen=True, kw_only=True):
    """What a call needs to know of the world."""

    url: str
    retry_s: float
    timeout_s: float
    now: Callable[[], float]
    chance: Callable[[], float]
    """From 0 to 1: callers that failed together must not come back together."""


def persist(rules: Rules, ask: Ask, retry_s: float | None = None) -> Steps[Answer]:
    """Ask until there is an answer that is not "later", or the time for it is over."""
    until = rules.now() + (rules.retry_s if retry_s is None else min(retry_s, rules.retry_s))
    tries, doubtful = 0, False
    while True:
        heard = yield ask
        assert heard is not None
        if isinstance(heard, Answer) and heard.status not in TEMPORARY:
            return heard
        doubtful = doubtful or may_have_arrived(heard)
        pause_s = pause_before(heard, tries, rules.chance())
        if rules.now() + pause_s > until:
            raise failure(rules, ask, heard, doubtful=doubtful)
        yield Pause(pause_s)
        tries += 1


def may_have_arrived(heard: Answer | Lost) -> bool:
    """A proxy's 502 or 504 says nothing of the server behind it."""
    return heard.reached if isinstance(heard, Lost) else heard.status in (502, 504)


def pause_before(heard: Answer | Lost, tries: int, chance: float) -> float:
    told_s = None if isinstance(heard, Lost) else retry_after_s(heard)
    if told_s is not None:
        return told_s
    # The exponent is bounded so that an hour of tries does not overflow.
    ceiling = min(BACKOFF_S_MAX, BACKOFF_S_MIN * (1 << min(tries, 16)))
    return ceiling * (0.5 + chance / 2)


def retry_after_s(answer: Answer) -> float | None:
    """Seconds; the header's other form, a date, depends on clocks that may disagree."""
    text = answer.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def failure(rules: Rules, ask: Ask, heard: Answer | Lost, *, doubtful: bool) -> LanewayError:
    words = heard.problem if isinstance(heard, Lost) else f"the last answer was {heard.status}"
    if doubtful and ask.method != "GET":
        # An earlier try may have been carried out, whatever the last one came to.
        return AnswerLost(rules.url, words, ask.key)
    if isinstance(heard, Answer):
        return refused(problem_in(heard))
    return Unreachable(rules.url, words)


def read(rules: Rules, answer: Answer, kind: type[T]) -> T:
    """The value of a good answer; anything else is raised."""
    if not 200 <= answer.status < 300:
        raise refusal(rules, answer)
    try:
        return msgspec.json.decode(answer.body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unreadable(rules.url, answer.status, str(error)) from error


def refusal(rules: Rules, answer: Answer) -> LanewayError:
    if answer.status < 400:
        return Unreadable(rules.url, answer.status, "neither a value nor a problem")
    return refused(problem_in(answer))


def problem_in(answer: Answer) -> Problem:
    """As the server told it; a proxy's page becomes a problem with its number."""
    try:
        return msgspec.json.decode(answer.body, type=Problem)
    except (msgspec.DecodeError, UnicodeDecodeError):
        later = answer.status in TEMPORARY
        code, detail = f"http_{answer.status}", f"HTTP status {answer.status} without a problem"
        return Problem(
            type="about:blank",
            title="",
            status=answer.status,
            code=code,
            detail=detail,
            retryable=later,
        )


def not_found(intent: str) -> LanewayError:
    """As the server says it, where a list came back empty."""
    return refused(problem(404, "intent_not_found", f"there is no transaction {intent}", tx=intent))
