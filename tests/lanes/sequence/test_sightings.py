"""What a look at a node says of the account and its transactions."""

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

from laneway.core.cosmos import OfferKind, Standing, TxSeen
from laneway.lanes.sequence.lane import decode_history
from laneway.lanes.sequence.limits import WATCHED_MAX
from laneway.lanes.sequence.rows import Purpose
from laneway.lanes.sequence.values import (
    LookAtNode,
    MakeAttempt,
    NodeLooked,
    OfferToNode,
    ProveSequence,
    SequenceProven,
    SlotChanged,
    SlotCorrected,
    SlotFellOut,
    SlotSettled,
    SlotsRenumbered,
)

OTHER = TxSeen(hash_of(b"other"), Standing.COMMITTED, 6)


# Looks.


def test_a_look_that_nobody_ordered_says_nothing() -> None:
    stage = out(1)
    stage.tick(100)
    order = stage.take(LookAtNode, node="a")[0]
    looked = stage.looked(order, HEIGHT + 1, 1, {1: committed()})
    stage.post(looked)
    stage.post(looked)
    assert stage.told == []
    stage.post(NodeLooked(stage.now_ms, 0, 0, replace(looked.look, node="c")))
    assert stage.told == []


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
    assert stage.node("b").look_ms is None
    stage.look_later("a", HEIGHT + 2, 1)
    assert stage.node("a").look_ms is None


# Ends that a block proves.


def test_what_is_in_a_block_is_confirmed_or_reverted() -> None:
    stage = out(2)
    stage.look_later("a", HEIGHT + 1, 0, {1: committed(), 2: committed(code=5)})
    assert stage.statuses() == ["confirmed", "reverted"]
    assert list(stage.results.values())[1].reason == "sdk code 5: why"
    history = decode_history(next(iter(stage.results.values())).history)
    assert history.seen is not None
    assert history.seen.height == 6
    # A node's account may be behind its own blocks.
    assert stage.lane.head.committed == 2


def test_a_number_is_used_and_the_chain_says_by_whom() -> None:
    stage = out(1)
    stage.look_later("a", HEIGHT + 1, 1, {1: Standing.EVICTED})
    assert stage.slot(1).proving
    stage.prove(OTHER)
    (result,) = stage.results.values()
    assert result.status == "refused"
    assert "someone else signs for this account" in result.reason
    assert OTHER.hash.hex().upper() in result.reason
    stage.post(SequenceProven(stage.now_ms, 0, OTHER))
    assert stage.told == []


def test_a_number_is_used_by_our_own_bytes_that_no_node_showed() -> None:
    stage = out(1)
    stage.look_later("a", HEIGHT + 1, 1, {1: Standing.UNKNOWN})
    stage.prove(replace(OTHER, hash=stage.attempt(1).hash))
    assert stage.statuses() == ["confirmed"]


def test_who_used_a_number_is_asked_once_a_block_and_not_for_ever() -> None:
    stage = out(1, nodes=("a",), conflict_blocks=2)
    lost = {1: Standing.UNKNOWN}
    stage.look_later("a", 6, 1, lost)
    stage.look_later("a", 6, 1, lost)
    stage.prove(None)
    assert [type(one) for one in stage.told] == [SlotChanged]
    stage.look_later("a", 6, 1, lost)
    assert stage.take(ProveSequence) == []
    stage.look_later("a", 7, 1, lost)
    stage.prove(None)
    stage.look_later("a", 9, 1, lost)
    (result,) = stage.results.values()
    assert result.status == "indeterminate"
    assert result.hash == stage.attempt(1).hash
    assert decode_history(result.history).raw == stage.attempt(1).raw


def indeterminate(**settings: int) -> Stage:
    stage = out(1, nodes=("a",), conflict_blocks=0, **settings)
    stage.look_later("a", 6, 1, {1: Standing.UNKNOWN})
    stage.prove(None)
    stage.look_later("a", 7, 1, {1: Standing.UNKNOWN})
    assert stage.statuses() == ["indeterminate"]
    return stage


def test_what_is_indeterminate_is_watched_and_corrected() -> None:
    stage = indeterminate()
    stage.look_later("a", 8, 1, {1: committed(5)})
    corrected = [record for record in stage.told if isinstance(record, SlotCorrected)]
    assert corrected[0].seen is not None
    assert stage.rows == {}
    assert stage.statuses() == ["indeterminate"]


