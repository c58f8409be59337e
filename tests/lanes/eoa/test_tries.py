"""What is made, what is too dear."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lanes.eoa.stage import (
    adopted,
    begun,
    chain,
    later,
    make_all,
    receipt,
    refuse,
    replace,
    take,
)

from laneway.lanes.eoa.fees import GWEI, NO_CEILING, NO_FEE, Ceiling, EvmFee
from laneway.lanes.eoa.tries import (
    Spending,
    ceiling,
    look,
    make,
    over_cap,
    prove,
    reoffer,
    send_again,
)
from laneway.lanes.eoa.values import AttemptsMade, BumpOrdered, Made


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
        ({"cost_wei_max": 100}, False),
    ],
)
def test_each_cap_holds_for_itself(settings: dict[str, int], over: bool) -> None:
    world = begun(1, **settings)
    assert over_cap(world.lane, costing(1, 100)) is over


def costing(slot: int, cost: int, number: int = 1) -> Made:
    name = f"{slot}/{number}".encode()
    return Made(slot, number, b"r" + name, b"h" + name, EvmFee(10, 1), 21_000, cost)


def test_the_cap_on_spending_counts_what_the_batch_itself_spends() -> None:
    """Twelve payments offered at once would have spent six times the cap."""
    world = begun(12, spend_wei_max=200)
    batch = tuple(costing(slot, 100) for slot in range(1, 13))
    world.post(AttemptsMade(world.now_ms, batch))
    assert world.lane.spend == 200
    assert [slot.wait_reason for slot in world.lane.slots.values()][1:4] == [
        "",
        "parked_by_cap",
        "gap_before",
    ]


def test_nothing_overtakes_what_is_parked_though_it_costs_less() -> None:
    world = begun(3, spend_wei_max=150)
    batch = (costing(1, 100), costing(2, 100), costing(3, 10))
    world.post(AttemptsMade(world.now_ms, batch))
    assert (sorted(world.lane.attempts), world.lane.spend) == ([1], 100)


def test_a_free_number_below_keeps_those_above_from_spending_what_it_needs() -> None:
    world = begun(3, spend_wei_max=200)
    world.post(AttemptsMade(world.now_ms, (costing(1, 100), costing(2, 100), costing(3, 100))))
    refuse(world, 1, 1)
    world.post(AttemptsMade(world.now_ms, (costing(3, 100),)))
    assert world.lane.slots[3].wait_reason == "gap_before"
    later(world, world.settings.make_retry_ms)
    (back,) = [slot for slot in world.lane.slots.values() if slot.nonce == 0]
    world.post(AttemptsMade(world.now_ms, (costing(back.id, 100), costing(3, 100))))
    assert (sorted(world.lane.attempts), world.lane.spend) == ([2, back.id], 200)


def test_of_a_dearer_attempt_the_rise_is_counted() -> None:
    world = begun(2, spend_wei_max=210)
    world.post(AttemptsMade(world.now_ms, (costing(1, 100), costing(2, 100))))
    for slot in (1, 2):
        take(world, slot)
    later(world, world.settings.bump_after_ms)
    world.post(AttemptsMade(world.now_ms, (costing(1, 111, 2),)))
    assert (world.lane.spend, world.lane.slots[1].wait_reason) == (200, "parked_by_cap")
    world.tell("bump", list(world.accepted.values())[1])
    assert Spending(world.lane).why_not(world.lane.slots[2], costing(2, 90, 2)) is None, "cheaper"
    world.post(AttemptsMade(world.now_ms, (costing(2, 110, 2),)))
    assert world.lane.spend == 210


def test_what_was_mined_is_not_in_flight() -> None:
    world = begun(2, spend_wei_max=100)
    world.post(AttemptsMade(world.now_ms, (costing(1, 100), costing(2, 100))))
    take(world, 1)
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    world.post(AttemptsMade(world.now_ms, (costing(2, 100),)))
    assert sorted(world.lane.attempts) == [1, 2]


@given(
    cap=st.integers(1, 400),
    batches=st.lists(st.lists(st.tuples(st.integers(1, 12), st.integers(1, 150)), max_size=12)),
)
def test_whatever_is_made_the_sum_in_flight_never_exceeds_the_cap(
    cap: int, batches: list[list[tuple[int, int]]]
) -> None:
    """Of any batches and any costs, also of further attempts, and across restarts."""
    world = begun(12, spend_wei_max=cap)
    for batch in batches:
        made = {}
        for number, cost in batch:
            slot = world.lane.slots[number]
            if not slot.making:
                world.apply([BumpOrdered(number, "intent", EvmFee(1, 1), "dearer")])
            made[number] = costing(number, cost, world.lane.slots[number].attempt_next)
        world.post(AttemptsMade(world.now_ms, tuple(made.values())))
        assert world.lane.spend <= cap
        world.crash()


def test_what_goes_out_again_says_so() -> None:
    world = begun(1)
    make_all(world)
    assert send_again(world.lane, world.lane.attempts[1][1]).again
    assert look(world.lane).hashes == tuple(world.lane.hashes)


def test_what_was_parked_in_a_storm_is_made_cheaper_behind_it() -> None:
    world = begun(1)
    make_all(world)
    stormy = replace(world.lane.slots[1], floor=EvmFee(10**9, 10**9), making=True)
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


def test_an_order_says_what_it_may_cost_and_who_says_so() -> None:
    world = begun(1)
    assert ceiling(world.lane) == make(world.lane, world.lane.slots[1]).ceiling == NO_CEILING
    world = begun(1, fee_wei_max=50, cost_wei_max=7, fee_wei_source="a file")
    bound = Ceiling(50, 50, 7, "a file")
    assert make(world.lane, world.lane.slots[1]).ceiling == bound
    (first,) = world.out
    assert first.ceiling == bound
    assert ceiling(begun(1, cost_wei_max=7).lane) == Ceiling(None, None, 7, "fee_wei_max")


def test_a_default_ceiling_follows_the_base_fee_and_a_set_one_does_not() -> None:
    world = begun(1, fee_wei_max=500 * GWEI, fee_by_base=True)
    world.lane.head.base_fee = 20 * GWEI
    assert (ceiling(world.lane).wei, ceiling(world.lane).asked_wei) == (500 * GWEI, 200 * GWEI)
    world = begun(1, fee_wei_max=500 * GWEI)
    world.lane.head.base_fee = 20 * GWEI
    assert ceiling(world.lane).asked_wei == 500 * GWEI


def test_a_further_attempt_must_offer_less_than_it_should() -> None:
    """What replaces the last is the law of pools; what the market asks is only wise."""
    world = begun(1)
    assert make(world.lane, world.lane.slots[1]).least == NO_FEE
    make_all(world)
    world.lane.head.base_fee *= 4
    again = make(world.lane, replace(world.lane.slots[1], floor=EvmFee(1, 1)))
    last = world.lane.attempts[1][1].fee
    assert last.cap < again.least.cap < again.floor.cap
    assert last.tip < again.least.tip <= again.floor.tip


def test_who_used_a_number_is_asked_with_all_its_hashes() -> None:
    world = begun(1)
    make_all(world)
    order = prove(world.lane, world.lane.slots[1])
    assert (order.nonce, order.hashes) == (0, (world.lane.attempts[1][1].hash,))
    assert order.depth == world.settings.finality_depth_blocks


def test_a_look_names_what_a_majority_must_show_in_the_order_of_nonces() -> None:
    world = begun(2)
    make_all(world)
    chain(world, 2, 1, receipt(world, 2, 1, 1), receipt(world, 1, 1, 1))
    hashes = [world.lane.attempts[slot][1].hash for slot in (1, 2)]
    assert look(world.lane).due == ((hashes[0], 1), (hashes[1], 1))
    alone = begun(1, nodes=("a",))
    make_all(alone)
    chain(alone, 1, 1, receipt(alone, 1, 1, 1))
    assert look(alone.lane).due == (), "nobody else can be asked"
