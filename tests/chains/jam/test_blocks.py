"""Laws of walking back: every block between two heads is found, and what went is named."""

import pytest
from tests.chains.jam.stage import Node, header, ref, run, served, told, watched
from tests.rpc_stub import No

from laneway.chains.jam import blocks
from laneway.chains.jam.blocks import Forks, Way
from laneway.chains.jam.limits import COMMON_STEPS_MAX
from laneway.chains.jam.node import NodeLacksBlock
from laneway.core.errors import ChainUnreadable
from laneway.core.jam import JamBlockRef, JamHead
from laneway.wire.jip2 import blob


def refs(names: str) -> tuple[JamBlockRef, ...]:
    return tuple(map(ref, names.split()))


def test_every_block_between_two_heads_is_walked() -> None:
    async def story() -> None:
        async with served([Node("a0 a1 a4 a9 a11")]) as (chain, stubs):
            (node,) = chain._nodes.all
            way = await Forks().way(node, refs("a0 a1"), ref("a11"))
            assert (way.after, way.gone, way.blocks) == (ref("a1"), (), refs("a4 a9 a11"))
            assert stubs[0].methods().count("parent") == 3

    run(story)


def test_blocks_that_a_reorganisation_took_are_named() -> None:
    async def story() -> None:
        node_said = Node("a0 a1 a2 a3")
        node_said.grow("a1 b2 b4")
        async with served([node_said]) as (chain, _):
            (node,) = chain._nodes.all
            way = await Forks().way(node, refs("a0 a1 a2 a3"), ref("b4"))
            assert (way.after, way.gone, way.blocks) == (ref("a1"), refs("a2 a3"), refs("b2 b4"))
            way = await Forks().way(node, refs("a2 a3"), ref("b4"))
            assert (way.after, way.gone, way.blocks) == (None, refs("a2 a3"), refs("b4"))

    run(story)


def test_a_chain_that_was_set_back_has_lost_what_was_above() -> None:
    async def story() -> None:
        async with served([Node("a0 a1 a2")]) as (chain, _):
            (node,) = chain._nodes.all
            way = await Forks().way(node, refs("a0 a1 a2"), ref("a1"))
            assert (way.after, way.gone, way.blocks) == (ref("a1"), refs("a2"), ())

    run(story)


def test_behind_a_gap_that_is_too_long_nothing_is_said_to_be_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "WALK_BLOCKS_MAX", 3)

    async def story() -> None:
        async with served([Node("a0 a1 a2 a3 a4 a5")]) as (chain, _):
            (node,) = chain._nodes.all
            way = await Forks().way(node, refs("a0 a1"), ref("a5"))
            assert (way.after, way.gone, way.blocks) == (None, (), refs("a5"))
            way = await Forks().way(node, refs("a0 a2"), ref("a4"))
            assert way.after == ref("a2")

    run(story)


def test_without_a_known_block_there_is_the_head() -> None:
    async def story() -> None:
        async with served([Node("a0 a1")]) as (chain, stubs):
            (node,) = chain._nodes.all
            way = await Forks().way(node, (), ref("a1"))
            assert (way.after, way.gone, way.blocks) == (None, (), refs("a1"))
            assert "parent" not in stubs[0].methods()

    run(story)


def test_a_parent_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "PARENTS_KEPT_MAX", 2)

    async def story() -> None:
        async with served([Node("a0 a1 a2 a3")]) as (chain, stubs):
            (node,) = chain._nodes.all
            forks = Forks()
            for name in ("a3", "a2", "a3", "a2"):
                assert await forks.parent(node, ref(name)) == ref(f"a{int(name[1:]) - 1}")
            assert stubs[0].methods().count("parent") == 2
            await forks.parent(node, ref("a1"))
            await forks.parent(node, ref("a3"))
            assert stubs[0].methods().count("parent") == 4, "the oldest was forgotten"

    run(story)