def test_what_is_indeterminate_is_not_watched_for_ever() -> None:
    stage = indeterminate(watch_blocks=5)
    stage.look_later("a", 12, 1, {1: Standing.UNKNOWN})
    assert list(stage.lane.watched) == [1]
    stage.look_later("a", 13, 1, {1: Standing.UNKNOWN})
    assert stage.lane.slots == {}


def test_no_more_are_watched_than_can_be_asked_for() -> None:
    stage = indeterminate()
    watched = stage.slot(1)
    for number in range(2, WATCHED_MAX + 3):
        extra = replace(watched, id=number, attempt=None)
        stage.apply([SlotChanged(extra, "taken")])
    stage.look_later("a", 8, 1, {1: Standing.UNKNOWN})
    assert len(stage.lane.watched) == WATCHED_MAX
    assert 1 not in stage.lane.watched


def test_a_filler_whose_number_others_used_is_done() -> None:
    stage = out(2, attempts_max=1)
    stage.change(2, timeout_height=99)
    stage.look_later("a", HEIGHT + 11, 0)
    stage.make()
    stage.look_later("a", HEIGHT + 12, 1, {1: Standing.UNKNOWN})
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
    order = stage.take(LookAtNode, node="a")[0]
    stage.post(stage.looked(replace(order, hashes=()), HEIGHT + 1, 1, {}))
    assert stage.take(ProveSequence) == []
    assert stage.slot(1).doubt_height is None


# Numbers that others used before any node had something of ours.


def test_whoever_was_overtaken_is_given_the_next_numbers() -> None:
    stage = offered(2)
    stage.answer("a", OfferKind.WRONG_SEQUENCE, expected=1)
    stage.answer("b", OfferKind.WRONG_SEQUENCE, expected=1)
    stage.take(MakeAttempt)
    stage.look_later("a", HEIGHT + 1, 1)
    assert any(isinstance(record, SlotsRenumbered) for record in stage.told)
    assert stage.sequences() == {1: 1, 2: 2}
    orders = stage.take(MakeAttempt)
    assert [(order.slot, order.sequence, order.number) for order in orders] == [
        (1, 1, 2),
        (2, 2, 2),
    ]
    assert stage.take(ProveSequence) == []


def test_whoever_was_passed_by_later_ones_has_no_place_left() -> None:
    stage = offered(2, nodes=("a",))
    stage.answer("a", OfferKind.WRONG_SEQUENCE, expected=1)
    stage.look_later("a", HEIGHT + 1, 0)
    # Others used its number while it was being offered again; the second one landed.
    stage.place("a", next=1, until=2)
    order = stage.offered("a")
    stage.post(stage.returned(replace(order, first=1, hashes=order.hashes[1:])))
    stage.look_later("a", HEIGHT + 2, 2, {1: Standing.REJECTED, 2: committed()})
    assert stage.statuses() == ["refused", "confirmed"]
    assert stage.rows == {}


def test_whoever_may_have_landed_is_not_given_another_number() -> None:
    stage = offered(2, nodes=("a",))
    stage.answer("a", OfferKind.SILENT)
    stage.look_later("a", HEIGHT + 1, 2, {1: Standing.UNKNOWN, 2: committed()})
    assert stage.statuses() == ["", "confirmed"]
    assert stage.sequences() == {0: 1}
    assert stage.slot(1).proving


# Where transactions stand.


def test_what_a_node_dropped_it_is_offered_again_the_lowest_first() -> None:
    for standing in (Standing.EVICTED, Standing.REJECTED, Standing.UNKNOWN):
        stage = out(3)
        before = stage.lane.raw(stage.slot(2))
        stage.look_later("a", HEIGHT + 1, 0, {2: standing, 3: Standing.PENDING})
        order = stage.offered("a")
        assert (order.first, order.raws[0], len(order.raws)) == (1, before, 2)
        assert stage.node("a").reason.startswith(standing.value.lower())
        assert stage.take(OfferToNode, node="b") == []


