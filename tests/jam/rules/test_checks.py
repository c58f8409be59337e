"""Every rule of a guarantee, broken alone: the check that keeps it names it, and no other does."""

from collections.abc import Callable
from typing import NamedTuple

import pytest
from msgspec.structs import replace
from tests.jam.rules.stage import (
    ACTIVE,
    ANCHORS,
    CODE,
    CONTEXT,
    OLD_PACKAGE,
    RESULT,
    SERVICE,
    SLOT,
    STANDING,
    STATE,
    exports,
    guarantee,
    package,
    report,
)

from laneway.jam.extrinsic import ReportGuarantee, ValidatorSignature
from laneway.jam.report import Ok, SegmentRootLookupItem, WorkError
from laneway.jam.rotation import guarantee_slots, guarantors_for
from laneway.jam.rules.assuring import PendingReport
from laneway.jam.rules.checks import (
    CHECKS,
    Check,
    CheckContext,
    ReportFault,
    ReportingState,
    ServiceTerms,
    check_assignment,
    check_core,
    check_credential,
    check_package,
    check_place,
    check_recent_block,
    check_services,
    check_shape,
    check_signatures,
    check_time_slot_header,
)
from laneway.jam.spec import TINY

AMONG_GUARANTEES = {ReportFault.OUT_OF_ORDER_GUARANTEE}
"""No guarantee breaks these alone."""

GOOD = guarantee(report())
ALL = (*CHECKS, check_signatures)


