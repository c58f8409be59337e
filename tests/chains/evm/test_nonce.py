"""Laws of the search for a nonce's block, on nodes that have no look-up by nonce."""

from typing import Any

import pytest
from tests.chains.evm.stage import ADDRESS, Node, run, served
from tests.rpc_stub import No

from laneway.core.errors import ChainUnreadable
from laneway.core.facts import BlockRef

HEAD = BlockRef(10, b"")


def counting(passed_at: int, *, pruned_below: int = 0, nonce: str = "0x4") -> Node:
    """A node whose account used the nonce 4 in one block."""
    node = Node(10)

    def count(params: list[Any]) -> str:
        number = int(params[1], 16)
        if number < pruned_below:
            raise No(-32000, "missing trie node")
        return "0x5" if number >= passed_at else "0x4"

    def block(params: list[Any]) -> Any:
        made = node.block(10 if params[0] == "latest" else int(params[0], 16))
        if made is not None and params[1]:
            sender = "0x" + ADDRESS.hex()
            mined = {"hash": "0x" + "22" * 32, "from": sender, "nonce": nonce}
            other = {"hash": "0x" + "33" * 32, "from": "0x" + "44" * 20, "nonce": "0x4"}
            made["transactions"] = [other, mined] if made["number"] == hex(passed_at) else []
        return made

    node.said["eth_getTransactionCount"] = count
    node.said["eth_getBlockByNumber"] = block
    return node


@pytest.mark.parametrize("passed_at", [0, 1, 6, 9, 10])
def test_the_block_is_found_wherever_it_is(passed_at: int) -> None:
    async def story() -> None:
        async with served([counting(passed_at)]) as (chain, _):
            for _ in range(2):
                owner = await chain.at_nonce(ADDRESS, 4, HEAD)
                assert owner is not None
                assert (owner.hash, owner.block.number) == (b"\x22" * 32, passed_at)
            assert await chain.at_nonce(ADDRESS, 5, HEAD) is None

    run(story)


def test_state_that_is_gone_hides_the_block_and_proves_nothing() -> None:
    async def story() -> None:
        async with served([counting(3, pruned_below=5)]) as (chain, _):
            assert await chain.at_nonce(ADDRESS, 4, HEAD) is None
        async with served([counting(6, pruned_below=5)]) as (chain, _):
            assert await chain.at_nonce(ADDRESS, 4, HEAD) is not None

    run(story)


def test_a_block_in_words_that_are_none_is_unreadable() -> None:
    async def story() -> None:
        async with served([counting(6, nonce="four")]) as (chain, _):
            with pytest.raises(ChainUnreadable):
                await chain.at_nonce(ADDRESS, 4, HEAD)

    run(story)
