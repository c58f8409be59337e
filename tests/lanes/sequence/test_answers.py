"""What comes of orders: bytes that were made, and what nodes say of those they were offered."""

import pytest
from tests.lanes.sequence.stage import (
    HEIGHT,
    IN_MEMPOOL,
    Stage,
    begun,
    committed,
    offered,
    out,
    replace,
)

from laneway.core.cosmos import OfferKind, TxStanding
from laneway.lanes.sequence import values as v
from laneway.lanes.sequence.limits import RAW_INLINE_MAX, RETRY_GROWTH_MAX
from laneway.lanes.sequence.rows import Purpose

FEE, WRONG, FULL = OfferKind.FEE_TOO_LOW, OfferKind.WRONG_SEQUENCE, OfferKind.MEMPOOL_FULL
SILENT, AWAY = OfferKind.SILENT, OfferKind.UNREACHABLE


# What was made.


def test_bytes_are_offered_when_they_are_durable_and_without_a_gap() -> None:
    stage = begun(3)
    first, second, third = stage.take(v.MakeAttempt)
    stage.post(v.AttemptsMade(stage.now_ms, (stage.made(third), stage.made(second))))
    assert stage.take(v.OfferToNode) == []
    stage.post(v.AttemptsMade(stage.now_ms, (stage.made(first),)))
    assert isinstance(stage.told[0], v.AttemptSigned)
    orders = stage.take(v.OfferToNode)
    assert [(order.node, order.first, len(order.raws)) for order in orders] == [
        ("a", 0, 3),
        ("b", 0, 3),
    ]


def test_many_bytes_have_a_row_of_their_own() -> None:
    stage = begun(1)
    stage.make(size=RAW_INLINE_MAX + 1)
    assert stage.attempt(1).raw == b""
    assert len(stage.lane.raws[1]) == RAW_INLINE_MAX + 1
    assert stage.offered("a").raws == (stage.lane.raws[1],)


def test_what_is_not_asked_for_any_more_is_not_heard() -> None:
    stage = begun(1)
    (order,) = stage.take(v.MakeAttempt)
    stage.post(v.AttemptsMade(stage.now_ms, (stage.made(order),)))
    twice = replace(stage.made(order), raw=b"other", hash=b"o" * 32)
    stage.post(v.AttemptsMade(stage.now_ms, (twice, replace(twice, slot=99))))
    assert stage.told == []


def test_making_is_tried_again_later_and_later() -> None:
    stage = begun(1, make_retry_ms=10)
    waits = []
    for _ in range(RETRY_GROWTH_MAX + 2):
        stage.fail()
        assert stage.lane.head.make_ms is not None
        waits.append(stage.lane.head.make_ms - stage.now_ms)
        stage.tick(waits[-1])
    assert waits[:3] == [10, 20, 40]
    assert waits[-1] == waits[-2]
    stage.make()
    assert stage.slot(1).make_tries == 0


def test_what_would_fail_is_tried_a_few_times_and_refused() -> None:
    stage = begun(1)
    stage.fail(fails=True)
    assert stage.statuses() == [""]
    stage.tick(100)
    stage.fail(fails=True)
    assert stage.statuses() == ["refused"]


def test_what_came_too_late_for_its_caller_is_expired() -> None:
    stage = begun(1)
    stage.fail(final=True, expired=True)
    assert stage.statuses() == ["expired"]


def test_one_that_can_never_be_made_falls_out_and_those_above_move_down() -> None:
    stage = begun(3)
    first, second, third = stage.take(v.MakeAttempt)
    hopeless = v.NotMade(second.slot, second.number, final=True, reason="no")
    made = (stage.made(third), hopeless, stage.made(first))
    stage.post(v.AttemptsMade(stage.now_ms, made))
    assert stage.statuses() == ["", "refused", ""]
    assert stage.sequences() == {0: 1, 1: 3}
    # The one below it is offered at once, and the one above only with its new number.
    assert stage.offered("a").hashes == (stage.attempt(1).hash,)
    (again,) = stage.take(v.MakeAttempt)
    assert (again.slot, again.number, again.sequence) == (3, 2, 1)


def test_a_number_is_filled_where_those_above_it_may_land() -> None:
    stage = out(2, attempts_max=3)
    # The first one's last block is over, the second one's is not.
    stage.change(2, timeout_height=99)
    stage.all_look(HEIGHT + 11, 0)
    stage.fail(final=True)
    assert stage.statuses() == ["refused", ""]
    assert isinstance(stage.told[0], v.SlotSettled)
    assert stage.slot(1).purpose == Purpose.FILLER
    (filler,) = stage.take(v.MakeAttempt)
    assert (filler.purpose, filler.payload, filler.sequence) == (Purpose.FILLER, b"", 0)
    # A filler is never hopeless: it is made until it is needed no more.
    failed = v.NotMade(filler.slot, filler.number, final=True, reason="no")
    stage.post(v.AttemptsMade(stage.now_ms, (failed,)))
    assert stage.slot(1).delayed


