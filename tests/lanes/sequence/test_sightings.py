"""What a look at a node says of the account and its transactions."""

from typing import Any

from tests.lanes.sequence.stage import (
    HEIGHT,
    Stage,
    begun,
    committed,
    hash_of,
    offered,
    out,
    replace,
)

from laneway.core.cosmos import OfferKind, TxSeen, TxStanding
from laneway.lanes.sequence import values as v
from laneway.lanes.sequence.lane import decode_history
from laneway.lanes.sequence.limits import AHEAD_BLOCKS_MAX, WATCHED_MAX
from laneway.lanes.sequence.rows import Purpose
from laneway.lanes.sequence.show import wait_reason

OTHER = TxSeen(hash_of(b"other"), TxStanding.COMMITTED, 6)


# Looks.


def test_a_look_that_nobody_ordered_says_nothing() -> None:
    stage = out(1)
    stage.tick(100)
    order = stage.take(v.LookAtNode, node="a")[0]
    looked = stage.looked(order, HEIGHT + 1, 1, {1: committed()})
    stage.post(looked)
    stage.post(looked)
    assert stage.told == []
    stage.post(v.NodeLooked(stage.now_ms, 0, 0, replace(looked.look, node="c")))
    assert stage.told == []


def test_nodes_that_disagree_are_looked_at_again_while_another_one_hangs() -> None:
    stage = Stage(nodes=("a", "b", "c"))
    stage.accept(1)
    stage.pull()
    stage.look("a", HEIGHT, 0)
    assert stage.node("a").look_ms is None, "the others may be enough"
    stage.look("b", HEIGHT, 3)
    later_ms = stage.now_ms + stage.settings.poll_ms
    assert [stage.node(name).look_ms for name in "abc"] == [later_ms, later_ms, None]
    stage.tick(stage.settings.poll_ms)
    stage.look("a", HEIGHT, 3)
    assert stage.lane.head.sequence_next == 3


def test_an_account_that_does_not_exist_is_looked_for_again() -> None:
    stage = Stage(nodes=("a",))
    stage.accept(1)
    stage.pull()
    stage.look("a", HEIGHT, None)
    assert (stage.lane.head.is_missing, stage.kind.wants(stage.lane)) == (True, 0)
    stage.tick(500)
    stage.look("a", HEIGHT + 1, 3)
    assert (stage.lane.head.is_missing, stage.kind.wants(stage.lane)) == (False, 8)
    stage.pull()
    assert stage.sequences() == {3: 1}


def test_a_node_that_does_not_know_the_account_is_behind_the_others() -> None:
    stage = out(1)
    stage.look_later("a", 1, None)
    assert not stage.lane.head.is_missing
    assert stage.node("a").look_ms == stage.now_ms + 100


def test_nodes_are_looked_at_until_nothing_is_out() -> None:
    stage = out(1)
    stage.look_later("a", HEIGHT + 1, 0)
    assert stage.node("a").look_ms == stage.now_ms + 100
    stage.look("b", HEIGHT + 2, 1, {1: committed()})
    assert stage.node("b").look_ms == stage.now_ms + 100
    stage.look_later("a", HEIGHT + 2, 1, {1: committed()})
    assert stage.node("a").look_ms is None
    stage.look("b", HEIGHT + 2, 1)
    assert stage.node("b").look_ms is None


# Ends that a block proves.


def test_what_is_in_a_block_is_confirmed_or_reverted() -> None:
    stage = out(2)
    stage.all_look(HEIGHT + 1, 2, {1: committed(), 2: committed(code=5)})
    assert stage.statuses() == ["confirmed", "reverted"]
    assert list(stage.results.values())[1].reason == "sdk code 5: why"
    history = decode_history(next(iter(stage.results.values())).history)
    assert history.seen is not None
    assert history.seen.height == 6


def test_a_number_is_used_and_the_chain_says_by_whom() -> None:
    stage = out(1)
    stage.all_look(HEIGHT + 1, 1, {1: TxStanding.EVICTED})
    assert stage.slot(1).proving
    stage.prove(OTHER, OTHER)
    (result,) = stage.results.values()
    assert result.status == "refused"
    assert "someone else signs for this account" in result.reason
    assert OTHER.hash.hex().upper() in result.reason
    stage.post(v.SequenceProven(stage.now_ms, 0, (OTHER,)))
    assert stage.told == []


