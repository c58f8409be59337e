"""Laws of following heads: told where there is a subscription, asked elsewhere, never stuck."""

import asyncio
from collections.abc import AsyncGenerator

from tests.chains.jam.stage import WAIT_S, Node, ref, run, served, told, until
from tests.jip2_stub import Silence
from tests.rpc_stub import Drop, No

from laneway.chains.jam.heads import JamHeads
from laneway.chains.jam.node import Identity, JamNode, JamPlace
from laneway.chains.nodes import PollPace
from laneway.core.jam import JamBlockRef, JamHead

QUICK = PollPace(poll_ms=5, silence_ms=2_000, resubscribe_ms=20)


async def next_of(heads: AsyncGenerator[JamHead, None]) -> JamHead:
    return await asyncio.wait_for(anext(heads), WAIT_S)


async def best_of(heads: AsyncGenerator[JamHead, None]) -> JamBlockRef:
    return (await next_of(heads)).best


async def end(heads: AsyncGenerator[JamHead, None]) -> None:
    await heads.aclose()


def test_heads_are_told_by_subscriptions() -> None:
    async def story() -> None:
        node = Node("a0 a1 a2")
        async with served([node]) as (chain, (stub,)):
            heads = chain.heads()
            assert await next_of(heads) == JamHead(ref("a2"), ref("a0"), "a")
            await until(lambda: stub.open_count() == 2)
            node.grow("a2 a3")
            await stub.tell("subscribeBestBlock", told("a3"))
            assert await best_of(heads) == ref("a3")
            node.grow("a2 b3")
            await stub.tell("subscribeBestBlock", told("b3"))
            assert await best_of(heads) == ref("b3"), "a reorganisation is news"
            node.final = "a1"
            await stub.tell("subscribeFinalizedBlock", told("a1"))
            assert await next_of(heads) == JamHead(ref("b3"), ref("a1"), "a")
            await end(heads)
            await until(lambda: stub.open_count() == 0)
            assert stub.left_count == stub.opened_count

    run(story)


def test_nodes_that_refuse_subscriptions_are_polled() -> None:
    async def story() -> None:
        no = No(0, "Method not implemented")
        node = Node("a0 a1", subscribeBestBlock=no, subscribeFinalizedBlock=no)
        async with served([node], pace=QUICK) as (chain, _):
            heads = chain.heads()
            assert await best_of(heads) == ref("a1")
            node.grow("a1 a2")
            assert await best_of(heads) == ref("a2")
            node.said["bestBlock"] = Drop()
            await asyncio.sleep(0.02)
            del node.said["bestBlock"]
            node.grow("a2 a3")
            assert await best_of(heads) == ref("a3")
            await end(heads)

    run(story)


def test_a_subscription_that_ends_is_followed_by_polling_and_another() -> None:
    async def story() -> None:
        node = Node("a0 a1")
        async with served([node], pace=QUICK) as (chain, (stub,)):
            heads = chain.heads()
            await next_of(heads)
            await until(lambda: stub.open_count() == 2)
            stub.cut()
            node.grow("a1 a2")
            assert await best_of(heads) == ref("a2")
            await until(lambda: stub.open_count() == 2)
            node.grow("a2 a3")
            await stub.tell("subscribeBestBlock", told("a3"))
            assert await best_of(heads) == ref("a3")
            await stub.tell("subscribeBestBlock", "nonsense")
            node.grow("a3 a4")
            assert await best_of(heads) == ref("a4")
            await end(heads)
            await until(lambda: stub.open_count() == 0)

    run(story)


def test_a_silent_subscription_is_given_up_and_left() -> None:
    async def story() -> None:
        node = Node("a0 a1")
        pace = PollPace(poll_ms=5, silence_ms=30, resubscribe_ms=10_000)
        async with served([node], pace=pace) as (chain, (stub,)):
            heads = chain.heads()
            await next_of(heads)
            node.grow("a1 a2")
            assert await best_of(heads) == ref("a2")
            await until(lambda: stub.left_count == 2)
            await end(heads)

    run(story)


