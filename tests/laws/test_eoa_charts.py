"""The flow charts of seed 002, box by box: for each a law, here or where it stands already.

Where laneway is stricter than the box, the law's name or its docstring says so. Stories of the
pure machine are told on the stage of `tests/lanes/eoa`; those that need a whole engine run it on a
chain of its own. `answers::` and the like say in which file of PLACES a law stands.

| boxes | law |
|---|---|
| A0 A1 | test_a0_a1_a_repeated_key_is_answered_with_the_same_intent_and_not_queued_again |
| A2 | test_a2_what_was_accepted_is_durable_and_paid_by_the_next_life |
| A3 | test_a3_an_intent_knows_its_lane_and_a_hash_finds_its_intent |
| A4 W0 | test_a4_w0_one_lane_runs_an_account_however_often_it_is_given_work |
| W1 | store::test_a_lane_is_claimed_only_from_the_dead_and_its_fence_rises_by_one |
| W2 W4 | test_w2_w4_after_a_crash_the_borrowed_go_out_before_anything_new |
| W3 F3 F10 | test_w3_f3_f10_every_look_confirms_whatever_else_it_finds |
| W5 W6 W7 W8 | test_w5_to_w8_while_work_remains_the_lane_is_woken_and_without_it_sleeps |
| W9 | test_w9_an_engine_that_ends_gives_its_lanes_away_at_once |
| C0 C2 C3 C4 | test_c0_to_c4_the_same_bytes_go_out_again_in_the_order_of_their_numbers |
| C1 CEND | test_c1_with_nothing_borrowed_there_is_nothing_to_recover |
| C5 C9 | test_c5_c9_an_unclear_answer_counts_as_sent_and_a_taken_one_is_submitted |
| C6 | hazards::test_h3_an_owner_that_was_overtaken_writes_nothing_and_pays_nothing |
| C7 C8 C10 | test_c7_c8_c10_a_nack_frees_the_number_and_the_intent_keeps_its_order |
| C10 | test_c10_stricter_what_was_sent_again_is_never_nacked |
| C11 | test_c11_a_final_failure_answers_the_caller_and_recycles_the_number |
| F0 | nodes::test_a_flashblocks_promise_is_read_where_there_is_one |
| F1 F2 | test_f1_f2_stricter_a_reset_keeps_what_is_bound_and_remembers_five_times |
| F4 F4A F4B | test_f4_the_first_read_sets_the_numbers |
| F5 F6 F7 F8 | test_f5_to_f8_only_a_standstill_of_a_minute_with_something_out_is_acted_on |
| F6 GB0 | test_f6_gb0_a_promised_number_is_progress_and_the_one_behind_it_is_expected |
| F9 | test_f9_an_account_without_funds_bumps_nothing |
| GB1 GB2 | timers::test_the_lowest_number_alone_is_made_dearer_when_it_stands_still |
| GB0 | test_gb0_what_was_never_offered_is_not_offered_with_the_one_that_stands_still |
| GB0 | test_gb0_what_was_never_offered_is_not_offered_because_a_dearer_one_is_parked |
| GB3 | timers::test_a_hole_below_our_numbers_is_filled_by_a_no_op |
| GB3 | test_gb3_a_no_op_below_all_that_was_settled_ends_like_any_other |
| GB4 GB5 GB6 | test_gb4_to_gb6_an_attempt_younger_than_a_minute_is_left_alone |
| GB7 GB7A GB7B GB7E | test_gb7_a_bump_that_cannot_be_made_leaves_the_last_attempt_as_it_was |
| GB7C GB7D | test_gb7c_gb7d_a_count_that_moved_meanwhile_ends_the_bump |
| GB8 | fees::test_a_bump_beats_the_last_attempt_and_the_market |
| GB9 GB10 | test_gb9_gb10_a_bump_is_durable_and_found_by_its_hash_before_it_is_sent |
| F11 | test_f11_a_count_that_fell_frees_nothing_and_lowers_nothing |
| F12 F13 F14 | looking::test_only_receipts_of_our_own_hashes_are_asked_for |
| F15 | sightings::test_a_count_without_our_bytes_asks_who_used_the_number |
| F16 F17 F25 | test_f16_f17_f25_one_mined_hash_ends_all_attempts_of_its_intent |
| F18 F19 | sightings::test_what_is_mined_is_included_and_final_only_at_depth |
| F20 F21 | fold::test_a_no_op_that_is_final_or_gone_answers_nobody |
| F22 F23 | test_f22_f23_stricter_replaced_needs_anothers_final_hash_and_order_is_kept |
| F24 F26 | test_f24_f26_what_a_flashblock_promised_is_neither_confirmed_nor_replaced |
| F27 | sightings::test_what_ended_is_counted_by_how_it_ended |
| FEND | test_w3_f3_f10_every_look_confirms_whatever_else_it_finds |
| S0 | test_s0_health_begins_with_the_first_read |
| S1 S4 SERR | answers::test_who_cannot_pay_waits_and_nothing_new_is_given_out |
| S2 S3 | test_s2_s3_stricter_the_balance_is_read_with_every_look_and_not_after_five_minutes |
| S5 S6 | sightings::test_funds_that_came_end_the_wait |
| SR0 SR2 SR3 SN0 | test_sr0_sn0_no_new_number_while_one_is_free |
| SR1 | lane::test_numbers_at_the_top_are_given_out_anew_and_those_below_are_kept |
| SR4 SR5 | test_sr4_sr5_what_nobody_takes_is_filled_by_a_no_op |
| SR6 SR7 | answers::test_a_number_below_others_that_can_never_be_made_is_free_for_a_no_op |
| SR8 SR9 SR10 SR11 | test_sr8_to_sr11_a_recycled_number_is_claimed_signed_and_sent_like_any_other |
| SN1 SN2 SEND | test_sn1_sn2_the_budget_is_what_is_in_flight_by_the_chains_count |
| NN0 NN1 NN2 NN3 | test_nn1_to_nn3_waiting_intents_are_given_the_next_numbers_in_their_order |
| NN3 | test_nn3_a_number_that_the_chain_says_is_used_is_never_given_out |
| NN4 NN5 | answers::test_numbers_are_offered_without_a_gap |
| NN6 | answers::test_one_that_can_never_be_made_falls_out_and_those_above_move_down |
| NN7 NN8 | test_nn7_nn8_bytes_are_durable_before_they_are_sent_and_numbers_strictly_follow |
| NN9 NN10 | test_nn9_nn10_the_budget_shrinks_by_what_was_sent_and_grows_by_what_was_mined |
"""

