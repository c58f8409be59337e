"""Which store an address leads to."""

import asyncio
import sys
from pathlib import Path

import pytest
from tests.redis_servers import server
from tests.servers import PostgresServer

from laneway.chains.contract_callable import CallableHost
from laneway.core.errors import StoreBusy, StoreRefused, StoreUnknown
from laneway.core.ids import Owner
from laneway.engine.system import SystemClock
from laneway.ports import ContractCall, Durability
from laneway.stores.address import StoreOptions
from laneway.wiring.config import load
from laneway.wiring.embedded import Laneway
from laneway.wiring.opening import open_laneway
from laneway.wiring.readiness import ReadinessProbe
from laneway.wiring.server import greeting
from laneway.wiring.store import once_reached, open_store


def test_a_path_is_a_file_and_a_word_is_memory(tmp_path: Path) -> None:
    async def story() -> None:
        for path, durability in (
            (":memory:", Durability.MEMORY),
            (str(tmp_path / "laneway.db"), Durability.FULL),
        ):
            store = open_store(path, SystemClock())
            assert store.durability is durability
            await store.close()

    asyncio.run(story())


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "laneway.stores.postgres", None)
    with pytest.raises(StoreRefused, match=r"pip install 'laneway\[postgres\]'"):
        open_store("postgresql://localhost/none", SystemClock())


def test_an_engine_runs_on_postgres_and_goes_on_at_the_next_start(
    postgres_server: PostgresServer,
) -> None:
    address = f"postgresql://postgres@/postgres?host={postgres_server.folder}"
    ran: list[tuple[str, str]] = []

    async def execute(call: ContractCall, parent: int) -> int:
        ran.append((call.contract, call.data))
        return parent + 1

    async def story() -> None:
        for start in range(2):
            async with Laneway.open(address, CallableHost(execute)) as laneway:
                calls = [
                    ContractCall(f"c{number % 5}", "did:1", f"{start} {number}")
                    for number in range(50)
                ]
                handles = await laneway.submit_many(calls)
                await asyncio.gather(*(handle.result() for handle in handles))

    postgres_server.run("DROP SCHEMA IF EXISTS laneway CASCADE")
    asyncio.run(asyncio.wait_for(story(), 30))
    assert len(ran) == len(set(ran)) == 100
    for contract in range(5):
        own = [data for name, data in ran if name == f"c{contract}"]
        assert own == [f"{start} {n}" for start in range(2) for n in range(contract, 50, 5)]


def test_the_schema_is_where_the_tables_are(postgres_server: PostgresServer) -> None:
    address = f"postgresql://postgres@/postgres?host={postgres_server.folder}"
    schema = postgres_server.schema()

    async def story() -> None:
        flags = {"store.path": address, "store.schema": schema}
        async with open_laneway(load(None, {}, flags)) as laneway:
            assert laneway.store.durability is Durability.FULL

    asyncio.run(story())
    ((made,),) = postgres_server.run(f"SELECT to_regclass('{schema}.lanes') IS NOT NULL")
    assert made


class Down:
    """A store that answers from its `up`th asking on, and the hours of those who wait for it."""

    def __init__(self, up: int) -> None:
        self.up = up
        self.asked = 0
        self.rests: list[int] = []
        self.lines: list[str] = []
        self.ms = 0

    def monotonic_ms(self) -> int:
        return self.ms

    def now_ms(self) -> int:
        return self.ms

    async def open(self) -> str:
        self.asked += 1
        self.ms += 100
        if self.asked < self.up:
            raise StoreBusy("PostgreSQL at db: refused\n\tis it there?")
        return "open"

    async def rest(self, line: str, wait_ms: int) -> bool:
        self.lines.append(line)
        self.rests.append(wait_ms)
        self.ms += wait_ms
        return True


def test_a_store_that_is_down_is_asked_again_with_longer_waits_until_it_answers() -> None:
    down = Down(up=8)
    assert asyncio.run(once_reached(down.open, 60_000, down, down.rest)) == "open"
    assert down.rests == [500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000]
    assert down.lines[0] == (
        "waiting for the store: PostgreSQL at db: refused is it there?; "
        "again in 500 ms, for 59 s more at most"
    )


def test_a_store_that_stays_down_is_given_up_when_its_time_is_over() -> None:
    down = Down(up=99)
    with pytest.raises(StoreBusy):
        asyncio.run(once_reached(down.open, 2_000, down, down.rest))
    assert down.rests == [500, 1_000, 200]
    never = Down(up=99)
    with pytest.raises(StoreBusy):
        asyncio.run(once_reached(never.open, 0, never, never.rest))
    assert never.rests == []


def test_a_wait_for_a_store_can_be_ended() -> None:
    down = Down(up=99)

    async def ended(_line: str, _wait_ms: int) -> bool:
        return False

    assert asyncio.run(once_reached(down.open, 60_000, down, ended)) is None
    assert down.asked == 1


@pytest.mark.slow
def test_a_weaker_redis_is_taken_only_when_that_was_asked_for_and_says_so_everywhere() -> None:
    async def story(url: str) -> None:
        store = open_store(url, SystemClock())
        with pytest.raises(StoreRefused, match="durability = 'relaxed'"):
            await store.beat(Owner("me"), 1_000)
        await store.close()
        flags = {"store.path": url, "store.durability": "relaxed"}
        configuration = load(None, {}, flags)
        async with open_laneway(configuration) as laneway:
            assert laneway.store.durability is Durability.RELAXED
            (said,) = [c for c in await ReadinessProbe(laneway).checks() if c.name == "durability"]
            assert said.what.startswith("relaxed: a power cut may undo")
            lines = greeting(configuration, ["http://here"], laneway)
            assert [line for line in lines if line.startswith("caution     relaxed: ")]

    with server("--appendonly", "no") as redis:
        asyncio.run(story(redis.url))


@pytest.mark.slow
def test_replicas_that_a_configuration_asks_for_are_waited_for() -> None:
    async def story(url: str) -> None:
        store = open_store(url, SystemClock(), StoreOptions(replicas_min=1, wait_timeout_ms=50))
        with pytest.raises(StoreUnknown, match=r"0 of 1 replicas .* after 50 ms"):
            await store.beat(Owner("me"), 1_000)
        await store.close()

    with server() as redis:
        asyncio.run(story(redis.url))
