"""The judge and the watch of rollup stories see what they are there for."""

import asyncio
from collections.abc import Awaitable, Callable

from tests.devnets.jam.wire_stage import Builder
from tests.rollup_stage import Judge, Purse, Watch

from laneway.devnets.jam.devnet import JamDevnet
from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.devnets.jam.model.values import NULL_AUTHORIZER
from laneway.jam.package import WORK_PACKAGE, WorkPackage
from laneway.rollups.ledger.transfer import TRANSFER
from laneway.rollups.rules import BlockWork

Story = Callable[[JamDevnet, Judge, Watch], Awaitable[None]]


def told(story: Story) -> None:
    async def whole() -> None:
        async with JamDevnet(slot_ms=0) as devnet:
            watch, judge = Watch(devnet), Judge(devnet.say)
            devnet.step(3)
            await story(devnet, judge, watch)

    asyncio.run(whole())


def work_of(devnet: JamDevnet, purse: Purse, builder: Builder, count: int = 3) -> BlockWork:
    transfers = [TRANSFER.decode(raw, "transfer") for raw in purse.transfers(count)]
    return builder.build(*transfers)[1]


def hand_in(devnet: JamDevnet, work: BlockWork) -> None:
    """A package of this work, in the context of now."""
    package = WorkPackage(
        auth_code_host=ROLLUP_SERVICE_DEV,
        auth_code_hash=NULL_AUTHORIZER,
        context=devnet.model.refine_context(0),
        items=work.items,
    )
    assert devnet.model.submit(0, 0, WORK_PACKAGE.encode(package), work.extrinsics) is None


def test_what_is_lost_or_came_from_nowhere_is_found() -> None:
    async def story(devnet: JamDevnet, judge: Judge, watch: Watch) -> None:
        purse, builder = Purse(devnet.model.genesis), Builder(devnet.model.genesis)
        hand_in(devnet, work_of(devnet, purse, builder))
        devnet.step(6)
        hand_in(devnet, work_of(devnet, purse, builder))
        devnet.step(6)
        audit = judge.audit(purse.made)
        assert (audit.problems, audit.total, len(audit.blocks)) == ([], 6, 2)
        assert watch.problems == []
        first, *others = purse.made
        missing = purse.transfer()
        (lost,) = judge.audit([first, *others, missing]).problems
        assert lost.startswith("lost: 1,")
        (foreign,) = judge.audit(others).problems
        assert foreign.startswith("foreign: 1,")

    told(story)


def test_a_second_package_of_the_same_transfers_is_told_unless_the_first_is_dead() -> None:
    async def story(devnet: JamDevnet, judge: Judge, watch: Watch) -> None:
        purse, builder = Purse(devnet.model.genesis), Builder(devnet.model.genesis)
        work = work_of(devnet, purse, builder)
        devnet.model.faults.withheld_cores = {0}
        hand_in(devnet, work)
        (first,) = watch.packages.values()
        height = devnet.model.number(0, first.anchor)
        while devnet.model.number(0, devnet.model.best(0).header_hash) < height + 8:
            assert not watch.was_dead(first, 0)
            devnet.step()
        assert watch.was_dead(first, 0)
        hand_in(devnet, work)
        assert watch.problems == []
        devnet.step()
        hand_in(devnet, work)
        (problem,) = watch.problems
        assert problem.endswith("could land")
        devnet.model.faults.withheld_cores = set()
        devnet.step(8)
        assert judge.audit(purse.made).problems == []

    told(story)