def test_a_reason_is_told_with_its_code() -> None:
    stage = out(1)
    seen = TxSeen(b"", Standing.REJECTED, 0, 30, "sdk", "too late")
    stage.look_later("a", HEIGHT + 1, 0, {1: seen})
    assert stage.node("a").reason == "rejected: sequence 0 with code 30: too late"


def test_a_node_that_tells_nothing_of_a_transaction_is_not_set_back() -> None:
    stage = out(1)
    stage.look_later("a", HEIGHT + 1, 0, {1: Standing.UNTOLD})
    assert stage.take(OfferToNode) == []
    assert stage.node("a").reason == ""


def test_what_was_not_offered_when_the_look_began_is_not_lost() -> None:
    stage = begun(1, nodes=("a",))
    stage.make()
    stage.tick(100)
    order = stage.take(LookAtNode)[0]
    stage.answer("a")
    stage.post(stage.looked(order, HEIGHT, 0, {1: Standing.UNKNOWN}))
    assert stage.take(OfferToNode) == []


def test_a_look_from_before_a_node_was_set_back_does_not_set_it_back_again() -> None:
    stage = out(1, nodes=("a",))
    stage.tick(100)
    order = stage.take(LookAtNode)[0]
    stage.place("a", epoch=5)
    stage.post(stage.looked(order, HEIGHT, 0, {1: Standing.UNKNOWN}))
    assert stage.take(OfferToNode) == []


def test_a_mismatch_is_not_judged_before_the_next_block() -> None:
    stage = out(1, nodes=("a",))
    stage.place("a", gate=HEIGHT)
    stage.look_later("a", HEIGHT, 0, {1: Standing.EVICTED})
    assert stage.take(OfferToNode) == []
    stage.look_later("a", HEIGHT + 1, 0, {1: Standing.EVICTED})
    assert stage.offered("a").first == 0


# Bytes that can land no more.


def test_bytes_end_behind_their_last_block_and_are_made_again_at_the_same_number() -> None:
    stage = out(1)
    stage.look_later("a", HEIGHT + 10, 0)
    assert stage.take(MakeAttempt) == []
    stage.look_later("a", HEIGHT + 11, 0)
    (order,) = stage.take(MakeAttempt)
    assert (order.sequence, order.number) == (0, 2)
    assert stage.slot(1).past[0].reason == "not in a block up to 15"
    # Whatever nodes take of it now they take for the first time.
    assert [node.top for node in stage.lane.nodes.values()] == [0, 0]


def test_the_last_word_against_bytes_is_told_with_their_end() -> None:
    stage = out(1, nodes=("a",))
    stage.look_later("a", HEIGHT + 1, 0, {1: Standing.EVICTED})
    stage.answer("a", OfferKind.MEMPOOL_FULL, log="words")
    stage.look_later("a", HEIGHT + 11, 0)
    assert stage.slot(1).past[0].reason == "not in a block up to 15 (mempool_full: words)"


def test_bytes_do_not_end_where_the_account_is_beyond_them() -> None:
    stage = out(1)
    stage.look_later("a", HEIGHT + 11, 1, {1: Standing.UNKNOWN})
    assert stage.take(MakeAttempt) == []
    assert len(stage.take(ProveSequence)) == 1


def test_an_intent_that_was_signed_often_enough_expires_and_leaves_no_gap() -> None:
    stage = out(2, attempts_max=1)
    stage.change(2, timeout_height=99)
    stage.look_later("a", HEIGHT + 11, 0)
    # The second may land yet, so the first one's number is filled.
    assert stage.statuses() == ["expired", ""]
    (filler,) = stage.take(MakeAttempt)
    assert (filler.purpose, filler.sequence) == (Purpose.FILLER, 0)
    assert any(isinstance(record, SlotSettled) and record.stays for record in stage.told)


def test_where_all_bytes_have_ended_those_above_move_down() -> None:
    stage = out(3, attempts_max=1)
    stage.look_later("a", HEIGHT + 11, 0)
    assert stage.statuses() == ["expired", "", ""]
    assert any(isinstance(record, SlotFellOut) for record in stage.told)
    assert stage.sequences() == {0: 2, 1: 3}
    orders = stage.take(MakeAttempt)
    assert [(order.slot, order.sequence, order.height) for order in orders] == [
        (2, 0, HEIGHT + 11),
        (3, 1, HEIGHT + 11),
    ]
