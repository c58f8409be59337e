"""What a call to a server can end in.

LanewayError
├── Refused        the server refused it: `problem` and its fields
│   ├── NotFound · NotAllowed · Conflict · Invalid · Unavailable
├── Unreachable    it was never reached; nothing changed
├── AnswerLost     it may have been carried out; the same call with the same key is safe
└── Unreadable     what answered is no laneway server, or a much newer one
"""

from laneway.core.errors import LanewayError, Retry
from laneway.core.urls import shown_url
from laneway.wire.problem import Problem

TEMPORARY = (429, 502, 503, 504)
"""Statuses that pass by themselves: quotas, drains, proxies without a server."""


class Refused(LanewayError):
    """A refusal, with the server's problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        # A problem's code is the server's, not one of this class.
        self.code = problem.code  # type: ignore[misc]
        self.retry: Retry = "later" if problem.retryable else "never"  # type: ignore[misc]
        self.status = problem.status
        self.detail = problem.detail
        self.retryable = problem.retryable
        self.tx = problem.tx
        self.lane = problem.lane
        self.field = problem.field
        super().__init__(f"{problem.detail} ({problem.code})")


class NotFound(Refused):
    """404."""


class NotAllowed(Refused):
    """401 and 403: the key, its scopes or its lanes."""


class Conflict(Refused):
    """409, and a key that belongs to another body: it contradicts what is true already."""


class Invalid(Refused):
    """The request itself is wrong; unchanged it is refused again."""


class Unavailable(Refused):
    """The server answered "later" until the time for retries was over."""


class Unreachable(LanewayError):
    code = "server_unreachable"
    retry = "later"

    def __init__(self, url: str, problem: str) -> None:
        self.url = shown_url(url)
        self.problem = problem
        super().__init__(f"no server at {self.url}: {problem}; 'laneway up' starts one")


class AnswerLost(LanewayError):
    """The request left, its answer never came."""

    code = "answer_lost"
    retry = "later"
    changed = None

    def __init__(self, url: str, problem: str, key: str | None) -> None:
        self.url = shown_url(url)
        self.problem = problem
        self.key = key
        """Of the transaction: sent again with it, nothing is done twice."""
        again = "the same call is safe" if key is None else f"send it again with the key {key}"
        super().__init__(f"{self.url} was asked, but no answer came back: {problem}; {again}")


class Unreadable(LanewayError):
    code = "answer_unreadable"
    retry = "after_check"
    changed = None

    def __init__(self, url: str, status: int, problem: str) -> None:
        self.url = shown_url(url)
        self.status = status
        self.problem = problem
        super().__init__(f"{self.url} answered {status} with something unreadable: {problem[:200]}")


def refused(problem: Problem) -> Refused:
    """The error for a problem."""
    if problem.status == 409 or problem.code == "idempotency_conflict":
        return Conflict(problem)
    if problem.status == 404:
        return NotFound(problem)
    if problem.status in (401, 403):
        return NotAllowed(problem)
    if problem.status in TEMPORARY:
        return Unavailable(problem)
    return Invalid(problem) if problem.status < 500 else Refused(problem)
