from typing import Any

import pytest
from msgspec.structs import replace
from tests.devnets.jam.stage import (
    ECHO,
    Echo,
    at_block,
    at_head,
    best,
    chain,
    made,
    packages,
    produce,
    run,
    send,
    setup,
    submit,
    work_package,
)

from laneway.devnets.jam.limits import BLOCKS_KEPT_MAX, PREIMAGES_WAITING_MAX, TEAMS_KEPT_MAX
from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.model.faults import JamFault
from laneway.devnets.jam.model.tree import TOO_OLD
from laneway.devnets.jam.model.values import (
    BlockUnavailable,
    Impossible,
    PackageReady,
    PackageReportable,
    PackageReported,
    RefusalKind,
    ReportUnavailable,
    ServiceSetup,
    StepReport,
    SubmissionRefusal,
)
from laneway.jam.bundle import WORK_BUNDLE, WorkBundle
from laneway.jam.hashing import blake2b
from laneway.jam.header import header_codec
from laneway.jam.package import WORK_PACKAGE, package_hash
from laneway.jam.rules.checks import ReportFault
from laneway.jam.spec import FULL, TINY
from laneway.jam.state import SERVICE_ACCOUNT
from laneway.jam.votes import verify_justification

UNKNOWN = b"\x11" * 32


def kind(refused: SubmissionRefusal | None) -> RefusalKind | None:
    return None if refused is None else refused.kind


# Steps.


def test_a_package_goes_all_the_way_to_finality() -> None:
    model = chain(5)
    anchor, package = best(model), send(model, b"\0said")
    assert model.status(0, best(model), package, anchor) == PackageReportable(8)
    assert packages(run(model)) == [package]
    assert isinstance(model.status(0, best(model), package, anchor), PackageReported)
    done = run(model)
    assert done.available == done.accumulated == (package,)
    at = made(done)
    assert isinstance(model.status(0, at.header_hash, package, anchor), PackageReady)
    assert model.service_value(0, at.header_hash, ECHO, b"last") == b"\0said"
    raw = model.service_data(0, at.header_hash, ECHO)
    assert raw is not None
    assert SERVICE_ACCOUNT.decode(raw).last_accumulation_slot == at.slot
    run(model, 2)
    assert model.finalized(0) == at
    header = header_codec(TINY).decode(model.header(0, at.header_hash))
    votes, sets = model.justification(0, at.header_hash), model.voters()
    assert votes is not None
    target = verify_justification(
        votes, header, set_id=sets.set_id, keys=sets.current_keys, spec=TINY
    )
    assert target.state_root == model.state_root(0, at.header_hash)


def test_the_same_calls_give_the_same_bytes() -> None:
    def story() -> tuple[list[StepReport], bytes]:
        model = chain(3, nodes=2)
        model.faults.wrong_refiners = {1}
        told = []
        for number in range(9):
            send(model, bytes([0, number]), core=number % 2)
            model.faults.reorg_depth = 2 if number == 6 else 0
            told.append(run(model, 1 + number % 3))
        return told, model.block(0, best(model))

    assert story() == story()


def test_a_seed_gives_another_chain() -> None:
    authors = {
        tuple(run(chain(slot, seed=seed)).author for slot in range(6)) for seed in (b"1", b"2")
    }
    assert len(authors) == 2


def test_slots_may_be_left_out_and_never_come_again() -> None:
    model = chain(3)
    done = model.step(20)
    assert (done.slot, done.number) == (20, 4)
    for slot in (20, 3):
        with pytest.raises(Impossible, match="not after 20"):
            model.step(slot)


def test_a_slot_without_a_block() -> None:
    model = chain(3)
    before = best(model)
    model.faults.skipped_slots = {4}
    assert run(model) == StepReport(slot=4, finalised=())
    assert best(model) == before
    assert run(model).number == 4
    assert model.faults.bites[JamFault.SKIPPED] == 1


