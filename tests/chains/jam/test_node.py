"""Laws of one node: what chain it serves, and what its troubles are."""

import asyncio
from typing import Any, cast

import pytest
from tests.chains.jam.stage import PACE, SENT, TINY, Node, header, ref, run, served, told
from tests.jip2_stub import Jip2Stub
from tests.rpc_stub import No

from laneway.chains.endpoint import name_of
from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.node import SCHEMES, Identity, JamNode, JamPlace, NodeLacksBlock
from laneway.core.errors import BadRequest, ChainUnreachable, ChainUnreadable
from laneway.wire.jip2 import blob


def test_a_node_is_named_by_host_and_port_and_never_by_its_key() -> None:
    assert name_of("ws://127.0.0.1:19800/secret?key=1", SCHEMES) == "127.0.0.1:19800"
    assert name_of("wss://node.example/secret", SCHEMES) == "node.example:443"
    for wrong in ("http://127.0.0.1:1", "127.0.0.1", "ws://", "ws://[", ""):
        with pytest.raises(BadRequest):
            name_of(wrong, SCHEMES)


def test_a_chain_needs_a_node_that_takes_packages_and_names_that_differ() -> None:
    for places in (
        [],
        [JamPlace("ws://h:1", takes_packages=False)],
        [JamPlace("ws://h:1"), JamPlace("ws://h:1")],
    ):
        with pytest.raises(BadRequest):
            Jip2Chain(places)


def test_a_node_of_another_chain_is_never_used() -> None:
    async def story() -> None:
        other = Node(parameters={"V1": {"core_count": 341}})
        async with served([Node(), other]) as (chain, stubs):
            await chain.parameters()
            stubs[0].cut()
            await stubs[0].stop()
            with pytest.raises(ChainUnreachable):
                await chain._nodes.read(chain._agreement.head, at_head=False)
            assert set(stubs[1].methods()) == {"parameters"}
            await stubs[0].start()

    run(story)


def test_nodes_may_tell_more_or_fewer_parameters() -> None:
    async def story() -> None:
        brief = Node(parameters={"core_count": 2})
        async with served([brief, Node()]) as (chain, stubs):
            await stubs[1].stop()
            assert (await chain.parameters()).epoch_slots == 600
            await stubs[1].start()
            await stubs[0].stop()
            await chain.head()
            assert (await chain.parameters()).epoch_slots == 12
            await stubs[0].start()

    run(story)


def test_which_chain_it_is_most_nodes_say() -> None:
    """Whoever answered first: an honest node is no node of another chain for it."""

    async def story() -> None:
        liar = Node(parameters={"V1": {**TINY, "core_count": 3}})
        for nodes in ([liar, Node(), Node()], [Node(), liar, Node()]):
            async with served(nodes, slot_ms=400) as (chain, _):
                await chain.head()
                await chain.probe(10_000, 0)
                assert (await chain.parameters()).core_count == 2
                troubles = [one.trouble for one in chain.standings()]
                assert troubles.count("wrong_chain") == 1
                assert troubles[nodes.index(liar)] == "wrong_chain"
        identity = Identity(None, None)
        assert identity.problem_with("a", {"core_count": 3}) is None
        assert identity.problem_with("b", {"core_count": 2}) == (
            "answers for a chain whose core_count is 2, and this one's is 3"
        )
        assert identity.problem_with("c", {"core_count": 2, "epoch_period": 12}) is None
        assert "core_count is 3" in str(identity.problem_with("a", {"core_count": 3}))
        assert "core_count is 9" in str(identity.problem_with("b", {"core_count": 9})), "not later"
        alone = Identity(None, None)
        assert alone.problem_with("a", {"core_count": 3}) is None
        assert "is 4, and this one's is 3" in str(alone.problem_with("a", {"core_count": 4}))

    run(story)


def test_who_answered_first_is_judged_again_when_the_others_have_answered() -> None:
    async def late(_: list[Any]) -> Any:
        await asyncio.sleep(0.05)
        return {"V1": TINY}

    async def story() -> None:
        liar = Node(parameters={"V1": {**TINY, "core_count": 3}})
        nodes = [Node(parameters=late), liar, Node(parameters=late)]
        async with served(nodes, slot_ms=400) as (chain, _):
            for _ in range(2):
                await chain.probe(10_000, 0)
                assert [one.trouble for one in chain.standings()] == ["", "wrong_chain", ""]

    run(story)