def bench(
    state: ReportingState = STATE,
    slot: int = SLOT,
    known: tuple[str, ...] = (),
    with_packages: tuple[str, ...] = (),
) -> CheckContext:
    """As it is made for a block with guarantees of these packages."""
    named = {SLOT // 4: SLOT, SLOT // 4 - 1: SLOT - 4} if slot == SLOT else {slot // 4: slot}
    return CheckContext(
        state=state,
        slot=slot,
        spec=TINY,
        known_packages=frozenset(map(package, known)),
        guarantors={
            rotation: guarantors_for(state.standing, slot, one, TINY)
            for rotation, one in named.items()
        },
        recent={block.header_hash: block for block in state.recent},
        packages=frozenset({OLD_PACKAGE.hash, *map(package, with_packages)}),
        exports=frozenset(
            {
                (OLD_PACKAGE.hash, OLD_PACKAGE.exports_root),
                *((package(one), exports(one)) for one in with_packages),
            }
        ),
    )


def signers(*places: int) -> ReportGuarantee:
    """The good guarantee with other signers, whose signatures nobody has looked at yet."""
    return replace(GOOD, signatures=tuple(ValidatorSignature(place, bytes(64)) for place in places))


def in_context(**fields: object) -> ReportGuarantee:
    return guarantee(report(context=replace(CONTEXT, **fields)))


def with_result(**fields: object) -> ReportGuarantee:
    return guarantee(report(results=(RESULT, replace(RESULT, **fields))))


ASSIGNED = tuple(one.validator_index for one in GOOD.signatures)
STRANGER = next(place for place in range(6) if place not in ASSIGNED)
BANNED = replace(STANDING, offenders=(ACTIVE[ASSIGNED[1]],))
FORGED = (replace(GOOD.signatures[0], signature=GOOD.signatures[1].signature), GOOD.signatures[1])


class Story(NamedTuple):
    check: Check
    guarantee: ReportGuarantee
    at: CheckContext = bench()


STORIES: dict[ReportFault, Story] = {
    ReportFault.BAD_CORE_INDEX: Story(
        check_core, replace(GOOD, report=replace(GOOD.report, core_index=2))
    ),
    ReportFault.MISSING_WORK_RESULTS: Story(check_shape, guarantee(report(results=()))),
    ReportFault.TOO_MANY_WORK_RESULTS: Story(
        check_shape, guarantee(report(results=(RESULT,) * 17))
    ),
    ReportFault.WORK_REPORT_TOO_BIG: Story(
        check_shape,
        guarantee(
            report(auth_output=b"!", results=(replace(RESULT, result=Ok(bytes(48 * 1024))),))
        ),
    ),
    ReportFault.TOO_MANY_DEPENDENCIES: Story(
        check_shape,
        guarantee(report(needs="abcd", imports="efghi")),
        bench(with_packages=tuple("abcdefghi")),
    ),
    ReportFault.WORK_REPORT_GAS_TOO_HIGH: Story(
        check_shape, with_result(accumulate_gas=10_000_001 - RESULT.accumulate_gas)
    ),
    ReportFault.INSUFFICIENT_GUARANTEES: Story(check_credential, signers(ASSIGNED[0])),
    ReportFault.NOT_SORTED_OR_UNIQUE_GUARANTORS: Story(
        check_credential, signers(ASSIGNED[1], ASSIGNED[0])
    ),
    ReportFault.FUTURE_REPORT_SLOT: Story(check_assignment, replace(GOOD, slot=SLOT + 1), bench()),
    ReportFault.REPORT_EPOCH_BEFORE_LAST: Story(check_assignment, replace(GOOD, slot=7)),
    ReportFault.BAD_VALIDATOR_INDEX: Story(check_assignment, signers(ASSIGNED[0], 6)),
    ReportFault.WRONG_ASSIGNMENT: Story(
        check_assignment, signers(*sorted((ASSIGNED[0], STRANGER)))
    ),
    ReportFault.BANNED_VALIDATOR: Story(
        check_assignment, GOOD, bench(replace(STATE, standing=BANNED))
    ),
    ReportFault.CORE_ENGAGED: Story(
        check_place,
        GOOD,
        bench(replace(STATE, pending=(PendingReport(report("other"), SLOT - 1), None))),
    ),
    ReportFault.CORE_UNAUTHORIZED: Story(
        check_place, GOOD, bench(replace(STATE, authorizer_pools=((), STATE.authorizer_pools[1])))
    ),
    ReportFault.BAD_SERVICE_ID: Story(check_services, with_result(service_id=SERVICE + 1)),
    ReportFault.BAD_CODE_HASH: Story(check_services, with_result(code_hash=package("other code"))),
    ReportFault.SERVICE_ITEM_GAS_TOO_LOW: Story(check_services, with_result(accumulate_gas=9)),
    ReportFault.ANCHOR_NOT_RECENT: Story(check_recent_block, in_context(anchor=package("gone"))),
    ReportFault.BAD_STATE_ROOT: Story(check_recent_block, in_context(state_root=package("root"))),
    ReportFault.BAD_BEEFY_MMR_ROOT: Story(
        check_recent_block, in_context(beefy_root=package("root"))
    ),
    ReportFault.LOOKUP_ANCHOR_NOT_RECENT: Story(
        check_time_slot_header,
        guarantee(report(), 32, block=32),
        bench(slot=32),
    ),
    ReportFault.DUPLICATE_PACKAGE: Story(check_package, GOOD, bench(known=("package",))),
    ReportFault.DEPENDENCY_MISSING: Story(
        check_package, guarantee(report(needs=("there", "gone"))), bench(with_packages=("there",))
    ),
    ReportFault.SEGMENT_ROOT_LOOKUP_INVALID: Story(
        check_package, guarantee(report(imports=("gone",)))
    ),
    ReportFault.BAD_SIGNATURE: Story(check_signatures, replace(GOOD, signatures=FORGED)),
}


def test_every_rule_has_a_story() -> None:
    assert {*STORIES} | AMONG_GUARANTEES == {*ReportFault}


@pytest.mark.parametrize("fault", STORIES, ids=lambda fault: fault.value)
def test_a_broken_rule_is_named_by_its_check_and_by_no_other_before_it(fault: ReportFault) -> None:
    story = STORIES[fault]
    assert story.check(story.at, story.guarantee) is fault
    before = ALL[: ALL.index(story.check)]
    assert [check(story.at, story.guarantee) for check in before] == [None] * len(before)


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.__name__)
def test_a_good_guarantee_keeps_every_rule(check: Check) -> None:
    assert check(bench(), GOOD) is None
    assert check(bench(), guarantee(report(core=1))) is None
    of_two = replace(GOOD, signatures=GOOD.signatures[1:])
    assert check(bench(), of_two) is None


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.__name__)
def test_a_guarantee_of_the_rotation_before_is_judged_by_its_own_guarantors(check: Check) -> None:
    assert check(bench(), guarantee(report(), SLOT - 4)) is None


def test_a_validator_signs_once() -> None:
    twice = signers(ASSIGNED[0], ASSIGNED[0], ASSIGNED[1])
    assert check_credential(bench(), twice) is ReportFault.NOT_SORTED_OR_UNIQUE_GUARANTORS


