"""The asyncio store on Redis. Every answer comes from the server; nothing is kept at hand.

What one lane owns changes in one script, and so in one step. What finds a lane from elsewhere (the
home of an id, a caller's key, a name in an index) may live with another group of a Cluster: it is
reserved first, and says nothing until the lane itself agrees.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import chain
from secrets import token_hex
from typing import Any

import msgspec

from laneway.core.errors import Bug, LeaseLost, StoreBusy, StoreUnknown
from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import Accepted, Answer, Arrival, Conflict, Full, Replayed
from laneway.core.rows import Command, Index, Lease, Result
from laneway.ports import Alive, Clock, Commit, Durability, Lost, News
from laneway.stores.codec import encode
from laneway.stores.judge import check_class, leftovers
from laneway.stores.limits import PRUNE_SCAN_MAX, REPLICAS_WAIT_MS
from laneway.stores.redis.layout import LayoutCommand, Layouts
from laneway.stores.redis.limits import (
    ARRIVALS_PER_CALL_MAX,
    CALL_BYTES_MAX,
    COMMITS_PER_CALL_MAX,
    VIEWS_PER_CALL_MAX,
)
from laneway.stores.redis.reader import RedisReader, as_future, parts
from laneway.stores.redis.rows import keys
from laneway.stores.redis.rows.cells import (
    FINAL_STATUSES,
    command_parsed,
    ended_score,
    place_member,
    reservation,
    reservation_parsed,
)
from laneway.stores.redis.rows.keys import Names, cluster
from laneway.stores.redis.scripts.calls import LayoutChange, ScriptCall, ScriptCaller, key_of
from laneway.stores.redis.servers.news import listen
from laneway.stores.redis.servers.servers import Durable, Servers


class RedisStore(RedisReader):
    """One store for many processes, on one server or a Cluster."""

    shared = True

    def __init__(
        self,
        url: str,
        *,
        cluster_form: bool = False,
        prefix: str = keys.PREFIX,
        durability: Durable = "full",
        replicas_min: int | None = None,
        wait_timeout_ms: int = REPLICAS_WAIT_MS,
        clock: Clock | None = None,
        layouts: Layouts,
    ) -> None:
        """`replicas_min` replicas must have a write within `wait_timeout_ms` before it is
        answered; None asks for as many as the server was ever seen with. `clock` takes the place of
        the server's own, for tests alone. `layouts` are written beside the rows of their lanes, and
        keep a lane from being run where another program has its lock; nobody leaves them out
        without saying so."""
        names = cluster(prefix) if cluster_form else Names(prefix)
        sender = ScriptCaller(names, token_hex(8), layouts=layouts)
        servers = Servers(
            url, sender, durability=durability, replicas_min=replicas_min, wait_ms=wait_timeout_ms
        )
        super().__init__(servers, sender)
        self._clock = clock
        self._strangers: dict[LaneId, str] = {}
        """Lanes whose lock holds a foreign name, and that name."""
        self._closing = asyncio.Event()
        self.durability = Durability.FULL if durability == "full" else Durability.RELAXED

    async def open(self) -> "RedisStore":
        """Reach the servers and refuse those that could lose what was written to them."""
        try:
            await self._servers.open()
        except BaseException:
            await self._servers.close()
            raise
        return self

    async def look(self) -> str:
        """A description of the server; nothing is written."""
        return await self._servers.look()

    def _timed(self) -> ScriptCaller:
        if self._clock is None:
            return self._sender
        return msgspec.structs.replace(self._sender, now=str(self._clock.monotonic_ms()))

    # Any process, unfenced.

    @as_future
    async def accept(self, arrivals: Sequence[Arrival]) -> Sequence[Answer]:
        for arrival in arrivals:
            check_class(arrival)
        self._layout_views.remember(arrivals)
        if not self.names.tagged:
            return await self._placed(arrivals, here=True)
        answers: dict[int, Answer] = {}
        wanted = await self._reserved(arrivals, answers)
        placed = await self._placed(list(wanted.values()), here=False)
        for number, answer in zip(wanted, placed, strict=True):
            if isinstance(answer, Accepted) and answer.id != arrivals[number].id:
                # Its key was reserved by a caller who came no further: this is that intent.
                answer = Replayed(answer.id)
            answers[number] = answer
        return [answers[number] for number in range(len(arrivals))]

    async def _placed(self, arrivals: Sequence[Arrival], *, here: bool) -> list[Answer]:
        """Each arrival's place in its lane, or why it has none."""
        calls: list[tuple[ScriptCall, list[int]]] = []
        for shard, numbers in grouped(self.names, [one.lane for one in arrivals]).items():
            for part in portions(numbers, arrivals):
                chosen = [arrivals[number] for number in part]
                calls.append((self._sender.accept(shard, chosen, here=here), part))
        replies = await self._replies(calls)
        return [answered(one, replies[number]) for number, one in enumerate(arrivals)]

    async def _reserved(
        self, arrivals: Sequence[Arrival], answers: dict[int, Answer]
    ) -> dict[int, Arrival]:
        """Keys and ids reserved with their groups; what a key's first owner began is taken up."""
        wanted = dict(enumerate(arrivals))
        asked: dict[int, list[tuple[int, str, bytes]]] = {}
        for number, arrival in wanted.items():
            key = key_of(arrival)
            if key is not None:
                value = reservation(arrival.id, arrival.lane, arrival.digest)
                asked.setdefault(self.names.shard_of(key), []).append((number, key, value))
        for number, taken in (await self._reserve(keys.KEYS, asked)).items():
            intent, lane, digest = reservation_parsed(taken)
            if digest != wanted[number].digest:
                answers[number] = Conflict(intent)
                del wanted[number]
            else:
                # From here on another process may find the reservation and take the intent up
                # before we do: even our own id may be known to its lane already.
                wanted[number] = msgspec.structs.replace(
                    wanted[number], id=intent, lane=lane, fresh=False
                )
        asked = {}
        for number, arrival in wanted.items():
            shard = self.names.shard_of(arrival.id)
            asked.setdefault(shard, []).append((number, arrival.id, arrival.lane.encode()))
        for number, taken in (await self._reserve(keys.HOMES, asked)).items():
            if taken != wanted[number].lane.encode():
                home = LaneId(taken.decode())
                wanted[number] = msgspec.structs.replace(wanted[number], lane=home)
        return wanted

    async def _reserve(
        self, key: str, asked: dict[int, list[tuple[int, str, bytes]]]
    ) -> dict[int, bytes]:
        calls: list[tuple[ScriptCall, list[int]]] = []
        for shard, wanted in asked.items():
            members = [(member, value) for _, member, value in wanted]
            call = self._sender.reserve(shard, key, members)
            calls.append((call, [number for number, _, _ in wanted]))
        return await self._replies(calls)

    @as_future
    async def tell(self, command: Command) -> Command:
        number, value = await self._servers.run(self._sender.tell(command))
        return command_parsed(number, value)

    # Owners.

    @as_future
    async def beat(self, owner: Owner, ttl_ms: int) -> Alive | Lost:
        """Every group counts by the clock of its own server; one that buried it is enough."""
        sender = self._timed()
        calls = [sender.beat(shard, owner, ttl_ms) for shard in range(self.names.shards)]
        replies, _ = await asyncio.gather(self._written(calls), self._servers.count_replicas())
        self.durability = Durability.RELAXED if self._servers.weak else Durability.FULL
        if any(reply is None for reply in replies):
            return Lost()
        # The first group's answer, so that every process counts the same peers.
        return Alive(tuple(sorted(Owner(peer.decode()) for peer in replies[0])))

    @as_future
    async def leave(self, owner: Owner) -> None:
        asked = [
            self._servers.ask(
                shard, ("ZREM", self.names.shared(shard, keys.OWNERS), owner), write=True
            )
            for shard in range(self.names.shards)
        ]
        await together(asked)

    @as_future
    async def claim(self, lane: LaneId, owner: Owner, *, adopt: bool = False) -> Lease | None:
        """`adopt` takes a lane although the lock of its layout holds a foreign name."""
        sender = self._timed()
        reply = await self._servers.run(sender.claim(lane, owner, adopt=adopt))
        if reply is None:
            return None
        fence, buried = reply
        if fence == 0:
            self._strangers[lane] = buried.decode(errors="replace")
            return None
        self._strangers.pop(lane, None)
        own = self.names.shard_of(lane)
        if buried and self.names.shards > 1:
            # The fence already protects the lane; the other groups make sure it stops soon.
            others = [shard for shard in range(self.names.shards) if shard != own]
            dead = Owner(buried.decode())
            await self._written([sender.bury(shard, dead) for shard in others])
        return Lease(lane, owner, fence)

    async def _commit_with(
        self, commits: Sequence[Commit], beside: Sequence[LayoutChange | None]
    ) -> list[int | LeaseLost]:
        calls: list[tuple[ScriptCall, list[int]]] = []
        for shard, numbers in grouped(self.names, [one.lease.lane for one in commits]).items():
            for part in parts(numbers, COMMITS_PER_CALL_MAX):
                chosen, changed = [commits[n] for n in part], [beside[n] for n in part]
                calls.append((self._sender.commit(shard, chosen, changed), part))
        if self.names.tagged:
            await self._point(commits)
        replies = await self._replies(calls)
        return [written(one, replies[number]) for number, one in enumerate(commits)]

    @as_future
    async def commit(self, commits: Sequence[Commit]) -> Sequence[int | LeaseLost]:
        """What they change in the keys of layouts goes with them. If any was not written, the
        lane's rows are read again before the next."""
        try:
            answers = await self._commit_with(commits, await self._layout_views.changes(commits))
        except BaseException:
            for commit in commits:
                self._layout_views.forget(commit.lease.lane)
            raise
        for commit, answer in zip(commits, answers, strict=True):
            if isinstance(answer, LeaseLost):
                self._layout_views.forget(commit.lease.lane)
        return answers

    async def _point(self, commits: Sequence[Commit]) -> None:
        """Write first where a name may be found; the lane itself decides whether it is."""
        asked = []
        for commit in commits:
            for touch in commit.write.touched:
                if type(touch) is Index:
                    shard = self.names.shard_of(touch.value)
                    places = self.names.shared(shard, keys.PLACES)
                    line = ("ZADD", places, 0, place_member(touch))
                    asked.append(self._servers.ask(shard, line, write=True))
        if asked:
            await together(asked)

    @as_future
    async def release(self, lease: Lease) -> None:
        await self._servers.run(self._sender.release(lease))

    # Retention.

    @as_future
    async def prune(self, before_ms: int, feed_before_ms: int, limit: int) -> int:
        old = trimmed = 0
        for shard in range(self.names.shards):
            if old < limit:
                old += await self._prune_shard(shard, before_ms, limit - old)
            if trimmed < limit:
                trimmed += await self._servers.run(
                    self._sender.trim(shard, feed_before_ms, limit - trimmed)
                )
        return max(old, trimmed)

    async def _prune_shard(self, shard: int, before_ms: int, limit: int) -> int:
        ended = self.names.shared(shard, keys.ENDED)
        asked = []
        for status in FINAL_STATUSES:
            first, last = ended_score(status, 0), ended_score(status, before_ms)
            line = ("ZRANGEBYSCORE", ended, first, f"({last}", "LIMIT", 0, PRUNE_SCAN_MAX)
            asked.append(self._servers.ask(shard, line))
        lanes: dict[LaneId, list[IntentId]] = {}
        for page in await together(asked):
            for member in page:
                intent, _, lane = member.decode().partition(" ")
                lanes.setdefault(LaneId(lane), []).append(IntentId(intent))
        pruned = 0
        for lane, intents in lanes.items():
            for part in parts(intents, VIEWS_PER_CALL_MAX):
                if pruned == limit:
                    return pruned
                pruned += await self._prune_lane(lane, part, limit - pruned)
        return pruned

    async def _prune_lane(self, lane: LaneId, intents: list[IntentId], limit: int) -> int:
        resting: list[tuple[IntentId, bytes]] = []
        for view in await self._views(lane, intents):
            if view.result is not None and not view.open:
                left = leftovers(view.intent, view.result)[0]
                resting.append((view.intent.id, encode(left)))
        if not resting:
            return 0
        pruned: int = await self._servers.run(self._sender.prune(lane, resting[:limit]))
        return pruned

    # The store itself.

    async def _written(self, calls: Sequence[ScriptCall]) -> list[Any]:
        return await together([self._servers.run(call) for call in calls])

    async def _replies(self, calls: Sequence[tuple[ScriptCall, list[int]]]) -> dict[int, Any]:
        """The replies to calls that ask about many, each under the number of what it is about."""
        answers = zip(calls, await self._written([call for call, _ in calls]), strict=True)
        pairs = (zip(part, replies, strict=True) for (_, part), replies in answers)
        return dict(chain.from_iterable(pairs))

    def go_along(self, lane: LaneId, commands: list[LayoutCommand]) -> None:
        """What changes in the layout's keys with the lane's next commit, besides what it shows."""
        self._layout_views.add(lane, commands)

    async def raw(self, *line: str | int | bytes) -> Any:
        """One command to a plain server, for those who take over what others left there."""
        return await self._servers.ask(0, line, write=True)

    def cautions(self) -> list[str]:
        return self._servers.unsafe() + [
            f"{lane} is not taken: its lock bears the name {name!r}, which is not ours; stop that "
            f"worker, then run 'laneway lane adopt {lane}'"
            for lane, name in sorted(self._strangers.items())
        ]

    async def news(self) -> AsyncIterator[News]:
        """What other processes did, as long as the store is open."""
        async for news in listen(self._servers, self._sender, self._closing):
            yield news

    def close(self) -> "asyncio.Future[None]":
        return asyncio.ensure_future(self._close())

    async def _close(self) -> None:
        self.is_closed = True
        self._closing.set()
        await self._servers.close()


