"""Laws of assurances: two thirds make a report available, time takes it away."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.jam.lookups import vouches_for
from tests.jam.rules.stage import ACTIVE, PARENT, SLOT, assurance, report

from laneway.jam.extrinsic import AvailAssurance
from laneway.jam.rules.assuring import (
    AssuranceFault,
    AssurancesRefused,
    Assured,
    PendingReport,
    judge_assurances,
    tally,
)
from laneway.jam.spec import FULL, TINY

FIRST = PendingReport(report("first", 0), SLOT - 1)
SECOND = PendingReport(report("second", 1), SLOT - 1)
BOTH = (FIRST, SECOND)


def judged(
    pending: tuple[PendingReport | None, ...], *assurances: AvailAssurance, slot: int = SLOT
) -> Assured | AssurancesRefused:
    return judge_assurances(pending, assurances, keys=ACTIVE, slot=slot, parent=PARENT, spec=TINY)


def test_without_assurances_reports_stay_where_they_are() -> None:
    assert judged(BOTH) == Assured(available=(), pending=BOTH, timed_out=())


def test_more_than_two_thirds_make_a_report_available_and_free_its_core() -> None:
    four = [assurance(place, 0, 1) for place in range(4)]
    assert judged(BOTH, *four) == Assured(available=(), pending=BOTH, timed_out=())
    assert judged(BOTH, *four, assurance(4, 1)) == Assured(
        available=(SECOND.report,), pending=(FIRST, None), timed_out=()
    )


def test_reports_become_available_in_the_order_of_their_cores() -> None:
    answer = judged(BOTH, *(assurance(place, 0, 1) for place in range(6)))
    assert answer == Assured(
        available=(FIRST.report, SECOND.report), pending=(None, None), timed_out=()
    )


def test_a_report_times_out_after_five_slots() -> None:
    old = replace(FIRST, timeout=SLOT - 5)
    assert judged((old, SECOND)) == Assured(
        available=(), pending=(None, SECOND), timed_out=(FIRST.report,)
    )
    kept = replace(FIRST, timeout=SLOT - 4)
    assert judged((kept, None)) == Assured(available=(), pending=(kept, None), timed_out=())


def test_enough_assurances_count_even_when_the_time_is_over() -> None:
    old = replace(FIRST, timeout=SLOT - 5)
    answer = judged((old, None), *(assurance(place, 0) for place in range(5)))
    assert answer == Assured(available=(FIRST.report,), pending=(None, None), timed_out=())


FORGED = replace(assurance(1, 0), signature=assurance(1, 1).signature)
BEHIND_THE_LAST_CORE = replace(assurance(1), bitfield=b"\x04")

BROKEN = {
    AssuranceFault.BAD_ATTESTATION_PARENT: assurance(1, 0, parent=ACTIVE[0]),
    AssuranceFault.BAD_VALIDATOR_INDEX: replace(assurance(5, 0), validator_index=6),
    AssuranceFault.NOT_SORTED_OR_UNIQUE_ASSURERS: assurance(0, 0),
    AssuranceFault.CORE_NOT_ENGAGED: assurance(1, 1),
    AssuranceFault.BAD_SIGNATURE: FORGED,
}


@pytest.mark.parametrize("fault", AssuranceFault, ids=lambda fault: fault.value)
def test_a_broken_rule_is_named_with_the_place_of_the_assurance(fault: AssuranceFault) -> None:
    pending = (FIRST, None)
    assert judged(pending, assurance(0, 0), BROKEN[fault]) == AssurancesRefused(fault, 1)


def test_a_bit_behind_the_last_core_is_one_of_a_core_that_nothing_occupies() -> None:
    assert judged(BOTH, BEHIND_THE_LAST_CORE) == AssurancesRefused(
        AssuranceFault.CORE_NOT_ENGAGED, 0
    )


def test_assurers_stand_in_ascending_order() -> None:
    answer = judged(BOTH, assurance(2, 0), assurance(1, 0))
    assert answer == AssurancesRefused(AssuranceFault.NOT_SORTED_OR_UNIQUE_ASSURERS, 1)


@settings(max_examples=30)
@given(st.lists(st.integers(0, 2**FULL.core_count - 1), max_size=20))
def test_the_tally_of_a_core_is_the_number_of_those_who_vouch_for_it(fields: list[int]) -> None:
    given_all = [
        AvailAssurance(
            anchor=PARENT,
            bitfield=field.to_bytes(FULL.bitfield_bytes, "little"),
            validator_index=place,
            signature=bytes(64),
        )
        for place, field in enumerate(fields)
    ]
    assert tally(given_all, FULL) == tuple(
        sum(vouches_for(one, core) for one in given_all) for core in range(FULL.core_count)
    )


def test_the_tally_holds_when_all_validators_vouch() -> None:
    one = assurance(0, 0, 1)
    assert tally([one] * TINY.validator_count, TINY) == (6, 6)
    whole = replace(one, bitfield=((1 << FULL.core_count) - 1).to_bytes(43, "little"))
    assert tally([whole] * FULL.validator_count, FULL) == (1023,) * FULL.core_count