def test_a_number_is_used_by_our_own_bytes_that_no_node_showed() -> None:
    stage = out(1)
    stage.all_look(HEIGHT + 1, 1, {1: TxStanding.UNKNOWN})
    own = replace(OTHER, hash=stage.attempt(1).hash)
    stage.prove(own, own)
    assert stage.statuses() == ["confirmed"]


def test_who_used_a_number_is_asked_once_a_block_and_not_for_ever() -> None:
    stage = out(1, nodes=("a",), conflict_blocks=2)
    lost = {1: TxStanding.UNKNOWN}
    stage.look_later("a", 6, 1, lost)
    stage.look_later("a", 6, 1, lost)
    stage.prove()
    assert [type(one) for one in stage.told] == [v.ProofFailed]
    stage.look_later("a", 6, 1, lost)
    assert stage.take(v.ProveSequence) == []
    stage.look_later("a", 7, 1, lost)
    stage.prove()
    stage.look_later("a", 9, 1, lost)
    assert stage.statuses() == [""], "it is asked once more when its time is over"
    stage.prove()
    stage.look_later("a", 9, 1, lost)
    (result,) = stage.results.values()
    assert result.status == "indeterminate"
    assert result.hash == stage.attempt(1).hash
    assert decode_history(result.history).raw == stage.attempt(1).raw


def test_a_proof_that_comes_after_a_failed_question_is_a_proof() -> None:
    """One question was declined while another was under way (seed 6582)."""
    stage = out(1)
    stage.all_look(HEIGHT + 1, 1, {1: TxStanding.UNKNOWN})
    stage.prove()
    assert not stage.slot(1).proving
    stage.post(v.SequenceProven(stage.now_ms, 0, ()))
    assert stage.told == []
    stage.post(v.SequenceProven(stage.now_ms, 0, (OTHER, OTHER)))
    assert stage.statuses() == ["refused"]


def test_a_proof_that_nobody_asked_for_is_passed_over() -> None:
    stage = out(1)
    stage.post(v.SequenceProven(stage.now_ms, 0, (OTHER, OTHER)))
    assert stage.told == []
    stage = indeterminate()
    stage.post(v.SequenceProven(stage.now_ms, 0, (OTHER,)))
    assert stage.told == []


def indeterminate(**settings: int) -> Stage:
    stage = out(1, nodes=("a",), conflict_blocks=0, **settings)
    stage.look_later("a", 6, 1, {1: TxStanding.UNKNOWN})
    stage.prove()
    stage.look_later("a", 7, 1, {1: TxStanding.UNKNOWN})
    stage.prove()
    stage.look_later("a", 7, 1, {1: TxStanding.UNKNOWN})
    assert stage.statuses() == ["indeterminate"]
    return stage


def test_nobody_is_given_up_for_blocks_that_came_while_nobody_asked() -> None:
    """The chain was asked, its answer was lost with the process, and the next one came much later
    (seed 51819)."""
    stage = out(1)
    stage.all_look(HEIGHT + 1, 1, {1: TxStanding.UNKNOWN})
    stage.prove()
    stage.crash()
    stage.all_look(HEIGHT + 500, 1, {1: TxStanding.UNKNOWN})
    assert stage.statuses() == [""]
    stage.prove(OTHER, OTHER)
    assert stage.statuses() == ["refused"]


def test_what_too_few_nodes_show_in_a_block_is_told_with_their_names() -> None:
    stage = out(1)
    stage.tick(100)
    stage.look("a", HEIGHT + 1, 1, {1: committed(6)})
    stage.look("b", HEIGHT + 1, 1, {1: TxStanding.UNKNOWN})
    words = "shown in a block by 1 of 2 nodes, 2 are needed: a in block 6"
    (intent,) = stage.accepted
    assert wait_reason(stage.lane, stage.slot(1)) == words
    stage.prove(replace(OTHER, hash=stage.attempt(1).hash))
    height = HEIGHT + 2 + stage.settings.conflict_blocks
    stage.tick(100)
    stage.look("a", height, 1, {1: committed(6)})
    stage.look("b", height, 1, {1: TxStanding.UNKNOWN})
    stage.prove(replace(OTHER, hash=stage.attempt(1).hash))
    stage.tick(100)
    stage.look("b", height, 1, {1: TxStanding.UNKNOWN})
    found = stage.results[intent]
    assert (found.status, found.reason) == (
        "indeterminate",
        f"sequence 0 is used, and {words}: look for its hash before it is sent in another way",
    )


