"""A sequence lane for people."""

from tests.lanes.sequence.stage import (
    HEIGHT,
    SETTINGS,
    Stage,
    begun,
    committed,
    offered,
    out,
    replace,
)

from laneway.core.cosmos import OfferKind, TxStanding
from laneway.core.ids import IntentId
from laneway.core.outcome import Status
from laneway.lanes.sequence.rows import Node, SequenceHead
from laneway.lanes.sequence.show import (
    describe,
    read_head,
    recovery,
    sight,
    too_few,
    unread,
    waiting,
)
from laneway.lanes.sequence.values import LaneHalted


def first(stage: Stage) -> IntentId:
    return next(iter(stage.accepted))


def test_a_lane_is_idle_running_paused_or_draining() -> None:
    stage = begun(0)
    assert describe(stage.head).word == "idle"
    stage = begun(1)
    assert (describe(stage.head).word, describe(stage.head).running) == ("running", 1)
    stage.tell("drain", word="running")
    assert (describe(stage.head).word, describe(stage.head).by) == ("draining", "ann")
    stage.tell("pause")
    assert (describe(stage.head).word, describe(stage.head).reason) == ("paused", "why")
    assert describe(b"").word == "idle"


def test_a_lane_without_an_account_is_halted() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    stage.look("a", HEIGHT, None)
    stage.look("b", HEIGHT, None)
    assert describe(stage.head).word == "halted"
    assert sight(stage.lane, first(stage)).waits == "account_does_not_exist"


def test_a_lane_tells_why_it_recovers_and_what_comes_next() -> None:
    stage = offered(1)
    stage.answer("a", OfferKind.WRONG_SEQUENCE, expected=4, log="words")
    assert describe(stage.head).word == "running"
    assert describe(stage.head).reason == (
        "a: wrong_sequence: words, it expects sequence 4, ours is 0, asked again after block 5"
    )
    stage.answer("b", OfferKind.SILENT)
    shown = describe(stage.head)
    assert shown.word == "recovering"
    assert shown.reason.endswith("b: silent, asked again soon, 1 times without an answer")
    assert waiting(read_head(stage.head), SETTINGS) == "recovering"


def test_a_recovery_is_told_without_a_number_where_a_node_names_none() -> None:
    node = Node("a", next=3, reason="wrong_sequence", ours=5)
    assert recovery(node) == (
        "a: wrong_sequence, it expects another sequence, ours is 5, offered again from "
        "sequence 3 on"
    )


def test_an_intent_is_queued_signed_and_submitted() -> None:
    stage = begun(2, inflight=1)
    second = list(stage.accepted)[1]
    assert (sight(stage.lane, second).status, sight(stage.lane, second).waits) == (
        Status.QUEUED,
        "window_closed",
    )
    assert sight(stage.lane, first(stage)).waits == "being_made"
    stage.make()
    seen = sight(stage.lane, first(stage))
    assert (seen.status, seen.waits) == (Status.SIGNED, "")
    assert seen.history is not None
    assert seen.history.raw == stage.attempt(1).raw
    stage.answer("a")
    seen = sight(stage.lane, first(stage))
    assert (seen.status, seen.waits) == (Status.SUBMITTED, "not_committed_yet")


def test_an_intent_tells_why_it_waits() -> None:
    stage = begun(2)
    stage.fail()
    assert sight(stage.lane, first(stage)).waits == "no"
    stage.tick(50)
    stage.make()
    stage.answer("a", OfferKind.MEMPOOL_FULL, log="words")
    stage.answer("b", OfferKind.UNREACHABLE)
    assert sight(stage.lane, first(stage)).waits == "mempool_full: words"
    assert sight(stage.lane, list(stage.accepted)[1]).waits == "gap_before"


def test_an_intent_whose_number_is_used_says_so() -> None:
    stage = out(1)
    stage.accept(1)
    stage.all_look(HEIGHT + 1, 1, {1: TxStanding.EVICTED})
    assert sight(stage.lane, first(stage)).waits == "sequence_used"
    assert sight(stage.lane, list(stage.accepted)[1]).waits == "sequence_used"


def test_a_backlog_tells_why_it_waits() -> None:
    head = SequenceHead()
    assert waiting(head, SETTINGS) == "account_not_read"
    head = replace(head, sequence_next=0)
    assert waiting(head, SETTINGS) == ""
    assert waiting(replace(head, mode="paused"), SETTINGS) == "paused"
    assert waiting(replace(head, mode="draining"), SETTINGS) == "paused"
    assert waiting(replace(head, mode="draining", drain_left=1), SETTINGS) == ""
    assert waiting(replace(head, filler_count=8), SETTINGS) == "window_closed"


def test_an_account_of_which_nodes_show_different_numbers_says_what_each_shows() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    stage.look("a", HEIGHT, 3)
    stage.look("b", HEIGHT - 2, 0)
    assert sight(stage.lane, first(stage)).waits == (
        "account_not_read: a shows account 7 at sequence 3 in block 5, b shows account 7 at "
        "sequence 0 in block 3"
    )
    assert describe(stage.head).reason == sight(stage.lane, first(stage)).waits
    stage.tick(100)
    stage.look("b", HEIGHT, 3)
    assert describe(stage.head).reason == ""
    assert stage.lane.head.sequence_next == 3


def test_a_node_that_knows_no_account_or_left_is_told_as_that() -> None:
    nodes = (Node("a", seen_ms=1, height=9), Node("b"), Node("c", seen_ms=1, gone=True))
    assert unread(nodes) == "account_not_read: a shows no account in block 9"
    assert unread(nodes[1:]) == "account_not_read"


def test_a_halted_lane_says_why_and_nothing_else() -> None:
    stage = offered(1)
    stage.accept(1)
    stage.tell("pause")
    stage.apply([LaneHalted("the account counts back", 9)])
    state = describe(stage.head)
    assert (state.word, state.reason, state.since_ms) == ("halted", "the account counts back", 9)
    for one in stage.accepted:
        assert sight(stage.lane, one).waits == "the account counts back"


def test_fewer_nodes_than_a_majority_are_named_as_the_reason() -> None:
    few = "too_few_nodes: 1 of 2 answer, 2 are needed"
    stage = out(1)
    stage.accept(1)
    stage.tick(100)
    stage.look("a", HEIGHT + 1, 1, {1: committed()})
    stage.blind("b")
    assert sight(stage.lane, first(stage)).waits == few
    assert waiting(stage.lane.head, stage.settings) == few
    # One that answers again is counted at once, and one that left is not counted at all.
    stage.look_later("b", HEIGHT + 1, 0)
    assert waiting(stage.lane.head, stage.settings) == ""
    stage.tick(100)
    stage.blind("b")
    stage.crash(nodes=("a",))
    assert too_few(stage.lane.nodes.values()) == ""
