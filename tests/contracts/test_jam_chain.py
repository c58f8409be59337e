"""What a lane may rely on, asked of the same adapter on two networks: a real JAM state transition,
and our own devnet. Where the two disagree, the real one is right.

The first part shows the facts about the protocol by their numbers, so far as an adapter can see
them; a story says what it needs, and a world that lacks it is left out.
"""

import asyncio
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import pytest
from tests.contracts import jam_leaks
from tests.jam_worlds import (
    LACKS,
    WORLDS,
    DevnetWorld,
    Eye,
    Made,
    Needs,
    Story,
    Told,
    World,
    block_of,
    fact_told,
    head_facts,
    kinds,
    next_told,
    tell,
    text,
    typeberry_process,
    until,
)

from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.node import JamPlace, NodeLacksBlock
from laneway.chains.jam.phrases import JamPhrases
from laneway.chains.nodes import PollPace
from laneway.core.errors import ChainError, ChainUnreachable, ChainUnreadable
from laneway.core.jam import (
    Accumulated,
    BlocksGone,
    Failed,
    Finalised,
    May,
    Package,
    PackageKind,
    PackageSeen,
    Ready,
    Reportable,
    Reported,
    ServiceRefused,
)
from laneway.core.outcome import Outcome
from laneway.devnets.jam.limits import BLOCKS_KEPT_MAX
from laneway.jam import state_keys
from laneway.jam.bundle import WORK_BUNDLE, WorkBundle
from laneway.jam.hashing import blake2b
from laneway.jam.package import WORK_PACKAGE
from laneway.jam.report import WORK_REPORT, Ok, WorkError
from laneway.jam.spec import TINY
from laneway.jam.state import RECENT_HISTORY, SERVICE_ACCOUNT

pytestmark = pytest.mark.slow

needs = pytest.mark.needs


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "told" in metafunc.fixturenames:
        wanted = {need for mark in metafunc.definition.iter_markers("needs") for need in mark.args}
        able = [name for name in WORLDS if not wanted.intersection(LACKS[name])]
        metafunc.parametrize("told", able, indirect=True)


@pytest.fixture(scope="module")
def process() -> Iterator[None]:
    with typeberry_process():
        yield


@pytest.fixture
def told(request: pytest.FixtureRequest, process: None) -> Told:
    def one_world(story: Story) -> None:
        asyncio.run(tell(request.param, story))

    return one_world


async def taken(world: World, made: Made, cores: tuple[int, ...] = (0,)) -> None:
    submission = await world.chain.submit(made.package, cores)
    assert submission.outcome() is Outcome.ACCEPTED, submission


async def handed_in(world: World, core: int = 0, **changes: Any) -> Made:
    made = await world.pack(**changes)
    await taken(world, made, (core,))
    return made


def packages(produced: Any) -> list[bytes]:
    return [b64decode(one["package"]) for one in produced["reported"]]


def is_done(fact: object) -> bool:
    return isinstance(fact, Accumulated | ServiceRefused)


# The facts.


def test_fact_1_the_report_window_is_counted_in_blocks(told: Told) -> None:
    async def story(world: World) -> None:
        made = await handed_in(world)
        eye = Eye(world, made)
        assert await head_facts(world, made) == [Reportable(8)]
        world.produce(8, noGuarantee=True)
        *window, dead = await eye.facts()
        assert window == [Reportable(left) for left in range(7, 0, -1)]
        assert isinstance(dead, Failed)
        assert dead.kind is PackageKind.ANCHOR_NOT_RECENT
        assert packages(world.produce()) == []
        late = await handed_in(world)
        world.produce(7, noGuarantee=True)
        world.produce()
        assert kinds(await head_facts(world, late)) == ["Reported"]

    told(story)


def test_fact_2_skipped_slots_do_not_age_the_anchor(told: Told) -> None:
    async def story(world: World) -> None:
        made = await handed_in(world)
        produced = world.produce(slot=world.best().slot + 14)
        (fact,) = await head_facts(world, made)
        assert isinstance(fact, Reported)
        assert fact.reported_in == block_of(produced)

    told(story)


def test_fact_2_a_lookup_anchor_ages_by_slots(told: Told) -> None:
    async def story(world: World) -> None:
        made = await handed_in(world)
        produced = world.produce(slot=world.best().slot + 30)
        assert packages(produced) == []
        (refused,) = produced["refused"]
        kind = JamPhrases().kind(0, refused["reason"])
        assert kind in (PackageKind.LOOKUP_TOO_OLD, PackageKind.GUARANTEE_TOO_OLD)
        assert await head_facts(world, made) == [Reportable(7)], "its anchor alone would do"

    told(story)