def test_the_sizes_of_a_report_may_be_reached() -> None:
    full = report(
        auth_output=b"!" * 1024,
        results=(replace(RESULT, result=Ok(bytes(47 * 1024)), accumulate_gas=10_000_000),),
        needs="abcd",
        imports="efgh",
    )
    assert check_shape(bench(), guarantee(full)) is None
    failed = replace(RESULT, result=WorkError.PANIC, accumulate_gas=10)
    assert check_shape(bench(), guarantee(report(results=(failed,) * 16))) is None


def test_check_assignment_takes_a_guarantee_for_four_to_seven_slots() -> None:
    """The seed's formula: slot − guarantee's slot ≤ (slot mod 4) + 4."""
    for slot in range(12, 36):
        oldest = slot - (slot % 4 + 4)
        assert guarantee_slots(slot, TINY)[0] == oldest
        at = bench(slot=slot)
        too_old = replace(GOOD, slot=oldest - 1)
        assert check_assignment(at, too_old) is ReportFault.REPORT_EPOCH_BEFORE_LAST


def test_the_signers_of_a_core_are_those_of_the_rotation_that_the_guarantee_names() -> None:
    """The first rotation of an epoch looks back to the validators of the epoch before."""
    assert guarantors_for(STANDING, SLOT, SLOT - 4, TINY).keys == STANDING.previous
    assert guarantors_for(STANDING, SLOT, SLOT, TINY).keys == STANDING.active


def test_check_recent_block_takes_every_block_that_the_chain_remembers() -> None:
    for block in ANCHORS:
        given = in_context(
            anchor=block.header_hash, state_root=block.state_root, beefy_root=block.beefy_root
        )
        assert check_recent_block(bench(), given) is None


def looked_up(age: int) -> ReportGuarantee:
    context = replace(CONTEXT, lookup_anchor_slot=30 - age)
    return replace(GOOD, report=report(context=context))


def test_check_time_slot_header_takes_a_lookup_anchor_for_24_slots() -> None:
    at = bench(slot=30)
    late = ReportFault.LOOKUP_ANCHOR_NOT_RECENT
    assert [check_time_slot_header(at, looked_up(age)) for age in (1, 24)] == [None, None]
    assert [check_time_slot_header(at, looked_up(age)) for age in (25, 29)] == [late, late]


def test_a_lookup_anchor_of_a_slot_to_come_is_none() -> None:
    at = bench(slot=30)
    assert check_time_slot_header(at, looked_up(-1)) is ReportFault.LOOKUP_ANCHOR_NOT_RECENT


@pytest.mark.parametrize(
    ("ancestors", "fault"),
    [
        ({CONTEXT.lookup_anchor: SLOT - 8}, None),
        ({CONTEXT.lookup_anchor: SLOT - 7}, ReportFault.LOOKUP_ANCHOR_NOT_RECENT),
        ({}, ReportFault.LOOKUP_ANCHOR_NOT_RECENT),
    ],
    ids=["an ancestor", "an ancestor of another slot", "a stranger"],
)
def test_a_judge_that_keeps_headers_knows_the_lookup_anchor(
    ancestors: dict[bytes, int], fault: ReportFault | None
) -> None:
    assert check_time_slot_header(bench(replace(STATE, ancestors=ancestors)), GOOD) is fault


def test_dependencies_are_met_by_this_block_or_by_a_recent_one() -> None:
    at = bench(with_packages=("beside",))
    assert check_package(at, guarantee(report(needs=("beside",)))) is None
    assert check_package(at, guarantee(report(imports=("beside",)))) is None
    old = SegmentRootLookupItem(OLD_PACKAGE.hash, OLD_PACKAGE.exports_root)
    assert check_package(at, guarantee(report(segment_root_lookup=(old,)))) is None
    lie = replace(old, segment_tree_root=exports("beside"))
    assert (
        check_package(at, guarantee(report(segment_root_lookup=(lie,))))
        is ReportFault.SEGMENT_ROOT_LOOKUP_INVALID
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda terms: replace(terms, min_item_gas=RESULT.accumulate_gas),
        lambda terms: replace(terms, code_hash=CODE),
    ],
)
def test_a_result_may_just_meet_the_terms_of_its_service(
    change: Callable[[ServiceTerms], ServiceTerms],
) -> None:
    state = replace(STATE, services={SERVICE: change(STATE.services[SERVICE])})
    assert check_services(bench(state), GOOD) is None
