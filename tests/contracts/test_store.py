"""The laws of a store: one suite for every Book, and for the asyncio store over each.

A Desk drives any of them, one call or one group at a time, in the words of a caller.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import redis_servers
from tests.servers import PostgresServer

from laneway.core.errors import BadRequest, Bug, LeaseLost
from laneway.core.ids import IntentId, LaneId, Owner, intent_id
from laneway.core.intent import Accepted, Arrival, Conflict, Full, IntentRow, Replayed, placed
from laneway.core.outcome import Outcome
from laneway.core.rows import (
    START,
    Command,
    Cursors,
    HeadWrite,
    Index,
    Lease,
    Result,
    RowKey,
    RowPut,
    Table,
    Touched,
    Write,
)
from laneway.lanes.contract import ContractSettings, contract_kind
from laneway.lanes.contract.values import ExecutionReturned, HeightRead, SearchReturned
from laneway.ports import Alive, Commit, IntentView, Lost, Store
from laneway.sim.disk import SimDisk
from laneway.stores.book import Book, flush
from laneway.stores.group import GroupStore
from laneway.stores.judge import KEY_INDEX, key_value
from laneway.stores.limits import BACKLOG_PAGE_BYTES_MAX
from laneway.stores.memory import MemoryBook
from laneway.stores.postgres import PostgresStore
from laneway.stores.redis import RedisStore
from laneway.stores.redis.layout import NO_LAYOUTS
from laneway.stores.sqlite import SqliteBook

A = LaneId("contract:a")
B = LaneId("contract:b")
ME = Owner("me")
YOU = Owner("you")
TTL_MS = 10_000

BOOKS = ("memory", "sqlite", "disk")
GROUPS = ("memory never", "memory always", "sqlite never", "sqlite always", "disk never")
"""A disk's one connection reads between groups only, so its store syncs on the loop."""
ALONE = ("sqlite", "sqlite never", "sqlite always", "disk", "disk never")
"""Those that outlive their process and belong to one at a time."""
SHARED = ("postgres", "redis", "redis cluster")
"""Those that many processes share; they have no Book."""
KEPT = (*ALONE, *SHARED)
"""Those that outlive their process."""

READS = {
    *("ready", "load", "backlog", "mailbox", "intent", "find", "lane", "lanes", "oldest"),
    *("page", "history", "feed", "feed_end"),
}


class Clock:
    ms = 1_000

    def now_ms(self) -> int:
        raise AssertionError("leases are not counted by a clock that can be set")

    def monotonic_ms(self) -> int:
        return self.ms


class ServerClock(Clock):
    """The server's clock, in place of the one that a schema is made with."""

    def __init__(self, server: PostgresServer, schema: str) -> None:
        self._set = f"CREATE OR REPLACE FUNCTION {schema}.now_ms() RETURNS bigint LANGUAGE sql AS "
        self._server = server
        self.ms = 1_000

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "ms":
            self._server.run(f"{self._set} 'SELECT {value}::bigint'")