def test_what_is_indeterminate_is_watched_and_corrected() -> None:
    stage = indeterminate()
    stage.look_later("a", 8, 1, {1: committed(5)})
    corrected = [record for record in stage.told if isinstance(record, v.SlotCorrected)]
    assert corrected[0].seen is not None
    assert stage.rows == {}
    assert stage.statuses() == ["indeterminate"]


def test_what_is_indeterminate_is_not_watched_for_ever() -> None:
    stage = indeterminate(watch_blocks=5)
    stage.look_later("a", 12, 1, {1: TxStanding.UNKNOWN})
    assert list(stage.lane.watched) == [1]
    stage.look_later("a", 13, 1, {1: TxStanding.UNKNOWN})
    assert stage.lane.slots == {}


def test_no_more_are_watched_than_can_be_asked_for() -> None:
    stage = indeterminate()
    watched = stage.slot(1)
    for number in range(2, WATCHED_MAX + 3):
        extra = replace(watched, id=number, attempt=None)
        stage.put(extra)
    stage.look_later("a", 8, 1, {1: TxStanding.UNKNOWN})
    assert len(stage.lane.watched) == WATCHED_MAX
    assert 1 not in stage.lane.watched


def test_a_filler_whose_number_others_used_is_done() -> None:
    stage = out(2, attempts_max=1)
    stage.change(2, timeout_height=99)
    stage.all_look(HEIGHT + 11, 0)
    stage.make()
    stage.all_look(HEIGHT + 12, 1, {1: TxStanding.UNKNOWN})
    assert stage.sequences() == {1: 2}


def test_a_filler_in_a_block_lets_those_behind_it_land() -> None:
    stage = out(2, attempts_max=1, nodes=("a",))
    stage.change(2, timeout_height=99)
    stage.look_later("a", HEIGHT + 11, 0)
    stage.make()
    stage.answer("a")
    stage.look_later("a", HEIGHT + 12, 2, {1: committed(), 2: committed()})
    assert stage.statuses() == ["expired", "confirmed"]
    assert stage.rows == {}


def test_bytes_that_were_not_asked_for_are_not_judged() -> None:
    stage = out(1)
    stage.tick(100)
    order = stage.take(v.LookAtNode, node="a")[0]
    stage.post(stage.looked(replace(order, hashes=()), HEIGHT + 1, 1, {}))
    assert stage.take(v.ProveSequence) == []
    assert stage.slot(1).doubt_height is None


# Numbers that others used before any node had something of ours.


def test_whoever_was_overtaken_is_given_the_next_numbers() -> None:
    stage = offered(2, nodes=("a",))
    stage.answer("a", OfferKind.WRONG_SEQUENCE, expected=1)
    stage.take(v.MakeAttempt)
    stage.look_later("a", HEIGHT + 1, 1)
    assert any(isinstance(record, v.SlotsRenumbered) for record in stage.told)
    assert stage.sequences() == {1: 1, 2: 2}
    orders = stage.take(v.MakeAttempt)
    assert [(order.slot, order.sequence, order.number) for order in orders] == [
        (1, 1, 2),
        (2, 2, 2),
    ]
    assert stage.take(v.ProveSequence) == []


def test_whoever_was_passed_by_later_ones_has_no_place_left() -> None:
    stage = offered(2, nodes=("a",))
    stage.answer("a", OfferKind.WRONG_SEQUENCE, expected=1)
    stage.look_later("a", HEIGHT + 1, 0)
    # Others used its number while it was being offered again; the second one landed.
    stage.place("a", next=1, until=2)
    order = stage.offered("a")
    stage.post(stage.returned(replace(order, first=1, hashes=order.hashes[1:])))
    stage.look_later("a", HEIGHT + 2, 2, {1: TxStanding.REJECTED, 2: committed()})
    assert stage.statuses() == ["refused", "confirmed"]
    assert stage.rows == {}


def test_one_that_was_passed_by_what_may_be_in_a_block_has_no_place_left() -> None:
    """A later one that is called indeterminate may have landed."""
    stage = offered(2, nodes=("a",))
    stage.answer("a", OfferKind.WRONG_SEQUENCE, expected=1)
    second = stage.slot(2)
    watched = replace(second, told=True, doubt_height=HEIGHT)
    about = ("indeterminate", stage.now_ms, second.sequence, "who knows", second.intent)
    stage.apply([v.SlotSettled(second.id, *about, stays=watched)])
    stage.look_later("a", HEIGHT + 1, 2, {1: TxStanding.REJECTED})
    assert stage.statuses() == ["refused", "indeterminate"]


