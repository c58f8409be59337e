"""A bundle lane on its stage, with every commit kept as a listener hears it."""

from typing import Any

from tests.lanes.bundle.stage import LANE, Stage

from laneway.core.rows import FeedEntry, Result
from laneway.engine.listeners import Listener
from laneway.kinds.events import events_of
from laneway.wire.values import Event

__all__ = ["LANE", "Ear"]


class Ear(Stage):
    def __init__(self, *listeners: Listener, **settings: Any) -> None:
        super().__init__(**settings)
        self.listeners = listeners
        self.commits: list[tuple[Any, ...]] = []
        self.chain.produce()
        self.now_ms = self.chain.best.ref.slot * 6_000

    def post(self, event: Any) -> None:
        before = dict(self.results)
        super().post(event)
        self.commits.append(tuple(self.told))
        new: list[Result] = [one for name, one in self.results.items() if name not in before]
        for listener in self.listeners:
            listener.notified(LANE, self.told, new)

    def events(self) -> list[Event]:
        """What the feed tells of all that was committed."""
        return [
            event
            for version, records in enumerate(self.commits, 1)
            if records
            for event in events_of(
                FeedEntry(str(version), LANE, version, 1_000, self.kind.encode(records))
            )
        ]