def test_what_is_signed_is_looked_after_though_no_node_is_offered_it() -> None:
    stage = out(1)
    stage.look_later("a", 6, 1, {1: TxStanding.COMMITTED})
    stage.look("b", 6, 1)
    stage.tell("set-sequence", word="5")
    stage.accept()
    stage.pull()
    stage.place("a", gate=6)
    stage.make()
    assert stage.take(v.OfferToNode, node="a") == []
    assert stage.node("a").look_ms == stage.now_ms + stage.settings.poll_ms


# What nodes say.


def test_what_all_nodes_took_is_submitted_once() -> None:
    stage = offered(2)
    stage.answer("b")
    (told,) = [record for record in stage.told if isinstance(record, v.Submitted)]
    assert (told.next, told.node, len(told.hashes)) == (2, "b", 2)
    stage.answer("a", IN_MEMPOOL)
    assert [record for record in stage.told if isinstance(record, v.Submitted)] == []
    assert [stage.node(name).next for name in "ab"] == [2, 2]


def test_an_answer_that_nobody_waits_for_says_nothing() -> None:
    stage = offered(1)
    order = stage.offered("a")
    answer = stage.returned(order)
    for stray in (
        replace(answer, node="c"),
        replace(answer, serial=order.serial + 1),
        replace(answer, again=7),
    ):
        stage.post(stray)
        assert stage.told == []
    stage.post(answer)
    stage.post(answer)
    assert stage.told == []


def test_an_answer_from_an_earlier_life_says_nothing_of_this_one() -> None:
    stage = offered(1)
    early = stage.returned(stage.offered("a"), FEE)
    stage.crash()
    stage.post(early)
    assert stage.told == []
    again = stage.offered("a")
    assert again.again == stage.lane.life
    stage.crash()
    stage.post(stage.returned(again, FEE))
    assert stage.told == []
    # It may have taken them in the life before, so its refusal proves nothing now.
    stage.answer("a", FEE)
    assert stage.attempt(1).refused == ()


@pytest.mark.parametrize("kind", [WRONG, FULL, OfferKind.NO_FUNDS, OfferKind.NO_ACCOUNT])
def test_what_a_block_may_change_is_offered_again_behind_the_next_one(kind: OfferKind) -> None:
    stage = offered(2)
    stage.answer("a", kind, expected=3, log="words")
    node = stage.node("a")
    assert (node.gate, node.expected, node.ours, node.next) == (HEIGHT, 3, 0, 0)
    assert node.reason == f"{kind.value}: words"
    stage.look_later("a", HEIGHT, 0)
    assert stage.take(v.OfferToNode, node="a") == []
    stage.look_later("a", HEIGHT + 1, 0)
    order = stage.offered("a")
    assert (order.first, len(order.raws)) == (0, 2)
    stage.post(stage.returned(order))
    assert stage.node("a").reason == ""


@pytest.mark.parametrize("kind", [SILENT, OfferKind.UNKNOWN, OfferKind.RATE_LIMITED])
def test_silence_counts_as_taken_and_is_asked_again_later_and_later(kind: OfferKind) -> None:
    stage = offered(1, retry_ms=10)
    waits = []
    for _ in range(3):
        stage.answer("a", kind)
        assert stage.node("a").retry_ms is not None
        waits.append(stage.node("a").retry_ms - stage.now_ms)  # type: ignore[operator]
        stage.tick(waits[-1])
    assert waits == [10, 20, 40]
    # What it refuses after that it may hold all the same.
    stage.answer("a", FEE)
    stage.answer("b", FEE)
    assert stage.attempt(1).refused == ("b",)


def test_a_node_that_was_not_reached_was_not_offered_anything() -> None:
    stage = offered(1, nodes=("a", "b", "c"))
    stage.answer("a", AWAY)
    assert stage.node("a").top == 0
    stage.answer("b", OfferKind.TOO_LARGE)
    assert stage.statuses() == [""]
    stage.answer("c", OfferKind.TOO_LARGE)
    assert stage.statuses() == ["refused"]


