"""Where transactions and lanes are and why: the same answers for REST and for the library."""

from collections.abc import Callable, Mapping

from laneway.core.errors import IntentNotFound, LaneNotFound
from laneway.core.ids import IntentId, LaneId, is_intent_id, lane_kind
from laneway.core.rows import LaneView
from laneway.engine.waiters import PRUNED_INDEX
from laneway.kinds.limits import LISTING_SCAN_PAGE
from laneway.kinds.names import find, is_name
from laneway.kinds.outlook import health_at, lane_at, tx_at
from laneway.kinds.served import Served
from laneway.ports import Clock, IntentView, Store
from laneway.wire.values import Lane, LaneHealth, Tx
from laneway.wiring.nodes import ProcessNodes


class Views:
    """Reads the store for lanes of every kind."""

    def __init__(
        self, store: Store, kinds: Mapping[str, Served], clock: Clock, nodes: ProcessNodes
    ) -> None:
        self._store = store
        self._nodes = nodes
        self._kinds = kinds
        self._clock = clock
        self._prefixes = sorted(f"{one.name}:" for one in kinds.values() if one.is_listed)

    def kind(self, lane: str) -> Served:
        """The kind whose transactions people ask for in this lane; LaneNotFound."""
        found = self._kinds.get(lane_kind(LaneId(lane)))
        if found is None or not found.is_listed:
            raise LaneNotFound(lane)
        return found

    def is_listed(self, lane: str) -> bool:
        """Whether its intents are transactions, and not a trail's entries or a webhook's
        messages."""
        found = self._kinds.get(lane_kind(LaneId(lane)))
        return found is not None and found.is_listed

    def is_large(self, lane: str | None = None) -> bool:
        """Whether intents of a lane, or of any, may have megabytes."""
        kinds = self._kinds.values() if lane is None else (self.kind(lane),)
        return any(one.is_large and one.is_running() for one in kinds)

    def reader(self) -> "LaneReader":
        """One for each request, for it reads every lane once."""
        return LaneReader(self, self._store, self._clock, self._nodes)

    async def show(self, intent: str) -> Tx:
        """A transaction by its id, by its hash on chain, or by `LANE#NUMBER`."""
        intent = await self.named(intent)
        view = await self.intent(intent)
        return await (self.pruned(intent) if view is None else self.reader().tx(view))

    async def explained(self, tx: Tx) -> Tx:
        """The same with what only its chain can say of it."""
        return await self.kind(tx.lane).explained(tx)

    async def named(self, text: str) -> str:
        """The id of a transaction that its hash or `LANE#NUMBER` may name; an id comes back."""
        if is_name(str(text)):
            return await find(self._store, text, self._kinds)
        return text

    async def intent(self, intent: str) -> IntentView | None:
        """The rows of a transaction, or None if retention removed them."""
        if not is_intent_id(intent):
            raise IntentNotFound(intent)
        view = await self._store.intent(IntentId(intent))
        if view is not None and not self.is_listed(view.intent.lane):
            raise IntentNotFound(intent)
        return view

    async def pruned(self, intent: str) -> Tx:
        """What is left of an intent that retention removed."""
        left = await self._store.find(PRUNED_INDEX, intent)
        if left is None or not self.is_listed(left.lane):
            raise IntentNotFound(intent)
        return self.kind(left.lane).pruned(left)

    async def lanes(
        self, after: str | None, limit: int, may_see: Callable[[str], bool] = lambda _: True
    ) -> list[Lane]:
        """A page of lanes of every kind, by name, of those that the caller may see."""
        views = await self.listed(None if after is None else LaneId(after), limit, may_see)
        reader = self.reader()
        return [await reader.lane(view) for view in views]

    async def listed(
        self, after: LaneId | None, limit: int, may_see: Callable[[str], bool] = lambda _: True
    ) -> list[LaneView]:
        """A page of the lanes that have transactions, by name, of those that the caller may see:
        full unless there are no more."""
        found: list[LaneView] = []
        start, page = after, limit
        for prefix in self._prefixes:
            if start is not None and start > prefix and not start.startswith(prefix):
                continue
            start = LaneId(prefix) if start is None or start < prefix else start
            while len(found) < limit:
                views = await self._store.lanes(start, page)
                page = max(limit, LISTING_SCAN_PAGE)  # One page was not enough: many are hidden.
                own = [view for view in views if view.tail.lane.startswith(prefix)]
                found += [view for view in own if may_see(view.tail.lane)]
                if len(own) < len(views) or not views:
                    break
                start = views[-1].tail.lane
        return found[:limit]

    async def lane(self, lane: str) -> Lane:
        return await self.reader().lane(await self.lane_view(lane))

    async def health(self, lane: str) -> LaneHealth:
        """Whether a lane goes on by itself, and what a person should look at."""
        view = await self.lane_view(lane)
        health = self.kind(lane).health(view)
        return health_at(health, self._nodes.of(view.tail.lane))

    async def lane_view(self, lane: str) -> LaneView:
        """The rows of a lane, also of one that is configured and was never asked for anything."""
        return await self.kind(lane).view(lane)


class LaneReader:
    """For one request: it reads each lane once."""

    def __init__(self, views: Views, store: Store, clock: Clock, nodes: ProcessNodes) -> None:
        self._views = views
        self._store = store
        self._clock = clock
        self._nodes = nodes
        self._lanes: dict[LaneId, LaneView] = {}

    async def tx(self, view: IntentView) -> Tx:
        name = view.intent.lane
        if name not in self._lanes:
            lane = await self._store.lane(name)
            assert lane is not None
            self._lanes[name] = lane
        found = self._views.kind(name).tx(view, self._lanes[name])
        return tx_at(found, self._nodes.of(name))

    async def lane(self, view: LaneView) -> Lane:
        name = view.tail.lane
        oldest = await self._store.oldest(name)
        oldest_ms = None if oldest is None else oldest.accepted_ms
        found = self._views.kind(name).lane(view, oldest_ms, self._clock.now_ms())
        return lane_at(found, self._nodes.of(name))
