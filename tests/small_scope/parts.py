"""The reactor, the book and the chain of a small scope as values that are never changed.

A step of one of them depends on that part alone, while a state joins three. So each step is made
once, on a copy, and remembered with the part it began from: a search is mostly looking up.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec
from tests.small_scope.copies import exact
from tests.small_scope.likeness import encode
from tests.small_scope.messages import Message

from laneway.core.ids import lane_id
from laneway.ports import ContractCall

T = TypeVar("T")
S = TypeVar("S")

CONTRACT = "T"
LANE = lane_id("contract", CONTRACT)

decode_call = msgspec.msgpack.Decoder(ContractCall).decode


class Part(Generic[T]):
    """One value, with what was found out about it."""

    __slots__ = ("forms", "steps", "value")

    def __init__(self, value: T) -> None:
        self.value = value
        self.forms: dict[Any, int] = {}
        """The number of its form, by where it is seen from."""
        self.steps: dict[Any, Any] = {}

    def step(self, name: Any, make: Callable[[], S]) -> S:
        """What comes of a step; made at the first asking. A name belongs to one kind of step."""
        found: S | None = self.steps.get(name)
        if found is None:
            found = self.steps[name] = make()
        return found


Mail: TypeAlias = Part[Message]


class ScopeParts:
    """Every part of one search, each once: two that are equal are one."""

    def __init__(self) -> None:
        self._parts: dict[bytes, Part[Any]] = {}
        self._mail: dict[Message, Mail] = {}
        self._forms: dict[bytes, int] = {}

    def keep(self, value: T, now_ms: int = 0) -> Part[T]:
        """The part that holds this value; `now_ms` tells apart what was told different times."""
        name = encode((type(value).__name__, now_ms, exact(value)))
        part: Part[T] = self._parts.setdefault(name, Part(value))
        return part

    def mail(self, message: Message) -> Mail:
        return self._mail.setdefault(message, Part(message))

    def number(self, form: Any) -> int:
        """The same number for the same form."""
        return self._forms.setdefault(encode(form), len(self._forms))

    def count(self) -> int:
        return len(self._parts)
