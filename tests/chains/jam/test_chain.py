"""Laws of the adapter as a whole: looks that can be taken up again, and an end without a rest."""

import asyncio

import pytest
from tests.chains.jam.stage import PACKAGE, Node, line, ref, run, served, told, until, watched
from tests.rpc_stub import No

from laneway.chains.jam.agreement import NodeContradicted
from laneway.chains.jam.limits import LOOK_AT_ONCE, LOOK_PACKAGES_MAX
from laneway.core.errors import ChainUnreachable, ChainUnreadable
from laneway.core.jam import Accumulated, Failed, JamBlocksSeen, JamHead
from laneway.jam.codec import U64
from laneway.jam.service.commitment import package_key


def names(look: JamBlocksSeen) -> list[int]:
    return [block.block.slot for block in look.blocks]


def test_a_look_is_taken_up_where_the_last_one_ended() -> None:
    async def story() -> None:
        node = Node("a0 a1 a2 a3")
        async with served([node]) as (chain, _):
            first = await chain.look([ref("a0")], [], 2)
            assert (names(first), first.after, first.is_whole) == ([1, 2], ref("a0"), False)
            assert first.head == JamHead(ref("a3"), ref("a0"), "a")
            known = [ref("a0"), *(block.block for block in first.blocks)]
            second = await chain.look(known, [], 2)
            assert (names(second), second.after, second.is_whole) == ([3], ref("a2"), True)
            third = await chain.look([*known, ref("a3")], [], 2)
            assert (names(third), third.after, third.is_whole) == ([], ref("a3"), True)
            node.grow("a1 b4")
            fourth = await chain.look([*known, ref("a3")], [], 2)
            assert (names(fourth), fourth.after) == ([4], ref("a1"))
            assert fourth.gone == (ref("a2"), ref("a3"))

    run(story)


def test_several_blocks_are_read_at_once_and_told_in_their_order() -> None:
    """The first alone: by it is learnt what the node serves."""

    async def story() -> None:
        node = Node(" ".join(f"a{slot}" for slot in range(20)))
        async with served([node]) as (chain, stubs):
            look = await chain.look([ref("a0")], [watched()], 64)
            assert names(look) == list(range(1, 20))
            asked = [one for one in stubs[0].methods() if one != "parent"]
            begin = asked.index("workPackageStatus")
            assert asked[begin + 1] == "serviceValue"
            second = asked.index("workPackageStatus", begin + 1)
            assert asked[second : second + LOOK_AT_ONCE] == ["workPackageStatus"] * LOOK_AT_ONCE
            assert asked[second + LOOK_AT_ONCE] != "workPackageStatus"

    run(story)


def test_a_block_that_cannot_be_read_leaves_no_question_behind() -> None:
    async def story() -> None:
        node = Node(" ".join(f"a{slot}" for slot in range(9)))

        def status(params: list[str]) -> object:
            if node.named(params[0]) == "a4":
                raise No(-32603, "Internal error")
            return node.status(node.named(params[0]), node.named(params[2]))

        node.said["workPackageStatus"] = status
        async with served([node]) as (chain, _):
            before = asyncio.all_tasks()
            with pytest.raises(ChainUnreadable):
                await chain.look([ref("a0")], [watched()], 64)
            left = asyncio.all_tasks() - before
            assert not [task for task in left if "_look_at" in repr(task)]

    run(story)


def test_blocks_name_their_parents_and_the_first_has_none() -> None:
    async def story() -> None:
        async with served([Node("a0 a1")]) as (chain, _):
            look = await chain.look([ref("a0")], [], 9)
            assert look.blocks[0].parent == ref("a0").header_hash
        async with served([Node("a0")]) as (chain, _):
            look = await chain.look([], [], 9)
            assert look.blocks[0].parent == bytes(32)

    run(story)


def test_packages_of_a_look_are_bounded() -> None:
    async def story() -> None:
        async with served([Node()]) as (chain, _):
            with pytest.raises(AssertionError):
                await chain.look([], [watched()] * (LOOK_PACKAGES_MAX + 1), 1)

    run(story)


def test_closing_leaves_nothing_behind() -> None:
    async def story() -> None:
        node = Node("a0 a1")
        async with served([node, Node("a0 a1")]) as (chain, stubs):
            before = asyncio.all_tasks()
            watch = chain.watch(watched())
            heads = chain.heads()
            await anext(watch)
            await anext(heads)
            await until(lambda: sum(stub.open_count() for stub in stubs) == 5)
            await chain.aclose()
            await until(lambda: not any(stub.connections for stub in stubs))
            assert sum(stub.left_count for stub in stubs) == 5
            assert not any(node.socket.held_count for node in chain._nodes.all)
            with pytest.raises(ChainUnreachable):
                await chain.head()
            await watch.aclose()
            await heads.aclose()
            await until(lambda: not (asyncio.all_tasks() - before - {asyncio.current_task()}))

    run(story)


def test_a_watch_upon_a_closed_adapter_ends_with_its_owner() -> None:
    async def story() -> None:
        async with served([Node("a0 a1")]) as (chain, (stub,)):
            watch = chain.watch(watched())
            await anext(watch)
            await chain.aclose()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(watch), 0.05)
            assert stub.open_count() == 0

    run(story)


def test_parameters_are_asked_for_once() -> None:
    async def story() -> None:
        async with served([Node()]) as (chain, (stub,)):
            for _ in range(3):
                assert (await chain.parameters()).epoch_slots == 12
            assert stub.methods().count("parameters") == 1
            assert told("a3")["slot"] == 3

    run(story)


@pytest.mark.parametrize("anchor", ["a0", "z0"])
def test_a_node_without_its_records_calls_no_package_dead_that_another_has(anchor: str) -> None:
    """By its status, and by the silence of a node that has forgotten its anchor."""

    async def story() -> None:
        chain_of_all = " ".join(f"a{slot}" for slot in range(28))
        broken, good = Node(chain_of_all), Node(chain_of_all)
        package = watched(anchor)
        async with served([broken, good]) as (chain, stubs):
            broken.records = good.records = {"a0": line(4)}
            look = await chain.look([ref("a26")], [package])
            (fact,) = [one.fact for one in look.blocks[-1].seen]
            assert isinstance(fact, Failed), "both say so"
            good.records = {"a0": line(4), "a20": line(8) | {package_key(PACKAGE): U64.encode(7)}}
            with pytest.raises(NodeContradicted):
                await chain.look([ref("a26")], [package])
            broken.records = {}
            looks = [await chain.look([ref("a26")], [package]) for _ in range(2)]
            shown = {one.head.node: [fact.fact for fact in one.blocks[-1].seen] for one in looks}
            # Silence proves nothing of a service without records.
            assert shown in ({"b": [Accumulated(7)]}, {"a": [], "b": [Accumulated(7)]})
            assert [one.trouble for one in chain.standings()] == ["", ""]
            broken.records = {"a0": line(4)}
            await stubs[1].stop()
            look = await chain.look([ref("a26")], [package])
            assert isinstance(look.blocks[-1].seen[0].fact, Failed), "nobody else can be asked"
            await stubs[1].start()

    run(story)
