"""A laneway with a ledger rollup, on a devnet that is there already or inside it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import convert

from laneway.chains.contract_callable import CallableHost
from laneway.devnets.jam.devnet import JamDevnet
from laneway.lanes.contract import ContractSettings
from laneway.ports import ContractCall
from laneway.wiring.embedded import Laneway
from laneway.wiring.rollup import RollupLanes
from laneway.wiring.schema_rollup import BundleSection, RollupSection
from laneway.wiring.store import open_store
from laneway.wiring.system import SystemClock

SERVICE = 1
LANE = "rollup:1"


def table(*nodes: str, **more: object) -> RollupSection:
    given = {"name": "main", "service": SERVICE, "nodes": nodes, **more}
    return convert(given, RollupSection)


async def nothing(_call: ContractCall, parent: int) -> int:
    return parent + 1


def made(path: str, *tables: RollupSection, section: BundleSection | None = None) -> Laneway:
    clock = SystemClock()
    lanes = RollupLanes(tables, section or BundleSection(), clock, store_path=path)
    host, settings = CallableHost(nothing), ContractSettings()
    return Laneway(open_store(path, clock), host, settings, clock, rollup=lanes)


@asynccontextmanager
async def laneway_on(
    devnet: JamDevnet, path: str | Path = ":memory:", **more: object
) -> AsyncIterator[Laneway]:
    """As if its slots were those that the devnet really has."""
    slot_ms = devnet._host.slot_ms or 600_000
    async with made(str(path), table(devnet.url, slot_ms=slot_ms, **more)) as laneway:
        yield laneway


def run(story: Callable[[], Awaitable[Any]], timeout_s: float = 100) -> Any:
    return asyncio.run(asyncio.wait_for(story(), timeout_s))