def test_every_change_of_a_node_is_a_reason_to_ask() -> None:
    """Whatever one of them says of its slot, the others are followed as well."""

    async def story() -> None:
        one, two = (
            JamNode(JamPlace("ws://127.0.0.1:1", name=name), Identity(None, None)) for name in "ab"
        )
        heads = JamHeads([one, two], QUICK)
        bell = asyncio.Event()
        heads._bells.append(bell)

        def rang() -> bool:
            was = bell.is_set()
            bell.clear()
            return was

        heads.saw_best(one, JamBlockRef(bytes(32), (1 << 32) - 1))
        assert rang()
        heads.saw_best(two, ref("a9"))
        assert rang()
        heads.saw_best(two, ref("a9"))
        assert not rang(), "it is the same block"
        heads.saw_final(one, ref("a3"))
        assert rang()
        heads.saw_final(one, ref("a3"))
        assert not rang()
        assert (one.head_number, two.head_number) == (-1, -1), "nobody has confirmed them"
        for node in (one, two):
            await node.client.close()

    run(story)


def test_followers_share_the_subscriptions_which_end_with_the_last() -> None:
    async def story() -> None:
        node = Node("a0 a1")
        async with served([node]) as (chain, (stub,)):
            first, second = chain.heads(), chain.heads()
            for heads in (first, second):
                await next_of(heads)
            await until(lambda: stub.open_count() == 2)
            await end(first)
            assert stub.open_count() == 2
            await end(second)
            await until(lambda: stub.open_count() == 0)
            assert stub.opened_count == 2

    run(story)


def test_a_head_that_cannot_be_read_is_told_with_the_next_change() -> None:
    async def story() -> None:
        node = Node("a0 a1")
        async with served([node]) as (chain, (stub,)):
            heads = chain.heads()
            await next_of(heads)
            await until(lambda: stub.open_count() == 2)
            node.said["bestBlock"] = No(0, "oops")
            node.grow("a1 a2")
            await stub.tell("subscribeBestBlock", told("a2"))
            await until(lambda: chain._nodes.all[0].best == ref("a2"))
            waiting = asyncio.create_task(best_of(heads))
            await asyncio.sleep(0.02)
            del node.said["bestBlock"]
            node.grow("a2 a3")
            await stub.tell("subscribeBestBlock", told("a3"))
            assert await waiting == ref("a3")
            await end(heads)

    run(story)


def test_a_node_that_answers_nonsense_is_not_polled_without_a_pause() -> None:
    async def story() -> None:
        bad = Node("a0 a1", bestBlock=[1] * 9)
        async with served([bad, Node("a0 a1"), Node("a0 a1")], pace=QUICK) as (chain, stubs):
            heads = chain.heads()
            assert await best_of(heads) == ref("a1")
            await until(chain._nodes.all[0].is_useless)
            heard = stubs[0].methods().count("bestBlock")
            waiting = asyncio.create_task(anext(heads))
            await asyncio.sleep(0.4)
            assert stubs[0].methods().count("bestBlock") - heard < 20
            bad.said.clear()
            bad.grow("a1 a2")
            await until(lambda: chain._nodes.all[0].best == ref("a2"))
            waiting.cancel()
            await asyncio.wait([waiting])
            await end(heads)

    run(story)


def test_a_node_that_hangs_holds_nobody() -> None:
    async def story() -> None:
        dead = Node("a0 a1", parameters=Silence())
        alive = Node("a0 a1")
        async with served([alive, dead]) as (chain, _):
            heads = chain.heads()
            assert await best_of(heads) == ref("a1")
            await end(heads)

    run(story)


AT_100_S = {"now_ms": lambda: 100_000, "steady": lambda: 7}


def test_the_clock_is_reckoned_from_what_is_heard() -> None:
    async def story() -> None:
        node = Node("a0 a1 a2")
        async with served([node], era_ms=80_000, **AT_100_S) as (chain, (stub,)):
            clock = await chain.clock()
            assert (clock.slot, clock.heard_ms, clock.begin_ms) == (2, 100_000, 88_000)
            assert clock.skew_ms == 8_000
            asked = len(stub.heard)
            assert await chain.clock() == clock
            assert len(stub.heard) == asked

    run(story)
