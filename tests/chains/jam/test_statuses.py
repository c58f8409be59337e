"""Laws of what one block shows of a package: no word is believed against a better one."""

from base64 import b64decode

import pytest
from tests.chains.jam.stage import (
    PACKAGE,
    SERVICE,
    Node,
    header,
    line,
    ref,
    reported,
    run,
    served,
    told,
    waiting,
    watched,
)
from tests.rpc_stub import No

from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.limits import STATES_KEPT_MAX
from laneway.chains.jam.node import NodeLacksBlock
from laneway.chains.jam.phrases import may_after
from laneway.chains.jam.silence import OVER
from laneway.core.errors import ChainUnreadable
from laneway.core.jam import (
    Accumulated,
    Failed,
    JamBlockSeen,
    May,
    PackageFact,
    PackageKind,
    Ready,
    Reportable,
    Reported,
    ServiceRefused,
    Watched,
)
from laneway.jam.codec import U64, Exactly
from laneway.jam.hashing import blake2b
from laneway.jam.mmr import EMPTY
from laneway.jam.rules.checks import RecentBlock, ReportedPackage
from laneway.jam.service.commitment import package_key, refusal_key
from laneway.jam.service.values import REFUSAL, NoEffectReason, ServiceRefusal
from laneway.jam.state import HASH_SET, RECENT_HISTORY, RecentHistory
from laneway.jam.state_keys import ACCUMULATED
from laneway.jam.state_keys import RECENT_HISTORY as RECENT_HISTORY_KEY
from laneway.wire.jip2 import blob

RECORD = {package_key(PACKAGE): U64.encode(7)}
REFUSED = ServiceRefusal(index=0, number=7, reason=NoEffectReason.SAME_BLOCK_APPLIED, slot=3)
READY = {"Ready": {**reported("a1"), "ready_in": told("a2")}}


def history(*packages: bytes) -> bytes:
    blocks = [()] * 11 + [tuple(sorted(packages))]
    return Exactly(HASH_SET, 12).encode(tuple(blocks))


def recent(*blocks: tuple[str, tuple[bytes, ...]]) -> bytes:
    entries = [
        RecentBlock(
            header_hash=header(name),
            beefy_root=bytes(32),
            state_root=bytes(32),
            reported=tuple(ReportedPackage(one, bytes(32)) for one in packages),
        )
        for name, packages in blocks
    ]
    return RECENT_HISTORY.encode(RecentHistory(tuple(entries), EMPTY))


async def seen(chain: Jip2Chain, *packages: Watched, known: str = "") -> tuple[JamBlockSeen, ...]:
    wanted = packages or (watched(),)
    return (await chain.look([ref(one) for one in known.split()], wanted, 64)).blocks


async def facts(chain: Jip2Chain, *packages: Watched) -> list[PackageFact]:
    """Those of the head."""
    return [one.fact for one in (await seen(chain, *packages))[-1].seen]


def test_a_package_that_waits_for_its_report_is_reportable() -> None:
    async def story() -> None:
        async with served([Node("a0 a1 a2")]) as (chain, stubs):
            (block,) = await seen(chain)
            assert [one.fact for one in block.seen] == [Reportable(6)]
            assert (block.block, block.parent) == (ref("a2"), header("a1"))
            assert (block.seen[0].package_hash, block.seen[0].node) == (PACKAGE, "a")
            asked = stubs[0].methods()
            assert asked.count("serviceValue") == 1
            assert "stateValue" not in asked, "what was not reported was not accumulated"

    run(story)


def test_a_node_that_once_served_no_statuses_is_asked_again_when_it_names_its_chain() -> None:
    async def story() -> None:
        node = Node("a0 a1 a2 a3", workPackageStatus=No(-32601, "Method not found"))
        async with served([node]) as (chain, (stub,)):
            assert (await chain.look([ref("a2")], [watched()])).blocks[-1].seen == ()
            asked = stub.methods().count("workPackageStatus")
            node.said.clear()
            assert (await chain.look([ref("a2")], [watched()])).blocks[-1].seen == ()
            assert stub.methods().count("workPackageStatus") == asked, "it has just said no"
            await chain.probe(1_000, 0)
            (seen,) = (await chain.look([ref("a2")], [watched()])).blocks[-1].seen
            assert seen.fact == Reportable(5)

    run(story)