def test_whoever_may_have_landed_is_not_given_another_number() -> None:
    stage = offered(2, nodes=("a",))
    stage.answer("a", OfferKind.SILENT)
    stage.look_later("a", HEIGHT + 1, 2, {1: TxStanding.UNKNOWN, 2: committed()})
    assert stage.statuses() == ["", "confirmed"]
    assert stage.sequences() == {0: 1}
    assert stage.slot(1).proving


# Where transactions stand.


def test_what_a_node_dropped_it_is_offered_again_the_lowest_first() -> None:
    for standing in (TxStanding.EVICTED, TxStanding.REJECTED, TxStanding.UNKNOWN):
        stage = out(3)
        before = stage.lane.raw(stage.slot(2))
        stage.look_later("a", HEIGHT + 1, 0, {2: standing, 3: TxStanding.PENDING})
        order = stage.offered("a")
        assert (order.first, order.raws[0], len(order.raws)) == (1, before, 2)
        assert stage.node("a").reason.startswith(standing.value.lower())
        assert stage.take(v.OfferToNode, node="b") == []


def test_a_reason_is_told_with_its_code() -> None:
    stage = out(1)
    seen = TxSeen(b"", TxStanding.REJECTED, 0, 30, "sdk", "too late")
    stage.look_later("a", HEIGHT + 1, 0, {1: seen})
    assert stage.node("a").reason == "rejected: sequence 0 with code 30: too late"


def test_a_node_that_tells_nothing_of_a_transaction_is_not_set_back() -> None:
    stage = out(1)
    stage.look_later("a", HEIGHT + 1, 0, {1: TxStanding.UNTOLD})
    assert stage.take(v.OfferToNode) == []
    assert stage.node("a").reason == ""


def test_what_was_not_offered_when_the_look_began_is_not_lost() -> None:
    stage = begun(1, nodes=("a",))
    stage.make()
    stage.tick(100)
    order = stage.take(v.LookAtNode)[0]
    stage.answer("a")
    stage.post(stage.looked(order, HEIGHT, 0, {1: TxStanding.UNKNOWN}))
    assert stage.take(v.OfferToNode) == []


def test_a_look_from_before_a_node_was_set_back_does_not_set_it_back_again() -> None:
    stage = out(1, nodes=("a",))
    stage.tick(100)
    order = stage.take(v.LookAtNode)[0]
    stage.place("a", epoch=5)
    stage.post(stage.looked(order, HEIGHT, 0, {1: TxStanding.UNKNOWN}))
    assert stage.take(v.OfferToNode) == []


def test_a_mismatch_is_not_judged_before_the_next_block() -> None:
    stage = out(1, nodes=("a",))
    stage.place("a", gate=HEIGHT)
    stage.look_later("a", HEIGHT, 0, {1: TxStanding.EVICTED})
    assert stage.take(v.OfferToNode) == []
    stage.look_later("a", HEIGHT + 1, 0, {1: TxStanding.EVICTED})
    assert stage.offered("a").first == 0


# Bytes that can land no more.


def test_bytes_end_behind_their_last_block_and_are_made_again_at_the_same_number() -> None:
    stage = out(1)
    stage.all_look(HEIGHT + 10, 0)
    assert stage.take(v.MakeAttempt) == []
    stage.all_look(HEIGHT + 11, 0)
    (order,) = stage.take(v.MakeAttempt)
    assert (order.sequence, order.number) == (0, 2)
    assert stage.slot(1).past[0].reason == "not in a block up to 15"
    # Whatever nodes take of it now they take for the first time.
    assert [node.top for node in stage.lane.nodes.values()] == [0, 0]


def test_the_last_word_against_bytes_is_told_with_their_end() -> None:
    stage = out(1, nodes=("a",))
    stage.look_later("a", HEIGHT + 1, 0, {1: TxStanding.EVICTED})
    stage.answer("a", OfferKind.MEMPOOL_FULL, log="words")
    stage.look_later("a", HEIGHT + 11, 0)
    assert stage.slot(1).past[0].reason == "not in a block up to 15 (mempool_full: words)"


def test_bytes_do_not_end_where_the_account_is_beyond_them() -> None:
    stage = out(1)
    stage.all_look(HEIGHT + 11, 1, {1: TxStanding.UNKNOWN})
    assert stage.take(v.MakeAttempt) == []
    assert len(stage.take(v.ProveSequence)) == 1


