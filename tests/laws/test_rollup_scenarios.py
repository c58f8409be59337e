"""A ledger rollup on our own devnet with six cores, through what may befall it; a judge that
believes nobody reads it all back from the chain.

The chain's slots pass when the story says so, and stand still while it waits for the lane: then a
slow machine makes it longer, and not another one.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import astuple, replace
from tests.builder.stage import LEDGER, LedgerBuilder
from tests.rollup_house import SLOT_MS, House
from tests.rollup_stage import Handed, Judge, Purse, Watch, digest

from laneway.builder.opener import open_builder
from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.node import JamPlace
from laneway.chains.nodes import PollPace
from laneway.core.jam import JamBlockRef
from laneway.devnets.jam.devnet import JamDevnet, rollup_service
from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.devnets.jam.model.values import ModelSetup
from laneway.jam.service.commitment import refusal_key
from laneway.jam.service.values import REFUSAL, NoEffectReason
from laneway.jam.spec import TINY
from laneway.lanes.bundle.tells import ON_THE_WAY
from laneway.rollups.receipts import At

pytestmark = pytest.mark.slow

STORY_S_MAX = 240
CORES = 6
SIX = replace(
    TINY, core_count=CORES, validator_count=3 * CORES, recovery_count=TINY.recovery_count * 3
)
"""With the two cores of the tiny chain no more than two packages can wait for their guarantees."""
BLOCK_TXS = 100
INFLIGHT = 5

Order = Literal["parallel", "chained"]


class Stage:
    """The chain and all that look at it."""

    def __init__(self, devnet: JamDevnet, house: House, builder: LedgerBuilder) -> None:
        self.devnet = devnet
        self.builder = builder
        self.model = devnet.model
        self.faults = devnet.model.faults
        self.house = house
        self.watch = Watch(devnet)
        self.judge = Judge(devnet.say)
        self.purse = Purse(devnet.model.genesis)

    def height(self) -> int:
        """Of the best block, as the builder's node has it."""
        return self.model.number(0, self.model.best(0).header_hash)

    def version(self, number: int, version: int = 1) -> Handed:
        """A package as it was handed in."""
        return self.watch.versions(number)[version - 1]

    def offers(self, package: bytes) -> int:
        return sum(one.package == package for one in self.watch.submissions)

    def is_on_chain(self, package: bytes) -> bool:
        """Whether the final chain has its report."""
        final = self.model._tree.get(self.model.finalized(0).header_hash)
        assert final is not None
        line = {one.hash for one in self.model._tree.lineage(final)}
        return any(one in line for one in self.watch.reports(package))

    def refusal(self, package: bytes) -> NoEffectReason | None:
        """Why the service gave it no effect."""
        at = self.model.finalized(0).header_hash
        raw = self.model.service_value(0, at, ROLLUP_SERVICE_DEV, refusal_key(package))
        return None if raw is None else REFUSAL.decode(raw, "refusal").reason


@asynccontextmanager
async def staged(folder: Path, order: Order) -> AsyncIterator[Stage]:
    setup = ModelSetup(spec=SIX)
    setup = replace(setup, services={ROLLUP_SERVICE_DEV: rollup_service(setup)})
    async with asyncio.timeout(STORY_S_MAX), JamDevnet(slot_ms=0, setup=setup) as devnet:
        devnet.step(3)
        chain = Jip2Chain(
            [JamPlace(devnet.url, name="node")], slot_ms=SLOT_MS, pace=PollPace(poll_ms=50)
        )
        builder = await open_builder(LEDGER, chain, ROLLUP_SERVICE_DEV, str(folder / "builder.db"))
        house = House(
            chain,
            builder,
            str(folder / "laneway.db"),
            service=ROLLUP_SERVICE_DEV,
            best=lambda: JamBlockRef(*astuple(devnet.model.best(0))),
            cores=tuple(range(CORES)),
            max_inflight=INFLIGHT,
            order=order,
            block_txs_max=BLOCK_TXS,
        )
        async with aclosing(chain), aclosing(builder), house:
            yield Stage(devnet, house, builder)


@pytest.mark.parametrize("order", ["parallel", "chained"])
def test_each_transfer_is_executed_once_whatever_the_chain_does(
    order: Order, tmp_path: Path
) -> None:
    async def story() -> None:
        async with staged(tmp_path, order) as stage:
            await a_fork_takes_an_accumulation_back(stage)
            await five_are_in_flight_and_one_guarantee_is_hidden(stage, order)
            await all_is_well(stage)

    asyncio.run(story())