def test_bytes_that_every_node_refused_are_made_again_where_others_may_do() -> None:
    stage = offered(2)
    stage.answer("a", FEE)
    stage.answer("b", FEE)
    assert len([one for one in stage.told if isinstance(one, v.OfSlot)]) == 1
    assert any(isinstance(one, v.AttemptEnded) for one in stage.told)
    slot = stage.slot(1)
    assert (slot.sequence, slot.attempt, len(slot.past), slot.attempt_next) == (0, None, 1, 2)
    stage.make()
    stage.answer("a", FEE)
    stage.answer("b", FEE)
    # It was tried often enough; but one of them may lie, and have it: its last block decides.
    assert stage.statuses() == ["", ""]
    stage.all_look(HEIGHT + 11, 0)
    assert stage.statuses() == ["expired", ""]


def test_where_there_is_one_node_its_refusals_end_an_intent() -> None:
    stage = offered(2, nodes=("a",))
    stage.answer("a", FEE)
    assert stage.node("a").top == 0
    stage.make()
    stage.answer("a", FEE)
    # It was tried often enough; the one above it moves down.
    assert stage.statuses() == ["refused", ""]
    assert stage.sequences() == {0: 2}


def test_bytes_that_are_wrong_by_themselves_are_refused_and_leave_no_gap() -> None:
    stage = offered(2)
    stage.answer("a", OfferKind.BAD_BLOB, code=11_116, log="words")
    assert stage.statuses() == ["", ""]
    assert stage.attempt(1).refused == ("a",)
    stage.answer("b", OfferKind.BAD_BLOB, code=11_116, log="words")
    (fallen,) = [record for record in stage.told if isinstance(record, v.SlotFellOut)]
    assert fallen.reason == "bad_blob: words"
    stage.make()
    assert [order.first for order in stage.take(v.OfferToNode)] == [0, 0]


def test_what_is_too_late_for_every_node_is_expired_when_looks_show_it() -> None:
    """A node that forgot its mempool says the same of bytes that are in a block."""
    stage = offered(1, attempts_max=1)
    stage.answer("a", OfferKind.TIMED_OUT)
    stage.answer("b", OfferKind.TIMED_OUT)
    assert (stage.statuses(), stage.attempt(1).final) == ([""], ())
    stage.tick(100)
    stage.all_look(HEIGHT + 11, 0)
    assert stage.statuses() == ["expired"]


def test_what_the_only_node_calls_too_late_is_expired_at_once() -> None:
    stage = offered(1, nodes=("a",), attempts_max=1)
    stage.answer("a", OfferKind.TIMED_OUT)
    assert stage.statuses() == ["expired"]


def test_bytes_that_were_too_late_are_proven_by_looks_alone() -> None:
    stage = offered(1)
    stage.answer("a", OfferKind.TIMED_OUT)
    stage.answer("b", OfferKind.TIMED_OUT)
    assert [one.proven for one in stage.slot(1).past] == [False]


def test_one_refusal_does_not_undo_what_another_node_took() -> None:
    stage = offered(1)
    stage.answer("a")
    stage.answer("b", OfferKind.REFUSED)
    assert stage.statuses() == [""]
    assert stage.slot(1).attempt is not None
    stage.look_later("b", HEIGHT + 1, 0, {1: TxStanding.REJECTED})
    stage.answer("b", OfferKind.REFUSED)
    assert [record for record in stage.told if not isinstance(record, v.NodeChanged)] == []


def test_a_number_that_is_used_is_not_made_again() -> None:
    """Whatever a node says of it: the chain is asked who used it."""
    stage = offered(2)
    stage.answer("a", FEE)
    order = stage.offered("b")
    stage.look_later("a", HEIGHT + 1, 1)
    stage.post(stage.returned(order, FEE))
    assert stage.take(v.MakeAttempt) == []
    assert stage.slot(1).attempt is not None


def test_what_was_refused_and_then_offered_to_a_node_that_died_may_be_there() -> None:
    stage = offered(2)
    stage.answer("a", FULL)
    stage.look_later("a", HEIGHT + 1, 0)
    stage.crash()
    # In its earlier life it was offered both; now it is not even reached.
    stage.answer("a", AWAY)
    assert stage.attempt(1).refused == ()
    assert stage.node("a").top == 2
    stage.take(v.OfferToNode, node="b")
    stage.tell("cancel", next(iter(stage.accepted)))
    assert stage.statuses() == ["", ""]


def test_what_was_offered_behind_a_refusal_in_an_earlier_life_may_be_there_too() -> None:
    stage = out(2, nodes=("a",))
    stage.look_later("a", HEIGHT + 1, 0, {1: TxStanding.EVICTED})
    order = stage.offered("a")
    for number in (1, 2):
        stage.change(number, refused=("a",))
    stage.out = [order]
    stage.crash()
    stage.answer("a", FULL)
    assert [stage.attempt(one).refused for one in (1, 2)] == [(), ()]