async def together(asked: Sequence["asyncio.Future[Any]"]) -> list[Any]:
    """All answers, or the error that says least about what changed."""
    if len(asked) == 1:
        return [await asked[0]]
    replies = await asyncio.gather(*asked, return_exceptions=True)
    errors = [reply for reply in replies if isinstance(reply, BaseException)]
    if not errors:
        return replies
    for error in errors:
        if not isinstance(error, StoreBusy):
            raise error
    if len(errors) < len(replies):
        raise StoreUnknown(f"a part was written and a part was not: {errors[0]}")
    raise errors[0]


def grouped(names: Names, lanes: Sequence[LaneId]) -> dict[int, list[int]]:
    """The places of these lanes, by the group that holds each."""
    if names.shards == 1:
        return {0: [*range(len(lanes))]}
    groups: dict[int, list[int]] = {}
    for number, lane in enumerate(lanes):
        groups.setdefault(names.shard_of(lane), []).append(number)
    return groups


def portions(numbers: list[int], arrivals: Sequence[Arrival]) -> list[list[int]]:
    """Arrivals of one call each: bounded in number and in bytes, and at least one."""
    made: list[list[int]] = []
    size = 0
    for number in numbers:
        size += len(arrivals[number].payload)
        if not made or len(made[-1]) == ARRIVALS_PER_CALL_MAX or size > CALL_BYTES_MAX:
            made.append([])
            size = len(arrivals[number].payload)
        made[-1].append(number)
    return made


def answered(arrival: Arrival, reply: list[Any]) -> Answer:
    kind = reply[0]
    if kind == b"accepted":
        return Accepted(arrival.id, reply[1], reply[2], reply[3], bool(reply[4]))
    if kind == b"full":
        return Full(reply[1].decode(), int(reply[2]))
    intent = IntentId(reply[1].decode())
    if kind == b"bug":
        raise Bug(f"{intent} was said to be fresh, but it is known")
    return Replayed(intent) if kind == b"replayed" else Conflict(intent)


def written(commit: Commit, reply: int) -> int | LeaseLost:
    lease, version = commit.lease, commit.version
    if reply in (1, 2):
        return version
    if reply == 0:
        return LeaseLost(lease.lane, lease.fence, version)
    if reply == -1:
        raise Bug(f"{lease.lane}: version {version} was written with other rows")
    ended = [touch.intent for touch in commit.write.touched if type(touch) is Result]
    raise Bug(f"a final answer is there already, or its intent is not: {', '.join(ended)}")
