"""Several processes on one PostgreSQL: who may write what, and who hears of it."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import psycopg
import pytest
from tests.servers import PostgresServer

from laneway.core.errors import LeaseLost, StoreRefused
from laneway.core.ids import LaneId, Owner, intent_id
from laneway.core.intent import Accepted, Arrival, Conflict, Full, Replayed
from laneway.core.limits import LANE_ID_CHARS_MAX
from laneway.core.rows import START, Command, HeadWrite, Lease, Result, Write
from laneway.ports import Alive, Commit, Ended, Lost, News, Woken
from laneway.stores.postgres import PostgresStore
from laneway.stores.postgres.draft import GroupDraft
from laneway.stores.postgres.limits import NOTICE_BYTES_MAX, NOTICES_MAX, TOMBSTONE_MS
from laneway.stores.postgres.news import notices

A = LaneId("contract:a")
B = LaneId("contract:b")
ME = Owner("me")
YOU = Owner("you")
TTL_MS = 10_000


def arrival(number: int, lane: LaneId = A, **fields: Any) -> Arrival:
    fields = {"payload": b"p", "digest": b"d"} | fields
    id_ = intent_id(number, number.to_bytes(10, "big"))
    return Arrival(id=id_, lane=lane, accepted_ms=number, **fields)


def settles(one: Arrival, count: int = 1) -> Write:
    head = HeadWrite((count, 0, 0, 0), count, count, None, b"state")
    return Write(head, (Result(one.id, "confirmed", 5),), (), 5, b"feed")


def told(feed: bytes) -> Write:
    return Write(HeadWrite(START, 0, 0, None, b""), (), (), 5, feed)


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 30))


@asynccontextmanager
async def stores(server: PostgresServer, count: int = 2) -> AsyncIterator[list[PostgresStore]]:
    """As many processes as are asked for, as far as the server can tell."""
    schema = server.schema()
    async with AsyncExitStack() as opened:
        made = []
        for _ in range(count):
            made.append(PostgresStore(server.conninfo, schema=schema))
            opened.push_async_callback(closed, made[-1])
        yield made


async def closed(store: PostgresStore) -> None:
    await store.close()


def passes(server: PostgresServer, store: PostgresStore, ms: int) -> None:
    """Let the server's clock run ahead."""
    schema = store.database.schema
    server.run(
        f"CREATE OR REPLACE FUNCTION {schema}.now_ms() RETURNS bigint LANGUAGE sql AS "
        f"'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + {ms}'"
    )


async def owned(store: PostgresStore, owner: Owner, lane: LaneId = A) -> Lease:
    assert isinstance(await store.beat(owner, TTL_MS), Alive)
    lease = await store.claim(lane, owner)
    assert lease is not None
    return lease


# Owners.


def test_a_lane_moves_when_its_owner_is_dead_by_the_servers_clock(
    postgres_server: PostgresServer,
) -> None:
    async def story() -> None:
        async with stores(postgres_server) as (mine, yours):
            old = await owned(mine, ME)
            assert await yours.beat(YOU, 3 * TTL_MS) == Alive((ME, YOU))
            assert await yours.claim(A, YOU) is None
            passes(postgres_server, mine, TTL_MS + 1)
            new = await yours.claim(A, YOU)
            assert new == Lease(A, YOU, old.fence + 1)
            assert await mine.beat(ME, TTL_MS) == Lost()
            assert await mine.claim(B, ME) is None
            answers = await mine.commit([Commit(old, 1, told(b"stale"))])
            assert isinstance(answers[0], LeaseLost)
            assert list(await yours.commit([Commit(new, 1, told(b"new"))])) == [1]
            assert [entry.records for entry in await mine.feed("", 9)] == [b"new"]

    run(story())


def test_of_many_who_claim_a_dead_owners_lane_one_gets_it(postgres_server: PostgresServer) -> None:
    async def story() -> None:
        async with stores(postgres_server, 4) as (dead, *living):
            await owned(dead, ME)
            await dead.leave(ME)
            names = [Owner(f"owner{number}") for number in range(len(living))]
            for store, name in zip(living, names, strict=True):
                await store.beat(name, TTL_MS)
            claims = [s.claim(A, name) for s, name in zip(living, names, strict=True)]
            leases = await asyncio.gather(*claims)
            assert [lease.fence for lease in leases if lease is not None] == [2]

    run(story())


def test_a_process_that_leaves_gives_way_at_once(postgres_server: PostgresServer) -> None:
    async def story() -> None:
        async with stores(postgres_server) as (mine, yours):
            lease = await owned(mine, ME)
            await yours.beat(YOU, TTL_MS)
            await mine.release(lease)
            assert await yours.claim(A, YOU) == Lease(A, YOU, 2)
            await yours.leave(YOU)
            assert await mine.beat(ME, TTL_MS) == Alive((ME,))
            assert await mine.claim(A, ME) == Lease(A, ME, 3)

    run(story())