import asyncio
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.anvil import CHAIN_ID, KEYS, address
from tests.lanes.eoa.stage import (
    NODES,
    World,
    begun,
    chain,
    later,
    make_all,
    other,
    receipt,
    refuse,
    take,
)
from tests.laws.eoa_engine import HOT, Heard, once, opened, paid
from tests.redis_servers import empty, shared

from laneway.core.ids import LaneId, Owner
from laneway.core.outcome import Outcome, Status
from laneway.devnets.evm.devnet import EvmDevnet
from laneway.engine.eoa.account import account_lane
from laneway.lanes.eoa.claims import budget, wants
from laneway.lanes.eoa.machine import resume
from laneway.lanes.eoa.show import status
from laneway.lanes.eoa.timers import bump_ms, deadline
from laneway.lanes.eoa.values import (
    AttemptSigned,
    AttemptsMade,
    BroadcastReturned,
    ChainRead,
    LookAtChain,
    MakeAttempt,
    NotMade,
    ProveNonce,
    SendAttempt,
    SendResult,
)
from laneway.stores.redis import RedisStore
from laneway.stores.redis.engine_core import EngineCore

LAYOUTS = {"evm": EngineCore()}
ROOT = Path(__file__).parents[1]

BOXES = """
A0 A1 A2 A3 A4
W0 W1 W2 W3 W4 W5 W6 W7 W8 W9
C0 C1 CEND C2 C3 C4 C5 C6 C7 C8 C9 C10 C11
F0 F1 F2 F3 F4 F4A F4B F5 F6 F7 F8 F9
GB0 GB1 GB2 GB3 GB4 GB5 GB6 GB7 GB7A GB7B GB7C GB7D GB7E GB8 GB9 GB10
F10 F11 F12 F13 FEND F14 F15 F16 F17 F18 F19 F20 F21 F22 F23 F24 F25 F26 F27
S0 S1 S2 S3 S4 S5 S6 SERR
SR0 SR1 SR2 SR3 SR4 SR5 SR6 SR7 SR8 SR9 SR10 SR11
SN0 SN1 SN2 SEND
NN0 NN1 NN2 NN3 NN4 NN5 NN6 NN7 NN8 NN9 NN10
"""

