"""Bounds of a bundle lane."""

from laneway.lanes.bundle import limits


def test_a_look_goes_as_far_back_as_an_anchor_lives() -> None:
    assert limits.CHAIN_KEPT_MAX > 2 * 8


def test_each_bound_is_a_positive_number() -> None:
    bounds = [value for name, value in vars(limits).items() if name.isupper()]
    assert bounds
    assert all(isinstance(bound, int) and bound > 0 for bound in bounds)