async def a_fork_takes_an_accumulation_back(stage: Stage) -> None:
    house, step = stage.house, stage.devnet.step
    jobs = await house.submit(stage.purse.transfers(BLOCK_TXS))
    # The lane has ordered it, and the chain has it.
    await house.until(lambda: house.inflight() == 1 and len(stage.watch.versions(1)) == 1)
    package = stage.version(1).package
    while not step().accumulated:
        await house.pass_slot(lambda: None)
    await house.until(lambda: "accumulated" in house.words(1))
    (lost,) = stage.watch.reports(package)
    stage.faults.reorg_depth = 2
    offers = stage.offers(package)
    step()
    await house.until(lambda: stage.offers(package) > offers)
    await house.pass_slots(step, lambda: house.is_done(jobs))
    await house.until_notified()
    (_, kept) = stage.watch.reports(package)
    assert kept != lost
    assert stage.is_on_chain(package)
    assert house.versions(1) == [package]
    words = [one.word for one in house.heard if one.word not in ON_THE_WAY]
    assert words == ["accumulated", "restored", "accumulated", "finalised"]


async def five_are_in_flight_and_one_guarantee_is_hidden(stage: Stage, order: Order) -> None:
    house, step, faults, model = stage.house, stage.devnet.step, stage.faults, stage.model
    faults.withheld_cores = set(range(CORES))
    jobs = await house.submit(stage.purse.transfers(INFLIGHT * BLOCK_TXS))
    await house.until(lambda: house.inflight() == INFLIGHT == len(model.waiting()))
    waiting = {package: core for core, package in model.waiting()}
    assert sorted(stage.watch.packages[one].number for one in waiting) == [2, 3, 4, 5, 6]

    # Guarantors are silent for a slot, then one package is kept back, and another one's report is
    # lost for want of shards.
    await house.pass_slot(step)
    hidden = stage.version(2)
    faults.withheld_cores = set()
    faults.censored = {hidden.package}
    if order == "parallel":
        faults.unavailable_cores = {waiting[stage.version(4).package]}
    over = model.number(0, hidden.anchor) + 8
    await house.pass_slots(step, lambda: stage.height() == over)

    # On this fork it can be reported no more, and its builder will see no other one. The rival of
    # the newest block brings it at the last moment.
    seen = model.best(0)
    parent = model.parent(0, seen.header_hash).header_hash
    faults.censored, faults.hidden_reports = set(), {0: {hidden.package}}
    rival = model.produce(model.slot + 1, parent=parent)
    assert hidden.package in [one.package_hash for one in rival.reported]
    assert rival.made is not None
    stage.devnet.settle()
    count = INFLIGHT if order == "chained" else 1
    await house.until(lambda: len(stage.watch.versions(2)) == 2)
    await house.until(lambda: stage.watch.again() >= count)
    assert model.best(0) == seen
    again = stage.version(2, 2)
    assert (again.block, again.anchor) == (hidden.block, parent)
    after = model.produce(model.slot + 1, parent=rival.made.header_hash)
    assert again.package in [one.package_hash for one in after.reported]
    assert hidden.package in after.accumulated

    faults.hidden_reports, faults.unavailable_cores = {}, set()
    stage.devnet.settle()
    await house.pass_slots(step, lambda: house.is_done(jobs))
    assert stage.is_on_chain(hidden.package)
    assert stage.is_on_chain(again.package)
    assert stage.refusal(hidden.package) is None
    assert stage.refusal(again.package) is NoEffectReason.SAME_BLOCK_APPLIED
    shown = house.picture()
    assert shown is not None
    assert shown.duplicate_guarantees_rejected >= count
    if order == "parallel":
        assert len(stage.watch.versions(4)) > 1


async def all_is_well(stage: Stage) -> None:
    house, made = stage.house, stage.purse.made
    await house.until_notified()
    audit = stage.judge.audit(made)
    assert audit.problems == []
    assert audit.total == len(made) == (1 + INFLIGHT) * BLOCK_TXS
    assert stage.watch.problems == []
    assert {one.status for one in house.ear.results.values()} == {"confirmed"}
    assert len(house.ear.results) == len(made)
    for block in audit.blocks:
        for place, raw in enumerate(block.transfers):
            receipt = await stage.builder.receipt(digest(raw))
            assert receipt is not None
            assert (receipt.number, receipt.block, receipt.index) == (
                block.number,
                block.block,
                place,
            )
            assert (receipt.status, receipt.is_final) == ("ok", True)
            assert receipt.package_hash == block.package
    for one, found in audit.accounts.items():
        account = stage.builder.state(At.FINALIZED).account(one)
        assert (account.balance, account.nonce) == found
