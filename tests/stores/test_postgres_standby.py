"""The PostgreSQL store and a standby that is promoted."""

import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.contracts.test_store import arrival
from tests.servers import PostgresServer

from laneway.core.errors import LeaseLost
from laneway.core.ids import LaneId, Owner
from laneway.core.rows import START, HeadWrite, Write
from laneway.ports import Commit
from laneway.stores.postgres import PostgresStore

pytestmark = pytest.mark.slow

A = LaneId("contract:a")
ME, YOU = Owner("me"), Owner("you")
WAIT_S_MAX = 20


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S_MAX
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@contextmanager
def pair() -> Iterator[tuple[PostgresServer, PostgresServer]]:
    """A primary of its own, and a standby that follows it."""
    with (
        tempfile.TemporaryDirectory(prefix="laneway-") as one,
        tempfile.TemporaryDirectory(prefix="laneway-") as two,
    ):
        primary, standby = PostgresServer(Path(one)), PostgresServer(Path(two))
        primary.start()
        try:
            standby.follow(primary)
            standby.start()
            try:
                until(lambda: primary.run("SELECT state FROM pg_stat_replication") != [])
                yield primary, standby
            finally:
                standby.stop()
        finally:
            primary.stop()


def test_a_promoted_standby_hands_out_no_fence_that_its_primary_may_have_handed_out() -> None:
    async def story(primary: PostgresServer, standby: PostgresServer) -> None:
        mine = PostgresStore(primary.conninfo)
        await mine.beat(ME, 60_000)
        await mine.accept([arrival(1)])
        await asyncio.to_thread(
            until, lambda: standby.run("SELECT to_regclass('laneway.lanes')") != [(None,)]
        )
        behind = "SELECT replay_lsn < pg_current_wal_lsn() FROM pg_stat_replication"
        await asyncio.to_thread(until, lambda: primary.run(behind) == [(False,)])
        standby.stop()
        old = await mine.claim(A, ME)
        assert old is not None
        # Nothing more comes from the primary, which lives on.
        standby.start(primary_conninfo="")
        standby.run("SELECT pg_promote()")
        yours = PostgresStore(standby.conninfo)
        await yours.beat(YOU, 60_000)
        new = await yours.claim(A, YOU)
        assert new is not None
        assert new.fence > old.fence
        write = Write(HeadWrite(START, 0, 0, None, b""), (), (), 5, b"feed")
        (refused,) = await yours.commit([Commit(old, 1, write)])
        assert isinstance(refused, LeaseLost)
        assert await yours.commit([Commit(new, 1, write)]) == [1]
        await mine.close()
        await yours.close()

    with pair() as (primary, standby):
        asyncio.run(story(primary, standby))


def test_leases_of_before_are_void_on_a_promoted_standby() -> None:
    async def story(primary: PostgresServer, standby: PostgresServer) -> None:
        mine = PostgresStore(primary.conninfo)
        await mine.beat(ME, 60_000)
        old = await mine.claim(A, ME)
        assert old is not None
        behind = "SELECT replay_lsn < pg_current_wal_lsn() FROM pg_stat_replication"
        await asyncio.to_thread(until, lambda: primary.run(behind) == [(False,)])
        await mine.close()
        standby.run("SELECT pg_promote()")
        mine = PostgresStore(standby.conninfo)
        write = Write(HeadWrite(START, 0, 0, None, b""), (), (), 5, b"feed")
        (refused,) = await mine.commit([Commit(old, 1, write)])
        assert isinstance(refused, LeaseLost)
        # It lives, and has its lane again at once.
        new = await mine.claim(A, ME)
        assert new is not None
        assert await mine.commit([Commit(new, 1, write)]) == [1]
        await mine.close()

    with pair() as (primary, standby):
        asyncio.run(story(primary, standby))


def test_a_standby_that_nobody_waits_for_is_said_aloud() -> None:
    async def story(primary: PostgresServer) -> None:
        store = PostgresStore(primary.conninfo)
        await store.beat(ME, 60_000)
        (said,) = store.cautions()
        assert "synchronous_standby_names" in said
        primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
        primary.run("SELECT pg_reload_conf()")
        sync = "SELECT sync_state FROM pg_stat_replication"
        await asyncio.to_thread(until, lambda: primary.run(sync) == [("sync",)])
        await store.beat(ME, 60_000)
        assert store.cautions() == []
        await store.close()

    with pair() as (primary, _):
        asyncio.run(story(primary))
