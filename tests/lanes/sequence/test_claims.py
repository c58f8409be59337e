"""Numbers for intents, in their order."""

from tests.lanes.sequence.stage import HEIGHT, Stage, begun, offered, out

from laneway.core.cosmos import OfferKind
from laneway.lanes.common.values import IntentDropped, IntentsOffered
from laneway.lanes.sequence.limits import CLAIMS_MAX
from laneway.lanes.sequence.values import LookAtNode, MakeAttempt, NodeChanged, SlotClaimed


def test_an_account_is_read_before_its_first_number() -> None:
    stage = Stage()
    stage.accept(2)
    stage.pull()
    assert [order.node for order in stage.take(LookAtNode)] == ["a", "b"]
    assert all(isinstance(record, NodeChanged) for record in stage.told)
    assert stage.kind.wants(stage.lane) == 0


def test_numbers_follow_the_order_of_the_backlog() -> None:
    stage = begun(3)
    orders = stage.take(MakeAttempt)
    assert [(order.slot, order.sequence, order.account_number) for order in orders] == [
        (1, 0, 7),
        (2, 1, 7),
        (3, 2, 7),
    ]
    assert [order.payload.decode() for order in orders] == list(stage.accepted)
    assert {order.height for order in orders} == {HEIGHT}


def test_no_more_are_taken_than_the_window_holds() -> None:
    stage = begun(5, inflight=2)
    assert list(stage.sequences()) == [0, 1]
    assert stage.kind.wants(stage.lane) == 0
    assert Stage(inflight=9_999).kind.wants(begun(0, inflight=9_999).lane) == CLAIMS_MAX
    stage.post(IntentsOffered(stage.now_ms, tuple(stage.accepted.values())))
    assert stage.told == []


def test_a_slot_keeps_when_its_intent_was_accepted() -> None:
    stage = begun(0)
    stage.accept(1)
    stage.now_ms += 1
    (intent,) = stage.accepted.values()
    stage.pull()
    (slot,) = stage.lane.slots.values()
    assert (slot.accepted_ms, slot.claimed_ms) == (intent.accepted_ms, stage.now_ms)


def test_an_intent_that_is_valid_no_longer_is_expired_when_its_turn_comes() -> None:
    stage = begun(0)
    stage.accept(1, valid_until_ms=stage.now_ms - 1)
    stage.accept(1, valid_until_ms=stage.now_ms)
    stage.pull()
    assert isinstance(stage.told[0], IntentDropped)
    assert isinstance(stage.told[1], SlotClaimed)
    assert stage.statuses() == ["expired", ""]


def test_an_account_that_rested_is_read_again() -> None:
    stage = begun(0)
    stage.accept(1)
    stage.now_ms += stage.settings.rest_ms + 1
    stage.pull()
    assert stage.sequences() == {}
    assert [order.node for order in stage.take(LookAtNode)] == ["a", "b"]
    # Asked once: whoever is looked at anyway is not asked again.
    stage.pull()
    assert stage.told == []


def test_nothing_new_is_signed_while_every_node_is_recovered() -> None:
    stage = offered(1)
    stage.accept(1)
    stage.answer("a", OfferKind.MEMPOOL_FULL)
    assert stage.kind.wants(stage.lane) > 0
    stage.answer("b", OfferKind.MEMPOOL_FULL)
    assert stage.kind.wants(stage.lane) == 0


def test_nothing_new_is_signed_while_someone_may_have_taken_an_intents_place() -> None:
    stage = out(1)
    stage.accept(1)
    stage.all_look(HEIGHT + 1, 1)
    assert stage.lane.head.used_count == 1
    assert stage.kind.wants(stage.lane) == 0


def test_a_lane_that_drains_takes_what_was_there_and_no_more() -> None:
    stage = begun(1, inflight=2)
    stage.accept(2)
    stage.tell("drain", word="queue", seq=2)
    stage.accept(1)
    assert stage.kind.wants(stage.lane) == 1
    stage.post(IntentsOffered(stage.now_ms, tuple(stage.accepted.values())[1:]))
    assert list(stage.sequences()) == [0, 1]
    assert stage.kind.wants(stage.lane) == 0
    stage.tell("pause")
    assert stage.kind.wants(stage.lane) == 0


def test_what_lies_behind_the_drain_stays_in_the_backlog() -> None:
    stage = begun(1)
    stage.accept(2)
    stage.tell("drain", word="queue", seq=2)
    stage.lane.head.drain_left = 5
    stage.post(IntentsOffered(stage.now_ms, tuple(stage.accepted.values())[1:]))
    assert list(stage.sequences()) == [0, 1]


def test_a_drained_lane_wants_nothing() -> None:
    stage = begun(1)
    stage.tell("drain", word="running")
    assert stage.kind.wants(stage.lane) == 0
    stage.fail(final=True)
    assert stage.kind.wants(stage.lane) == 0
