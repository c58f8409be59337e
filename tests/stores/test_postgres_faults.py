"""What a PostgreSQL that is weak, foreign, stopped or killed is answered with."""

import asyncio
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors
from tests.servers import PostgresServer

from laneway.core.errors import (
    BadRequest,
    Bug,
    LanewayError,
    LeaseLost,
    StoreBusy,
    StoreCorrupt,
    StoreFull,
    StoreRefused,
    StoreUnknown,
)
from laneway.core.ids import LaneId, Owner, intent_id
from laneway.core.intent import Accepted, Answer, Arrival
from laneway.core.rows import START, HeadWrite, Write
from laneway.ports import Commit, Durability
from laneway.stores.postgres import PostgresStore
from laneway.stores.postgres.database import Database, weaknesses
from laneway.stores.postgres.draft import GroupDraft, Question
from laneway.stores.postgres.script import script

A = LaneId("contract:a")
ME = Owner("me")


def arrival(number: int, lane: LaneId = A) -> Arrival:
    id_ = intent_id(number, number.to_bytes(10, "big"))
    return Arrival(id=id_, lane=lane, payload=b"p", digest=b"d", accepted_ms=number)


def told(feed: bytes) -> Write:
    return Write(HeadWrite(START, 0, 0, None, b""), (), (), 5, feed)


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 60))


def role(server: PostgresServer, wish: str) -> str:
    """The address for a role of its own."""
    name = server.schema()
    server.run(f"CREATE ROLE {name} SUPERUSER LOGIN")
    server.run(f"ALTER ROLE {name} {wish}")
    return server.conninfo.replace("user=postgres", f"user={name}")


# Opening.


@pytest.mark.parametrize("value", ["off", "local", "remote_write"])
def test_a_server_that_may_forget_is_refused_unless_that_was_asked_for(
    postgres_server: PostgresServer, value: str
) -> None:
    weak = role(postgres_server, f"SET synchronous_commit = {value}")
    schema = postgres_server.schema()
    with pytest.raises(StoreRefused, match=f"synchronous_commit is {value}"):
        PostgresStore(weak, schema=schema)
    assert PostgresStore(weak, schema=schema, relaxed=True).durability is Durability.RELAXED
    assert PostgresStore(postgres_server.conninfo, schema=schema).durability is Durability.FULL


def test_settings_that_lose_commits_are_named() -> None:
    assert weaknesses({"fsync": "on", "synchronous_commit": "remote_apply"}) == []
    assert weaknesses({"fsync": "off", "synchronous_commit": "off"}) == [
        "fsync is off",
        "synchronous_commit is off",
    ]


def test_a_read_only_server_is_refused(postgres_server: PostgresServer) -> None:
    address = role(postgres_server, "SET default_transaction_read_only = on")
    with pytest.raises(StoreRefused, match="read-only"):
        PostgresStore(address, schema=postgres_server.schema())


@pytest.mark.parametrize("wish", ["NOLOGIN", "CONNECTION LIMIT 0 NOSUPERUSER"])
def test_who_may_not_enter_is_told_so(postgres_server: PostgresServer, wish: str) -> None:
    address = role(postgres_server, wish)
    expected = StoreRefused if wish == "NOLOGIN" else StoreBusy
    with pytest.raises(expected, match="role"):
        PostgresStore(address)
    unknown = postgres_server.conninfo.replace("dbname=postgres", "dbname=nowhere")
    with pytest.raises(StoreRefused, match="nowhere"):
        PostgresStore(unknown)


def test_a_server_that_is_not_there_is_busy_and_not_wrong(tmp_path: Path) -> None:
    with pytest.raises(StoreBusy):
        PostgresStore(f"host={tmp_path} user=postgres")


@pytest.mark.parametrize("schema", ["", "a b", "Upper", "x" * 41, 'a"; DROP'])
def test_a_schema_has_a_plain_name(schema: str) -> None:
    with pytest.raises(StoreRefused, match="schema"):
        PostgresStore("", schema=schema)


def test_an_address_that_is_none_is_refused_without_its_password() -> None:
    with pytest.raises(StoreRefused, match="address"):
        PostgresStore("nonsense")
    database = Database("host=h password=secret dbname=d", schema="s", relaxed=False)
    assert database.name == "PostgreSQL d.s at h"


