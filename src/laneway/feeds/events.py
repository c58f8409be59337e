"""Committed records → the events that people subscribe to. Nothing here reads or waits."""

from collections.abc import Callable, Mapping, Sequence

from laneway.core.ids import lane_kind
from laneway.core.rows import FeedEntry
from laneway.wire.times import to_time
from laneway.wire.values import Event, EventBody

NamedEvent = tuple[str, EventBody]
"""An event's type and body."""

EventsOf = Callable[[FeedEntry], list[Event]]
"""The events of one commit, in its order."""


def events_by_kind(kinds: Mapping[str, Callable[[FeedEntry], Sequence[NamedEvent]]]) -> EventsOf:
    """What each kind of lane makes of its records; a kind that is not listed has no events."""

    def events_of(entry: FeedEntry) -> list[Event]:
        make = kinds.get(lane_kind(entry.lane))
        if make is None:
            return []
        at = to_time(entry.at_ms)
        return [Event(name, at, body) for name, body in make(entry)]

    return events_of
