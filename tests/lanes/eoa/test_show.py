"""An account's lane for people."""

from typing import Any

import pytest
from tests.lanes.eoa.stage import SETTINGS, begun, chain, make_all, receipt, refuse, replace, take

from laneway.core.ids import IntentId
from laneway.core.outcome import Outcome, Status
from laneway.lanes.common.heads import encode
from laneway.lanes.eoa.limits import REFUSALS_MAX
from laneway.lanes.eoa.rows import EoaHead, Health
from laneway.lanes.eoa.settings import EoaSettings
from laneway.lanes.eoa.show import (
    NO_MAJORITY,
    UNPROVEN,
    answers,
    describe,
    read_head,
    sight,
    status,
    wait_reason,
    waiting,
)
from laneway.lanes.eoa.values import AttemptsMade, BroadcastReturned, NotMade, SendResult


def test_a_lane_that_never_ran_is_idle() -> None:
    assert describe(b"").word == "idle"
    assert describe(encode(EoaHead())).word == "idle"


def test_a_lane_says_how_much_is_in_flight() -> None:
    shown = describe(encode(EoaHead(nonce_next=7, latest=3, open_count=4, noop_count=1)))
    assert (shown.word, shown.reason, shown.running) == ("running", "", 3)


def test_a_lane_with_too_many_free_numbers_says_so() -> None:
    shown = describe(encode(EoaHead(free_count=51, crowded=True)))
    assert "51 nonces are free" in shown.reason


def test_a_draining_lane_says_by_whom() -> None:
    shown = describe(encode(EoaHead(mode="draining", by="ann")))
    assert (shown.word, shown.by) == ("draining", "ann")


def test_a_paused_lane_says_by_whom_and_why() -> None:
    shown = describe(encode(EoaHead(mode="paused", reason="audit", by="ann", mode_ms=5)))
    assert (shown.word, shown.reason, shown.by, shown.since_ms) == ("paused", "audit", "ann", 5)


def test_a_lane_without_funds_says_what_it_has_and_needs() -> None:
    health = Health(balance=b"\x01\x00", threshold=b"\x01\x00", needed=b"\x02\x00")
    shown = describe(encode(EoaHead(broke=True, health=health)))
    assert (shown.word, shown.reason) == (
        "halted",
        "out_of_funds: it has 256 wei, 512 are needed",
    )
    unknown = describe(encode(EoaHead(broke=True, health=replace(health, needed=b""))))
    assert unknown.reason == "out_of_funds: it has 256 wei, more than 256 are needed"


def test_a_slots_word_follows_from_its_facts() -> None:
    world = begun(1)
    assert status(world.lane.slots[1], world.lane) is Status.QUEUED
    make_all(world)
    assert status(world.lane.slots[1], world.lane) is Status.SIGNED
    take(world, 1)
    assert status(world.lane.slots[1], world.lane) is Status.SUBMITTED
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    assert status(world.lane.slots[1], world.lane) is Status.INCLUDED


def test_an_open_intent_says_why_it_waits() -> None:
    world = begun(3)
    one, two, three = world.accepted

    def waits(intent: IntentId) -> str:
        return sight(world.lane, intent).waits

    assert waits(one) == "being_made"
    first, second, third = world.out
    failed = NotMade(first.slot, first.number, final=False, reason="the signer is away")
    world.post(AttemptsMade(world.now_ms, (failed, world.make(second), world.make(third))))
    assert waits(one) == "the signer is away"
    assert waits(two) == "gap_before"
    world.now_ms += 60_000
    world.post(AttemptsMade(world.now_ms, (world.make(first),)))
    assert waits(one) == "no_node_has_it"
    busy = SendResult(1, 1, "a", Outcome.UNKNOWN, reason="429")
    world.post(BroadcastReturned(world.now_ms, (busy,)))
    assert waits(one) == "429"
    take(world, 1)
    assert (waits(one), sight(world.lane, one).status) == ("not_mined_yet", Status.SUBMITTED)
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    assert waits(one) == "not_final_yet"
    refuse(world, 3, 1)
    assert (waits(three), sight(world.lane, three).status) == (
        "returned: no",
        Status.QUEUED,
    )
    world.tell("replace", world.accepted[two], "b")
    found = sight(world.lane, two).history
    assert found is not None
    assert (found.slot.nonce, found.payload[-2:]) == (1, b"!b")
    assert waits(IntentId("another")) == "gap_before"


