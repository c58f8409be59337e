"""A sequence lane's rows."""

import msgspec
import pytest
from tests.lanes.sequence.stage import out

from laneway.lanes.sequence.rows import Attempt, InclusionVote, Node, Past, Slot


def test_a_node_may_have_what_it_was_or_is_being_offered() -> None:
    assert Node("a", next=1, top=3).offered_until() == 3
    assert Node("a", next=1, top=3, until=5).offered_until() == 5


@pytest.mark.parametrize(
    ("node", "free"),
    [
        (Node("a"), True),
        (Node("a", until=1), False),
        (Node("a", gate=1), False),
        (Node("a", retry_ms=1), False),
        (Node("a", gone=True), False),
    ],
)
def test_a_node_is_offered_one_thing_at_a_time_and_not_before_its_time(
    node: Node, free: bool
) -> None:
    assert node.is_free() is free


@pytest.mark.parametrize(
    ("node", "unseen"),
    [
        (Node("a"), True),
        (Node("a", looking=True), False),
        (Node("a", look_ms=0), False),
        (Node("a", gone=True), False),
    ],
)
def test_a_node_is_looked_at_once_at_a_time(node: Node, unseen: bool) -> None:
    assert node.is_unseen() is unseen


def test_rows_that_change_stay_small() -> None:
    stage = out(2)
    assert all(len(row.body) < 1_024 for row in stage.rows.values())


@pytest.mark.parametrize(
    ("proven", "unproven"), [((), False), ((True,), False), ((True, False), True)]
)
def test_bytes_that_were_given_up_without_a_proof_may_land(
    proven: tuple[bool, ...], unproven: bool
) -> None:
    past = tuple(Past(b"h", 9, "refused", one) for one in proven)
    assert Slot(1, None, 0, 0, 0, 0, 0, past=past).is_unproven() is unproven


def test_bytes_of_an_earlier_release_load_without_the_block_they_were_made_at() -> None:
    past = msgspec.convert((b"h", 9, "refused", True), Past)
    assert (past.made_ms, past.made_height) == (0, 0)
    row = (1, b"h", "intent", 1, 1, 9, 5, 3, b"raw", (), False, "", 0, "", ())
    attempt = msgspec.convert(row, Attempt)
    assert (attempt.made_ms, attempt.made_height) == (5, 0)


def test_what_a_node_showed_to_an_earlier_release_loads_without_its_gas() -> None:
    shown = msgspec.convert(("a", b"hash", 9, 0, False), InclusionVote)
    assert (shown.gas_wanted, shown.gas_used) == (0, 0)
