"""Laws of watching a package: one subscription, which is left however the watch ends."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from tests.chains.jam.stage import (
    PACE,
    PACKAGE,
    WAIT_S,
    Node,
    ref,
    reported,
    run,
    served,
    told,
    until,
    watched,
)
from tests.jip2_stub import Jip2Stub
from tests.rpc_stub import Drop, No

from laneway.chains.jam.subscriptions import News, read_update
from laneway.chains.nodes import PollPace
from laneway.core.jam import (
    Accumulated,
    BlocksGone,
    Finalised,
    PackageFact,
    PackageSeen,
    Reportable,
    Reported,
)
from laneway.jam.codec import U64
from laneway.jam.hashing import blake2b
from laneway.jam.service.commitment import package_key

STATUS = "subscribeWorkPackageStatus"
RECORD = {package_key(PACKAGE): U64.encode(7)}
LAZY = PollPace(poll_ms=10_000, silence_ms=60_000, resubscribe_ms=60_000)
"""Nothing is looked at unless a subscription tells."""


async def next_of(watch: AsyncGenerator[News, None]) -> News:
    return await asyncio.wait_for(anext(watch), WAIT_S)


async def fact_of(watch: AsyncGenerator[News, None]) -> PackageFact:
    seen = await next_of(watch)
    assert isinstance(seen, PackageSeen)
    return seen.fact


async def end(watch: AsyncGenerator[News, None]) -> None:
    await watch.aclose()


async def grow(node: Node, stub: Jip2Stub, chain: str) -> None:
    """Blocks, told one after the other to those who follow heads."""
    node.grow(chain)
    await stub.tell("subscribeBestBlock", told(node.best))


def opened(stub: Jip2Stub) -> int:
    return sum(1 for method in stub.methods() if method == STATUS)


def test_a_watch_tells_the_whole_way_and_ends_with_finality() -> None:
    async def story() -> None:
        node = Node("a0 a1")
        async with served([node], pace=LAZY) as (chain, (stub,)):
            watch = chain.watch(watched())
            assert await fact_of(watch) == Reportable(7)
            node.statuses["a2"] = {"Reported": reported("a2")}
            await grow(node, stub, "a1 a2")
            assert isinstance(await fact_of(watch), Reported)
            node.records["a3"] = RECORD
            await grow(node, stub, "a2 a3")
            assert await fact_of(watch) == Accumulated(7)
            node.final = "a3"
            await stub.tell("subscribeFinalizedBlock", told("a3"))
            # The best block is final: without finality of its own depth must stand for it.
            await grow(node, stub, "a3 a4")
            assert await fact_of(watch) == Finalised(ref("a3"))
            with pytest.raises(StopAsyncIteration):
                await next_of(watch)
            await until(lambda: stub.open_count() == 0)
            assert stub.left_count == stub.opened_count == 3

    run(story)


def test_a_status_that_changes_is_looked_at_although_no_head_was_told() -> None:
    async def story() -> None:
        node = Node("a0 a1")
        async with served([node], pace=LAZY) as (chain, (stub,)):
            watch = chain.watch(watched())
            await next_of(watch)
            await until(lambda: stub.open_count() == 3)
            waiting = asyncio.create_task(fact_of(watch))
            node.statuses["a2"] = {"Reported": reported("a2")}
            node.grow("a1 a2")
            await stub.tell(STATUS, {**told("a2"), "value": {"Failed": "not believed"}})
            assert isinstance(await waiting, Reported)
            assert chain._nodes.all[0].head_number == 2
            await end(watch)

    run(story)


def test_blocks_between_two_looks_are_all_told() -> None:
    async def story() -> None:
        node = Node("a0 a1")
        async with served([node]) as (chain, (stub,)):
            watch = chain.watch(watched())
            await next_of(watch)
            await grow(node, stub, "a1 a2 a3 a4")
            told_of = [await next_of(watch) for _ in range(3)]
            slots = [one.block.slot for one in told_of if isinstance(one, PackageSeen)]
            assert slots == [2, 3, 4]
            await end(watch)

    run(story)


def test_a_reorganisation_is_told_with_the_blocks_that_went() -> None:
    async def story() -> None:
        node = Node("a0 a1")
        async with served([node]) as (chain, (stub,)):
            node.statuses["a2"] = {"Reported": reported("a2")}
            watch = chain.watch(watched())
            await next_of(watch)
            await grow(node, stub, "a1 a2")
            assert isinstance(await fact_of(watch), Reported)
            await grow(node, stub, "a1 b2 b3")
            assert await next_of(watch) == BlocksGone((ref("a2"),), ref("b3"))
            assert [await fact_of(watch) for _ in range(2)] == [Reportable(6), Reportable(5)]
            await end(watch)

    run(story)


def test_a_watch_goes_on_behind_the_blocks_that_are_known() -> None:
    async def story() -> None:
        async with served([Node("a0 a1 a2 a3")]) as (chain, _):
            watch = chain.watch(watched(), [ref("a1"), ref("a2")])
            seen = await next_of(watch)
            assert isinstance(seen, PackageSeen)
            assert seen.block == ref("a3")
            await end(watch)

    run(story)


def test_more_blocks_than_one_look_holds_are_looked_at_one_after_the_other() -> None:
    async def story() -> None:
        names = " ".join(f"a{slot}" for slot in range(150))
        async with served([Node(names)]) as (chain, _):
            watch = chain.watch(watched(), [ref("a9")])
            first = await next_of(watch)
            assert isinstance(first, PackageSeen)
            assert first.block == ref("a10")
            await end(watch)
            watch = chain.watch(watched("a140"), [ref("a9")])
            later = await next_of(watch)
            assert isinstance(later, PackageSeen)
            assert later.block == ref("a140"), "the third look"
            await end(watch)
            look = await chain.look([ref("a9")], [watched()], 1_000)
            assert (len(look.blocks), look.is_whole) == (64, False)

    run(story)


# However it ends.


def test_a_watch_that_is_closed_or_cancelled_leaves_its_subscription() -> None:
    async def story() -> None:
        async with served([Node("a0 a1")]) as (chain, (stub,)):
            closed = chain.watch(watched())
            await next_of(closed)
            await until(lambda: opened(stub) == 1)
            await end(closed)
            cancelled = chain.watch(watched())
            await next_of(cancelled)
            task = asyncio.create_task(next_of(cancelled))
            await until(lambda: opened(stub) == 2)
            await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.wait([task])
            await until(lambda: stub.open_count() == 0)
            assert stub.left_count == stub.opened_count
            assert chain._watches.open_count == 0

    run(story)


def test_a_watch_that_runs_out_of_time_leaves_its_subscription() -> None:
    async def story() -> None:
        async with served([Node("a0 a1")]) as (chain, (stub,)):
            watch = chain.watch(watched())
            await next_of(watch)
            await until(lambda: opened(stub) == 1)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(watch), 0.02)
            await until(lambda: stub.open_count() == 0)

    run(story)


def test_a_watch_whose_number_arrives_late_leaves_its_subscription() -> None:
    async def story() -> None:
        gate = asyncio.Event()

        async def late(_: Any) -> None:
            await gate.wait()

        node = Node("a0 a1")
        node.said[STATUS] = late
        async with served([node]) as (chain, (stub,)):
            watch = chain.watch(watched())
            await next_of(watch)
            await until(lambda: opened(stub) == 1)
            await end(watch)
            assert stub.opened_count == 2, "only the heads"
            gate.set()
            await until(lambda: stub.left_count == 3)
            assert stub.open_count() == 0

    run(story)


def test_a_watch_outlives_a_node_and_is_told_by_another() -> None:
    async def story() -> None:
        one, two = Node("a0 a1"), Node("a0 a1")
        async with served([one, two]) as (chain, (first, second)):
            watch = chain.watch(watched())
            await next_of(watch)
            await until(lambda: opened(first) + opened(second) == 1)
            dying, living = (first, second) if opened(first) else (second, first)
            await dying.stop()
            waiting = asyncio.create_task(fact_of(watch))
            await until(lambda: opened(living) == 1)
            for node in (one, two):
                node.grow("a1 a2")
            await living.tell("subscribeBestBlock", told("a2"))
            assert await waiting == Reportable(6)
            await end(watch)
            await until(lambda: living.open_count() == 0)
            await dying.start()

    run(story)


def test_a_watch_survives_every_trouble_of_its_only_node() -> None:
    async def story() -> None:
        node = Node("a0 a1")
        async with served([node]) as (chain, (stub,)):
            watch = chain.watch(watched())
            await next_of(watch)
            node.said["workPackageStatus"] = Drop()
            await grow(node, stub, "a1 a2")
            waiting = asyncio.create_task(fact_of(watch))
            await until(lambda: stub.connections_count > 1)
            node.said["workPackageStatus"] = No(-32603, "Internal error")
            await asyncio.sleep(0.03)
            del node.said["workPackageStatus"]
            assert await waiting == Reportable(6)
            await end(watch)
            await until(lambda: stub.open_count() == 0)

    run(story)


# Room.


def test_packages_beyond_a_nodes_room_are_polled() -> None:
    async def story() -> None:
        node = Node("a0 a1")
        async with served([node]) as (chain, (stub,)):
            chain._nodes.all[0].socket.subscriptions_max = 4
            names = [blake2b(bytes([number])) for number in range(6)]
            watches = [chain.watch(watched(package_hash=name)) for name in names]
            for watch in watches:
                assert await fact_of(watch) == Reportable(7)
            await asyncio.sleep(0.02)
            assert (stub.open_count(), stub.opened_max) == (4, 4)
            await grow(node, stub, "a1 a2")
            for watch in watches:
                assert await fact_of(watch) == Reportable(6)
                await end(watch)
            await until(lambda: stub.open_count() == 0)

    run(story)


def test_a_node_that_says_it_has_too_many_is_believed() -> None:
    async def story() -> None:
        node = Node("a0 a1")
        node.said[STATUS] = No(-32006, "Too many subscriptions on the connection")
        async with served([node], pace=PACE) as (chain, (stub,)):
            watch = chain.watch(watched())
            await next_of(watch)
            await until(lambda: opened(stub) == 1)
            await asyncio.sleep(2 * PACE.resubscribe_ms / 1000)
            assert opened(stub) == 1
            await grow(node, stub, "a1 a2")
            assert await fact_of(watch) == Reportable(6)
            await end(watch)

    run(story)


def test_no_subscription_is_left_behind_over_many_packages() -> None:
    """A slice of five thousand, ended in turn by closing, cancelling, time and a broken line."""

    async def story() -> None:
        node = Node("a0 a1")
        async with served([node]) as (chain, (stub,)):
            for number in range(40):
                watch = chain.watch(watched(package_hash=blake2b(bytes([number]))))
                await next_of(watch)
                if number % 4 == 0:
                    await until(lambda: opened(stub) > 0)
                task = asyncio.create_task(next_of(watch))
                await asyncio.sleep(0.001 * (number % 3))
                if number % 15 == 14:
                    stub.cut()
                task.cancel()
                await asyncio.wait([task])
                await end(watch)
            await until(lambda: stub.open_count() == 0)
            await until(lambda: not any(node.socket.held_count for node in chain._nodes.all))
            assert stub.opened_max <= 4

    run(story)


def test_an_update_is_an_object_or_an_array() -> None:
    as_object = {**told("a7"), "value": None}
    assert read_update(as_object) == read_update(list(as_object.values())) == ref("a7")
