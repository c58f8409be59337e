"""Laws of a node's standing: every failure sets it, every answer of the right chain clears it."""

import asyncio
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.chains.evm.stage import ADDRESS, CHAIN_ID, SEND, Node, run, served
from tests.relay import Relay
from tests.rpc_stub import Drop, Stub, Whole

from laneway.chains import endpoint as shared
from laneway.chains.contract_rest import RestHost
from laneway.chains.cosmos.chain import CometChain
from laneway.chains.endpoint import NodePlace
from laneway.chains.evm.chain import RpcChain
from laneway.chains.evm.endpoint import EvmPlace
from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.node import JamPlace
from laneway.chains.nodes import KnownNodes
from laneway.chains.standing import BEHIND, StandingKeeper
from laneway.core.errors import ChainError, ChainUnreachable
from laneway.core.facts import SendKind
from laneway.core.text import printable
from laneway.ports.nodes import UNREACHABLE, NodesKnown
from laneway.wire.jsonrpc import RpcAnswerLost

GREETING = {"eth_chainId", "web3_clientVersion"}


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


@contextmanager
def silent(listening: bool) -> Iterator[int]:
    """A port where nobody listens, or where connections are taken and nothing is answered."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        if listening:
            taken.listen()
        yield taken.getsockname()[1]


def adapter(kind: str, port: int) -> Any:
    match kind:
        case "evm":
            return RpcChain([EvmPlace(f"http://127.0.0.1:{port}")], chain_id=1)
        case "evm over TLS":
            return RpcChain([EvmPlace(f"https://127.0.0.1:{port}/v2/0123456789abcdef")], chain_id=1)
        case "cosmos":
            return CometChain([NodePlace(f"http://127.0.0.1:{port}")], "c-1")
        case "jam":
            return Jip2Chain([JamPlace(f"ws://127.0.0.1:{port}")])
        case _:
            return RestHost(f"http://ann:secret@127.0.0.1:{port}", password="pw")


@pytest.mark.parametrize("kind", ["evm", "evm over TLS", "cosmos", "jam", "contract"])
@pytest.mark.parametrize(
    ("listening", "problem"),
    [(False, "cannot be reached: connection refused"), (True, "does not answer: no answer within")],
)
def test_a_probe_names_a_node_that_is_dead_or_hangs(
    kind: str, listening: bool, problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(port: int) -> None:
        chain = adapter(kind, port)
        is_known = isinstance(chain, NodesKnown)
        assert is_known
        try:
            (before,) = chain.standings()
            assert before.trouble == ""
            await chain.probe(300, 0)
            (after,) = chain.standings()
            assert (after.trouble, after.since_ms > 0) == ("node_unreachable", True)
            assert problem in after.problem
            assert f"127.0.0.1:{port}" in after.node
            assert "secret" not in after.node
            assert "0123456789abcdef" not in after.node
        finally:
            await (chain.aclose() if kind == "jam" else chain.close())

    with silent(listening) as port, caplog.at_level(logging.INFO, "laneway.nodes"):
        asyncio.run(story(port))
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("node_unreachable: node ")
    assert problem in line


def test_nothing_is_sent_to_a_node_of_another_chain_and_it_is_named_with_both_ids() -> None:
    async def story() -> None:
        node = Node(eth_chainId="0x1")
        async with served([node]) as (chain, stubs):
            with pytest.raises(ChainUnreachable):
                await chain.account(ADDRESS)
            ((answer,),) = await chain.send([b"\x01"])
            assert answer.kind is SendKind.UNREACHABLE
            assert {method for method, _ in stubs[0].heard} == GREETING
            (found,) = chain.standings()
            assert found.trouble == "wrong_chain"
            assert found.words() == (
                f"node {stubs[0].url} answers chain id 1, laneway.toml says {CHAIN_ID}"
            )
            node.said["eth_chainId"] = hex(CHAIN_ID)
            await chain.account(ADDRESS)
            assert chain.standings()[0].trouble == ""

    run(story)


def test_a_node_that_comes_back_names_its_chain_again() -> None:
    async def story() -> None:
        node = Node()
        async with served([node]) as (chain, stubs):
            await chain.account(ADDRESS)
            node.said["eth_getBlockByNumber"] = Drop()
            with pytest.raises(ChainError):
                await chain.account(ADDRESS)
            del node.said["eth_getBlockByNumber"]
            node.said["eth_chainId"] = "0x1"
            await chain.send([b"\x01"])
            assert SEND not in {method for method, _ in stubs[0].heard}
            assert chain.standings()[0].trouble == "wrong_chain"

    run(story)


def test_a_node_that_was_left_for_being_slow_names_its_chain_again() -> None:
    """Its connection was never lost."""

    async def story() -> None:
        node = Node()
        async with served([node]) as (chain, stubs):
            await chain.account(ADDRESS)
            (endpoint,) = chain.endpoints
            endpoint.rest_failed(RpcAnswerLost(endpoint.name, "it is slower than the others"))
            node.said["eth_chainId"] = "0x1"
            await chain.send([b"\x01"])
            assert SEND not in {method for method, _ in stubs[0].heard}
            assert chain.standings()[0].trouble == "wrong_chain"

    run(story)


def test_the_chain_of_a_node_that_never_failed_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story() -> None:
        node = Node()
        async with served([node]) as (chain, _):
            await chain.account(ADDRESS)
            node.said["eth_chainId"] = "0x1"
            await chain.account(ADDRESS)
            monkeypatch.setattr(shared, "GREETING_KEPT_MS", -1)
            with pytest.raises(ChainUnreachable, match="chain id 1"):
                await chain.account(ADDRESS)

    run(story)


def test_a_node_that_ended_a_connection_names_its_chain_before_anything_is_sent() -> None:
    async def story() -> None:
        async with (
            Stub(Node()) as first,
            Stub(Node(eth_chainId="0x1")) as second,
            Relay(port_of(first.url)) as relay,
        ):
            chain = RpcChain([EvmPlace(f"http://127.0.0.1:{relay.port}")], chain_id=CHAIN_ID)
            try:
                await chain.account(ADDRESS)
                relay.point(port_of(second.url))
                while not chain.endpoints[0].client.losses_count:
                    await asyncio.sleep(0)
                await chain.send([b"\x01"])
                assert {method for method, _ in second.heard} == GREETING
                assert chain.standings()[0].trouble == "wrong_chain"
            finally:
                await chain.close()

    run(story)


def test_a_question_that_was_given_up_late_counts_as_silence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story() -> None:
        node = Node()
        async with served([node]) as (chain, stubs):
            await chain.account(ADDRESS)
            node.said["eth_getBlockByNumber"] = lambda _: stubs[0].hang()
            for least_ms, trouble in ((60_000, ""), (0, "node_unreachable")):
                monkeypatch.setattr(shared, "SILENT_MS_MIN", least_ms)
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(chain.account(ADDRESS), 0.05)
                assert chain.standings()[0].trouble == trouble

    run(story)


@pytest.mark.parametrize(
    ("answer", "trouble"),
    [
        (Whole(429), "node_busy"),
        (Whole(404, b"<html>"), "node_unreadable"),
        (Drop(), "node_unreachable"),
    ],
)
def test_what_is_no_answer_of_a_node_is_named(answer: Exception, trouble: str) -> None:
    async def story() -> None:
        async with served([Node(eth_chainId=answer)]) as (chain, _):
            await chain.probe(10_000, 0)
            assert chain.standings()[0].trouble == trouble

    run(story)


def test_a_node_that_answered_lately_is_not_asked_again() -> None:
    async def story() -> None:
        async with served([Node()]) as (chain, stubs):
            await chain.probe(10_000, 60_000)
            await chain.probe(10_000, 60_000)
            assert len(stubs[0].bodies) == 1
            await chain.probe(10_000, 0)
            assert len(stubs[0].bodies) == 2

    run(story)


def test_a_change_is_logged_and_the_same_trouble_in_other_words_seldom(
    caplog: pytest.LogCaptureFixture,
) -> None:
    standing = StandingKeeper("http://127.0.0.1:1/key-0123456789abcdef")
    with caplog.at_level(logging.INFO, "laneway.nodes"):
        standing.answered()
        for problem in ("cut off", "cut off", "refused", "reset", "\x1b[31m", "refused"):
            standing.failed(ChainUnreachable("n", problem))
            assert standing.now.problem == f"cannot be reached: {printable(problem)}"
        standing.answered()
    assert [record.getMessage() for record in caplog.records] == [
        "node_unreachable: node http://127.0.0.1:1/(redacted) cannot be reached: cut off",
        "node_unreachable: node http://127.0.0.1:1/(redacted) cannot be reached: refused",
        "node_unreachable: node http://127.0.0.1:1/(redacted) cannot be reached: reset",
        "Node answers again: node http://127.0.0.1:1/(redacted)",
    ]


def test_a_node_that_is_behind_answers_and_stays_in_trouble_until_it_is_level(
    caplog: pytest.LogCaptureFixture,
) -> None:
    standing = StandingKeeper("http://127.0.0.1:1")
    with caplog.at_level(logging.INFO, "laneway.nodes"):
        standing.behind("")
        assert standing.now.trouble == ""
        standing.behind("stands at slot 5")
        standing.answered()
        assert (standing.now.trouble, standing.now.problem) == (BEHIND, "stands at slot 5")
        since_ms = standing.now.since_ms
        standing.behind("stands at slot 5")
        assert standing.now.since_ms == since_ms > 0
        standing.behind("")
        assert standing.now.trouble == ""
        standing.failed(ChainUnreachable("n", "refused"))
        standing.behind("")
        assert standing.now.trouble == UNREACHABLE, "it says nothing of whether it answers"
    assert [record.getMessage() for record in caplog.records] == [
        "node_behind: node http://127.0.0.1:1 stands at slot 5",
        "Node is level again: node http://127.0.0.1:1",
        "node_unreachable: node http://127.0.0.1:1 cannot be reached: refused",
    ]


def test_an_adapter_without_nodes_has_no_standings() -> None:
    assert KnownNodes().standings() == []