def test_an_intent_that_was_signed_often_enough_expires_and_leaves_no_gap() -> None:
    stage = out(2, attempts_max=1)
    stage.change(2, timeout_height=99)
    stage.all_look(HEIGHT + 11, 0)
    # The second may land yet, so the first one's number is filled.
    assert stage.statuses() == ["expired", ""]
    (filler,) = stage.take(v.MakeAttempt)
    assert (filler.purpose, filler.sequence) == (Purpose.FILLER, 0)
    assert any(isinstance(record, v.SlotSettled) and record.stays for record in stage.told)


def test_where_all_bytes_have_ended_those_above_move_down() -> None:
    stage = out(3, attempts_max=1)
    stage.all_look(HEIGHT + 11, 0)
    assert stage.statuses() == ["expired", "", ""]
    assert any(isinstance(record, v.SlotFellOut) for record in stage.told)
    assert stage.sequences() == {0: 2, 1: 3}
    orders = stage.take(v.MakeAttempt)
    assert [(order.slot, order.sequence, order.height) for order in orders] == [
        (2, 0, HEIGHT + 11),
        (3, 1, HEIGHT + 11),
    ]


# Nodes that lie.

THREE = ("a", "b", "c")


def test_one_node_of_three_whose_heights_climb_ends_no_bytes() -> None:
    stage = out(3, nodes=THREE, block_ms=500)
    for turn in range(1, 8):
        stage.tick(100)
        for name in THREE:
            stage.look(name, HEIGHT + (200 * turn if name == "c" else 0), 0)
    assert stage.statuses() == ["", "", ""]
    assert all(slot.past == () for slot in stage.lane.in_order())
    assert stage.sequences() == {0: 1, 1: 2, 2: 3}
    # Nor do its heights make bytes that are good for hundreds of blocks.
    assert stage.lane.head.height <= HEIGHT + 2 + AHEAD_BLOCKS_MAX


def test_a_chain_that_is_faster_than_its_pace_ends_bytes_when_their_time_is_over() -> None:
    stage = Stage(nodes=("a",), block_ms=500)
    stage.lane.head.pace_height, stage.lane.head.pace_ms = 1, stage.now_ms  # A day's deficit.
    stage.accept(1)
    stage.pull()
    stage.look("a", 700_000, 0)
    stage.pull()
    stage.make()
    stage.answer("a")
    assert (stage.attempt(1).timeout_height, stage.attempt(1).made_height) == (700_010, 700_000)
    assert stage.lane.head.pace_height == 1
    stage.now_ms += 10 * 500
    stage.look_later("a", 700_060, 0)
    assert stage.slot(1).attempt is not None
    stage.now_ms += 500
    stage.look_later("a", 700_070, 0)
    (gone,) = stage.slot(1).past
    assert (gone.timeout_height, gone.made_height, gone.proven) == (700_010, 700_000, True)
    assert gone.made_ms == 1_000_000


def test_blocks_that_were_shown_while_bytes_were_made_do_not_end_them() -> None:
    stage = begun(1, nodes=("a",), block_ms=500)
    stage.place("a", looking=True)
    stage.post(stage.looked(v.LookAtNode("a", 0, 0, ()), 9_000, 0, {}))
    stage.make()
    stage.answer("a")
    assert stage.lane.head.height == 9_000
    assert stage.attempt(1).made_height == HEIGHT
    stage.look_later("a", 9_001, 0)
    assert stage.slot(1).past == ()


def test_one_node_of_three_confirms_nothing() -> None:
    stage = out(1, nodes=THREE)
    stage.look_later("c", HEIGHT + 1, 1, {1: committed()})
    assert stage.statuses() == [""]
    assert [one.node for one in stage.slot(1).shown] == ["c"]
    stage.look("a", HEIGHT + 1, 1, {1: committed(7)})
    stage.look("b", HEIGHT + 1, 1, {1: committed(7, code=5)})
    assert stage.statuses() == [""]
    # Each node has one word: what it says last.
    stage.look_later("c", HEIGHT + 1, 1, {1: committed(7, code=5)})
    assert stage.statuses() == ["reverted"]


