"""What a lane believes of its account and its chain: what a majority of its nodes shows."""

from typing import Any

import pytest
from tests.lanes.sequence.stage import SETTINGS, replace

from laneway.lanes.sequence.belief import (
    Belief,
    BlockPace,
    believed,
    believed_anew,
    contradiction,
    is_alien,
    paced,
    seen_at,
    steady,
)
from laneway.lanes.sequence.limits import AHEAD_BLOCKS_MAX, LAG_BLOCKS_MAX, LEAD_BLOCKS_MAX
from laneway.lanes.sequence.rows import Node, SequenceHead

NOW_MS = 1_000_000
BLOCK_MS = 500
THREE = replace(SETTINGS, nodes=("a", "b", "c"), block_ms=BLOCK_MS)


def node(name: str, height: int = 100, sequence: int | None = 5, **fields: Any) -> Node:
    shown = Node(name, height=height, sequence=sequence, number=7, seen_ms=NOW_MS)
    return replace(shown, **fields)


def of(*nodes: Node, head: SequenceHead | None = None, now_ms: int = NOW_MS) -> Belief:
    paced_head = SequenceHead(sequence_next=0, pace_height=100, pace_ms=NOW_MS, height=100)
    known = paced_head if head is None else head
    return believed(known, THREE, nodes, now_ms)


# The account.


def test_one_liar_of_three_moves_no_sequence() -> None:
    for lie in (0, 4, 500, None):
        belief = of(node("a"), node("b", sequence=6), node("c", sequence=lie))
        assert belief.sequence in (5, 6)
        assert belief.number == 7
        assert not belief.is_missing


def test_the_first_number_is_one_that_a_majority_has_not_passed() -> None:
    """A node that lags shows a number that is used; of an account that was never read, nothing
    else says so."""
    unread = SequenceHead()
    assert of(node("a", sequence=3), node("b", sequence=0), head=unread).sequence is None
    assert of(node("a", sequence=3), node("b", sequence=3), head=unread).sequence == 3
    for lie in (0, 500):
        shown = (node("a", sequence=3), node("b", sequence=3), node("c", sequence=lie))
        assert of(*shown, head=unread).sequence == 3
    # What was believed once goes up with what a majority shows.
    known = SequenceHead(sequence_next=0)
    assert of(node("a", sequence=3), node("b", sequence=0), head=known).sequence == 0


def test_too_few_nodes_show_nothing() -> None:
    belief = of(node("a"), node("b", seen_ms=0), node("c", gone=True))
    assert (belief.sequence, belief.number, belief.read_ms, belief.proven) == (None, None, 0, 0)
    assert len(belief.nodes) == 2


def test_an_accounts_number_is_what_most_say() -> None:
    assert of(node("a"), node("b", number=8), node("c", number=9)).number is None


def test_an_account_is_missing_where_most_miss_it() -> None:
    assert of(node("a", sequence=None), node("b", sequence=None), node("c")).is_missing
    assert not of(node("a", sequence=None), node("b"), node("c")).is_missing


def test_an_account_was_read_when_most_nodes_were() -> None:
    belief = of(node("a"), node("b", seen_ms=NOW_MS - 10), node("c", seen_ms=NOW_MS - 90))
    assert belief.read_ms == NOW_MS - 10


def test_the_block_of_a_sequence_is_the_highest_that_showed_it() -> None:
    belief = of(node("a", 99), node("b", 100), node("c", 103, sequence=4))
    assert (belief.sequence, belief.sequence_height) == (5, 100)


# Heights.


def test_bytes_are_over_when_most_nodes_are_above_their_last_block() -> None:
    belief = of(node("a", 101), node("b", 101), node("c", 100))
    assert belief.is_over(5, 100)
    assert not belief.is_over(5, 101)
    # One that counts the account beyond them shows the opposite.
    assert not belief.is_over(4, 100)


def test_one_node_whose_heights_climb_ends_nothing() -> None:
    belief = of(node("a", 100), node("b", 100), node("c", 5_000))
    assert not belief.is_over(5, 100)
    assert belief.height <= 100 + AHEAD_BLOCKS_MAX
    assert belief.proven == 100


