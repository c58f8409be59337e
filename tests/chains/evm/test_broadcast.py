"""Laws of sending: to everyone, in order, and a doubt is never a refusal."""

import asyncio
from typing import Any

import pytest
from tests.chains.evm.stage import CHAIN_ID, SEND, Node, run, served
from tests.free_ports import free_port
from tests.rpc_stub import Drop, No, Whole

from laneway.chains import phrases
from laneway.chains.phrases import OTHERS
from laneway.core.facts import SendAnswer, SendKind
from laneway.core.outcome import Outcome

K = SendKind


def sending(said: Any, **more: Any) -> Node:
    """A node that answers so when it is sent something."""
    node = Node(**more)
    node.said[SEND] = said
    return node


async def sent_to(*nodes: Node, raws: int = 1, **settings: Any) -> list[tuple[SendAnswer, ...]]:
    async with served(nodes, **settings) as (chain, _):
        return [tuple(answers) for answers in await chain.send([b"\x01"] * raws)]


def test_everyone_is_offered_everything_in_order() -> None:
    async def story() -> None:
        raws = [bytes([number]) for number in range(250)]
        async with served([Node(), Node()]) as (chain, stubs):
            answers = await chain.send(raws)
            assert {sent.kind for row in answers for sent in row} == {K.TAKEN}
            assert all(tuple(sent.node for sent in row) == chain.nodes for row in answers)
            for stub in stubs:
                offered = [params[0] for method, params in stub.heard if method == SEND]
                assert offered == [f"0x{number:02x}" for number in range(250)]
            assert await chain.send([]) == []

    run(story)


def test_only_those_that_are_named_are_offered_it() -> None:
    async def story() -> None:
        async with served([Node(), Node(), Node()]) as (chain, stubs):
            answers = await chain.send([b"\x01"], ["c", "a"])
            assert [sent.node for sent in answers[0]] == ["a", "c"]
            offered = [sum(method == SEND for method, _ in stub.heard) for stub in stubs]
            assert offered == [1, 0, 1]

    run(story)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (Drop(), K.SILENT),
        (Whole(502), K.SILENT),
        (Whole(200, b"<html>"), K.SILENT),
        (Whole(429), K.RATE_LIMITED),
        (No(-32000, "nobody knows these words"), K.UNKNOWN),
        (No(-32000, "nonce too low"), K.NONCE_TOO_LOW),
    ],
)
def test_a_doubt_is_unknown(said: Exception, kind: SendKind) -> None:
    async def story() -> None:
        ((answer,),) = await sent_to(sending(said))
        assert answer.kind is kind
        assert answer.outcome is Outcome.UNKNOWN
        assert not answer.final

    run(story)


def test_a_node_that_cannot_be_reached_was_not_told() -> None:
    async def story() -> None:
        from laneway.chains.evm.chain import RpcChain
        from laneway.chains.evm.endpoint import EvmPlace

        place = EvmPlace(f"http://127.0.0.1:{free_port()}")
        chain = RpcChain([place], chain_id=CHAIN_ID)
        ((answer,),) = await chain.send([b"\x01"])
        assert (answer.kind, answer.outcome) == (K.UNREACHABLE, Outcome.REFUSED)
        assert not answer.final
        await chain.close()

    run(story)


@pytest.mark.parametrize("trouble", [Drop(), Whole(429), Whole(200, b"<html>"), No(1, "no")])
def test_a_greeting_that_is_lost_sends_nothing(trouble: Exception) -> None:
    async def story() -> None:
        async with served([Node(eth_chainId=trouble)]) as (chain, stubs):
            ((answer,),) = await chain.send([b"\x01"])
            assert answer.kind is K.UNREACHABLE
            assert SEND not in [method for method, _ in stubs[0].heard]

    run(story)