@pytest.mark.parametrize(
    ("word", "head"),
    [
        ("paused", {"mode": "paused"}),
        ("paused", {"mode": "draining"}),
        ("", {"mode": "draining", "drain_left": 1, "nonce_next": 0}),
        ("out_of_funds", {"broke": True}),
        ("account_not_read", {}),
        ("recycled_above_max", {"nonce_next": 0, "crowded": True}),
        ("gap_before", {"nonce_next": 0, "returned_count": 1}),
        ("gap_before", {"nonce_next": 0, "free_count": 1}),
        ("window_closed", {"nonce_next": 20, "latest": 4}),
        ("", {"nonce_next": 19, "latest": 4}),
    ],
)
def test_a_waiting_intent_says_why_it_has_no_number(word: str, head: dict[str, Any]) -> None:
    state = read_head(encode(EoaHead(**head)))
    assert waiting(state, EoaSettings(inflight=16)) == word


def test_each_nodes_answer_is_shown() -> None:
    world = begun(1)
    make_all(world)
    world.post(BroadcastReturned(world.now_ms, (SendResult(1, 1, "a", Outcome.ACCEPTED),)))
    assert answers(world.lane.attempts[1][1]) == {"a": "taken", "b": "silent"}


def test_a_lane_that_is_halted_says_why_and_so_does_what_waits() -> None:
    head = EoaHead(halted="nonce 7 is used", halted_nonce=7, halted_ms=5)
    shown = describe(encode(head))
    assert (shown.word, shown.reason, shown.since_ms) == ("halted", "nonce 7 is used", 5)
    assert waiting(head, EoaSettings()) == "nonce 7 is used"


def test_what_is_deep_or_used_and_not_proven_says_so() -> None:
    world = begun(2)
    make_all(world)
    chain(world, 2, 1, receipt(world, 1, 1, 1), agreed=())
    first, second = world.lane.slots.values()
    assert wait_reason(world.lane, first) == "not_final_yet"
    assert wait_reason(world.lane, second) == UNPROVEN
    chain(world, 2, 9, agreed=())
    assert wait_reason(world.lane, world.lane.slots[1]) == NO_MAJORITY
    world.lane.head.halted, world.lane.head.halted_nonce = "nonce 1 is used", 1
    assert wait_reason(world.lane, second) == "nonce 1 is used"


def test_those_above_a_number_that_waits_say_what_it_waits_for() -> None:
    world = begun(2)
    make_all(world)
    for slot in (1, 2):
        take(world, slot)
    low = replace(world.lane.slots[1], delayed=True, making=True, wait_reason="parked_by_cap: dear")
    world.lane.slots[1] = low
    above = wait_reason(world.lane, world.lane.slots[2])
    assert above == "gap_before: nonce 0 waits: parked_by_cap: dear"
    assert wait_reason(world.lane, low) == "parked_by_cap: dear"


REFUSED = "every node refuses a no-op for a free nonce: underpriced"


def test_a_lane_whose_no_ops_every_node_refuses_says_so() -> None:
    def head(refusals: int, free: int = 1) -> EoaHead:
        return EoaHead(
            nonce_next=7, latest=3, open_count=3, free_count=free, noop_refusals=refusals,
            noop_reason="underpriced",
        )  # fmt: skip

    assert describe(encode(head(REFUSALS_MAX - 1))).word == "running"
    shown = describe(encode(head(REFUSALS_MAX)))
    assert (shown.word, shown.reason, shown.running) == ("backing off", REFUSED, 3)
    assert describe(encode(head(9, free=0))).word == "running"
    assert waiting(head(1), SETTINGS) == f"gap_before: {REFUSED}"
    assert waiting(head(0), SETTINGS) == "gap_before"


def test_what_is_above_a_number_that_no_no_op_fills_waits_for_it() -> None:
    world = begun(2)
    make_all(world)
    take(world, 2)
    refuse(world, 1, 1, hopeless=True)
    assert wait_reason(world.lane, world.lane.slots[2]) == "not_mined_yet"
    world.lane.head.noop_refusals, world.lane.head.noop_reason = 1, "underpriced"
    assert wait_reason(world.lane, world.lane.slots[2]) == f"gap_before: nonce 0 waits: {REFUSED}"
