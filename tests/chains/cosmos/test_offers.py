"""What is offered in which order, and what each answer proves."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from tests.chains.cosmos.stage import NAMES, tell
from tests.devnets.cosmos.stage import B, pay, publish

from laneway.chains import phrases
from laneway.chains.cosmos import offers
from laneway.chains.cosmos.chain import CometChain
from laneway.chains.cosmos.offers import Offers
from laneway.chains.endpoint import NodePlace
from laneway.core.cosmos import OfferKind
from laneway.devnets.cosmos.devnet import CosmosDevnet
from laneway.devnets.cosmos.model.app import CosmosRules
from laneway.devnets.cosmos.node import comet
from laneway.devnets.cosmos.node.parameters import CometRefused
from laneway.wire.rpc_codes import INTERNAL
from laneway.wire.rpc_server.methods import Json


def kinds(answers: Any) -> list[list[str]]:
    return [[one.kind.value for one in each] for each in answers]


def test_bytes_go_to_every_node_in_the_order_of_their_sequences() -> None:
    async def story(net: CosmosDevnet, chain: CometChain) -> None:
        made = [pay(0), publish(1), pay(2)]
        answers = await chain.send([one.raw for one in made])
        assert [[one.node for one in each] for each in answers] == [list(NAMES)] * 3
        # Each tells the other, so that the second to be asked has it already.
        assert {one.kind.outcome().value for each in answers for one in each} == {"accepted"}
        net.produce()
        assert len(net.chain.blocks[-1].hashes) == 3
        assert await chain.send([]) == []

    tell(story, nodes=2)


def test_behind_one_that_is_not_taken_nothing_is_offered() -> None:
    async def story(net: CosmosDevnet, chain: CometChain) -> None:
        made = [pay(0), pay(2), pay(1)]
        answers = await chain.send([one.raw for one in made])
        assert kinds(answers) == [["taken"], ["wrong_sequence"], ["unreachable"]]
        assert answers[1][0].expected == 1
        assert (answers[1][0].code, answers[1][0].codespace) == (32, "sdk")
        assert net.chain.status(0, made[2].hash).standing.value == "UNKNOWN"

    tell(story)


def test_what_a_node_says_by_itself_is_understood() -> None:
    async def story(_net: CosmosDevnet, chain: CometChain) -> None:
        assert kinds(await chain.send([pay(0, fee=900).raw])) == [["taken"]]
        assert kinds(await chain.send([pay(0, fee=900).raw])) == [["in_mempool"]]
        assert kinds(await chain.send([pay(0, key=B).raw])) == [["mempool_full"]]
        large = pay(0, key=B, memo="x" * 250, fee=10**200)
        assert kinds(await chain.send([large.raw])) == [["too_large"]]
        assert kinds(await chain.send([b"no transaction"])) == [["malformed"]]
        assert not chain.unknown_words

    tell(story, bytes_max=400, tx_bytes_max=600)


def test_words_that_no_table_knows_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def odd(*_: object) -> Json:
        raise CometRefused(INTERNAL, "the node has a headache")

    async def story(_net: CosmosDevnet, chain: CometChain) -> None:
        monkeypatch.setitem(comet.METHODS, offers.SEND, (odd, ("tx",)))
        assert kinds(await chain.send([pay(0).raw])) == [["unknown"]]
        assert list(chain.unknown_words) == ["-32603 Internal error: the node has a headache"]

    tell(story)


def test_words_that_a_node_makes_up_without_an_end_fill_no_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(phrases, "UNKNOWN_MESSAGES_MAX", 2)
    counted = Offers()
    for message in ("one", "two", "three", "four", "one"):
        counted.unknown_words.count_one(message)
    assert counted.unknown_words == {"one": 2, "two": 1, "others": 2}


def test_an_answer_that_cannot_be_read_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(_net: CosmosDevnet, chain: CometChain) -> None:
        monkeypatch.setitem(comet.METHODS, offers.SEND, (lambda *_: {}, ("tx",)))
        assert kinds(await chain.send([pay(0).raw])) == [["silent"]]

    tell(story)


def test_a_node_that_is_away_was_never_asked() -> None:
    async def story(net: CosmosDevnet, chain: CometChain) -> None:
        await net.stop_node(1)
        answers = await chain.send([pay(0).raw])
        assert kinds(answers) == [["taken", "unreachable"]]
        assert kinds(await chain.send([pay(1).raw], ["one"])) == [["taken"]]

    tell(story, nodes=2)


def test_a_node_that_serves_another_chain_is_never_offered_anything() -> None:
    async def story(net: CosmosDevnet, _chain: CometChain) -> None:
        other = CometChain([NodePlace(net.url, "one")], "another-chain")
        ((answer,),) = await other.send([pay(0).raw])
        assert answer.kind is OfferKind.UNREACHABLE
        assert "answers chain id laneway-dev" in answer.log
        await other.close()

    tell(story)


@asynccontextmanager
async def hanging() -> AsyncIterator[str]:
    """A node that says which chain it serves, and nothing else."""

    async def answer(request: web.Request) -> web.Response:
        call = await request.json()
        if call["method"] != "status":
            await asyncio.Event().wait()
        result = {
            "node_info": {"network": CosmosRules().chain_id},
            "sync_info": {"latest_block_height": "1"},
        }
        return web.json_response({"jsonrpc": "2.0", "id": call["id"], "result": result})

    app = web.Application()
    app.router.add_post("/", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.01, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def test_a_node_that_hangs_holds_nobody() -> None:
    """What was under way there may have arrived; what came behind it stayed here."""

    async def story(net: CosmosDevnet, _chain: CometChain) -> None:
        async with hanging() as url:
            slow = CometChain([NodePlace(net.url, "one"), NodePlace(url, "two")], net.chain_id)
            slow._offers = offers.Offers(grace_ms=200)
            answers = await slow.send([pay(0).raw, pay(1).raw])
            await slow.close()
        assert kinds(answers) == [["taken", "silent"], ["taken", "unreachable"]]

    tell(story)
