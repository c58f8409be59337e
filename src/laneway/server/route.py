"""A row of the route table: what is served, and how it is documented.

The router and the OpenAPI document are both made from these rows, so neither can promise what the
other does not keep.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from msgspec import Struct

from laneway.server.access import Scope
from laneway.server.call import Call

Act = Callable[[Call], Awaitable[web.StreamResponse]]


class GoodAnswer(Struct, frozen=True):
    """One way in which a request may succeed."""

    what: str
    body: Any = None
    """The type of its JSON."""
    content_type: str = "application/json"
    headers: tuple[str, ...] = ()


class Route(Struct, frozen=True):
    method: str
    path: str
    act: Act
    summary: str
    scope: Scope | None
    """The scope that a key must have; None: the route is open to all."""
    answers: dict[int, GoodAnswer]
    """By their HTTP status."""
    query: type[Struct] | None = None
    body: type[Struct] | None = None
    other_bodies: tuple[type[Struct], ...] = ()
    """The types of the body for other kinds of lanes."""
    headers: tuple[str, ...] = ()
    """Headers of the request, all optional."""
    problems: tuple[int, ...] = ()
    """Statuses of refusals besides those that any request can get."""
    writes: bool = False
    """Whether it is refused while the process is about to end."""
    waits: bool = False
    """Whether it may take as much longer as its caller says, up to a minute."""
    large: bool = False
    """Whether its body may be as large as the largest transaction."""
    endless: bool = False
    """Whether it is a stream, which has no deadline."""

    def name(self) -> str:
        return self.act.__name__

    def pattern(self) -> str:
        """The path for the router, where a name stands for anything but a slash."""
        return self.path.replace("}", ":[^/]+}")


def one(what: str, body: Any, content_type: str = "application/json") -> dict[int, GoodAnswer]:
    """The answers of a route that succeeds with 200 alone."""
    return {200: GoodAnswer(what, body, content_type)}


def get(
    path: str,
    act: Act,
    summary: str,
    answers: dict[int, GoodAnswer],
    scope: Scope | None = "tx:read",
    **more: Any,
) -> Route:
    return Route("GET", path, act, summary, scope, answers, **more)
