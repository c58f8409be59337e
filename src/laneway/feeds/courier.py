"""Reads the feed and hands every event that an endpoint wants to that endpoint's delivery lane.

The feed is written in the commit that it reports, so nothing is lost; a message's id follows from
the commit it reports, so nothing is accepted twice. How far it came is kept in the delivery lane's
own head. What a crash makes it read again was accepted before, and the store says so.
"""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct

from laneway.core.errors import Draining, LanewayError
from laneway.core.ids import ENTROPY_BYTES, LaneId, intent_id, lane_id, lane_kind
from laneway.core.intent import Arrival
from laneway.core.rows import Command, FeedEntry, Result
from laneway.engine.delivery import encode_message
from laneway.engine.listeners import Listener
from laneway.engine.passing import is_passing
from laneway.engine.shell import Engine
from laneway.feeds.events import EventsOf
from laneway.feeds.limits import (
    BEGIN_LOOKS_MAX,
    COURIER_PAGE,
    COURIER_TICK_S,
    EVENTS_A_COMMIT_MAX,
    MARK_ENTRIES,
    MARK_S,
    POLL_S,
)
from laneway.feeds.ring import Pager
from laneway.feeds.stream import end_of
from laneway.lanes.delivery.lane import read_head
from laneway.lanes.delivery.values import KIND, DeliveryHead
from laneway.ports import Clock, DeliveryMessage
from laneway.wire.values import Event

log = logging.getLogger("laneway.webhooks")

encode = msgspec.json.Encoder().encode


class EventSubscription(Struct, frozen=True):
    """The events that one endpoint wants. Both are globs, as in `transaction.*`."""

    endpoint: str
    events: tuple[str, ...] = ("*",)
    lanes: tuple[str, ...] = ("*",)

    def lane(self) -> LaneId:
        return lane_id(KIND, self.endpoint)

    def wants(self, event: Event) -> bool:
        return fits(event.type, self.events) and fits(event.data.lane, self.lanes)


