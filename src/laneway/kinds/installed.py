"""What this installation has of one sort of plug-in: laneway's own, then other distributions'."""

from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Protocol, TypeVar

from laneway.kinds.config import ConfigError


class NamedKind(Protocol):
    @property
    def name(self) -> str: ...


K = TypeVar("K", bound=NamedKind)


def installed(group: str, own: Sequence[K]) -> dict[str, K]:
    """By name: these, and the classes that the entry points of a group name. Two of one name, or
    one that cannot be imported, is refused: what is not served would wait without any message."""
    foreign: list[K] = []
    for point in entry_points(group=group):
        try:
            foreign.append(point.load()())
        except Exception as error:
            problem = f"the kind {point.name} cannot be used: {error}"
            raise ConfigError(point.value, problem) from error
    found: dict[str, K] = {}
    for kind in (*own, *foreign):
        if kind.name in found:
            raise ConfigError(type(kind).__module__, f"there is a kind {kind.name} already")
        found[kind.name] = kind
    return found