def test_a_silent_author_makes_no_block() -> None:
    model = chain(3)
    author = run(chain(3)).author
    assert author is not None
    model.faults.silent_authors = {author}
    assert run(model).made is None
    assert model.faults.bites[JamFault.SILENT_AUTHOR] == 1


def test_authors_are_drawn_from_all_validators() -> None:
    model = JamModel(setup(is_voting=False))
    assert {run(model).author for _ in range(60)} == set(range(6))


# Blocks that are asked for.


def test_a_block_is_made_where_it_is_wanted() -> None:
    model = chain(3, is_voting=False)
    common = best(model)
    left = made(produce(model))
    right = made(model.produce(9, parent=common))
    assert model.best(0) == left
    assert model.slot == 9
    longer = made(model.produce(10, parent=right.header_hash))
    assert model.best(0) == longer
    assert made(model.produce(4, parent=common)) == left


def test_another_variant_is_another_block() -> None:
    model = chain(3, is_voting=False)
    common = best(model)
    first, same, other = (
        made(model.produce(4, parent=common, variant=number)) for number in (0, 0, 1)
    )
    assert first == same != other


def test_a_block_that_cannot_be_is_not_made() -> None:
    model = chain(5)
    final = model.finalized(0).header_hash
    for slot, parent, says in (
        (9, UNKNOWN, "not known"),
        (5, best(model), "not after 5"),
        (9, model.genesis, "not upon the final block"),
    ):
        with pytest.raises(Impossible, match=says):
            model.produce(slot, parent=parent)
    assert model.produce(9, parent=final).number == 4


