import pytest
from msgspec.structs import replace
from tests.devnets.jam.stage import (
    ECHO,
    Echo,
    at_head,
    best,
    chain,
    packages,
    produce,
    run,
    send,
    submit,
    work_package,
)
from tests.jam.rules.stage import SLOT, STATE, guarantee, report

from laneway.devnets.jam.limits import HELD_PER_CORE_MAX, VERSIONS_KEPT_MAX
from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.model.faults import Faults, JamFault
from laneway.devnets.jam.model.guarantors import (
    GuarantorNodes,
    PackageVerdict,
    Party,
    verify_guarantee,
)
from laneway.devnets.jam.model.keyring import Keyring
from laneway.devnets.jam.model.shards import ShardStore
from laneway.devnets.jam.model.submissions import SubmittedPackage, read_package
from laneway.devnets.jam.model.transition import ChainParts
from laneway.devnets.jam.model.values import RefusalKind, RefusedWork, ServiceSetup, StepReport
from laneway.jam import state_keys
from laneway.jam.ed25519 import verifies
from laneway.jam.extrinsic import ReportGuarantee
from laneway.jam.header import block_codec
from laneway.jam.package import WORK_PACKAGE, ImportSpec, package_hash
from laneway.jam.report import WORK_REPORT, Ok
from laneway.jam.rotation import assignment, guarantors_for
from laneway.jam.rules.checks import CheckContext, ReportFault, guarantee_message
from laneway.jam.spec import TINY
from laneway.jam.state import ENTROPY

BENCH = CheckContext(
    state=STATE,
    slot=SLOT,
    spec=TINY,
    known_packages=frozenset(),
    guarantors={
        3: guarantors_for(STATE.standing, SLOT, SLOT, TINY),
        2: guarantors_for(STATE.standing, SLOT, SLOT - 4, TINY),
    },
    recent={block.header_hash: block for block in STATE.recent},
    packages=frozenset(),
    exports=frozenset(),
)


@pytest.fixture
def model() -> JamModel:
    return chain(4, is_voting=False)


def guarantees(model: JamModel) -> tuple[ReportGuarantee, ...]:
    return block_codec(TINY).decode(model.block(0, best(model))).extrinsic.guarantees


def refusal(done: StepReport) -> RefusedWork:
    (only,) = done.refused
    return only


def team(model: JamModel, core: int) -> list[int]:
    """The validators of the core in the next slot, which is of the same epoch."""
    entropy = model.state_value(0, best(model), state_keys.ENTROPY)
    assert entropy is not None
    cores = assignment(ENTROPY.decode(entropy)[2], model.slot + 1, TINY)
    return [place for place, assigned in enumerate(cores) if assigned == core]


# The honest way.


def test_all_three_who_are_assigned_refine_and_sign() -> None:
    echo = Echo()
    model = chain(4, services={ECHO: ServiceSetup(service=echo)})
    wanted = team(model, 1)
    send(model, b"\0said", core=1)
    run(model)
    (made,) = guarantees(model)
    assert [one.validator_index for one in made.signatures] == wanted
    assert made.slot == model.slot
    keys = model.voters().current_keys
    for one in made.signatures:
        assert verifies(keys[one.validator_index], one.signature, guarantee_message(made.report))
    assert len(echo.refined) == 3


def test_packages_of_a_core_come_in_their_order(model: JamModel) -> None:
    wanted = [send(model, bytes([0, number])) for number in range(4)]
    assert [held for _, held in model.waiting()] == wanted
    assert [packages(run(model)) for _ in wanted] == [[one] for one in wanted]
    assert model.waiting() == ()


def test_a_package_that_waits_at_two_cores_is_reported_by_one(model: JamModel) -> None:
    sent = work_package(model)
    for core in range(2):
        submit(model, sent, core)
    done = run(model)
    assert [(one.package_hash, one.core) for one in done.reported] == [(package_hash(sent), 0)]
    assert refusal(run(model)).fault is ReportFault.DUPLICATE_PACKAGE
    assert model.waiting() == ()


def test_the_same_package_twice_is_one_package(model: JamModel) -> None:
    sent = work_package(model)
    for _ in range(2):
        submit(model, sent)
    assert model.waiting() == ((0, package_hash(sent)),)


