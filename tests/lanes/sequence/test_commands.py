"""What an operator tells a sequence lane."""

from typing import Any

import pytest
from tests.lanes.sequence.stage import HEIGHT, Stage, begun, offered, out

from laneway.core.cosmos import OfferKind, TxStanding
from laneway.core.ids import IntentId
from laneway.lanes.common.values import CommandRefused
from laneway.lanes.sequence import values as v
from laneway.lanes.sequence.commands import plan_sequence


def intent(stage: Stage, place: int) -> IntentId:
    return list(stage.accepted)[place]


def refusal(stage: Stage) -> str:
    (told,) = stage.told
    assert isinstance(told, CommandRefused)
    return told.reason


def test_a_paused_lane_takes_nothing_and_finishes_what_it_has() -> None:
    stage = out(1)
    stage.tell("pause")
    head = stage.lane.head
    assert (head.mode, head.reason, head.by, head.mode_ms) == (
        "paused", "why", "ann", stage.now_ms,
    )  # fmt: skip
    stage.all_look(HEIGHT + 1, 1, {1: TxStanding.COMMITTED})
    assert stage.statuses() == ["confirmed"]
    stage.tell("resume")
    assert stage.lane.head.mode == "running"


def test_words_that_a_lane_does_not_know_are_refused() -> None:
    stage = Stage()
    stage.tell("dance")
    assert refusal(stage) == "a sequence lane has no command 'dance'"


def test_a_lane_drains_its_queue_or_what_is_running() -> None:
    stage = begun(1)
    stage.accept(2)
    stage.tell("drain", word="queue", seq=3)
    assert (stage.lane.head.mode, stage.lane.head.drain_left) == ("draining", 2)
    stage.tell("drain", word="running")
    assert (stage.lane.head.mode, stage.lane.head.drain_left) == ("draining", 0)
    stage.tell("drain", word="all")
    assert "drains its 'queue'" in refusal(stage)


def test_an_empty_lane_is_drained_at_once() -> None:
    stage = begun(0)
    stage.tell("drain", word="queue")
    assert stage.lane.head.mode == "paused"


def test_a_cancel_names_one_intent_and_takes_no_word() -> None:
    stage = begun(1)
    stage.tell("cancel")
    assert refusal(stage) == "it names no intent"
    stage.tell("cancel", intent(stage, 0), word="now")
    assert refusal(stage) == "a cancel takes no word"


def test_what_waits_is_cancelled_and_what_is_final_is_not() -> None:
    stage = begun(2, inflight=1)
    stage.tell("cancel", intent(stage, 1))
    assert stage.statuses() == ["", "cancelled"]
    assert stage.lane.head.dropped_seq == 2
    stage.fail(final=True)
    stage.tell("cancel", intent(stage, 0))
    assert refusal(stage) == "it is final already"


def test_what_no_node_has_is_taken_back() -> None:
    stage = begun(2)
    stage.tell("cancel", intent(stage, 0))
    assert stage.statuses() == ["cancelled", ""]
    assert isinstance(stage.told[0], v.SlotFellOut)
    assert stage.take(v.MakeAttempt)[-1].sequence == 0


def test_what_a_node_may_have_is_not_taken_back() -> None:
    stage = offered(1, nodes=("a",))
    stage.tell("cancel", intent(stage, 0))
    assert refusal(stage) == "a node may have it: it is final in block 16 at last"
    stage.answer("a", OfferKind.MEMPOOL_FULL)
    stage.tell("cancel", intent(stage, 0))
    assert stage.statuses() == ["cancelled"]


def test_one_whose_number_is_used_is_taken_back_and_nobody_moves() -> None:
    stage = offered(2, nodes=("a",))
    stage.answer("a", OfferKind.WRONG_SEQUENCE)
    stage.lane.head.committed = 1
    stage.tell("cancel", intent(stage, 0))
    assert stage.statuses() == ["cancelled", ""]
    assert stage.sequences() == {1: 2}


def test_numbers_go_on_where_the_chain_says() -> None:
    stage = Stage()
    stage.tell("set-sequence")
    assert refusal(stage) == "the account was not read yet"
    stage = begun(0)
    stage.tell("set-sequence", word="x")
    assert refusal(stage) == "'x' is no sequence"
    stage.tell("set-sequence", word="5")
    assert (stage.lane.head.sequence_next, stage.lane.head.floor) == (5, 5)
    assert [stage.node(name).next for name in "ab"] == [5, 5]
    stage.tell("set-sequence")
    assert (stage.lane.head.sequence_next, stage.lane.head.floor) == (0, 0)


def test_numbers_never_go_on_at_one_that_is_bound() -> None:
    stage = begun(2)
    stage.tell("set-sequence", word="1")
    assert stage.lane.head.sequence_next == 2
    stage.make()
    assert [order.first for order in stage.take(v.OfferToNode)] == [0, 0]


