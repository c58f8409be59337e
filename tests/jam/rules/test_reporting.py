"""Laws of the guarantees of a block: all of them are taken, or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.jam.lookups import of_core
from tests.jam.rules.stage import (
    ACTIVE,
    ANCHORS,
    AUTHORIZER,
    OLD_PACKAGE,
    PREVIOUS,
    SLOT,
    STANDING,
    STATE,
    exports,
    guarantee,
    package,
    report,
)

from laneway.jam.extrinsic import ReportGuarantee
from laneway.jam.rotation import guarantors_for
from laneway.jam.rules.assuring import PendingReport
from laneway.jam.rules.checks import ReportedPackage, ReportFault
from laneway.jam.rules.queueing import ReadyRecord, empty_queue
from laneway.jam.rules.reporting import (
    GuaranteesRefused,
    ReportedGuarantees,
    judge_guarantees,
    next_pools,
    packages_in_pipeline,
)
from laneway.jam.spec import TINY

FIRST, SECOND = report("first", 0), report("second", 1)


def judged(
    *guarantees: ReportGuarantee, known: frozenset[bytes] = frozenset()
) -> ReportedGuarantees | GuaranteesRefused:
    return judge_guarantees(STATE, guarantees, SLOT, known, TINY)


def test_no_guarantees_change_nothing() -> None:
    assert judged() == ReportedGuarantees(pending=(None, None), reported=(), reporters=())


def test_a_report_occupies_its_core_from_the_slot_of_its_block() -> None:
    """And not from the slot in which it was guaranteed."""
    answer = judged(guarantee(SECOND, SLOT - 4))
    assert isinstance(answer, ReportedGuarantees)
    assert answer.pending == (None, PendingReport(SECOND, SLOT))


def test_what_was_reported_is_told_in_the_order_of_the_packages() -> None:
    for names in (("first", "second"), ("second", "first")):
        answer = judged(*(guarantee(report(name, core)) for core, name in enumerate(names)))
        assert isinstance(answer, ReportedGuarantees)
        told = [ReportedPackage(package(name), exports(name)) for name in names]
        assert answer.reported == tuple(sorted(told, key=lambda one: one.hash))


def test_every_signer_is_a_reporter_once_under_the_key_it_signed_with() -> None:
    answer = judged(guarantee(FIRST, SLOT), guarantee(SECOND, SLOT - 4))
    assert isinstance(answer, ReportedGuarantees)
    now = of_core(guarantors_for(STANDING, SLOT, SLOT, TINY), 0)
    then = of_core(guarantors_for(STANDING, SLOT, SLOT - 4, TINY), 1)
    keys = [*(ACTIVE[place] for place in now), *(PREVIOUS[place] for place in then)]
    assert answer.reporters == tuple(sorted(keys))
    twice = replace(STATE, standing=replace(STANDING, previous=ACTIVE))
    signed = [one.report for one in (guarantee(FIRST), guarantee(SECOND))]
    again = judge_guarantees(twice, tuple(map(guarantee, signed)), SLOT, frozenset(), TINY)
    assert isinstance(again, ReportedGuarantees)
    assert again.reporters == tuple(sorted(ACTIVE))


def test_a_validator_that_signs_in_two_rotations_is_told_once() -> None:
    slot = SLOT + 4
    places = of_core(guarantors_for(STANDING, slot, SLOT, TINY), 0)
    both = (
        guarantee(FIRST, SLOT, block=slot),
        guarantee(SECOND, slot, block=slot),
    )
    assert of_core(guarantors_for(STANDING, slot, slot, TINY), 1) == places
    answer = judge_guarantees(STATE, both, slot, frozenset(), TINY)
    assert isinstance(answer, ReportedGuarantees)
    assert answer.reporters == tuple(sorted(ACTIVE[place] for place in places))


@pytest.mark.parametrize(
    "guarantees",
    [
        (guarantee(SECOND), guarantee(FIRST)),
        (guarantee(FIRST), guarantee(report("other", 0))),
    ],
    ids=["descending", "one core twice"],
)
def test_guarantees_stand_in_the_order_of_their_cores(
    guarantees: tuple[ReportGuarantee, ...],
) -> None:
    refused = GuaranteesRefused(ReportFault.OUT_OF_ORDER_GUARANTEE, 1)
    assert judged(*guarantees) == refused


def test_a_package_is_reported_on_one_core_alone() -> None:
    refused = GuaranteesRefused(ReportFault.DUPLICATE_PACKAGE, 1)
    assert judged(guarantee(FIRST), guarantee(report("first", 1))) == refused


def test_a_broken_rule_is_named_with_the_place_of_the_guarantee() -> None:
    answer = judged(guarantee(FIRST), guarantee(SECOND), known=frozenset({package("second")}))
    assert answer == GuaranteesRefused(ReportFault.DUPLICATE_PACKAGE, 1)


def test_signatures_are_looked_at_when_every_other_rule_is_kept() -> None:
    first, second = guarantee(FIRST), guarantee(SECOND)
    forged = replace(first, signatures=guarantee(report("other")).signatures)
    assert judged(forged, second) == GuaranteesRefused(ReportFault.BAD_SIGNATURE, 0)
    both = judged(forged, second, known=frozenset({package("second")}))
    assert both == GuaranteesRefused(ReportFault.DUPLICATE_PACKAGE, 1)


def test_reports_of_one_block_may_depend_on_one_another_even_in_a_ring() -> None:
    one = report("first", 0, needs=("second",), imports=("second",))
    other = report("second", 1, needs=("first",))
    assert isinstance(judged(guarantee(one), guarantee(other)), ReportedGuarantees)
    itself = report("first", needs=("first",))
    assert isinstance(judged(guarantee(itself)), ReportedGuarantees)


def test_a_guarantee_of_no_allowed_slot_is_refused_and_not_looked_up() -> None:
    late = replace(guarantee(FIRST), slot=SLOT + 1)
    assert judged(late) == GuaranteesRefused(ReportFault.FUTURE_REPORT_SLOT, 0)


def test_the_pipeline_holds_every_package_that_may_not_come_again() -> None:
    queue = empty_queue(SLOT - 1, TINY)
    queue = replace(
        queue,
        ready=((ReadyRecord(report("ready"), (package("gone"),)),), *queue.ready[1:]),
        accumulated=(*queue.accumulated[1:], (package("accumulated"),)),
    )
    pending = (None, PendingReport(report("pending", 1), SLOT - 1))
    assert packages_in_pipeline(ANCHORS, queue, pending) == {
        OLD_PACKAGE.hash,
        package("ready"),
        package("accumulated"),
        package("pending"),
    }


def test_what_goes_in_is_not_changed() -> None:
    before = (STATE.pending, STATE.recent, dict(STATE.services))
    judged(guarantee(FIRST), guarantee(SECOND))
    assert (STATE.pending, STATE.recent, dict(STATE.services)) == before


QUEUE = tuple(package(f"queued {place}") for place in range(80))
OTHER = package("other")


def test_every_block_takes_the_authorizer_whose_turn_it_is() -> None:
    assert next_pools(((), (OTHER,)), (QUEUE, QUEUE), [], 0) == ((QUEUE[0],), (OTHER, QUEUE[0]))
    assert next_pools(((),), (QUEUE,), [], 80 * 7 + 3) == ((QUEUE[3],),)


def test_the_oldest_of_a_full_pool_gives_way() -> None:
    assert next_pools((QUEUE[:8],), (QUEUE,), [], 20) == ((*QUEUE[1:8], QUEUE[20]),)


def test_a_report_uses_up_one_entry_of_its_authorizer_on_its_core() -> None:
    pool = (OTHER, AUTHORIZER, AUTHORIZER)
    after = next_pools((pool, pool), (QUEUE, QUEUE), [report(core=1)], 5)
    assert after == ((*pool, QUEUE[5]), (OTHER, AUTHORIZER, QUEUE[5]))


@given(st.integers(0, 8), st.integers(0, 2**32 - 1))
def test_a_pool_grows_to_eight_and_no_further(count: int, slot: int) -> None:
    (pool,) = next_pools((QUEUE[:count],), (QUEUE,), [], slot)
    assert len(pool) == min(count + 1, 8)
    assert pool[-1] == QUEUE[slot % 80]
