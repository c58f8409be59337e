"""Each record changes the lane in one way."""

import pytest
from tests.lanes.sequence.stage import HEIGHT, LANE, Stage, begun, committed, offered, out, replace
from tests.lanes.sequence.test_released import CHANGES
from tests.lanes.sequence.test_released import slot as any_slot

from laneway.core.cosmos import OfferKind, TxStanding
from laneway.core.rows import Index, Result
from laneway.lanes.common.values import CommandRefused
from laneway.lanes.sequence import values as v
from laneway.lanes.sequence.fold import changed, evolve
from laneway.lanes.sequence.lane import decode_history
from laneway.lanes.sequence.released import SlotChanged, slot_changed


def test_a_claim_takes_the_next_number_and_moves_the_cursor() -> None:
    stage = begun(2)
    head = stage.lane.head
    assert (head.sequence_next, head.slot_next, head.cursors[0]) == (2, 3, 2)
    assert list(stage.lane.bound) == list(stage.accepted)


def test_signed_bytes_are_counted_and_named_by_their_hash() -> None:
    stage = offered(1)
    assert stage.lane.head.signed_bytes == stage.attempt(1).size
    assert stage.indexes == {stage.attempt(1).hash.hex(): "hash"}
    stage.answer("a")
    stage.answer("b")
    stage.all_look(HEIGHT + 1, 1, {1: committed()})
    assert stage.lane.head.signed_bytes == 0
    assert stage.indexes[f"{LANE}#0"] == "sequence"
    assert stage.lane.head.landed_next == 1


def test_an_account_never_counts_back() -> None:
    stage = begun(0)
    stage.apply([v.AccountSeen(5, 7, 9, 1), v.AccountSeen(3, 7, 8, 2)])
    head = stage.lane.head
    assert (head.committed, head.height, head.read_ms, head.sequence_next) == (5, 8, 2, 5)
    assert [node.next for node in stage.lane.nodes.values()] == [5, 5]


def test_numbers_that_others_used_are_given_to_nobody() -> None:
    stage = begun(1)
    stage.apply([v.AccountSeen(4, 7, 9, 1)])
    assert stage.lane.head.sequence_next == 4
    assert [(node.next, node.top) for node in stage.lane.nodes.values()] == [(4, 4), (4, 4)]


def test_an_operators_floor_ends_when_the_chain_reached_it() -> None:
    stage = begun(0)
    stage.apply([v.SequenceSet(5, 5, 1), v.AccountSeen(3, 7, 9, 1)])
    assert (stage.lane.head.floor, stage.lane.head.sequence_next) == (5, 5)
    stage.apply([v.AccountSeen(5, 7, 9, 1)])
    assert stage.lane.head.floor == 0


def test_a_number_that_is_set_leaves_the_nodes_where_their_slots_are() -> None:
    stage = begun(1)
    stage.apply([v.SequenceSet(5, 5, 1)])
    assert [node.next for node in stage.lane.nodes.values()] == [0, 0]


def test_a_missing_account_is_remembered() -> None:
    stage = Stage()
    stage.apply([v.AccountMissing(9)])
    assert (stage.lane.head.is_missing, stage.lane.head.read_ms) == (True, 9)


def test_the_earliest_time_to_make_again_counts() -> None:
    stage = begun(1)
    stage.fail()
    stage.apply([v.MakingDelayed(5), v.MakingDelayed(9)])
    assert (stage.lane.head.make_ms, list(stage.lane.delayed)) == (5, [1])
    stage.apply([v.MakingResumed()])
    assert (stage.lane.head.make_ms, list(stage.lane.delayed)) == (None, [])
    assert not stage.slot(1).delayed


def test_a_refused_command_changes_nothing() -> None:
    stage = begun(1)
    assert evolve(stage.lane, CommandRefused("dance", "no")) == ()


def test_those_above_one_that_falls_out_move_down_past_numbers_left_out() -> None:
    stage = begun(2)
    stage.make()
    stage.tell("set-sequence", word="5")
    stage.accept(1)
    stage.pull()
    stage.answer("a", OfferKind.TOO_LARGE)
    stage.answer("b", OfferKind.TOO_LARGE)
    assert stage.sequences() == {0: 2, 4: 3}
    assert stage.lane.head.sequence_next == 5
    assert [(node.next, node.top, node.reason) for node in stage.lane.nodes.values()] == [
        (0, 0, ""),
        (0, 0, ""),
    ]


def test_a_filler_that_falls_out_answers_nobody() -> None:
    stage = out(2, attempts_max=1, nodes=("a",))
    stage.change(2, timeout_height=99)
    stage.look_later("a", HEIGHT + 11, 0)
    stage.make(timeout=98)
    results = dict(stage.results)
    stage.look_later("a", 100, 0)
    assert results == stage.results
    assert stage.sequences() == {0: 2}