def test_bytes_are_made_for_the_newer_one_of_two_nodes() -> None:
    """For the older one's block they would be too late when they are made."""
    two = replace(THREE, nodes=("a", "b"))
    head = SequenceHead(sequence_next=5, pace_height=100, pace_ms=NOW_MS, height=100)
    belief = believed(head, two, [node("a", 100), node("b", 400)], NOW_MS)
    assert (belief.height, belief.proven, belief.pace) == (400, 100, BlockPace(100, NOW_MS))
    # They are over when both are above their last block, and it leads by no more than a bound.
    assert not belief.is_over(5, 100)
    belief = believed(head, two, [node("a", 100), node("b", 1 << 50)], NOW_MS)
    assert belief.height == 100 + LEAD_BLOCKS_MAX
    assert believed(head, two, [node("b", 400)], NOW_MS).height == 100


def test_where_there_is_one_node_its_heights_are_believed_as_time_allows() -> None:
    one = replace(THREE, nodes=("a",))
    head = SequenceHead(pace_height=100, pace_ms=NOW_MS, height=100)
    belief = believed(head, one, [node("a", 300)], NOW_MS + 10 * BLOCK_MS)
    assert belief.limit == 110 + AHEAD_BLOCKS_MAX
    assert belief.is_over(5, 109 + AHEAD_BLOCKS_MAX)
    assert not belief.is_over(5, 110 + AHEAD_BLOCKS_MAX)
    # New bytes are made for its own word: on a quick chain they would be too late otherwise.
    assert belief.height == 300


def test_bytes_are_over_when_their_blocks_may_have_come_since_they_were_made() -> None:
    one = replace(THREE, nodes=("a",))
    head = SequenceHead(pace_height=100, pace_ms=NOW_MS, height=900)
    later_ms = NOW_MS + 30 * BLOCK_MS
    belief = believed(head, one, [node("a", 2_000)], later_ms)
    made = BlockPace(900, NOW_MS)
    assert belief.is_over(5, 929, made)
    assert not belief.is_over(5, 930, made)
    assert not belief.is_over(4, 929, made)
    # A clock that was set back, and bytes of which it is not known when they were made.
    assert not belief.is_over(5, 929, BlockPace(900, later_ms + 1))
    assert not belief.is_over(5, 929, BlockPace(0, NOW_MS))
    # Nodes that are not above their last block say nothing, however much time passed.
    assert not believed(head, one, [node("a", 929)], later_ms).is_over(5, 929, made)


def test_a_climbing_node_gains_nothing_by_being_asked_often() -> None:
    head = SequenceHead()
    for turn in range(50):
        now_ms = NOW_MS + 10 * turn
        shown = node("a", 100 + 200 * turn, seen_ms=now_ms)
        belief = believed(head, replace(THREE, nodes=("a",)), [shown], now_ms)
        head = replace(head, pace_height=belief.pace.height, pace_ms=belief.pace.at_ms)
    assert belief.limit <= 100 + 1 + AHEAD_BLOCKS_MAX


@pytest.mark.parametrize(
    ("claimed", "at_ms", "becomes"),
    [
        (None, NOW_MS, BlockPace(100, NOW_MS)),
        (100, NOW_MS + 9_000, BlockPace(100, NOW_MS)),
        (99, NOW_MS + 9_000, BlockPace(100, NOW_MS)),
        (103, NOW_MS + 9_000, BlockPace(103, NOW_MS + 9_000)),
        (103, NOW_MS + 1_200, BlockPace(102, NOW_MS + 1_000)),
        (103, NOW_MS - 5_000, BlockPace(100, NOW_MS - 5_000)),
        (0, NOW_MS + 9_000, BlockPace(100, NOW_MS)),
    ],
)
def test_a_pace_rises_with_time(claimed: int | None, at_ms: int, becomes: BlockPace) -> None:
    head = SequenceHead(pace_height=100, pace_ms=NOW_MS)
    assert paced(head, claimed, at_ms, BLOCK_MS) == becomes


def test_the_first_height_is_believed_as_it_is_and_so_is_one_far_below() -> None:
    assert paced(SequenceHead(), 9_000, NOW_MS, BLOCK_MS) == BlockPace(9_000, NOW_MS)
    head = SequenceHead(pace_height=9_000, pace_ms=NOW_MS)
    assert paced(head, 100, NOW_MS + 1, BLOCK_MS) == BlockPace(100, NOW_MS + 1)


def test_a_node_that_lags_takes_no_height_back() -> None:
    assert steady(100, 99) == 100
    assert steady(100, 100 - LAG_BLOCKS_MAX) == 100
    assert steady(1_000, 999 - LAG_BLOCKS_MAX) == 999 - LAG_BLOCKS_MAX
    assert steady(100, 101) == 101


# What is taken back.