@pytest.mark.parametrize(
    ("count", "wanted", "becomes", "why"),
    [
        (0, 5, 5, "the chain counts 0, and nothing of ours has it"),
        (2, 1, 2, "sequence 1 is bound until its bytes are in a block, or can land no more"),
        (0, None, 0, "the chain counts 0: what is below is used"),
    ],
)
def test_a_plan_tells_what_would_be_done_and_why_no_more(
    count: int, wanted: int | None, becomes: int, why: str
) -> None:
    plan = plan_sequence(begun(count).lane, wanted)
    assert plan is not None
    assert (plan.becomes, plan.bound, plan.why()) == (becomes, count, why)


# A lane whose nodes took back what was believed.


def shows(stage: Stage, height: int, sequence: int | None) -> None:
    stage.place("a", looking=True)
    order = v.LookAtNode("a", stage.node("a").epoch, 0, ())
    stage.post(stage.looked(order, height, sequence, {}))


def counted_back(count: int, **settings: Any) -> Stage:
    """A node showed 505 once; so many are bound from there on."""
    stage = begun(0, nodes=("a",), **settings)
    shows(stage, HEIGHT + 1, 505)
    stage.accept(count)
    stage.pull()
    return stage


def halted(stage: Stage) -> Stage:
    """It counts from 5 on again."""
    shows(stage, HEIGHT + 20, 5)
    assert stage.lane.head.halt
    return stage


def test_a_halted_lane_follows_its_operator_downwards() -> None:
    stage = halted(counted_back(0))
    stage.tell("set-sequence")
    (done,) = stage.told
    assert isinstance(done, v.SequenceSet)
    head = stage.lane.head
    assert (head.committed, head.sequence_next, head.floor, head.halt) == (5, 5, 0, "")
    assert (stage.node("a").next, stage.node("a").top) == (5, 5)
    stage.accept(1)
    stage.pull()
    assert stage.sequences() == {5: 1}


def test_an_operators_own_number_is_a_floor_for_a_halted_lane_too() -> None:
    stage = halted(counted_back(0))
    stage.tell("set-sequence", word="7")
    head = stage.lane.head
    assert (head.committed, head.sequence_next, head.floor) == (5, 7, 7)
    stage = halted(counted_back(0))
    stage.tell("set-sequence", word="3")
    assert stage.lane.head.sequence_next == 5


def test_what_no_node_has_moves_down_with_a_halted_lane() -> None:
    stage = counted_back(2)
    assert stage.sequences() == {505: 1, 506: 2}
    halted(stage)
    stage.take(v.MakeAttempt)
    stage.tell("set-sequence")
    assert stage.sequences() == {5: 1, 6: 2}
    orders = stage.take(v.MakeAttempt)
    assert stage.lane.head.landed_next == 0
    assert [(one.sequence, one.height, one.account_number) for one in orders] == [
        (5, HEIGHT + 20, 7),
        (6, HEIGHT + 20, 7),
    ]


def test_a_halted_lane_waits_for_bytes_that_may_land() -> None:
    stage = counted_back(1, timeout_blocks=30)
    stage.make()
    stage.answer("a")
    halted(stage)
    stage.tell("set-sequence")
    assert refusal(stage) == "sequence 505 is bound, and its bytes may land up to block 36"
    plan = plan_sequence(stage.lane, 3)
    assert plan is not None
    assert (plan.becomes, plan.why()) == (506, refusal(stage))
    shows(stage, 37, 5)
    stage.tell("set-sequence")
    assert stage.sequences() == {5: 1}


def test_a_halted_lane_needs_a_majority_that_shows_its_account() -> None:
    stage = halted(counted_back(0))
    shows(stage, HEIGHT + 21, None)
    stage.tell("set-sequence")
    assert refusal(stage) == "too few nodes show the same account"


@pytest.mark.parametrize("word", ["x", "٣", "9" * 16, "9" * 5_000, "-1"])
def test_a_sequence_is_a_number_that_every_store_holds(word: str) -> None:
    stage = begun(0)
    stage.tell("set-sequence", word=word)
    assert refusal(stage).startswith(f"'{word[:9]}")


def test_what_was_given_up_before_its_last_block_is_not_taken_back() -> None:
    stage = offered(1)
    stage.answer("a", OfferKind.FEE_TOO_LOW)
    stage.answer("b", OfferKind.FEE_TOO_LOW)
    stage.tell("cancel", intent(stage, 0))
    assert refusal(stage) == "a node may have it: it is final in block 16 at last"
    stage.make(timeout=99)
    stage.tell("cancel", intent(stage, 0))
    assert refusal(stage) == "a node may have it: it is final in block 100 at last"
