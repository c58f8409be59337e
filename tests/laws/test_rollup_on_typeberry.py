"""The bundle lane, its performer and the adapter, on a network whose state transition is not ours.

Its one service keeps no records and knows no ledger, so a builder of this file makes packages that
it takes; what is shown is a package's way: submitted, guaranteed, accumulated, final, handed in
again, built anew, taken back by a fork.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from hashlib import blake2b

import msgspec
import pytest
from tests.jam_worlds import TypeberryWorld, World, typeberry_process, typeberry_world
from tests.rollup_house import SLOT_MS, House
from tests.typeberry_node import (
    ACCUMULATE_GAS,
    BOOTSTRAP,
    BOOTSTRAP_CODE,
    NULL_AUTHORIZER,
    REFINE_GAS,
    data,
    text,
)

from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.node import JamPlace
from laneway.chains.nodes import PollPace
from laneway.core.jam import Context, Package
from laneway.jam.package import WORK_PACKAGE, RefineContext, WorkItem, WorkPackage, package_hash
from laneway.lanes.bundle.rows import ExecutionVerdict, Tell
from laneway.lanes.bundle.values import BuildBlock, BuildVersion, JudgedTransaction
from laneway.ports.rollup import ExecutedBlock, MadePackage

pytestmark = pytest.mark.slow

STORY_S_MAX = 60
WAY = ["queued", "submitted", "guaranteed", "accumulated", "finalised"]

Story = Callable[[World, House], Awaitable[None]]


class BootstrapBuilder:
    """A rollup without a state: its blocks are lists, and its packages ask for nothing."""

    async def execute(self, order: BuildBlock) -> ExecutedBlock:
        payload = msgspec.msgpack.encode((order.number, order.parent, order.payloads))
        block = digest(payload)
        return ExecutedBlock(
            payload=payload,
            digest=block,
            block=block,
            pre_root=order.parent_root or digest(b"genesis"),
            post_root=digest(block),
            judged=tuple(
                JudgedTransaction(intent, ExecutionVerdict.INCLUDED, digest(raw))
                for intent, raw in zip(order.intents, order.payloads, strict=True)
            ),
        )

    async def package(self, order: BuildVersion, context: Context) -> MadePackage:
        block = digest(order.payload)
        package = WorkPackage(
            auth_code_host=BOOTSTRAP,
            auth_code_hash=NULL_AUTHORIZER,
            # The authorizer takes every token, so this is where the block is named.
            authorization=block,
            context=RefineContext(
                anchor=context.anchor.header_hash,
                state_root=context.state_root,
                beefy_root=context.beefy_root,
                lookup_anchor=context.lookup_anchor.header_hash,
                lookup_anchor_slot=context.lookup_anchor.slot,
                prerequisites=order.prerequisites,
            ),
            items=(
                WorkItem(
                    service=BOOTSTRAP,
                    code_hash=BOOTSTRAP_CODE,
                    refine_gas_limit=REFINE_GAS,
                    accumulate_gas_limit=ACCUMULATE_GAS,
                    payload=b"",
                ),
            ),
        )
        encoded = Package(encoded=WORK_PACKAGE.encode(package))
        return MadePackage(block=block, package=encoded, package_hash=package_hash(package))

    async def notified(self, tells: Sequence[Tell]) -> None:
        pass

    async def aclose(self) -> None:
        pass


def digest(raw: bytes) -> bytes:
    return blake2b(raw, digest_size=32).digest()


@pytest.fixture(scope="module", autouse=True)
def process() -> Iterator[None]:
    with typeberry_process():
        yield


def told(story: Story, **settings: object) -> None:
    async def whole() -> None:
        async with asyncio.timeout(STORY_S_MAX), typeberry_world() as world:
            assert isinstance(world, TypeberryWorld)
            world.produce(3)
            chain = Jip2Chain(
                [JamPlace(world.relay.url, name="node")], slot_ms=SLOT_MS, pace=PollPace(poll_ms=50)
            )
            chosen = {"keeps_records": False, "block_txs_max": 2, **settings}
            house = House(
                chain,
                BootstrapBuilder(),
                ":memory:",
                service=BOOTSTRAP,
                best=world.best,
                **chosen,
            )
            async with aclosing(chain), house:
                await story(world, house)

    asyncio.run(whole())


def reported(world: World, *packages: bytes) -> list[bytes]:
    """The blocks of the best chain that report these packages."""
    found: list[bytes] = []
    at = world.best().header_hash
    while True:
        told = world.say("dev_block", text(at))
        if any(data(one["package"]) in packages for one in told["reported"]):
            found.append(at)
        if told["slot"] == 0:
            return found
        at = data(told["parent"])


def test_packages_go_from_queued_to_finalised() -> None:
    async def story(world: World, house: House) -> None:
        jobs = await house.submit([b"one", b"two", b"three"])
        await house.pass_slots(world.produce, lambda: house.is_done(jobs))
        await house.until_notified()
        assert house.words(1) == house.words(2) == WAY
        assert house.statuses(jobs) == ["confirmed"] * 3
        told_of = [(one.word, one.number) for one in house.heard]
        for number in (1, 2):
            words = [word for word, of in told_of if of == number]
            assert words[0] == "submitted"
            assert words[-2:] == ["accumulated", "finalised"]

    told(story)


def test_the_same_bytes_are_handed_in_until_they_are_guaranteed_and_count_once() -> None:
    async def story(world: World, house: House) -> None:
        jobs = await house.submit([b"one"])
        heard = world.relay.heard

        def refused() -> None:
            world.produce(noGuarantee=True)

        await house.pass_slots(refused, lambda: heard["submitWorkPackage"] >= 3, slots_max=7)
        await house.pass_slots(world.produce, lambda: house.is_done(jobs))
        (package,) = house.versions(1)
        assert len(reported(world, package)) == 1
        assert house.words(1) == WAY

    told(story)


def test_a_package_whose_anchor_died_is_built_anew_and_only_then() -> None:
    async def story(world: World, house: House) -> None:
        jobs = await house.submit([b"one"])

        def refused() -> None:
            world.produce(noGuarantee=True)

        await house.pass_slots(refused, lambda: len(house.versions(1)) == 1)
        anchor = house.anchor(1, 1)
        await house.pass_slots(refused, lambda: len(house.versions(1)) == 2)
        first, second = house.versions(1)
        assert height(world, world.best().header_hash) >= height(world, anchor) + 8
        await house.pass_slots(world.produce, lambda: house.is_done(jobs))
        assert (len(reported(world, first)), len(reported(world, second))) == (0, 1)
        assert house.words(1) == ["queued", "submitted", *WAY]

    told(story)


def test_a_fork_that_takes_a_guarantee_back_is_given_the_same_bytes() -> None:
    async def story(world: World, house: House) -> None:
        jobs = await house.submit([b"one"])
        await house.pass_slots(world.produce, lambda: "guaranteed" in house.words(1))
        (package,) = house.versions(1)
        (lost,) = reported(world, package)
        fork = data(world.say("dev_block", text(lost))["parent"])
        slot = world.best().slot
        for _ in range(height(world, world.best().header_hash) - height(world, fork) + 1):
            slot += 1
            made = world.produce(parent=text(fork), slot=slot, noGuarantee=True)
            fork = data(made["header_hash"])
        assert reported(world, package) == []
        await house.pass_slots(world.produce, lambda: house.is_done(jobs))
        (kept,) = reported(world, package)
        assert kept != lost
        assert house.versions(1) == [package]
        assert house.words(1)[:4] == ["queued", "submitted", "guaranteed", "submitted"]
        assert house.statuses(jobs) == ["confirmed"]

    told(story)


def test_chained_packages_are_in_flight_together_and_accumulate_in_their_order() -> None:
    async def story(world: World, house: House) -> None:
        jobs = await house.submit([b"one", b"two", b"three", b"four"])

        def refused() -> None:
            world.produce(noGuarantee=True)

        await house.pass_slots(refused, lambda: house.inflight() == 2)
        await house.pass_slots(world.produce, lambda: house.is_done(jobs))
        await house.until_notified()
        (first,), (second,) = house.versions(1), house.versions(2)
        (one,), (two,) = reported(world, first), reported(world, second)
        assert height(world, one) <= height(world, two)
        assert house.statuses(jobs) == ["confirmed"] * 4
        told_of = [(one.word, one.number) for one in house.heard]
        assert told_of.index(("accumulated", 1)) < told_of.index(("accumulated", 2))

    told(story, order="chained")


def height(world: World, block: bytes) -> int:
    count = 0
    while (told := world.say("dev_block", text(block)))["slot"]:
        block = data(told["parent"])
        count += 1
    return count
