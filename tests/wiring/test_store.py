"""Which store an address leads to."""

import asyncio
import sys
from pathlib import Path

import pytest
from tests.servers import PostgresServer

from laneway.chains.contract_callable import CallableHost
from laneway.core.errors import StoreRefused
from laneway.ports import ContractCall, Durability
from laneway.wiring.embedded import Laneway
from laneway.wiring.store import open_store
from laneway.wiring.system import SystemClock


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
    with pytest.raises(StoreRefused, match=r"install laneway\[postgres\]"):
        open_store("postgresql://localhost/none", SystemClock())


def test_an_engine_runs_on_postgres_and_goes_on_at_the_next_start(
    postgres_server: PostgresServer,
) -> None:
    address = f"postgresql://postgres@/postgres?host={postgres_server.folder}"
    ran: list[tuple[str, str]] = []

    async def execute(call: ContractCall, _parent: int) -> None:
        ran.append((call.contract, call.data))

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