def test_an_author_builds_on_no_block_that_its_side_has_not_seen() -> None:
    model = chain(3, is_voting=False)
    model.partition([[0, 1, 2], [3, 4, 5]])
    tips: dict[int, bytes] = {}
    for _ in range(12):
        done = run(model)
        if done.made is not None and done.author is not None:
            tips[done.author // 3] = done.made.header_hash
    assert len(tips) == 2
    first = model.slot + 1
    is_refused = [_is_impossible(model, slot, tips[0]) for slot in range(first, first + 12)]
    assert set(is_refused) == {True, False}


def _is_impossible(model: JamModel, slot: int, parent: bytes) -> bool:
    try:
        model.produce(slot, parent=parent)
    except Impossible:
        return True
    return False


def test_a_preferred_fork_is_built_on() -> None:
    model = chain(6, is_voting=False)
    fork = made(model.produce(9, parent=model.genesis)).header_hash
    model.prefer(fork)
    assert run(model).number == 2
    model.prefer(None)
    assert run(model).number == 7
    with pytest.raises(Impossible, match="not known"):
        model.prefer(UNKNOWN)


# Forks.


@pytest.mark.parametrize("depth", [1, 3])
def test_a_reorg_takes_blocks_back_and_what_they_reported(depth: int) -> None:
    model = chain(5, is_voting=False)
    sent = work_package(model, **at_head(model))
    package = submit(model, sent)
    run(model, depth)
    before = best(model)
    model.faults.reorg_depth = depth
    done = run(model)
    assert done.number == 5 + depth + 1
    assert not model.is_accumulated(0, best(model), package)
    assert model.status(0, best(model), package, sent.context.anchor) == PackageReportable(
        8 - depth - 1
    )
    assert model.has_seen(0, before)
    assert model.number(0, before) == 5 + depth
    assert model.faults.bites[JamFault.REORG] == 1
    assert model.faults.reorg_depth == 0
    submit(model, sent)
    assert packages(run(model)) == [package]


def test_a_reorg_stops_at_the_final_block() -> None:
    model = chain(6)
    final = model.finalized(0)
    model.faults.reorg_depth = 5
    run(model)
    assert model.number(0, best(model)) == 7
    assert model.finalized(0).slot == final.slot + 1
    assert model.faults.bites[JamFault.REORG] == 1


def test_a_reorg_waits_where_everything_is_final() -> None:
    model = chain(6, finality_lag_blocks=0)
    model.faults.reorg_depth = 1
    run(model)
    assert model.faults.bites[JamFault.REORG] == 0
    assert model.faults.reorg_depth == 1


def test_one_reorg_may_follow_another() -> None:
    model = chain(5, is_voting=False)
    heads = {best(model)}
    for _ in range(4):
        model.faults.reorg_depth = 2
        heads.add(made(run(model)).header_hash)
    assert len(heads) == 5
    assert model.number(0, best(model)) == 9


def test_the_sides_of_a_partition_grow_apart_and_the_longer_one_wins() -> None:
    model = chain(3, nodes=2, is_voting=False)
    model.partition([[0, 1], [2, 3, 4, 5]], {1: 1})
    for _ in range(20):
        run(model)
    shorter, longer = sorted(
        (model.best(0), model.best(1)), key=lambda one: number(model, one.header_hash)
    )
    assert shorter != longer
    model.heal()
    assert model.best(0) == model.best(1) == longer
    assert model.status(0, shorter.header_hash, UNKNOWN, model.genesis) == TOO_OLD


def number(model: JamModel, block: bytes) -> int:
    return next(model.number(node, block) for node in range(2) if model.has_seen(node, block))


def test_two_sides_may_each_have_an_author_in_one_slot() -> None:
    """Their forks draw other entropy, and after two epochs others have their turn."""
    model = chain(3, is_voting=False)
    model.partition([[0, 1, 2], [3, 4, 5]])
    rivals = 0
    for _ in range(60):
        done = run(model)
        rivals += len(done.rivals)
        for rival in done.rivals:
            assert rival.slot == done.slot
            assert rival.made != done.made
    assert rivals > 0


def test_finality_goes_on_with_enough_validators_and_nothing_final_is_lost() -> None:
    model = chain(6, nodes=2)
    model.partition([[0], [1, 2, 3, 4, 5]], {1: 1})
    run(model, 30)
    final = model.finalized(1)
    assert model.finalized(0).slot < final.slot
    model.heal()
    assert model.finalized(0).slot >= final.slot
    done = run(model, 3)
    assert done.made is not None
    age = model.number(0, best(model)) - model.number(0, final.header_hash)
    assert model.status(0, best(model), UNKNOWN, final.header_hash) == PackageReportable(8 - age)


# Submissions.


def test_bytes_are_refused_at_once_and_packages_later() -> None:
    model = chain(3, is_voting=False)
    raw = WORK_PACKAGE.encode(work_package(model))
    assert kind(model.submit(0, 0, raw[:-1])) is RefusalKind.MALFORMED
    assert kind(model.submit(0, 2, raw)) is RefusalKind.BAD_CORE
    assert kind(model.submit_bundle(0, 0, raw[:-1])) is RefusalKind.MALFORMED
    assert model.waiting() == ()
    assert model.submit(0, 0, raw) is None
    assert model.waiting() == ((0, blake2b(raw)),)


def test_a_bundle_is_taken_like_its_package() -> None:
    model = chain(3)
    bundle = WorkBundle(package=work_package(model))
    assert model.submit_bundle(0, 1, WORK_BUNDLE.encode(bundle)) is None
    done = run(model)
    assert [(one.package_hash, one.core) for one in done.reported] == [
        (package_hash(bundle.package), 1)
    ]


def test_a_node_that_is_cut_off_reaches_no_guarantor() -> None:
    model = chain(3, nodes=2)
    model.partition([list(range(6)), []], {1: 1})
    raw = WORK_PACKAGE.encode(work_package(model))
    assert kind(model.submit(1, 0, raw)) is RefusalKind.UNREACHABLE
    assert model.faults.bites[JamFault.PARTITION] > 0
    assert model.submit(0, 0, raw) is None


def test_a_node_with_a_wrong_clock_submits_to_others_who_do_nothing() -> None:
    model = chain(4)
    lost = 0
    for skew in range(0, 12, 4):
        model.faults.skew_slots = {0: skew}
        before = model.waiting()
        raw = WORK_PACKAGE.encode(work_package(model, bytes([0, skew])))
        assert model.submit(0, 0, raw) is None
        lost += model.waiting() == before
    assert lost == model.faults.bites[JamFault.SKEW] > 0
    assert len(model.waiting()) == 3 - lost


def test_the_guarantors_of_a_slot_are_found_once_for_many_packages() -> None:
    model = chain(3)
    for _ in range(TEAMS_KEPT_MAX + 2):
        send(model, bytes([0, model.slot]))
        run(model)
    assert model.made(0, best(model)).reported


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"state_root": UNKNOWN}, ReportFault.BAD_STATE_ROOT),
        ({"beefy_root": UNKNOWN}, ReportFault.BAD_BEEFY_MMR_ROOT),
        ({"lookup_anchor": UNKNOWN}, ReportFault.LOOKUP_ANCHOR_NOT_RECENT),
        ({"lookup_anchor_slot": 1}, ReportFault.LOOKUP_ANCHOR_NOT_RECENT),
        ({"anchor": UNKNOWN}, ReportFault.ANCHOR_NOT_RECENT),
    ],
)
def test_a_package_with_a_wrong_context_is_taken_and_dropped(
    changes: dict[str, Any], fault: ReportFault
) -> None:
    model = chain(3)
    send(model, **changes)
    send(model, b"\0again", **changes)
    done = run(model)
    assert [(one.fault, one.is_dropped) for one in done.refused] == [(fault, True)] * 2
    assert model.waiting() == ()


