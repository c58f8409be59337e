"""The five functions together."""

import pytest
from tests.lanes.eoa.stage import begun, chain, make_all, run
from tests.lanes.eoa.test_laws import check

from laneway.core.ids import LaneId
from laneway.lanes.eoa import values as v
from laneway.lanes.eoa.machine import eoa_kind, resume


@pytest.mark.slow
def test_the_promises_are_kept() -> None:
    for seed in range(15):
        check(run(seed, steps=300))


def test_a_crash_loses_no_effect() -> None:
    world = begun(2)
    assert [type(effect) for effect in resume(world.lane)] == [v.MakeAttempt, v.MakeAttempt]
    make_all(world)
    assert [type(effect) for effect in resume(world.lane)] == [v.SendAttempt, v.SendAttempt]
    chain(world, 1, 2)
    chain(world, 1, 3)
    assert v.ProveNonce(0, (world.lane.attempts[1][1].hash,), 3) in resume(world.lane)


def test_an_account_that_rested_is_read_before_its_next_number() -> None:
    world = begun(0)
    assert resume(world.lane) == (), "a lane without work asks for nothing, and may be given up"
    world.accept(1)
    world.now_ms += world.settings.rest_ms + 1
    world.pull()
    assert [type(effect) for effect in world.out] == [v.LookAtChain]
    world.pull()
    assert len(world.out) == 1, "it is being read already"
    assert resume(world.lane) == tuple(world.out)
    world.perform()
    world.pull()
    assert [type(effect) for effect in world.out] == [v.MakeAttempt]


def test_a_look_that_failed_is_tried_again() -> None:
    world = begun(1)
    world.post(v.ReadFailed(world.now_ms))
    assert world.lane.head.poll_ms == world.now_ms + world.settings.poll_ms


def test_records_come_back_from_the_feed_as_they_were_told() -> None:
    world = begun(1)
    (effect,) = world.out
    from laneway.lanes.eoa.machine import decide
    from laneway.lanes.eoa.values import AttemptsMade

    records = decide(world.lane, AttemptsMade(1, (world.make(effect),))).records
    assert world.kind.decode(world.kind.encode(records)) == records
    assert world.kind.cursors(world.lane) == (1, 0, 0, 0)


def test_a_new_block_is_looked_into_at_once() -> None:
    world = begun(1)
    make_all(world)
    world.out = []
    world.now_ms += world.settings.look_ms_min
    world.post(v.HeadSeen(world.now_ms))
    assert [type(effect) for effect in world.out] == [v.LookAtChain]


def test_an_account_without_settings_is_not_served() -> None:
    lane = begun(0).lane
    kind = eoa_kind({lane.id: lane.settings})
    assert kind.serves(lane.id)
    assert not kind.serves(LaneId("evm:1:0x00"))
    assert kind.empty(lane.id).settings is lane.settings
    assert eoa_kind(lane.settings).serves(LaneId("evm:1:0x00"))