def test_fact_3_a_core_is_engaged_until_its_report_is_available(told: Told) -> None:
    async def story(world: World) -> None:
        first, second = await handed_in(world), await handed_in(world)
        eye = Eye(world, first, second)
        world.produce(5, noAssure=[0])
        assert kinds(await eye.facts(first)) == ["Reported"] * 5
        assert await head_facts(world, second) == [Reportable(3)]
        world.produce(noAssure=[0])
        (lost,) = await head_facts(world, first)
        assert isinstance(lost, Failed)
        assert lost.kind is PackageKind.UNAVAILABLE
        assert kinds(await head_facts(world, second)) == ["Reported"]

    told(story)


def test_fact_4_the_same_bytes_again_are_one_package(told: Told) -> None:
    async def story(world: World) -> None:
        made = await handed_in(world)
        await taken(world, made, (1,))
        eye = Eye(world, made)
        reported = packages(world.produce())
        await taken(world, made)
        reported += packages(world.produce())
        await taken(world, made)
        reported += packages(world.produce(2))
        assert reported == [made.hash]
        facts = await eye.facts()
        assert len({fact for fact in facts if isinstance(fact, Reported)}) == 1
        assert is_done(facts[-1])

    told(story)


def test_fact_5_two_versions_of_one_payload_are_both_accumulated(told: Told) -> None:
    async def story(world: World) -> None:
        first = await handed_in(world)
        world.produce()
        second = await handed_in(world, work=first.work)
        eye = Eye(world, first, second)
        world.produce(2)
        done = {one.package_hash: one.fact for one in await eye.news() if is_done(one.fact)}
        assert set(done) == {first.hash, second.hash}
        if world.keeps_records:
            # The chain knows no versions; the service must, and does.
            assert done[first.hash] == Accumulated(1)
            assert done[second.hash] == ServiceRefused("same_block_applied", 1)
        else:
            assert done[first.hash] == done[second.hash] == Accumulated(None)

    told(story)


@pytest.mark.parametrize(("blocks", "is_reported"), [(7, True), (8, False)])
def test_fact_6_a_prerequisite_must_have_been_reported_lately(
    told: Told, blocks: int, is_reported: bool
) -> None:
    async def story(world: World) -> None:
        first = await handed_in(world)
        world.produce(1 + blocks)
        second = await handed_in(world, prerequisites=[first.hash])
        produced = world.produce()
        assert packages(produced) == [second.hash] * is_reported
        (fact,) = await head_facts(world, second)
        assert kinds([fact]) == ["Reported" if is_reported else "Reportable"]
        if not is_reported:
            (refused,) = produced["refused"]
            assert JamPhrases().kind(0, refused["reason"]) is PackageKind.DEPENDENCY_MISSING

    told(story)


def test_fact_7_a_package_waits_for_its_prerequisite_and_comes_with_it(told: Told) -> None:
    async def story(world: World) -> None:
        first = await handed_in(world, core=0)
        second = await handed_in(world, core=1, prerequisites=[first.hash])
        assert len(packages(world.produce())) == 2
        world.produce(noAssure=[0])
        assert kinds(await head_facts(world, second)) == ["Ready"], "which is no end"
        assert kinds(await head_facts(world, first)) == ["Reported"]
        eye = Eye(world, first, second)
        world.produce()
        for made in (first, second):
            assert is_done((await head_facts(world, made))[-1])
        accumulated = [one for one in await eye.news() if is_done(one.fact)]
        assert {one.block for one in accumulated} == {world.best()}

    told(story)


def test_fact_8_a_package_whose_prerequisite_died_stays_ready_and_is_never_accumulated(
    told: Told,
) -> None:
    async def story(world: World) -> None:
        first = await handed_in(world, core=0)
        second = await handed_in(world, core=1, prerequisites=[first.hash])
        eye = Eye(world, first, second)
        world.produce()
        produced = world.produce(14, noAssure=[0])
        assert produced["queued"] == []
        assert kinds(await head_facts(world, first)) == ["Failed"]
        facts = await eye.facts(second)
        assert not any(is_done(fact) for fact in facts)
        assert kinds(facts[-1:]) in (["Ready"], ["Failed"])
        assert isinstance(facts[1], Ready)

    told(story)


