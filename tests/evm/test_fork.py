"""Forks have one order."""

from laneway.evm.fork import Fork


def test_forks_are_in_the_order_in_which_they_came() -> None:
    assert list(Fork) == sorted(Fork)
    assert Fork.FRONTIER < Fork.LONDON < Fork.OSAKA