PLACES = {
    "": "laws/test_eoa_charts.py",
    "hazards": "laws/test_eoa_hazards.py",
    "store": "contracts/test_store.py",
    "nodes": "chains/evm/test_nodes.py",
    "looking": "engine/eoa/test_looking.py",
    **{
        name: f"lanes/eoa/test_{name}.py"
        for name in ("answers", "fees", "fold", "lane", "sightings", "timers")
    },
}


def table() -> list[tuple[list[str], str]]:
    assert __doc__ is not None
    rows = re.findall(r"^\| ((?:[A-Z]+[0-9]*[A-Z]?(?: |))+)\| (.+) \|$", __doc__, re.MULTILINE)
    return [(boxes.split(), law) for boxes, law in rows]


def test_every_box_has_a_law_that_is_there() -> None:
    named: dict[str, list[str]] = {}
    for boxes, law in table():
        for box in boxes:
            named.setdefault(box, []).append(law)
    assert sorted(named) == sorted(BOXES.split())
    for box, laws in named.items():
        for law in laws:
            place, _, name = law.rpartition("::")
            assert name in laws_in(PLACES[place]), (box, law)


@cache
def laws_in(place: str) -> frozenset[str]:
    text = (ROOT / place).read_text(encoding="utf-8")
    return frozenset(re.findall(r"^def (test_\w+)", text, re.MULTILINE))


# A: from a request to the queue.


def engine_story(story: Any) -> None:
    async def told() -> None:
        async with EvmDevnet(block_ms=50) as devnet:
            await story(devnet)

    asyncio.run(told())


@pytest.mark.slow
def test_a0_a1_a_repeated_key_is_answered_with_the_same_intent_and_not_queued_again(
    tmp_path: Path,
) -> None:
    """Stricter: the seed's executor queues a repeated key again, also after it confirmed."""

    async def story(devnet: EvmDevnet) -> None:
        async with opened(tmp_path, [devnet.url]) as engine:
            first = await engine.pay(1, key="order-7")
            await engine.confirmed(first)
            again = await engine.pay(1, key="order-7")
            assert (again.id, again.replayed) == (first.id, True)
            await engine.confirmed(again, await engine.pay(2))
        assert paid(devnet) == once([1, 2])

    engine_story(story)


@pytest.mark.slow
def test_a2_what_was_accepted_is_durable_and_paid_by_the_next_life(tmp_path: Path) -> None:
    async def story(devnet: EvmDevnet) -> None:
        nobody = "http://127.0.0.1:9"
        async with opened(tmp_path, [nobody]) as engine:
            handles = await engine.pay_all([1, 2, 3])
        async with opened(tmp_path, [devnet.url]) as engine:
            await engine.until(lambda: len(engine.heard.results) == 3)
            assert [one.intent for one in engine.heard.results] == [one.id for one in handles]
        assert paid(devnet) == once([1, 2, 3])

    engine_story(story)


@pytest.mark.slow
def test_a3_an_intent_knows_its_lane_and_a_hash_finds_its_intent(tmp_path: Path) -> None:
    async def story(devnet: EvmDevnet) -> None:
        async with opened(tmp_path, [devnet.url]) as engine:
            handle = await engine.pay(1)
            await engine.confirmed(handle)
            view = await engine.laneway.store.intent(handle.id)
            assert view is not None
            assert view.intent.lane == account_lane(CHAIN_ID, address())
            (signed,) = engine.heard.of(AttemptSigned)
            found = await engine.laneway.store.find("hash", signed.attempt.hash.hex())
            assert found is not None
            assert found.intent == handle.id

    engine_story(story)


class Openings(Heard):
    def __init__(self) -> None:
        super().__init__()
        self.lanes: list[LaneId] = []

    def opened(self, lane: LaneId) -> None:
        self.lanes.append(lane)


