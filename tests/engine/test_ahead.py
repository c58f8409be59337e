"""What a lane has read ahead: order, urgency, and what it must not take."""

from msgspec.structs import replace

from laneway.core.ids import LaneId, intent_id
from laneway.core.intent import Arrival, BacklogPage, IntentRow, placed
from laneway.engine.ahead import Ahead
from laneway.engine.limits import HANDED_BYTES_MAX

LIMIT = 12


def arrival(number: int, priority: int = 0) -> Arrival:
    return Arrival(
        id=intent_id(number, bytes(10)),
        lane=LaneId("toy:A"),
        payload=b"",
        digest=b"",
        accepted_ms=0,
        priority=priority,
    )


def row(seq: int, priority: int = 0) -> IntentRow:
    return placed(arrival(seq, priority), seq)


def after_reading(*rows: IntentRow, more: bool = False) -> Ahead:
    ahead = Ahead()
    ahead.begin_read()
    ahead.read(BacklogPage(rows, more), (0, 0, 0, 0))
    return ahead


def seqs(ahead: Ahead) -> list[int]:
    return [intent.seq for intent in ahead.rows]


def test_nothing_is_handed_over_before_the_backlog_was_read() -> None:
    assert not Ahead().hand(arrival(1), 1, LIMIT)


def test_what_follows_the_page_is_handed_over() -> None:
    ahead = after_reading(row(1), row(2))
    assert ahead.hand(arrival(3), 3, LIMIT)
    assert seqs(ahead) == [1, 2, 3]


def test_what_is_large_waits_in_the_store() -> None:
    ahead = after_reading(row(1))
    large = replace(arrival(2), payload=bytes(HANDED_BYTES_MAX + 1))
    assert not ahead.hand(large, 2, LIMIT)
    assert ahead.hand(replace(large, payload=large.payload[1:]), 2, LIMIT)


def test_a_sequence_that_leaves_a_gap_is_not_handed_over() -> None:
    ahead = after_reading(row(1))
    assert not ahead.hand(arrival(3), 3, LIMIT)


def test_nothing_is_handed_over_while_more_waits_behind_the_page() -> None:
    assert not after_reading(row(1), more=True).hand(arrival(2), 2, LIMIT)


def being_read(*handed: tuple[int, int]) -> Ahead:
    """Intent 1 was taken, and these came while the backlog is read: sequence and class."""
    ahead = after_reading(row(1))
    ahead.take(1)
    ahead.begin_read()
    for seq, priority in handed:
        assert ahead.hand(arrival(seq, priority), seq, LIMIT)
    assert seqs(ahead) == [], "whether they follow the page is not known yet"
    return ahead


def come(ahead: Ahead, *rows: IntentRow, more: bool = False) -> Ahead:
    ahead.read(BacklogPage(rows, more), (1, 0, 0, 0))
    return ahead


def test_what_came_while_the_backlog_was_read_follows_the_page() -> None:
    ahead = come(being_read((4, 0), (5, 0)), row(2), row(3))
    assert seqs(ahead) == [2, 3, 4, 5]
    assert ahead.drained
    assert ahead.hand(arrival(6), 6, LIMIT)


def test_what_the_page_has_is_not_taken_twice() -> None:
    ahead = come(being_read((2, 0), (3, 0), (4, 0)), row(2), row(3))
    assert seqs(ahead) == [2, 3, 4]
    assert ahead.drained


def test_what_leaves_a_gap_behind_the_page_waits_in_the_backlog() -> None:
    ahead = come(being_read((3, 0), (4, 0)))
    assert seqs(ahead) == []
    assert not ahead.drained, "another process accepted the second one"


def test_what_came_behind_a_page_that_goes_on_waits_in_the_backlog() -> None:
    ahead = come(being_read((3, 0)), row(2), more=True)
    assert seqs(ahead) == [2]
    assert not ahead.drained


