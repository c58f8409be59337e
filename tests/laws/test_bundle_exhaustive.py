"""All interleavings of a small scope of blocks, versions and faults; see bundle_scope.

Here the scopes are closed and small. Three blocks with two versions each, a timeout, a reorg and a
crash are searched by `make soak`: `python -m tests.laws.bundle_scope`.
"""

import pytest
from tests.laws.bundle_scope import END, Scope, longest, search

ORDERS = ("chained", "parallel")


@pytest.mark.parametrize("order", ORDERS)
def test_all_that_can_happen_to_two_blocks_when_nothing_goes_wrong(order: str) -> None:
    found = search(Scope(2, timeouts=0, reorgs=0, crashes=0), order=order)
    assert found.states > 10
    assert found.beyond == 0


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_all_that_can_happen_to_one_block(order: str) -> None:
    found = search(Scope(1), order=order)
    assert found.states > 150
    assert set(found.names) == {"calm", "guarantee", "accumulate", "timeout", "reorg", "crash"}


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_all_that_can_happen_to_two_blocks_on_forks(order: str) -> None:
    assert search(Scope(2, crashes=0), order=order).states > 1_000


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_all_that_can_happen_to_two_blocks_of_a_process_that_dies(order: str) -> None:
    assert search(Scope(2, reorgs=0), order=order).states > 150


def test_a_lane_that_takes_a_package_for_dead_too_early_is_caught() -> None:
    """It believes that an anchor lives for four blocks; on the chain it lives for eight."""
    with pytest.raises(AssertionError, match="could land"):
        search(Scope(1, reorgs=0, crashes=0), recent_blocks=4)


def test_a_lane_that_never_ends_is_caught() -> None:
    """Nothing may be in flight, so nothing is ever submitted."""
    with pytest.raises(AssertionError, match="lead to the end"):
        search(Scope(1, timeouts=0, reorgs=0, crashes=0), order="parallel", cores=())


def test_a_way_that_goes_round_has_no_end() -> None:
    assert longest([1, 2, END]) == 3
    for calm in ([1, 0], [0], [1, 1]):
        with pytest.raises(AssertionError, match="lead to the end"):
            longest(calm)
