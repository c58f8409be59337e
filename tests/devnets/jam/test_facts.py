"""The twelve facts that were found by running a real state transition, on the chain model.

The same are shown on the dev network of npm's @typeberry/lib; where the two differ it is right."""

import pytest
from tests.devnets.jam.stage import (
    ECHO,
    PANIC,
    at_block,
    at_head,
    best,
    chain,
    made,
    packages,
    produce,
    send,
    submit,
    work_package,
)
from tests.jam.components import component_codecs

from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.model.values import (
    PackageFailed,
    PackageReady,
    PackageReportable,
    PackageReported,
    RefusedWork,
    StepReport,
)
from laneway.jam import state_keys
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.header import header_codec
from laneway.jam.package import package_hash
from laneway.jam.report import WORK_REPORT, Ok, WorkError
from laneway.jam.rules.checks import ReportFault
from laneway.jam.spec import TINY
from laneway.jam.state import OUTPUTS, RECENT_HISTORY
from laneway.jam.state_proof import verify_presence

UNKNOWN = b"\x11" * 32


@pytest.fixture
def model() -> JamModel:
    """Three blocks, of which nothing becomes final."""
    return chain(3, is_voting=False)


def refusal(done: StepReport) -> RefusedWork:
    (only,) = done.refused
    return only


# Fact 1.


@pytest.mark.parametrize("waited", [0, 7])
def test_a_package_can_be_reported_in_the_eight_blocks_after_its_anchor(
    model: JamModel, waited: int
) -> None:
    anchor = best(model)
    package = send(model)
    assert model.status(0, best(model), package, anchor) == PackageReportable(8)
    for number in range(waited):
        produce(model, guarantees=False)
        assert model.status(0, best(model), package, anchor) == PackageReportable(7 - number)
    done = produce(model)
    assert packages(done) == [package]
    status = model.status(0, best(model), package, anchor)
    assert isinstance(status, PackageReported)
    assert status.reported_in == done.made


def test_a_package_cannot_be_reported_in_the_ninth_block_after_its_anchor(model: JamModel) -> None:
    anchor = best(model)
    package = send(model)
    produce(model, 8, guarantees=False)
    assert isinstance(model.status(0, best(model), package, anchor), PackageFailed)
    refused = refusal(produce(model))
    assert (refused.check, refused.error) == ("checkRecentBlock", "ErrGAnchorNotRecent")
    assert refused.is_dropped
    assert model.waiting() == ()


# Fact 2.


def test_skipped_slots_do_not_age_an_anchor(model: JamModel) -> None:
    package = send(model)
    assert packages(produce(model, slot=model.slot + 20)) == [package]


def test_a_lookup_anchor_ages_by_slots(model: JamModel) -> None:
    send(model, lookup_anchor=best(model), lookup_anchor_slot=3)
    refused = refusal(produce(model, slot=model.slot + 30))
    assert (refused.check, refused.error) == ("checkTimeSlotHeader", "ErrGReportEpochBeforeLast")
    assert refused.is_dropped


# Fact 3.


def test_a_core_stays_engaged_until_its_report_is_available(model: JamModel) -> None:
    first = send(model, b"1")
    second = send(model, b"2")
    assert packages(produce(model)) == [first]
    done = produce(model)
    assert (done.available, packages(done)) == ((first,), [second])


def test_a_report_without_availability_holds_its_core_for_five_slots(model: JamModel) -> None:
    anchor = best(model)
    first = send(model, b"1")
    second = send(model, b"2")
    assert packages(produce(model, unassured_cores=[0])) == [first]
    for _ in range(4):
        refused = refusal(produce(model, unassured_cores=[0]))
        assert refused.fault is ReportFault.CORE_ENGAGED
        assert not refused.is_dropped
        assert isinstance(model.status(0, best(model), first, anchor), PackageReported)
    done = produce(model, unassured_cores=[0])
    assert (done.timed_out, packages(done)) == ((first,), [second])
    assert model.status(0, best(model), first, anchor) == PackageFailed(
        "the report was not made available in time"
    )


def test_each_core_takes_one_report_a_block(model: JamModel) -> None:
    wanted = [send(model, bytes([0, n]), core=n % 2) for n in range(12)]
    for _ in range(6):
        assert len(packages(produce(model))) == 2
    assert sorted(produce(model).accumulated) == sorted(wanted[-2:])
    assert all(model.is_accumulated(0, best(model), package) for package in wanted)