def test_each_new_block_is_read_for_itself() -> None:
    async def story() -> None:
        node = Node("a0 a1 a2 a3")
        node.statuses = {"a1": {"Reported": reported("a1")}, "a2": READY}
        node.records = {"a2": RECORD}
        async with served([node]) as (chain, _):
            blocks = await seen(chain, known="a0")
            assert [block.block for block in blocks] == [ref("a1"), ref("a2"), ref("a3")]
            first, second, third = ([one.fact for one in block.seen] for block in blocks)
            assert first == [Reported(ref("a1"), 0, header("r0"))]
            ready = Ready(ref("a1"), 0, header("r0"), ref("a2"))
            assert second == third == [ready, Accumulated(7)]

    run(story)


def test_a_block_before_the_anchor_shows_nothing() -> None:
    """The view of an older block lags: its state says failed of what it cannot know."""

    async def story() -> None:
        async with served([Node("a0 a1 a2")]) as (chain, stubs):
            blocks = await seen(chain, watched("a2"), known="a0")
            assert [len(block.seen) for block in blocks] == [0, 1]
            assert stubs[0].methods().count("workPackageStatus") == 1

    run(story)


def test_an_anchor_that_the_node_does_not_know_proves_nothing() -> None:
    async def story() -> None:
        async with served([Node("a0 a1 a2")]) as (chain, _):
            assert await facts(chain, watched("z1")) == []

    run(story)


def test_the_services_record_says_which_block_a_package_brought() -> None:
    async def story() -> None:
        node = Node()
        node.records = {"a0": RECORD}
        async with served([node]) as (chain, stubs):
            assert await facts(chain) == [Accumulated(7)], "whatever the status says"
            (asked,) = [given for method, given in stubs[0].heard if method == "serviceValue"]
            assert asked == [blob(header("a3")), SERVICE, blob(b"w" + PACKAGE)]
            assert "stateValue" not in stubs[0].methods()

    run(story)


@pytest.mark.parametrize("status", [{"Failed": "who knows"}, {"Reported": reported("a1")}, READY])
def test_a_package_that_was_accumulated_has_not_failed_whatever_the_status_says(
    status: dict[str, object],
) -> None:
    """JavaJAM's status can stay at reported for ever."""

    async def story() -> None:
        for by_record in (True, False):
            node = Node()
            node.statuses = {"a0": status}
            if by_record:
                node.records = {"a0": RECORD}
            else:
                node.components = {"a0": {ACCUMULATED: history(PACKAGE)}}
            async with served([node]) as (chain, _):
                found = await facts(chain)
                assert found[-1] == Accumulated(7 if by_record else None)
                assert not any(isinstance(one, Failed) for one in found)

    run(story)


def test_a_package_that_is_not_in_the_history_has_failed_where_the_status_says_so() -> None:
    async def story() -> None:
        node = Node()
        node.statuses = {"a0": {"Failed": "the report was not made available in time"}}
        node.components = {"a0": {ACCUMULATED: history(bytes(32))}}
        async with served([node]) as (chain, _):
            (found,) = await facts(chain)
            assert isinstance(found, Failed)
            assert found.kind is PackageKind.UNAVAILABLE

    run(story)


def test_ready_without_a_trace_of_accumulation_is_no_end() -> None:
    async def story() -> None:
        node = Node()
        node.statuses = {"a0": READY}
        async with served([node]) as (chain, stubs):
            assert [type(one) for one in await facts(chain)] == [Ready]
            assert "stateValue" in stubs[0].methods()
            # A node without that draft is not asked again.
            await facts(chain)
            assert stubs[0].methods().count("stateValue") == 1

    run(story)


def test_a_package_reported_in_this_very_block_cannot_be_accumulated_yet() -> None:
    async def story() -> None:
        node = Node("a0 a1")
        node.statuses = {"a1": {"Reported": reported("a1")}}
        node.components = {"a0": {ACCUMULATED: history()}}
        async with served([node]) as (chain, stubs):
            assert [type(one) for one in await facts(chain)] == [Reported]
            assert "stateValue" not in stubs[0].methods()

    run(story)


