"""What can be read from Redis: committed rows, each answer from one moment of one lane's group."""

import asyncio
import heapq
from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from itertools import chain
from typing import Any, Concatenate, ParamSpec, TypeVar

from laneway.core.errors import LeaseLost, StoreRefused
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import BacklogPage, IntentRow
from laneway.core.outcome import Status
from laneway.core.rows import (
    Command,
    Cursors,
    FeedEntry,
    Index,
    LaneView,
    Lease,
    Result,
    Rows,
    all_classes,
)
from laneway.ports import IntentView
from laneway.stores.codec import decode_index, decode_result
from laneway.stores.judge import ID_INDEX, KEY_INDEX
from laneway.stores.redis.limits import FEED_CHUNK, LANES_PER_PAGE_MAX, VIEWS_PER_CALL_MAX
from laneway.stores.redis.rows import keys
from laneway.stores.redis.rows.cells import (
    HEAD_FIELDS,
    NAMED,
    SEPARATOR,
    TIME_BITS,
    FeedLine,
    command_parsed,
    ended_score,
    feed_cursor,
    feed_parsed,
    feed_places,
    head_parsed,
    home_parsed,
    index_member,
    intent_parsed,
    open_parsed,
    reservation_parsed,
    score,
    settled_member,
)
from laneway.stores.redis.scripts.calls import ScriptCaller
from laneway.stores.redis.servers.servers import Servers
from laneway.stores.redis.views import LayoutViews
from laneway.stores.requests import refused

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R", bound="RedisReader")


def as_future(
    method: Callable[Concatenate[R, P], Coroutine[Any, Any, T]],
) -> "Callable[Concatenate[R, P], asyncio.Future[T]]":
    """The method's answer as a future; a store that is closed refuses."""

    @wraps(method)
    def ask(self: R, /, *args: P.args, **kwargs: P.kwargs) -> "asyncio.Future[T]":
        if not self.is_closed:
            return asyncio.ensure_future(method(self, *args, **kwargs))
        return refused(StoreRefused("the store", "it is closed"))

    return ask