@pytest.mark.parametrize(
    ("changes", "fault", "is_dropped"),
    [
        ({"service": 99}, ReportFault.BAD_SERVICE_ID, True),
        ({"code_hash": UNKNOWN}, ReportFault.BAD_CODE_HASH, True),
        ({"accumulate_gas_limit": 1}, ReportFault.SERVICE_ITEM_GAS_TOO_LOW, True),
        ({"authorizer_config": b"other"}, ReportFault.CORE_UNAUTHORIZED, False),
    ],
)
def test_a_package_for_nobody_is_taken_and_not_reported(
    changes: dict[str, Any], fault: ReportFault, is_dropped: bool
) -> None:
    model = chain(3)
    sent = work_package(model)
    if "authorizer_config" in changes:
        sent = replace(sent, **changes)
    else:
        sent = replace(sent, items=(replace(sent.items[0], **changes),))
    submit(model, sent)
    (refused,) = run(model).refused
    assert (refused.fault, refused.is_dropped) == (fault, is_dropped)


def test_an_anchor_on_a_dead_fork_is_given_up_when_no_lookup_would_reach_it() -> None:
    model = chain(3, is_voting=False)
    common = best(model)
    produce(model)
    dead = made(model.produce(5, parent=common)).header_hash
    run(model, 2)
    send(model, **at_block(model, dead))
    model.faults.pairs_versions = True
    for _ in range(30):
        done = run(model)
        if done.refused and done.refused[0].is_dropped:
            break
    assert model.slot == 5 + TINY.lookup_anchor_slots_max + 1
    assert model.waiting() == ()


def test_guarantors_know_how_long_an_anchor_lives() -> None:
    model = chain(3, is_voting=False)
    model.faults.pairs_versions = True
    alive = send(model, b"\0alive")
    unknown = send(model, b"\0unknown", core=1, anchor=UNKNOWN)
    done = run(model)
    assert packages(done) == []
    assert [one.package_hash for one in done.refused] == [unknown]
    assert [packages(run(model)) for _ in range(7)][-1] == [alive]


# Preimages.