def test_the_history_of_a_block_is_read_once() -> None:
    async def story() -> None:
        node = Node()
        node.statuses = {"a0": READY}
        node.components = {"a0": {ACCUMULATED: history(PACKAGE)}}
        async with served([node]) as (chain, stubs):
            two = (watched(keeps_records=False), watched(package_hash=bytes(32)))
            assert Accumulated(None) in await facts(chain, *two)
            await facts(chain, *two)
            assert stubs[0].methods().count("stateValue") == 1
            for slot in range(STATES_KEPT_MAX):
                node.grow(f"a{slot + 3} a{slot + 4}")
                await facts(chain, *two)
            assert stubs[0].methods().count("stateValue") == 1 + STATES_KEPT_MAX
            assert len(chain._statuses._accumulated) == STATES_KEPT_MAX

    run(story)


def test_a_service_says_why_a_package_has_no_effect() -> None:
    async def story() -> None:
        node = Node()
        node.statuses = {"a0": READY}
        node.records = {"a0": {refusal_key(PACKAGE): REFUSAL.encode(REFUSED)}}
        node.components = {"a0": {ACCUMULATED: history(PACKAGE)}}
        async with served([node]) as (chain, stubs):
            found = await facts(chain)
            assert found[-1] == ServiceRefused("same_block_applied", 7)
            assert "stateValue" not in stubs[0].methods()

    run(story)


def test_of_a_service_without_records_none_is_asked_for() -> None:
    async def story() -> None:
        node = Node()
        node.statuses = {"a0": READY}
        async with served([node]) as (chain, stubs):
            await facts(chain, watched(keeps_records=False))
            assert "serviceValue" not in stubs[0].methods()

    run(story)


@pytest.mark.parametrize("record", [b"short", b"\x00" * 9])
def test_a_record_that_is_none_is_unreadable(record: bytes) -> None:
    async def story() -> None:
        for key in (package_key(PACKAGE), refusal_key(PACKAGE)):
            node = Node()
            node.statuses = {"a0": READY}
            node.records = {"a0": {key: record}}
            async with served([node]) as (chain, _):
                with pytest.raises(ChainUnreadable):
                    await facts(chain)

    run(story)


def test_a_history_that_is_not_there_proves_nothing() -> None:
    async def story() -> None:
        node = Node()
        node.statuses = {"a0": READY}
        node.components = {"a0": {}}
        async with served([node]) as (chain, _):
            assert [type(one) for one in await facts(chain)] == [Ready]

    run(story)


def test_history_in_a_form_that_is_not_known_is_not_believed() -> None:
    async def story() -> None:
        node = Node()
        node.statuses = {"a0": READY}
        node.components = {"a0": {ACCUMULATED: b"0.9.0"}}
        async with served([node]) as (chain, stubs):
            for _ in range(2):
                assert [type(one) for one in await facts(chain)] == [Ready]
            assert stubs[0].methods().count("stateValue") == 1

    run(story)


# Packages of which nobody knows any more.


def chain_of(*slots: int) -> str:
    return " ".join(f"a{slot}" for slot in slots)


async def told_at(chain: Jip2Chain, package: Watched, known: str) -> dict[int, list[PackageFact]]:
    """What each block shows that shows anything."""
    blocks = await seen(chain, package, known=known)
    assert all(block.is_readable for block in blocks)
    return {block.block.slot: [one.fact for one in block.seen] for block in blocks if block.seen}


def test_a_package_without_a_word_has_failed_when_nothing_can_come_of_it() -> None:
    """The node has forgotten its anchor: eight blocks, five slots and an epoch behind that it could
    not have been accumulated any more."""

    async def story() -> None:
        node = Node(chain_of(*range(28)))
        node.records = {"a0": line(4)}
        async with served([node]) as (chain, stubs):
            found = await told_at(chain, watched("z0"), "a0")
            assert found == {25: [OVER], 26: [OVER], 27: [OVER]}
            assert may_after(OVER) == (May.REBUILD,)
            assert stubs[0].methods().count("parent") == 27, "what is known is not asked again"

    run(story)


def test_silence_is_no_proof_where_the_chain_stood_still() -> None:
    """Reported before the pause, it may be made available in the first block behind it."""

    async def story() -> None:
        node = Node(chain_of(0, 1, 2, *range(100, 115)))
        node.records = {"a0": line(4)}
        async with served([node]) as (chain, _):
            found = await told_at(chain, watched("z0"), "a0")
            assert list(found) == [112, 113, 114]

    run(story)


