"""Laws of contexts: an anchor that is recent, a lookup anchor that is final and not too old."""

import pytest
from tests.chains.jam.stage import Node, header, ref, run, served
from tests.rpc_stub import No

from laneway.core.errors import ChainUnreadable
from laneway.wire.jip2 import blob


def chain_of(count: int) -> str:
    return " ".join(f"a{slot}" for slot in range(count))


def test_the_anchor_is_the_parent_of_the_best_block_and_the_lookup_anchor_that_of_the_final() -> (
    None
):
    async def story() -> None:
        async with served([Node(chain_of(8), final="a4")]) as (chain, _):
            context = await chain.context()
            assert (context.anchor, context.lookup_anchor) == (ref("a6"), ref("a3"))
            assert context.state_root == header("stateRoota6")
            assert context.beefy_root == header("beefyRoota6")
            assert context.lookup_state_root == header("stateRoota3")
            assert (context.head.best, context.head.finalised) == (ref("a7"), ref("a4"))

    run(story)


@pytest.mark.parametrize(("offset", "anchor"), [(0, "a7"), (1, "a6"), (6, "a1"), (7, "a0")])
def test_the_anchor_may_be_the_head_or_an_older_block(offset: int, anchor: str) -> None:
    async def story() -> None:
        async with served([Node(chain_of(8))]) as (chain, _):
            assert (await chain.context(offset=offset)).anchor == ref(anchor)

    run(story)


def test_an_anchor_is_never_older_than_the_chain() -> None:
    async def story() -> None:
        async with served([Node("a0 a1")]) as (chain, _):
            assert (await chain.context(offset=6)).anchor == ref("a0")
            with pytest.raises(AssertionError):
                await chain.context(offset=8)

    run(story)


@pytest.mark.parametrize(("best", "lookup"), [(17, "a1"), (18, "a17")])
def test_a_lookup_anchor_that_would_be_too_old_before_the_anchor_is_gives_way_to_it(
    best: int, lookup: str
) -> None:
    """L - H: sixteen slots on the tiny chain."""

    async def story() -> None:
        node = Node(chain_of(best + 1), final="a2")
        async with served([node]) as (chain, _):
            assert (await chain.context()).lookup_anchor == ref(lookup)

    run(story)


@pytest.mark.parametrize(("offset", "lookup"), [(2, "a8"), (3, "a8"), (4, "a7"), (7, "a4")])
def test_a_lookup_anchor_is_never_newer_than_the_anchor(offset: int, lookup: str) -> None:
    """So a package is too old for good by the slot of its anchor, whatever else is known of it."""

    async def story() -> None:
        async with served([Node(chain_of(12), final="a9")]) as (chain, _):
            context = await chain.context(offset=offset)
            assert context.lookup_anchor == ref(lookup)
            assert context.lookup_anchor.slot <= context.anchor.slot

    run(story)


def test_without_a_final_block_the_anchor_is_looked_up() -> None:
    async def story() -> None:
        node = Node("a0 a1 a2", final="a2")
        node.grow("a0 b1 b2")
        async with served([node]) as (chain, _):
            context = await chain.context()
            assert context.head.finalised is None
            assert context.lookup_anchor == context.anchor == ref("b1")

    run(story)


def test_roots_that_are_none_are_the_nodes_fault() -> None:
    async def story() -> None:
        async with served([Node(beefyRoot="AAAA")]) as (chain, _):
            with pytest.raises(ChainUnreadable):
                await chain.context()

    run(story)


def test_a_state_root_that_the_node_has_forgotten_is_left_out() -> None:
    async def story() -> None:
        node = Node(chain_of(8), final="a4")

        def state_root(params: list[str]) -> str:
            name = node.named(params[0])
            if name == "a3":
                raise No(1, "Block unavailable", params[0])
            return blob(header("stateRoot" + name))

        node.said["stateRoot"] = state_root
        async with served([node]) as (chain, _):
            context = await chain.context()
            assert (context.lookup_anchor, context.lookup_state_root) == (ref("a3"), None)

    run(story)
