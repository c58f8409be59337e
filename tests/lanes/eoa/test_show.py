"""An account's lane for people."""

from tests.lanes.eoa.stage import begun, chain, make_all, receipt, take

from laneway.core.outcome import Status
from laneway.lanes.eoa.lane import encode
from laneway.lanes.eoa.show import describe, status
from laneway.lanes.eoa.values import EoaHead, Health


def test_a_lane_that_never_ran_is_idle() -> None:
    assert describe(b"").word == "idle"
    assert describe(encode(EoaHead())).word == "idle"


def test_a_lane_says_how_much_is_in_flight() -> None:
    shown = describe(encode(EoaHead(nonce_next=7, latest=4)))
    assert (shown.word, shown.running) == ("running", 3)


def test_a_paused_lane_says_by_whom_and_why() -> None:
    shown = describe(encode(EoaHead(mode="paused", reason="audit", by="ann", mode_ms=5)))
    assert (shown.word, shown.reason, shown.by, shown.since_ms) == ("paused", "audit", "ann", 5)


def test_a_lane_without_funds_says_what_it_has_and_needs() -> None:
    head = EoaHead(broke=True, health=Health(balance=b"\x01\x00", threshold=b"\x02\x00"))
    assert "it has 256 wei, more than 512 is needed" in describe(encode(head)).reason


def test_a_slots_word_follows_from_its_facts() -> None:
    world = begun(1)
    assert status(world.lane.slots[1], world.lane) is Status.QUEUED
    make_all(world)
    assert status(world.lane.slots[1], world.lane) is Status.SIGNED
    take(world, 1)
    assert status(world.lane.slots[1], world.lane) is Status.SUBMITTED
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    assert status(world.lane.slots[1], world.lane) is Status.INCLUDED