def test_a_gap_or_another_class_is_not_taken_while_the_backlog_is_read() -> None:
    ahead = being_read((3, 1))
    assert not ahead.hand(arrival(5, 1), 5, LIMIT)
    assert not ahead.hand(arrival(4, 0), 4, LIMIT)
    assert not ahead.hand(arrival(4, 1), 4, 1), "there is no room"


def test_another_class_than_the_pages_waits_in_the_backlog() -> None:
    ahead = come(being_read((3, 1)), row(2, priority=0))
    assert seqs(ahead) == [2]
    assert not ahead.drained
    ahead = come(being_read((3, 0)), row(2, priority=1))
    assert seqs(ahead) == [], "what came is more urgent than what was read"
    assert not ahead.drained


def test_a_wake_while_the_backlog_is_read_ends_the_handing_over() -> None:
    ahead = being_read((2, 0))
    ahead.wake(0)
    assert not ahead.hand(arrival(3), 3, LIMIT)
    assert seqs(come(ahead)) == []
    assert not ahead.drained


def test_what_became_final_or_was_lost_with_its_read_is_not_handed_over() -> None:
    ahead = being_read((2, 0), (3, 0))
    ahead.drop([row(2).id])
    assert seqs(come(ahead)) == []
    assert not ahead.drained, "the third does not follow any more, and is read"
    ahead = being_read((2, 0))
    ahead.fail()
    ahead.begin_read()
    assert seqs(come(ahead)) == []


def test_nothing_is_handed_over_to_a_full_page() -> None:
    ahead = after_reading(row(1))
    assert not ahead.hand(arrival(2), 2, 1)


def test_another_class_is_not_handed_over_behind_the_page() -> None:
    ahead = after_reading(row(1, priority=2))
    assert not ahead.hand(arrival(2, priority=1), 2, LIMIT)
    assert not ahead.hand(arrival(2, priority=3), 2, LIMIT)


def test_a_wake_takes_back_that_nothing_waits_behind_the_page() -> None:
    ahead = after_reading(row(1))
    ahead.wake(0)
    assert not ahead.drained
    assert seqs(ahead) == [1]


def test_an_urgent_wake_clears_what_was_read_ahead() -> None:
    ahead = after_reading(row(1, priority=1), row(2, priority=3))
    ahead.wake(2)
    assert seqs(ahead) == []
    assert not ahead.drained


def test_a_page_read_before_something_urgent_came_is_not_used() -> None:
    ahead = Ahead()
    ahead.begin_read()
    ahead.wake(0)
    ahead.read(BacklogPage((row(1, priority=1),), more=False), (0, 0, 0, 0))
    assert seqs(ahead) == []
    assert not ahead.drained
    ahead.begin_read()
    ahead.read(BacklogPage((row(1, priority=1),), more=False), (0, 0, 0, 0))
    assert seqs(ahead) == [1], "the urgency was of that one read"


def test_a_page_read_before_an_intent_became_final_leaves_it_out() -> None:
    ahead = Ahead()
    ahead.begin_read()
    ahead.drop([row(1).id])
    ahead.settle()
    ahead.read(BacklogPage((row(1), row(2)), more=False), (0, 0, 0, 0))
    assert seqs(ahead) == [2]
    ahead.settle()
    ahead.take(1)
    ahead.begin_read()
    ahead.read(BacklogPage((row(1),), more=False), (0, 0, 0, 0))
    assert seqs(ahead) == [1], "a read that began later knows better than we do"


def test_a_failed_read_proves_nothing_about_the_backlog() -> None:
    ahead = Ahead()
    ahead.begin_read()
    ahead.fail()
    assert not ahead.reading
    assert not ahead.drained


def test_what_was_not_taken_goes_back_to_its_place() -> None:
    ahead = after_reading(row(1), row(2), row(3))
    taken = ahead.take(2)
    ahead.put_back(taken)
    assert seqs(ahead) == [1, 2, 3]
