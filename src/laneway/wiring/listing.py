"""Pages of transactions, by keyset: each page begins after the last row of the page before."""

import asyncio
from collections.abc import Sequence

from laneway.core.ids import IntentId, LaneId
from laneway.kinds.limits import LISTING_SCAN_MAX, LISTING_SCAN_PAGE
from laneway.ports import IntentView, Store
from laneway.server.desk import Listing
from laneway.wire.cursor import TxPlace
from laneway.wire.values import Tx
from laneway.wiring.limits import LISTING_LARGE_PAGE
from laneway.wiring.views import Views

Page = tuple[Sequence[Tx], TxPlace | None]


class Lister:
    """Reads pages for one request; it remembers the lanes it met. Of what may have megabytes few
    are read at once."""

    def __init__(self, store: Store, views: Views, listing: Listing) -> None:
        self._store = store
        self._views = views
        self._reader = views.reader()
        self._listing = listing
        self._items: list[Tx] = []
        self._scanned = 0

    async def page(self) -> Page:
        if self._listing.status is not None and self._listing.lane is None:
            return await self._by_status(self._listing.status)
        return await self._by_lane()

    async def _by_status(self, status: str) -> Page:
        listing = self._listing
        after = None if listing.after is None else IntentId(listing.after.intent)
        large = self._views.is_large()
        page = min(listing.limit, LISTING_LARGE_PAGE) if large else listing.limit
        while self._scanned < LISTING_SCAN_MAX:
            views = await self._store.page(status, after, page)
            place = await self._take(views)
            if place is not None:
                return self._items, place
            if len(views) < page:
                return self._items, None
            after = views[-1].intent.id
        return self._items, None if after is None else TxPlace("", after)

    async def _by_lane(self) -> Page:
        """One lane in its own order, or all of them, lane by lane."""
        listing = self._listing
        place = listing.after
        lane = LaneId(listing.lane) if listing.lane is not None else None
        if lane is None:
            lane = await self._next(None) if place is None else LaneId(place.lane)
        after = None if place is None else IntentId(place.intent)
        while lane is not None:
            if self._views.is_listed(lane) and listing.may_see(lane):
                full = await self._history(lane, after)
                if full is not None:
                    return self._items, full
            if listing.lane is not None:
                return self._items, None
            lane, after = await self._next(lane), None
        return self._items, None

    async def _history(self, lane: LaneId, after: IntentId | None) -> TxPlace | None:
        """Take a lane's rows; the place to go on, when this page is full."""
        page = LISTING_LARGE_PAGE if self._views.is_large(lane) else LISTING_SCAN_PAGE
        while True:
            views = await self._store.history(lane, after, page)
            place = await self._take(views)
            if place is not None:
                return place
            if len(views) < page:
                return None
            after = views[-1].intent.id
            if self._scanned >= LISTING_SCAN_MAX:
                return TxPlace(lane, after)
            await asyncio.sleep(0)

    async def _take(self, views: Sequence[IntentView]) -> TxPlace | None:
        listing = self._listing
        for view in views:
            self._scanned += 1
            lane = view.intent.lane
            if not (self._views.is_listed(lane) and listing.may_see(lane)):
                continue
            tx = await self._reader.tx(view)
            if listing.status in (None, tx.status):
                self._items.append(tx)
                if len(self._items) == listing.limit:
                    return TxPlace(view.intent.lane, view.intent.id)
        return None

    async def _next(self, lane: LaneId | None) -> LaneId | None:
        self._scanned += 1
        views = await self._views.listed(lane, 1, self._listing.may_see)
        return views[0].tail.lane if views else None