def test_a_node_that_does_not_know_the_first_block_is_never_used() -> None:
    async def story() -> None:
        async with served([Node("b0 b1")], genesis=header("a0")) as (chain, stubs):
            with pytest.raises(ChainUnreachable, match="first block"):
                await chain.head()
            assert set(stubs[0].methods()) == {"parameters", "stateRoot"}
        async with served([Node("a0 a1")], genesis=header("a0")) as (chain, _):
            assert (await chain.head()).best == ref("a1")

    run(story)


def test_a_block_that_is_unavailable_is_told_from_nonsense() -> None:
    async def story() -> None:
        async with served([Node()]) as (chain, _):
            with pytest.raises(NodeLacksBlock) as missing:
                await chain.state_root(header("z9"))
            assert missing.value.about == missing.value.block == header("z9")
            with pytest.raises(ChainUnreadable) as refused:
                await chain.statistics(header("a1"))
            assert not isinstance(refused.value, NodeLacksBlock)

    run(story)


@pytest.mark.parametrize(
    "data", [None, blob(header("z9")), {str(at): one for at, one in enumerate(header("z9"))}]
)
def test_the_missing_block_is_found_in_whatever_form_it_is_named(data: Any) -> None:
    async def story() -> None:
        node = Node(stateRoot=No(1, "Block unavailable", data))
        async with served([node]) as (chain, _):
            with pytest.raises(NodeLacksBlock) as missing:
                await chain.state_root(header("z9"))
            assert missing.value.about == (None if data is None else header("z9"))

    run(story)


def test_a_node_of_the_first_generation_is_understood() -> None:
    """Arrays where today's nodes give objects."""

    def as_array(name: str) -> list[Any]:
        return list(told(name).values())

    async def story() -> None:
        old = Node("a0 a1 a2", bestBlock=as_array("a2"), finalizedBlock=as_array("a0"))
        old.said["parent"] = lambda params: as_array(old.parents[old.named(params[0])])
        async with served([old], finality_blocks=0) as (chain, _):
            head = await chain.head()
            assert (head.best, head.finalised) == (ref("a2"), ref("a0"))

    run(story)


def test_slots_of_a_development_chain_may_be_shorter_than_it_says() -> None:
    async def story() -> None:
        async with served([Node()], slot_ms=200) as (chain, _):
            assert (await chain.parameters()).slot_ms == 200

    run(story)


def test_a_node_that_takes_too_few_subscriptions_is_asked_for_no_more_of_them() -> None:
    async def story() -> None:
        node = Node(subscribeBestBlock=No(-32006, "Too many subscriptions on the connection"))
        async with Jip2Stub(node) as stub:
            chain = Jip2Chain([JamPlace(stub.url)], pace=PACE)
            (one,) = chain._nodes.all
            assert await one.subscribe("subscribeFinalizedBlock") is not None
            assert one.socket.has_capacity()
            assert await one.subscribe("subscribeBestBlock") is None
            assert not one.socket.has_capacity()
            await chain.aclose()

    run(story)


def test_a_node_that_asks_for_patience_is_left_alone() -> None:
    async def story() -> None:
        node = Node(submitWorkPackage=No(0, "rate limit reached"))
        async with served([node]) as (chain, _):
            await chain.submit(SENT, [0])
            (one,) = chain._nodes.all
            assert one.is_resting()
            with pytest.raises(ChainUnreachable, match="busy"):
                await one.prepare(1)

    run(story)


@pytest.mark.parametrize("answer", [None, "garbage"])
def test_a_node_that_answers_nothing_of_use_is_named_until_it_does(answer: object) -> None:
    async def story() -> None:
        odd = Node()
        async with served([Node(), odd]) as (chain, _):
            odd_node = cast(JamNode, chain.endpoints[1])
            await chain.probe(10_000, 0)
            for method in ("parameters", "bestBlock"):
                odd.said[method] = lambda *_: answer
                odd_node._greeted_s = None
                with pytest.raises(ChainUnreadable):
                    await chain._forks.head(odd_node)
                assert [one.trouble for one in chain.standings()] == ["", "node_unreadable"]
                del odd.said[method]
                await chain._forks.head(odd_node)
                assert [one.trouble for one in chain.standings()] == ["", ""]
            odd.said |= {"parameters": {}, "bestBlock": answer}
            await chain.probe(10_000, 0)
            assert [one.trouble for one in chain.standings()] == ["", "node_unreadable"]
            await chain.probe(10_000, 60_000)
            del odd.said["bestBlock"]
            await chain.probe(10_000, 0)
            await chain.probe(10_000, 0)
            assert [one.trouble for one in chain.standings()] == ["", ""]

    run(story)