def fits(name: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


class EndpointProgress:
    """How far the feed was passed on to one endpoint by this process."""

    def __init__(self, cursor: str, now_s: float) -> None:
        self.cursor = cursor
        self.unmarked = 0
        """Entries after the last mark. Those of delivery lanes do not count: a mark is one."""
        self.marked_s = now_s
        self.pager = Pager(COURIER_PAGE)

    def is_due(self, now_s: float) -> bool:
        if self.unmarked == 0:
            return False
        return self.unmarked >= MARK_ENTRIES or now_s - self.marked_s >= MARK_S


class Courier(Listener):
    """Works for the endpoints whose lanes are at home in this process.

    While homes move two processes may work for one endpoint: both hand over the same messages.
    """

    def __init__(
        self, subscriptions: Sequence[EventSubscription], clock: Clock, events_of: EventsOf
    ) -> None:
        self._events_of = events_of
        self._subscriptions = tuple(subscriptions)
        self._clock = clock
        self._engine: Engine | None = None
        self._routes: dict[str, EndpointProgress] = {}
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def notified(self, lane: LaneId, _records: Sequence[Any], _results: Sequence[Result]) -> None:
        if lane_kind(lane) != KIND:
            self._news.set()

    async def start(self, engine: Engine) -> None:
        """Returns when every endpoint has a durable place in the feed."""
        self._engine = engine
        if not self._subscriptions:
            return
        for subscription in self._subscriptions:
            if engine.is_home(subscription.lane()):
                await self._route(subscription)
        self._task = asyncio.create_task(self._run(), name="laneway-courier")
        self._task.add_done_callback(ended)

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _run(self) -> None:
        self._news.set()
        while True:
            try:
                async with asyncio.timeout(POLL_S):
                    await self._news.wait()
            except TimeoutError:
                pass
            self._news.clear()
            for subscription in self._subscriptions:
                try:
                    await self._carry(subscription)
                except Draining:
                    return
                except LanewayError as error:
                    if not is_passing(error):
                        log.warning("webhooks stop here: %s", error)
                        return
                    # The route keeps its cursor; what was accepted meanwhile is known by its id.
                    log.warning("the feed cannot be passed on now, it is tried again: %s", error)
            await asyncio.sleep(COURIER_TICK_S)

    async def _carry(self, subscription: EventSubscription) -> None:
        """Pass on all that is new, page by page."""
        assert self._engine is not None
        lane = subscription.lane()
        if not self._engine.is_home(lane):
            self._routes.pop(subscription.endpoint, None)
            return
        if (await self._head(lane)).mode == "disabled":
            return  # The feed keeps what an endpoint that is gone would have received.
        route = await self._route(subscription)
        while True:
            entries = await self._engine.store.feed(route.cursor, route.pager.count)
            pages = ((entry, self._events_of(entry)) for entry in entries)
            arrivals = [
                a for entry, events in pages for a in arrivals_of(entry, events, subscription)
            ]
            if arrivals:
                await self._engine.submit_many(arrivals)
            if entries:
                route.cursor = entries[-1].cursor
                route.unmarked += sum(lane_kind(entry.lane) != KIND for entry in entries)
            if route.is_due(self._now_s()):
                await self._mark(lane, route)
            if route.pager.saw(entries):
                return

    async def _route(self, subscription: EventSubscription) -> EndpointProgress:
        route = self._routes.get(subscription.endpoint)
        if route is None:
            lane = subscription.lane()
            cursor = (await self._head(lane)).feed
            if cursor is None:
                cursor = await self._begin(lane)
            route = self._routes[subscription.endpoint] = EndpointProgress(cursor, self._now_s())
        return route

    async def _begin(self, lane: LaneId) -> str:
        """The place of a new endpoint: it receives what happens from now on."""
        assert self._engine is not None
        route = EndpointProgress(await end_of(self._engine.store), self._now_s())
        await self._mark(lane, route)
        for _ in range(BEGIN_LOOKS_MAX):
            # Only what stands in the head is found by the next process.
            if (await self._head(lane)).feed is not None:
                return route.cursor
            await asyncio.sleep(COURIER_TICK_S)
        log.warning("%s has not noted its place in the feed yet", lane)
        return route.cursor

    async def _mark(self, lane: LaneId, route: EndpointProgress) -> None:
        assert self._engine is not None
        now_ms = self._clock.now_ms()
        await self._engine.tell(Command(0, lane, "fed", now_ms, word=route.cursor))
        route.unmarked, route.marked_s = 0, self._now_s()

    async def _head(self, lane: LaneId) -> DeliveryHead:
        assert self._engine is not None
        view = await self._engine.store.lane(lane)
        return DeliveryHead() if view is None else read_head(view.head.state)

    def _now_s(self) -> float:
        return self._clock.monotonic_ms() / 1000


def ended(task: "asyncio.Task[None]") -> None:
    """A bug must not end it unnoticed; the feed keeps what it did not carry."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        log.critical("webhooks are stopped by a bug until the next start", exc_info=error)


def arrivals_of(
    entry: FeedEntry, events: Sequence[Event], subscription: EventSubscription
) -> Iterator[Arrival]:
    """The messages that one commit has for one endpoint."""
    seen: dict[tuple[str, str | None], int] = {}
    for place, event in enumerate(events):
        about = (event.type, event.data.tx)
        repeat = seen[about] = seen.get(about, -1) + 1
        if not subscription.wants(event):
            continue
        assert place < EVENTS_A_COMMIT_MAX
        # Named by its content and not by its place: a later version may have more events.
        name = f"{subscription.endpoint}\0{entry.lane}\0{entry.version}\0{about}\0{repeat}"
        entropy = blake2b(name.encode(), digest_size=ENTROPY_BYTES).digest()
        intent = intent_id(entry.at_ms, entropy)
        body = body_of(event, entry.version * EVENTS_A_COMMIT_MAX + place)
        yield Arrival(
            id=intent,
            lane=subscription.lane(),
            payload=encode_message(DeliveryMessage(message_id(intent), event.type, body)),
            digest=b"",
            accepted_ms=entry.at_ms,
        )


def message_id(intent: str) -> str:
    return f"msg_{intent.partition('_')[2]}"


def body_of(event: Event, seq: int) -> bytes:
    """The event as the stream sends it, and `seq`: within a lane, later events have higher ones."""
    content = msgspec.to_builtins(event)
    content["data"]["seq"] = seq
    return encode(content)