def test_a_schema_of_another_program_or_a_newer_one_is_refused(
    postgres_server: PostgresServer,
) -> None:
    schema = postgres_server.schema()
    postgres_server.run(f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.theirs ()")
    with pytest.raises(StoreRefused, match="another program"):
        PostgresStore(postgres_server.conninfo, schema=schema)
    assert postgres_server.run(f"SELECT to_regclass('{schema}.lanes')") == [(None,)]
    schema = postgres_server.schema()
    PostgresStore(postgres_server.conninfo, schema=schema)
    postgres_server.run(f"UPDATE {schema}.shape SET version = 99")
    with pytest.raises(StoreRefused, match="upgrade laneway"):
        PostgresStore(postgres_server.conninfo, schema=schema)


# Words.


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.DiskFull(), StoreFull),
        (errors.DataCorrupted(), StoreCorrupt),
        (errors.DeadlockDetected(), StoreBusy),
        (errors.SerializationFailure(), StoreBusy),
        (errors.LockNotAvailable(), StoreBusy),
        (errors.TooManyConnections(), StoreBusy),
        (errors.AdminShutdown(), StoreBusy),
        (errors.IdleInTransactionSessionTimeout(), StoreBusy),
        (errors.ReadOnlySqlTransaction(), StoreBusy),
        (errors.UniqueViolation(), Bug),
        (errors.NotNullViolation(), Bug),
        (errors.InsufficientPrivilege(), StoreRefused),
        (errors.UndefinedTable(), StoreRefused),
        (errors.InvalidPassword(), StoreRefused),
        (psycopg.OperationalError("FATAL:  password authentication failed"), StoreRefused),
        (psycopg.OperationalError("FATAL:  the database system is starting up"), StoreBusy),
        (psycopg.OperationalError("connection refused"), StoreBusy),
    ],
)
def test_every_error_has_its_word(error: psycopg.Error, kind: type[LanewayError]) -> None:
    database = Database("", schema="laneway", relaxed=False)
    assert type(database.translate(error)) is kind


# Running.