def test_all_slots_are_given_the_next_numbers() -> None:
    stage = begun(2)
    stage.make()
    stage.apply([v.AccountSeen(3, 7, 9, 1), v.SlotsRenumbered(3, "others", 1)])
    assert stage.sequences() == {3: 1, 4: 2}
    assert stage.lane.head.sequence_next == 5
    assert all(stage.slot(one).making for one in (1, 2))
    assert {(node.next, node.top) for node in stage.lane.nodes.values()} == {(3, 3)}
    assert stage.lane.hashes == {}


def test_an_answer_keeps_what_was_tried_and_where_it_stands() -> None:
    stage = out(1)
    slot = stage.slot(1)
    touched = evolve(
        stage.lane,
        v.SlotSettled(1, "confirmed", 9, 0, "", slot.intent, seen=committed()),
    )
    result = next(touch for touch in touched if isinstance(touch, Result))
    history = decode_history(result.history)
    assert (result.number, result.hash) == (0, b"")
    assert history.slot.attempt is not None
    assert history.slot.attempt.raw == b""
    assert any(isinstance(touch, Index) for touch in touched)


def test_one_that_nobody_knows_of_is_told_with_its_bytes_and_stays() -> None:
    stage = out(1)
    slot = stage.slot(1)
    raw = stage.lane.raw(slot)
    told = replace(slot, told=True)
    stage.apply([v.SlotSettled(1, "indeterminate", 9, 0, "who", slot.intent, stays=told)])
    (result,) = stage.results.values()
    assert (result.number, result.hash) == (0, stage.attempt(1).hash)
    assert decode_history(result.history).raw == raw
    assert (list(stage.lane.watched), stage.lane.numbers, stage.lane.bound) == ([1], {}, {})
    stage.apply([v.SlotCorrected(1, slot.intent)])
    assert stage.lane.slots == {}
    assert stage.lane.hashes == {}


def test_a_node_that_left_is_forgotten_when_it_can_hold_nothing() -> None:
    stage = out(1)
    stage.crash(nodes=("b",))
    assert stage.node("a").gone
    stage.tick(0)
    stage.look_later("b", HEIGHT + 1, 1, {1: TxStanding.COMMITTED})
    assert list(stage.lane.nodes) == ["b"]
    stage.apply([v.NodeChanged(replace(stage.node("b"), name="a", gone=True))])
    assert list(stage.lane.nodes) == ["b"]


def test_a_node_that_left_is_forgotten_when_the_account_is_all_there_is() -> None:
    stage = out(1)
    stage.crash(nodes=("b",))
    slot = stage.slot(1)
    stage.lane.head.sequence_next = 0
    stage.apply([v.SlotSettled(1, "expired", 9, 0, "why", slot.intent)])
    assert list(stage.lane.nodes) == ["b", "a"]
    stage.apply([v.AccountSeen(0, 7, 9, 1)])
    assert list(stage.lane.nodes) == ["b"]


@pytest.mark.parametrize("passes", [True, False])
def test_an_intent_that_never_had_a_number_is_answered(passes: bool) -> None:
    stage = begun(2, inflight=1)
    name = list(stage.accepted)[1]
    if passes:
        stage.accepted[name] = replace(stage.accepted[name], valid_until_ms=0)
        stage.fail(final=True)
        stage.pull()
    else:
        stage.tell("cancel", name)
    assert stage.lane.head.dropped_seq == (0 if passes else 2)
    assert stage.results[name].status == ("expired" if passes else "cancelled")
    assert stage.lane.head.settled_count == len(stage.results)


def test_a_mode_is_kept_with_who_wanted_it_and_why() -> None:
    stage = begun(1)
    stage.accept(1)
    stage.tell("drain", word="queue", seq=2)
    head = stage.lane.head
    assert (head.mode, head.reason, head.by, head.mode_ms) == (
        "draining", "why", "ann", stage.now_ms,
    )  # fmt: skip
    assert (head.drain_seq, head.drain_left) == (2, 1)
    stage.pull()
    assert head.drain_left == 0


def test_a_filler_that_landed_answers_nobody() -> None:
    stage = out(2, attempts_max=1, nodes=("a",))
    stage.change(2, timeout_height=99)
    stage.look_later("a", HEIGHT + 11, 0)
    stage.make()
    stage.answer("a")
    landed = stage.lane.head.landed_next
    stage.look_later("a", HEIGHT + 12, 1, {1: committed()})
    assert stage.sequences() == {1: 2}
    assert (stage.lane.head.landed_next, len(stage.results)) == (landed, 1)