def test_silence_is_a_proof_where_older_blocks_are_forgotten_too() -> None:
    async def story() -> None:
        node = Node(chain_of(*range(40, 60)))
        node.records = {"a40": line(4)}
        node.said["parent"] = lambda params: (
            told(node.parents[node.named(params[0])])
            if node.named(params[0]) != "a41"
            else node.named(blob(header("a40 is gone")))
        )
        async with served([node]) as (chain, _):
            known = [ref("a50")]
            look = await chain.look(known, [watched("z0")], 64)
            facts = {one.block.slot: [seen.fact for seen in one.seen] for one in look.blocks}
            # The oldest that is known may have made it available.
            assert [slot for slot, shown in facts.items() if shown] == list(range(53, 60))

    run(story)


@pytest.mark.parametrize(
    ("records", "fact"),
    [
        (RECORD, Accumulated(7)),
        (
            {refusal_key(PACKAGE): REFUSAL.encode(REFUSED)},
            ServiceRefused("same_block_applied", 7),
        ),
        (waiting(345, 29, bytes(32), PACKAGE), Accumulated(None)),
        (waiting(6, 29, PACKAGE), Accumulated(None)),
    ],
)
def test_a_package_that_a_record_names_has_not_failed_however_old_it_is(
    records: dict[bytes, bytes], fact: PackageFact
) -> None:
    async def story() -> None:
        node = Node(chain_of(*range(31)))
        node.records = {"a0": line(4), "a30": line(4) | records}
        async with served([node]) as (chain, _):
            assert await facts(chain, watched("z0")) == [fact]
            node.grow("a29 b30")
            assert await facts(chain, watched("z0")) == [OVER]

    run(story)


def test_a_package_in_the_history_has_not_failed_however_old_it_is() -> None:
    async def story() -> None:
        node = Node(chain_of(*range(31)))
        node.records = {"a0": line(4)}
        node.components = {"a0": {ACCUMULATED: history(PACKAGE)}}
        async with served([node]) as (chain, _):
            assert await facts(chain, watched("z0")) == [Accumulated(None)]

    run(story)


def test_what_was_held_for_too_long_was_refused() -> None:
    async def story() -> None:
        node = Node(chain_of(*range(90, 120)))
        node.records = {"a90": line(4) | waiting(6, 9, PACKAGE)}
        async with served([node]) as (chain, _):
            assert await facts(chain, watched("z0")) == [ServiceRefused("expired", 6)]

    run(story)


def test_a_service_that_keeps_no_records_is_waited_for_for_ever() -> None:
    """Nothing there could prove that a package was not accumulated."""

    async def story() -> None:
        node = Node(chain_of(*range(31)))
        node.records = {"a0": line(4)}
        async with served([node]) as (chain, stubs):
            assert await facts(chain, watched("z0", keeps_records=False)) == []
            assert "serviceValue" not in stubs[0].methods()
        # One that was said to keep them, and keeps no line either.
        node.records = {}
        async with served([node]) as (chain, _):
            assert await facts(chain, watched("z0")) == []

    run(story)


def test_services_are_asked_each_for_itself() -> None:
    async def story() -> None:
        node = Node(chain_of(*range(31)))
        heads = {1: line(4), 2: {}, 3: line(0) | waiting(2, 29, PACKAGE)}
        node.said["serviceValue"] = lambda params: (
            None if (found := heads[params[1]].get(b64decode(params[2]))) is None else blob(found)
        )
        names = [blake2b(bytes([place])) for place in range(2)]
        packages = [
            watched("z0", service=1, package_hash=names[0]),
            watched("z0", service=2, package_hash=names[1]),
            watched("z0", service=3),
        ]
        async with served([node]) as (chain, _):
            (block,) = await seen(chain, *packages)
            found = {one.package_hash: one.fact for one in block.seen}
            assert found == {names[0]: OVER, PACKAGE: Accumulated(None)}

    run(story)


def test_a_held_package_has_not_failed_though_the_chain_forgot_it_and_the_node_says_so() -> None:
    """C15 names it for an epoch, and the service holds it for eighty slots."""

    async def story() -> None:
        node = Node(chain_of(*range(86)))
        node.statuses = {"a0": {"Failed": "anchor is not among the recent blocks of this fork"}}
        node.records = {"a0": line(4) | waiting(7, 3, PACKAGE)}
        async with served([node]) as (chain, stubs):
            found = await told_at(chain, watched(), "a10")
            # Within an epoch the chain's own history would name it, were it held.
            assert [type(one) for one in (*found[11], *found[12])] == [Failed, Failed]
            assert found[13] == found[74] == [Accumulated(None)]
            assert await facts(chain, watched()) == [ServiceRefused("expired", 7)]
            reads = stubs[0].methods().count("serviceValue")
            await facts(chain, watched())
            assert stubs[0].methods().count("serviceValue") - reads < 40

    run(story)