# Fact 4.


def test_the_same_package_is_reported_once(model: JamModel) -> None:
    sent = work_package(model)
    package = submit(model, sent)
    submit(model, sent)
    assert packages(produce(model)) == [package]
    for _ in range(3):
        submit(model, sent)
        refused = refusal(produce(model))
        assert (refused.fault, refused.is_dropped) == (ReportFault.DUPLICATE_PACKAGE, True)


# Fact 5.


def test_two_versions_of_one_payload_are_both_accumulated(model: JamModel) -> None:
    first = send(model, b"\0payload")
    produce(model)
    second = send(model, b"\0payload")
    assert first != second
    assert produce(model).accumulated == (first,)
    assert produce(model).accumulated == (second,)


# Fact 6.


def test_a_prerequisite_may_stand_in_the_same_block(model: JamModel) -> None:
    first = work_package(model, b"1")
    needed = package_hash(first)
    second = send(model, b"2", needs=[needed])
    refused = refusal(produce(model))
    assert (refused.fault, refused.is_dropped) == (ReportFault.DEPENDENCY_MISSING, False)
    submit(model, first, core=1)
    assert packages(produce(model)) == [second, needed]
    assert sorted(produce(model).accumulated) == sorted([needed, second])


def test_a_prerequisite_behind_others_of_its_core_is_found(model: JamModel) -> None:
    first = work_package(model, b"1")
    needed = package_hash(first)
    second = send(model, b"2", needs=[needed])
    other = send(model, b"3", core=1)
    submit(model, first, core=1)
    assert packages(produce(model)) == [second, needed]
    assert packages(produce(model)) == [other]


@pytest.mark.parametrize(("blocks", "is_reported"), [(7, True), (8, False)])
def test_a_prerequisite_must_have_been_reported_in_the_last_eight_blocks(
    model: JamModel, blocks: int, is_reported: bool
) -> None:
    first = send(model, b"1")
    produce(model, 1 + blocks)
    assert model.is_accumulated(0, best(model), first)
    second = send(model, b"2", needs=[first])
    done = produce(model)
    assert packages(done) == ([second] if is_reported else [])
    assert [one.fault for one in done.refused] == [
        ReportFault.DEPENDENCY_MISSING for _ in range(not is_reported)
    ]


def test_a_package_has_at_most_eight_prerequisites(model: JamModel) -> None:
    send(model, needs=[UNKNOWN] * 8)
    assert refusal(produce(model)).fault is ReportFault.DEPENDENCY_MISSING
    send(model, needs=[UNKNOWN] * 9, core=1)
    refused = produce(model).refused[1]
    assert (refused.fault, refused.is_dropped) == (ReportFault.TOO_MANY_DEPENDENCIES, True)


# Fact 7.


def test_a_package_waits_for_its_prerequisite_and_is_accumulated_with_it(model: JamModel) -> None:
    anchor = best(model)
    first = send(model, b"1", core=0)
    second = send(model, b"2", core=1, needs=[first])
    assert packages(produce(model)) == [first, second]
    done = produce(model, unassured_cores=[0])
    assert (done.available, done.accumulated, done.queued) == ((second,), (), (second,))
    assert isinstance(model.status(0, best(model), second, anchor), PackageReady)
    assert isinstance(model.status(0, best(model), first, anchor), PackageReported)
    done = produce(model)
    assert sorted(done.accumulated) == sorted([first, second])
    assert done.queued == ()


# Fact 8.


def test_a_package_whose_prerequisite_died_vanishes_after_an_epoch(model: JamModel) -> None:
    anchor = best(model)
    first = send(model, b"1", core=0)
    second = send(model, b"2", core=1, needs=[first])
    produce(model)
    for _ in range(12):
        assert produce(model, unassured_cores=[0]).queued == (second,)
    done = produce(model, unassured_cores=[0])
    assert (done.queued, done.accumulated) == ((), ())
    assert isinstance(model.status(0, best(model), first, anchor), PackageFailed)
    assert isinstance(model.status(0, best(model), second, anchor), PackageReady)
    assert not model.is_accumulated(0, best(model), second)


# Fact 9.