@pytest.mark.slow
def test_a4_w0_one_lane_runs_an_account_however_often_it_is_given_work(tmp_path: Path) -> None:
    async def story(devnet: EvmDevnet) -> None:
        heard = Openings()
        async with opened(tmp_path, [devnet.url], heard=heard, keys=KEYS[:2]) as engine:
            named = [HOT, f"evm:{CHAIN_ID}:hot", f"evm:dev:0x{address().hex()}"]
            handles = [await engine.pay(n + 1, lane=lane) for n, lane in enumerate(named)]
            handles.append(await engine.pay(1, lane="evm:dev:hot1"))
            await engine.confirmed(*handles)
        accounts = [account_lane(CHAIN_ID, address(key)) for key in KEYS[:2]]
        assert [lane for lane in heard.lanes if lane.startswith("evm:")] == accounts
        assert paid(devnet) == once([1, 2, 3])
        assert paid(devnet, KEYS[1]) == once([1])

    engine_story(story)


# W: one life of a lane.


def sends(world: World) -> list[SendAttempt]:
    return [effect for effect in world.out if isinstance(effect, SendAttempt)]


def makes(world: World) -> list[MakeAttempt]:
    return [effect for effect in world.out if isinstance(effect, MakeAttempt)]


def test_w2_w4_after_a_crash_the_borrowed_go_out_before_anything_new() -> None:
    world = begun(2)
    make_all(world)
    world.crash()
    assert [(one.slot, one.again) for one in sends(world)] == [(1, True), (2, True)]
    assert makes(world) == []
    world.accept(1)
    world.pull()
    assert [one.nonce for one in makes(world)] == [2]
    assert world.out.index(makes(world)[0]) == 2


def test_w3_f3_f10_every_look_confirms_whatever_else_it_finds() -> None:
    """With a manual reset, a standstill and someone else's number at once."""
    world = begun(3)
    make_all(world)
    for slot in (1, 2, 3):
        take(world, slot)
    world.tell("reset-nonce")
    later(world, world.settings.bump_after_ms)
    chain(world, 2, 1, receipt(world, 2, 1, 1))
    chain(world, 2, 2)
    assert status(world.lane.slots[2], world.lane) is Status.INCLUDED
    assert world.lane.slots[1].proving


def test_w5_to_w8_while_work_remains_the_lane_is_woken_and_without_it_sleeps() -> None:
    world = begun(1)
    make_all(world)
    take(world, 1)
    assert deadline(world.lane) is not None
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    assert deadline(world.lane) is not None, "mined is not final"
    chain(world, 1, 4)
    assert (deadline(world.lane), resume(world.lane)) == (None, ())


@pytest.mark.slow
def test_w9_an_engine_that_ends_gives_its_lanes_away_at_once(tmp_path: Path) -> None:
    (redis,) = shared(1)
    empty([redis])

    async def story(devnet: EvmDevnet) -> None:
        async with opened(tmp_path, [devnet.url], store=redis.url) as engine:
            await engine.confirmed(await engine.pay(1))
            store = await RedisStore(redis.url, layouts=LAYOUTS).open()
            lane, heir = account_lane(CHAIN_ID, address()), Owner("heir")
            await store.beat(heir, 60_000)
            assert await store.claim(lane, heir) is None
        assert await store.claim(lane, heir) is not None
        await store.close()

    engine_story(story)


# C: what was borrowed when a life ended.


def test_c0_to_c4_the_same_bytes_go_out_again_in_the_order_of_their_numbers() -> None:
    world = begun(3)
    make_all(world)
    first = {effect.slot: effect.raw for effect in sends(world)}
    world.post(BroadcastReturned(world.now_ms, (unknown(2, 1), unknown(1, 1))))
    world.crash()
    again = sends(world)
    assert [effect.slot for effect in again] == [1, 2, 3]
    assert {effect.slot: effect.raw for effect in again} == first
    assert all(effect.nodes == NODES for effect in again)


def unknown(slot: int, number: int, node: str = "a") -> SendResult:
    return SendResult(slot, number, node, Outcome.UNKNOWN, reason="no answer")


def test_c1_with_nothing_borrowed_there_is_nothing_to_recover() -> None:
    world = begun(0)
    world.crash()
    assert world.out == []


