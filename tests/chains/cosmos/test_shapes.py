"""Every number that a Cosmos node says has a bound where it is read, and no answer raises anything
but what a port may raise."""

import base64
import math
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from tests.chains.cosmos.stage import tell
from tests.devnets.cosmos.stage import A, accepted, address, pay

from laneway.chains.cosmos.chain import CometChain
from laneway.core.cosmos import OfferKind
from laneway.core.errors import ChainUnreadable
from laneway.cosmos.messages import (
    Any as Packed,
)
from laneway.cosmos.messages import (
    BaseAccount,
    EstimateGasPriceResponse,
    GasInfo,
    QueryAccountResponse,
    SimulateResponse,
)
from laneway.cosmos.protobuf import encode
from laneway.devnets.cosmos.devnet import CosmosDevnet
from laneway.devnets.cosmos.node import comet
from laneway.devnets.cosmos.node.parameters import MESSAGES, CometRefused
from laneway.wire.rpc_server.methods import Json

CODE = -(1 << 60)

ODD = ("", "abc", "²", "-1", "1e3", " 7", "٣", "9" * 5_000, str(2**64 - 5), str(2**53))
"""What is no number that any row holds."""


def answer(monkeypatch: pytest.MonkeyPatch, method: str, change: Callable[[Any], Any]) -> None:
    """The node's own answer with something in it changed."""
    real, names = comet.METHODS[method]
    monkeypatch.setitem(comet.METHODS, method, (lambda *given: change(real(*given)), names))


def placed(path: tuple[str | int, ...], value: object) -> Callable[[Any], Any]:
    def change(said: Any) -> Any:
        at = said
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = value
        return said

    return change


STATUS = ("statuses", 0, "result")
PLACES = (
    ("status", ("sync_info", "latest_block_height")),
    ("abci_query", ("response", "height")),
    ("status", ("sync_info", "earliest_block_height")),
    ("tx_status_batch", (*STATUS, "height")),
    ("tx_status_batch", (*STATUS, "gas_wanted")),
    ("tx_status_batch", (*STATUS, "gas_used")),
)


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(("method", "path"), PLACES)
def test_a_number_that_is_none_is_an_unreadable_answer_of_that_node(
    monkeypatch: pytest.MonkeyPatch, method: str, path: tuple[str | int, ...], odd: str
) -> None:
    async def story(net: CosmosDevnet, chain: CometChain) -> None:
        made = pay(0)
        accepted(net.chain, made)
        net.produce()
        assert (await chain.look("one", address(A), [made.hash])).height == 2
        answer(monkeypatch, method, placed(path, odd))
        with pytest.raises(ChainUnreadable):
            await chain.look("one", address(A), [made.hash])

    tell(story)


@pytest.mark.parametrize("code", [-1, 2**32, 2**70, "5"])
def test_a_code_that_is_none_is_an_unreadable_answer_of_that_node(
    monkeypatch: pytest.MonkeyPatch, code: object
) -> None:
    async def story(net: CosmosDevnet, chain: CometChain) -> None:
        made = pay(0)
        accepted(net.chain, made)
        net.produce()
        await chain.look("one", address(A), [])
        answer(monkeypatch, "tx_status_batch", placed((*STATUS, "execution_code"), code))
        with pytest.raises(ChainUnreadable):
            await chain.look("one", address(A), [made.hash])
        answer(monkeypatch, "broadcast_tx_sync", placed(("code",), code))
        ((said,),) = await chain.send([pay(1).raw])
        assert (said.kind, said.code) == (OfferKind.SILENT, 0)

    tell(story)


def test_a_nodes_own_no_with_a_code_of_sixty_bits_is_a_no(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refusing(*_: object) -> Json:
        raise CometRefused(CODE, "mempool is full")

    async def story(_net: CosmosDevnet, chain: CometChain) -> None:
        monkeypatch.setitem(MESSAGES, CODE, "odd")
        monkeypatch.setitem(comet.METHODS, "broadcast_tx_sync", (refusing, ("tx",)))
        ((said,),) = await chain.send([pay(0).raw])
        assert (said.kind, said.code) == (OfferKind.MEMPOOL_FULL, 0)

    tell(story)


@pytest.mark.parametrize("number", [2**53, 2**64 - 1])
@pytest.mark.parametrize("field", ["account_number", "sequence"])
def test_an_accounts_number_that_no_row_holds_is_unreadable(
    monkeypatch: pytest.MonkeyPatch, field: str, number: int
) -> None:
    async def story(_net: CosmosDevnet, chain: CometChain) -> None:
        account = replace(BaseAccount(address(A)), **{field: number})
        value = encode(QueryAccountResponse(Packed(BaseAccount.url, encode(account))))
        shown = base64.b64encode(value).decode()
        answer(monkeypatch, "abci_query", placed(("response", "value"), shown))
        with pytest.raises(ChainUnreadable, match="more than"):
            await chain.look("one", address(A), [])

    tell(story)


@pytest.mark.parametrize("odd", ODD)
def test_who_used_a_number_is_told_by_the_other_node_where_one_says_nonsense(
    monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    async def story(net: CosmosDevnet, chain: CometChain) -> None:
        made = pay(0)
        accepted(net.chain, made)
        net.produce()
        real, names = comet.METHODS["tx_search"]

        def second_only(*given: Any) -> Json:
            said = real(*given)
            if given[1] == 0:
                said["txs"][0]["height"] = odd
            return said

        monkeypatch.setitem(comet.METHODS, "tx_search", (second_only, names))
        (seen,) = await chain.used_by(address(A), 0)
        assert (seen.hash, seen.height) == (made.hash, 2)

    tell(story, nodes=2)


@pytest.mark.parametrize("price", [math.inf, math.nan, -1.0, 1e300])
def test_a_gas_price_that_nobody_pays_is_none(
    monkeypatch: pytest.MonkeyPatch, price: float
) -> None:
    async def story(_net: CosmosDevnet, chain: CometChain) -> None:
        value = base64.b64encode(encode(EstimateGasPriceResponse(price))).decode()
        answer(monkeypatch, "abci_query", placed(("response", "value"), value))
        assert await chain.gas_price() is None
        used = base64.b64encode(encode(SimulateResponse(GasInfo(0, 2**64 - 1)))).decode()
        answer(monkeypatch, "abci_query", placed(("response", "value"), used))
        assert (await chain.gas_used(pay(0).raw)).used is None

    tell(story)
