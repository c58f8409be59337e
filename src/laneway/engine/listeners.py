"""Those who hear what became true, after it is durable."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from laneway.core.ids import LaneId
from laneway.core.intent import Accepted, Arrival
from laneway.core.rows import Result

log = logging.getLogger("laneway.engine")


class Listener(Protocol):
    """Hears what became true, after it is durable."""

    def accepted(self, arrival: Arrival, answer: Accepted) -> None: ...
    def told(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None: ...
    def opened(self, lane: LaneId) -> None: ...
    def closed(self, lane: LaneId) -> None: ...
    def failed(self, error: Exception) -> None: ...


class Listeners:
    """Tells all of them. A listener that raises harms nobody but itself."""

    def __init__(self, listeners: Sequence[Listener]) -> None:
        self._accepted = [listener.accepted for listener in listeners]
        self._told = [listener.told for listener in listeners]
        self._opened = [listener.opened for listener in listeners]
        self._closed = [listener.closed for listener in listeners]
        self._failed = [listener.failed for listener in listeners]

    def accepted(self, arrival: Arrival, answer: Accepted) -> None:
        each(self._accepted, arrival, answer)

    def told(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        each(self._told, lane, records, results)

    def opened(self, lane: LaneId) -> None:
        each(self._opened, lane)

    def closed(self, lane: LaneId) -> None:
        each(self._closed, lane)

    def failed(self, error: Exception) -> None:
        each(self._failed, error)


def each(hearing: Sequence[Callable[..., None]], *news: Any) -> None:
    for hear in hearing:
        try:
            hear(*news)
        except Exception:
            # Foreign code: what it cannot bear must not cost a lane its commit.
            log.exception("a listener failed, and is told of the next thing all the same")