def test_graves_are_forgotten_in_the_end(postgres_server: PostgresServer) -> None:
    async def story() -> None:
        async with stores(postgres_server) as (mine, yours):
            await owned(mine, ME)
            await mine.leave(ME)
            await owned(yours, YOU)
            assert await mine.beat(ME, TTL_MS) == Lost()
            await yours.prune(0, 0, 10)
            assert await mine.beat(ME, TTL_MS) == Lost()
            passes(postgres_server, mine, TOMBSTONE_MS + 1)
            await yours.prune(0, 0, 10)
            assert await mine.beat(ME, TTL_MS) == Alive((ME,))

    run(story())


# The door.


def test_two_doors_keep_one_sequence_without_a_gap(postgres_server: PostgresServer) -> None:
    async def story() -> None:
        async with stores(postgres_server) as opened:
            asked = [
                opened[number % 2].accept([arrival(number, (A, B)[number % 3 == 0], fresh=True)])
                for number in range(200)
            ]
            seqs: dict[LaneId, tuple[list[int], list[int]]] = {A: ([], []), B: ([], [])}
            for number, (answer,) in enumerate(await asyncio.gather(*asked)):
                assert isinstance(answer, Accepted)
                seqs[(A, B)[number % 3 == 0]][number % 2].append(answer.seq)
            for mine, yours in seqs.values():
                assert sorted(mine + yours) == list(range(1, len(mine + yours) + 1))
                # Each door's own arrivals keep the order in which they came.
                assert (mine, yours) == (sorted(mine), sorted(yours))

    run(story())


def test_who_makes_a_lane_second_looks_again(postgres_server: PostgresServer) -> None:
    async def story() -> None:
        async with stores(postgres_server) as (mine, yours):
            makes = mine.writer._make_lanes
            came_first: list[object] = []

            async def makes_late(draft: GroupDraft) -> None:
                if not came_first:
                    came_first.append(await yours.accept([arrival(1, fresh=True)]))
                await makes(draft)

            mine.writer._make_lanes = makes_late  # type: ignore[method-assign]
            (answer,) = await mine.accept([arrival(2, fresh=True)])
            assert isinstance(answer, Accepted)
            assert answer.seq == 2

    run(story())


def test_one_key_at_two_doors_makes_one_intent(postgres_server: PostgresServer) -> None:
    async def story() -> None:
        async with stores(postgres_server) as (mine, yours):
            for number in range(0, 40, 4):
                key = f"key{number}"
                first, second, other = await asyncio.gather(
                    mine.accept([arrival(number, key=key, fresh=True)]),
                    yours.accept([arrival(number + 1, B, key=key, fresh=True)]),
                    yours.accept([arrival(number + 2, B, key=key, digest=b"other")]),
                )
                kinds = sorted(type(one).__name__ for one in (*first, *second, *other))
                assert kinds in (
                    ["Accepted", "Conflict", "Replayed"],
                    ["Accepted", "Conflict", "Conflict"],
                )
                accepted = [a for a in (*first, *second, *other) if isinstance(a, Accepted)]
                for one in (*first, *second, *other):
                    if isinstance(one, Replayed | Conflict):
                        assert one.id == accepted[0].id
            same = arrival(100)
            answers = await asyncio.gather(mine.accept([same]), yours.accept([same]))
            assert sorted(type(a).__name__ for (a,) in answers) == ["Accepted", "Replayed"]

    run(story())


def test_a_limit_holds_at_two_doors(postgres_server: PostgresServer) -> None:
    async def story() -> None:
        async with stores(postgres_server) as opened:
            asked = [opened[n % 2].accept([arrival(n, count_max=10)]) for n in range(40)]
            answers = [answer for (answer,) in await asyncio.gather(*asked)]
            assert sum(isinstance(answer, Accepted) for answer in answers) == 10
            assert sum(answer == Full("intents", 10) for answer in answers) == 30

    run(story())


# Groups.


def test_what_is_asked_in_one_moment_is_one_group(postgres_server: PostgresServer) -> None:
    async def story() -> None:
        async with stores(postgres_server, 1) as (store,):
            lanes = [LaneId(f"contract:{number}") for number in range(100)]
            asked = [store.accept([arrival(n, lane)]) for n, lane in enumerate(lanes)]
            await asyncio.gather(*asked)
            assert (store.writer.groups, store.writer.grouped) == (1, 100)

    run(story())