def test_fact_9_on_another_fork_the_same_bytes_land_again(told: Told) -> None:
    async def story(world: World) -> None:
        common = world.best()
        made = await handed_in(world)
        eye = Eye(world, made)
        watch = world.chain.watch(made.watched)
        left = [block_of(world.produce()) for _ in range(2)]
        assert is_done((await eye.facts())[-1])
        seen = [await fact_told(watch) for _ in range(3)]
        assert kinds(seen)[:2] == ["Reported", "Ready"]
        assert is_done(seen[-1])
        right = block_of(world.produce(parent=text(common.header_hash), slot=left[-1].slot + 1))
        assert await eye.facts() == [Reportable(7)]
        assert eye.gone == left
        assert await next_told(watch) == BlocksGone(tuple(left), right)
        assert await fact_told(watch) == Reportable(7)
        await taken(world, made)
        world.produce(2)
        assert is_done((await eye.facts())[-1])
        seen = [await fact_told(watch) for _ in range(3)]
        assert kinds(seen)[:2] == ["Reported", "Ready"]
        assert is_done(seen[-1])
        await watch.aclose()

    told(story)


def test_fact_10_the_chains_history_names_packages_and_its_outputs_do_not(told: Told) -> None:
    async def story(world: World) -> None:
        made = await handed_in(world)
        reported_at = b64decode(world.produce()["header_hash"])
        accumulated_at = b64decode(world.produce()["header_hash"])

        async def component(at: bytes, key: bytes) -> bytes:
            found = await world.chain.state_value(at, key)
            assert found is not None
            return found

        recent = RECENT_HISTORY.decode(await component(reported_at, state_keys.RECENT_HISTORY))
        assert [one.hash for one in recent.blocks[-1].reported] == [made.hash]
        assert made.hash not in await component(reported_at, state_keys.ACCUMULATED)
        assert made.hash in await component(accumulated_at, state_keys.ACCUMULATED)
        assert made.hash not in await component(accumulated_at, state_keys.OUTPUTS)

    told(story)


def test_fact_11_a_package_whose_refinement_fails_is_accumulated(told: Told) -> None:
    async def story(world: World) -> None:
        made = await handed_in(world, work=world.work(fails=True))
        world.produce()
        (reported,) = await head_facts(world, made)
        assert isinstance(reported, Reported)
        assert reported.report_hash is not None
        report = WORK_REPORT.decode(await world.chain.work_report(reported.report_hash))
        assert isinstance(report.results[0].result, WorkError)
        world.produce()
        (*_, done) = await head_facts(world, made)
        if world.keeps_records:
            assert done == ServiceRefused("refine_failed", 0)
        else:
            assert done == Accumulated(None)

    told(story)


def test_fact_12_the_head_and_its_parent_are_anchors(told: Told) -> None:
    async def story(world: World) -> None:
        best = world.best()
        head = await handed_in(world, core=0, offset=0)
        parent = await handed_in(world, core=1, offset=1)
        assert head.watched.anchor == best
        assert parent.watched.anchor == block_of(world.say("parent", text(best.header_hash)))
        assert set(packages(world.produce())) == {head.hash, parent.hash}
        assert kinds(await head_facts(world, parent)) == ["Reported"]

    told(story)


# The whole way.


def test_a_package_is_followed_from_submission_to_finality(told: Told) -> None:
    async def story(world: World) -> None:
        made = await world.pack(offset=1)
        watch = world.chain.watch(made.watched)
        assert await fact_told(watch) == Reportable(7)
        await taken(world, made)
        reported_in = block_of(world.produce())
        reported = await fact_told(watch)
        assert isinstance(reported, Reported)
        assert (reported.reported_in, reported.core) == (reported_in, 0)
        accumulated_in = block_of(world.produce())
        ready = await fact_told(watch)
        assert isinstance(ready, Ready)
        assert (ready.reported_in, ready.ready_in) == (reported_in, accumulated_in)
        done = await next_told(watch)
        assert isinstance(done, PackageSeen)
        assert done.block == accumulated_in
        assert done.fact == Accumulated(1 if world.keeps_records else None)
        final_by = [block_of(world.produce()) for _ in range(2)]
        last = await next_told(watch)
        assert isinstance(last, PackageSeen)
        assert (last.block, last.fact) == (accumulated_in, Finalised(accumulated_in))
        assert final_by[-1] == world.best()
        with pytest.raises(StopAsyncIteration):
            await next_told(watch)
        await until(lambda: world.open_subscriptions() == 0)

    told(story)


def test_nothing_is_missed_while_nobody_looks(told: Told) -> None:
    async def story(world: World) -> None:
        made = await handed_in(world)
        eye = Eye(world, made)
        produced = [block_of(world.produce()) for _ in range(6)]
        seen = await eye.news()
        assert list(dict.fromkeys(one.block for one in seen)) == produced
        assert isinstance(seen[0].fact, Reported)
        assert seen[0].fact.reported_in == produced[0]
        first_done = next(one for one in seen if is_done(one.fact))
        assert first_done.block == produced[1]

    told(story)