def test_numbers_go_on_where_the_chain_is_when_the_last_above_a_gap_fell_out() -> None:
    stage = begun(0)
    stage.tell("set-sequence", word="5")
    stage.accept(1)
    stage.pull()
    stage.tell("set-sequence")
    assert (stage.sequences(), stage.lane.head.sequence_next) == ({5: 1}, 6)
    stage.fail(final=True)
    assert stage.lane.head.sequence_next == 0
    assert [node.next for node in stage.lane.nodes.values()] == [0, 0]


def test_numbers_go_on_above_what_is_open_when_one_above_a_withdrawn_gap_fell_out() -> None:
    stage = begun(0)
    stage.accept(1)
    stage.pull()
    stage.tell("set-sequence", word="5")
    stage.accept(1)
    stage.pull()
    stage.tell("set-sequence")
    assert (stage.sequences(), stage.lane.head.sequence_next) == ({0: 1, 5: 2}, 6)
    stage.apply([v.SlotFellOut(2, "cancelled", "", stage.now_ms)])
    assert (stage.sequences(), stage.lane.head.sequence_next) == ({0: 1}, 1)


def test_a_lane_is_halted_until_its_account_is_seen_again() -> None:
    stage = begun(0)
    stage.apply([v.LaneHalted("it counts back", 9)])
    assert (stage.lane.head.halt, stage.lane.head.halt_ms) == ("it counts back", 9)
    stage.apply([v.AccountSeen(5, 7, 9, 1, 8, 2, 6, 1, b"first")])
    head = stage.lane.head
    assert (head.halt, head.halt_ms, head.pace_height, head.pace_ms) == ("", 0, 8, 2)
    assert (head.committed_height, head.origin_height, head.origin) == (6, 1, b"first")


def test_an_operators_word_takes_back_what_was_believed() -> None:
    stage = begun(0)
    stage.lane.head.landed_next = 500
    stage.apply([v.AccountSeen(505, 7, 900, 1), v.LaneHalted("it counts back", 9)])
    seen = v.AccountSeen(5, 8, 30, 20, 30, 20, 30, 1, b"other")
    stage.apply([v.SequenceSet(6, 6, 20, seen=seen)])
    head = stage.lane.head
    assert (head.committed, head.sequence_next, head.taken_next, head.floor) == (5, 6, 6, 6)
    assert (head.landed_next, head.account_number, head.height, head.halt) == (6, 8, 30, "")
    assert [(node.next, node.top) for node in stage.lane.nodes.values()] == [(6, 6), (6, 6)]


class Asked(dict[int, int]):
    """Counts how often it is asked for a number."""

    count = 0

    def __contains__(self, number: object) -> bool:
        self.count += 1
        assert self.count < 1_000, "it walks over numbers that nobody has"
        return super().__contains__(number)


def test_numbers_that_an_operator_left_out_are_not_walked() -> None:
    stage = begun(1)
    stage.tell("set-sequence", word="100000000000000")
    stage.accept(1)
    stage.pull()
    assert stage.sequences() == {0: 1, 10**14: 2}
    stage.lane.numbers = Asked(stage.lane.numbers)
    stage.fail(final=True)
    assert stage.sequences() == {10**14 - 1: 2}
    assert stage.lane.head.sequence_next == 10**14


def test_an_offer_from_before_an_operator_went_down_says_nothing_of_the_new_numbers() -> None:
    stage = offered(3, nodes=("a",))
    late = stage.offered("a")
    stage.tick(100)
    stage.look("a", 6, 3, dict.fromkeys((1, 2, 3), TxStanding.COMMITTED))
    stage.accept(1)
    stage.now_ms += 5_000
    stage.pull()
    stage.look("a", 50, 0)
    assert stage.lane.head.halt
    epoch = stage.node("a").epoch
    stage.tell("set-sequence")
    assert (stage.node("a").next, stage.node("a").epoch) == (0, epoch + 1)
    stage.pull()
    stage.make()
    assert stage.sequences() == {0: 4}
    stage.post(stage.returned(late))
    assert stage.offered("a").first == 0


def test_a_node_that_stands_where_numbers_go_on_keeps_its_epoch() -> None:
    stage = begun(0)
    epochs = [node.epoch for node in stage.lane.nodes.values()]
    stage.tell("set-sequence", word="9")
    assert [node.epoch for node in stage.lane.nodes.values()] == epochs


@pytest.mark.parametrize("what", CHANGES)
def test_a_record_of_a_slot_sets_what_it_says_and_nothing_else(what: str) -> None:
    before_of, after_of = CHANGES[what]
    before = before_of(any_slot())
    after = after_of(before)
    record = slot_changed(SlotChanged(after, what))
    assert changed(before, record) == after  # type: ignore[arg-type]
