"""Laws of the line of a service, as a look reads it: what would end open blocks is shown by two."""

from typing import Any

import pytest
from tests.chains.jam.stage import SERVICE, Node, ref, run, served

from laneway.chains.jam.agreement import NodeContradicted
from laneway.core.errors import ChainUnreadable
from laneway.core.jam import JamBlocksSeen, LineAsked, LineBlock, LineSeen
from laneway.jam.hashing import blake2b
from laneway.jam.service.commitment import HEAD_KEY, block_key
from laneway.jam.service.values import BLOCK_RECORD, HEAD, AppliedBlock, ServiceHead

OURS, THEIRS, PACKAGE = (blake2b(name) for name in (b"ours", b"theirs", b"package"))
ASKED = LineAsked(SERVICE, (1, 2), (OURS, OURS))


def node(*blocks: bytes, **said: Any) -> Node:
    """One whose service has these blocks in its line."""
    made = Node(final="a2", **said)
    head = ServiceHead(number=len(blocks), block=b"\1" * 32, state_root=b"\2" * 32, slot=1)
    records = {
        block_key(number): BLOCK_RECORD.encode(
            AppliedBlock(package_hash=PACKAGE, exports_root=bytes(32), block=block, slot=1)
        )
        for number, block in enumerate(blocks, 1)
    }
    made.records["a0"] = {HEAD_KEY: HEAD.encode(head), **records}
    return made


async def seen(nodes: list[Node], asked: LineAsked = ASKED) -> LineSeen | None:
    async with served(nodes, slot_ms=6_000) as (chain, _):
        look: JamBlocksSeen = await chain.look([ref("a0")], [], 9, asked)
        return look.line


def test_a_line_is_read_at_the_final_block() -> None:
    async def story() -> None:
        found = await seen([node(OURS)])
        assert found == LineSeen(ref("a2"), 1, (LineBlock(1, OURS, PACKAGE),), b"\1" * 32)
        assert await seen([Node(final="a2")]) is None, "there is no such service"
        moved = await seen([node(THEIRS, THEIRS, THEIRS)])
        assert moved is not None
        assert (moved.number, [one.block for one in moved.blocks]) == (3, [THEIRS, THEIRS])

    run(story)


def test_a_record_that_is_missing_below_the_head_is_the_nodes_trouble() -> None:
    async def story() -> None:
        torn = node(OURS, OURS)
        del torn.records["a0"][block_key(1)]
        with pytest.raises(ChainUnreadable, match="has no 1"):
            await seen([torn])

    run(story)


def test_one_node_alone_moves_no_line() -> None:
    async def story() -> None:
        for liar in (node(THEIRS), node(OURS, OURS, OURS)):
            with pytest.raises(NodeContradicted, match="with three nodes two that agree"):
                await seen([liar, node(OURS)])
            for three in ([liar, node(OURS), node(OURS)], [node(OURS), liar, node(OURS)]):
                found = await seen(three)
                assert found is not None
                assert (found.number, found.blocks[0].block) == (1, OURS)
        both = await seen([node(THEIRS), node(OURS), node(THEIRS)])
        assert both is not None
        assert both.blocks[0].block == THEIRS

    run(story)


def test_a_line_as_it_is_expected_is_confirmed_too() -> None:
    """It makes blocks final."""

    async def story() -> None:
        with pytest.raises(NodeContradicted):
            await seen([node(OURS), node(THEIRS)])
        assert (await seen([node(OURS), node(OURS)])) is not None

    run(story)


def test_a_node_without_any_record_of_the_service_contradicts_nobody() -> None:
    async def story() -> None:
        for nodes in ([node(OURS), Node(final="a2")], [Node(final="a2"), node(OURS)]):
            found = await seen(nodes)
            assert found is not None
            assert found.number == 1

    run(story)


def test_where_no_other_node_can_be_asked_one_is_believed() -> None:
    async def story() -> None:
        other = node(OURS)
        async with served([node(THEIRS), other], slot_ms=6_000) as (chain, stubs):
            await chain.parameters()
            await stubs[1].stop()
            look = await chain.look([ref("a0")], [], 9, ASKED)
            assert look.line is not None
            assert look.line.blocks[0].block == THEIRS
            await stubs[1].start()

    run(story)
