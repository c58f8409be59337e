"""What an operator tells a sequence lane."""

import pytest
from tests.lanes.sequence.stage import HEIGHT, Stage, begun, offered, out

from laneway.core.cosmos import OfferKind, Standing
from laneway.core.ids import IntentId
from laneway.lanes.sequence.commands import plan_sequence
from laneway.lanes.sequence.values import CommandRefused, MakeAttempt, OfferToNode, SlotFellOut


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
    stage.look_later("a", HEIGHT + 1, 1, {1: Standing.COMMITTED})
    assert stage.statuses() == ["confirmed"]
    stage.tell("resume")
    assert stage.lane.head.mode == "running"


def test_words_that_a_lane_does_not_know_are_refused() -> None:
    stage = Stage()
    stage.tell("dance")
    assert refusal(stage) == "a sequence lane knows no dance"


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
    assert isinstance(stage.told[0], SlotFellOut)
    assert stage.take(MakeAttempt)[-1].sequence == 0


def test_what_a_node_may_have_is_not_taken_back() -> None:
    stage = offered(1)
    stage.tell("cancel", intent(stage, 0))
    assert refusal(stage) == "a node may have it: it is final in block 16 at last"
    stage.answer("a", OfferKind.MEMPOOL_FULL)
    stage.answer("b", OfferKind.MEMPOOL_FULL)
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
    assert [order.first for order in stage.take(OfferToNode)] == [0, 0]


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