def test_c5_c9_an_unclear_answer_counts_as_sent_and_a_taken_one_is_submitted() -> None:
    """The hash leads to the intent from the moment it is signed, not only from here on: a chain
    may be quicker than our own record of a node's answer."""
    world = begun(1)
    make_all(world)
    intent = next(iter(world.accepted))
    assert list(world.indexes.values()) == [intent]
    world.post(BroadcastReturned(world.now_ms, (unknown(1, 1),)))
    assert world.lane.slots[1].nonce == 0
    assert status(world.lane.slots[1], world.lane) is Status.SIGNED
    take(world, 1)
    assert status(world.lane.slots[1], world.lane) is Status.SUBMITTED


def test_c7_c8_c10_a_nack_frees_the_number_and_the_intent_keeps_its_order() -> None:
    """Stricter: the seed puts it back with the time of now, and later ones overtake it."""
    world = begun(2)
    make_all(world)
    first, second = world.accepted
    refuse(world, 1, 1)
    assert 1 not in world.lane.slots
    assert world.lane.free.rows() == {0: 1}
    assert list(world.lane.returned) == [first]
    world.accept(1)
    world.pull()
    assert len(world.lane.slots) == 1, "nobody overtakes it"
    later(world, world.settings.make_retry_ms)
    bound = {nonce: world.lane.slots[slot].intent for nonce, slot in world.lane.nonces.items()}
    assert bound == {0: first, 1: second}


def test_c10_stricter_what_was_sent_again_is_never_nacked() -> None:
    """The seed nacks a rebroadcast too; a node may have taken the first offer and passed it on."""
    world = begun(1)
    make_all(world)
    world.crash()
    no = tuple(
        SendResult(1, 1, node, Outcome.REFUSED, first=False, final=True, reason="no")
        for node in NODES
    )
    world.post(BroadcastReturned(world.now_ms, no))
    assert world.lane.slots[1].nonce == 0
    assert world.lane.free.count == 0


def test_c11_a_final_failure_answers_the_caller_and_recycles_the_number() -> None:
    world = begun(2)
    make_all(world)
    refuse(world, 1, 1, hopeless=True)
    (result,) = world.results.values()
    assert (result.status, result.reason) == ("refused", "no")
    assert world.lane.free.rows() == {0: 1}


# F: what the chain confirms.


def test_f1_f2_stricter_a_reset_keeps_what_is_bound_and_remembers_five_times() -> None:
    """The seed forgets all and begins at the chain's count."""
    world = begun(3)
    make_all(world)
    refuse(world, 2, 1, hopeless=True)
    assert world.lane.free.rows() == {1: 2}
    for _ in range(7):
        world.now_ms += 1
        world.tell("reset-nonce")
    assert world.lane.head.nonce_next == 3
    assert world.lane.free.rows() == {1: 2}, "a hole below what is out must still be filled"
    assert len(world.lane.head.health.resets_ms) == 5
    assert world.lane.head.health.resets_ms[-1] == world.now_ms


def test_f4_the_first_read_sets_the_numbers() -> None:
    world = World(1)
    world.faults = False
    assert world.lane.head.nonce_next is None
    chain(world, 7, 3)
    head = world.lane.head
    assert (head.nonce_next, head.latest, head.offered_next) == (7, 7, 7)


def test_f5_to_f8_only_a_standstill_of_a_minute_with_something_out_is_acted_on() -> None:
    world = begun(0)
    assert bump_ms(world.lane) is None, "nothing is out"
    world = begun(2)
    make_all(world)
    for slot in (1, 2):
        take(world, slot)
    world.now_ms += 50_000
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    world.out = []
    later(world, 59_000)
    assert makes(world) == [], "the count rose less than a minute ago"
    later(world, 1_000)
    assert [one.nonce for one in makes(world)] == [1]


def promised(world: World, latest: int, preconfirmed: int, block: int) -> None:
    since = world.lane.head.block_hash
    hash_ = bytes([block])
    world.post(ChainRead(world.now_ms, since, latest, preconfirmed, 10**19, 100, 1, block, hash_))


def test_f6_gb0_a_promised_number_is_progress_and_the_one_behind_it_is_expected() -> None:
    world = begun(3)
    make_all(world)
    for slot in (1, 2, 3):
        take(world, slot)
    world.now_ms += 50_000
    promised(world, 0, 1, 1)
    world.out = []
    later(world, 59_000)
    assert makes(world) == [], "the promise was progress"
    later(world, 1_000)
    assert [one.nonce for one in makes(world)] == [1], "a promised number needs no higher fee"