def test_a_node_that_shows_bytes_in_no_block_any_more_has_no_word_on_them() -> None:
    stage = out(1, nodes=("a", "b", "c"))
    stage.tick(100)
    stage.look("a", 7, 1, {1: committed(6)})
    stage.look("b", 7, 1)
    stage.look("c", 7, 0)
    assert [one.node for one in stage.slot(1).shown] == ["a"]
    stage.tick(100)
    stage.look("a", 8, 1, {1: TxStanding.PENDING})
    assert stage.slot(1).shown == ()
    stage.look("b", 8, 1, {1: committed(6)})
    assert stage.statuses() == [""]
    stage.look("c", 8, 1, {1: committed(6)})
    assert stage.statuses() == ["confirmed"]


def test_a_word_on_other_bytes_of_a_slot_takes_nothing_back() -> None:
    stage = out(1, nodes=("a",))
    stage.tick(100)
    stage.look("a", 7, 0, {1: committed(6)})
    (word,) = stage.slot(1).shown
    other = replace(word, node="b")
    stage.put(replace(stage.slot(1), shown=(other,)))
    stage.look_later("a", 8, 0)
    assert stage.slot(1).shown == (other,)


def test_nothing_is_confirmed_before_a_majority_counts_its_number_as_used() -> None:
    stage = out(1, nodes=("a", "b", "c"))
    stage.tick(100)
    stage.look("a", 7, 0, {1: committed(6)})
    stage.look("b", 7, 0, {1: committed(6)})
    assert stage.statuses() == [""]
    stage.look("c", 7, 1, {1: committed(6)})
    assert stage.statuses() == [""]
    stage.look_later("a", 8, 1, {1: committed(6)})
    assert stage.statuses() == ["confirmed"]


def test_a_node_that_left_has_no_word() -> None:
    stage = out(1, nodes=THREE)
    stage.look_later("c", HEIGHT + 1, 1, {1: committed()})
    stage.crash(nodes=("a", "b", "d"))
    stage.tick(100)
    stage.look("a", HEIGHT + 1, 1, {1: committed()})
    assert stage.statuses() == [""]
    stage.look("b", HEIGHT + 1, 1, {1: committed()})
    assert stage.statuses() == ["confirmed"]


def test_one_node_of_three_uses_no_number_and_proves_no_conflict() -> None:
    stage = out(1, nodes=THREE)
    stage.look_later("c", HEIGHT + 1, 500, {1: TxStanding.UNKNOWN})
    assert stage.take(v.ProveSequence) == []
    assert stage.lane.head.committed == 0
    stage.all_look(HEIGHT + 2, 1, {1: TxStanding.UNKNOWN})
    lie = replace(OTHER, hash=hash_of(b"lie"))
    stage.prove(lie, OTHER)
    assert stage.statuses() == [""]
    stage.all_look(HEIGHT + 3, 1, {1: TxStanding.UNKNOWN})
    stage.prove(lie, OTHER, OTHER)
    (result,) = stage.results.values()
    assert OTHER.hash.hex().upper() in result.reason


def test_a_node_that_shows_bytes_in_a_block_does_not_doubt_them() -> None:
    stage = out(1)
    stage.look_later("a", HEIGHT + 1, 1)
    stage.look("b", HEIGHT + 1, 1, {1: committed()})
    assert stage.take(v.ProveSequence) == []
    stage.look_later("a", HEIGHT + 1, 1)
    assert len(stage.take(v.ProveSequence)) == 1


def test_nodes_that_were_never_looked_at_are_when_too_few_show_the_account() -> None:
    stage = Stage(nodes=("a",))
    stage.accept(1)
    stage.pull()
    stage.look("a", HEIGHT, None)
    stage.crash(nodes=("a", "b"))
    stage.tick(500)
    stage.look("a", HEIGHT, 0)
    assert stage.node("b").look_ms == stage.now_ms
    assert stage.node("a").look_ms == stage.now_ms + 100
    stage.tick(0)
    stage.look("b", HEIGHT, 0)
    assert stage.lane.head.sequence_next == 0


def test_an_account_is_not_missing_because_one_node_says_so() -> None:
    stage = Stage(nodes=THREE)
    stage.accept(1)
    stage.pull()
    stage.look("c", HEIGHT, None)
    stage.look("a", HEIGHT, 3)
    assert (stage.lane.head.is_missing, stage.lane.head.sequence_next) == (False, None)
    stage.look("b", HEIGHT, 3)
    assert stage.lane.head.sequence_next == 3


def test_a_gate_far_above_a_nodes_blocks_is_open() -> None:
    stage = out(1, nodes=("a",))
    stage.place("a", gate=5_000)
    stage.look_later("a", HEIGHT + 1, 0, {1: TxStanding.EVICTED})
    assert stage.offered("a").first == 0


