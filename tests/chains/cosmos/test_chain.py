"""What a lane is told of an account and its transactions, by each node for itself."""

import asyncio
from typing import Any

import pytest
from msgspec import Raw, json
from tests.chains.cosmos.stage import tell
from tests.devnets.cosmos.stage import RICH, STRANGER, A, B, accepted, address, pay

from laneway.chains.cosmos.chain import CometChain, query, read_gas, read_price
from laneway.chains.cosmos.limits import STATUSES_PER_CALL_MAX
from laneway.chains.cosmos.shapes import base_of, number, read_hash
from laneway.chains.endpoint import NodePlace
from laneway.chains.standing import NodeOfOtherChain
from laneway.core.cosmos import CommittedAccount, GasSeen, OfferKind, TxStanding
from laneway.core.errors import BadRequest, ChainUnreachable, ChainUnreadable
from laneway.cosmos.messages import (
    BaseAccount,
    BaseVestingAccount,
    EstimateGasPriceResponse,
    GasInfo,
    QueryAccountRequest,
    SimulateResponse,
    VestingAccount,
)
from laneway.cosmos.protobuf import Message, encode
from laneway.devnets.cosmos.devnet import CosmosDevnet
from laneway.devnets.cosmos.node import comet
from laneway.devnets.cosmos.node.parameters import CometParameters, CometRefused
from laneway.wire.rpc_codes import INTERNAL
from laneway.wire.rpc_server.methods import Json


def test_a_look_shows_account_and_transactions_of_one_node() -> None:
    async def story(net: CosmosDevnet, chain: CometChain) -> None:
        made = [pay(sequence) for sequence in range(STATUSES_PER_CALL_MAX + 5)]
        for one in made[:-1]:
            accepted(net.chain, one)
        net.produce()
        accepted(net.chain, made[-1])
        hashes = [one.hash for one in reversed(made)]
        look = await chain.look("one", address(A), [*hashes, bytes(32)])
        assert (look.node, look.height) == ("one", 2)
        assert look.account == CommittedAccount(0, len(made) - 1)
        assert [one.hash for one in look.txs] == [*hashes, bytes(32)]
        standings = [one.standing for one in look.txs]
        committed = [TxStanding.COMMITTED] * (len(made) - 1)
        assert standings == [TxStanding.PENDING, *committed, TxStanding.UNKNOWN]
        seen = look.txs[1]
        assert (seen.height, seen.code, seen.gas_wanted, seen.signers) == (
            2, 0, 100_000, (address(A),),
        )  # fmt: skip
        assert 0 < seen.gas_used <= seen.gas_wanted

    tell(story)


def test_an_execution_that_failed_and_a_rejection_are_told_with_their_reasons() -> None:
    async def story(net: CosmosDevnet, chain: CometChain) -> None:
        poor, late = pay(0, amount=2 * RICH), pay(5)
        accepted(net.chain, poor)
        net.chain.broadcast(0, late.raw)
        net.produce()
        look = await chain.look("one", address(A), [poor.hash, late.hash])
        failed, rejected = look.txs
        assert (failed.standing, failed.code, failed.codespace) == (TxStanding.COMMITTED, 5, "sdk")
        assert "insufficient funds" in failed.log
        assert (rejected.standing, rejected.code) == (TxStanding.REJECTED, 32)

    tell(story)


def test_a_look_names_the_chain_the_account_and_the_first_block() -> None:
    async def story(net: CosmosDevnet, chain: CometChain) -> None:
        look = await chain.look("one", address(A), [])
        assert (look.network, look.address) == (net.chain_id, address(A))
        assert (look.origin_height, len(look.origin)) == (1, 32)
        assert look.problem(net.chain_id, address(A)) == ""
        absent = await chain.look("one", address(STRANGER), [])
        assert (absent.address, absent.problem(net.chain_id, address(STRANGER))) == ("", "")

    tell(story)


@pytest.mark.parametrize("lie", ["network", "address"])
def test_a_look_at_another_chain_or_account_is_trouble_of_that_node(
    monkeypatch: pytest.MonkeyPatch, lie: str
) -> None:
    async def story(_net: CosmosDevnet, chain: CometChain) -> None:
        assert (await chain.look("one", address(A), [])).account == CommittedAccount(0, 0)
        method = "status" if lie == "network" else "abci_query"
        real, names = comet.METHODS[method]

        def answer(*given: Any) -> Json:
            said = real(*given)
            if lie == "network":
                said["node_info"]["network"] = "another-1"
                return said
            strangers = query(QueryAccountRequest.path, QueryAccountRequest(address(B)))
            given = (*given[:2], CometParameters(dict(zip(names, strangers.params, strict=True))))
            return real(*given)

        monkeypatch.setitem(comet.METHODS, method, (answer, names))
        problem = "another-1" if lie == "network" else address(B)
        with pytest.raises(NodeOfOtherChain, match=problem):
            await chain.look("one", address(A), [])
        assert problem in str(chain.standings()[0])

    tell(story)