def test_f9_an_account_without_funds_bumps_nothing() -> None:
    world = begun(2)
    make_all(world)
    take(world, 1)
    poor = SendResult(2, 1, "a", Outcome.REFUSED, broke=True, reason="insufficient funds")
    world.post(BroadcastReturned(world.now_ms, (poor,)))
    assert world.lane.head.broke
    world.out = []
    later(world, 10 * world.settings.bump_after_ms)
    assert makes(world) == []


# GB: a higher fee.


def test_gb0_what_was_never_offered_is_not_offered_with_the_one_that_stands_still() -> None:
    """Numbers are offered without a gap: bytes above one that is not made yet stay here. Once they
    were out, that one could fall out from below them, and they would be paid at another number."""
    world = begun(3)
    first, _, third = makes(world)
    world.out = []
    world.post(AttemptsMade(world.now_ms, (world.make(first),)))
    world.post(AttemptsMade(world.now_ms, (world.make(third),)))
    take(world, 1)
    world.out = []
    later(world, world.settings.bump_after_ms)
    make_all(world)
    assert {one.slot for one in sends(world)} == {1}
    no = NotMade(2, 1, final=True, reason="it is malformed")
    world.post(AttemptsMade(world.now_ms, (no,)))
    assert sorted(world.lane.nonces) == [0, 1]


def test_gb0_what_was_never_offered_is_not_offered_because_a_dearer_one_is_parked() -> None:
    world = begun(3, fee_wei_max=220)
    first, _, third = makes(world)
    world.post(AttemptsMade(world.now_ms, (world.make(first), world.make(third))))
    take(world, 1)
    world.now_ms += world.settings.bump_after_ms
    world.tell("bump", list(world.accepted.values())[2])
    world.out = [one for one in makes(world) if (one.slot, one.number) == (3, 2)]
    make_all(world)
    assert world.lane.slots[3].wait_reason == "parked_by_cap"
    assert sends(world) == []


def test_gb3_a_no_op_below_all_that_was_settled_ends_like_any_other() -> None:
    """A number that someone else had used before us, until a reorg took that back."""
    world = begun(0)
    chain(world, 1, 5)
    world.accept(1)
    world.pull()
    make_all(world)
    assert sorted(world.lane.nonces) == [1]
    chain(world, 0, 6, fork=4)
    later(world, world.settings.bump_after_ms)
    make_all(world)
    assert sorted(world.lane.nonces) == [0, 1]
    slots, world.out = dict(world.lane.nonces), []
    for block in (7, 8):
        chain(world, 2, block, receipt(world, slots[1], 1, 7))
    assert [one.nonce for one in world.out if isinstance(one, ProveNonce)] == [0]
    chain(world, 2, 9, *(receipt(world, slot, 1, 7) for slot in world.lane.slots))
    chain(world, 2, 20)
    assert len(world.results) == 1
    assert (world.lane.slots, world.lane.head.spend) == ({}, b"")
    assert deadline(world.lane) is None


def test_gb4_to_gb6_an_attempt_younger_than_a_minute_is_left_alone() -> None:
    world = begun(1)
    world.now_ms += 59_000
    make_all(world)
    take(world, 1)
    later(world, 59_000)
    assert makes(world) == [], "the count stood still for two minutes, these bytes for one less"
    chain(world, 0, 1)
    later(world, 1_000)
    assert [one.number for one in makes(world)] == [2]


def bumping(count: int = 1) -> World:
    world = begun(count)
    make_all(world)
    for slot in range(1, count + 1):
        take(world, slot)
    world.out = []
    later(world, world.settings.bump_after_ms)
    assert [(one.slot, one.number) for one in makes(world)] == [(1, 2)]
    return world


@pytest.mark.parametrize("broke", [False, True])
def test_gb7_a_bump_that_cannot_be_made_leaves_the_last_attempt_as_it_was(broke: bool) -> None:
    world = bumping()
    before = world.lane.attempts[1]
    no = NotMade(1, 2, final=not broke, reason="it reverts", broke=broke)
    world.post(AttemptsMade(world.now_ms, (no,)))
    assert world.lane.attempts[1] == before
    assert world.results == {}
    assert world.lane.free.count == 0
    assert world.lane.head.broke is broke
    assert world.lane.slots[1].delayed, "it is tried again"
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    chain(world, 1, 9)
    assert [result.status for result in world.results.values()] == ["confirmed"]


