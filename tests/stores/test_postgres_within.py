"""Queueing inside the caller's own transaction: with its rows, or not at all."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from tests.contracts.test_store import arrival
from tests.servers import PostgresServer

from laneway import submit_within, submit_within_sync
from laneway.chains.contract_callable import CallableHost
from laneway.core.errors import BadRequest, IntentConflict, LaneFull, StoreRefused
from laneway.core.ids import LaneId
from laneway.core.intent import Accepted, Replayed
from laneway.engine.system import SystemClock
from laneway.kinds.contract.served import ContractServed
from laneway.lanes.contract import ContractSettings
from laneway.ports import ContractCall, Woken
from laneway.stores.postgres import PostgresStore, accept_within
from laneway.wiring.embedded import Laneway


class Shop:
    """Business rows and an engine in one database."""

    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        self.schema = server.schema()
        self.ran: list[str] = []
        self.orders = f"orders_{self.schema}"
        server.run(f"CREATE TABLE {self.orders} (id int PRIMARY KEY)")

    @asynccontextmanager
    async def engine(self) -> AsyncIterator[Laneway]:
        async def execute(call: ContractCall, parent: int) -> int:
            self.ran.append(call.data)
            return parent + 1

        store = PostgresStore(self.server.conninfo, schema=self.schema)
        settings = ContractSettings()
        async with Laneway(
            store, [ContractServed(CallableHost(execute), settings, SystemClock())], SystemClock()
        ) as engine:
            yield engine

    @asynccontextmanager
    async def buying(self, number: int, **options: Any) -> AsyncIterator[psycopg.AsyncConnection]:
        connect = psycopg.AsyncConnection.connect(self.server.conninfo, **options)
        async with await connect as connection:
            await connection.execute(f"INSERT INTO {self.orders} VALUES (%s)".encode(), [number])
            yield connection

    @contextmanager
    def buying_sync(self, number: int) -> Iterator[psycopg.Connection]:
        with psycopg.connect(self.server.conninfo) as connection:
            connection.execute(f"INSERT INTO {self.orders} VALUES (%s)".encode(), [number])
            yield connection

    def bought(self) -> list[Any]:
        return [number for (number,) in self.server.run(f"SELECT id FROM {self.orders} ORDER BY 1")]


@pytest.fixture
def shop(postgres_server: PostgresServer) -> Shop:
    return Shop(postgres_server)


def test_what_is_committed_runs_once_and_soon_and_what_is_rolled_back_never_was(
    shop: Shop,
) -> None:
    async def story() -> None:
        async with shop.engine() as engine:
            async with shop.buying(1, row_factory=dict_row) as connection:
                first = await submit_within(
                    connection, "c", "one", key="order-1", schema=shop.schema
                )
                assert await engine.store.intent(first) is None
                found = await (await connection.execute("SHOW search_path")).fetchone()
                assert "public" in str(found)
            await asyncio.wait_for(engine.wait(first), 5)
            async with shop.buying(2) as connection:
                lost = await submit_within(
                    connection, "d", "two", key="order-2", schema=shop.schema
                )
                await connection.rollback()
            assert await engine.store.intent(lost) is None
            assert await engine.store.lane(LaneId("contract:d")) is None
            async with shop.buying(3) as connection:
                third = await submit_within(
                    connection, "d", "three", key="order-2", schema=shop.schema
                )
            await asyncio.wait_for(engine.wait(third), 5)

    asyncio.run(story())
    assert shop.ran == ["one", "three"]
    assert shop.bought() == [1, 3]


def test_the_commit_itself_wakes_the_lane(shop: Shop) -> None:
    async def story() -> None:
        store = PostgresStore(shop.server.conninfo, schema=shop.schema)
        news = store.news()
        heard = asyncio.ensure_future(anext(news))
        number = 0
        while not heard.done():
            # Until the listener listens, which nothing says.
            number += 1
            async with shop.buying(number) as connection:
                await submit_within(connection, "never", "x", schema=shop.schema)
                await connection.rollback()
            async with shop.buying(number) as connection:
                await submit_within(connection, "c", "x", schema=shop.schema)
            await asyncio.wait((heard,), timeout=0.2)
        assert await heard == Woken(LaneId("contract:c"))
        await store.close()

    asyncio.run(asyncio.wait_for(story(), 20))


def test_one_key_is_one_execution_whichever_door_it_comes_through(shop: Shop) -> None:
    async def story() -> None:
        async with shop.engine() as engine:
            handle = await engine.submit("c", "one", key="k")
            async with shop.buying(1) as connection:
                assert (
                    await submit_within(connection, "c", "one", key="k", schema=shop.schema)
                    == handle.id
                )
                second = await submit_within(connection, "c", "two", key="l", schema=shop.schema)
                again = await submit_within(connection, "c", "two", key="l", schema=shop.schema)
                assert second == again
                with pytest.raises(IntentConflict):
                    await submit_within(connection, "c", "other", key="k", schema=shop.schema)
            await asyncio.wait_for(engine.wait(second), 5)

    asyncio.run(story())
    assert shop.ran == ["one", "two"]


def test_a_blocking_connection_does_the_same(shop: Shop) -> None:
    async def story() -> None:
        async with shop.engine() as engine:
            intent = await asyncio.to_thread(buy)
            await asyncio.wait_for(engine.wait(intent), 5)

    def buy() -> Any:
        with shop.buying_sync(1) as connection:
            return submit_within_sync(connection, "c", "one", schema=shop.schema)

    asyncio.run(story())
    assert shop.ran == ["one"]


def test_two_transactions_that_make_the_same_lane_and_key_make_one_intent(shop: Shop) -> None:
    async def story() -> None:
        async with shop.engine() as engine, shop.buying(1) as one, shop.buying(2) as two:
            first = await accept_within(one, [arrival(1, key="k", digest=b"d")], schema=shop.schema)
            asked = asyncio.create_task(
                accept_within(two, [arrival(2, key="k", digest=b"d")], schema=shop.schema)
            )
            await asyncio.sleep(0.1)
            await one.commit()
            (answer,) = first
            assert isinstance(answer, Accepted)
            assert await asked == [Replayed(answer.id)]
            await two.commit()
            await engine.close()

    asyncio.run(story())
    assert shop.bought() == [1, 2]


def test_limits_hold_and_a_commit_that_would_not_be_synced_is(shop: Shop) -> None:
    async def story() -> None:
        async with shop.engine(), shop.buying(1) as connection:
            await connection.execute("SET synchronous_commit = off")
            tight = ContractSettings(count_max=1, limit_policy="reject")
            await submit_within(connection, "c", "1", schema=shop.schema, settings=tight)
            with pytest.raises(LaneFull):
                await submit_within(connection, "c", "2", schema=shop.schema, settings=tight)
            found = await (await connection.execute("SHOW synchronous_commit")).fetchone()
            assert found == ("on",)
            await connection.rollback()

    asyncio.run(story())


def test_without_a_transaction_or_a_schema_nothing_is_begun(shop: Shop) -> None:
    async def story() -> None:
        async with shop.buying(1, autocommit=True) as connection:
            with pytest.raises(BadRequest, match="no transaction is open"):
                await submit_within(connection, "c", "one", schema=shop.schema)
            async with connection.transaction():
                with pytest.raises(StoreRefused, match="no laneway in this schema"):
                    await submit_within(connection, "c", "one", schema="elsewhere")
                with pytest.raises(StoreRefused, match="lower case"):
                    await submit_within(connection, "c", "one", schema="a b")

    asyncio.run(story())