def test_a_node_whose_looks_cannot_be_read_is_in_trouble_until_one_can(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story(net: CosmosDevnet, chain: CometChain) -> None:
        real, names = comet.METHODS["status"]
        sync = {"latest_block_height": "1", "catching_up": True}
        said: Json = {"node_info": {"network": net.chain_id}, "sync_info": sync}
        monkeypatch.setitem(comet.METHODS, "status", (lambda *_: said, names))
        with pytest.raises(ChainUnreadable, match="catching up"):
            await chain.look("one", address(A), [])
        # It names its chain all the while.
        await chain.probe(10_000, 0)
        assert "catching up" in chain.standings()[0].problem
        monkeypatch.setitem(comet.METHODS, "status", (real, names))
        await chain.look("one", address(A), [])
        assert chain.standings()[0].trouble == ""

    tell(story)


def test_a_node_that_shows_another_account_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(_net: CosmosDevnet, chain: CometChain) -> None:
        other = (address(B), CommittedAccount(1, 0))
        monkeypatch.setattr("laneway.chains.cosmos.chain.read_account", lambda *_: other)
        for _ in range(5):
            with pytest.raises(NodeOfOtherChain):
                await chain.look("one", address(A), [])
        assert len([one for one in caplog.records if one.name == "laneway.nodes"]) == 1

    with caplog.at_level("INFO"):
        tell(story)


def test_a_node_without_an_index_of_transactions_still_shows_the_account(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story(_net: CosmosDevnet, chain: CometChain) -> None:
        def disabled(*_: object) -> Json:
            raise CometRefused(INTERNAL, "transaction indexing is disabled")

        monkeypatch.delitem(comet.METHODS, "tx_status_batch")
        monkeypatch.setitem(comet.METHODS, "tx", (disabled, ("hash", "prove")))
        look = await chain.look("one", address(A), [bytes(32)])
        assert look.account == CommittedAccount(0, 0)
        assert [one.standing for one in look.txs] == [TxStanding.UNTOLD]

    tell(story)


def test_an_account_that_does_not_exist_is_none() -> None:
    async def story(_net: CosmosDevnet, chain: CometChain) -> None:
        assert (await chain.look("one", address(STRANGER), [])).account is None
        assert (await chain.look("one", address(B), [])).account == CommittedAccount(1, 0)

    tell(story)


def test_a_chain_without_the_batch_call_is_asked_what_is_in_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story(net: CosmosDevnet, chain: CometChain) -> None:
        monkeypatch.delitem(comet.METHODS, "tx_status_batch")
        made = [pay(0), pay(1)]
        accepted(net.chain, made[0])
        net.produce()
        for _ in range(2):
            look = await chain.look("one", address(A), [one.hash for one in made])
            assert [one.standing for one in look.txs] == [TxStanding.COMMITTED, TxStanding.UNTOLD]
            assert (look.txs[0].height, look.txs[0].gas_wanted) == (2, 100_000)
        assert (await chain.look("one", address(A), [])).txs == ()
        monkeypatch.setitem(comet.METHODS, "tx", (refusing, ("hash", "prove")))
        with pytest.raises(ChainUnreadable, match="headache"):
            await chain.look("one", address(A), [bytes(32)])

    tell(story)


NETWORK = {"node_info": {"network": "x"}}


def refusing(*_: object) -> Json:
    raise CometRefused(INTERNAL, "the node has a headache")


@pytest.mark.parametrize(
    ("method", "said", "problem"),
    [
        (
            "status",
            {"node_info": {"network": "x"}, "sync_info": {"latest_block_height": "x"}},
            "not a number",
        ),
        (
            "status",
            {
                "node_info": {"network": "x"},
                "sync_info": {"latest_block_height": "1", "catching_up": True},
            },
            "catching up",
        ),
        ("status", {}, "StatusShape"),
        ("abci_query", {"response": {"code": 1, "log": "no"}}, "its account: no"),
        ("abci_query", {"response": {"value": "/w=="}}, "its account: "),
        ("abci_query", {"response": {"value": ""}}, "not known here"),
        ("abci_query", {"response": {"value": "CgQKAi94"}}, "not known here"),
        ("tx_status_batch", {"statuses": []}, "other transactions"),
    ],
)
def test_an_answer_of_no_use_is_said_so(
    monkeypatch: pytest.MonkeyPatch, method: str, said: Json, problem: str
) -> None:
    async def story(_net: CosmosDevnet, chain: CometChain) -> None:
        await chain.look("one", address(A), [])
        names = comet.METHODS[method][1]
        monkeypatch.setitem(comet.METHODS, method, (lambda *_: said, names))
        with pytest.raises(ChainUnreadable, match=problem):
            await chain.look("one", address(A), [bytes(32)])

    tell(story)


def test_gas_and_its_price_are_the_chains_own_word_or_none() -> None:
    async def story(net: CosmosDevnet, chain: CometChain) -> None:
        assert await chain.gas_price() == 0.004
        net.chain.app.price_micro = 8_000
        assert await chain.gas_price(3) == 0.008
        seen = await chain.gas_used(pay(0).raw)
        assert seen.used is not None
        assert seen.used > 60_000
        early = await chain.gas_used(pay(7).raw)
        assert (early.used, early.kind) == (None, OfferKind.WRONG_SEQUENCE)
        assert "expected 0, got 7" in early.log
        net.chain.app.price_micro = 0
        assert await chain.gas_price() is None
        await net.stop_node(0)
        alone = await chain.gas_used(pay(0).raw)
        assert (alone.used, alone.kind) == (None, OfferKind.UNKNOWN), "one of two sets no gas"
        await net.stop_node(1)
        with pytest.raises(ChainUnreachable):
            await chain.gas_price()

    tell(story, nodes=2)


def saying(monkeypatch: pytest.MonkeyPatch, *answers: Message | int) -> CometChain:
    """A chain of nodes that answer every query with these values, or with a code."""
    places = [NodePlace("http://127.0.0.1:1", name) for name in "abcde"[: len(answers)]]
    chain = CometChain(places, "chain")
    for endpoint, answer in zip(chain.endpoints, answers, strict=True):
        code, value = (answer, b"") if isinstance(answer, int) else (0, encode(answer))
        said = Raw(json.encode({"response": {"code": code, "value": value, "log": "it fails"}}))

        async def ask(_: object, said: Raw = said) -> list[Raw]:
            return [said]

        monkeypatch.setattr(endpoint, "ask", ask)
    return chain


def price(micro: int) -> EstimateGasPriceResponse:
    return EstimateGasPriceResponse(micro / 1_000_000)


def gas(used: int) -> SimulateResponse:
    return SimulateResponse(GasInfo(0, used))


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ((price(4_000),), 0.004),
        ((price(900_000_000), price(4_000), price(5_000)), 0.005),
        ((price(4_000), price(5_000)), 0.005),
        ((price(4_000), 6), None),
        ((price(4_000), 6, 6), None),
        ((price(4_000), price(6_000), 6), 0.006),
    ],
)
def test_no_node_alone_sets_the_price_of_gas(
    monkeypatch: pytest.MonkeyPatch, answers: tuple[Message | int, ...], found: float | None
) -> None:
    chain = saying(monkeypatch, *answers)
    assert asyncio.run(chain.gas_price()) == found


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ((gas(70_000),), GasSeen(70_000)),
        ((gas(1 << 39), gas(70_000), gas(71_000)), GasSeen(71_000)),
        ((gas(70_000), 5, gas(80_000)), GasSeen(80_000)),
        ((gas(70_000), 5), GasSeen(None, OfferKind.UNKNOWN)),
        ((gas(70_000), 5, SimulateResponse()), GasSeen(None, OfferKind.UNKNOWN)),
        ((5, gas(70_000), 5), GasSeen(None, OfferKind.NO_FUNDS, "it fails")),
        ((SimulateResponse(),), GasSeen(None, OfferKind.UNKNOWN)),
    ],
)
def test_no_node_alone_sets_the_gas_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, answers: tuple[Message | int, ...], found: GasSeen
) -> None:
    chain = saying(monkeypatch, *answers)
    assert asyncio.run(chain.gas_used(b"tx")) == found


