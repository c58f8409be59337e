"""Laws of several nodes: one that lies, lags or lost its state decides nothing alone."""

import asyncio
from base64 import b64decode
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from tests.chains.jam.stage import (
    PACKAGE,
    TINY,
    Node,
    header,
    line,
    ref,
    run,
    served,
    told,
    until,
    watched,
)
from tests.jip2_stub import Silence

from laneway.chains.jam.agreement import Confirmation, NodeContradicted, final_of, is_same
from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.limits import FINAL_NEAR_SLOTS, NODE_BEHIND_SLOTS
from laneway.chains.jam.node import JamNode
from laneway.chains.nodes import NodeLags
from laneway.chains.standing import BEHIND
from laneway.core.errors import ChainError, ChainUnreadable
from laneway.core.jam import Accumulated, JamBlockRef, JamHead, LineAsked
from laneway.jam.codec import U64
from laneway.jam.hashing import blake2b
from laneway.jam.service.commitment import package_key
from laneway.kinds.outlook import outlook_of
from laneway.ports.nodes import UNREACHABLE
from laneway.wire.jip2 import blob

SLOTS = " ".join(f"a{slot}" for slot in range(12))
LAST_SLOT = (1 << 32) - 1
RANDOM = b"\7" * 32


def block(hash_: bytes, slot: int) -> Any:
    return {"header_hash": blob(hash_), "slot": slot}


def honest(chain: str = SLOTS, **more: Any) -> Node:
    return Node(chain, **{"final": "a8", **more})


