"""What makes two states alike: a form in which values are written down without wall times.

States that must act alike are written alike: a time that has passed is just past, a time to come
is a distance, and so are versions and fences.
"""

from collections import deque
from enum import Enum
from typing import Any

import msgspec
from msgspec import Struct
from tests.small_scope.copies import CONSTANT, OWN, PLAIN, slots

from laneway.core.ids import LaneId
from laneway.core.intent import Arrival, IntentRow
from laneway.core.rows import Head, HeadWrite, Result, RowPut, Table
from laneway.engine.reactor import Reactor
from laneway.lanes.contract.lane import decode_attempt, decode_head, decode_slot
from laneway.stores.memory import MemoryBook

SKIPPED = CONSTANT | frozenset(("digest", "feed", "history", "owner", "round", "_now_ms"))
"""Fields that decide nothing: names, what only people read, and what is the same everywhere."""

FIXED = (IntentRow, Arrival)
"""Written once and never changed, so the id says it all."""

DECODERS = {Table.SLOT: decode_slot, Table.ATTEMPT: decode_attempt}


class ScopeForm:
    """How values are written down, seen from one moment and from one version of the lane."""

    __slots__ = ("_fence", "_now_ms", "_version")

    def __init__(self, now_ms: int, version: int, fence: int) -> None:
        self._now_ms = now_ms
        self._version = version
        self._fence = fence

    def reactor(self, reactor: Reactor) -> Any:
        """Of the alarms only the first counts: the rest is woken for nothing, and acts alike."""
        written: list[Any] = []
        for name, part in vars(reactor).items():
            if name == "_alarms":
                next_ms = reactor.next_ms()
                part = None if next_ms is None else max(0, next_ms - self._now_ms)
            elif name in ("_queue", "_idle"):
                part = [lane if isinstance(lane, str) else lane.id for lane in part]
            elif name not in SKIPPED:
                part = self(part)
            else:
                continue
            written.append((name, part))
        return written

    def book(self, book: MemoryBook, lane: LaneId) -> Any:
        shelf = book.shelves.get(lane)
        if shelf is None:
            return None
        return (
            self(shelf.head),
            [self(shelf.rows[key]) for key in sorted(shelf.rows)],
            [self(result) for result in book.results.values()],
            shelf.tail.seq_next,
        )

    def __call__(self, value: Any) -> Any:
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is tuple or kind is list or kind is deque:
            return [self(part) for part in value]
        if kind is dict:
            return [(key, self(part)) for key, part in value.items()]
        if kind is set:
            return sorted(value)
        try:
            names = _names[kind]
        except KeyError:
            names = _names[kind] = _fields(kind)
        return self._special(value) if names is None else self._bundle(value, names)

    def _bundle(self, value: Any, names: tuple[tuple[str, str], ...]) -> list[Any]:
        written: list[Any] = [type(value).__name__]
        for name, rule in names:
            part = getattr(value, name)
            if rule == "time":
                part = part if part is None else max(0, part - self._now_ms)
            elif rule == "version":
                # None before the first, and 0 in a lane that is not loaded: no distance.
                part = part - self._version if part else None
            elif rule == "fence":
                part -= self._fence
            elif rule == "doubted" and type(part) is tuple:
                part = (part[0] - self._version, self(part[1:]))
            elif type(part) not in PLAIN:
                part = self(part)
            written.append(part)
        return written

    def _special(self, value: Any) -> Any:
        """What says less, or more, than its fields."""
        if isinstance(value, Enum):
            return value.value
        if isinstance(value, FIXED):
            return value.id
        if isinstance(value, RowPut):
            return (value.table, value.key, self(DECODERS[value.table](value.body)))
        if isinstance(value, Head):
            state = self(decode_head(value.state)) if value.state else None
            distances = (value.version - self._version, value.fence - self._fence)
            wake_ms = value.wake_ms and max(0, value.wake_ms - self._now_ms)
            return (wake_ms, state, distances)
        if isinstance(value, HeadWrite):
            return self(decode_head(value.state))
        if isinstance(value, Result):
            return (value.intent, value.status, value.number, value.reason)
        raise TypeError(f"nobody said how a {type(value).__qualname__} is written")


Names = tuple[tuple[str, str], ...] | None
"""Fields of a class and how each is written; None where it is no plain bundle of fields."""

SPECIAL = (*FIXED, RowPut, Head, HeadWrite, Result)

_names: dict[type, Names] = dict.fromkeys(SPECIAL)


def _fields(kind: type) -> Names:
    if issubclass(kind, Struct):
        names = kind.__struct_fields__
    elif issubclass(kind, Enum) or not kind.__module__.startswith(OWN):
        return None
    else:
        names = slots(kind)
        if not names:
            return None
    return tuple((name, _rule(name)) for name in names if name not in SKIPPED)


def _rule(name: str) -> str:
    if name.endswith("_ms"):
        return "time"
    return name if name in ("fence", "version", "doubted") else "plain"


encode = msgspec.msgpack.Encoder().encode