def test_a_package_of_another_fork_is_reported_from_the_same_bytes(model: JamModel) -> None:
    common = best(model)
    sent = work_package(model, **at_head(model))
    package = submit(model, sent)
    left = produce(model, 2)
    assert left.accumulated == (package,)
    right = made(model.produce(model.slot + 1, parent=common))
    model.prefer(right.header_hash)
    assert model.best(0) == right
    assert model.status(0, right.header_hash, package, common) == PackageReportable(7)
    assert not model.is_accumulated(0, right.header_hash, package)
    assert model.is_accumulated(0, made(left).header_hash, package)
    assert isinstance(model.status(0, made(left).header_hash, package, common), PackageReady)
    submit(model, sent)
    assert packages(produce(model)) == [package]
    assert produce(model).accumulated == (package,)


def test_a_package_that_is_anchored_on_another_fork_has_failed_and_waits(model: JamModel) -> None:
    common = best(model)
    anchor = made(produce(model)).header_hash
    package = send(model)
    done = model.produce(9, parent=common)
    assert not refusal(done).is_dropped
    assert model.status(0, made(done).header_hash, package, anchor) == PackageFailed(
        "anchor is not among the recent blocks of this fork"
    )
    assert packages(model.produce(10, parent=anchor)) == [package]


# Fact 10.


def test_the_history_of_accumulation_names_packages_and_the_outputs_do_not(
    model: JamModel,
) -> None:
    package = send(model, b"\0said")
    reported = model.state(0, made(produce(model)).header_hash)
    at = made(produce(model)).header_hash
    accumulated = model.state(0, at)
    recent = RECENT_HISTORY.decode(reported[state_keys.RECENT_HISTORY])
    assert [one.hash for one in recent.blocks[-1].reported] == [package]
    assert package not in reported[state_keys.ACCUMULATED]
    assert package in accumulated[state_keys.ACCUMULATED]
    (output,) = OUTPUTS.decode(accumulated[state_keys.OUTPUTS])
    assert output.service_id == ECHO
    assert output.output != package
    proof = model.state_proof(0, at, state_keys.ACCUMULATED)
    assert proof.value is not None
    root = model.state_root(0, at)
    verify_presence(root=root, key=state_keys.ACCUMULATED, value=proof.value, nodes=proof.nodes)


def test_a_state_root_stands_in_the_header_of_the_next_block(model: JamModel) -> None:
    for _ in range(3):
        said = model.state_root(0, best(model))
        header = header_codec(TINY).decode(model.header(0, made(produce(model)).header_hash))
        assert header.parent_state_root == said


# Fact 11.


def test_a_package_whose_refinement_panics_is_accumulated(model: JamModel) -> None:
    package = send(model, PANIC)
    (reported,) = produce(model).reported
    report = WORK_REPORT.decode(model.work_report(0, reported.report_hash))
    assert report.results[0].result is WorkError.PANIC
    assert produce(model).accumulated == (package,)


def test_a_package_whose_refinement_goes_well_is_accumulated(model: JamModel) -> None:
    package = send(model, b"\0fine")
    (reported,) = produce(model).reported
    report = WORK_REPORT.decode(model.work_report(0, reported.report_hash))
    assert report.results[0].result == Ok(b"\0fine")
    assert produce(model).accumulated == (package,)
    assert model.service_value(0, best(model), ECHO, b"last") == b"\0fine"


# Fact 12.


def test_the_head_and_its_parent_are_anchors(model: JamModel) -> None:
    head = best(model)
    recent = RECENT_HISTORY.decode(model.state(0, head)[state_keys.RECENT_HISTORY])
    assert recent.blocks[-1].state_root == ZERO_HASH
    parent = model.parent(0, head).header_hash
    assert model.refine_context(0).anchor == parent
    first = send(model, b"1", core=0)
    second = send(model, b"2", core=1, **at_block(model, parent))
    assert packages(produce(model)) == [first, second]


# All of a state is written as its codecs read it.


def test_every_component_of_a_state_is_its_own_encoding(model: JamModel) -> None:
    for number in range(14):
        send(model, bytes([0, number]), core=number % 2)
        entries = model.state(0, made(produce(model)).header_hash)
        for key, codec in component_codecs(TINY).items():
            assert codec.encode(codec.decode(entries[key])) == entries[key]


def test_an_unknown_anchor_is_dropped_without_a_word(model: JamModel) -> None:
    send(model, anchor=UNKNOWN, state_root=blake2b(b""), beefy_root=blake2b(b""))
    refused = refusal(produce(model))
    assert (refused.fault, refused.is_dropped) == (ReportFault.ANCHOR_NOT_RECENT, True)