LIES: dict[str, Callable[[], Node]] = {
    "a random block far ahead": lambda: honest(bestBlock=block(RANDOM, LAST_SLOT)),
    "a random block that may be": lambda: honest(bestBlock=block(RANDOM, 12)),
    "the true block one slot later": lambda: honest(bestBlock=block(header("a11"), 12)),
    "its best block is final": lambda: honest(finalizedBlock=told("a10")),
    "a final block of another fork": lambda: honest(finalizedBlock=block(RANDOM, 9)),
    "no final block": lambda: honest(finalizedBlock=None),
    "other parents": lambda: honest(parent=block(RANDOM, 0)),
    "nothing of use": lambda: honest(bestBlock=None, finalizedBlock=7),
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("place", range(3))
def test_one_node_of_three_changes_nothing_of_the_head(lie: str, place: int) -> None:
    async def story() -> None:
        nodes = [honest(), honest()]
        nodes.insert(place, LIES[lie]())
        async with served(nodes, slot_ms=6_000) as (chain, _):
            for _ in range(4):
                head = await chain.head()
                # A liar may pass as a node that lags, which is of no consequence.
                assert (head.best, head.finalised) in (
                    (ref("a11"), ref("a8")), (ref("a10"), ref("a8")),
                )  # fmt: skip
                look = await chain.look([ref("a9")], [])
                assert (look.after, look.gone) == (ref("a9"), ())
                assert set(look.blocks) >= set(look.blocks[:1])
                clock = await chain.clock()
                assert clock.slot <= 11
                context = await chain.context()
                assert context.anchor in (ref("a10"), ref("a9"))
            for node in nodes:
                node.grow("a11 a12")
            assert (await chain.head()).best.slot >= 11

    run(story)


@pytest.mark.parametrize("place", range(3))
def test_a_node_on_a_fork_of_its_own_hides_no_blocks(place: int) -> None:
    """Also at the first question of all, when nothing else is known of the others, and while other
    questions go on."""

    async def story() -> None:
        nodes = [honest(final="a4"), honest(final="a4")]
        own = f"{SLOTS.partition(' a6')[0]} b6 b7 b8 b9 b10 b11 b12"
        nodes.insert(place, honest(own, final="a4"))
        async with served(nodes, slot_ms=200) as (chain, _):
            for _ in range(10):
                look, head, context = await asyncio.gather(
                    chain.look([ref("a9"), ref("a10")], []), chain.head(), chain.context()
                )
                assert (look.after, look.gone) == (ref("a10"), ())
                assert look.head.best == head.best == ref("a11")
                assert context.anchor == ref("a10")
                assert (await chain.clock()).slot == 11

    run(story)


def test_what_a_node_said_of_a_slot_is_not_kept_when_others_know_better() -> None:
    """It was alone when it said so."""

    async def story() -> None:
        liar = honest(f"{SLOTS} z{LAST_SLOT}")
        async with served([liar, honest(), honest()], slot_ms=6_000) as (chain, stubs):
            for stub in stubs[1:]:
                await stub.stop()
            await chain.head()
            assert (await chain.clock()).slot == LAST_SLOT, "nobody else can be asked"
            for stub in stubs[1:]:
                await stub.start()
            async with asyncio.timeout(10):
                best = None
                while best != ref("a11"):
                    await chain.probe(5_000, 0)
                    with suppress(NodeLags):  # Once, for what the liar had said.
                        best = (await chain.head()).best
            assert (await chain.clock()).slot == 11

    run(story)


def test_a_slot_that_another_node_contradicts_is_taken_from_nobody() -> None:
    """A block has one slot. The liar names other sizes too, and was the first to be asked."""

    async def story() -> None:
        later = block(header("a11"), 12)
        liar = honest(bestBlock=later, parameters={"V1": {**TINY, "core_count": 3}})
        async with served([liar, honest(), honest()], slot_ms=6_000) as (chain, _):
            for _ in range(4):
                assert (await chain.head()).best == ref("a11")
                assert (await chain.clock()).slot == 11
        async with served([honest(bestBlock=later), honest()], slot_ms=6_000) as (chain, _):
            with pytest.raises(NodeContradicted, match="the slot of block"):
                await chain.head()

    run(story)


def test_of_two_nodes_the_one_that_is_ahead_on_the_same_fork_is_followed() -> None:
    async def story() -> None:
        behind = Node("a0 a1 a2")
        async with served([behind, Node("a0 a1 a2 a3")], slot_ms=6_000) as (chain, _):
            for _ in range(2):
                assert (await chain.look([ref("a1")], [])).head.best == ref("a3")

    run(story)


def test_of_two_nodes_one_that_stands_still_takes_nothing_from_the_other() -> None:
    async def story() -> None:
        long = " ".join(f"a{slot}" for slot in range(60))
        async with served([Node(long), Node("a0 a1")], slot_ms=6_000) as (chain, _):
            assert (await chain.head()).best == ref("a59")

    run(story)


@pytest.mark.parametrize("others", [1, 2])
def test_a_node_that_stands_still_is_named_until_it_is_level(others: int) -> None:
    """Its answers are sound and old, so nothing else would say that it is of no use."""

    async def story() -> None:
        last = NODE_BEHIND_SLOTS + 2
        long, short = (" ".join(f"a{slot}" for slot in range(end)) for end in (last + 1, 2))
        nodes = [Node(short), *(Node(long) for _ in range(others))]
        async with served(nodes, slot_ms=6_000) as (chain, _):
            for _ in range(2):
                with suppress(NodeLags):
                    await chain.head()
                await chain.probe(1_000, 0)
            behind, *level = chain.standings()
            assert (behind.trouble, [one.trouble for one in level]) == (BEHIND, [""] * others)
            assert behind.problem == "stands at slot 1 while others go on; see whether it syncs"
            assert behind.since_ms
            nodes[0].grow(long)
            async with asyncio.timeout(5):
                while any(one.trouble for one in chain.standings()):
                    await chain.head()
                    await chain.probe(1_000, 0)

    run(story)


def test_what_a_node_that_is_gone_now_said_calls_no_other_one_old_for_long() -> None:
    """It may have lied. One node is left that answers, and no lane is told that none is."""

    async def story() -> None:
        long = " ".join(f"a{slot}" for slot in range(NODE_BEHIND_SLOTS + 3))
        async with served([Node("a0 a1"), Node(long)], slot_ms=6_000) as (chain, stubs):
            with suppress(NodeLags):
                await chain.head()
            await chain.probe(1_000, 0)
            assert chain.standings()[0].trouble == BEHIND
            await stubs[1].stop()
            for _ in range(5):
                with suppress(ChainError):
                    await chain.head()
            assert [one.trouble for one in chain.standings()] == ["", UNREACHABLE]
            assert not outlook_of(chain).is_blocked()

    run(story)


def test_a_node_that_is_a_little_late_is_no_trouble() -> None:
    async def story() -> None:
        long = " ".join(f"a{slot}" for slot in range(NODE_BEHIND_SLOTS + 2))
        async with served([Node("a0 a1"), Node(long), Node(long)], slot_ms=6_000) as (chain, _):
            with suppress(NodeLags):
                await chain.head()
            await chain.head()
            assert [one.trouble for one in chain.standings()] == ["", "", ""]

    run(story)


def test_a_node_that_answers_nonsense_is_not_asked_for_each_head() -> None:
    """Reading long nonsense takes more time than all that the others say."""

    async def story() -> None:
        nodes = [honest(), honest(bestBlock=[1] * 9), honest()]
        async with served(nodes, slot_ms=2_000) as (chain, stubs):
            useless = chain._nodes.all[1]
            await chain.probe(1_000, 0)
            assert useless.is_useless()
            heard = len(stubs[1].heard)
            for _ in range(5):
                assert (await chain.head()).best == ref("a11")
            assert len(stubs[1].heard) == heard
            nodes[1].said.clear()
            await until(lambda: not useless.is_useless())
            await chain.probe(1_000, 0)
            assert not useless.standing.is_unfit
            await chain._agreement.head(chain._nodes.all[0])
            assert len(stubs[1].heard) > heard

    run(story)


def test_two_nodes_of_different_chains_are_named_with_what_would_help() -> None:
    async def story() -> None:
        async with served([Node(), Node("b0 b1 b2 b3")], slot_ms=6_000) as (chain, _):
            with pytest.raises(NodeContradicted, match="a and b do not agree on the newest blocks"):
                await chain.head()

    run(story)


def test_a_node_that_does_not_know_the_newest_block_yet_holds_nobody_back() -> None:
    """Of three nodes two have it."""

    async def story() -> None:
        nodes = [honest(), honest(SLOTS.removesuffix(" a11")), honest()]
        async with served(nodes, slot_ms=6_000) as (chain, _):
            for _ in range(3):
                assert (await chain.look([ref("a9")], [])).head.best == ref("a11")

    run(story)


# What is read of a block.


@pytest.mark.parametrize("place", range(3))
def test_one_node_of_three_accumulates_no_package(place: int) -> None:
    async def story() -> None:
        brought = line(7) | {package_key(PACKAGE): U64.encode(7)}
        liar = honest()
        nodes = [honest(), honest()]
        nodes.insert(place, liar)
        liar.records = {"a0": brought}
        for node in nodes:
            node.statuses = {"a9": {"Reported": {"reported_in": told("a9"), "core": 0,
                                                 "report_hash": blob(RANDOM)}}}  # fmt: skip
            node.records = node.records or {"a0": line(6)}
        async with served(nodes, slot_ms=6_000) as (chain, _):
            for _ in range(4):
                look = await chain.look([ref("a9")], [watched("a8")])
                facts = [one.fact for seen in look.blocks for one in seen.seen]
                assert not any(isinstance(one, Accumulated) for one in facts)
            for node in nodes:
                node.records = {"a0": line(6), "a10": brought}
            look = await chain.look([ref("a9")], [watched("a8")])
            assert Accumulated(7) in [one.fact for one in look.blocks[-1].seen]

    run(story)


@pytest.mark.parametrize("place", range(3))
def test_one_node_of_three_without_records_hides_no_end_for_long(place: int) -> None:
    async def story() -> None:
        nodes = [honest(), honest(), honest()]
        for node in nodes:
            node.records = {"a0": line(7) | {package_key(PACKAGE): U64.encode(7)}}
        nodes[place].said["serviceValue"] = None
        async with served(nodes, slot_ms=6_000) as (chain, _):
            looks = [await chain.look([ref("a9")], [watched("a8")]) for _ in range(3)]
            shown = [
                any(isinstance(one.fact, Accumulated) for one in look.blocks[-1].seen)
                for look in looks
            ]
            assert sum(shown) >= 2
            lines = [
                (await chain.look([ref("a9")], [], line=LineAsked(1, ()))).line for _ in range(3)
            ]
            assert [one and one.number for one in lines] == [7, 7, 7]

    run(story)


@pytest.mark.parametrize("place", range(3))
def test_one_node_of_three_makes_up_no_roots(place: int) -> None:
    async def story() -> None:
        nodes = [honest(), honest()]
        nodes.insert(place, honest(stateRoot=blob(RANDOM)))
        async with served(nodes, slot_ms=6_000) as (chain, _):
            for _ in range(3):
                assert (await chain.context()).state_root == header("stateRoota10")

    run(story)


def made_up(params: list[Any]) -> Any:
    """A block before one, which nobody else has."""
    raw = b64decode(params[0])
    return block(blake2b(raw), {header("a11"): 10, header("a8"): 7}.get(raw, 0))


def made_up_below(slot: int) -> Callable[[list[Any]], Any]:
    """The same before one block; all others are sound."""
    sound = honest()

    def parent(params: list[Any]) -> Any:
        if b64decode(params[0]) == header(f"a{slot}"):
            return made_up(params)
        return sound("parent", params)

    return parent


@pytest.mark.parametrize("parent", [made_up, made_up_below(11), made_up_below(8)])
@pytest.mark.parametrize("place", range(3))
def test_one_node_of_three_makes_up_no_anchor(place: int, parent: Callable[..., Any]) -> None:
    async def story() -> None:
        liar = honest(parent=parent, stateRoot=blob(RANDOM), beefyRoot=blob(RANDOM))
        nodes = [honest(), honest()]
        nodes.insert(place, liar)
        for root in ("stateRoot", "beefyRoot"):
            liar.said[root] = lambda params, root=root: blob(
                header(root + liar.names.get(b64decode(params[0]), "?"))
            )
        async with served(nodes, slot_ms=200) as (chain, _):
            for _ in range(6):
                context = await chain.context()
                assert (context.anchor, context.lookup_anchor) == (ref("a10"), ref("a7"))

    run(story)


def test_a_node_that_forgot_a_lookup_anchor_contradicts_nobody() -> None:
    """It keeps what is final, and nothing before."""

    async def story() -> None:
        nodes = [honest(), Node(SLOTS.partition("a7 ")[2], final="a8")]
        async with served(nodes, slot_ms=200) as (chain, _):
            anchors = {(await chain.context()).lookup_anchor for _ in range(2)}
            assert anchors == {ref("a7"), ref("a8")}

    run(story)


def test_a_node_that_is_silent_is_asked_last_for_what_another_says_too() -> None:
    """It costs the time of one question, and not that of each."""

    async def story() -> None:
        mute = honest()
        async with served([mute, honest(), honest()], slot_ms=2_000) as (chain, _):
            await chain.context()
            mute.said |= dict.fromkeys(("bestBlock", "parent", "stateRoot"), Silence())
            for _ in range(3):
                await chain.context()
            async with asyncio.timeout(0.9 * chain._nodes.all[0].hedge_s()):
                for _ in range(3):
                    await chain.context()

    run(story)


def test_a_node_that_says_nothing_of_what_is_to_be_confirmed_is_late() -> None:
    async def story() -> None:
        async with served([honest(), honest(), honest()], slot_ms=200) as (chain, _):
            await chain.head()
            silent, node, _ = chain._nodes.all

            async def ask(other: JamNode) -> int:
                if other is silent:
                    await asyncio.sleep(60)
                return 1

            assert await chain._agreement.confirmed(node, "it", 1, ask) == 1
            assert chain._nodes.is_late(silent)
            assert chain._agreement.others(node)[-1] is silent

    run(story)


async def slow(_: list[Any]) -> Any:
    await asyncio.sleep(0.2)
    return told("a11")


@pytest.mark.parametrize("place", [0, 1])
def test_the_node_that_answered_first_is_asked_first_to_confirm(place: int) -> None:
    """One that is a little slow at every step is not, and takes none of a slot's windows."""

    async def story() -> None:
        nodes = [honest(), honest()]
        nodes.insert(place, honest(bestBlock=slow))
        async with served(nodes, slot_ms=2_000) as (chain, _):
            await chain.head()
            *_, node = chain._nodes.all
            await chain._agreement.head(node)
            slower = chain._nodes.all[place]
            assert chain._agreement.others(node)[-1] is slower
            other = honest(f"{SLOTS} a12", final="a8")
            nodes[2].parents, nodes[2].best = other.parents, other.best
            nodes[2].names |= other.names
            assert (await chain._agreement.head(node)).best == ref("a11")
            assert chain._agreement.others(node)[-1] is slower, "nobody shows the same now"

    run(story)


def test_nobody_is_waited_for_because_a_chain_is_young() -> None:
    async def story() -> None:
        nodes = [Node("a0 a1 a2"), Node("a0 a1 a2"), Node("a0 a1 a2")]
        async with served(nodes, slot_ms=400) as (chain, _):
            await chain.head()
            nodes[0].said["parent"] = Silence()
            async with asyncio.timeout(2):
                assert (await chain.context(offset=7)).anchor == ref("a0")

    run(story)


def test_of_two_nodes_whose_roots_differ_none_is_believed() -> None:
    async def story() -> None:
        liar = honest(stateRoot=blob(RANDOM))
        async with served([honest(), liar], slot_ms=6_000) as (chain, _):
            with pytest.raises(NodeContradicted, match="roots of block"):
                await chain.context()

    run(story)


def test_where_nobody_else_answers_in_time_a_node_is_believed() -> None:
    async def story() -> None:
        async with served([honest(), honest()], slot_ms=6_000) as (chain, stubs):
            await chain.head()
            await stubs[1].stop()
            assert (await chain.context()).anchor == ref("a10")
            await stubs[1].start()

    run(story)


def test_what_two_nodes_called_final_stays_so_when_one_is_asked_that_lags() -> None:
    """All have the same newest block, and the quickest one heard least of what is final."""

    async def slow(_: object) -> Any:
        await asyncio.sleep(0.05)
        return told("a11")

    async def story() -> None:
        nodes = [honest(bestBlock=slow), honest(bestBlock=slow), honest(final="a3")]
        async with served(nodes, slot_ms=6_000) as (chain, _):
            found = [(await chain.look([ref("a9")], [])).head.finalised for _ in range(9)]
        slots = [one.slot for one in found if one is not None]
        assert slots == sorted(slots)
        assert slots[-1] == 8

    run(story)


def test_what_was_called_final_on_another_fork_is_not_kept() -> None:
    async def story() -> None:
        nodes = [honest(), honest()]
        async with served(nodes, slot_ms=6_000) as (chain, _):
            assert (await chain.head()).finalised == ref("a8")
            for node in nodes:
                node.grow("a0 " + " ".join(f"b{slot}" for slot in range(1, 13)))
                node.final = "b2"
            assert (await chain.head()).finalised == ref("b2")

    run(story)


# The rules alone.


def shown(chain: Jip2Chain, best: str, final: str, common: str = "") -> Confirmation:
    head = JamHead(ref(best), ref(final) if final else None, "b")
    return Confirmation(chain._nodes.all[0], head, ref(common) if common else None)


def test_final_is_what_two_nodes_call_so() -> None:
    async def story() -> None:
        async with served([honest()]) as (chain, _):
            own = JamHead(ref("a9"), ref("a7"), "a")

            def final(*others: Confirmation, head: JamHead = own) -> JamBlockRef | None:
                return final_of(head, head.best, others)

            assert final() == ref("a7")
            assert final(shown(chain, "a9", "a5", "a9")) == ref("a5"), "the lower of two"
            assert final(shown(chain, "a9", "a8", "a9")) == ref("a7")
            assert final(shown(chain, "a9", "", "a9")) == ref("a7"), "the other names none"
            assert final(shown(chain, "b9", "b8")) == ref("a7"), "it is on another fork"
            low, high = shown(chain, "a9", "a1", "a9"), shown(chain, "a9", "a8", "a9")
            assert final(low, high) == ref("a7"), "of three the middle"
            none = shown(chain, "b9", "b8")
            assert final(none, none) is None, "two of three name none"
            blind = JamHead(ref("a9"), None, "a")
            assert final(low, high, head=blind) == ref("a1")
            assert final(none, head=blind) is None
            beyond = JamHead(ref("a6"), ref("a7"), "a")
            assert final(head=beyond) is None, "nothing above the head is final"

    run(story)


def test_a_head_is_the_same_when_what_is_final_is_near_too() -> None:
    async def story() -> None:
        async with served([honest()]) as (chain, _):
            own = JamHead(ref("a20"), ref("a19"), "a")
            assert is_same(own, shown(chain, "a20", "a19", "a20"))
            assert is_same(own, shown(chain, "a20", f"a{19 - FINAL_NEAR_SLOTS}", "a20"))
            assert not is_same(own, shown(chain, "a20", "a9", "a20"))
            assert not is_same(own, shown(chain, "a20", "", "a20"))
            assert not is_same(own, shown(chain, "a19", "a19", "a19"))
            assert not is_same(JamHead(ref("a20"), None, "a"), shown(chain, "a20", "a19", "a20"))

    run(story)


def test_a_contradiction_is_a_trouble_that_passes() -> None:
    error = NodeContradicted("a", "the line of service 1", ["b", "c"])
    assert isinstance(error, ChainUnreadable)
    assert (error.code, error.retry, error.changed) == ("node_contradicted", "later", False)
    assert str(error) == (
        "a and b and c do not agree on the line of service 1; "
        "with three nodes two that agree are believed"
    )
    assert not issubclass(NodeContradicted, NodeLags)