async def refused(_: object) -> list[Raw]:
    raise ChainUnreachable("a", "connection refused")


def test_a_dead_node_shortens_nobodys_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("laneway.chains.cosmos.chain.OFFER_GRACE_MS", 0)
    chain = saying(monkeypatch, 5, price(4_000), price(4_000))
    dead, *slow = chain.endpoints
    answer = slow[0].ask

    async def slowly(calls: Any) -> Any:
        for _ in range(10):
            await asyncio.sleep(0)
        return await answer(calls)

    monkeypatch.setattr(dead, "ask", refused)
    for node in slow:
        monkeypatch.setattr(node, "ask", slowly)
    assert asyncio.run(chain.gas_price()) == 0.004
    for node in chain.endpoints:
        monkeypatch.setattr(node, "ask", refused)
    with pytest.raises(ChainUnreachable):
        asyncio.run(chain.gas_price())


def test_a_node_that_hangs_holds_no_estimate_of_a_majority(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where fewer answer, the others have the time of an offer."""
    monkeypatch.setattr("laneway.chains.cosmos.chain.OFFER_GRACE_MS", 1_000_000)
    monkeypatch.setattr("laneway.chains.cosmos.chain.ESTIMATE_GRACE_MS", 1)
    chain = saying(monkeypatch, gas(1), gas(70_000), gas(80_000))

    async def hangs(_: object) -> list[Raw]:
        await asyncio.sleep(1_000)
        raise AssertionError

    monkeypatch.setattr(chain.endpoints[0], "ask", hangs)

    async def within(seconds: float) -> GasSeen | None:
        try:
            async with asyncio.timeout(seconds):
                return await chain.gas_used(b"tx")
        except TimeoutError:
            return None

    assert asyncio.run(within(5)) == GasSeen(80_000)
    monkeypatch.setattr(chain.endpoints[1], "ask", hangs)
    assert asyncio.run(within(0.05)) is None


def test_one_node_that_answers_of_three_sets_no_price(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = saying(monkeypatch, 5, price(4_000), price(5_000))
    monkeypatch.setattr(chain.endpoints[0], "ask", refused)
    assert asyncio.run(chain.gas_price()) == 0.005
    monkeypatch.setattr(chain.endpoints[1], "ask", refused)
    assert asyncio.run(chain.gas_price()) is None


def test_one_node_that_answers_of_three_sets_no_gas(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = saying(monkeypatch, gas(70_000), gas(70_000), gas(20_000))
    monkeypatch.setattr(chain.endpoints[0], "ask", refused)
    assert asyncio.run(chain.gas_used(b"tx")) == GasSeen(70_000)
    monkeypatch.setattr(chain.endpoints[1], "ask", refused)
    assert asyncio.run(chain.gas_used(b"tx")) == GasSeen(None, OfferKind.UNKNOWN)


def test_estimates_that_cannot_be_read_are_none() -> None:
    assert (read_gas(b"\xff"), read_gas(b""), read_price(b"\xff")) == (None, None, None)


def test_accounts_that_vest_have_a_sequence_too() -> None:
    base = BaseAccount("a", None, 7, 9)
    vesting = encode(VestingAccount(BaseVestingAccount(base)))
    for url in VestingAccount.urls:
        assert base_of(url, vesting) == base
    assert base_of(VestingAccount.urls[0], b"") is None
    assert base_of("/other", vesting) is None
    assert number("n", "12") == 12


@pytest.mark.parametrize(
    "places", [[], [NodePlace("http://127.0.0.1:1", "a"), NodePlace("http://127.0.0.1:2", "a")]]
)
def test_nodes_have_names_of_their_own(places: list[Any]) -> None:
    with pytest.raises(BadRequest):
        CometChain(places, "x")


def test_who_used_a_number_is_found_in_blocks() -> None:
    async def story(net: CosmosDevnet, chain: CometChain) -> None:
        made = pay(0)
        accepted(net.chain, made)
        assert await chain.used_by(address(A), 0) == []
        net.produce()
        for seen in await chain.used_by(address(A), 0):
            assert (seen.hash, seen.standing, seen.height) == (made.hash, TxStanding.COMMITTED, 2)
        assert len(await chain.used_by(address(A), 0)) == 2
        assert await chain.used_by(address(B), 0) == []

    tell(story, nodes=2)


def test_a_node_without_an_index_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(net: CosmosDevnet, chain: CometChain) -> None:
        accepted(net.chain, pay(0))
        net.produce()
        monkeypatch.delitem(comet.METHODS, "tx_search")
        assert await chain.used_by(address(A), 0) == []

    tell(story)


def test_a_hash_that_is_none_is_unreadable() -> None:
    with pytest.raises(ChainUnreadable, match="is no hash"):
        read_hash("one", "xyz")


def test_what_is_said_of_an_account_is_as_old_as_its_own_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story(net: CosmosDevnet, chain: CometChain) -> None:
        net.produce()
        told = comet.METHODS["abci_query"]

        def older(*given: Any) -> dict[str, Any]:
            answer = told[0](*given)
            answer["response"]["height"] = "1"
            return answer

        monkeypatch.setitem(comet.METHODS, "abci_query", (older, told[1]))
        assert (await chain.look("one", address(A), [])).height == 1

    tell(story)