def test_a_watch_that_begins_late_sees_what_was(told: Told) -> None:
    async def story(world: World) -> None:
        made = await handed_in(world)
        world.produce(3)
        watch = world.chain.watch(made.watched)
        assert kinds([await fact_told(watch) for _ in range(3)])[:2] == ["Reported", "Ready"]
        world.produce(2)
        final = await fact_told(watch)
        assert isinstance(final, Finalised)
        await watch.aclose()

    told(story)


def test_the_final_view_lags_and_is_not_mistaken_for_failure(told: Told) -> None:
    """A block before the anchor calls the package failed; nothing is told of it."""

    async def story(world: World) -> None:
        made = await handed_in(world)
        finalised = (await world.chain.head()).finalised
        assert finalised is not None
        assert finalised.slot < made.watched.anchor.slot
        at_final = world.say(
            "workPackageStatus",
            text(finalised.header_hash),
            text(made.hash),
            text(made.watched.anchor.header_hash),
        )
        assert list(at_final) == ["Failed"]
        look = await world.chain.look([finalised], [made.watched], 64)
        told_of = [one for block in look.blocks for one in block.seen]
        assert all(one.block.slot >= made.watched.anchor.slot for one in told_of)
        assert [one.fact for one in told_of] == [Reportable(8)]

    told(story)


def test_finality_that_stands_still_lets_nothing_become_final(told: Told) -> None:
    async def story(world: World) -> None:
        made = await handed_in(world)
        world.say("dev_finality", "freeze")
        watch = world.chain.watch(made.watched)
        world.produce(6)
        assert is_done([await fact_told(watch) for _ in range(3)][-1])
        waiting = asyncio.create_task(fact_told(watch))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        world.say("dev_finality", "thaw")
        world.produce()
        assert isinstance(await waiting, Finalised)
        await watch.aclose()

    told(story)


@needs(Needs.RECORDS)
def test_the_number_comes_from_the_services_record(told: Told) -> None:
    async def story(world: World) -> None:
        made = [await handed_in(world) for _ in range(3)]
        world.produce(5)
        for number, one in enumerate(made, 1):
            assert (await head_facts(world, one))[-1] == Accumulated(number)
        record = await world.chain.service_value(
            world.best().header_hash, world.service, b"w" + made[1].hash
        )
        assert record == (2).to_bytes(8, "little")

    told(story)


@needs(Needs.RECORDS)
def test_a_block_that_comes_too_early_is_accumulated_without_a_number_until_its_turn(
    told: Told,
) -> None:
    async def story(world: World) -> None:
        first, second = world.work(), world.work()
        early = await handed_in(world, work=second)
        watch = world.chain.watch(early.watched)
        world.produce(2)
        assert [await fact_told(watch) for _ in range(3)][-1] == Accumulated(None)
        await handed_in(world, work=first)
        world.produce(2)
        facts = [await fact_told(watch)]
        while not isinstance(facts[-1], Accumulated):
            facts.append(await fact_told(watch))
        assert facts[-1] == Accumulated(2)
        world.produce(2)
        while not isinstance(facts[-1], Finalised):
            facts.append(await fact_told(watch))
        await watch.aclose()

    told(story)


@needs(Needs.RECORDS)
def test_a_package_that_was_never_reported_fails_also_when_its_anchor_is_forgotten(
    told: Told,
) -> None:
    async def story(world: World) -> None:
        made, other = await handed_in(world), await handed_in(world, core=1)
        world.produce(8, noGuarantee=True)
        for count in (1, 50, 50, 100):
            world.produce(count)
            for one in (made, other):
                (fact,) = await head_facts(world, one)
                assert isinstance(fact, Failed), fact
                assert fact.kind is PackageKind.ANCHOR_NOT_RECENT
        landed = await handed_in(world, work=made.work)
        world.produce(200)
        assert await head_facts(world, landed) == [Accumulated(1)], "its record is there for ever"

    told(story)


@needs(Needs.RECORDS)
def test_a_held_block_is_told_while_the_service_holds_it_whatever_the_chain_forgets(
    told: Told,
) -> None:
    async def story(world: World) -> None:
        first, second = world.work(), world.work()
        early = await handed_in(world, work=second)
        world.produce(2)
        assert (await head_facts(world, early))[-1] == Accumulated(None)
        world.produce(70)
        assert await head_facts(world, early) == [Accumulated(None)], "node and chain forgot it"
        await handed_in(world, work=first)
        world.produce(2)
        assert await head_facts(world, early) == [Accumulated(2)]

    told(story)