def test_gb7c_gb7d_a_count_that_moved_meanwhile_ends_the_bump() -> None:
    world = bumping(2)
    (order,) = makes(world)
    world.post(AttemptsMade(world.now_ms, (NotMade(1, 2, final=False, reason="away"),)))
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    chain(world, 1, 9)
    assert [result.status for result in world.results.values()] == ["confirmed"]
    world.out = []
    world.post(AttemptsMade(world.now_ms, (world.make(order),)))
    later(world, 1_000)
    assert sends(world) == [], "bytes for a number that is settled are nobody's"


def test_gb9_gb10_a_bump_is_durable_and_found_by_its_hash_before_it_is_sent() -> None:
    world = bumping()
    make_all(world)
    (sent,) = sends(world)
    assert (sent.slot, sent.number) == (1, 2)
    kept = world.restored()
    assert kept.raw(kept.attempts[1][2]) == sent.raw
    assert len(kept.attempts[1]) == 2, "whichever lands decides"
    intent = next(iter(world.accepted))
    assert list(world.indexes.values()) == [intent, intent]


# F again: cleaning up.


def test_f11_a_count_that_fell_frees_nothing_and_lowers_nothing() -> None:
    """A reorg or a node that lags; either way numbers that are out stay bound."""
    world = begun(3)
    make_all(world)
    chain(world, 2, 5, receipt(world, 1, 1, 4), receipt(world, 2, 1, 5))
    chain(world, 0, 6)
    assert sorted(world.lane.nonces) == [0, 1, 2]
    assert (world.lane.head.nonce_next, world.lane.free.count) == (3, 0)


def test_f16_f17_f25_one_mined_hash_ends_all_attempts_of_its_intent() -> None:
    world = bumping()
    make_all(world)
    first = world.lane.attempts[1][1].hash
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    chain(world, 1, 9)
    (result,) = world.results.values()
    assert (result.status, result.hash) == ("confirmed", first)
    assert world.rows == {}
    assert world.lane.hashes == {}


def test_f22_f23_stricter_replaced_needs_anothers_final_hash_and_order_is_kept() -> None:
    """The seed takes a missing receipt for a replacement, and queues the intent anew."""
    world = begun(3)
    make_all(world)
    first = next(iter(world.accepted))
    chain(world, 1, 2)
    chain(world, 1, 3)
    assert world.lane.slots[1].proving, "no receipt is no proof"
    other(world, 0, 3)
    assert 1 in world.lane.slots, "a reorg may still take the other's away"
    world.now_ms += world.settings.poll_ms
    chain(world, 1, 8)
    other(world, 0, 3)
    assert list(world.lane.returned) == [first]
    assert wants(world.lane) == 0, "nobody overtakes it"
    later(world, world.settings.make_retry_ms)
    assert world.lane.slots[world.lane.nonces[3]].intent == first


def test_f24_f26_what_a_flashblock_promised_is_neither_confirmed_nor_replaced() -> None:
    world = begun(2)
    make_all(world)
    world.out = []
    promised(world, 0, 2, 3)
    assert world.out == [], "nobody is asked who used a number that is only promised"
    assert sorted(world.lane.nonces) == [0, 1]
    assert all(slot.seen is None for slot in world.lane.slots.values())
    assert world.results == {}


# S: whether anything may be sent.


def test_s0_health_begins_with_the_first_read() -> None:
    world = World(1)
    assert world.lane.head.health.balance is None
    chain(world, 0, 1)
    health = world.lane.head.health
    assert int.from_bytes(health.balance or b"", "big") == 10**19
    assert (health.threshold, health.balance_ms, health.moved_ms) == (
        b"",
        world.now_ms,
        world.now_ms,
    )