def test_a_preimage_that_was_asked_for_comes_with_the_next_block() -> None:
    wanted = b"a preimage"
    requests = ((blake2b(wanted), len(wanted)),)
    model = chain(3, services={ECHO: ServiceSetup(service=Echo(), requests=requests)})
    assert kind(model.submit_preimage(0, ECHO, b"another")) is RefusalKind.NOT_REQUESTED
    assert kind(model.submit_preimage(0, 99, wanted)) is RefusalKind.NOT_REQUESTED
    assert model.submit_preimage(0, ECHO, wanted) is None
    run(model)
    assert model.service_preimage(0, best(model), ECHO, blake2b(wanted)) == wanted
    assert model.service_request(0, best(model), ECHO, *requests[0]) == (4,)
    assert kind(model.submit_preimage(0, ECHO, wanted)) is RefusalKind.NOT_REQUESTED
    model.faults.reorg_depth = 1
    run(model, 3)
    assert model.service_request(0, best(model), ECHO, *requests[0]) == (4,)


def test_only_so_many_preimages_wait() -> None:
    blobs = [b"%d" % count for count in range(PREIMAGES_WAITING_MAX + 1)]
    requests = tuple((blake2b(blob), len(blob)) for blob in blobs)
    model = chain(1, services={ECHO: ServiceSetup(service=Echo(), requests=requests)})
    for blob in blobs[:-1]:
        assert model.submit_preimage(0, ECHO, blob) is None
    assert kind(model.submit_preimage(0, ECHO, blobs[-1])) is RefusalKind.CORE_QUEUE_FULL
    run(model, 4)
    assert model.submit_preimage(0, ECHO, blobs[-1]) is None


# What is forgotten.


def test_blocks_far_behind_the_final_one_are_forgotten_with_their_reports() -> None:
    model = chain(3, signs=False, codes_shards=False)
    package = send(model)
    (work,) = run(model).reported
    old = best(model)
    run(model, BLOCKS_KEPT_MAX)
    assert packages(model.made(0, old)) == [package]
    assert model.work_report(0, work.report_hash)
    run(model, 3)
    with pytest.raises(BlockUnavailable):
        model.made(0, old)
    with pytest.raises(ReportUnavailable):
        model.work_report(0, work.report_hash)
    assert send(model)
    assert packages(run(model))


def test_a_report_stays_while_one_of_its_blocks_does() -> None:
    model = chain(3, signs=False, codes_shards=False, is_voting=False)
    sent = work_package(model)
    submit(model, sent)
    (work,) = run(model).reported
    model.faults.reorg_depth = 1
    submit(model, sent)
    assert run(model).reported == (work,)
    model.vote()
    model.setup = replace(model.setup, is_voting=True)
    run(model, BLOCKS_KEPT_MAX + 2)
    assert model.work_report(0, work.report_hash)
    run(model)
    with pytest.raises(ReportUnavailable):
        model.work_report(0, work.report_hash)


def test_nothing_is_forgotten_that_a_slow_node_may_ask_for() -> None:
    model = chain(3, signs=False, codes_shards=False, nodes=2)
    old = best(model)
    model.faults.lag_slots = {1: 500}
    run(model, 3 * BLOCKS_KEPT_MAX)
    assert model.best(1).slot == 3
    assert model.number(0, old) == 3
    model.faults.lag_slots = {}
    assert model.best(1) == model.best(0)
    run(model)
    assert not model.has_seen(1, old)


# Sizes.


@pytest.mark.slow
def test_a_full_chain_keeps_all_its_cores_busy() -> None:
    model = chain(1, spec=FULL, signs=False, codes_shards=False)
    for _ in range(4):
        for core in range(FULL.core_count):
            send(model, bytes([0, core & 255, core >> 8]), core=core)
        done = run(model)
        assert len(done.reported) == FULL.core_count
    assert len(done.accumulated) == FULL.core_count


@pytest.mark.slow
@pytest.mark.parametrize("signs", [True, False])
def test_a_full_chain_carries_a_coded_package_to_finality(signs: bool) -> None:
    model = chain(2, spec=FULL, signs=signs)
    package = send(model, b"\x01x", core=340, exports=1)
    (work,) = run(model).reported
    assert run(model).accumulated == (package,)
    at = best(model)
    run(model, 2)
    assert model.finalized(0).header_hash == at
    assert work.core == 340
