"""What this process knows of the lanes that it writes and that have a layout.

Nothing here is an answer to anyone: a view is used only for the commit that follows it, and the
server compares the version. One that is not at hand, or may be out of date, is read again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence

from laneway.core.errors import LeaseLost
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import Arrival, IntentRow
from laneway.core.rows import Lease, Rows
from laneway.ports import Commit
from laneway.stores.redis.layout import LayoutCommand, Layouts, LayoutView, keys_of, layout_of
from laneway.stores.redis.limits import QUEUED_KEPT_MAX
from laneway.stores.redis.rows.keys import Names
from laneway.stores.redis.scripts.calls import LayoutChange

Load = Callable[[Lease], Awaitable[Rows]]
Times = Callable[[Sequence[IntentId]], Awaitable[dict[IntentId, int]]]


class LayoutViews:
    """The views of all lanes that have one, each a version ahead of what was answered."""

    def __init__(self, names: Names, layouts: Layouts, load: Load, times: Times) -> None:
        self._names = names
        self._layouts = layouts
        self._load = load
        self._times = times
        self._views: dict[LaneId, LayoutView] = {}
        self._queued: dict[IntentId, int] = {}
        """When intents came in that no row names yet."""
        self._besides: dict[LaneId, list[LayoutCommand]] = {}
        self._reading = asyncio.Lock()

    def remember(self, intents: Iterable[Arrival | IntentRow]) -> None:
        """These may be taken soon."""
        queued = self._queued
        lane, is_shown = LaneId(""), False
        for intent in intents:
            if intent.lane != lane:
                lane = intent.lane
                is_shown = keys_of(self._layouts, self._names, lane) is not None
            if is_shown:
                queued.pop(intent.id, None)
                queued[intent.id] = intent.accepted_ms
        while len(queued) > QUEUED_KEPT_MAX:
            del queued[next(iter(queued))]

    def forget(self, lane: LaneId) -> None:
        self._views.pop(lane, None)
        self._besides.pop(lane, None)

    def add(self, lane: LaneId, commands: list[LayoutCommand]) -> None:
        """What goes with the lane's next commit, besides what it shows."""
        self._besides[lane] = commands

    async def changes(self, commits: Sequence[Commit]) -> list[LayoutChange | None]:
        found: list[LayoutChange | None] = []
        for commit in commits:
            keys = keys_of(self._layouts, self._names, commit.lease.lane)
            found.append(None if keys is None else (keys.lock, await self._commands(commit)))
        return found

    async def _commands(self, commit: Commit) -> list[LayoutCommand] | None:
        lane = commit.lease.lane
        view = self._views.get(lane)
        if view is None or not is_next(view, commit) or not self._are_known(view, commit):
            async with self._reading:
                # Those who waited here find what was read meanwhile.
                view = await self._read(commit)
        if view is None:
            return None
        try:
            return self._besides.pop(lane, []) + view.advance(commit.write)
        except BaseException:
            self.forget(lane)
            raise

    def _are_known(self, view: LayoutView, commit: Commit) -> bool:
        """Whether the times of all intents it names are at hand; they are moved to the view."""
        for intent in view.missing(commit.write):
            queued_ms = self._queued.pop(intent, None)
            if queued_ms is None:
                return False
            view.queued[intent] = queued_ms
        return True

    async def _read(self, commit: Commit) -> LayoutView | None:
        """The view that this commit follows; None if there is none, for it cannot be written."""
        lane = commit.lease.lane
        view = self._views.get(lane)
        if view is None or not is_next(view, commit):
            layout = layout_of(self._layouts, lane)
            assert layout is not None
            try:
                view = layout.view(self._names, await self._load(commit.lease))
            except LeaseLost:
                self.forget(lane)
                return None
            self._views[lane] = view
        if not is_next(view, commit):
            self.forget(lane)
            return None
        if not self._are_known(view, commit):
            view.queued |= await self._times(view.missing(commit.write))
            if view.missing(commit.write):
                self.forget(lane)
                return None
        return view


def is_next(view: LayoutView, commit: Commit) -> bool:
    return view.fence == commit.lease.fence and view.version + 1 == commit.version