# Nodes that tell no status.


def test_without_statuses_the_recent_history_shows_what_was_reported() -> None:
    """typeberry's own node does not answer workPackageStatus."""

    async def story() -> None:
        node = Node("a0 a1 a2", workPackageStatus=No(0, "Method not implemented"))
        node.components = {
            "a1": {RECENT_HISTORY_KEY: recent(("a0", ()), ("a1", ()))},
            "a2": {RECENT_HISTORY_KEY: recent(("a0", ()), ("a1", ()), ("a2", (PACKAGE,)))},
        }
        async with served([node]) as (chain, stubs):
            first, second = await seen(chain, known="a0")
            assert [one.fact for one in first.seen] == [Reportable(7)]
            assert [one.fact for one in second.seen] == [Reported(ref("a2"))]
            assert stubs[0].methods().count("workPackageStatus") == 1

    run(story)


def test_what_the_recent_history_does_not_show_may_be_in_the_pipeline() -> None:
    async def story() -> None:
        node = Node("a5 a6", workPackageStatus=No(0, "Method not implemented"))
        node.components = {
            "a5": {RECENT_HISTORY_KEY: recent(("a6", ())), ACCUMULATED: history()},
            "a6": {},
        }
        async with served([node]) as (chain, _):
            assert await facts(chain) == []
            # One of whose block even the slot is not known.
            node.components["a6"] = {RECENT_HISTORY_KEY: recent(("z4", (PACKAGE,)), ("a6", ()))}
            assert await facts(chain) == []
            node.components["a6"] = {RECENT_HISTORY_KEY: b"nonsense"}
            assert await facts(chain) == []
            assert await facts(chain) == []

    run(story)


def test_without_statuses_a_package_fails_when_nothing_can_come_of_it() -> None:
    async def story() -> None:
        node = Node(chain_of(*range(28)), workPackageStatus=No(0, "Method not implemented"))
        node.records = {"a0": line(4)}
        async with served([node]) as (chain, _):
            found = await told_at(chain, watched("a0"), "a0")
            assert found == {25: [OVER], 26: [OVER], 27: [OVER]}

    run(story)


# Trouble.


def test_a_block_that_the_node_has_forgotten_is_passed_over() -> None:
    """What it would have shown, later blocks show too."""

    async def story() -> None:
        node = Node("a0 a1 a2")
        node.records = {"a1": RECORD}

        def status(params: list[str]) -> object:
            at = node.named(params[0])
            if at == "a1":
                raise No(1, "Block unavailable", params[0])
            return node.status(at, node.named(params[2]))

        node.said["workPackageStatus"] = status
        async with served([node]) as (chain, _):
            first, second = await seen(chain, known="a0")
            assert (first.is_readable, first.seen) == (False, ())
            assert [one.fact for one in second.seen] == [Accumulated(7)]

    run(story)


def test_a_head_that_cannot_be_read_is_an_error() -> None:
    async def story() -> None:
        for method in ("workPackageStatus", "serviceValue"):
            node = Node("a0 a1")
            node.said[method] = No(1, "Block unavailable", blob(header("a1")))
            async with served([node]) as (chain, _):
                with pytest.raises(NodeLacksBlock):
                    await seen(chain)

    run(story)


@pytest.mark.parametrize("method", ["workPackageStatus", "serviceValue"])
def test_any_other_no_is_an_error(method: str) -> None:
    async def story() -> None:
        node = Node()
        node.said[method] = No(-32603, "Internal error")
        async with served([node]) as (chain, _):
            with pytest.raises(ChainUnreadable):
                await seen(chain)

    run(story)


def test_nothing_is_asked_where_nothing_is_watched() -> None:
    async def story() -> None:
        async with served([Node()]) as (chain, stubs):
            look = await chain.look([], [], 64)
            assert look.blocks[0].seen == ()
            assert "workPackageStatus" not in stubs[0].methods()
            assert "serviceValue" not in stubs[0].methods()

    run(story)