def test_a_lower_sequence_of_most_nodes_is_told_with_its_evidence() -> None:
    head = SequenceHead(committed=505, committed_height=118, height=118)
    low = [node("a", 130), node("b", 131, sequence=None), node("c", 118, sequence=505)]
    assert contradiction(head, of(*low, head=head)) == (
        "the account was at sequence 505 at block 118, and now a shows sequence 5 at block 130, "
        "b shows no account at block 131"
    )


def test_nodes_that_lag_take_nothing_back() -> None:
    head = SequenceHead(committed=9, committed_height=118, height=118)
    lagging = [node(name, 118 + AHEAD_BLOCKS_MAX) for name in "abc"]
    assert contradiction(head, of(*lagging, head=head)) == ""
    one = [node("a", 500), node("b", 500, sequence=9), node("c", 500, sequence=9)]
    assert contradiction(head, of(*one, head=head)) == ""
    unseen = [node("a", 500), node("b", 0, sequence=None, seen_ms=0)]
    assert contradiction(head, of(*unseen, head=head)) == ""


def test_on_a_chain_faster_than_its_pace_a_backend_that_lags_takes_nothing_back() -> None:
    """The block that showed a sequence is what a majority claims, also above the pace; a node alone
    does not raise it."""
    head = SequenceHead(sequence_next=9, committed=9, pace_height=100, pace_ms=NOW_MS, height=900)
    belief = of(*[node(name, 900, sequence=9) for name in "abc"], head=head)
    assert (belief.sequence_height, belief.limit) == (900, 100 + AHEAD_BLOCKS_MAX)
    head = replace(head, committed_height=belief.sequence_height)
    lagging = [node(name, 888, sequence=8) for name in "abc"]
    assert contradiction(head, of(*lagging, head=head)) == ""
    alone = [node("a", 9_000, sequence=9), *[node(name, 900, sequence=9) for name in "bc"]]
    assert of(*alone, head=head).sequence_height == 900


def test_a_chain_that_began_anew_is_far_below() -> None:
    head = SequenceHead(committed=9, committed_height=5_000, height=5_000)
    anew = [node(name, 3, sequence=0) for name in "abc"]
    assert "c shows sequence 0 at block 3" in contradiction(head, of(*anew, head=head))


def test_a_node_with_another_first_block_shows_nothing() -> None:
    head = SequenceHead(origin_height=1, origin=b"true", pace_height=100, pace_ms=NOW_MS)
    true: dict[str, Any] = {"origin_height": 1, "origin": b"true"}
    other = node("c", 9_000, sequence=500, origin_height=1, origin=b"other")
    assert is_alien(head, other)
    assert not is_alien(head, replace(other, origin_height=50))
    assert not is_alien(head, replace(other, origin=b""))
    assert not is_alien(SequenceHead(), other)
    belief = of(node("a", **true), other, head=head)
    assert belief.sequence is None
    assert contradiction(head, belief) == ""


def test_most_nodes_with_another_first_block_are_another_chain() -> None:
    head = SequenceHead(origin_height=1, origin=b"\x01", committed=5)
    alien: dict[str, Any] = {"origin_height": 1, "origin": b"\x02"}
    reason = contradiction(head, of(node("a", **alien), node("b", **alien), node("c"), head=head))
    assert reason == ("the nodes serve another chain: its block 1 was 01, a has 02, b has 02")


def test_the_first_block_of_most_nodes_is_remembered_and_never_changed() -> None:
    first: dict[str, Any] = {"origin_height": 1, "origin": b"one"}
    belief = of(node("a", **first), node("b", **first), node("c"))
    assert (belief.origin_height, belief.origin) == (1, b"one")
    assert of(node("a", **first), node("b"), node("c")).origin == b""
    head = SequenceHead(origin_height=1, origin=b"old")
    assert of(node("a"), node("b"), head=head).origin == b"old"


def test_what_is_believed_anew_forgets_the_chain_before() -> None:
    head = SequenceHead(
        origin_height=1, origin=b"old", height=9_000, pace_height=9_000, pace_ms=NOW_MS
    )
    first: dict[str, Any] = {"origin_height": 1, "origin": b"new"}
    nodes = [node(name, 3, sequence=0, **first) for name in "abc"]
    belief = believed_anew(head, THREE, nodes, NOW_MS)
    seen = seen_at(belief, 0, 7, 3)
    assert (seen.height, seen.pace_height, seen.pace_ms) == (3, 3, NOW_MS)
    assert (seen.origin_height, seen.origin, seen.sequence_height) == (1, b"new", 3)
