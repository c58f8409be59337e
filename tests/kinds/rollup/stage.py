"""A laneway with a ledger rollup, on a devnet that is there already or inside it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from msgspec import convert

from laneway.builder.builder import ChainedBuilder
from laneway.chains.contract_callable import CallableHost
from laneway.core.ids import LaneId
from laneway.devnets.jam.devnet import JamDevnet
from laneway.engine.system import SystemClock
from laneway.kinds.contract.served import ContractServed
from laneway.kinds.rollup.lanes import RollupLanes
from laneway.kinds.rollup.section import BundleSection, RollupSection
from laneway.kinds.rollup.served import RollupServed
from laneway.lanes.contract import ContractSettings
from laneway.ports import ContractCall
from laneway.rollups.ledger.block import LedgerBlock
from laneway.rollups.ledger.state import LedgerState
from laneway.wiring.embedded import Laneway
from laneway.wiring.store import open_store

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
    contracts = ContractServed(CallableHost(nothing), ContractSettings(), clock)
    return Laneway(open_store(path, clock), [contracts, RollupServed(lanes, clock)], clock)


def built(lanes: RollupLanes) -> ChainedBuilder[LedgerState, LedgerBlock]:
    """The builder of the rollup in this process."""
    return cast(ChainedBuilder[LedgerState, LedgerBlock], lanes.rollups[LaneId(LANE)].builder)


@asynccontextmanager
async def laneway_on(
    devnet: JamDevnet, path: str | Path = ":memory:", **more: object
) -> AsyncIterator[Laneway]:
    """As if its slots were those that the devnet really has."""
    slot_ms = devnet.slot_ms or 600_000
    async with made(str(path), table(devnet.url, slot_ms=slot_ms, **more)) as laneway:
        yield laneway


def run(story: Callable[[], Awaitable[Any]], timeout_s: float = 100) -> Any:
    return asyncio.run(asyncio.wait_for(story(), timeout_s))