# Bytes that were given up, and may land.


def unproven(**settings: Any) -> Stage:
    """Both nodes called an intent's first bytes too cheap; one may have lied."""
    stage = offered(1, **settings)
    stage.answer("a", OfferKind.FEE_TOO_LOW)
    stage.answer("b", OfferKind.FEE_TOO_LOW)
    assert stage.slot(1).is_unproven()
    return stage


def test_bytes_that_were_given_up_are_over_behind_their_last_block() -> None:
    stage = unproven()
    stage.make(timeout=99)
    stage.all_look(HEIGHT + 10, 0)
    assert stage.slot(1).is_unproven()
    stage.all_look(HEIGHT + 11, 0)
    assert not stage.slot(1).is_unproven()
    assert stage.slot(1).attempt is not None


def test_an_intent_of_which_earlier_bytes_may_land_is_not_given_up() -> None:
    stage = unproven()
    stage.make(timeout=HEIGHT)
    stage.all_look(HEIGHT + 10, 0)
    assert stage.statuses() == [""]
    stage.all_look(HEIGHT + 11, 0)
    assert stage.statuses() == ["expired"]


def test_bytes_that_were_given_up_count_when_they_land() -> None:
    stage = unproven()
    stage.make()
    first = stage.slot(1).past[0].hash
    for node in "ab":
        stage.answer(node)
    landed = replace(committed(), hash=first)
    for order in look_orders(stage):
        looked = stage.looked(order, HEIGHT + 1, 1, {1: TxStanding.UNKNOWN})
        txs = [landed if one.hash == first else one for one in looked.look.txs]
        stage.post(replace(looked, look=replace(looked.look, txs=tuple(txs))))
    (result,) = stage.results.values()
    assert (result.status, result.hash) == ("confirmed", first)


def look_orders(stage: Stage) -> list[v.LookAtNode]:
    stage.tick(stage.settings.poll_ms)
    return stage.take(v.LookAtNode)


def test_a_number_that_is_used_while_other_bytes_are_made_is_doubted() -> None:
    stage = unproven(conflict_blocks=1)
    lost = {1: TxStanding.UNKNOWN}
    stage.all_look(HEIGHT + 1, 1, lost)
    stage.prove()
    stage.all_look(HEIGHT + 3, 1, lost)
    stage.prove()
    stage.all_look(HEIGHT + 4, 1, lost)
    (result,) = stage.results.values()
    assert (result.status, result.number) == ("indeterminate", 0)
    assert decode_history(result.history).raw == b""


def test_what_most_nodes_refused_is_refused_behind_its_last_block() -> None:
    stage = offered(1)
    stage.answer("a", OfferKind.REFUSED, log="no such thing")
    stage.answer("b", OfferKind.REFUSED, log="no such thing")
    assert stage.statuses() == [""]
    stage.all_look(HEIGHT + 11, 0)
    (result,) = stage.results.values()
    assert (result.status, result.reason) == ("refused", "refused: no such thing")


# Bytes that failed before they used their number.


def test_bytes_that_failed_without_using_their_number_are_no_end() -> None:
    stage = out(2)
    failed: dict[int, TxStanding | TxSeen] = {1: committed(code=5), 2: TxStanding.REJECTED}
    stage.all_look(HEIGHT + 5, 0, failed)
    assert stage.statuses() == ["", ""]
    assert stage.lane.head.committed == 0
    stage.all_look(HEIGHT + 11, 0, failed)
    assert stage.sequences() == {0: 1, 1: 2}
    first = stage.slot(1).past[0].hash
    stage.make()
    for order in look_orders(stage):
        looked = stage.looked(order, HEIGHT + 12, 1, {1: committed(16)})
        txs = [committed(6, code=5) if one.hash == first else one for one in looked.look.txs]
        txs = [replace(one, hash=hash_) for one, hash_ in zip(txs, order.hashes, strict=True)]
        stage.post(replace(looked, look=replace(looked.look, txs=tuple(txs))))
    assert stage.statuses() == ["confirmed", ""]


def test_a_failure_in_the_newest_block_is_no_end_without_using_its_number() -> None:
    """A node's height runs ahead of its account: that the number was not used is not shown yet."""
    stage = out(1)
    stage.all_look(HEIGHT + 1, 0, {1: committed(HEIGHT + 1, code=5)})
    assert [one.unused for one in stage.slot(1).shown] == [False, False]
    assert stage.statuses() == [""]
    stage.all_look(HEIGHT + 2, 1, {1: committed(HEIGHT + 1, code=5)})
    assert stage.statuses() == ["reverted"]