class RedisReader:
    """The readers of the store; a lane's rows are read where the lane is."""

    def __init__(self, servers: Servers, sender: ScriptCaller) -> None:
        self._servers = servers
        self._sender = sender
        self.names = sender.names
        self._layout_views = LayoutViews(sender.names, sender.layouts, self.load, self._times)
        self.is_closed = False

    # For owners.

    @as_future
    async def ready(self, now_ms: int, after: LaneId | None, limit: int) -> list[LaneId]:
        calls = [
            self._sender.ready(shard, now_ms, after, limit) for shard in range(self.names.shards)
        ]
        found: list[LaneId] = []
        for awake, due in await asyncio.gather(*map(self._servers.run, calls)):
            found += [LaneId(lane.decode()) for lane in (*awake, *due)]
        return heapq.nsmallest(limit, (lane for lane in found if after is None or lane > after))

    @as_future
    async def load(self, lease: Lease) -> Rows:
        reply = await self._servers.run(self._sender.load(lease))
        if reply is None or isinstance(reply, int):
            raise LeaseLost(lease.lane, lease.fence, reply or 0)
        flat, named, mail = reply
        held, found = paired(flat), intents_parsed(named)
        return Rows(
            head_parsed(lease.lane, held)[1],
            open_parsed(held),
            tuple(sorted(found, key=lambda row: row.id)),
            mailbox_parsed(mail),
        )

    @as_future
    async def backlog(self, lease: Lease, after: Cursors, limit: int) -> BacklogPage:
        reply = await self._servers.run(self._sender.backlog(lease.lane, all_classes(after), limit))
        if reply is None:
            raise LeaseLost(lease.lane, lease.fence, 0)
        more, found = reply
        page = tuple(intents_parsed(found))
        self._layout_views.remember(page)
        return BacklogPage(page, more=bool(more))

    @as_future
    async def mailbox(self, lease: Lease) -> Sequence[Command]:
        head, mail = self.names.lane(lease.lane, keys.LANE, keys.MAIL)
        there, found = await asyncio.gather(
            self._lane_ask(lease.lane, "EXISTS", head), self._lane_ask(lease.lane, "HGETALL", mail)
        )
        if not there:
            raise LeaseLost(lease.lane, lease.fence, 0)
        return mailbox_parsed(found)

    async def _times(self, intents: Sequence[IntentId]) -> dict[IntentId, int]:
        """When intents of a plain store came in."""
        kept = self.names.shared(0, keys.INTENTS)
        found = await self._servers.ask(0, ("HMGET", kept, *intents)) if intents else []
        return {
            intent: intent_parsed(intent.encode(), b"0", value).accepted_ms
            for intent, value in zip(intents, found, strict=True)
            if value is not None
        }

    def _lane_ask(self, lane: LaneId, *line: str | int) -> "asyncio.Future[Any]":
        return self._servers.ask(self.names.shard_of(lane), line)

    # Intents.

    @as_future
    async def intent(self, intent: IntentId) -> IntentView | None:
        lane = await self._home(intent)
        views = [] if lane is None else await self._views(lane, [intent])
        return views[0] if views else None

    async def _home(self, intent: IntentId) -> LaneId | None:
        """The lane that an id was reserved for; it may not have taken it."""
        shard = self.names.shard_of(intent)
        shared = self.names.shareds(shard, keys.HOMES, keys.INTENTS, keys.LEFT)
        if self.names.tagged:
            home = await self._servers.ask(shard, ("HGET", shared[0], intent))
            return None if home is None else LaneId(home.decode())
        kept, left = await asyncio.gather(
            self._servers.ask(shard, ("HGET", shared[1], intent)),
            self._servers.ask(shard, ("HGET", shared[2], intent)),
        )
        if kept is not None:
            return home_parsed(kept)
        return None if left is None else decode_index(left).lane

    async def _views(self, lane: LaneId, intents: Sequence[IntentId]) -> list[IntentView]:
        """Those of these intents that the lane has."""
        if not intents:
            return []
        assert len(intents) <= VIEWS_PER_CALL_MAX
        replies = await self._servers.run(self._sender.view(lane, intents))
        pairs = zip(intents, replies, strict=True)
        return [view_parsed(intent, *reply) for intent, reply in pairs if reply is not None]

    @as_future
    async def answers(self, lane: LaneId, intents: Sequence[IntentId]) -> list[Result]:
        views = await self._views(lane, intents)
        return [view.result for view in views if view.result is not None]

    @as_future
    async def find(self, name: str, value: str) -> Index | None:
        if name == ID_INDEX:
            home = await self._home(IntentId(value))
            return None if home is None else await self._left(home, IntentId(value))
        if name == KEY_INDEX:
            return await self._find_key(value)
        shard = self.names.shard_of(value)
        start = index_member(name, value) + SEPARATOR
        places = self.names.shared(shard, keys.PLACES)
        # The separator's successor ends the range of what begins with it.
        stop = start[:-1] + chr(ord(SEPARATOR) + 1)
        line = ("ZRANGEBYLEX", places, f"[{start}", f"({stop}")
        for place in await self._servers.ask(shard, line):
            lane = LaneId(place.decode()[len(start) :])
            (indexes,) = self.names.lane(lane, keys.INDEXES)
            found = await self._lane_ask(lane, "HGET", indexes, index_member(name, value))
            if found is not None:
                return decode_index(found)
        return None

    async def _left(self, lane: LaneId, intent: IntentId) -> Index | None:
        left = self.names.shared(self.names.shard_of(lane), keys.LEFT)
        found = await self._lane_ask(lane, "HGET", left, intent)
        return None if found is None else decode_index(found)

    async def _find_key(self, value: str) -> Index | None:
        """A reservation counts once its lane has taken the intent."""
        shard = self.names.shard_of(value)
        line = ("HGET", self.names.shared(shard, keys.KEYS), value)
        taken = await self._servers.ask(shard, line)
        if taken is None:
            return None
        intent, lane, digest = reservation_parsed(taken)
        left = await self._left(lane, intent)
        if left is not None:
            return Index(KEY_INDEX, value, intent, lane, digest, left.status, left.hash)
        intents = self.names.shared(self.names.shard_of(lane), keys.INTENTS)
        if not await self._lane_ask(lane, "HEXISTS", intents, intent):
            return None
        return Index(KEY_INDEX, value, intent, lane, digest)

    # Lanes.

    @as_future
    async def lane(self, lane: LaneId) -> LaneView | None:
        (head,) = self.names.lane(lane, keys.LANE)
        values = await self._lane_ask(lane, "HMGET", head, *HEAD_FIELDS)
        fields = {name: value for name, value in zip(HEAD_FIELDS, values, strict=True) if value}
        if not fields:
            return None
        tail, found = head_parsed(lane, fields)
        return LaneView(tail, found, found.owner is not None)

    @as_future
    async def lanes(self, after: LaneId | None, limit: int) -> list[LaneView]:
        names = await self._named(keys.LANES, after, limit)
        views = await asyncio.gather(*map(self.lane, names))
        return [view for view in views if view is not None]

    async def _named(self, key: str, after: LaneId | None, limit: int) -> list[LaneId]:
        """Lanes of all groups by name."""
        start = "-" if after is None else f"({after}"
        asked = [
            self._servers.ask(
                shard,
                ("ZRANGEBYLEX", self.names.shared(shard, key), start, "+", "LIMIT", 0, limit),
            )
            for shard in range(self.names.shards)
        ]
        found = [LaneId(lane.decode()) for page in await asyncio.gather(*asked) for lane in page]
        return heapq.nsmallest(limit, found)

    @as_future
    async def oldest(self, lane: LaneId) -> IntentRow | None:
        view = await self.lane(lane)
        if view is None:
            return None
        reply = await self._servers.run(
            self._sender.backlog(lane, all_classes(view.head.cursors), 1)
        )
        found = [] if reply is None else intents_parsed(reply[1])
        return found[0] if found else None

    # Pages.

    @as_future
    async def page(self, status: str, after: IntentId | None, limit: int) -> list[IntentView]:
        wanted = Status(status)
        if wanted.is_final():
            return await self._final(wanted, after, limit)
        return await self._unsettled(after, limit, queued=wanted is Status.QUEUED)

    async def _final(self, status: Status, after: IntentId | None, limit: int) -> list[IntentView]:
        """By the time they ended. What is pruned ended before all that is left."""
        start, stop = ended_score(status.value, 0), ended_score(status.value, 1 << TIME_BITS)
        after_place = (start - 1, "")
        if after is not None:
            view = await self.intent(after)
            if view is not None:
                if view.result is None or view.result.status != status.value:
                    return []  # Nothing comes after what has not ended so.
                member = settled_member(after, view.intent.lane)
                after_place = (ended_score(status.value, view.result.settled_ms), member)
        shards = range(self.names.shards)
        pages = await asyncio.gather(*(self._ended(s, after_place, stop, limit) for s in shards))
        found = heapq.nsmallest(limit, [one for page in pages for one in page])
        views: list[IntentView] = []
        for part in parts(found, VIEWS_PER_CALL_MAX):
            places = [member.partition(" ") for _, member in part]
            asked = [self._views(LaneId(lane), [IntentId(intent)]) for intent, _, lane in places]
            views += chain.from_iterable(await asyncio.gather(*asked))
        return views

    async def _ended(
        self, shard: int, after: tuple[int, str], stop: int, limit: int
    ) -> list[tuple[int, str]]:
        """One group's finished intents after a place; many may have ended at one moment."""
        key = self.names.shared(shard, keys.ENDED)
        found: list[tuple[int, str]] = []
        skipped = 0
        while True:
            line = ("ZRANGEBYSCORE", key, after[0], f"({stop}", "WITHSCORES")
            flat = await self._servers.ask(shard, (*line, "LIMIT", skipped, limit))
            page = [(int(float(flat[i + 1])), flat[i].decode()) for i in range(0, len(flat), 2)]
            found += [one for one in page if one > after]
            if len(page) < limit or len(found) >= limit:
                return found[:limit]
            skipped += limit

    async def _unsettled(
        self, after: IntentId | None, limit: int, *, queued: bool
    ) -> list[IntentView]:
        """Lane by lane: whatever is not settled is in a lane that has work."""
        found: list[IntentView] = []
        last = None if after is None else await self._home(after)
        if last is not None:
            assert after is not None
            found = await self._waiting(last, after, limit, queued=queued)
        while len(found) < limit:
            lanes = await self._named(keys.AWAKE, last, LANES_PER_PAGE_MAX)
            if not lanes:
                break
            for lane in lanes:
                found += await self._waiting(lane, None, limit - len(found), queued=queued)
                last = lane
                if len(found) == limit:
                    break
        return found

    async def _waiting(
        self, lane: LaneId, after: IntentId | None, limit: int, *, queued: bool
    ) -> list[IntentView]:
        if not queued:
            return await self._begun(lane, after, limit)
        view = await self.lane(lane)
        if view is None:
            return []
        cursors = list(all_classes(view.head.cursors))
        place = None if after is None else await self._place(lane, after)
        if place is not None:
            priority, seq = place
            for class_ in range(priority):
                cursors[class_] = view.tail.seq_next
            cursors[priority] = max(cursors[priority], seq)
        rows: list[IntentRow] = []
        while len(rows) < limit:
            # A page is bounded in bytes too, so that one may hold fewer than were asked for.
            call = self._sender.backlog(lane, tuple(cursors), limit - len(rows))
            reply = await self._servers.run(call)
            page = [] if reply is None else intents_parsed(reply[1])
            for row in page:
                cursors[: row.priority] = [view.tail.seq_next] * row.priority
                cursors[row.priority] = row.seq
            rows += page
            if reply is None or not reply[0]:
                break
        return [IntentView(row, None, False) for row in rows]

    async def _place(self, lane: LaneId, intent: IntentId) -> tuple[int, int] | None:
        (order,) = self.names.lane(lane, keys.ORDER)
        scored = await self._lane_ask(lane, "ZSCORE", order, intent)
        return None if scored is None else divmod(int(float(scored)), score(1, 0))

    async def _begun(self, lane: LaneId, after: IntentId | None, limit: int) -> list[IntentView]:
        """Intents that an open row names and that have no final answer, by id."""
        (held,) = self.names.lane(lane, keys.LANE)
        members = [member.decode() for member in await self._lane_ask(lane, "HKEYS", held)]
        known = [IntentId(member[1:]) for member in members if member.startswith(NAMED)]
        wanted = sorted(intent for intent in known if after is None or intent > after)
        found: list[IntentView] = []
        for part in parts(wanted, VIEWS_PER_CALL_MAX):
            views = await self._views(lane, part)
            found += [view for view in views if view.result is None]
            if len(found) >= limit:
                break
        return found[:limit]

    @as_future
    async def history(self, lane: LaneId, after: IntentId | None, limit: int) -> list[IntentView]:
        (order,) = self.names.lane(lane, keys.ORDER)
        place = None if after is None else await self._place(lane, after)
        start = "-inf" if place is None else f"({score(*place)}"
        found = await self._lane_ask(lane, "ZRANGEBYSCORE", order, start, "+inf", "LIMIT", 0, limit)
        views: list[IntentView] = []
        for part in parts(found, VIEWS_PER_CALL_MAX):
            views += await self._views(lane, [IntentId(one.decode()) for one in part])
        return views

    # The feed.

    @as_future
    async def feed(self, after: str, limit: int) -> list[FeedEntry]:
        """Each group's entries in their order; the cursor says how far each of them was read."""
        places = feed_places(after, self.names.shards)
        asked = [self._feed_of(shard, place, limit) for shard, place in enumerate(places)]
        entries: list[FeedEntry] = []
        pages = await asyncio.gather(*asked)
        for at_ms, shard, place, lane, version, records in heapq.merge(*pages, key=lambda e: e[0]):
            if len(entries) == limit:
                break
            places[shard] = place
            entries.append(FeedEntry(feed_cursor(places), lane, version, at_ms, records))
        return entries

    @as_future
    async def feed_end(self) -> str:
        shards = range(self.names.shards)
        return feed_cursor(list(await asyncio.gather(*map(self._last_number, shards))))

    async def _last_number(self, shard: int) -> int:
        """The number of the last commit in a group's feed; zero when nothing is left."""
        line = ("XREVRANGE", self.names.shared(shard, keys.FEED), "+", "-", "COUNT", 1)
        page = await self._servers.ask(shard, line)
        return int(page[0][0].partition(b"-")[2]) if page else 0

    async def _feed_of(self, shard: int, place: int, limit: int) -> list[FeedLine]:
        """A group's feed after a place. An entry of the stream holds many commits."""
        key = self.names.shared(shard, keys.FEED)
        found: list[FeedLine] = []
        while len(found) < limit:
            line = ("XRANGE", key, f"(0-{place}", "+", "COUNT", FEED_CHUNK)
            page = await self._servers.ask(shard, line)
            for entry in page:
                found += [line for line in feed_parsed(shard, entry) if line[2] > place]
            if len(page) < FEED_CHUNK:
                break
            place = found[-1][2]
        return found[:limit]


def parts(whole: list[T], size: int) -> list[list[T]]:
    return [whole[start : start + size] for start in range(0, len(whole), size)]


def paired(flat: list[bytes]) -> dict[str, bytes]:
    """A hash from the flat list that the server answers."""
    return {flat[i].decode(): flat[i + 1] for i in range(0, len(flat), 2)}


def intents_parsed(flat: list[bytes]) -> list[IntentRow]:
    return [intent_parsed(flat[i], flat[i + 1], flat[i + 2]) for i in range(0, len(flat), 3)]


def view_parsed(
    intent: IntentId, scored: bytes, body: bytes, result: bytes, named: bytes
) -> IntentView:
    row = intent_parsed(intent.encode(), scored, body)
    return IntentView(row, decode_result(result) if result else None, int(named) > 0)


def mailbox_parsed(flat: list[bytes]) -> tuple[Command, ...]:
    found = [command_parsed(flat[i], flat[i + 1]) for i in range(0, len(flat), 2)]
    return tuple(sorted(found, key=lambda command: command.id))