def test_packages_wait_while_their_core_is_engaged(model: JamModel) -> None:
    for payload in (b"1", b"2", b"3"):
        send(model, payload)
    run(model)
    model.faults.unavailable_cores = {0}
    # Only the first that waits is looked at.
    assert refusal(run(model)).fault is ReportFault.CORE_ENGAGED
    assert len(model.waiting()) == 2


def test_guarantors_hold_only_so_many_packages_of_a_core(model: JamModel) -> None:
    for number in range(HELD_PER_CORE_MAX):
        send(model, bytes([0, number]))
    last = WORK_PACKAGE.encode(work_package(model, b"\0last"))
    refused = model.submit(0, 0, last)
    assert refused is not None
    assert refused.kind is RefusalKind.CORE_QUEUE_FULL
    assert model.submit(0, 1, last) is None
    run(model)
    assert model.submit(0, 0, last) is None


def test_a_report_names_the_roots_of_segments_that_are_imported_by_package(
    model: JamModel,
) -> None:
    exporter = send(model, b"\x02x", exports=2)
    run(model)
    (root,) = [one.report.package_spec.exports_root for one in guarantees(model)]
    importing = work_package(
        model, b"\0", imports=[ImportSpec(exporter, 1, by_package=True)], **at_head(model)
    )
    submit(model, importing)
    done = run(model)
    (work,) = done.reported
    report = WORK_REPORT.decode(model.work_report(0, work.report_hash))
    assert [one.segment_tree_root for one in report.segment_root_lookup] == [root]
    assert report.results[0].result == Ok(b"\0\x01xxx")


def test_an_import_waits_for_its_exporter_to_be_reported_on_the_same_fork(
    model: JamModel,
) -> None:
    common = best(model)
    exporting = work_package(model, b"\x01x", exports=1)
    exporter = submit(model, exporting)
    run(model)
    fork = model.produce(model.slot + 1, parent=common).made
    assert fork is not None
    model.prefer(fork.header_hash)
    imported = [ImportSpec(exporter, 0, by_package=True)]
    importer = submit(model, work_package(model, imports=imported))
    refused = refusal(run(model))
    assert refused.fault is ReportFault.SEGMENT_ROOT_LOOKUP_INVALID
    assert not refused.is_dropped
    submit(model, exporting, core=1)
    assert packages(run(model)) == [importer, exporter]


# What a block takes together.


def test_a_package_is_taken_with_those_that_it_waits_for(model: JamModel) -> None:
    second = work_package(model, b"2")
    first = send(model, b"1", needs=[package_hash(second)])
    assert refusal(run(model)).fault is ReportFault.DEPENDENCY_MISSING
    submit(model, second, core=1)
    assert packages(run(model)) == [first, package_hash(second)]


def test_a_prerequisite_may_have_been_chosen_before(model: JamModel) -> None:
    first = send(model, b"1", core=0)
    second = send(model, b"2", core=1, needs=[first])
    assert packages(run(model)) == [first, second]


def test_a_prerequisite_of_the_same_core_comes_one_block_earlier(model: JamModel) -> None:
    first = work_package(model, b"1")
    second = send(model, b"2", needs=[package_hash(first)])
    submit(model, first)
    done = run(model)
    assert packages(done) == [package_hash(first)]
    assert refusal(done).package_hash == second
    assert packages(run(model)) == [second]


def test_a_prerequisite_that_is_itself_invalid_holds_a_package_up(model: JamModel) -> None:
    bad = work_package(model, b"1", state_root=bytes(32))
    second = send(model, b"2", core=0, needs=[package_hash(bad)])
    submit(model, bad, core=1)
    done = run(model)
    assert [(one.package_hash, one.fault) for one in done.refused] == [
        (second, ReportFault.DEPENDENCY_MISSING),
        (package_hash(bad), ReportFault.BAD_STATE_ROOT),
    ]
    assert [one.is_dropped for one in done.refused] == [False, True]


def test_a_prerequisite_that_nobody_guarantees_holds_a_package_up(model: JamModel) -> None:
    first = work_package(model, b"1")
    second = send(model, b"2", core=0, needs=[package_hash(first)])
    submit(model, first, core=1)
    model.faults.silent_guarantors = set(team(model, 1))
    assert refusal(run(model)).package_hash == second


# Faults.


def test_withheld_guarantees_come_when_the_switch_is_off(model: JamModel) -> None:
    package = send(model)
    model.faults.withheld_cores = {0}
    assert packages(run(model)) == []
    assert model.faults.bites[JamFault.WITHHELD] == 1
    model.faults.withheld_cores = set()
    assert packages(run(model)) == [package]