@needs(Needs.RECORDS)
def test_a_held_block_whose_parent_did_not_come_is_refused_in_the_end(told: Told) -> None:
    async def story(world: World) -> None:
        first, second = world.work(), world.work()
        early = await handed_in(world, work=second)
        world.produce(2)
        assert (await head_facts(world, early))[-1] == Accumulated(None)
        world.produce(79)
        assert await head_facts(world, early) == [Accumulated(None)]
        world.produce()
        assert await head_facts(world, early) == [ServiceRefused("expired", 2)]
        await handed_in(world, work=first)
        world.produce(2)
        assert await head_facts(world, early) == [ServiceRefused("expired", 2)]

    told(story)


@needs(Needs.RECORDS)
def test_a_node_without_statuses_shows_a_death_when_nothing_can_come_any_more(told: Told) -> None:
    async def story(world: World) -> None:
        await world.chain.head()  # A node that names its chain is asked for statuses again.
        for node in world.adapter._nodes.all:
            node.has_status = False
        made = await handed_in(world)
        assert await head_facts(world, made) == [Reportable(8)]
        world.produce(8, noGuarantee=True)
        assert await head_facts(world, made) == []
        world.produce(TINY.epoch_slots + 5 - 1)
        assert await head_facts(world, made) == []
        world.produce()
        (fact,) = await head_facts(world, made)
        assert isinstance(fact, Failed)
        assert fact.kind is PackageKind.ANCHOR_NOT_RECENT

    told(story)


# What the chain is, and what a package can lean on.


def test_the_parameters_are_the_tiny_chains(told: Told) -> None:
    async def story(world: World) -> None:
        found = await world.chain.parameters()
        assert found.slot_ms == 6_000
        assert found.recent_block_count == found.dependency_count_max == 8
        assert found.core_count == TINY.core_count
        assert found.validator_count == TINY.validator_count
        assert found.epoch_slots == TINY.epoch_slots
        assert found.rotation_slots == TINY.rotation_slots
        assert found.lookup_anchor_slots_max == TINY.lookup_anchor_slots_max
        assert found.availability_timeout_slots == 5
        clock = await world.chain.clock()
        assert (clock.slot, clock.slot_ms, clock.skew_ms) == (3, 6_000, None)

    told(story)


def test_a_context_leans_on_a_recent_anchor_and_a_final_lookup(told: Told) -> None:
    async def story(world: World) -> None:
        blocks = [block_of(world.produce()) for _ in range(6)]
        context = await world.chain.context()
        assert context.anchor == blocks[-2]
        assert context.head.best == blocks[-1]
        assert context.head.finalised == blocks[-3]
        assert context.lookup_anchor == blocks[-4]
        assert context.lookup_state_root is not None
        for root, method, block in (
            (context.state_root, "stateRoot", context.anchor),
            (context.beefy_root, "beefyRoot", context.anchor),
            (context.lookup_state_root, "stateRoot", context.lookup_anchor),
        ):
            assert text(root) == world.say(method, text(block.header_hash))
        assert (await world.chain.context(offset=0)).anchor == blocks[-1]
        assert (await world.chain.context(offset=4)).anchor == blocks[-5]

    told(story)


@pytest.mark.parametrize("offset", [0, 1, 6])
def test_a_package_upon_each_offset_lands(told: Told, offset: int) -> None:
    async def story(world: World) -> None:
        world.produce(6)
        made = await handed_in(world, offset=offset)
        assert packages(world.produce()) == [made.hash]

    told(story)


def test_a_lookup_anchor_never_dies_before_the_anchor(told: Told) -> None:
    """Finality stands still for longer than L - H slots; the anchor takes its place."""

    async def story(world: World) -> None:
        world.say("dev_finality", "freeze")
        world.produce(slot=world.best().slot + 20)
        context = await world.chain.context(offset=0)
        assert context.lookup_anchor == context.anchor == world.best()
        made = await handed_in(world)
        world.produce(7, noGuarantee=True)
        assert packages(world.produce()) == [made.hash]

    told(story)


# Reads.


def test_the_services_state_can_be_read(told: Told) -> None:
    async def story(world: World) -> None:
        at, service = world.best().header_hash, world.service
        assert service in await world.chain.services(at)
        account = await world.chain.service_account(at, service)
        assert account is not None
        assert SERVICE_ACCOUNT.decode(account).code_hash == world.work().items[0].code_hash
        assert await world.chain.service_account(at, 4_242) is None
        assert await world.chain.service_value(at, service, b"nothing") is None
        assert await world.chain.service_preimage(at, service, bytes(32)) is None
        assert await world.chain.service_request(at, service, bytes(32), 1) is None
        assert await world.chain.statistics(at)
        assert await world.chain.state_root(at) == b64decode(world.say("stateRoot", text(at)))
        assert await world.chain.beefy_root(at) == b64decode(world.say("beefyRoot", text(at)))
        assert (await world.chain.sync_state()).is_complete

    told(story)