def test_the_first_block_has_no_parent() -> None:
    async def story() -> None:
        node_said = Node("a5 a6")
        async with served([node_said]) as (chain, _):
            (node,) = chain._nodes.all
            assert await Forks().parent(node, ref("a5")) is None
            assert await Forks().below(node, ref("a6"), 7) == ref("a5")
            node_said.said["parent"] = No(1, "Block unavailable")
            assert await Forks().parent(node, ref("a0")) is None
            with pytest.raises(NodeLacksBlock):
                await Forks().parent(node, ref("a5"))
            node_said.said["parent"] = No(1, "Block unavailable", blob(header("a5")))
            with pytest.raises(NodeLacksBlock):
                await Forks().parent(node, ref("a5"))
            # A node that keeps nothing before it cannot say that others are gone.
            node_said.said["parent"] = No(1, "Block unavailable", blob(header("a4")))
            way = await Forks().way(node, refs("z1"), ref("a5"))
            assert (way.after, way.gone) == (None, ())

    run(story)


def test_a_walk_whose_known_parents_lead_to_a_block_that_the_node_forgot_ends_there() -> None:
    """A connection was lost in the middle of a walk, and the outage went on for longer than the
    node keeps its blocks: what was remembered of the first walk leads below its memory."""

    async def story() -> None:
        names = " ".join(f"a{slot}" for slot in range(12))
        node_said = Node(names, final="a9")
        async with served([node_said]) as (chain, _):
            (node,) = chain._nodes.all
            forks = Forks()
            for slot in (8, 7, 6, 5):
                await forks.parent(node, ref(f"a{slot}"))
            for slot in range(7):
                del node_said.names[header(f"a{slot}")]
            for known in ("a0 a1 a2", "a2 z6", ""):
                way = await forks.way(node, refs(known), ref("a11"))
                assert (way.after, way.gone, way.blocks) == (None, (), refs("a11"))
            assert await forks.way(node, refs("a0 a4"), ref("a11")) == Way(
                ref("a4"), (), refs("a5 a6 a7 a8 a9 a10 a11")
            ), "what is known of the way is enough"
            assert await forks.below(node, ref("a11"), 99) == ref("a4")
            assert not await forks.is_below(node, ref("a1"), ref("a11"))
            assert await forks.head(node) == JamHead(ref("a11"), ref("a9"), "a")
            assert node.standing.now.trouble == ""

    run(story)


def test_a_node_that_lacks_the_block_where_a_walk_begins_is_passed_over() -> None:
    async def story() -> None:
        lacking = Node("a0 a1 a2 a3")
        del lacking.names[header("a3")]
        async with served([lacking]) as (chain, _):
            (node,) = chain._nodes.all
            with pytest.raises(NodeLacksBlock):
                await Forks().way(node, refs("a1"), ref("a3"))
        async with served([lacking, Node("a0 a1 a2 a3")]) as (chain, _):
            look = await chain.look(refs("a1"), [watched()])
            assert (look.after, look.head.node) == (ref("a1"), "b")

    run(story)


def test_the_slots_before_a_block_are_walked_as_far_as_they_are_wanted_or_known() -> None:
    async def story() -> None:
        node_said = Node("a0 a1 a4 a9 a11")
        async with served([node_said]) as (chain, _):
            (node,) = chain._nodes.all
            assert await Forks().slots(node, ref("a11"), 1, 9) == [4, 9, 11]
            assert await Forks().slots(node, ref("a11"), 0, 2) == [9, 11]
            assert await Forks().slots(node, ref("a11"), 11, 2) == []
            assert await Forks().slots(node, ref("a4"), -1, 9) == [0, 1, 4], "the chain's first"
            # One that tells of a parent, and then has not got it.
            node_said.said["parent"] = lambda params: only_of_the_best(node_said, params)
            assert await Forks().slots(node, ref("a11"), 0, 9) == [9, 11]

    run(story)


def only_of_the_best(node: Node, params: list[str]) -> object:
    if node.named(params[0]) != "a11":
        raise No(1, "Block unavailable", params[0])
    return told("a9")


