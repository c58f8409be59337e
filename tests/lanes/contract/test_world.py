"""Never twice, in order, never lost: judged on the chain's own history."""

import pytest
from tests.lanes.contract.laws import sometimes
from tests.lanes.contract.world import World


def judged(seed: int) -> World:
    world = World(seed)
    world.run()
    results = world.stage.results
    confirmed = []
    for seq, data in enumerate(world.calls, 1):
        result = results[world.row(seq).id]
        if result.status == "confirmed":
            confirmed.append(data)
        assert not (data.startswith("!") and result.status == "confirmed")
    # The blocks of ours are the confirmed jobs, each once, in the order of the queue.
    assert world.ours() == confirmed
    world.laws.check_feed()
    return world


@pytest.mark.parametrize("seed", range(60))
def test_the_chain_holds_each_confirmed_job_once_and_in_order(seed: int) -> None:
    judged(seed)


@pytest.mark.slow
def test_the_chain_holds_each_confirmed_job_once_and_in_order_in_many_worlds() -> None:
    seen: set[str] = set()
    for seed in range(1_000, 1_800):
        seen |= sometimes(judged(seed).stage)
    assert seen >= {
        "second try",
        "attempt:stale",
        "attempt:dropped",
        "mode:halted",
        "mode:draining",
        "result:confirmed",
        "result:refused",
        "result:dead",
        "result:cancelled",
    }