class Desk:
    """A store and its only caller."""

    def __init__(
        self,
        make: Callable[[], Book],
        thread: Literal["never", "always"] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._make = make
        self._thread = thread
        self._runner: asyncio.Runner | None = None
        self.clock = clock or Clock()
        self.open()

    def open(self) -> None:
        self.book = self._make()
        if self._thread is not None:
            self._runner = asyncio.Runner()
            self._store: Store = GroupStore(self.book, self.clock, thread=self._thread)

    def close(self) -> None:
        if self._runner is None:
            self.book.close()
        else:
            self._runner.run(self._closed())
            self._runner.close()

    async def _closed(self) -> None:
        await self._store.close()

    def reopen(self) -> None:
        self.close()
        self.open()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(self.ask, name)

    def ask(self, name: str, *args: Any) -> Any:
        (answer,) = self.together((name, *args))
        if isinstance(answer, Exception):
            raise answer
        return answer

    def together(self, *requests: tuple[Any, ...]) -> list[Any]:
        """Several requests of one moment: one group, an answer or an error for each."""
        if self._runner is None:
            return self._directly(requests)
        return self._runner.run(self._grouped(requests))

    async def _grouped(self, requests: Sequence[tuple[Any, ...]]) -> list[Any]:
        asked = [self._asked(*request) for request in requests]
        return await asyncio.gather(*asked, return_exceptions=True)

    def _asked(self, name: str, *args: Any) -> "asyncio.Future[Any]":
        if name == "commit":
            lease, version, write = args
            written = self._store.commit([Commit(lease, version, write)])
            return asyncio.ensure_future(self._committed(written))
        asked: asyncio.Future[Any] = getattr(self._store, name)(*args)
        return asked

    async def _committed(self, written: "asyncio.Future[Sequence[int | LeaseLost]]") -> int:
        (answer,) = await written
        if isinstance(answer, LeaseLost):
            raise answer
        return answer

    def _directly(self, requests: Sequence[tuple[Any, ...]]) -> list[Any]:
        if requests[0][0] in READS:
            ((name, *args),) = requests
            return [getattr(self.book, name)(*args)]
        self.book.begin()
        answers = []
        for name, *args in requests:
            now = (self.clock.ms,) if name in ("beat", "claim") else ()
            try:
                answers.append(getattr(self.book, name)(*args, *now))
            except LeaseLost as lost:
                answers.append(lost)
            except Bug:
                self.book.rollback()
                raise
        flush(self.book)
        return answers

    # What most stories begin with.

    def owned(self, lane: LaneId = A, owner: Owner = ME) -> Lease:
        self.ask("beat", owner, TTL_MS)
        lease = self.ask("claim", lane, owner)
        assert isinstance(lease, Lease)
        return lease

    def accepted(self, *arrivals: Arrival) -> list[Accepted]:
        answers = self.ask("accept", arrivals)
        assert all(isinstance(answer, Accepted) for answer in answers)
        return list(answers)


class SharedDesk(Desk):
    """A store on servers of its own, and one of its callers."""

    def __init__(self, make: Callable[[Clock], Store], clock: Clock | None = None) -> None:
        self._make_store = make
        super().__init__(MemoryBook, "never", clock)

    def open(self) -> None:
        self._runner = asyncio.Runner()
        self._store = self._runner.run(self._opened())

    async def _opened(self) -> Any:
        return self._make_store(self.clock)


@contextmanager
def opened(variant: str, folder: Path) -> Iterator[Desk]:
    kind, _, thread = variant.partition(" ")
    disk = SimDisk()
    makes: dict[str, Callable[[], Book]] = {
        "memory": MemoryBook,
        "sqlite": lambda: SqliteBook(str(folder / "laneway.db")),
        "disk": lambda: SqliteBook("laneway.db", vfs=disk.name, exclusive=True),
    }
    desk = Desk(makes[kind], "never" if thread == "never" else "always" if thread else None)
    try:
        yield desk
    finally:
        desk.close()
        disk.close()


@contextmanager
def shared(make: Callable[[Clock], Store], clock: Clock | None = None) -> Iterator[Desk]:
    desk = SharedDesk(make, clock)
    try:
        yield desk
    finally:
        desk.close()


def postgres_desk(server: PostgresServer) -> AbstractContextManager[Desk]:
    schema = server.schema()

    def make(_: Clock | None = None) -> Store:
        return PostgresStore(server.conninfo, schema=schema)

    make()  # The schema, whose clock is replaced before anyone looks at it.
    return shared(make, ServerClock(server, schema))


def redis_desk(count: int) -> AbstractContextManager[Desk]:
    servers = redis_servers.shared(count)
    redis_servers.empty(servers)
    return shared(
        lambda clock: RedisStore(
            servers[0].url, cluster_form=len(servers) > 1, clock=clock, layouts=NO_LAYOUTS
        )
    )


@pytest.fixture(params=[*BOOKS, *GROUPS, *SHARED])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    if request.param == "postgres":
        opening = postgres_desk(request.getfixturevalue("postgres_server"))
    elif request.param in SHARED:
        opening = redis_desk(3 if request.param == "redis cluster" else 1)
    else:
        opening = opened(request.param, tmp_path)
    with opening as desk:
        yield desk


def only(*variants: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("desk", variants, indirect=True)


def arrival(number: int, lane: LaneId = A, **fields: Any) -> Arrival:
    fields = {"payload": b"p%d" % number, "digest": b"d%d" % number} | fields
    entropy = (number * 0x9E3779B97F4A7C15 % (1 << 80)).to_bytes(10, "big")
    return Arrival(id=intent_id(number, entropy), lane=lane, accepted_ms=number, **fields)


def head(settled: int = 0, cursors: Cursors = START, wake_ms: int | None = None) -> HeadWrite:
    return HeadWrite(cursors, settled, settled * 2, wake_ms, b"state")


def settles(*arrivals: Arrival, at_ms: int = 5, count: int = 0, feed: bytes = b"f") -> Write:
    """The commit that ends these, `count` of the lane having ended before."""
    seq = count + len(arrivals)
    results = tuple(Result(a.id, "confirmed", at_ms, 7, b"hash", "why", b"h") for a in arrivals)
    return Write(head(seq, (seq, 0, 0, 0)), results, (), at_ms, feed)


def puts(*rows: RowPut | RowKey, feed: bytes = b"", **fields: Any) -> Write:
    return Write(head(**fields), rows, (), 5, feed)


def command(lane: LaneId = A, verb: str = "pause") -> Command:
    return Command(0, lane, verb, 3, "because", "me")


def pages(desk: Desk, status: str, limit: int) -> list[IntentId]:
    """All intents of a status, read page by page."""
    found: list[IntentId] = []
    while page := desk.page(status, found[-1] if found else None, limit):
        assert len(page) <= limit
        found += [view.intent.id for view in page]
    return found


SLOT = RowPut(Table.SLOT, "1", None, b"slot")


# Commits.


def test_a_commit_writes_all_that_it_holds(desk: Desk) -> None:
    one = arrival(1)
    desk.accepted(one)
    told = desk.tell(command())
    index = Index("hash", "ff", one.id, A, b"d")
    row = RowPut(Table.ATTEMPT, "1", one.id, b"attempt")
    result = Result(one.id, "confirmed", 5, 7, b"hash", "why", b"history")
    write = Write(head(1, (1, 0, 0, 0)), (row, result, index), (told.id,), 9, b"records")
    lease = desk.owned()
    assert desk.commit(lease, 1, write) == 1
    rows = desk.load(lease)
    assert (rows.head.version, rows.head.digest) == (1, write.digest())
    assert (rows.head.settled_count, rows.head.settled_bytes) == (1, 2)
    assert (rows.head.cursors, rows.head.state) == ((1, 0, 0, 0), b"state")
    assert rows.open == (row,)
    assert rows.intents == (placed(one, 1),)
    assert rows.mailbox == ()
    assert desk.intent(one.id) == IntentView(placed(one, 1), result, open=True)
    assert desk.answers(A, [one.id, arrival(99).id]) == [result]
    assert desk.answers(A, []) == []
    assert desk.find("hash", "ff") == index
    (entry,) = desk.feed("", 10)
    assert (entry.lane, entry.version, entry.at_ms, entry.records) == (A, 1, 9, b"records")


def test_the_end_of_the_feed_is_the_cursor_behind_all_that_was_told(desk: Desk) -> None:
    start = desk.feed_end()
    assert desk.feed(start, 10) == []
    lease = desk.owned()
    desk.commit(lease, 1, puts(feed=b"one"))
    desk.commit(lease, 2, puts(feed=b"two"))
    end = desk.feed_end()
    assert desk.feed(end, 10) == []
    assert [entry.records for entry in desk.feed(start, 10)] == [b"one", b"two"]
    assert desk.feed(start, 10)[-1].cursor == end
    desk.commit(lease, 3, puts(feed=b"three"))
    assert [entry.records for entry in desk.feed(end, 10)] == [b"three"]


def test_a_commit_that_breaks_a_law_writes_nothing_at_all(desk: Desk) -> None:
    told = desk.tell(command())
    lease = desk.owned()
    missing = Result(arrival(9).id, "confirmed", 5)
    index = Index("hash", "ff", arrival(9).id, A)
    before = desk.load(lease)
    with pytest.raises(Bug):
        desk.commit(lease, 1, Write(head(1), (SLOT, index, missing), (told.id,), 9, b"records"))
    assert desk.load(lease) == before
    assert desk.find("hash", "ff") is None
    assert desk.feed("", 10) == []
    assert desk.commit(lease, 1, puts(SLOT)) == 1


@only(*GROUPS, *SHARED)
def test_a_bug_in_one_request_leaves_the_rest_of_its_group_alone(desk: Desk) -> None:
    mine, other = desk.owned(A), desk.owned(B)
    bad = puts(SLOT, feed=b"bad")
    missing = Write(head(1), (SLOT, Result(arrival(9).id, "confirmed", 5)), (), 9, b"bad")
    answers = desk.together(
        ("commit", mine, 1, puts(SLOT, feed=b"good")),
        ("commit", other, 1, missing),
        ("accept", [arrival(1)]),
        ("commit", mine, 1, bad),
    )
    assert answers[0] == 1
    assert isinstance(answers[1], Bug)
    assert isinstance(answers[2][0], Accepted)
    assert isinstance(answers[3], Bug)
    assert [entry.records for entry in desk.feed("", 10)] == [b"good"]
    assert desk.load(other).open == ()


@only(*BOOKS)
def test_a_group_that_is_rolled_back_was_never_there(desk: Desk) -> None:
    one, two = arrival(1, key="k"), arrival(2)
    lease = desk.owned()
    desk.accepted(one)
    told = desk.tell(command())
    desk.commit(lease, 1, settles(one))
    desk.commit(lease, 2, Write(head(1, (1, 0, 0, 0)), (SLOT,), (), 5, b"f"))
    before = desk.load(lease), desk.lane(A), desk.intent(one.id), desk.feed("", 9)
    book = desk.book
    book.begin()
    book.accept([two, arrival(3, B, key="l")])
    book.tell(command())
    book.tell(command(B))
    book.prune(100, 100, 10)
    book.commit(lease, 3, Write(head(1), (RowKey(Table.SLOT, "1"),), (told.id,), 5, b"g"))
    book.claim(A, ME, 1)
    book.release(lease)
    book.rollback()
    book.rollback()
    assert (desk.load(lease), desk.lane(A), desk.intent(one.id), desk.feed("", 9)) == before
    assert desk.find(KEY_INDEX, key_value("", "l")) is None
    assert desk.lane(B) is None
    assert desk.accepted(two)[0].seq == 2
    assert desk.tell(command()).id == told.id + 1
    assert desk.commit(lease, 3, puts(feed=b"g")) == 3
    assert [entry.cursor for entry in desk.feed("", 9)] == ["1", "2", "3"]
    assert pages(desk, "confirmed", 1) == [one.id]


def test_of_two_words_on_one_row_the_last_counts(desk: Desk) -> None:
    lease = desk.owned()
    gone, back = RowKey(Table.SLOT, "1"), RowPut(Table.SLOT, "1", None, b"again")
    desk.commit(lease, 1, puts(SLOT, gone, back))
    assert desk.load(lease).open == (back,)
    desk.commit(lease, 2, puts(back, gone))
    assert desk.load(lease).open == ()
    desk.commit(lease, 3, puts(gone, SLOT, RowKey(Table.AUX, "never there")))
    assert desk.load(lease).open == (SLOT,)


def test_a_stale_owner_is_refused_and_changes_nothing(desk: Desk) -> None:
    old = desk.owned()
    desk.commit(old, 1, puts(SLOT))
    desk.clock.ms += TTL_MS + 1
    new = desk.owned(owner=YOU)
    before = desk.load(new)
    with pytest.raises(LeaseLost):
        desk.commit(old, 2, puts(RowKey(Table.SLOT, "1"), feed=b"f"))
    with pytest.raises(LeaseLost):
        desk.commit(old, 1, puts(SLOT))
    with pytest.raises(LeaseLost):
        desk.load(old)
    assert desk.load(new) == before
    assert desk.feed("", 9) == []


def test_a_stale_owner_is_refused_alone(desk: Desk) -> None:
    old, other = desk.owned(A), desk.owned(B)
    new = desk.owned(A)
    answers = desk.together(
        ("commit", other, 1, puts(SLOT)),
        ("commit", old, 1, puts(SLOT)),
        ("commit", new, 1, puts(feed=b"f")),
        ("accept", [arrival(1)]),
    )
    assert answers[0] == answers[2] == 1
    assert isinstance(answers[1], LeaseLost)
    assert isinstance(answers[3][0], Accepted)
    assert desk.load(other).open == (SLOT,)
    assert desk.load(new).open == ()


def test_a_lane_that_nobody_made_is_not_made_by_a_refusal(desk: Desk) -> None:
    lease = Lease(A, ME, 3)
    with pytest.raises(LeaseLost):
        desk.commit(lease, 1, puts(SLOT))
    for question in (("load", lease), ("mailbox", lease), ("backlog", lease, START, 1)):
        with pytest.raises(LeaseLost):
            desk.ask(*question)
    desk.release(lease)
    full = arrival(1, count_max=0)
    assert desk.accept([full]) == [Full("intents", 0)]
    assert desk.lane(A) is None
    assert desk.oldest(A) is None
    assert desk.lanes(None, 9) == []


def test_a_repeated_commit_is_recognised_and_applied_once(desk: Desk) -> None:
    one = arrival(1)
    desk.accepted(one)
    lease = desk.owned()
    write = settles(one)
    assert desk.commit(lease, 1, write) == 1
    before = desk.load(lease)
    assert desk.commit(lease, 1, write) == 1
    assert desk.together(("commit", lease, 1, write), ("commit", lease, 1, write)) == [1, 1]
    assert desk.load(lease) == before
    assert len(desk.feed("", 9)) == 1
    assert desk.lane(A).depth() == 0


def test_one_version_with_two_contents_is_a_bug(desk: Desk) -> None:
    lease = desk.owned()
    desk.commit(lease, 1, puts(SLOT))
    with pytest.raises(Bug):
        desk.commit(lease, 1, puts(feed=b"other"))
    assert desk.load(lease).open == (SLOT,)
    assert desk.commit(lease, 2, puts(feed=b"other")) == 2


def test_a_version_that_is_not_the_next_is_refused(desk: Desk) -> None:
    lease = desk.owned()
    desk.commit(lease, 1, puts(SLOT))
    desk.commit(lease, 2, puts(feed=b"f"))
    for version in (0, 1, 4):
        with pytest.raises(LeaseLost):
            desk.commit(lease, version, puts(RowKey(Table.SLOT, "1")))
    assert desk.load(lease).head.version == 2
    assert desk.load(lease).open == (SLOT,)


def test_a_final_answer_is_written_once(desk: Desk) -> None:
    one = arrival(1)
    desk.accepted(one)
    lease = desk.owned()
    desk.commit(lease, 1, settles(one))
    with pytest.raises(Bug):
        desk.commit(lease, 2, settles(one))
    with pytest.raises(Bug):
        desk.commit(desk.owned(B), 1, settles(one, one))
    assert desk.intent(one.id).result == settles(one).results()[0]


# Owners.


def test_a_lane_is_claimed_only_from_the_dead_and_its_fence_rises_by_one(desk: Desk) -> None:
    assert desk.owned(owner=ME).fence == 1
    desk.beat(YOU, 3 * TTL_MS)
    assert desk.claim(A, YOU) is None
    desk.clock.ms += TTL_MS
    assert desk.claim(A, YOU) is None
    desk.clock.ms += 1
    assert desk.claim(A, YOU) == Lease(A, YOU, 2)
    assert desk.claim(A, YOU) == Lease(A, YOU, 3)
    view = desk.lane(A)
    assert (view.head.owner, view.head.fence, view.leased) == (YOU, 3, True)


def test_an_owner_that_was_declared_dead_is_lost_for_good(desk: Desk) -> None:
    desk.owned(A, ME)
    desk.owned(B, ME)
    desk.clock.ms += TTL_MS + 1
    desk.owned(A, YOU)
    assert desk.claim(B, ME) is None
    assert desk.beat(ME, TTL_MS) == Lost()
    assert desk.beat(ME, TTL_MS) == Lost()
    assert desk.claim(LaneId("contract:c"), ME) is None
    assert isinstance(desk.beat(YOU, TTL_MS), Alive)


def test_a_late_heartbeat_counts_while_nobody_took_a_lane(desk: Desk) -> None:
    desk.owned(A, ME)
    desk.clock.ms += 10 * TTL_MS
    assert isinstance(desk.beat(ME, TTL_MS), Alive)
    desk.beat(YOU, TTL_MS)
    assert desk.claim(A, YOU) is None


def test_who_leaves_or_releases_gives_way_at_once(desk: Desk) -> None:
    lease = desk.owned(A, ME)
    desk.release(lease)
    assert not desk.lane(A).leased
    second = desk.owned(A, YOU)
    assert second.fence == 2
    desk.release(lease)
    assert desk.lane(A).leased
    desk.leave(YOU)
    assert desk.claim(A, ME) == Lease(A, ME, 3)


@only(*ALONE)
def test_owners_of_an_earlier_process_are_dead(desk: Desk) -> None:
    lease = desk.owned(A, ME)
    desk.commit(lease, 1, puts(SLOT))
    desk.reopen()
    assert desk.lane(A).leased
    new = desk.owned(A, YOU)
    assert new.fence == 2
    with pytest.raises(LeaseLost):
        desk.commit(lease, 2, puts())
    assert desk.beat(ME, TTL_MS) == Lost()


# Loading.


def test_load_brings_the_intents_that_open_rows_name_and_no_others(desk: Desk) -> None:
    arrivals = [arrival(number) for number in (1, 2, 3)]
    desk.accepted(*arrivals, arrival(4, B))
    lease = desk.owned()
    rows = (
        RowPut(Table.SLOT, "2", arrivals[1].id, b"s2"),
        RowPut(Table.ATTEMPT, "1", None, b"a1"),
        RowPut(Table.ATTEMPT, "10", None, b"a10"),
        RowPut(Table.SLOT, "1", arrivals[0].id, b"s1"),
        RowPut(Table.RETURNED, "1", arrivals[0].id, b"r1"),
    )
    desk.commit(lease, 1, puts(*rows))
    loaded = desk.load(lease)
    assert loaded.open == tuple(sorted(rows, key=lambda row: (row.table, row.key)))
    assert loaded.intents == (placed(arrivals[0], 1), placed(arrivals[1], 2))
    empty = desk.load(desk.owned(B))
    assert (empty.head.version, empty.open, empty.intents) == (0, (), ())


CONTRACT = contract_kind(ContractSettings(priorities=True, stale_retries_max=3))
OUTCOMES = [
    (Outcome.ACCEPTED, False, False),
    (Outcome.UNKNOWN, False, False),
    (Outcome.REFUSED, True, False),
    (Outcome.REFUSED, False, True),
    (Outcome.REFUSED, False, False),
]


class Story:
    """A real contract lane, driven by drawn events; every decision is committed."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.lease = desk.owned()
        self.lane = CONTRACT.restore(desk.load(self.lease))
        self.version = 0
        self.now_ms = 1_000
        self.numbers = iter(range(1, 1_000))
        self.waiting: list[IntentRow] = []

    def step(self, draw: Callable[[int], int]) -> None:
        self.now_ms += draw(3) * 20_000
        often = (self.arrive, self.pull, self.answer)
        moves = (*often, *often, self.search, self.fire, self.order)
        moves[draw(len(moves))](draw)

    def arrive(self, draw: Callable[[int], int]) -> None:
        valid = self.now_ms + 10_000 if draw(4) == 0 else None
        one = arrival(next(self.numbers), priority=draw(4), valid_until_ms=valid)
        (answer,) = self.desk.accepted(one)
        self.waiting.append(placed(one, answer.seq))

    def pull(self, draw: Callable[[int], int]) -> None:
        page = self.desk.backlog(self.lease, CONTRACT.cursors(self.lane), 1 + draw(3))
        if page.intents and CONTRACT.wants(self.lane):
            for intent in page.intents:
                self.lane.intents[intent.id] = intent
            self.tell(CONTRACT.offered(self.now_ms, page.intents))

    def answer(self, draw: Callable[[int], int]) -> None:
        slot = self.lane.slot
        if slot is None or not self.lane.attempts:
            height = None if draw(4) == 0 else 10 + draw(20)
            self.tell(HeightRead(self.now_ms, 0 if slot is None else slot.id, height))
            return
        outcome, final, stale = OUTCOMES[draw(len(OUTCOMES))]
        number = list(self.lane.attempts)[draw(len(self.lane.attempts))]
        block = self.lane.attempts[number].parent + 1
        self.tell(
            ExecutionReturned(
                self.now_ms, slot.id, number, outcome, block=block, final=final, stale=stale
            )
        )

    def search(self, draw: Callable[[int], int]) -> None:
        slot = self.lane.slot
        if slot is None or not self.lane.attempts:
            return
        parent = max(attempt.parent for attempt in self.lane.attempts.values())
        latest = (None, parent, parent + 1)[draw(3)]
        found = latest if latest == parent + 1 and draw(2) else None
        self.tell(SearchReturned(self.now_ms, slot.id, slot.attempt_next - 1, latest, found))

    def fire(self, draw: Callable[[int], int]) -> None:
        deadline_ms = CONTRACT.deadline(self.lane)
        if deadline_ms is not None:
            self.now_ms = max(self.now_ms, deadline_ms)
        self.tell(CONTRACT.woken(self.now_ms))

    def order(self, draw: Callable[[int], int]) -> None:
        verbs = ("resume", "settle", "pause", "resume", "settle", "drain", "cancel", "dance")
        verb = verbs[draw(len(verbs))]
        word = {"drain": ("queue", "running"), "settle": ("executed", "not_executed", "skip")}
        words = word.get(verb, ("",))
        named = self.waiting[draw(len(self.waiting))] if self.waiting else None
        if named is None and verb in ("cancel", "settle"):
            return
        told = self.desk.tell(
            Command(
                id=0,
                lane=A,
                verb=verb,
                at_ms=self.now_ms,
                word=words[draw(len(words))],
                intent=None if named is None else named.id,
                seq=0 if named is None else named.seq,
                priority=0 if named is None else named.priority,
                size=0 if named is None else named.size(),
            )
        )
        if told.id == 0:
            return  # It was about an intent that is final, so it was not queued.
        self.tell(CONTRACT.commanded(self.now_ms, told), told.id)

    def tell(self, event: Any, *answered: int) -> None:
        decision = CONTRACT.decide(self.lane, event)
        if not decision.records and not answered:
            return
        touched = [t for record in decision.records for t in CONTRACT.evolve(self.lane, record)]
        feed = CONTRACT.encode(decision.records) if decision.records else b""
        wrote = CONTRACT.head(self.lane, CONTRACT.deadline(self.lane))
        self.version += 1
        write = Write(wrote, tuple(touched), answered, self.now_ms, feed)
        assert self.desk.commit(self.lease, self.version, write) == self.version

    def check(self) -> None:
        rows = self.desk.load(self.lease)
        assert picture(CONTRACT.restore(rows)) == picture(self.lane)
        folded = CONTRACT.empty(A)
        for entry in self.desk.feed("", 1_000):
            for record in CONTRACT.decode(entry.records):
                CONTRACT.evolve(folded, record)
        assert picture(folded) == picture(self.lane)


def picture(lane: Any) -> tuple[Any, ...]:
    return CONTRACT.head(lane, None), lane.slot, dict(lane.attempts)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["memory", "disk"])
@settings(max_examples=30, deadline=None, derandomize=True)
@given(data=st.data())
def test_load_and_the_folded_feed_both_equal_the_lane_in_memory(
    variant: str, data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder, opened(variant, Path(folder)) as desk:
        story = Story(desk)
        for _ in range(data.draw(st.integers(1, 40))):
            story.step(lambda count: data.draw(st.integers(0, count - 1)))
            story.check()


@pytest.mark.slow
@only(*KEPT)
def test_load_and_the_folded_feed_equal_the_lane_after_every_start(desk: Desk) -> None:
    story = Story(desk)
    dice = Random(7)
    for _ in range(6):
        for _ in range(25):
            story.step(dice.randrange)
            story.check()
        desk.reopen()
        story.lease = desk.owned()
        story.check()
    assert story.version > 40


# The door.


def test_accept_is_idempotent_by_id(desk: Desk) -> None:
    one = arrival(1)
    desk.accepted(one)
    view = desk.lane(A)
    assert desk.accept([one]) == [Replayed(one.id)]
    assert desk.lane(A) == view
    two = arrival(2)
    assert [type(answer) for answer in desk.accept([two, two])] == [Accepted, Replayed]
    assert desk.lane(A).depth() == 2


def test_an_id_that_was_said_to_be_fresh_and_is_not_is_a_bug(desk: Desk) -> None:
    one = arrival(1)
    desk.accepted(one)
    with pytest.raises(Bug):
        desk.accept([arrival(1, fresh=True)])
    assert desk.lane(A).depth() == 1


@pytest.mark.parametrize("priority", [-1, 4])
def test_an_arrival_of_no_class_is_a_bug_and_not_accepted(desk: Desk, priority: int) -> None:
    with pytest.raises(Bug):
        desk.accept([arrival(1, priority=priority)])
    assert desk.intent(arrival(1).id) is None
    assert desk.lane(A) is None


def test_accept_is_idempotent_by_scope_and_key(desk: Desk) -> None:
    one = arrival(1, key="k", digest=b"body")
    desk.accepted(one)
    again = arrival(2, key="k", digest=b"body")
    other = arrival(3, key="k", digest=b"another body")
    assert desk.accept([again, other]) == [Replayed(one.id), Conflict(one.id)]
    assert desk.intent(again.id) is None
    elsewhere = arrival(4, key="k", scope="s", digest=b"another body")
    assert desk.accepted(elsewhere)[0].seq == 2
    # A scope and a key are never read as one word.
    assert desk.accepted(arrival(5, key="b", scope="a"), arrival(6, key="ab"))[1].seq == 4
    found = desk.find(KEY_INDEX, key_value("", "k"))
    assert (found.intent, found.lane, found.status) == (one.id, A, "")
    twice = [arrival(7, key="m", digest=b"m"), arrival(8, key="m", digest=b"m")]
    assert desk.accept(twice)[1] == Replayed(twice[0].id)


def test_a_full_lane_refuses_and_writes_nothing(desk: Desk) -> None:
    desk.accepted(arrival(1), arrival(2))
    view = desk.lane(A)
    refused = [
        (arrival(3, count_max=2, key="k"), Full("intents", 2)),
        (arrival(4, bytes_max=5), Full("bytes", 5)),
        (arrival(5, bytes_max=4), Full("bytes", 4)),
    ]
    for one, answer in refused:
        assert desk.accept([one]) == [answer]
        assert desk.intent(one.id) is None
    assert desk.find(KEY_INDEX, key_value("", "k")) is None
    assert desk.lane(A) == view
    assert desk.accepted(arrival(6, count_max=3), arrival(7, bytes_max=8))[1].depth == 4


def test_a_full_lane_takes_more_once_something_is_settled(desk: Desk) -> None:
    one, two = arrival(1, count_max=1), arrival(2, count_max=1)
    desk.accepted(one)
    lease = desk.owned()
    assert desk.accept([two]) == [Full("intents", 1)]
    desk.commit(lease, 1, settles(one))
    assert desk.accepted(two) == [Accepted(two.id, 2, 1, 2, True)]


def test_a_hit_is_fast_while_fewer_than_five_wait(desk: Desk) -> None:
    answers = desk.accepted(*(arrival(number) for number in range(10)))
    assert [answer.fast for answer in answers] == [True] * 5 + [False] * 5
    tail = desk.lane(A).tail
    assert (tail.fast_hits, tail.slow_hits) == (5, 5)
    assert desk.accepted(arrival(10, fast_size=11), arrival(11, fast_size=11))[1].fast is False


def test_sequences_are_dense_in_each_lane_and_follow_arrival(desk: Desk) -> None:
    order = [A, B, A, A, B]
    answers = desk.accepted(*(arrival(9 - i, lane, priority=i % 4) for i, lane in enumerate(order)))
    answers += desk.accepted(arrival(20, B), arrival(21, A))
    assert [answer.seq for answer in answers] == [1, 1, 2, 3, 2, 3, 4]
    assert [answer.depth for answer in answers] == [1, 1, 2, 3, 2, 3, 4]
    assert answers[-1].bytes == 2 + 2 + 2 + 3


def test_depth_is_what_was_accepted_and_not_settled(desk: Desk) -> None:
    arrivals = [arrival(number) for number in range(4)]
    desk.accepted(*arrivals)
    lease = desk.owned()
    assert (desk.lane(A).depth(), desk.lane(A).depth_bytes()) == (4, 8)
    desk.commit(lease, 1, settles(*arrivals[:3]))
    assert (desk.lane(A).depth(), desk.lane(A).depth_bytes()) == (1, 2)


# The backlog.


def test_the_backlog_gives_classes_in_order_and_sequences_within(desk: Desk) -> None:
    classes = [2, 0, 3, 0, 2, 1]
    arrivals = [arrival(i, priority=priority) for i, priority in enumerate(classes)]
    desk.accepted(*arrivals)
    lease = desk.owned()
    page = desk.backlog(lease, START, 10)
    assert [row.seq for row in page.intents] == [2, 4, 6, 1, 5, 3]
    assert page.intents[0] == placed(arrivals[1], 2)
    assert not page.more
    behind = desk.backlog(lease, (2, 6, 1, 0), 10)
    assert [row.seq for row in behind.intents] == [4, 5, 3]
    # A lane without priorities keeps one cursor: a class without one is read from its start.
    assert [row.seq for row in desk.backlog(lease, (4,), 10).intents] == [6, 1, 5, 3]


def test_the_backlog_skips_what_has_a_final_answer(desk: Desk) -> None:
    arrivals = [arrival(number) for number in range(1, 5)]
    desk.accepted(*arrivals)
    lease = desk.owned()
    cancelled = Result(arrivals[1].id, "cancelled", 5)
    desk.commit(lease, 1, Write(head(1), (cancelled,)))
    assert [row.seq for row in desk.backlog(lease, START, 9).intents] == [1, 3, 4]
    # The one behind the page is final too: nothing waits there.
    last = tuple(Result(one.id, "cancelled", 5) for one in arrivals[2:])
    desk.commit(lease, 2, Write(head(3), last))
    page = desk.backlog(lease, START, 1)
    assert ([row.seq for row in page.intents], page.more) == ([1], False)


@pytest.mark.parametrize(
    ("limit", "seqs", "more"),
    [(1, [1], True), (2, [1, 3], True), (3, [1, 3, 2], False), (4, [1, 3, 2], False)],
)
def test_more_is_true_exactly_when_the_backlog_goes_on(
    desk: Desk, limit: int, seqs: list[int], more: bool
) -> None:
    desk.accepted(arrival(1), arrival(2, priority=2), arrival(3))
    page = desk.backlog(desk.owned(), START, limit)
    assert ([row.seq for row in page.intents], page.more) == (seqs, more)


def test_a_page_is_bounded_in_bytes_but_never_empty(desk: Desk) -> None:
    half = BACKLOG_PAGE_BYTES_MAX // 2
    sizes = [BACKLOG_PAGE_BYTES_MAX + 1, half, half, 1]
    desk.accepted(*(arrival(i, payload=bytes(size)) for i, size in enumerate(sizes)))
    lease = desk.owned()
    pages = []
    seq, more = 0, True
    while more:
        page = desk.backlog(lease, (seq, 0, 0, 0), 10)
        pages.append([row.seq for row in page.intents])
        seq, more = pages[-1][-1], page.more
    assert pages == [[1], [2, 3], [4]]


def test_the_oldest_is_the_next_to_be_taken(desk: Desk) -> None:
    desk.accepted(arrival(1, priority=1), arrival(2))
    assert desk.oldest(A).seq == 2
    lease = desk.owned()
    # A lane without priorities keeps one cursor; other classes still count as waiting.
    desk.commit(lease, 1, Write(head(1, (2,)), (RowPut(Table.SLOT, "1", arrival(2).id, b""),)))
    assert desk.oldest(A).seq == 1
    desk.commit(lease, 2, Write(head(2, (2, 1, 0, 0)), (Result(arrival(1).id, "dead", 5),)))
    assert desk.oldest(A) is None
    assert desk.oldest(B) is None


# Waking.


def test_a_lane_with_work_is_ready_and_an_idle_one_is_not(desk: Desk) -> None:
    one, two = arrival(1), arrival(2)
    assert desk.ready(0, None, 9) == []
    lease = desk.owned()
    assert desk.ready(9, None, 9) == []
    desk.accepted(one, two)
    assert desk.ready(0, None, 9) == [A]
    # It claims to sleep, but one of its intents is not settled.
    desk.commit(lease, 1, Write(head(1, (1, 0, 0, 0), 9_000), settles(one).touched))
    assert desk.ready(0, None, 9) == [A]
    desk.commit(lease, 2, Write(head(2, (2, 0, 0, 0)), settles(two).touched))
    assert desk.ready(1 << 40, None, 9) == []
    told = desk.tell(command())
    assert desk.ready(0, None, 9) == [A]
    desk.commit(lease, 3, puts(settled=2))
    assert desk.ready(0, None, 9) == [A]
    desk.commit(lease, 4, Write(head(2), (), (told.id,)))
    assert desk.ready(1 << 40, None, 9) == []


def test_a_lane_is_woken_when_its_time_has_come(desk: Desk) -> None:
    lease = desk.owned()
    desk.commit(lease, 1, puts(SLOT, wake_ms=500))
    assert desk.ready(499, None, 9) == []
    assert desk.ready(500, None, 9) == [A]


def test_a_commit_that_raced_an_accept_does_not_put_the_lane_to_sleep(desk: Desk) -> None:
    one, two = arrival(1), arrival(2)
    desk.accepted(one)
    lease = desk.owned()
    sleepy = settles(one)
    for order in ([1, 0], [0, 1]):
        requests: list[tuple[Any, ...]] = [("commit", lease, 1, sleepy), ("accept", [two])]
        desk.together(*(requests[i] for i in order))
        assert desk.lane(A).head.wake_ms == 0
        assert desk.ready(0, None, 9) == [A]


def test_a_commit_that_raced_a_command_does_not_put_the_lane_to_sleep(desk: Desk) -> None:
    lease = desk.owned()
    desk.together(("tell", command()), ("commit", lease, 1, puts(SLOT)))
    assert desk.ready(0, None, 9) == [A]
    # Commands of other lanes, or long gone, do not count as answered here.
    other = desk.tell(command(B))
    desk.commit(lease, 2, Write(head(), (), (other.id, 99)))
    assert desk.ready(0, None, 9) == [A, B]
    assert [told.lane for told in desk.mailbox(desk.owned(B))] == [B]


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 50])
def test_paging_through_the_ready_yields_each_once(desk: Desk, limit: int) -> None:
    lanes = [LaneId(f"contract:{number * 7 % 10}") for number in range(10)]
    desk.accepted(*(arrival(i, lane) for i, lane in enumerate(lanes)))
    for number, lane in enumerate(lanes[:3]):
        desk.commit(desk.owned(lane), 1, settles(arrival(number)))
    found: list[LaneId] = []
    while page := desk.ready(0, found[-1] if found else None, limit):
        found += page
    assert sorted(found) == sorted(lanes[3:])


def test_lanes_are_paged_by_name(desk: Desk) -> None:
    names = [LaneId(f"contract:{letter}") for letter in "cabd"]
    desk.accepted(*(arrival(i, lane) for i, lane in enumerate(names)))
    assert [view.tail.lane for view in desk.lanes(None, 3)] == sorted(names)[:3]
    (last,) = desk.lanes(LaneId("contract:c"), 3)
    assert (last.tail.lane, last.depth(), last.leased) == (LaneId("contract:d"), 1, False)


# The mailbox.


def test_commands_are_kept_in_order_until_a_commit_answers_them(desk: Desk) -> None:
    first, second, third = (desk.tell(command(verb=verb)) for verb in ("pause", "resume", "drain"))
    assert first.id < second.id < third.id
    lease = desk.owned()
    assert desk.load(lease).mailbox == (first, second, third)
    desk.commit(lease, 1, puts(SLOT))
    assert tuple(desk.mailbox(lease)) == (first, second, third)
    desk.commit(lease, 2, Write(head(), (), (second.id,)))
    assert tuple(desk.mailbox(lease)) == (first, third)
    desk.commit(lease, 3, Write(head(), (), (first.id, third.id)))
    assert tuple(desk.mailbox(lease)) == ()
    assert desk.tell(command()).id > third.id


def cancel(one: Arrival, word: str = "") -> Command:
    return Command(0, one.lane, "cancel", 3, "because", "me", one.id, word=word)


def test_a_command_about_an_intent_is_told_once(desk: Desk) -> None:
    one, two = arrival(1), arrival(2)
    desk.accepted(one, two)
    first, again = desk.together(("tell", cancel(one)), ("tell", cancel(one)))
    assert desk.tell(cancel(one)) == first == again
    others = [desk.tell(cancel(two)), desk.tell(cancel(one, "skip")), desk.tell(command())]
    assert len({first.id, desk.tell(command()).id, *(other.id for other in others)}) == 5
    lease = desk.owned()
    assert len(desk.mailbox(lease)) == 5
    # Once it is answered it may be told again.
    desk.commit(lease, 1, Write(head(), (), (first.id,)))
    assert desk.tell(cancel(one)).id > first.id


def test_a_command_about_an_intent_that_is_final_is_not_queued(desk: Desk) -> None:
    one = arrival(1)
    desk.accepted(one)
    lease = desk.owned()
    _, told = desk.together(("commit", lease, 1, settles(one)), ("tell", cancel(one)))
    assert told.id == 0
    assert desk.tell(cancel(one)).id == 0
    desk.prune(100, 100, 100)
    assert desk.tell(cancel(one)).id == 0
    assert list(desk.mailbox(lease)) == []
    assert desk.ready(0, None, 9) == []


# Retention.


def test_retention_prunes_what_ended_before_and_nothing_else(desk: Desk) -> None:
    arrivals = [arrival(number) for number in range(1, 5)]
    desk.accepted(*arrivals)
    lease = desk.owned()
    for count, one in enumerate(arrivals[:3]):
        desk.commit(lease, count + 1, settles(one, at_ms=10 * (count + 1), count=count))
    assert desk.prune(20, 30, 100) == 2
    kept = [desk.intent(one.id) is not None for one in arrivals]
    assert kept == [False, True, True, True]
    assert [entry.at_ms for entry in desk.feed("", 9)] == [30]
    assert desk.lane(A).depth() == 1
    assert [row.seq for row in desk.backlog(lease, START, 9).intents] == [4]
    assert desk.prune(20, 30, 100) == 0


def test_a_pruned_intent_keeps_its_key_its_word_and_its_hash(desk: Desk) -> None:
    one = arrival(1, key="k", digest=b"body")
    desk.accepted(one)
    desk.commit(desk.owned(), 1, settles(one))
    assert desk.find("id", one.id) is None
    assert desk.prune(100, 0, 100) == 1
    for name, value in ((KEY_INDEX, key_value("", "k")), ("id", one.id)):
        left = desk.find(name, value)
        assert (left.intent, left.lane, left.digest) == (one.id, A, b"body")
        assert (left.status, left.hash) == ("confirmed", b"hash")
    assert desk.accept([one]) == [Replayed(one.id)]
    assert desk.accept([arrival(2, key="k", digest=b"body")]) == [Replayed(one.id)]
    assert desk.accept([arrival(3, key="k", digest=b"other")]) == [Conflict(one.id)]
    assert desk.lane(A).depth() == 0


def test_an_intent_that_a_slot_still_names_is_not_pruned(desk: Desk) -> None:
    one = arrival(1)
    desk.accepted(one)
    lease = desk.owned()
    row = RowPut(Table.SLOT, "1", one.id, b"watched")
    result = Result(one.id, "indeterminate", 5)
    desk.commit(lease, 1, Write(head(1, (1, 0, 0, 0)), (row, result)))
    assert desk.page("submitted", None, 9) == []
    assert pages(desk, "indeterminate", 9) == [one.id]
    assert desk.prune(100, 100, 100) == 0
    assert desk.load(lease).intents == (placed(one, 1),)


def test_retention_takes_at_most_its_limit_and_comes_to_an_end(desk: Desk) -> None:
    arrivals = [arrival(number) for number in range(7)]
    desk.accepted(*arrivals)
    lease = desk.owned()
    for count, one in enumerate(arrivals):
        desk.commit(lease, count + 1, settles(one, count=count))
    assert [desk.prune(100, 100, 3) for _ in range(4)] == [3, 3, 1, 0]
    assert desk.feed("", 9) == []
    assert pages(desk, "confirmed", 9) == []


def test_feed_cursors_rise_and_are_never_used_again(desk: Desk) -> None:
    lease = desk.owned()
    for version in (1, 2, 3):
        desk.commit(lease, version, puts(feed=b"f%d" % version))
    cursors = [entry.cursor for entry in desk.feed("", 9)]
    assert cursors == sorted(set(cursors))
    assert [entry.cursor for entry in desk.feed(cursors[0], 1)] == cursors[1:2]
    desk.prune(0, 100, 100)
    assert desk.feed("", 9) == []
    desk.commit(lease, 4, puts())
    desk.commit(lease, 5, puts(feed=b"f5"))
    (entry,) = desk.feed("", 9)
    assert entry.cursor > cursors[-1]
    assert (entry.lane, entry.version, entry.records) == (A, 5, b"f5")


# Pages.


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_hold_each_intent_of_a_status_once(desk: Desk, limit: int) -> None:
    arrivals = [arrival(i, (A, B)[i % 2], priority=i % 3) for i in range(12)]
    desk.accepted(*arrivals)
    lease = desk.owned()
    mine = [one for one in arrivals if one.lane == A]
    slots = [RowPut(Table.SLOT, str(i), one.id, b"") for i, one in enumerate(mine[:2])]
    tries = [RowPut(Table.ATTEMPT, str(i), one.id, b"") for i, one in enumerate(mine[:2])]
    final = [Result(one.id, "confirmed", 5) for one in mine[2:4]]
    dead = [Result(mine[4].id, "dead", 5)]
    cursors = (4, 3, 5, 0)
    touched: Touched = (*slots, *tries, *final, *dead)
    desk.commit(lease, 1, Write(HeadWrite(cursors, 3, 6, None, b""), touched))
    waiting = [one.id for one in arrivals if one not in mine[:5]]
    assert pages(desk, "submitted", limit) == [one.id for one in mine[:2]]
    assert pages(desk, "confirmed", limit) == [one.id for one in mine[2:4]]
    assert pages(desk, "dead", limit) == [mine[4].id]
    assert pages(desk, "refused", limit) == []
    assert sorted(pages(desk, "queued", limit)) == sorted(waiting)
    assert {view.open for view in desk.page("queued", None, 100)} == {False}


def test_a_page_goes_on_behind_an_intent_that_was_pruned_meanwhile(desk: Desk) -> None:
    arrivals = [arrival(number) for number in range(6)]
    desk.accepted(*arrivals)
    lease = desk.owned()
    first = desk.page("queued", None, 2)[-1].intent.id
    desk.commit(lease, 1, settles(*arrivals[:2]))
    desk.commit(lease, 2, settles(*arrivals[2:4], at_ms=50, count=2))
    assert desk.prune(10, 0, 10) == 2
    assert {view.intent.id for view in desk.page("queued", first, 9)} == {
        one.id for one in arrivals[4:]
    }
    finished = desk.page("confirmed", first, 9)
    assert [view.intent.id for view in finished] == [one.id for one in arrivals[2:4]]
    assert desk.page("confirmed", arrivals[5].id, 9) == []


def test_what_nobody_knows_is_not_found(desk: Desk) -> None:
    assert desk.intent(arrival(1).id) is None
    assert desk.find("id", "nothing") is None
    assert desk.lane(A) is None
    assert desk.page("queued", arrival(1).id, 9) == []
    assert desk.page("confirmed", arrival(1).id, 9) == []


def test_a_lanes_history_is_told_in_its_own_order(desk: Desk) -> None:
    arrivals = [arrival(i, (A, B)[i % 2], priority=i % 3) for i in range(12)]
    desk.accepted(*arrivals)
    own = [one for one in arrivals if one.lane == A]
    lease = desk.owned()
    slot = RowPut(Table.SLOT, "1", own[1].id, b"slot")
    touched = (Result(own[0].id, "confirmed", 5), slot)
    desk.commit(lease, 1, Write(HeadWrite((1, 0, 0, 0), 1, 2, None, b"s"), touched))
    expected = sorted(own, key=lambda one: one.priority)
    found: list[IntentView] = []
    while page := desk.history(A, found[-1].intent.id if found else None, 4):
        assert len(page) <= 4
        found += page
    assert [view.intent.id for view in found] == [one.id for one in expected]
    final = {view.intent.id: view.result.status for view in found if view.result is not None}
    assert final == {own[0].id: "confirmed"}
    assert [view.intent.id for view in found if view.open] == [own[1].id]
    assert desk.history(LaneId("contract:unknown"), None, 9) == []


def test_a_cursor_of_another_store_is_refused(desk: Desk) -> None:
    for cursor in ("x", "-1", "9" * 40):
        with pytest.raises(BadRequest, match="cursor"):
            desk.feed(cursor, 9)


def test_a_heartbeat_tells_who_lives(desk: Desk) -> None:
    assert desk.beat(YOU, TTL_MS) == Alive((YOU,))
    assert desk.beat(ME, TTL_MS) == Alive(tuple(sorted((ME, YOU))))
    desk.leave(YOU)
    assert desk.beat(ME, TTL_MS) == Alive((ME,))


def test_many_lanes_of_one_dead_owner_are_taken_in_one_moment(desk: Desk) -> None:
    lanes = [LaneId(f"contract:{number}") for number in range(4)]
    desk.accepted(*(arrival(number, lane) for number, lane in enumerate(lanes)))
    for lane in lanes:
        desk.owned(lane, YOU)
    desk.clock.ms += TTL_MS + 1
    desk.beat(ME, TTL_MS)
    leases = desk.together(*(("claim", lane, ME) for lane in lanes))
    assert [(lease.owner, lease.fence) for lease in leases] == [(ME, 2)] * 4
    assert desk.beat(YOU, TTL_MS) == Lost()


# Another start.


@only(*KEPT)
def test_everything_is_still_there_after_another_start(desk: Desk) -> None:
    arrivals = [arrival(i, (A, B)[i % 2], key=f"k{i}", priority=i % 4) for i in range(9)]
    desk.accepted(*arrivals)
    lease = desk.owned()
    told = desk.tell(command())
    slot = RowPut(Table.SLOT, "1", arrivals[2].id, b"slot")
    touched = (Result(arrivals[0].id, "confirmed", 5), slot)
    desk.commit(lease, 1, Write(HeadWrite((1, 0, 0, 0), 1, 2, None, b"s"), touched, (), 5, b"f"))
    desk.commit(lease, 2, puts(SLOT, feed=b"g", settled=1))
    desk.prune(10, 0, 10)

    def everything() -> list[Any]:
        return [
            desk.load(lease),
            desk.lanes(None, 9),
            desk.feed("", 9),
            desk.ready(0, None, 9),
            desk.backlog(lease, START, 9),
            *(desk.intent(one.id) for one in arrivals),
            *(desk.find(KEY_INDEX, key_value("", f"k{i}")) for i in range(9)),
            *(pages(desk, word, 2) for word in ("queued", "submitted", "confirmed")),
        ]

    before = everything()
    desk.reopen()
    assert everything() == before
    assert desk.accept([arrivals[0]]) == [Replayed(arrivals[0].id)]
    assert desk.accept([arrival(50, key="k0", digest=b"other")]) == [Conflict(arrivals[0].id)]
    assert desk.accepted(arrival(51))[0].seq == 6
    assert desk.tell(command()).id > told.id
    desk.prune(0, 100, 100)
    desk.reopen()
    new = desk.owned()
    desk.commit(new, 3, puts(feed=b"h"))
    assert [entry.records for entry in desk.feed(before[2][-1].cursor, 9)] == [b"h"]


@only(*KEPT)
@pytest.mark.parametrize("told", [False, True])
def test_numbers_go_on_when_all_that_bore_them_is_pruned(desk: Desk, told: bool) -> None:
    desk.accepted(arrival(1))
    lease = desk.owned()
    desk.commit(lease, 1, settles(arrival(1), at_ms=10))
    if told:
        desk.tell(command())
    (entry,) = desk.feed("", 9)
    desk.prune(100, 100, 100)
    assert (desk.feed("", 9), desk.intent(arrival(1).id)) == ([], None)
    desk.reopen()
    lease = desk.owned()
    desk.commit(lease, 2, puts(feed=b"later"))
    assert [later.records for later in desk.feed(entry.cursor, 9)] == [b"later"]