def test_a_parent_that_is_not_older_is_nonsense() -> None:
    async def story() -> None:
        async with served([Node(parent=told("a3"))]) as (chain, _):
            (node,) = chain._nodes.all
            with pytest.raises(ChainUnreadable, match="slot 3"):
                await Forks().parent(node, ref("a3"))

    run(story)


def test_what_a_node_calls_final_is_so_on_the_fork_of_its_best_block() -> None:
    async def story() -> None:
        node_said = Node("a0 a1 a2 a3", final="a1")
        async with served([node_said]) as (chain, _):
            (node,) = chain._nodes.all
            assert await Forks().head(node) == JamHead(ref("a3"), ref("a1"), "a")
            assert (node.best, node.finalised) == (ref("a3"), ref("a1"))
            node_said.grow("a0 b1 b2")
            assert (await Forks().head(node)).finalised is None

    run(story)


def test_a_node_that_calls_its_best_block_final_has_no_finality() -> None:
    """typeberry's node answers finalizedBlock with the best block."""

    async def story() -> None:
        names = " ".join(f"a{slot}" for slot in range(12))
        async with served([Node(names, final="a11")]) as (chain, _):
            (node,) = chain._nodes.all
            assert (await Forks().head(node)).finalised == ref("a3")
            assert (await Forks(2).head(node)).finalised == ref("a9")
            assert (await Forks(100).head(node)).finalised == ref("a0")
            assert (await Forks(0).head(node)).finalised == ref("a11"), "a setting believes it"

    run(story)


def test_a_block_that_is_less_deep_than_finality_wants_is_not_called_final() -> None:
    """A node that keeps few blocks and has no finality: what it cannot show is not known."""

    async def story() -> None:
        names = " ".join(f"a{slot}" for slot in range(12))
        few = Node(names, final="a11")
        for slot in range(8):
            del few.names[header(f"a{slot}")]
        async with served([few]) as (chain, _):
            (node,) = chain._nodes.all
            assert (await Forks().head(node)).finalised is None
            assert (await Forks(2).head(node)).finalised == ref("a9")

    run(story)


def test_one_nodes_parents_are_no_other_nodes() -> None:
    async def story() -> None:
        liar = Node("a0 a1 a2", parent=told("b0"))
        async with served([liar, Node("a0 a1 a2")]) as (chain, _):
            one, two = chain._nodes.all
            assert await chain._forks.parent(one, ref("a2")) == ref("b0")
            assert await chain._forks.parent(two, ref("a2")) == ref("a1")

    run(story)


def test_what_is_gone_is_named_by_its_place_and_not_by_its_slot() -> None:
    """A slot that was a lie once is kept with the block."""

    async def story() -> None:
        async with served([Node("a0 a1 a2 a3")]) as (chain, _):
            known = [ref("a1"), JamBlockRef(header("a2"), 9)]
            (node,) = chain._nodes.all
            way = await chain._forks.way(node, known, ref("a3"))
            assert way == Way(known[1], (), (ref("a3"),))

    run(story)


def test_forks_of_two_nodes_meet_where_both_have_a_block() -> None:
    async def story() -> None:
        one, two = Node("a0 a1 a2 a3"), Node("a0 a1 b2 b4")
        async with served([one, two]) as (chain, _):
            a, b = chain._nodes.all
            common = chain._forks.common
            assert await common(a, ref("a3"), b, ref("b4")) == ref("a1")
            assert await common(a, ref("a3"), b, ref("a1")) == ref("a1")
            assert await common(a, ref("a1"), b, ref("b4")) == ref("a1")
            two.grow("c0 c1")
            assert await common(a, ref("a3"), b, ref("c1")) is None
        long = " ".join(f"a{slot}" for slot in range(COMMON_STEPS_MAX + 2))
        async with served([Node(long), Node("a0")]) as (chain, _):
            a, b = chain._nodes.all
            last = ref(f"a{COMMON_STEPS_MAX}")
            assert await chain._forks.common(a, last, b, ref("a0")) == ref("a0")
            last = ref(f"a{COMMON_STEPS_MAX + 1}")
            assert await chain._forks.common(a, last, b, ref("a0")) is None

    run(story)
