"""Listeners, which are notified of what became true after it is durable."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from laneway.core.ids import LaneId
from laneway.core.intent import Accepted, Arrival
from laneway.core.rows import Result

log = logging.getLogger("laneway.engine")

FAILED = "a listener failed, and is notified of the next event all the same"
"""Listeners are foreign code: what one cannot bear must not cost a lane its commit."""


class Listener:
    """Is notified after something is durable. A subclass overrides the methods it needs."""

    def accepted(self, arrival: Arrival, answer: Accepted) -> None: ...
    def notified(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None: ...
    def opened(self, lane: LaneId) -> None: ...
    def closed(self, lane: LaneId) -> None: ...
    def failed(self, error: Exception) -> None: ...


class Listeners:
    """Notifies the listeners. One that raises harms nobody but itself."""

    def __init__(self, listeners: Sequence[Listener]) -> None:
        self._accepted = overridden(listeners, "accepted")
        self._notified = overridden(listeners, "notified")
        self.opened = partial(each, overridden(listeners, "opened"))
        self.closed = partial(each, overridden(listeners, "closed"))
        self.failed = partial(each, overridden(listeners, "failed"))

    # These two are called with every job, so they do without `each`.

    def accepted(self, arrival: Arrival, answer: Accepted) -> None:
        for notify in self._accepted:
            try:
                notify(arrival, answer)
            except Exception:
                log.exception(FAILED)

    def notified(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        for notify in self._notified:
            try:
                notify(lane, records, results)
            except Exception:
                log.exception(FAILED)


def overridden(listeners: Sequence[Listener], name: str) -> list[Callable[..., None]]:
    """This method of the listeners that override it: most jobs interest few."""
    unused = getattr(Listener, name)
    return [
        getattr(listener, name)
        for listener in listeners
        if getattr(type(listener), name) is not unused
    ]


def each(methods: Sequence[Callable[..., None]], *news: Any) -> None:
    for notify in methods:
        try:
            notify(*news)
        except Exception:
            log.exception(FAILED)
