"""The first queue's tables, row by row: what happens, what is told of it, and what may be done.

Each test names its row as `table: row`, and the last one holds them against the adapter's table.
"""

import inspect
import sys

import pytest
from tests.chains.jam.stage import PACKAGE, SENT, Node, ref, reported, run, served, told, watched
from tests.jip2_stub import Silence
from tests.rpc_stub import Drop, No

from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.phrases import shipped
from laneway.core.jam import (
    Accumulated,
    Failed,
    Finalised,
    May,
    PackageFact,
    PackageKind,
    PackageSeen,
    Ready,
    Reportable,
    Reported,
)
from laneway.core.outcome import Outcome
from laneway.jam.codec import U64
from laneway.jam.service.commitment import package_key

SUBMIT = "submitWorkPackage"


def chain_of(last: int) -> str:
    return " ".join(f"a{slot}" for slot in range(last + 1))


async def at_head(chain: Jip2Chain) -> list[PackageSeen]:
    return list((await chain.look([], [watched()], 1)).blocks[-1].seen)


async def only_fact(chain: Jip2Chain) -> tuple[PackageFact, tuple[May, ...]]:
    (seen,) = await at_head(chain)
    return seen.fact, seen.may


@pytest.mark.parametrize("words", ["G15", "ErrGAnchorNotRecent", "anchor_not_recent"])
def test_an_anchor_that_is_too_old_is_refused_and_allows_a_rebuild(words: str) -> None:
    """Error Handling: G15 (AnchorNotRecent)"""

    async def story() -> None:
        node = Node(chain_of(9), submitWorkPackage=No(0, words))
        async with served([node]) as (chain, _):
            submission = await chain.submit(SENT, [0, 1])
            (answer,) = submission.answers
            assert answer.kind is PackageKind.ANCHOR_NOT_RECENT
            assert (answer.outcome, answer.final) == (Outcome.REFUSED, False)
            assert answer.may == (May.REBUILD,)
            # Whatever a node says: nine blocks after the anchor the chain shows it too.
            fact, may = await only_fact(chain)
            assert isinstance(fact, Failed)
            assert fact.kind is PackageKind.ANCHOR_NOT_RECENT
            assert may == (May.REBUILD,)

    run(story)


def test_a_package_that_nobody_guarantees_may_be_sent_again_until_its_anchor_dies() -> None:
    """Error Handling: Guarantee Timeout"""

    async def story() -> None:
        node = Node("a0")
        async with served([node]) as (chain, _):
            assert (await chain.submit(SENT, [0])).outcome() is Outcome.ACCEPTED
            for slot in range(1, 8):
                node.grow(f"a{slot - 1} a{slot}")
                fact, may = await only_fact(chain)
                assert fact == Reportable(8 - slot)
                assert May.SAME_BYTES in may
            node.grow("a7 a8")
            fact, may = await only_fact(chain)
            assert isinstance(fact, Failed)
            assert may == (May.REBUILD,), "only the chain's word allows another version"

    run(story)


@pytest.mark.parametrize(
    ("trouble", "outcome"), [(Drop(), Outcome.UNKNOWN), (Silence(), Outcome.UNKNOWN)]
)
def test_a_connection_that_fails_allows_the_same_bytes_again(
    trouble: Exception, outcome: Outcome
) -> None:
    """Error Handling: Network Error"""

    async def story() -> None:
        node = Node(submitWorkPackage=trouble)
        async with served([node], submit_ms=40) as (chain, (stub,)):
            submission = await chain.submit(SENT, [0, 1])
            assert submission.outcome() is outcome
            assert submission.answers[0].may == (May.SAME_BYTES,)
            del node.said[SUBMIT]
            chain._submissions._submit_ms = 10_000  # The node answers now, on any machine.
            assert (await chain.submit(SENT, [0, 1])).outcome() is Outcome.ACCEPTED
            first, second = (given for method, given in stub.heard if method == SUBMIT)
            assert first == second

    run(story)


def test_every_failure_of_a_package_is_told_with_its_words_and_becomes_final() -> None:
    """Error Handling: Max Retries Exceeded"""

    async def story() -> None:
        node = Node(chain_of(3))
        words = "the report was not made available in time"
        node.statuses["a2"] = {"Failed": words}
        node.final = "a2"
        async with served([node]) as (chain, _):
            watch = chain.watch(watched(), [ref("a1")])
            failed = await anext(watch)
            final = await anext(watch)
            await watch.aclose()
            assert isinstance(failed, PackageSeen)
            assert failed.fact == Failed(PackageKind.UNAVAILABLE, words)
            assert isinstance(final, PackageSeen)
            assert (final.block, final.fact) == (ref("a2"), Finalised(ref("a2")))
        # And bytes that are wrong by themselves are known as such at once.
        async with served([Node(submitWorkPackage=No(0, "codec error: work-package"))]) as (
            chain,
            _,
        ):
            submission = await chain.submit(SENT, [0, 1])
            assert submission.final
            assert submission.answers[0].may == (May.DROP,)

    run(story)


