"""What is made, what is too dear."""

import pytest
from tests.lanes.eoa.stage import adopted, begun, make_all, replace, take

from laneway.lanes.eoa.fees import Fee
from laneway.lanes.eoa.tries import look, make, over_cap, reoffer, send_again
from laneway.lanes.eoa.values import AttemptsMade, Made


def test_the_payload_comes_from_the_lane_or_from_the_offer() -> None:
    world = begun(1)
    slot = world.lane.slots[1]
    assert make(world.lane, slot).payload == next(iter(world.accepted)).encode()
    assert make(world.lane, slot, b"given").payload == b"given"
    assert make(world.lane, replace(slot, purpose="noop"), b"given").payload == b""


@pytest.mark.parametrize(
    ("settings", "over"),
    [
        ({}, False),
        ({"fee_wei_max": 9}, True),
        ({"fee_wei_max": 10}, False),
        ({"cost_wei_max": 99}, True),
        ({"spend_wei_max": 99}, True),
        ({"spend_wei_max": 100}, False),
    ],
)
def test_each_cap_holds_for_itself(settings: dict[str, int], over: bool) -> None:
    world = begun(1, **settings)
    made = Made(1, 1, b"r", b"h", Fee(10, 1), 21_000, 100)
    assert over_cap(world.lane, world.lane.slots[1], made) is over


def test_what_goes_out_again_says_so() -> None:
    world = begun(1)
    make_all(world)
    assert send_again(world.lane, world.lane.attempts[1][1]).again
    assert look(world.lane).hashes == tuple(world.lane.hashes)


def test_the_lowest_number_is_not_kept_back_by_what_those_above_it_spend() -> None:
    world = begun(2, spend_wei_max=150)
    dear = Made(2, 1, b"r", b"h", Fee(10, 1), 21_000, 100)
    world.post(AttemptsMade(world.now_ms, (dear,)))
    assert not over_cap(world.lane, world.lane.slots[1], dear)
    world.lane.head.spend = b"\x64"
    assert over_cap(world.lane, replace(world.lane.slots[2], cost=b""), dear)


def test_what_was_parked_in_a_storm_is_made_cheaper_behind_it() -> None:
    world = begun(1)
    make_all(world)
    stormy = replace(world.lane.slots[1], floor=Fee(10**9, 10**9), making=True)
    assert make(world.lane, stormy).floor.cap < 10**9


def test_the_same_bytes_go_to_everyone_again() -> None:
    world = begun(1)
    make_all(world)
    record, (effect,) = reoffer(world.lane, world.lane.attempts[1][1], 7, "why")
    assert (record.at_ms, record.reason) == (7, "why")
    assert (effect.nodes, effect.again) == (world.settings.nodes, True)


def test_of_an_attempt_that_was_adopted_by_its_hash_nothing_is_offered() -> None:
    world = begun(1)
    make_all(world)
    take(world, 1)
    bare = adopted(world)
    record, sends = reoffer(world.lane, bare, 7, "why")
    assert (record.at_ms, sends) == (7, ())
