"""Laws of several nodes: the head never goes back while another node could tell."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.chains.jam.stage import Node, header, ref, run, served, until
from tests.jip2_stub import Silence
from tests.rpc_stub import Drop, No

from laneway.chains.endpoint import loop_s
from laneway.chains.jam import node as jam_node
from laneway.chains.jam.node import Identity, JamNode, JamPlace, patience_of
from laneway.chains.nodes import NodeLags
from laneway.chains.race import Patience
from laneway.core.errors import ChainError, ChainUnreachable, ChainUnreadable
from laneway.ports.nodes import UNREACHABLE
from laneway.wire.jip2 import call
from laneway.wire.jsonrpc import RpcAnswer, RpcAnswerLost, RpcCall
from laneway.wire.rpc_socket import RpcSocket


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
        async with served([behind, ahead]) as (chain, _):
            chain._nodes.all[1].saw_head(3)
            assert (await chain.head()).node == "b"
            nodes = chain._nodes
            assert [one.name for one in nodes._in_order("", nodes.highest())] == ["b", "a"]

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
    monkeypatch.setattr(jam_node, "TURN_MS_MAX", 400)

    async def story() -> None:
        slow = Node(bestBlock=Silence())
        async with served([slow, Node("a0 a1 a2 a3")], slot_ms=400) as (chain, _):
            assert (await chain.head()).node == "b"
        async with served([slow]) as (chain, _):
            with pytest.raises(RpcAnswerLost, match="not done"):
                await chain.head()

    run(story)


class Mute(Node):
    """It takes connections and says nothing."""

    def __call__(self, method: str, params: list[Any]) -> Any:
        raise Silence


@pytest.mark.slow
def test_a_node_that_never_answers_costs_a_short_wait_and_is_shown() -> None:
    async def story() -> None:
        async with served([Mute(), Node(), Node()], slot_ms=100) as (chain, _):
            mute = chain._nodes.all[0]
            assert (await chain.head()).node != "a"
            assert mute.failures_count == 0, "its own time is not over"
            assert (await chain.look([ref("a1")], [])).head.node != "a"
            assert (await chain.context()).head.node != "a"
            assert await chain.state_root(header("a2")) == header("stateRoota2")
            await until(lambda: mute.standing.now.trouble == UNREACHABLE)
            assert [one.trouble for one in chain.standings()] == [UNREACHABLE, "", ""]

    run(story)


def test_one_swallowed_answer_is_no_failure_of_its_node() -> None:
    """It would fail by its time-out ten seconds later."""

    async def story() -> None:
        swallows = Node(stateRoot=Silence())
        async with served([swallows, Node()], slot_ms=400) as (chain, _):
            first = chain._nodes.all[0]
            await chain.parameters()
            assert await chain.state_root(header("a2")) == header("stateRoota2")
            assert (first.failures_count, first.standing.now.trouble) == (0, "")

    run(story)


def test_every_call_has_the_chains_own_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[int] = []

    async def ask(_: RpcSocket, calls: Sequence[RpcCall], timeout_ms: int) -> list[RpcAnswer]:
        waits.append(timeout_ms)
        raise ChainUnreachable("a", "it is away")

    monkeypatch.setattr(RpcSocket, "ask", ask)

    async def story() -> None:
        node = JamNode(JamPlace("ws://127.0.0.1:1"), Identity(None, 200))
        with pytest.raises(ChainUnreachable):
            await node.ask([call("bestBlock")])  # First it is asked for its chain.
        for timeout_ms in (None, 77):
            node._greeted_s = loop_s()
            with pytest.raises(ChainUnreachable):
                await node.ask([call("bestBlock")], timeout_ms)
        assert waits == [4_000, 4_000, 77]

    run(story)


@pytest.mark.parametrize(
    ("slot_ms", "hedge_s", "read_ms", "turn_s"),
    [(10, 0.1, 3_000, 20), (100, 0.1, 3_000, 20), (200, 0.1, 4_000, 20), (1_000, 0.25, 10_000, 20),
     (6_000, 1.5, 10_000, 60), (60_000, 1.5, 10_000, 60)],
)  # fmt: skip
def test_time_outs_are_by_the_slots_of_the_chain(
    slot_ms: int, hedge_s: float, read_ms: int, turn_s: float
) -> None:
    assert patience_of(slot_ms) == Patience(turn_s, hedge_s, read_ms)
    assert Identity(None, slot_ms).patience() == patience_of(slot_ms)
    identity = Identity(None, None)
    assert identity.patience() == patience_of(6_000)
    assert identity.problem_with("a", {"slot_period_sec": 1}) is None
    assert identity.patience() == patience_of(1_000)


def test_being_behind_is_said_with_its_slots() -> None:
    error = NodeLags("a", 3, 5)
    assert (error.head, error.needed, error.code) == (3, 5, "chain_behind")
