"""The events of every kind of lane."""

from laneway.feeds.events import events_by_kind
from laneway.kinds.registry import kinds

events_of = events_by_kind({name: kind.events for name, kind in kinds().items()})
