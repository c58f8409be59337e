"""Laws of several nodes: the head never goes back while another node could tell."""

import pytest
from tests.chains.jam.stage import Node, header, ref, run, served
from tests.jip2_stub import Silence
from tests.rpc_stub import Drop, No

from laneway.chains.jam import chain as adapter
from laneway.chains.nodes import NodeLags
from laneway.core.errors import ChainError, ChainUnreadable
from laneway.wire.jsonrpc import RpcAnswerLost


def test_a_node_that_is_behind_is_not_believed() -> None:
    async def story() -> None:
        behind, ahead = Node("a0 a1"), Node("a0 a1 a2 a3")
        async with served([ahead, behind]) as (chain, stubs):
            assert (await chain.head()).best == ref("a3")
            ahead.said["bestBlock"] = No(0, "oops")
            with pytest.raises(ChainUnreadable):
                await chain.head()
            behind.grow("a1 a2 a3 a4")
            assert (await chain.head()).best == ref("a4")
            assert len(stubs) == 2

    run(story)


def test_the_only_node_is_believed_whatever_its_head_is() -> None:
    async def story() -> None:
        node = Node("a0 a1 a2")
        async with served([node]) as (chain, _):
            assert (await chain.head()).best == ref("a2")
            node.grow("a0 b1")
            assert (await chain.head()).best == ref("b1")

    run(story)


def test_a_node_that_is_known_to_be_behind_is_asked_last() -> None:
    async def story() -> None:
        behind, ahead = Node("a0 a1"), Node("a0 a1 a2 a3")
        async with served([behind, ahead]) as (chain, stubs):
            chain._nodes.all[1].saw_best(ref("a3"))
            assert (await chain.head()).node == "b"
            assert stubs[0].methods() == []

    run(story)


def test_what_is_read_of_a_named_block_may_come_from_any_node() -> None:
    async def story() -> None:
        short, long = Node("a0 a1"), Node("a0 a1 a2")
        async with served([short, long]) as (chain, _):
            assert await chain.state_root(header("a2")) == header("stateRoota2")
            assert await chain.beefy_root(header("a1")) == header("beefyRoota1")

    run(story)


def test_the_trouble_that_says_most_is_told() -> None:
    async def story() -> None:
        one, two = Node(bestBlock=Drop()), Node(bestBlock=No(0, "oops"))
        async with served([one, two]) as (chain, stubs):
            with pytest.raises(ChainError) as trouble:
                await chain.head()
            assert trouble.value.code in ("answer_lost", "chain_unreadable")
            for stub in stubs:
                await stub.stop()
            with pytest.raises(ChainError):
                await chain.head()
            for stub in stubs:
                await stub.start()

    run(story)


def test_a_node_that_takes_too_long_for_its_turn_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(adapter, "TURN_MS", 40)

    async def story() -> None:
        slow = Node(bestBlock=Silence())
        async with served([slow, Node("a0 a1 a2 a3")]) as (chain, _):
            assert (await chain.head()).node == "b"
        async with served([slow]) as (chain, _):
            with pytest.raises(RpcAnswerLost, match="not done"):
                await chain.head()

    run(story)


def test_being_behind_is_said_with_its_slots() -> None:
    error = NodeLags("a", 3, 5)
    assert (error.head, error.needed, error.code) == (3, 5, "chain_behind")
