"""Those who hear what became true, after it is durable."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

from laneway.core.ids import LaneId
from laneway.core.intent import Accepted, Arrival
from laneway.core.rows import Result

log = logging.getLogger("laneway.engine")

FAILED = "a listener failed, and is told of the next thing all the same"
"""Listeners are foreign code: what one cannot bear must not cost a lane its commit."""


class Listener:
    """Hears what became true, after it is durable. A subclass overrides what it cares for."""

    def accepted(self, arrival: Arrival, answer: Accepted) -> None: ...
    def told(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None: ...
    def opened(self, lane: LaneId) -> None: ...
    def closed(self, lane: LaneId) -> None: ...
    def failed(self, error: Exception) -> None: ...


class Listeners:
    """Tells those who care. A listener that raises harms nobody but itself."""

    def __init__(self, listeners: Sequence[Listener]) -> None:
        self._accepted = hearing(listeners, "accepted")
        self._told = hearing(listeners, "told")
        self._opened = hearing(listeners, "opened")
        self._closed = hearing(listeners, "closed")
        self._failed = hearing(listeners, "failed")

    # The first two are heard with every job, so they do without `each`.

    def accepted(self, arrival: Arrival, answer: Accepted) -> None:
        for hear in self._accepted:
            try:
                hear(arrival, answer)
            except Exception:
                log.exception(FAILED)

    def told(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        for hear in self._told:
            try:
                hear(lane, records, results)
            except Exception:
                log.exception(FAILED)

    def opened(self, lane: LaneId) -> None:
        each(self._opened, lane)

    def closed(self, lane: LaneId) -> None:
        each(self._closed, lane)

    def failed(self, error: Exception) -> None:
        each(self._failed, error)


def hearing(listeners: Sequence[Listener], word: str) -> list[Callable[..., None]]:
    """The methods for this word, of those that have one of their own: most jobs interest few."""
    deaf = getattr(Listener, word)
    return [
        getattr(listener, word)
        for listener in listeners
        if getattr(type(listener), word) is not deaf
    ]


def each(hearing: Sequence[Callable[..., None]], *news: Any) -> None:
    for hear in hearing:
        try:
            hear(*news)
        except Exception:
            log.exception(FAILED)
