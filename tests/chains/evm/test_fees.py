"""Laws of what gas costs: one node of three moves nothing, and none that hangs holds the others."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace
from tests.chains.evm.stage import Node, run, served
from tests.rpc_stub import Drop, No

from laneway.chains.evm import fees
from laneway.chains.evm.fees import fees_of, middle
from laneway.core.errors import ChainError
from laneway.core.facts import BlockRef, FeesSeen

SEEN = FeesSeen(7, 3, 10, 5, True, BlockRef(10, b"h"), "a")
HUGE = 4 * 10**17


@pytest.mark.parametrize("lie", [0, HUGE])
@pytest.mark.parametrize(
    "field", ["base_fee_wei", "priority_fee_wei", "gas_price_wei", "blob_base_fee_wei"]
)
def test_one_node_of_three_moves_no_fee(field: str, lie: int) -> None:
    honest = [replace(SEEN, node="b"), replace(SEEN, node="c")]
    found = middle([replace(SEEN, **{field: lie}), *honest])
    assert getattr(found, field) == getattr(SEEN, field)


def test_of_two_nodes_the_lower_word_counts() -> None:
    other = replace(SEEN, priority_fee_wei=HUGE, node="b")
    assert middle([other, SEEN]).priority_fee_wei == 3
    assert middle([SEEN, other]).priority_fee_wei == 3


def test_what_most_nodes_know_is_known() -> None:
    old = replace(SEEN, blob_base_fee_wei=None, supports_1559=False)
    assert middle([old, SEEN, SEEN]).supports_1559
    assert middle([old, SEEN, SEEN]).blob_base_fee_wei == 5
    assert not middle([SEEN, old, old]).supports_1559
    assert middle([SEEN, old, old]).blob_base_fee_wei is None


def test_a_node_that_lies_about_its_tip_is_outvoted() -> None:
    async def story() -> None:
        said: dict[str, Any] = {"eth_gasPrice": "0xa", "eth_maxPriorityFeePerGas": "0x3"}
        liar = Node(**{**said, "eth_maxPriorityFeePerGas": hex(HUGE)})
        async with served([liar, Node(**said), Node(**said)]) as (chain, _):
            for _ in range(3):
                assert (await chain.fees()).priority_fee_wei == 3

    run(story)


def test_nodes_that_fail_leave_the_word_to_those_that_answer() -> None:
    async def story() -> None:
        said: dict[str, Any] = {"eth_gasPrice": "0xa", "eth_maxPriorityFeePerGas": "0x3"}
        dead = Node(**{**said, "eth_getBlockByNumber": Drop()})
        async with served([dead, Node(**said), dead]) as (chain, _):
            assert (await chain.fees()).node == "b"
            assert (await chain.fees()).node == "b", "and the dead ones rest"
        async with served([dead, dead]) as (chain, _):
            with pytest.raises(ChainError):
                await chain.fees()
        odd = Node(eth_gasPrice=No(-32000, "no"))
        async with served([odd, odd]) as (chain, _):
            with pytest.raises(ChainError, match="no"):
                await chain.fees()

    run(story)


def test_a_node_that_is_slower_than_the_others_by_far_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story() -> None:
        said: dict[str, Any] = {"eth_gasPrice": "0xa", "eth_maxPriorityFeePerGas": "0x3"}
        async with served([Node(**said), Node(**said)]) as (chain, _):
            read, nodes = fees.read_fees, chain._nodes

            async def slowly(node: object) -> FeesSeen:
                seen = await read(node)  # type: ignore[arg-type]
                if node is nodes.all[0]:
                    await forever.wait()
                return seen

            forever = asyncio.Event()
            monkeypatch.setattr(fees, "read_fees", slowly)
            assert (await fees_of(nodes, grace_ms=1)).node == "b"

    run(story)


def test_a_bug_is_not_taken_for_a_node_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        async def broken(node: object) -> FeesSeen:
            raise ZeroDivisionError(str(node))

        async with served([Node(), Node()]) as (chain, _):
            monkeypatch.setattr(fees, "read_fees", broken)
            with pytest.raises(ZeroDivisionError):
                await chain.fees()

    run(story)