def test_a_node_that_took_what_it_had_refused_has_it() -> None:
    stage = offered(1)
    stage.answer("a", FULL)
    stage.look_later("a", HEIGHT + 1, 0)
    stage.answer("a")
    assert (stage.attempt(1).refused, stage.attempt(1).taken) == ((), True)


def set_back_while_offered(stage: Stage) -> v.OfferReturned:
    """A node is being offered something that it refused before, when the bytes before that end."""
    stage.answer("a", IN_MEMPOOL, FULL)
    stage.look_later("a", HEIGHT + 1, 0)
    order = stage.offered("a")
    assert order.first == 1
    stage.change(1, timeout_height=HEIGHT)
    stage.all_look(HEIGHT + 2, 0)
    assert stage.node("a").epoch == 1
    return stage.returned(order)


def test_an_answer_from_before_a_node_was_set_back_moves_it_no_further() -> None:
    stage = offered(2)
    answer = set_back_while_offered(stage)
    stage.post(answer)
    assert (stage.node("a").next, stage.node("a").until) == (0, 0)
    # It took the second one now, so that one may land.
    assert stage.attempt(2).refused == ()


def test_a_refusal_from_before_a_node_was_set_back_still_proves_that_it_has_nothing() -> None:
    stage = offered(2)
    answer = set_back_while_offered(stage)
    refused = tuple(replace(one, kind=FULL) for one in answer.answers)
    stage.post(replace(answer, answers=refused, hashes=(*answer.hashes[:-1], answer.hashes[-1])))
    assert stage.attempt(2).refused == ("a",)


def test_what_was_settled_meanwhile_is_passed_by() -> None:
    stage = offered(3)
    stage.all_look(HEIGHT + 1, 2, {1: committed(), 2: committed(code=5)})
    assert stage.statuses() == ["confirmed", "reverted", ""]
    stage.answer("b")
    assert stage.node("b").next == 3
    # What it did not take was settled; what came behind it was not offered, and is now.
    stage.answer("a", WRONG)
    assert stage.node("a").reason == ""
    assert stage.offered("a").first == 2


def test_a_filler_goes_when_nothing_above_it_may_land() -> None:
    stage = out(2, attempts_max=1, nodes=("a",))
    stage.change(2, timeout_height=99)
    stage.look_later("a", HEIGHT + 11, 0)
    assert stage.statuses() == ["expired", ""]
    stage.make(timeout=98)
    stage.answer("a", FEE)
    # Its number was offered before, so nobody knows; behind its own last block it is made again.
    stage.look_later("a", 99, 0, {1: TxStanding.REJECTED})
    assert stage.slot(1).purpose == Purpose.FILLER
    stage.make(timeout=99)
    stage.look_later("a", 100, 0)
    assert stage.sequences() == {0: 2}
    assert [order.purpose for order in stage.take(v.MakeAttempt)] == [Purpose.INTENT]


def test_a_filler_that_was_refused_is_made_again_while_those_above_may_land() -> None:
    stage = out(2, attempts_max=1, nodes=("a",))
    slot = stage.slot(1)
    filler = replace(slot, intent=None, size=0, purpose=Purpose.FILLER)
    told = v.SlotSettled(1, "expired", stage.now_ms, 0, "why", slot.intent, stays=filler)
    stage.apply([told])
    stage.place("a", next=0)
    stage.change(1, refused=("a",))
    stage.tick(1)
    stage.answer("a", FEE)
    assert len([one for one in stage.told if isinstance(one, v.OfSlot)]) == 1
    assert any(isinstance(one, v.AttemptEnded) for one in stage.told)
    assert stage.node("a").reason.startswith("fee_too_low")
    assert [order.purpose for order in stage.take(v.MakeAttempt)] == [Purpose.FILLER]


def test_one_that_cannot_be_made_for_a_used_number_ends_and_nobody_moves() -> None:
    stage = begun(2)
    stage.lane.head.committed = 1
    stage.fail(final=True)
    assert stage.statuses() == ["refused", ""]
    assert stage.sequences() == {1: 2}


def test_a_node_that_never_came_so_far_is_not_set_back() -> None:
    stage = offered(2, retry_ms=5_000, nodes=("a", "b", "c"))
    stage.answer("b", AWAY)
    before = stage.node("b")
    stage.answer("c", OfferKind.TAKEN, FEE)
    stage.answer("a", OfferKind.TAKEN, FEE)
    assert stage.slot(2).attempt is None
    assert stage.node("b").epoch == before.epoch


