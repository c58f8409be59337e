"""A row of the route table: what is served, and what its documentation says.

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


class Told(Struct, frozen=True):
    """One way a request may end well."""

    what: str
    body: Any = None
    """The type of its JSON."""
    content_type: str = "application/json"
    headers: tuple[str, ...] = ()


class Route(Struct, frozen=True, kw_only=True):
    method: str
    path: str
    act: Act
    summary: str
    scope: Scope | None
    """What a key must allow; None is open to all."""
    told: dict[int, Told]
    query: type[Struct] | None = None
    body: type[Struct] | None = None
    other_bodies: tuple[type[Struct], ...] = ()
    """Of other kinds of lanes."""
    headers: tuple[str, ...] = ()
    """Of the request, all optional."""
    problems: tuple[int, ...] = ()
    """Besides those that any request can meet."""
    writes: bool = False
    """Refused while the process is about to end."""
    waits: bool = False
    """It may take as much longer as its caller says, up to a minute."""
    large: bool = False
    """Its body may be as large as the largest transaction."""
    endless: bool = False
    """A stream: it has no deadline."""

    def name(self) -> str:
        return self.act.__name__

    def pattern(self) -> str:
        """As the router has it: a name in a path is anything but a slash."""
        return self.path.replace("}", ":[^/]+}")
