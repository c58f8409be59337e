"""Laws of receipts: whole blocks where most is ours, one by one else, and no word is bent."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.chains.evm.stage import Node, run, served
from tests.rpc_stub import Drop, No, Stub

from laneway.chains.evm import receipts
from laneway.chains.evm.endpoint import EvmEndpoint
from laneway.chains.evm.limits import BLOCK_RECEIPTS_COUNT_MIN, BLOCKS_AT_ONCE
from laneway.core.errors import ChainUnreadable
from laneway.core.facts import BlockRef, BlockSeen
from laneway.wire.limits import RPC_BATCH_COUNT_MAX

ONE, ALL = "eth_getTransactionReceipt", "eth_getBlockReceipts"
MIN = BLOCK_RECEIPTS_COUNT_MIN
BLOCK = BlockRef(9, b"\x09" * 32)


def digest(number: int) -> bytes:
    return number.to_bytes(32, "big")


def block_of(count: int, ref: BlockRef = BLOCK) -> BlockSeen:
    return BlockSeen(ref, bytes(32), tuple(map(digest, range(count))))


def receipt(number: int, ref: BlockRef = BLOCK, **other: Any) -> dict[str, Any]:
    return {
        "transactionHash": f"0x{digest(number).hex()}",
        "blockNumber": hex(ref.number),
        "blockHash": f"0x{ref.hash.hex()}",
        "gasUsed": "0x5208",
        "status": "0x1",
        "effectiveGasPrice": "0x7",
        **other,
    }


def node_with(block_says: Any, one: Callable[[int], Any] = receipt) -> Node:
    said = {ALL: block_says, ONE: lambda params: one(int(params[0], 16))}
    return Node(10, **said)


def whole(count: int) -> list[dict[str, Any]]:
    return [receipt(number) for number in range(count)]


def asked(stub: Stub) -> dict[str, int]:
    methods = [method for method, _ in stub.heard]
    return {method: methods.count(method) for method in (ONE, ALL) if method in methods}


def test_a_block_that_is_ours_is_read_at_once() -> None:
    async def story() -> None:
        async with served([node_with(whole(MIN))]) as (chain, (stub,)):
            hashes = [digest(number) for number in reversed(range(MIN))]
            told = await chain.receipts(hashes, [block_of(MIN)])
            assert asked(stub) == {ALL: 1}
            assert [one.hash for one in told if one is not None] == hashes, "in the order asked for"
            assert {(one.block, one.gas_used) for one in told if one} == {(BLOCK, 21_000)}

    run(story)


def test_several_blocks_are_read_two_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block that fails alone is read one by one."""
    under_way: list[int] = []
    most: list[int] = []
    ask = receipts.ask_block

    async def slowly(block: BlockSeen, ours: Sequence[bytes], node: EvmEndpoint) -> receipts.Found:
        under_way.append(block.block.number)
        most.append(len(under_way))
        await asyncio.sleep(0)
        under_way.remove(block.block.number)
        if block.block.number == 8:
            raise ChainUnreadable(node.name, "too long")
        return await ask(block, ours, node)

    refs = [BlockRef(number, bytes([number]) * 32) for number in (6, 7, 8, 9, 10)]
    blocks = [
        BlockSeen(ref, b"", tuple(digest(MIN * place + number) for number in range(MIN)))
        for place, ref in enumerate(refs)
    ]

    def block_says(params: Any) -> list[dict[str, Any]]:
        place = int(params[0], 16) - refs[0].number
        return [receipt(MIN * place + number, refs[place]) for number in range(MIN)]

    async def story() -> None:
        monkeypatch.setattr(receipts, "ask_block", slowly)
        node = node_with(block_says, lambda number: receipt(number, refs[number // MIN]))
        async with served([node]) as (chain, (stub,)):
            hashes = [one for block in blocks for one in block.hashes]
            told = await chain.receipts(hashes, blocks)
            assert [one and one.hash for one in told] == hashes
            assert asked(stub) == {ALL: 4, ONE: MIN}
        assert max(most) == BLOCKS_AT_ONCE

    run(story)


@pytest.mark.parametrize(("ours", "in_block"), [(MIN - 1, MIN - 1), (MIN, 2 * MIN + 1), (0, MIN)])
def test_few_or_a_small_part_are_read_one_by_one(ours: int, in_block: int) -> None:
    async def story() -> None:
        async with served([node_with(whole(in_block))]) as (chain, (stub,)):
            hashes = [digest(number) for number in range(ours)]
            told = await chain.receipts(hashes, [block_of(in_block)])
            assert [one.hash for one in told if one is not None] == hashes
            assert asked(stub) == ({ONE: ours} if ours else {})

    run(story)


def test_half_of_a_block_is_enough_and_nothing_foreign_is_told() -> None:
    async def story() -> None:
        async with served([node_with(whole(2 * MIN))]) as (chain, (stub,)):
            hashes = [digest(number) for number in range(MIN)]
            told = await chain.receipts([*hashes, digest(77)], [block_of(2 * MIN)])
            assert [one and one.hash for one in told] == [*hashes, digest(77)]
            assert asked(stub) == {ALL: 1, ONE: 1}, "what no block showed is asked for by itself"

    run(story)


def test_a_node_without_the_method_is_asked_for_it_once() -> None:
    async def story() -> None:
        node = node_with(No(-32601, "the method does not exist"))
        async with served([node]) as (chain, (stub,)):
            hashes = [digest(number) for number in range(MIN)]
            for _ in range(2):
                told = await chain.receipts(hashes, [block_of(MIN)])
                assert [one and one.hash for one in told] == hashes
            assert asked(stub) == {ALL: 1, ONE: 2 * MIN}

    run(story)


@pytest.mark.parametrize(
    "said",
    [
        No(-32000, "block receipts are being indexed"),
        None,
        whole(MIN - 1),
        [receipt(number + 1) for number in range(MIN)],
        [receipt(number, blockHash=None) for number in range(MIN)],
        "nonsense",
        [receipt(number, gasUsed="many") for number in range(MIN)],
    ],
)
def test_another_answer_to_the_whole_block_is_no_word_on_ours(said: Any) -> None:
    """The chain may have another block there by now, or the answer may be too long for a node."""

    async def story() -> None:
        async with served([node_with(said)]) as (chain, (stub,)):
            hashes = [digest(number) for number in range(MIN)]
            told = await chain.receipts(hashes, [block_of(MIN)])
            assert [one and one.hash for one in told] == hashes
            assert asked(stub) == {ALL: 1, ONE: MIN}

    run(story)


def test_many_are_asked_for_in_batches_and_those_that_wait_are_none() -> None:
    async def story() -> None:
        count = RPC_BATCH_COUNT_MAX + 1
        async with served([node_with(None, lambda one: receipt(one) if one else None)]) as (
            chain,
            (stub,),
        ):
            told = await chain.receipts([digest(number) for number in range(count)])
            assert [one is None for one in told] == [True] + [False] * (count - 1)
            assert asked(stub) == {ONE: count}

    run(story)


@pytest.mark.parametrize(
    "said", [No(-32000, "no"), receipt(0, status=None), receipt(0, gasUsed="")]
)
def test_a_receipt_that_cannot_be_read_is_said_so(said: Any) -> None:
    def one(_: int) -> Any:
        if isinstance(said, Exception):
            raise said
        return said

    async def story() -> None:
        async with served([node_with(None, one)]) as (chain, _):
            with pytest.raises(ChainUnreadable):
                await chain.receipts([digest(0)])

    run(story)


def test_what_one_node_does_not_know_is_asked_of_the_others() -> None:
    """An archive as second node is of use when the first has lost its history, or lies."""

    async def story() -> None:
        nodes = [node_with(None, lambda _: None), node_with(None), node_with(None, lambda _: None)]
        async with served(nodes) as (chain, stubs):
            told = await chain.receipts([digest(0), digest(1)])
            assert [one is not None and one.hash for one in told] == [digest(0), digest(1)]
            assert {one.node for one in told if one is not None} == {"b"}
            assert asked(stubs[1]) == {ONE: 2}

    run(story)


def test_each_node_shows_what_it_has_and_how_far_it_was_before() -> None:
    async def story() -> None:
        nodes = [node_with(None), node_with(None, lambda _: None), Node(10, **{ONE: Drop()})]
        nodes[1].head = 8
        async with served(nodes) as (chain, stubs):
            for _ in range(2):
                first, second = await chain.receipts_by_node([digest(0)])
                assert (first.node, first.head, first.receipts[0] is None) == ("a", 10, False)
                assert (second.node, second.head, second.receipts) == ("b", 8, (None,))
            heads = [method for method, _ in stubs[0].heard if method == "eth_blockNumber"]
            assert len(heads) == 1, "a head that was just read is not asked for again"

    run(story)