def test_what_is_unavailable_is_an_error_of_its_own(told: Told) -> None:
    async def story(world: World) -> None:
        unknown = b"\x11" * 32
        with pytest.raises(NodeLacksBlock) as missing:
            await world.chain.state_root(unknown)
        assert missing.value.about == unknown
        with pytest.raises(ChainUnreadable):
            await world.chain.work_report(unknown)

    told(story)


# Handing in.


def test_bytes_that_are_no_package_are_refused_for_good(told: Told) -> None:
    async def story(world: World) -> None:
        made = await world.pack()
        for wrong in (made.package.encoded[:-1], made.package.encoded + b"\x00"):
            broken = Package(encoded=wrong, extrinsics=made.package.extrinsics)
            submission = await world.chain.submit(broken, (0, 1))
            (answer,) = submission.answers
            assert (answer.kind, answer.final) == (PackageKind.MALFORMED, True)
            assert submission.final
            assert answer.words
        assert not world.adapter.unknown_words

    told(story)


def test_extrinsics_that_the_package_does_not_name_are_refused_for_good(told: Told) -> None:
    async def story(world: World) -> None:
        made = await world.pack()
        extra = (*made.package.extrinsics, b"more")
        wrong = Package(encoded=made.package.encoded, extrinsics=extra)
        submission = await world.chain.submit(wrong, (0,))
        assert submission.answers[0].kind is PackageKind.BAD_EXTRINSICS
        assert submission.final

    told(story)


def test_a_core_that_does_not_exist_is_refused_and_the_next_one_tried(told: Told) -> None:
    async def story(world: World) -> None:
        made = await world.pack()
        submission = await world.chain.submit(made.package, (7, 1))
        first, second = submission.answers
        assert first.kind in (PackageKind.WRONG_CORE, PackageKind.NO_GUARANTOR)
        assert May.OTHER_CORE in first.may
        assert (second.core, second.outcome) == (1, Outcome.ACCEPTED)
        world.produce()
        (fact,) = await head_facts(world, made)
        assert isinstance(fact, Reported)
        assert fact.core == 1

    told(story)


@pytest.mark.parametrize("changes", [{"state_root": b"\x01" * 32}, {"beefy_root": b"\x01" * 32}])
def test_a_package_may_be_taken_and_never_land(told: Told, changes: dict[str, Any]) -> None:
    """Guarantors drop without a word what they cannot guarantee: only the chain tells."""

    async def story(world: World) -> None:
        made = await handed_in(world, **changes)
        (refused,) = world.produce()["refused"]
        assert JamPhrases().kind(0, refused["reason"]) is PackageKind.BAD_CONTEXT
        world.produce(7)
        (fact,) = await head_facts(world, made)
        assert isinstance(fact, Failed)

    told(story)


@needs(Needs.BUNDLES)
def test_a_bundle_is_taken(told: Told) -> None:
    async def story(world: World) -> None:
        made = await world.pack()
        package = WORK_PACKAGE.decode(made.package.encoded)
        bundle = WORK_BUNDLE.encode(WorkBundle(package=package, extrinsics=made.work.extrinsics))
        submission = await world.chain.submit(Package(bundle=bundle), (0,))
        assert submission.outcome() is Outcome.ACCEPTED
        assert packages(world.produce()) == [made.hash]
        world.produce()
        segments = await world.chain.package_segments(made.hash, [0])
        assert len(segments) == 1
        (fact, *_) = await head_facts(world, made)
        assert isinstance(fact, Ready)
        report = WORK_REPORT.decode(await world.chain.work_report(fact.report_hash))
        assert isinstance(report.results[0].result, Ok)
        root = report.package_spec.exports_root
        assert await world.chain.segments(root, [0]) == segments

    told(story)


@needs(Needs.PREIMAGES)
def test_a_preimage_that_nobody_asked_for_is_refused(told: Told) -> None:
    async def story(world: World) -> None:
        submission = await world.chain.submit_preimage(world.service, b"unasked")
        assert submission.answers[0].kind is PackageKind.NOT_REQUESTED

    told(story)


# A bad network between the adapter and its node.


def test_a_connection_that_is_cut_after_the_package_left_leaves_it_unknown(told: Told) -> None:
    async def story(world: World) -> None:
        made = await world.pack()
        world.relay.cut_after.add("submitWorkPackage")
        submission = await world.chain.submit(made.package, (0, 1))
        assert submission.outcome() is Outcome.UNKNOWN
        assert [answer.may for answer in submission.answers] == [(May.SAME_BYTES,)]
        world.relay.cut_after.clear()
        await taken(world, made)
        assert packages(world.produce()) == [made.hash], "it had arrived, and is one package"
        produced = world.produce()
        assert packages(produced) == []

    told(story)