def test_groups_of_two_processes_over_the_same_lanes_do_not_hinder_each_other_for_good(
    postgres_server: PostgresServer,
) -> None:
    async def story() -> None:
        async with stores(postgres_server) as opened:
            lanes = [LaneId(f"contract:{number}") for number in range(20)]
            asked = [
                opened[round_ % 2].accept(
                    [arrival(round_ * 100 + n, lane) for n, lane in enumerate(lanes[::order])]
                )
                for round_, order in enumerate([1, -1] * 10)
            ]
            await asyncio.gather(*asked)
            for view in await opened[0].lanes(None, 99):
                assert view.depth() == 20

    run(story())


# The feed.


def test_the_feed_waits_for_the_oldest_running_commit(postgres_server: PostgresServer) -> None:
    async def story() -> None:
        async with stores(postgres_server, 1) as (store,):
            lease = await owned(store, ME)
            await store.commit([Commit(lease, 1, told(b"one"))])
            with psycopg.connect(postgres_server.conninfo) as other:
                other.execute("SELECT pg_current_xact_id()")
                await store.commit([Commit(lease, 2, told(b"two"))])
                assert [entry.records for entry in await store.feed("", 9)] == [b"one"]
            first, second = await store.feed("", 9)
            assert (first.records, second.records) == (b"one", b"two")
            assert await store.feed(first.cursor, 9) == [second]
            assert await store.feed(second.cursor, 9) == []

    run(story())


# News.


async def next_news(heard: AsyncIterator[News]) -> News:
    return await asyncio.wait_for(anext(heard), 10)


async def listening(store: PostgresStore, other: PostgresStore) -> AsyncIterator[News]:
    """News of `store`, once it is known to hear."""
    heard = store.news()
    waiting = asyncio.ensure_future(anext(heard))
    number = 1_000
    while not waiting.done():
        await other.accept([arrival(number, LaneId("contract:call"))])
        await asyncio.wait((waiting,), timeout=0.05)
        number += 1
    return heard


def test_news_tell_of_what_others_left_and_ended(postgres_server: PostgresServer) -> None:
    async def story() -> None:
        async with stores(postgres_server) as (mine, yours):
            heard = await listening(mine, yours)
            lease = await owned(yours, YOU, B)
            # Our own doings are no news, nor is what the others leave in their own lanes.
            await mine.accept([arrival(1)])
            await yours.accept([arrival(2, B)])
            await yours.accept([arrival(3)])
            await yours.commit([Commit(lease, 1, settles(arrival(2)))])
            await yours.tell(Command(0, A, "pause", 3))
            seen = [await next_news(heard)]
            while seen[0] == Woken(LaneId("contract:call")):
                seen = [await next_news(heard)]
            await yours.accept([arrival(4, B)])
            await yours.release(lease)
            seen += [await next_news(heard) for _ in range(3)]
            assert seen == [Woken(A), Ended(B), Woken(A, is_command=True), Woken(B)]

    run(story())


def test_news_end_when_the_store_is_closed(postgres_server: PostgresServer) -> None:
    async def story() -> None:
        async with stores(postgres_server, 1) as (store,):
            heard = store.news()
            waiting = asyncio.ensure_future(anext(heard, None))
            await asyncio.sleep(0.05)
            await store.close()
            assert await waiting is None
            with pytest.raises(StoreRefused, match="closed"):
                await store.accept([arrival(1)])
            with pytest.raises(StoreRefused, match="closed"):
                await store.lanes(None, 1)

    run(story())


def test_a_notice_that_nobody_can_read_is_passed_over(postgres_server: PostgresServer) -> None:
    async def story() -> None:
        async with stores(postgres_server) as (mine, yours):
            heard = await listening(mine, yours)
            postgres_server.run(f"NOTIFY {mine.database.channel}, 'nonsense'")
            await yours.accept([arrival(1, B)])
            told = await next_news(heard)
            while told != Woken(B):
                told = await next_news(heard)
            assert told == Woken(B), "the nonsense before it ended nothing"

    run(story())


def test_notices_are_bounded() -> None:
    def long(number: int) -> LaneId:
        return LaneId(f"contract:{number:0{LANE_ID_CHARS_MAX - 9}d}")

    assert notices("me", [], []) == []
    (one,) = notices("me", [A], [A, B])
    assert one == '["me",["contract:a"],["contract:a","contract:b"],[]]'
    many = notices("me", [long(n) for n in range(50)], [long(n) for n in range(50)])
    assert sum(text.count("contract") for text in many) == 100
    far_too_many = notices("me", [long(n) for n in range(2_048)], [])
    assert len(far_too_many) == NOTICES_MAX
    assert all(len(text) <= NOTICE_BYTES_MAX for text in (*many, *far_too_many))
