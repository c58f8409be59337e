"""What is made, offered and looked at next."""

import pytest
from tests.lanes.sequence.stage import HEIGHT, begun, committed, offered, out, replace

from laneway.core.cosmos import OfferKind, TxStanding
from laneway.lanes.sequence import tries
from laneway.lanes.sequence.lane import SequenceLane
from laneway.lanes.sequence.limits import PAST_KEPT_MAX
from laneway.lanes.sequence.rows import Purpose
from laneway.lanes.sequence.tries import SignedAttempt, held, look, offer_again
from laneway.lanes.sequence.values import (
    LookAtNode,
    MakeAttempt,
    OfferToNode,
    ProveSequence,
    SequenceProven,
)


def test_bytes_are_made_for_the_newest_block_that_is_known() -> None:
    stage = out(1)
    stage.all_look(HEIGHT + 11, 0)
    (order,) = stage.take(MakeAttempt)
    assert (order.height, order.number, order.sequence) == (HEIGHT + 11, 2, 0)
    assert order.payload == next(iter(stage.accepted)).encode()


def test_a_filler_is_made_without_a_payload() -> None:
    stage = out(2, attempts_max=1)
    stage.change(2, timeout_height=99)
    stage.all_look(HEIGHT + 11, 0)
    (order,) = stage.take(MakeAttempt)
    assert (order.purpose, order.payload) == (Purpose.FILLER, b"")


def test_the_lowest_are_always_looked_at_and_the_others_in_turn() -> None:
    stage = out(6, statuses=4, nodes=("a",))
    hashes = [stage.attempt(number).hash for number in range(1, 7)]
    seen = []
    for height in (6, 7, 8):
        stage.tick(100)
        (order,) = stage.take(LookAtNode)
        assert order.hashes[:2] == tuple(hashes[:2])
        assert len(order.hashes) == 4
        seen += order.hashes[2:]
        stage.post(stage.looked(order, height, 0, {}))
    assert set(seen) == set(hashes[2:])


def test_bytes_that_should_land_no_more_are_looked_for_too() -> None:
    stage = out(1, nodes=("a",))
    first = stage.attempt(1).hash
    stage.look_later("a", HEIGHT + 11, 0)
    assert look(stage.lane, stage.node("a")).hashes == (first,)
    stage.make()
    assert look(stage.lane, stage.node("a")).hashes == (stage.attempt(1).hash, first)
    # Had one of them landed after all, it would count.
    stage.look_later("a", HEIGHT + 12, 1, {1: committed()})
    assert stage.statuses() == ["confirmed"]


def test_an_order_is_bounded_in_count_and_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tries, "OFFER_COUNT_MAX", 2)
    stage = offered(5, nodes=("a",))
    assert len(stage.take(OfferToNode)[0].raws) == 2
    monkeypatch.setattr(tries, "OFFER_COUNT_MAX", 50)
    monkeypatch.setattr(tries, "OFFER_BYTES_MAX", 250)
    stage = begun(5, nodes=("a",))
    stage.make(size=100)
    assert len(stage.take(OfferToNode)[0].raws) == 2
    stage = begun(2, nodes=("a",))
    stage.make(size=400)
    assert len(stage.take(OfferToNode)[0].raws) == 1


def test_a_node_is_offered_nothing_while_it_is_being_offered_something() -> None:
    stage = offered(1, nodes=("a",))
    stage.accept(1)
    stage.pull()
    stage.make()
    assert len(stage.take(OfferToNode)) == 1


def test_there_is_nothing_to_offer_at_a_number_without_bytes() -> None:
    stage = begun(1)
    assert held(stage.lane, 0) is None
    assert held(stage.lane, 9) is None


def test_what_was_being_offered_is_offered_again_as_far_as_it_is_known() -> None:
    stage = offered(3, nodes=("a",))
    again = offer_again(stage.lane, stage.node("a"))
    assert (again.first, len(again.raws), again.again) == (0, 3, stage.lane.life)
    stage.tick(100)
    stage.look("a", HEIGHT + 11, 0)
    stage.tick(0)
    assert offer_again(stage.lane, stage.node("a")).raws == ()