def test_an_answer_that_is_lost_leaves_the_package_unknown(told: Told) -> None:
    async def story(world: World) -> None:
        made = await world.pack()
        world.relay.lost.add("submitWorkPackage")
        chain = Jip2Chain([JamPlace(world.relay.url)], submit_ms=1_000)
        submission = await chain.submit(made.package, (0, 1))
        await chain.aclose()
        assert submission.outcome() is Outcome.UNKNOWN
        assert packages(world.produce()) == [made.hash]

    told(story)


def test_a_watch_goes_on_when_its_connection_comes_back(told: Told) -> None:
    async def story(world: World) -> None:
        made = await handed_in(world)
        watch = world.chain.watch(made.watched)
        world.produce()
        assert isinstance(await fact_told(watch), Reported)
        world.relay.cut()
        world.produce()
        assert isinstance(await fact_told(watch), Ready)
        await watch.aclose()
        await until(lambda: world.open_subscriptions() == 0)

    told(story)


def test_notices_as_another_node_writes_them_are_understood(told: Told) -> None:
    """typeberry's own node: `subscriptionId`, a string in hexadecimal."""

    async def story(world: World) -> None:
        def write(said: dict[str, Any]) -> dict[str, Any]:
            if "params" in said:
                params = said["params"]
                said["params"] = {
                    "subscriptionId": params["subscription"],
                    "result": params["result"],
                }
            return said

        world.relay.write = write
        pace = PollPace(poll_ms=60_000, silence_ms=60_000, resubscribe_ms=60_000)
        chain = Jip2Chain([JamPlace(world.relay.url)], pace=pace)
        heads = chain.heads()
        await asyncio.wait_for(anext(heads), 10)
        await until(lambda: world.open_subscriptions() == 2)
        produced = block_of(world.produce())
        assert (await asyncio.wait_for(anext(heads), 10)).best == produced
        await heads.aclose()
        await chain.aclose()

    told(story)


def test_a_node_that_cannot_be_reached_is_an_error_and_comes_back(told: Told) -> None:
    async def story(world: World) -> None:
        nowhere = Jip2Chain([JamPlace("ws://127.0.0.1:9")])
        with pytest.raises(ChainUnreachable):
            await nowhere.head()
        await nowhere.aclose()
        both = Jip2Chain([JamPlace("ws://127.0.0.1:9"), JamPlace(world.relay.url)])
        assert (await both.head()).best == world.best()
        made = await world.pack()
        submission = await both.submit(made.package, (0,))
        assert [answer.outcome for answer in submission.answers][-1] is Outcome.ACCEPTED
        await both.aclose()

    told(story)


@needs(Needs.NODES)
def test_a_walk_that_was_cut_off_does_not_blind_the_lane_when_the_node_forgets_its_blocks(
    told: Told,
) -> None:
    """First the connection is lost in the middle of a walk back, then for longer than the node
    keeps blocks. The parents that were learnt lead to blocks that it does not have any more."""

    async def story(world: World) -> None:
        assert isinstance(world, DevnetWorld)
        known = [world.best()]
        world.produce(40)
        world.relay.cut_at["parent"] = 10
        with pytest.raises(ChainError):
            await world.chain.look(known, [], 64)
        world.relay.cut_at.clear()
        world.produce(BLOCKS_KEPT_MAX)
        made = await handed_in(world)
        best = block_of(world.produce())
        look = await world.chain.look(known, [made.watched], 64)
        assert (look.after, look.gone, look.is_whole) == (None, (), True)
        assert [one.block for one in look.blocks] == [best]
        assert look.head.finalised is not None
        assert kinds([one.fact for one in look.blocks[-1].seen]) == ["Reported"]
        assert [one.trouble for one in world.adapter.standings()] == [""]
        after = block_of(world.produce())
        again = await world.chain.look([best], [made.watched], 64)
        assert (again.after, [one.block for one in again.blocks]) == (best, [after])

    told(story)


# Several nodes.


@needs(Needs.NODES, Needs.FAULTS)
def test_a_node_that_lags_is_not_believed_about_the_head(told: Told) -> None:
    async def story(world: World) -> None:
        assert isinstance(world, DevnetWorld)
        urls = world.devnet.urls
        world.devnet.model.faults.lag_slots = {0: 4}
        chain = Jip2Chain([JamPlace(url) for url in urls])
        heads = chain.heads()
        await asyncio.wait_for(anext(heads), 10)
        made = await handed_in(world)
        best = block_of(world.produce())
        assert (await asyncio.wait_for(anext(heads), 10)).best == best
        look = await chain.look([], [made.watched], 1)
        assert look.head.best == best
        assert kinds([one.fact for one in look.blocks[-1].seen]) == ["Reported"]
        await heads.aclose()
        await chain.aclose()

    told(story)