def test_a_lane_that_stays_locked_is_busy_and_free_again_afterwards(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("laneway.stores.postgres.database.LOCK_MS_MAX", 100)

    async def story() -> None:
        schema = postgres_server.schema()
        store = PostgresStore(postgres_server.conninfo, schema=schema)
        await store.accept([arrival(1)])
        with psycopg.connect(postgres_server.conninfo) as other:
            other.execute(f"SELECT 1 FROM {schema}.lanes FOR UPDATE".encode())
            with pytest.raises(StoreBusy):
                await store.accept([arrival(2)])
            assert isinstance((await store.accept([arrival(3, LaneId("contract:b"))]))[0], Accepted)
        (answer,) = await store.accept([arrival(2)])
        assert isinstance(answer, Accepted)
        assert answer.seq == 2
        await store.close()

    run(story())


def test_a_process_that_stood_still_in_a_group_writes_nothing_of_it(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lanes are free for others meanwhile, so what it knew of them may be wrong."""
    monkeypatch.setattr("laneway.stores.postgres.database.IDLE_WRITE_MS_MAX", 50)

    async def story() -> None:
        schema = postgres_server.schema()
        store = PostgresStore(postgres_server.conninfo, schema=schema)
        await store.beat(ME, 10_000)
        lease = await store.claim(A, ME)
        assert lease is not None

        def stand_still(draft: GroupDraft) -> list[Question]:
            monkeypatch.undo()
            time.sleep(0.2)
            postgres_server.run(f"UPDATE {schema}.lanes SET fence = fence + 1")
            return script(draft)

        monkeypatch.setattr("laneway.stores.postgres.writer.script", stand_still)
        with pytest.raises(StoreUnknown):
            await store.commit([Commit(lease, 1, told(b"stale"))])
        (answer,) = await store.commit([Commit(lease, 1, told(b"stale"))])
        assert isinstance(answer, LeaseLost)
        assert await store.feed("", 9) == []
        await store.close()

    run(story())


async def blocked(server: PostgresServer, asked: "asyncio.Future[Any]") -> int:
    """The process that serves the writer, once it waits for a lock."""
    query = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    while not (found := server.run(query)):
        assert not asked.done()
        await asyncio.sleep(0.01)
    pid = found[0][0]
    assert isinstance(pid, int)
    return pid


def test_a_connection_lost_before_the_commit_was_sent_changed_nothing_and_is_made_anew(
    postgres_server: PostgresServer,
) -> None:
    async def story() -> None:
        schema = postgres_server.schema()
        store = PostgresStore(postgres_server.conninfo, schema=schema)
        await store.accept([arrival(1)])
        with psycopg.connect(postgres_server.conninfo) as other:
            other.execute(f"LOCK TABLE {schema}.lanes".encode())
            asked = store.accept([arrival(2)])
            pid = await blocked(postgres_server, asked)
            postgres_server.run(f"SELECT pg_terminate_backend({pid})")
        (answer,) = await asked
        assert isinstance(answer, Accepted)
        assert answer.seq == 2
        await store.close()

    run(story())


def test_a_connection_lost_while_the_commits_answer_is_out_is_unknown(
    postgres_server: PostgresServer,
) -> None:
    async def story() -> None:
        schema = postgres_server.schema()
        store = PostgresStore(postgres_server.conninfo, schema=schema)
        await store.beat(ME, 10_000)
        lease = await store.claim(A, ME)
        assert lease is not None
        with psycopg.connect(postgres_server.conninfo) as other:
            other.execute(f"LOCK TABLE {schema}.feed".encode())
            asked = store.commit([Commit(lease, 1, told(b"f"))])
            pid = await blocked(postgres_server, asked)
            postgres_server.run(f"SELECT pg_terminate_backend({pid})")
            with pytest.raises(StoreUnknown):
                await asked
        # Whether it was there or not: the same write again is applied once.
        assert list(await store.commit([Commit(lease, 1, told(b"f"))])) == [1]
        assert list(await store.commit([Commit(lease, 1, told(b"f"))])) == [1]
        assert len(await store.feed("", 9)) == 1
        await store.close()

    run(story())


def test_a_restarted_server_is_found_again(postgres_server: PostgresServer) -> None:
    async def story() -> None:
        store = PostgresStore(postgres_server.conninfo, schema=postgres_server.schema())
        await store.accept([arrival(1)])
        assert (await store.lane(A)) is not None
        postgres_server.stop()
        try:
            with pytest.raises(StoreBusy):
                await store.accept([arrival(2)])
            with pytest.raises(StoreBusy):
                await store.lane(A)
        finally:
            postgres_server.start()
        (answer,) = await store.accept([arrival(2)])
        assert isinstance(answer, Accepted)
        view = await store.lane(A)
        assert view is not None
        assert view.depth() == 2
        await store.close()

    run(story())


@pytest.mark.slow
def test_a_killed_server_loses_nothing_that_was_acknowledged(
    postgres_server: PostgresServer,
) -> None:
    """Callers come again with the same id until they are answered, while the server is killed."""

    async def insist(store: PostgresStore, one: Arrival, doubts: list[LanewayError]) -> Answer:
        while True:
            try:
                (answer,) = await store.accept([one])
            except (StoreBusy, StoreUnknown) as error:
                doubts.append(error)
                await asyncio.sleep(0.02)
            else:
                return answer

    async def story() -> None:
        store = PostgresStore(postgres_server.conninfo, schema=postgres_server.schema())
        doubts: list[LanewayError] = []
        lanes = [LaneId(f"contract:{number}") for number in range(10)]
        for round_ in range(3):
            arrivals = [arrival(round_ * 500 + n, lanes[n % 10]) for n in range(500)]
            asked = [asyncio.ensure_future(insist(store, one, doubts)) for one in arrivals[:250]]
            await asyncio.sleep(0.01 * round_)
            postgres_server.kill()
            asked += [asyncio.ensure_future(insist(store, one, doubts)) for one in arrivals[250:]]
            await asyncio.sleep(0.1)
            # Not in a thread: the server is told to end with whoever started it.
            postgres_server.start()
            await asyncio.gather(*asked)
            for lane in lanes:
                view = await store.lane(lane)
                assert view is not None
                assert view.depth() == 50 * (round_ + 1)
                assert view.tail.seq_next == view.depth() + 1
        assert doubts
        await store.close()

    run(story())


@pytest.mark.slow
def test_a_server_that_hangs_is_left_alone_and_found_again(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("laneway.stores.postgres.connection.ANSWER_S_MAX", 0.3)
    monkeypatch.setattr("laneway.stores.postgres.database.CONNECT_S_MAX", 2)

    async def story() -> None:
        store = PostgresStore(postgres_server.conninfo, schema=postgres_server.schema())
        await store.accept([arrival(1)])
        assert (await store.lane(A)) is not None
        with postgres_server.stopped():
            answers = await asyncio.gather(
                store.accept([arrival(2)]), store.lane(A), return_exceptions=True
            )
        assert [type(answer) for answer in answers] == [StoreBusy, StoreBusy]
        (answer,) = await store.accept([arrival(2)])
        assert isinstance(answer, Accepted)
        assert answer.seq == 2
        await store.close()

    run(story())


def test_a_text_that_cannot_be_stored_spoils_no_other_question(
    postgres_server: PostgresServer,
) -> None:
    async def story() -> None:
        store = PostgresStore(postgres_server.conninfo, schema=postgres_server.schema())
        answers = await asyncio.gather(
            store.accept([arrival(1)]),
            store.accept([arrival(2, LaneId("contract:\0"))]),
            store.accept([arrival(3, LaneId("contract:\ud800"))]),
            store.lane(LaneId("\0")),
            store.find("key", "\ud800"),
            store.find("key", "plain"),
            return_exceptions=True,
        )
        accepted, *refused, found = answers
        assert not isinstance(accepted, BaseException)
        kinds = [Bug, UnicodeEncodeError, BadRequest, BadRequest]
        assert [type(answer) for answer in refused] == kinds
        assert found is None
        await store.close()

    run(story())