def test_a_failure_that_used_no_number_is_never_its_user() -> None:
    stage = out(1, nodes=("a",))
    stage.look_later("a", HEIGHT + 2, 0, {1: committed(6, code=5)})
    assert [one.unused for one in stage.slot(1).shown] == [True]
    assert wait_reason(stage.lane, stage.slot(1)) == "not_committed_yet"
    # The same bytes land in a later block; the index of transactions is behind the account.
    stage.look_later("a", HEIGHT + 3, 1, {1: committed(6, code=5)})
    assert stage.statuses() == [""]
    stage.prove(replace(committed(6, code=5), hash=stage.attempt(1).hash))
    assert stage.statuses() == [""]
    assert not stage.slot(1).proving
    stage.look_later("a", HEIGHT + 4, 1, {1: committed(8)})
    assert stage.statuses() == ["confirmed"]


def test_a_failure_in_a_nodes_newest_block_may_have_used_its_number() -> None:
    stage = out(1, nodes=("a",))
    stage.look_later("a", HEIGHT + 1, 0, {1: committed(6, code=5)})
    assert [one.unused for one in stage.slot(1).shown] == [False]
    stage.look_later("a", HEIGHT + 2, 1, {1: committed(6, code=5)})
    assert stage.statuses() == ["reverted"]


# What was believed is taken back.


def test_an_account_that_counts_back_halts_its_lane_with_the_evidence() -> None:
    stage = out(1, nodes=("a",))
    stage.look_later("a", HEIGHT + 1, 505, {1: TxStanding.PENDING})
    stage.prove()
    stage.look_later("a", HEIGHT + 5, 0)
    assert stage.lane.head.halt == ""
    stage.look_later("a", HEIGHT + 20, 0)
    (halted,) = [record for record in stage.told if isinstance(record, v.LaneHalted)]
    assert halted.reason == (
        "the account was at sequence 505 at block 6, and now a shows sequence 0 at block 25"
    )
    assert stage.lane.head.halt == halted.reason
    stage.accept(1)
    assert stage.kind.wants(stage.lane) == 0
    # Its first evidence is kept, and it is looked at more seldom.
    stage.tick(500)
    stage.look("a", HEIGHT + 30, 0)
    assert [type(record) for record in stage.told] == [v.NodeChanged]
    assert stage.node("a").look_ms == stage.now_ms + stage.settings.account_ms


def test_a_lane_goes_on_when_its_nodes_show_again_what_was_believed() -> None:
    stage = out(1, nodes=("a",))
    stage.look_later("a", HEIGHT + 1, 5, {1: committed()})
    stage.accept(1)
    stage.tick(2_000)
    stage.pull()
    stage.look("a", HEIGHT + 50, 2)
    assert stage.lane.head.halt
    stage.tick(500)
    stage.look("a", HEIGHT + 51, 5)
    assert (stage.lane.head.halt, stage.kind.wants(stage.lane)) == ("", 8)


def test_a_halted_lane_looks_at_all_its_nodes_again() -> None:
    stage = out(1, nodes=("a", "b", "c"))
    stage.all_look(HEIGHT + 1, 1, {1: TxStanding.COMMITTED})
    stage.all_look(HEIGHT + 1, 1)
    stage.accept(1)
    stage.now_ms += 10_000
    stage.pull()
    stage.look("a", 50, 0)
    stage.look("b", 50, 0)
    assert stage.lane.head.halt
    stage.look("c", 50, 1)
    assert [node.is_unseen() for node in stage.lane.live()] == [False] * 3
    # One of those that took it back is dead now; the others are a majority.
    stage.tick(500)
    stage.blind("b")
    stage.look("a", 60, 1)
    stage.look("c", 60, 1)
    assert stage.lane.head.halt == ""


def test_a_chain_that_is_another_one_halts_the_lane() -> None:
    stage = out(1, nodes=("a",))
    for origin in (b"the first".ljust(32), b"another".ljust(32)):
        stage.tick(100)
        order = stage.take(v.LookAtNode)[0]
        looked = stage.looked(order, HEIGHT + 1, 0, {})
        look = replace(looked.look, origin_height=1, origin=origin)
        stage.post(replace(looked, look=look))
    assert stage.lane.head.halt.startswith("the nodes serve another chain: its block 1 was ")
    assert stage.statuses() == [""]