def test_two_of_three_signatures_are_enough_and_one_is_not(model: JamModel) -> None:
    silent = team(model, 0)
    model.faults.silent_guarantors = {silent[0]}
    package = send(model, b"1")
    assert packages(run(model)) == [package]
    assert len(guarantees(model)[0].signatures) == 2
    model.faults.silent_guarantors = set(range(6)) - {team(model, 0)[1]}
    later = send(model, b"2")
    refused = refusal(run(model))
    assert (refused.package_hash, refused.fault) == (later, ReportFault.INSUFFICIENT_GUARANTEES)
    assert not refused.is_dropped
    model.faults.silent_guarantors = set(range(6))
    assert run(model).refused == ()
    assert model.faults.bites[JamFault.SILENT_GUARANTOR] == 1 + 2 + 3


def test_guarantors_of_another_core_are_refused_by_the_first_of_the_three_checks(
    model: JamModel,
) -> None:
    package = send(model)
    model.faults.mismatched_cores = {0}
    refused = refusal(run(model))
    assert (refused.check, refused.error) == ("checkAssignment", "wrong_assignment")
    assert model.faults.bites[JamFault.MISMATCH] == 1
    assert not refused.is_dropped
    model.faults.mismatched_cores = set()
    assert packages(run(model)) == [package]


def test_a_late_guarantee_keeps_the_slot_in_which_it_was_signed(model: JamModel) -> None:
    package = send(model)
    model.faults.late_slots = 2
    signed = model.slot + 1
    assert [packages(run(model)) for _ in range(3)] == [[], [], [package]]
    assert guarantees(model)[0].slot == signed
    assert model.faults.bites[JamFault.LATE] == 1


def test_a_guarantee_that_comes_too_late_is_refused_and_signed_again(model: JamModel) -> None:
    package = send(model)
    model.faults.late_slots = 8
    produce(model, 1)
    produce(model, 7, guarantees=False)
    # The anchor is too old as well, but the guarantee's own age is looked at first.
    refused = refusal(produce(model))
    assert (refused.check, refused.error) == ("checkAssignment", "ErrGReportEpochBeforeLast")
    assert (refused.package_hash, refused.is_dropped) == (package, False)
    model.faults.late_slots = 0
    assert refusal(produce(model)).error == "ErrGAnchorNotRecent"


def test_guarantees_that_were_late_come_at_once_when_the_switch_is_off(model: JamModel) -> None:
    package = send(model)
    model.faults.late_slots = 5
    assert packages(run(model)) == []
    model.faults.late_slots = 0
    assert packages(run(model)) == [package]
    assert guarantees(model)[0].slot == model.slot


def test_a_wrong_result_is_not_signed_by_the_others(model: JamModel) -> None:
    wrong = team(model, 0)[0]
    model.faults.wrong_refiners = {wrong}
    send(model, b"\0said")
    run(model)
    (made,) = guarantees(model)
    assert wrong not in [one.validator_index for one in made.signatures]
    assert made.report.results[0].result == Ok(b"\0said")
    assert model.faults.bites[JamFault.WRONG_REFINE] == 1


def test_two_who_find_something_wrong_leave_a_package_without_a_guarantee(
    model: JamModel,
) -> None:
    model.faults.wrong_refiners = set(team(model, 0)[:2])
    package = send(model, b"panic")
    assert refusal(run(model)).fault is ReportFault.INSUFFICIENT_GUARANTEES
    model.faults.wrong_refiners = set()
    assert packages(run(model)) == [package]


def test_a_censored_package_is_taken_and_never_reported(model: JamModel) -> None:
    package = send(model, b"1")
    other = send(model, b"2")
    model.faults.censored = {package}
    assert packages(run(model)) == [other]
    assert model.faults.bites[JamFault.CENSORED] == 1
    assert package in [held for _, held in model.waiting()]


def test_packages_are_dropped_when_the_rotation_ends(model: JamModel) -> None:
    model.faults.drops_at_rotation = True
    model.faults.withheld_cores = {0}
    send(model)
    while (model.slot + 1) % TINY.rotation_slots:
        run(model)
        assert len(model.waiting()) == 1
    run(model)
    assert model.waiting() == ()
    assert model.faults.bites[JamFault.DROPPED_AT_ROTATION] == 1


