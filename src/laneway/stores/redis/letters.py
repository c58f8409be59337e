"""What this process knows of the accounts' lanes that it writes, so that their keys can be shown.

Nothing here is an answer to anyone: a view is used only for the commit that follows it, and the
server compares the version. One that is not at hand, or may be behind, is read again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence

from laneway.core.errors import LeaseLost
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import Arrival, IntentRow
from laneway.core.rows import Lease, Rows
from laneway.ports import Commit
from laneway.stores.redis.calls import Shown
from laneway.stores.redis.keys import Names
from laneway.stores.redis.letter import LetterView, Say
from laneway.stores.redis.letter_keys import Account, account_of
from laneway.stores.redis.limits import QUEUED_KEPT_MAX

Load = Callable[[Lease], Awaitable[Rows]]
Times = Callable[[Sequence[IntentId]], Awaitable[dict[IntentId, int]]]


class Letters:
    """The views of all lanes, one version ahead of what was answered."""

    def __init__(self, names: Names, load: Load, times: Times) -> None:
        self._names = names
        self._load = load
        self._times = times
        self._views: dict[LaneId, LetterView] = {}
        self._queued: dict[IntentId, int] = {}
        """When intents came in that no row names yet."""
        self._besides: dict[LaneId, list[Say]] = {}
        self._reading = asyncio.Lock()

    def remember(self, intents: Iterable[Arrival | IntentRow]) -> None:
        """These may be taken soon."""
        queued = self._queued
        lane, is_shown = LaneId(""), False
        for intent in intents:
            if intent.lane != lane:
                lane = intent.lane
                is_shown = account_of(self._names, lane) is not None
            if is_shown:
                queued.pop(intent.id, None)
                queued[intent.id] = intent.accepted_ms
        while len(queued) > QUEUED_KEPT_MAX:
            del queued[next(iter(queued))]

    def forget(self, lane: LaneId) -> None:
        self._views.pop(lane, None)
        self._besides.pop(lane, None)

    def add(self, lane: LaneId, says: list[Say]) -> None:
        """What goes with the lane's next commit, besides what it shows."""
        self._besides[lane] = says

    async def shown(self, commits: Sequence[Commit]) -> list[Shown | None]:
        found: list[Shown | None] = []
        for commit in commits:
            account = account_of(self._names, commit.lease.lane)
            if account is None:
                found.append(None)
            else:
                found.append((account, await self._says(account, commit)))
        return found

    async def _says(self, account: Account, commit: Commit) -> list[Say] | None:
        lane = commit.lease.lane
        view = self._views.get(lane)
        if view is None or not is_next(view, commit) or not self._are_known(view, commit):
            async with self._reading:
                # Whoever waited here finds what was read meanwhile.
                view = await self._read(account, commit)
        if view is None:
            return None
        try:
            return self._besides.pop(lane, []) + view.advance(commit.write)
        except BaseException:
            self.forget(lane)
            raise

    def _are_known(self, view: LetterView, commit: Commit) -> bool:
        """Whether the times of all intents it names are at hand; they are moved to the view."""
        for intent in view.missing(commit.write):
            queued_ms = self._queued.pop(intent, None)
            if queued_ms is None:
                return False
            view.queued[intent] = queued_ms
        return True

    async def _read(self, account: Account, commit: Commit) -> LetterView | None:
        """The view that this commit follows; None if there is none, for it cannot be written."""
        lane = commit.lease.lane
        view = self._views.get(lane)
        if view is None or not is_next(view, commit):
            try:
                view = LetterView(account, await self._load(commit.lease))
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


def is_next(view: LetterView, commit: Commit) -> bool:
    return view.fence == commit.lease.fence and view.version + 1 == commit.version
