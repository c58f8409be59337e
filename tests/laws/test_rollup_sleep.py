"""A rollup whose process slept for longer than its node remembers: what was out is found dead or
done by the records alone, and the lane goes on."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest
from tests.builder.stage import SERVICE, Site, site
from tests.rollup_house import SLOT_MS, House

from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.node import JamPlace
from laneway.core.jam import JamBlockRef, Package, PackageAnswer, PackageKind, SubmissionAnswers
from laneway.core.outcome import Outcome
from laneway.lanes.bundle.records import BlockDropped
from laneway.ports import SendPermit

pytestmark = pytest.mark.slow

SLEPT = 120


class Censoring(Jip2Chain):
    """Says of every package that a node took it, while it is told to."""

    hides = True

    async def submit(
        self,
        package: Package,
        cores: Sequence[int],
        only: Sequence[str] = (),
        permit: SendPermit | None = None,
    ) -> SubmissionAnswers:
        if not self.hides:
            return await super().submit(package, cores, only, permit)
        taken = PackageAnswer(
            node=self.nodes[0], core=cores[0], kind=PackageKind.TAKEN, outcome=Outcome.ACCEPTED
        )
        return SubmissionAnswers((taken,), final=False)


def best_of(found: Site) -> JamBlockRef:
    best = found.devnet.model.best(0)
    return JamBlockRef(best.header_hash, best.slot)


def test_a_package_that_never_landed_is_built_anew_after_a_long_sleep(tmp_path: Path) -> None:
    async def story(found: Site, chain: Censoring) -> None:
        step = found.devnet.step
        builder = await found.builder()
        path = str(tmp_path / "lane.db")
        raws = [found.transfer(nonce) for nonce in range(2)]
        async with House(chain, builder, path, service=SERVICE, best=lambda: best_of(found)) as one:
            jobs = await one.submit(raws[:1])
            await one.pass_slots(step, lambda: one.inflight() == 1)
        step(SLEPT)
        chain.hides = False
        async with House(chain, builder, path, service=SERVICE, best=lambda: best_of(found)) as two:
            jobs += await two.submit(raws[1:])
            await two.pass_slots(step, lambda: two.is_done(jobs), 90)
            assert two.statuses(jobs) == ["confirmed", "confirmed"]
            assert two.ear.of(BlockDropped) == []
            assert found.head().number == 2

    told(story)


def test_a_package_that_landed_meanwhile_is_found_by_its_record(tmp_path: Path) -> None:
    async def story(found: Site, chain: Censoring) -> None:
        step = found.devnet.step
        builder = await found.builder()
        path = str(tmp_path / "lane.db")
        chain.hides = False
        async with House(chain, builder, path, service=SERVICE, best=lambda: best_of(found)) as one:
            jobs = await one.submit([found.transfer(0)])
            await one.pass_slots(step, lambda: one.inflight() == 1)
            (package,) = one.versions(1)
        step(SLEPT)
        assert found.brought(package) is not None
        async with House(chain, builder, path, service=SERVICE, best=lambda: best_of(found)) as two:
            await two.pass_slots(step, lambda: two.is_done(jobs), 90)
            assert two.statuses(jobs) == ["confirmed"]
            assert two.versions(1) == [], "no other version of it was made"

    told(story)


def told(story: Callable[[Site, Censoring], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with asyncio.timeout(90), site() as found:
            chain = Censoring([JamPlace(found.devnet.url, name="node")], slot_ms=SLOT_MS)
            found.devnet.step(4)
            try:
                await story(found, chain)
            finally:
                await chain.aclose()

    asyncio.run(whole())