def test_a_node_that_is_offered_a_part_of_what_it_lost_stays_in_recovery() -> None:
    stage = out(2, nodes=("a",))
    stage.look_later("a", HEIGHT + 1, 0, {1: TxStanding.EVICTED, 2: TxStanding.EVICTED})
    order = stage.offered("a")
    part = replace(order, hashes=order.hashes[:1], raws=order.raws[:1])
    stage.place("a", until=1)
    stage.post(stage.returned(part))
    assert stage.node("a").reason.startswith("evicted")
    assert stage.offered("a").first == 1


def test_an_answer_about_bytes_that_are_gone_is_passed_by() -> None:
    stage = offered(2, nodes=("a",))
    order = stage.offered("a")
    stage.tick(100)
    stage.look("a", HEIGHT + 1, 1, {1: committed()})
    stage.place("a", epoch=1)
    stage.post(stage.returned(order))
    assert stage.node("a").until == 2
    assert stage.offered("a").first == 1


def test_bytes_for_a_number_that_others_used_meanwhile_are_not_kept() -> None:
    stage = begun(2, nodes=("a",))
    first, second = stage.take(v.MakeAttempt)
    stage.lane.head.committed = 1
    stage.post(v.AttemptsMade(stage.now_ms, (stage.made(first), stage.made(second))))
    assert [type(record) for record in stage.told] == [v.AttemptSigned, v.NodeChanged]
    assert stage.slot(1).attempt is None


def test_an_intent_of_which_bytes_may_land_is_not_hopeless() -> None:
    stage = offered(1)
    stage.answer("a", FEE)
    stage.answer("b", FEE)
    stage.fail(final=True)
    assert stage.statuses() == [""]
    assert stage.slot(1).delayed


def test_one_node_of_three_that_refuses_ends_nothing() -> None:
    for kind in (FEE, OfferKind.MALFORMED, OfferKind.TIMED_OUT, OfferKind.REFUSED):
        stage = offered(1, nodes=("a", "b", "c"))
        stage.answer("a", AWAY)
        stage.answer("b", AWAY)
        stage.answer("c", kind)
        assert stage.statuses() == [""]
        assert stage.slot(1).past == ()


def test_earlier_bytes_that_may_land_hold_a_refusal_back() -> None:
    stage = offered(1)
    stage.answer("a", FEE)
    stage.answer("b", FEE)
    stage.make()
    for name in "ab":
        stage.place(name, top=0)
    stage.answer("a", OfferKind.MALFORMED)
    stage.answer("b", OfferKind.MALFORMED)
    assert stage.attempt(1).final == ("a", "b")
    assert stage.statuses() == [""]


def test_a_node_that_was_to_be_looked_at_much_later_is_looked_at_when_something_is_signed() -> None:
    stage = begun(1)
    stage.place("a", look_ms=stage.now_ms + 9_999)
    stage.make()
    assert stage.node("a").look_ms == stage.now_ms + stage.settings.poll_ms


# A halted lane.


def test_a_halted_lane_keeps_no_bytes_and_makes_them_when_it_goes_on() -> None:
    stage = begun(2, nodes=("a",))
    stage.apply([v.LaneHalted("it counts back", 9)])
    stage.make()
    assert [slot.attempt for slot in stage.lane.slots.values()] == [None, None]
    assert list(stage.lane.delayed) == [1, 2]
    # Nothing is due but looks, and nothing is made before it goes on.
    assert stage.kind.deadline(stage.lane) is None
    stage.tick(10_000)
    assert stage.out == []
    stage.place("a", looking=True)
    stage.post(stage.looked(v.LookAtNode("a", 0, 0, ()), HEIGHT + 1, 0, {}))
    assert stage.lane.head.halt == ""
    stage.tick(0)
    stage.make()
    assert stage.offered("a").first == 0


def test_a_halted_lane_offers_nothing_until_it_goes_on() -> None:
    stage = offered(1, nodes=("a",))
    stage.answer("a", OfferKind.UNREACHABLE)
    stage.apply([v.LaneHalted("it counts back", 9)])
    stage.tick(stage.settings.retry_ms)
    assert (stage.node("a").retry_ms, stage.take(v.OfferToNode)) == (None, [])
    stage.look_later("a", HEIGHT + 1, 0)
    assert stage.lane.head.halt == ""
    stage.tick(stage.settings.poll_ms)
    assert stage.offered("a").first == 0
