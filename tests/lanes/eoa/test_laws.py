"""The four promises of an account's lane, in many random worlds."""

import pytest
from tests.lanes.eoa.stage import World, run

from laneway.core.outcome import Status


def check(world: World) -> None:
    mined = world.mined()
    assert len(set(mined)) == len(mined), "never twice"
    order = [world.accepted[one].seq for one in mined]  # type: ignore[index]
    if world.others == 0 and world.settings.recycled == "returned":
        # Whoever else uses the account takes a number from under an intent: it lands later.
        assert order == sorted(order), "in order"
    for intent, result in world.results.items():
        landed = intent in mined
        assert landed == (result.status == Status.CONFIRMED.value), (intent, result)
    assert world.is_over(), "never lost"
    assert world.lane.head.spend == b"", "every attempt's cost was given back"


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_the_promises_are_kept(first: int) -> None:
    for seed in range(first, first + 20):
        check(run(seed))