def test_a_package_that_waits_for_its_guarantee_is_not_dead_because_time_has_passed() -> None:
    """Requeue Triggers: Guarantee Timeout"""

    async def story() -> None:
        # The seed's 18 seconds are three slots; here thirty slots pass with two blocks.
        node = Node("a0 a15 a30")
        async with served([node]) as (chain, _):
            fact, may = await only_fact(chain)
            assert fact == Reportable(6)
            assert may == (May.SAME_BYTES,)

    run(story)


@pytest.mark.parametrize(("age", "is_stale"), [(6, False), (7, True)])
def test_an_anchor_older_than_six_blocks_allows_a_rebuild_before_it_is_offered(
    age: int, is_stale: bool
) -> None:
    """Requeue Triggers: Stale Anchor"""

    async def story() -> None:
        async with served([Node(chain_of(age))]) as (chain, _):
            fact, may = await only_fact(chain)
            assert fact == Reportable(8 - age)
            assert (May.REBUILD in may) is is_stale

    run(story)


def test_a_network_failure_is_followed_by_other_cores_and_nodes_and_then_by_the_same_bytes() -> (
    None
):
    """Requeue Triggers: Network Failure"""

    async def story() -> None:
        nobody = No(0, "Failed to submit work-package to even a single proxy/guarantor")
        nodes = [Node(submitWorkPackage=nobody), Node(submitWorkPackage=nobody)]
        async with served(nodes) as (chain, (one, _)):
            submission = await chain.submit(SENT, [0, 1])
            tried = [(answer.node, answer.core) for answer in submission.answers]
            assert tried == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
            assert (submission.outcome(), submission.final) == (Outcome.REFUSED, False)
            assert all(May.SAME_BYTES in answer.may for answer in submission.answers)
            await one.stop()
            unreached = (await chain.submit(SENT, [0], only=["a"])).answers[0]
            assert unreached.kind in (PackageKind.UNREACHABLE, PackageKind.SILENT)
            assert unreached.may == (May.SAME_BYTES,)
            await one.start()

    run(story)


def test_a_guarantee_in_a_block_is_told_with_its_block_and_core() -> None:
    """Signals Tracked: E_G (Guarantee Extrinsic)"""

    async def story() -> None:
        node = Node(chain_of(2))
        node.statuses["a2"] = {"Reported": reported("a2", core=1)}
        async with served([node]) as (chain, _):
            fact, may = await only_fact(chain)
            assert isinstance(fact, Reported)
            assert (fact.reported_in, fact.core) == (ref("a2"), 1)
            assert may == (May.WAIT,)

    run(story)


def test_accumulation_is_told_from_the_services_record() -> None:
    """Signals Tracked: E_A (Accumulation Extrinsic)"""

    async def story() -> None:
        node = Node(chain_of(3))
        node.statuses["a3"] = {"Ready": {**reported("a2"), "ready_in": told("a3")}}
        node.records["a3"] = {package_key(PACKAGE): U64.encode(12)}
        async with served([node]) as (chain, _):
            ready, accumulated = await at_head(chain)
            assert isinstance(ready.fact, Ready)
            assert (accumulated.fact, accumulated.block) == (Accumulated(12), ref("a3"))
            assert ready.may == accumulated.may == (May.WAIT,)

    run(story)


def test_a_timer_alone_proves_nothing_and_the_slot_clock_is_there_to_be_asked() -> None:
    """Signals Tracked: Timeout (18s)"""

    async def story() -> None:
        async with served([Node(chain_of(3))], now_ms=lambda: 1_000_000, steady=lambda: 7) as (
            chain,
            _,
        ):
            clock = await chain.clock()
            assert (clock.slot, clock.slot_ms) == (3, 6_000)
            assert clock.slot_at(1_000_000 + 18_000) == 6
            fact, _ = await only_fact(chain)
            assert fact == Reportable(5)

    run(story)


def test_staleness_is_counted_in_blocks_and_not_in_slots() -> None:
    """Signals Tracked: Anchor Staleness"""

    async def story() -> None:
        async with served([Node("a0 a20")]) as (chain, _):
            fact, may = await only_fact(chain)
            assert fact == Reportable(7)
            assert May.REBUILD not in may

    run(story)


def test_every_row_has_its_test() -> None:
    tests = inspect.getmembers(sys.modules[__name__], inspect.isfunction)
    named = [inspect.getdoc(test) for name, test in tests if name.startswith("test_")]
    rows = {f"{row.table}: {row.row}" for row in shipped().seed}
    assert rows <= set(named)