@needs(Needs.NODES)
def test_the_chain_is_followed_while_nodes_come_and_go(told: Told) -> None:
    async def story(world: World) -> None:
        assert isinstance(world, DevnetWorld)
        chain = Jip2Chain(
            [JamPlace(url) for url in world.devnet.urls],
            pace=PollPace(poll_ms=50, resubscribe_ms=100),
        )
        made = await world.pack()
        watch = chain.watch(made.watched)
        waiting = asyncio.create_task(fact_told(watch))
        await until(lambda: world.open_subscriptions() == 5)
        await world.devnet.stop_node(0)
        submission = await chain.submit(made.package, (0,))
        assert submission.outcome() is Outcome.ACCEPTED
        world.produce()
        assert isinstance(await waiting, Reported)
        await world.devnet.start_node(0)
        await world.devnet.stop_node(1)
        world.produce()
        assert isinstance(await fact_told(watch), Ready)
        await world.devnet.start_node(1)
        await watch.aclose()
        await chain.aclose()
        await until(lambda: world.open_subscriptions() == 0)

    told(story)


@needs(Needs.FAULTS)
def test_a_partition_is_a_refusal_that_another_core_or_node_may_mend(told: Told) -> None:
    async def story(world: World) -> None:
        assert isinstance(world, DevnetWorld)
        made = await world.pack()
        model = world.devnet.model
        model.partition([list(range(6)), []], {0: 1})
        submission = await world.chain.submit(made.package, (0, 1))
        assert [answer.kind for answer in submission.answers] == [PackageKind.NO_GUARANTOR] * 2
        assert (submission.outcome(), submission.final) == (Outcome.REFUSED, False)
        other = Jip2Chain([JamPlace(url) for url in world.devnet.urls])
        assert (await other.submit(made.package, (0, 1))).outcome() is Outcome.ACCEPTED
        await other.aclose()
        model.heal()

    told(story)


@needs(Needs.FAULTS)
def test_a_guarantee_block_that_is_hidden_from_the_builder_is_seen_by_another_node(
    told: Told,
) -> None:
    async def story(world: World) -> None:
        assert isinstance(world, DevnetWorld)
        made = await handed_in(world)
        world.devnet.model.faults.hidden_reports = {0: {made.hash}}
        world.produce()
        assert kinds(await head_facts(world, made)) == ["Reportable"], "it sees no new block"
        both = Jip2Chain([JamPlace(url) for url in reversed(world.devnet.urls)])
        look = await both.look([], [made.watched], 1)
        assert kinds([one.fact for one in look.blocks[-1].seen]) == ["Reported"]
        await both.aclose()

    told(story)


# Subscriptions.


def test_no_subscription_is_left_behind_over_many_packages(told: Told) -> None:
    """A slice of the five thousand of the soak; see `jam_leaks`."""

    async def story(world: World) -> None:
        await jam_leaks.watch_many(world, first=0, count=240)

    told(story)


def test_more_packages_than_a_node_has_room_for_are_all_followed(told: Told) -> None:
    async def story(world: World) -> None:
        made = await handed_in(world)
        world.adapter._nodes.all[0].socket.subscriptions_max = 12
        others = [blake2b(number.to_bytes(2, "little")) for number in range(29)]
        watched = [made.watched, *(jam_leaks.other(made, name) for name in others)]
        watches = [world.chain.watch(one) for one in watched]
        waiting = [asyncio.create_task(fact_told(watch)) for watch in watches]
        await until(lambda: world.open_subscriptions() == 12)
        world.produce()
        facts = await asyncio.gather(*waiting)
        assert isinstance(facts[0], Reported)
        assert facts[1:] == [Reportable(7)] * 29
        assert world.open_subscriptions() == 12
        for watch in watches:
            await watch.aclose()
        await until(lambda: world.open_subscriptions() == 0)

    told(story)


def test_closing_the_adapter_leaves_no_subscription_and_no_connection(told: Told) -> None:
    async def story(world: World) -> None:
        made = await handed_in(world)
        watch = world.chain.watch(made.watched)
        world.produce()
        await fact_told(watch)
        await until(lambda: world.open_subscriptions() == 3)
        await world.chain.aclose()
        await until(lambda: world.say("dev_subscriptions")["connections"] == 0)
        with pytest.raises(ChainError):
            await world.chain.head()
        await watch.aclose()

    told(story)
