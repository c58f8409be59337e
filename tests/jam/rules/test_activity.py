"""Laws of what a block counts of its cores and services."""

import pytest
from msgspec.structs import replace
from tests.jam.rules.stage import RESULT, assurance, report

from laneway.jam.rules.activity import (
    CoreActivity,
    CountAndSum,
    ServiceActivity,
    accumulated_counts,
    core_activity,
    service_activity,
    stored_bytes,
)
from laneway.jam.spec import TINY

TWICE = report("a", 1, results=(RESULT, RESULT))
OTHER = report("b", 0, results=(RESULT, replace(RESULT, service_id=7)))


def test_a_core_counts_what_is_reported_on_it() -> None:
    idle, busy = core_activity([TWICE], [], [], TINY)
    assert idle == CoreActivity()
    assert busy == CoreActivity(
        imports=2, extrinsic_count=4, extrinsic_size=60, exports=8, bundle_size=1000, gas_used=14
    )


def test_a_core_counts_what_becomes_available_from_it_and_who_assures_it() -> None:
    assurances = [assurance(0, 0), assurance(1, 0, 1), assurance(2, 0)]
    first, second = core_activity([], [OTHER], assurances, TINY)
    assert first == CoreActivity(da_load=stored_bytes(OTHER), popularity=3)
    assert second == CoreActivity(popularity=1)


@pytest.mark.parametrize(
    ("exports", "segments"), [(0, 0), (1, 2), (63, 64), (64, 65), (65, 67), (128, 130)]
)
def test_for_every_64_segments_a_proof_is_stored(exports: int, segments: int) -> None:
    spec = replace(TWICE.package_spec, exports_count=exports)
    assert stored_bytes(replace(TWICE, package_spec=spec)) == 1000 + 4104 * segments


def test_a_service_counts_its_results_in_all_reports() -> None:
    found = service_activity([TWICE, OTHER], {}, {})
    assert list(found) == [7, 42]
    assert found[7] == ServiceActivity(
        refinement_count=1,
        refinement_gas_used=7,
        imports=1,
        extrinsic_count=2,
        extrinsic_size=30,
        exports=4,
    )
    assert found[42].refinement_count == 3


def test_a_service_counts_what_it_was_given_and_what_it_accumulated() -> None:
    found = service_activity([], {9: CountAndSum(2, 70)}, {8: CountAndSum(1, 500)})
    assert found == {
        8: ServiceActivity(accumulate_count=1, accumulate_gas_used=500),
        9: ServiceActivity(provided_count=2, provided_size=70),
    }
    assert list(found) == [8, 9]


def test_a_service_with_nothing_to_count_is_not_told() -> None:
    assert service_activity([], {}, {}) == {}


def test_accumulated_results_are_counted_by_service() -> None:
    assert accumulated_counts([TWICE, OTHER]) == {42: 3, 7: 1}