def test_s2_s3_stricter_the_balance_is_read_with_every_look_and_not_after_five_minutes() -> None:
    world = begun(1)
    poor = NotMade(1, 1, final=False, reason="insufficient funds", broke=True)
    world.post(AttemptsMade(world.now_ms, (poor,)))
    later(world, world.settings.poll_ms)
    assert any(isinstance(effect, LookAtChain) for effect in world.out)
    for wei, broke in ((world.balance(), True), (world.balance() + 1, False)):
        since = world.lane.head.block_hash
        world.post(ChainRead(world.now_ms, since, 0, 0, wei, 100, 1, 1, b"b"))
        assert world.lane.head.broke is broke


# SR: recycled numbers come first.


def test_sr0_sn0_no_new_number_while_one_is_free() -> None:
    world = begun(3)
    make_all(world)
    refuse(world, 2, 1)
    world.accept(2)
    world.pull()
    assert world.lane.head.nonce_next == 3
    later(world, world.settings.make_retry_ms)
    assert world.lane.free.count == 0
    world.pull()
    assert world.lane.head.nonce_next == 5


def test_sr4_sr5_what_nobody_takes_is_filled_by_a_no_op() -> None:
    world = begun(3)
    make_all(world)
    for slot in (1, 2):
        refuse(world, slot, 1, hopeless=slot == 2)
    later(world, world.settings.make_retry_ms)
    purposes = {nonce: world.lane.slots[slot].purpose for nonce, slot in world.lane.nonces.items()}
    assert purposes == {0: "intent", 1: "noop", 2: "intent"}
    make_all(world)
    assert status(world.lane.slots[world.lane.nonces[1]], world.lane) is Status.SIGNED


def test_sr8_to_sr11_a_recycled_number_is_claimed_signed_and_sent_like_any_other() -> None:
    world = begun(2)
    make_all(world)
    refuse(world, 1, 1)
    later(world, world.settings.make_retry_ms)
    slot = world.lane.nonces[0]
    assert (world.lane.returned, world.lane.free.count) == ({}, 0)
    world.out = [effect for effect in world.out if isinstance(effect, MakeAttempt)]
    make_all(world)
    assert [(one.slot, one.again) for one in sends(world)] == [(slot, False)]
    take(world, slot)
    assert status(world.lane.slots[slot], world.lane) is Status.SUBMITTED


# SN and NN: new numbers.


def test_sn1_sn2_the_budget_is_what_is_in_flight_by_the_chains_count() -> None:
    world = begun(16, inflight=16)
    assert (budget(world.lane), wants(world.lane)) == (0, 0)
    make_all(world)
    chain(world, 3, 1, *(receipt(world, slot, 1, 1) for slot in (1, 2, 3)))
    assert budget(world.lane) == 3


def test_nn1_to_nn3_waiting_intents_are_given_the_next_numbers_in_their_order() -> None:
    world = begun(3)
    assert [(one.nonce, one.payload.decode()) for one in makes(world)] == list(
        enumerate(world.accepted)
    )
    assert world.lane.head.nonce_next == 3
    world = begun(0)
    world.pull()
    assert world.out == []


def test_nn3_a_number_that_the_chain_says_is_used_is_never_given_out() -> None:
    """Someone else has the key too. The seed gives out its optimistic number all the same."""
    world = begun(1)
    make_all(world)
    chain(world, 4, 3)
    world.accept(2)
    world.pull()
    assert sorted(world.lane.nonces) == [0, 4, 5]
    make_all(world)
    assert [world.lane.slots[one.slot].nonce for one in sends(world)] == [0, 4, 5]


def test_nn7_nn8_bytes_are_durable_before_they_are_sent_and_numbers_strictly_follow() -> None:
    world = begun(3)
    make_all(world)
    assert [one.slot for one in sends(world)] == [1, 2, 3]
    kept = world.restored()
    for sent in sends(world):
        assert kept.raw(kept.attempts[sent.slot][sent.number]) == sent.raw
    assert [kept.slots[one.slot].nonce for one in sends(world)] == [0, 1, 2]


def test_nn9_nn10_the_budget_shrinks_by_what_was_sent_and_grows_by_what_was_mined() -> None:
    world = begun(5, inflight=16)
    assert budget(world.lane) == 11
    make_all(world)
    for slot in range(1, 6):
        take(world, slot)
    assert budget(world.lane) == 11
    chain(world, 5, 1, *(receipt(world, slot, 1, 1) for slot in range(1, 6)))
    assert budget(world.lane) == 16
