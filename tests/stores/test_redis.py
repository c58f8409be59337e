"""The Redis store among crashes, wrong servers, other processes and lost replicas."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from tests.contracts.test_store import arrival, settles
from tests.oracles.redis_calls import spoken
from tests.redis_servers import DURABLE, Server, empty, server, shared, three_servers

from laneway.core.errors import (
    LeaseLost,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreRefused,
    StoreUnknown,
)
from laneway.core.ids import LaneId, Owner
from laneway.core.intent import Accepted, Arrival, Conflict, Full, Replayed, placed
from laneway.core.rows import START, HeadWrite, Lease, RowPut, Table, Write
from laneway.ports import Alive, Commit, Ended, Lost, News, Woken
from laneway.stores.judge import KEY_INDEX, key_value
from laneway.stores.redis import RedisStore
from laneway.stores.redis.layout import NO_LAYOUTS
from laneway.stores.redis.limits import COPIED_BYTES_MAX
from laneway.stores.redis.rows.keys import LANE, cluster
from laneway.stores.redis.servers.connection import packed, translated
from laneway.stores.redis.store import portions

A = LaneId("contract:a")
ME = Owner("me")
YOU = Owner("you")


@pytest.fixture
def redis() -> Server:
    (one,) = shared(1)
    empty([one])
    return one


@asynccontextmanager
async def opened(redis: Server, **settings: Any) -> AsyncIterator[RedisStore]:
    store = await RedisStore(redis.url, layouts=NO_LAYOUTS, **settings).open()
    try:
        yield store
    finally:
        await store.close()


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(story())


async def until(call: Callable[[], "asyncio.Future[Any]"]) -> Any:
    """Ask until the store is there again, as the engine does."""
    for _ in range(3_000):
        try:
            return await call()
        except (StoreBusy, StoreUnknown):
            await asyncio.sleep(0.02)
    raise AssertionError("the store did not come back")


def head(settled: int = 0) -> HeadWrite:
    return HeadWrite(START, settled, settled * 2, None, b"state")


def slot(key: str) -> Write:
    return Write(head(), (RowPut(Table.SLOT, key, None, b"slot"),), (), 5, b"feed")


# Owners, by the server's own clock.


def test_a_lane_is_taken_over_when_its_owner_is_silent_for_its_lifetime(redis: Server) -> None:
    async def story() -> None:
        async with opened(redis) as mine, opened(redis) as yours:
            assert await mine.beat(ME, 150) == Alive((ME,))
            old = await mine.claim(A, ME)
            assert old == Lease(A, ME, 1)
            await yours.beat(YOU, 5_000)
            assert await yours.claim(A, YOU) is None
            await asyncio.sleep(0.2)
            new = await yours.claim(A, YOU)
            assert new == Lease(A, YOU, 2)
            (refused,) = await mine.commit([Commit(old, 1, slot("1"))])
            assert isinstance(refused, LeaseLost)
            with pytest.raises(LeaseLost):
                await mine.load(old)
            assert await mine.beat(ME, 5_000) == Lost()
            assert await yours.commit([Commit(new, 1, slot("2"))]) == [1]

    run(story)


def test_concurrent_doors_keep_one_sequence(redis: Server) -> None:
    async def story() -> None:
        async with opened(redis) as one, opened(redis) as two:
            asked = [
                store.accept([arrival(2 * number + place, key=f"k{number}", digest=b"same")])
                for number in range(50)
                for place, store in enumerate((one, two))
            ]
            answers = [answer for (answer,) in await asyncio.gather(*asked)]
            seqs = [answer.seq for answer in answers if isinstance(answer, Accepted)]
            assert sorted(seqs) == list(range(1, 51))
            assert sum(isinstance(answer, Replayed) for answer in answers) == 50

    run(story)


# Servers that are away.


@pytest.mark.slow
def test_a_server_that_is_killed_and_started_again_has_kept_all_that_was_answered() -> None:
    async def story(redis: Server) -> None:
        accepted: list[Arrival] = []

        async def door(store: RedisStore) -> None:
            for number in range(1, 10_000):
                one = arrival(number)
                await until(lambda one=one: store.accept([one]))  # type: ignore[misc]
                accepted.append(one)

        async with opened(redis) as store:
            await store.beat(ME, 60_000)
            lease = await store.claim(A, ME)
            assert lease is not None
            producing = asyncio.create_task(door(store))
            for kills in range(3):
                while len(accepted) < 40 * (kills + 1):
                    await asyncio.sleep(0.005)
                redis.kill()
                await asyncio.sleep(0.05)
                redis.start()
            producing.cancel()
            await asyncio.gather(producing, return_exceptions=True)
            known = list(accepted)
            page = await until(lambda: store.backlog(lease, START, 10_000))
            assert {one.id for one in known} <= {row.id for row in page.intents}
            assert [row.seq for row in page.intents] == list(range(1, len(page.intents) + 1))
            await until(lambda: store.accept([arrival(99_999)]))
            # The log was written anew after each start, before anything was added to it.
            assert b"aof_rewrites:1" in redis.say("INFO", "persistence")

    with server() as redis:
        asyncio.run(story(redis))


@pytest.mark.slow
def test_a_torn_script_is_never_applied_in_part_at_a_later_start() -> None:
    """Redis drops the torn command and leaves the rest of its script open in the log."""

    async def story(redis: Server) -> None:
        async with opened(redis) as store:
            await store.accept([arrival(1)])
            await store.accept([arrival(2)])
            redis.kill()
            with redis.log_path().open("r+b") as log:
                # Within the last word, EXEC.
                log.truncate(redis.log_path().stat().st_size - 3)
            redis.start()
            assert isinstance(await until(lambda: store.accept([arrival(3)])), list)
            redis.kill()
            redis.start()
            page = await until(lambda: store.history(A, None, 9))
            assert [view.intent for view in page] == [placed(arrival(1), 1), placed(arrival(3), 2)]
            view = await store.lane(A)
            assert view is not None
            assert (view.depth(), view.depth_bytes()) == (2, 4)

    with server() as redis:
        asyncio.run(story(redis))


@pytest.mark.slow
def test_a_write_whose_answer_is_lost_is_unknown_and_one_that_was_not_sent_is_not() -> None:
    async def story(redis: Server) -> None:
        async with opened(redis) as store:
            await store.beat(ME, 60_000)
            lease = await store.claim(A, ME)
            assert lease is not None
            redis.signal(signal.SIGSTOP)
            asked = store.commit([Commit(lease, 1, slot("1"))])
            question = store.find("id", "x")
            await asyncio.sleep(0.05)
            redis.kill()
            with pytest.raises(StoreUnknown):
                await asked
            with pytest.raises(StoreBusy):
                await question
            with pytest.raises(StoreBusy):
                await store.commit([Commit(lease, 1, slot("1"))])
            redis.start()
            assert await until(lambda: store.commit([Commit(lease, 1, slot("1"))])) == [1]

    with server() as redis:
        asyncio.run(story(redis))


@pytest.mark.slow
def test_two_groups_that_are_out_at_once_each_hear_their_own() -> None:
    async def story(redis: Server) -> None:
        async with opened(redis) as store:
            ask = store._servers.ask
            assert await ask(0, ("ECHO", "0"), write=True) == b"0"
            redis.signal(signal.SIGSTOP)
            out = []
            for number in range(1, 7):
                out.append(ask(0, ("ECHO", str(number)), write=True))
                await asyncio.sleep(0.01)
            redis.signal(signal.SIGCONT)
            heard = await asyncio.gather(*out, return_exceptions=True)
            assert heard == [b"1", b"2", b"3", b"4", b"5", b"6"]
            redis.signal(signal.SIGSTOP)
            lost = [ask(0, ("SET", "a", str(number)), write=True) for number in range(2)]
            await asyncio.sleep(0.05)
            late = ask(0, ("SET", "a", "2"), write=True)
            redis.kill()
            # Both groups were sent, so nobody knows; what was not sent changed nothing.
            assert {type(one) for one in await asyncio.gather(*lost, return_exceptions=True)} == {
                StoreUnknown
            }
            with pytest.raises((StoreUnknown, StoreBusy)):
                await late
            redis.start()

    with server() as redis:
        asyncio.run(story(redis))


@pytest.mark.slow
def test_a_server_that_came_back_without_its_data_is_refused() -> None:
    async def story(redis: Server) -> None:
        async with opened(redis) as store:
            await store.accept([arrival(1)])
            redis.say("FLUSHALL")
            redis.kill()
            redis.start()
            with pytest.raises(StoreRefused, match="lost or replaced"):
                await until(lambda: store.accept([arrival(2)]))

    with server() as redis:
        asyncio.run(story(redis))


# Servers that are not as they must be.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--appendonly", "no"), "appendonly yes"),
        (("--appendonly", "yes", "--appendfsync", "everysec"), "appendfsync always"),
        ((*DURABLE, "--no-appendfsync-on-rewrite", "yes"), "no-appendfsync-on-rewrite no"),
        ((*DURABLE, "--maxmemory-policy", "allkeys-lru"), "noeviction"),
    ],
)
def test_a_server_that_could_lose_what_it_was_told_is_refused(
    options: tuple[str, ...], words: str
) -> None:
    async def story(redis: Server) -> None:
        with pytest.raises(StoreRefused, match=words):
            await RedisStore(redis.url, layouts=NO_LAYOUTS).open()
        if "lru" in options[-1]:
            return  # Nothing makes a server good that forgets at will.
        async with opened(redis, durability="relaxed") as store:
            assert isinstance((await store.accept([arrival(1)]))[0], Accepted)

    with server(*options) as redis:
        asyncio.run(story(redis))


def test_one_layout_is_not_taken_for_another(redis: Server) -> None:
    async def story() -> None:
        redis.say("HSET", "laneway:meta", "layout", "cluster 32")
        with pytest.raises(StoreRefused, match="cluster 32"):
            await RedisStore(redis.url, layouts=NO_LAYOUTS).open()

    run(story)


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(StoreRefused, match="not an address like redis:"):
        RedisStore("http://localhost", layouts=NO_LAYOUTS)


@pytest.mark.slow
def test_a_full_server_refuses_and_changes_nothing() -> None:
    async def story(redis: Server) -> None:
        async with opened(redis) as store:
            redis.say("CONFIG", "SET", "maxmemory", "1mb")
            with pytest.raises(StoreFull, match="maxmemory"):
                await store.accept([arrival(1)])
            redis.say("CONFIG", "SET", "maxmemory", "0")
            assert await store.lane(A) is None
            assert isinstance((await store.accept([arrival(1)]))[0], Accepted)

    with server() as redis:
        asyncio.run(story(redis))


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ("LOADING Redis is loading the dataset in memory", StoreBusy),
        ("READONLY You can't write against a read only replica.", StoreBusy),
        ("CLUSTERDOWN The cluster is down", StoreBusy),
        ("MISCONF Errors writing to the AOF file: No space left on device", StoreFull),
        ("MISCONF Redis is configured to save RDB snapshots", StoreBusy),
        ("OOM command not allowed when used memory > 'maxmemory'.", StoreFull),
        ("NOPERM this user has no permissions", StoreRefused),
    ],
)
def test_the_servers_words_are_told_apart(told: str, kind: type[StoreError]) -> None:
    assert type(translated("redis here", told)) is kind


def test_scripts_that_the_server_forgot_are_sent_again(redis: Server) -> None:
    async def story() -> None:
        async with opened(redis) as store:
            redis.say("SCRIPT", "FLUSH")
            assert isinstance((await store.accept([arrival(1)]))[0], Accepted)
            assert (await store.oldest(A)) is not None

    run(story)


# Replicas.


@pytest.mark.slow
def test_below_its_quorum_of_replicas_nothing_is_answered() -> None:
    async def story(master: Server, replica: Server) -> None:
        # Long enough for a machine that is busy with other things.
        async with opened(master, wait_timeout_ms=3_000) as store:
            await store.beat(ME, 60_000)
            lease = await store.claim(A, ME)
            assert lease is not None
            assert await store.commit([Commit(lease, 1, slot("1"))]) == [1]
            replica.signal(signal.SIGSTOP)
            with pytest.raises(StoreUnknown, match="0 of 1 replicas"):
                await store.commit([Commit(lease, 2, slot("2"))])
            # Said again it is there already, and still nobody may act on it.
            with pytest.raises(StoreUnknown):
                await store.commit([Commit(lease, 2, slot("2"))])
            with pytest.raises(StoreUnknown):
                await store.claim(A, ME)
            replica.signal(signal.SIGCONT)
            assert await until(lambda: store.commit([Commit(lease, 3, slot("3"))]))
            new = await store.claim(A, ME)
            assert new is not None
            assert len((await store.load(new)).open) >= 2

    with server() as master, server() as replica:
        replica.say("REPLICAOF", "127.0.0.1", master.port)
        while b"master_link_status:up" not in replica.say("INFO", "replication"):
            pass
        while b"state=online" not in master.say("INFO", "replication"):
            pass
        asyncio.run(story(master, replica))


@pytest.mark.slow
def test_a_write_is_judged_by_the_quorum_it_was_sent_with() -> None:
    async def story(master: Server, replica: Server) -> None:
        async with opened(master, wait_timeout_ms=3_000) as store:
            wire = store._servers._wire(store._servers.home(), True)
            await store._servers.ask(0, ("PING",), write=True)
            assert wire.replicas == 1
            replica.signal(signal.SIGSTOP)
            asked = store._servers.ask(0, ("SET", "a", "1"), write=True)
            await asyncio.sleep(0.1)
            # Another connection may meanwhile find a server that has no replica at all.
            wire.replicas = 0
            with pytest.raises(StoreUnknown):
                await asked
            replica.signal(signal.SIGCONT)

    with server() as master, server() as replica:
        replica.say("REPLICAOF", "127.0.0.1", master.port)
        while b"master_link_status:up" not in replica.say("INFO", "replication"):
            pass
        while b"state=online" not in master.say("INFO", "replication"):
            pass
        asyncio.run(story(master, replica))


def test_a_replica_takes_no_writes() -> None:
    from laneway.stores.redis.servers.checks import check_role, replicas_wanted

    with pytest.raises(StoreBusy, match="replica"):
        check_role("here", "slave")
    assert replicas_wanted(None, 2) == 2
    assert replicas_wanted(1, 2) == 1


# News.


def test_others_hear_of_new_work_and_of_answers_and_not_of_their_own(redis: Server) -> None:
    async def story() -> None:
        async with opened(redis) as mine, opened(redis) as yours:
            heard: list[News] = []
            own: list[News] = []

            async def listen(store: RedisStore, into: list[News]) -> None:
                async for news in store.news():
                    into += [news]

            listening = [
                asyncio.create_task(listen(yours, heard)),
                asyncio.create_task(listen(mine, own)),
            ]
            while redis.say("PUBSUB", "NUMSUB", "laneway:news")[1] < 2:
                await asyncio.sleep(0.005)
            one = arrival(1)
            await mine.accept([one])
            await mine.beat(ME, 5_000)
            lease = await mine.claim(A, ME)
            assert lease is not None
            await mine.commit([Commit(lease, 1, settles(one))])
            while len(heard) < 2:
                await asyncio.sleep(0.005)
            assert heard == [Woken(A), Ended(A)]
            assert own == []
            await mine.close()
            await yours.close()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait_for(asyncio.gather(*listening), 5)

    run(story)


# The Cluster form: what is reserved first and what comes of it.


@asynccontextmanager
async def clustered() -> AsyncIterator[RedisStore]:
    servers = shared(3)
    empty(servers)
    async with opened(servers[0], cluster_form=True) as store:
        yield store


def test_a_door_that_died_between_its_two_steps_lost_and_doubled_nothing() -> None:
    async def story() -> None:
        async with clustered() as store:
            first = arrival(1, key="k", digest=b"body")
            await store._reserved([first], {})
            assert await store.find(KEY_INDEX, key_value("", "k")) is None
            assert await store.intent(first.id) is None
            # Whoever comes with the same key finishes it under the id that was reserved.
            again = arrival(2, LaneId("contract:elsewhere"), key="k", digest=b"body")
            assert await store.accept([again]) == [Replayed(first.id)]
            assert await store.accept([first]) == [Replayed(first.id)]
            assert await store.accept([arrival(3, key="k", digest=b"other")]) == [
                Conflict(first.id)
            ]
            view = await store.lane(A)
            assert view is not None
            assert view.depth() == 1
            assert await store.intent(again.id) is None
            assert await store.lane(LaneId("contract:elsewhere")) is None

    run(story)


def test_a_door_that_is_overtaken_between_its_two_steps_answers_as_the_other_did() -> None:
    async def story() -> None:
        async with clustered() as store:
            first = msgspec.structs.replace(arrival(1, key="k", digest=b"body"), fresh=True)
            wanted = await store._reserved([first], {})
            # Another process finds the reservation and takes the intent up before we do.
            assert await store.accept([arrival(2, key="k", digest=b"body")]) == [Replayed(first.id)]
            store._reserved = answering(wanted)  # type: ignore[method-assign]
            assert await store.accept([first]) == [Replayed(first.id)]

    def answering(wanted: Any) -> Any:
        async def reserved(*_: object) -> Any:
            return wanted

        return reserved

    run(story)


def test_a_key_reserved_for_a_full_lane_is_taken_up_later() -> None:
    async def story() -> None:
        async with clustered() as store:
            first = arrival(1, key="k", digest=b"body", count_max=0)
            assert await store.accept([first]) == [Full("intents", 0)]
            again = arrival(2, key="k", digest=b"body")
            assert await store.accept([again]) == [Replayed(first.id)]
            assert (await store.intent(first.id)) is not None

    run(story)


def test_the_feed_of_all_groups_is_read_by_one_cursor() -> None:
    async def story() -> None:
        async with clustered() as store:
            await store.beat(ME, 60_000)
            lanes = [LaneId(f"contract:{number}") for number in range(12)]
            leases = [await store.claim(lane, ME) for lane in lanes]
            for version in (1, 2, 3):
                await store.commit([Commit(one, version, slot("1")) for one in leases if one])
            found: list[tuple[LaneId, int]] = []
            cursor = ""
            while page := await store.feed(cursor, 5):
                found += [(entry.lane, entry.version) for entry in page]
                cursor = page[-1].cursor
            assert sorted(found) == sorted((lane, v) for lane in lanes for v in (1, 2, 3))
            for lane in lanes:
                assert [v for name, v in found if name == lane] == [1, 2, 3]

    run(story)


@pytest.mark.slow
def test_a_group_that_moves_to_another_server_is_followed() -> None:
    async def story(nodes: list[Server]) -> None:
        async with opened(nodes[0], cluster_form=True) as store:
            await store.accept([arrival(1)])
            names = cluster("laneway:")
            key = names.lane(A, LANE)[0]
            slot_number = nodes[0].say("CLUSTER", "KEYSLOT", key)
            old = next(n for n in nodes if n.say("CLUSTER", "COUNTKEYSINSLOT", slot_number))
            new = next(n for n in nodes if n is not old)
            move(slot_number, old, new)
            assert (await store.accept([arrival(2)]))[0] == Accepted(arrival(2).id, 2, 2, 4, True)
            assert await store.accept([arrival(1)]) == [Replayed(arrival(1).id)]
            assert new.say("EXISTS", key) == 1

    with three_servers() as nodes:
        asyncio.run(story(nodes))


def move(slot_number: int, old: Server, new: Server) -> None:
    """As an operator would, key by key."""
    source, target = (node.say("CLUSTER", "MYID") for node in (old, new))
    new.say("CLUSTER", "SETSLOT", slot_number, "IMPORTING", source)
    old.say("CLUSTER", "SETSLOT", slot_number, "MIGRATING", target)
    for key in old.say("CLUSTER", "GETKEYSINSLOT", slot_number, 1_000):
        old.say("MIGRATE", "127.0.0.1", new.port, key, 0, 5_000)
    for node in (new, old):
        node.say("CLUSTER", "SETSLOT", slot_number, "NODE", target)


@pytest.mark.slow
def test_a_clusters_server_that_is_killed_is_waited_for() -> None:
    async def story(nodes: list[Server]) -> None:
        lanes = [LaneId(f"contract:{number}") for number in range(12)]
        async with opened(nodes[0], cluster_form=True) as store:
            await store.accept([arrival(number, lane) for number, lane in enumerate(lanes)])
            await store.beat(ME, 60_000)
            nodes[1].kill()
            with pytest.raises((StoreBusy, StoreUnknown)):
                await store.beat(ME, 60_000)
            nodes[1].start()
            assert isinstance(await until(lambda: store.beat(ME, 60_000)), Alive)
            for lane in lanes:
                lease = await until(lambda lane=lane: store.claim(lane, ME))  # type: ignore[misc]
                assert len((await store.backlog(lease, START, 9)).intents) == 1

    with three_servers() as nodes:
        asyncio.run(story(nodes))


@pytest.mark.parametrize("size", [0, 9, COPIED_BYTES_MAX, COPIED_BYTES_MAX + 1, 1 << 20])
def test_a_long_command_is_packed_as_a_short_one_is(size: int) -> None:
    words = ("EVALSHA", "sha", 1, "key")
    for line in ((*words, b"n" * (size // 7), b"b" * size), (*words, b"b" * size)):
        parts = [spoken(word) for word in line]
        told = b"".join([b"$%d\r\n%b\r\n" % (len(part), part) for part in parts])
        assert packed(line) == b"*%d\r\n%b" % (len(line), told)


def test_large_arrivals_are_sent_in_portions() -> None:
    sizes = (2, 3, 1, 9)
    arrivals = [arrival(number, payload=bytes(size << 18)) for number, size in enumerate(sizes)]
    assert portions([0, 1, 2, 3], arrivals) == [[0], [1, 2], [3]]
    many = [arrival(number) for number in range(300)]
    assert [len(part) for part in portions(list(range(300)), many)] == [128, 128, 44]