def test_what_is_offered_again_ends_at_the_first_number_without_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An operator may have left out any count of numbers."""
    stage = offered(3, nodes=("a",))
    asked: list[int] = []

    def found(lane: SequenceLane, sequence: int) -> SignedAttempt | None:
        asked.append(sequence)
        return held(lane, sequence)

    monkeypatch.setattr(tries, "held", found)
    again = offer_again(stage.lane, replace(stage.node("a"), until=99))
    assert (len(again.raws), asked) == (3, [0, 1, 2, 3])


def test_a_node_that_has_all_that_it_was_offered_is_recovered() -> None:
    stage = out(1, nodes=("a",))
    stage.look_later("a", HEIGHT + 1, 0, {1: TxStanding.EVICTED})
    assert stage.node("a").reason == "evicted: sequence 0"
    assert (stage.node("a").next, stage.node("a").epoch) == (0, 1)
    assert stage.node("a").since_height == HEIGHT + 1
    stage.answer("a", OfferKind.WRONG_SEQUENCE)
    stage.look_later("a", HEIGHT + 2, 1, {1: committed()})
    assert stage.node("a").reason == ""
    assert stage.node("a").since_height == HEIGHT + 1


def test_a_node_that_waits_for_bytes_stays_as_it_is() -> None:
    stage = out(2, nodes=("a",))
    stage.change(2, timeout_height=99)
    stage.look_later("a", HEIGHT + 11, 0)
    assert stage.node("a").reason == "sequence 0 is made again"
    assert stage.take(OfferToNode) == []
    stage.make()
    stage.answer("a")
    assert stage.node("a").reason == ""


def test_a_filler_remembers_only_the_last_of_its_bytes() -> None:
    stage = out(2, attempts_max=1, nodes=("a",))
    stage.change(2, timeout_height=99)
    height = HEIGHT + 11
    for _ in range(5):
        stage.look_later("a", height, 0)
        stage.make(timeout=height)
        height += 1
    assert len(stage.slot(1).past) == PAST_KEPT_MAX
    assert len(stage.lane.hashes) == 1 + PAST_KEPT_MAX + 1


def test_nothing_is_offered_above_a_number_that_others_used_before_anyone_had_ours() -> None:
    """Otherwise the third would land, and the second after it."""
    stage = out(1)
    stage.accept(2)
    stage.pull()
    # Others use the second one's number while it is made; the first stays open, for one node alone
    # shows it in a block.
    stage.tick(stage.settings.poll_ms)
    stage.look("a", HEIGHT + 1, 2, {1: committed()})
    stage.look("b", HEIGHT + 1, 2, {1: TxStanding.UNKNOWN})
    assert stage.lane.head.committed == 2
    stage.make()
    assert stage.slot(2).attempt is None
    assert stage.slot(3).attempt is not None
    assert [order.first for order in stage.take(OfferToNode) if order.first] == []
    stage.all_look(HEIGHT + 2, 2, {1: committed()})
    assert stage.statuses() == ["confirmed", "", ""]
    assert stage.sequences() == {2: 2, 3: 3}, "both are given other numbers, in their order"
    stage.make()
    assert {order.first for order in stage.take(OfferToNode)} == {2}


def test_what_waits_for_a_number_that_others_used_goes_on_when_those_below_have_their_answer() -> (
    None
):
    """Also where nobody ever knows what became of those."""
    stage = out(1)
    stage.accept(2)
    stage.pull()
    height = HEIGHT
    while stage.statuses()[0] == "":
        height += 1
        assert height < HEIGHT + 3 * stage.settings.conflict_blocks, "it waits for ever"
        stage.tick(stage.settings.poll_ms)
        for node, standing in (("a", committed()), ("b", TxStanding.UNKNOWN)):
            stage.look(node, height, 2, {1: standing})
        for order in stage.take(ProveSequence):
            stage.post(SequenceProven(stage.now_ms, order.sequence, ()))
    stage.all_look(height + 1, 2)
    assert stage.statuses() == ["indeterminate", "", ""]
    assert stage.sequences() == {2: 2, 3: 3}
