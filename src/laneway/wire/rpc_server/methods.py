"""Methods of a JSON-RPC server: what each takes, what it does, and how it refuses."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

Json: TypeAlias = dict[str, Any]
Kind: TypeAlias = Callable[[object], Any]
"""Takes a JSON value, and returns what a method works with; RpcRefused if it is of another kind."""


class RpcRefused(Exception):
    """A JSON-RPC error, which is the answer to a call."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        self.code = code
        self.message = message
        self.data = data
        super().__init__(f"{code} {message}" if data is None else f"{code} {message}: {data}")


class Method(Struct, frozen=True):
    """`call` takes the context of the connection and the parameters, each as its kind returns it,
    and returns the result or an awaitable of it."""

    kinds: tuple[Kind, ...]
    call: Callable[..., object | Awaitable[object]]
    optional: int = 0
    """How many of the last parameters may be left out."""
    needs_connection: bool = False
    """Whether it notifies the client later, and so needs a WebSocket."""


Methods: TypeAlias = Mapping[str, Method]
