"""Laws of several nodes: one that lies, lags or lost its state decides nothing alone."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from tests.chains.jam.stage import (
    PACKAGE,
    Node,
    header,
    line,
    ref,
    run,
    served,
    told,
    watched,
)

from laneway.chains.jam.agreement import Confirmation, NodeContradicted, final_of, is_same
from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.limits import FINAL_NEAR_SLOTS
from laneway.chains.nodes import NodeLags
from laneway.core.errors import ChainUnreadable
from laneway.core.jam import Accumulated, JamBlockRef, JamHead, LineAsked
from laneway.jam.codec import U64
from laneway.jam.service.commitment import package_key
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