def test_what_comes_behind_a_doubt_stays_here() -> None:
    async def story() -> None:
        node = sending(Drop())
        async with served([node]) as (chain, stubs):
            answers = await chain.send([b"\x01"] * 150)
            kinds = [sent.kind for (sent,) in answers]
            assert kinds == [K.SILENT] * 100 + [K.UNREACHABLE] * 50
            batches = [body for body in stubs[0].bodies if isinstance(body, list)]
            assert sum(len(body) == 50 for body in batches) == 0

    run(story)


def test_a_node_that_hangs_does_not_hold_the_others() -> None:
    async def story() -> None:
        slow = sending(lambda _: asyncio.sleep(30))
        ((quick, hung),) = await sent_to(Node(), slow, grace_ms=100)
        assert quick.kind is K.TAKEN
        assert (hung.kind, hung.outcome) == (K.SILENT, Outcome.UNKNOWN)

    run(story)


def test_bytes_that_still_wait_for_a_slow_nodes_allowance_have_not_left() -> None:
    async def story() -> None:
        paced = {"calls_per_s": 1}
        async with served([Node(), Node()], b=paced, grace_ms=100) as (chain, stubs):
            answers = await chain.send([b"\x01"] * 150)
            assert {quick.kind for quick, _ in answers} == {K.TAKEN}
            assert {slow.kind for _, slow in answers} == {K.UNREACHABLE}
            assert SEND not in [method for method, _ in stubs[1].heard]

    run(story)


def test_a_node_that_just_failed_is_passed_over_while_others_work() -> None:
    async def story() -> None:
        failing = sending(Drop())
        async with served([Node(), failing]) as (chain, stubs):
            await chain.send([b"\x01"])
            heard = len(stubs[1].heard)
            ((_, passed),) = await chain.send([b"\x02"])
            assert (passed.kind, passed.outcome) == (K.UNREACHABLE, Outcome.REFUSED)
            assert len(stubs[1].heard) == heard

    run(story)


def test_unknown_words_are_counted_without_their_numbers_and_hashes() -> None:
    async def story() -> None:
        said = iter(["tx 0xab12 of 7 is queer", "tx 0xcd of 19 is queer", "tx of 0x is queer"])
        node = sending(lambda _: raised(No(-32000, next(said))))
        async with served([node]) as (chain, _):
            for _ in range(3):
                await chain.send([b"\x01"])
            assert chain.unknown_words == {
                "-32000 tx # of # is queer": 2,
                "-32000 tx of # is queer": 1,
            }

    run(story)


def test_a_node_with_other_words_each_time_fills_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phrases, "UNKNOWN_MESSAGES_MAX", 2)

    async def story() -> None:
        said = iter(["a", "b", "c", "d", "a"])
        node = sending(lambda _: raised(No(-32000, next(said))))
        async with served([node]) as (chain, _):
            for _ in range(5):
                await chain.send([b"\x01"])
            assert chain.unknown_words == {"-32000 a": 2, "-32000 b": 1, OTHERS: 2}

    run(story)


def raised(error: Exception) -> object:
    raise error


def test_unknown_words_are_counted_and_shown() -> None:
    async def story() -> None:
        async with served([sending(No(-32000, "queer words"))]) as (chain, _):
            await chain.send([b"\x01", b"\x02"])
            assert chain.unknown_words == {"-32000 queer words": 2}

    run(story)


def test_a_node_says_what_it_is_in_its_first_answer() -> None:
    async def story() -> None:
        node = sending(No(-32000, "Known transaction"), web3_clientVersion="besu/v25")
        ((answer,),) = await sent_to(node)
        assert answer.kind is K.ALREADY_KNOWN

    run(story)


def test_a_limit_in_words_makes_the_node_rest() -> None:
    async def story() -> None:
        async with served([sending(No(-32005, "rate limit exceeded"))]) as (chain, stubs):
            ((answer,),) = await chain.send([b"\x01"])
            assert answer.kind is K.RATE_LIMITED
            heard = len(stubs[0].heard)
            ((answer,),) = await chain.send([b"\x01"])
            assert answer.kind is K.UNREACHABLE
            assert len(stubs[0].heard) == heard

    run(story)