def test_both_versions_are_guaranteed_once_there_are_two(model: JamModel) -> None:
    model.faults.pairs_versions = True
    first = send(model, b"\0said")
    assert packages(run(model)) == []
    assert model.faults.bites[JamFault.BOTH_VERSIONS] == 1
    second = send(model, b"\0said", core=1)
    assert packages(run(model)) == [first, second]
    assert sorted(run(model).accumulated) == sorted([first, second])


def test_a_version_that_stays_alone_is_guaranteed_in_its_last_block(model: JamModel) -> None:
    model.faults.pairs_versions = True
    package = send(model, b"\0said")
    assert [packages(run(model)) for _ in range(8)] == [[]] * 7 + [[package]]


def test_versions_are_not_remembered_for_ever() -> None:
    faults, shards = Faults(), ShardStore(TINY, codes=False)
    faults.pairs_versions = True
    world = ChainParts(TINY, Keyring(TINY, 0, signs=False), {}, False)
    guarantors = GuarantorNodes(world, shards, faults)
    model = chain(1)
    read = read_package(0, WORK_PACKAGE.encode(work_package(model)), (), TINY, shards)
    assert isinstance(read, SubmittedPackage)
    party = Party(lambda _: True, lambda _: 8, lambda _: False)
    guarantors.take(read, (0,), 0)
    guarantors.take(replace(read, package_hash=bytes(32)), (0,), 0)
    assert len(guarantors.open(party, 0)) == 2
    for number in range(VERSIONS_KEPT_MAX):
        guarantors.take(replace(read, items_hash=number.to_bytes(32, "little")), (0,), 0)
    assert guarantors.open(party, 0) == []


def test_guarantors_may_keep_what_they_reported_and_report_it_after_a_reorg(
    model: JamModel,
) -> None:
    model.faults.keeps_reported = True
    package = send(model)
    assert packages(run(model)) == [package]
    assert run(model).refused == ()
    model.faults.reorg_depth = 2
    assert packages(run(model)) == [package]
    assert model.waiting() == ((0, package),)
    while not (done := run(model)).refused:
        pass
    assert refusal(done).fault is ReportFault.ANCHOR_NOT_RECENT
    assert model.waiting() == ()


def test_guarantors_on_another_side_than_the_author_are_not_heard(model: JamModel) -> None:
    author = run(chain(4, is_voting=False)).author
    assert author is not None
    holders = [one for one in team(model, 0) if one != author]
    send(model)
    model.partition([[], holders])
    assert packages(run(model)) == []
    assert model.faults.bites[JamFault.PARTITION] > 0
    assert len(model.waiting()) == 1


def test_guarantors_on_the_author_s_side_report_what_they_hold(model: JamModel) -> None:
    author = run(chain(4, is_voting=False)).author
    assert author is not None
    package = send(model)
    model.partition([[], [author, *team(model, 0)]])
    assert packages(run(model)) == [package]
    model.heal()
    assert packages(model.made(0, best(model))) == [package]


def with_context(**fields: object) -> ReportGuarantee:
    made = report()
    return guarantee(replace(made, context=replace(made.context, **fields)))


def test_a_guarantee_that_keeps_every_rule_is_not_refused() -> None:
    assert verify_guarantee(BENCH, guarantee(report())) is None


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        (
            replace(guarantee(report()), slot=SLOT - 7),
            PackageVerdict(
                ReportFault.REPORT_EPOCH_BEFORE_LAST, "checkAssignment", "ErrGReportEpochBeforeLast"
            ),
        ),
        (
            with_context(anchor=bytes(32)),
            PackageVerdict(
                ReportFault.ANCHOR_NOT_RECENT, "checkRecentBlock", "ErrGAnchorNotRecent"
            ),
        ),
        (
            with_context(lookup_anchor_slot=SLOT + 1),
            PackageVerdict(
                ReportFault.LOOKUP_ANCHOR_NOT_RECENT,
                "checkTimeSlotHeader",
                "ErrGReportEpochBeforeLast",
            ),
        ),
        (
            replace(guarantee(report()), signatures=()),
            PackageVerdict(
                ReportFault.INSUFFICIENT_GUARANTEES, "check_credential", "insufficient_guarantees"
            ),
        ),
    ],
)
def test_the_checks_of_age_have_the_names_that_builders_know(
    made: ReportGuarantee, verdict: PackageVerdict
) -> None:
    assert verify_guarantee(BENCH, made) == verdict
