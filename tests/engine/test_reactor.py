"""The reactor, driven by hand: every order is answered when the test says so."""

from typing import Any

import pytest
from msgspec.structs import replace
from tests.engine.toy import (
    A,
    B,
    Begun,
    Broke,
    Desk,
    Do,
    Ended,
    Finished,
    Ignored,
    ModeChanged,
    kinds,
    performed,
    toy_kind,
)

from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.rows import Lease
from laneway.engine.limits import (
    CLAIM_RETRY_MS,
    CLOCK_BACK_MS_MIN,
    COMMIT_RETRY_MS_MAX,
    EVENTS_PER_TURN_MAX,
    FAR_MS,
)
from laneway.engine.orders import (
    CommitDone,
    Open,
    Perform,
    ReadBacklog,
    ReadMailbox,
    Release,
    Stopped,
)
from laneway.engine.reactor import Reactor
from laneway.engine.run import Windows
from laneway.ports import Commit


def records(commit: Commit) -> list[str]:
    return [type(touch).__name__ for touch in commit.write.touched]


# Turns and commits.


def test_an_effect_is_ordered_only_after_its_commit_is_answered() -> None:
    desk = Desk()
    intent = desk.submit()
    commit = desk.until(Commit)
    assert not any(isinstance(order, Perform) for order in desk.orders())
    desk.reactor.committed(commit.lease, desk.commit(commit))
    told, perform = desk.orders()
    assert isinstance(told, CommitDone)
    assert told.records == [Begun(intent, 1, 0)]
    assert isinstance(perform, Perform)
    assert (perform.lane, perform.effect) == (A, Do(intent))


def test_the_end_of_one_intent_and_the_start_of_the_next_share_one_commit() -> None:
    desk = Desk()
    first, second = desk.submit(), desk.submit()
    desk.settle()
    desk.finish(first)
    commit = desk.until(Commit)
    assert records(commit) == ["Result", "RowKey", "RowPut"]
    desk.answer(commit)
    told = next(order for order in desk.settle() if isinstance(order, CommitDone))
    assert told.records == [Ended(first), Begun(second, 2, 0)]
    assert [result.intent for result in told.results] == [first]


def test_a_lane_has_one_commit_under_way() -> None:
    desk = Desk(window=3)
    first, second, third = desk.submit(), desk.submit(), desk.submit()
    desk.settle()
    desk.finish(first)
    commit = desk.until(Commit)
    desk.finish(second)
    desk.finish(third)
    assert desk.orders() == []
    desk.answer(commit)
    (again,) = [order for order in desk.orders() if isinstance(order, Commit)]
    assert (again.version, records(again).count("Result")) == (commit.version + 1, 2)


def test_a_turn_that_makes_nothing_true_writes_nothing() -> None:
    desk = Desk()
    desk.submit()
    desk.settle()
    desk.reactor.answered(A, Ignored())
    assert desk.settle() == []


def test_a_turn_folds_only_so_many_events_and_the_rest_follow_in_the_next() -> None:
    desk = Desk(window=2 * EVENTS_PER_TURN_MAX)
    intents = [desk.submit() for _ in range(EVENTS_PER_TURN_MAX + 10)]
    while len(performed(desk.settle())) and desk.reactor.has_work():
        pass
    for intent in intents:
        desk.finish(intent)
    commit = desk.until(Commit)
    assert records(commit).count("Result") == EVENTS_PER_TURN_MAX
    desk.answer(commit)
    rest = desk.until(Commit)
    assert records(rest).count("Result") == 10


def test_events_that_change_nothing_do_not_hide_those_behind_them() -> None:
    desk = Desk()
    intent = desk.submit()
    desk.settle()
    for _ in range(EVENTS_PER_TURN_MAX):
        desk.reactor.answered(A, Ignored())
    desk.finish(intent)
    assert desk.orders() == []
    assert desk.reactor.has_work()
    assert kinds(desk.orders()) == ["Commit"]


def test_commands_count_toward_the_bound_of_a_turn() -> None:
    desk = Desk(windows=Windows(events_per_turn=2))
    for verb in ("pause", "hum", "running"):
        desk.tell(verb)
    commit = desk.until(Commit)
    assert len(commit.write.answered) == 2
    desk.answer(commit)
    assert len(desk.until(Commit).write.answered) == 1


def test_a_command_is_heard_however_many_events_wait() -> None:
    """Answers that come as quickly as they are judged must not keep a lane from being resumed."""
    desk = Desk(windows=Windows(events_per_turn=1))
    desk.submit()
    desk.settle()
    desk.tell("pause")
    heard = 0
    for _ in range(10):
        desk.reactor.answered(A, Ignored())
        desk.reactor.answered(A, Ignored())
        for order in desk.orders():
            heard += len(order.write.answered) if isinstance(order, Commit) else 0
            desk.answer(order)
    assert heard == 1


# Commits that fail.


def test_an_unknown_commit_throws_the_lane_away_and_loads_it_again() -> None:
    desk = Desk()
    intent = desk.submit()
    commit = desk.until(Commit)
    desk.commit(commit)
    desk.reactor.commit_unknown(commit.lease)
    assert desk.reactor.lane(A) is None
    (reopen,) = desk.orders()
    assert reopen == Open(A)
    desk.answer(reopen)
    assert performed(desk.settle()) == [intent], "resume orders what the lost answer held back"


def test_an_unknown_commit_that_was_not_made_is_decided_anew() -> None:
    desk = Desk()
    intent = desk.submit()
    commit = desk.until(Commit)
    desk.reactor.commit_unknown(commit.lease)
    done = desk.settle()
    assert performed(done) == [intent]
    assert [order.records for order in done if isinstance(order, CommitDone)] == [
        [Begun(intent, 1, 0)]
    ]


def test_a_commit_whose_answer_was_lost_is_told_when_the_lane_is_loaded() -> None:
    """Otherwise whoever waits for that result would wait for ever."""
    desk = Desk()
    intent = desk.submit()
    desk.settle()
    desk.finish(intent)
    commit = desk.until(Commit)
    desk.commit(commit)
    desk.reactor.commit_unknown(commit.lease)
    (told,) = [order for order in desk.settle() if isinstance(order, CommitDone)]
    assert [(result.intent, result.status) for result in told.results] == [(intent, "confirmed")]


def test_a_store_that_never_knows_is_asked_with_growing_pauses() -> None:
    desk = Desk()
    desk.submit()
    pauses: list[int] = []
    for _ in range(4):
        commit = desk.until(Commit)
        desk.reactor.commit_unknown(commit.lease)
        next_ms = desk.reactor.next_ms()
        pauses.append(0 if next_ms is None else next_ms - desk.now_ms)
        desk.now_ms = max(desk.now_ms, next_ms or 0)
    assert pauses[0] == 0
    assert pauses[1:] == sorted(pauses[1:])
    assert pauses[1] > 0
    assert pauses[-1] > pauses[1]


def test_a_refused_commit_forgets_the_lane_and_does_nothing_more() -> None:
    desk = Desk()
    desk.submit()
    commit = desk.until(Commit)
    desk.reactor.commit_refused(commit.lease)
    assert desk.settle() == []
    assert not desk.reactor.holds(A)
    desk.reactor.answered(A, Ignored())
    desk.now_ms += 10 * CLAIM_RETRY_MS
    assert desk.settle() == []


def test_a_busy_commit_is_tried_again_with_the_same_write_after_growing_pauses() -> None:
    desk = Desk()
    desk.submit()
    first = desk.until(Commit)
    pauses: list[int] = []
    for _ in range(12):
        desk.reactor.commit_busy(first.lease, desk.now_ms)
        desk.reactor.answered(A, Ignored())
        assert desk.orders() == [], "nothing is tried before the pause is over"
        next_ms = desk.reactor.next_ms()
        assert next_ms is not None
        pauses.append(next_ms - desk.now_ms)
        desk.now_ms = next_ms
        (again,) = desk.orders()
        assert isinstance(again, Commit)
        assert again.version == first.version
        assert again.write.digest() == first.write.digest()
    assert pauses == [50, 100, 200, 400, 800, 1_600, 3_200, *[COMMIT_RETRY_MS_MAX] * 5]
    desk.answer(again)
    desk.settle()
    assert desk.reactor.is_settled(A)


def test_the_pauses_begin_anew_after_a_success() -> None:
    desk = Desk()
    intent = desk.submit()
    commit = desk.until(Commit)
    for _ in range(3):
        desk.reactor.commit_busy(commit.lease, desk.now_ms)
        desk.now_ms += COMMIT_RETRY_MS_MAX
        (commit,) = [order for order in desk.orders() if isinstance(order, Commit)]
    desk.answer(commit)
    desk.settle()
    desk.finish(intent)
    commit = desk.until(Commit)
    desk.reactor.commit_busy(commit.lease, desk.now_ms)
    assert desk.reactor.next_ms() == desk.now_ms + 50


# Late answers.


def test_a_late_page_of_a_thrown_away_lane_changes_nothing() -> None:
    """It was read behind claims that were never durable: taking it would pass intents over."""
    desk = Desk(window=3)
    first, second, third = desk.submit(), desk.submit(), desk.submit()
    old = desk.until(ReadBacklog)
    desk.reactor.commit_refused(old.lease)
    desk.reactor.woken(A)
    new = desk.until(ReadBacklog)
    assert new.lease.fence > old.lease.fence
    desk.reactor.backlog_read(old.lease, desk.book.backlog(old.lease, (1, 0, 0, 0), 10))
    desk.answer(new)
    assert performed(desk.settle()) == [first, second, third]


def test_a_late_mailbox_of_a_thrown_away_lane_is_not_heard_twice() -> None:
    desk = Desk()
    desk.submit()
    desk.settle()
    desk.tell("pause")
    old = desk.until(ReadMailbox)
    commands = desk.book.mailbox(old.lease)
    desk.reactor.mailbox_read(old.lease, commands)
    commit = desk.until(Commit)
    desk.commit(commit)
    desk.reactor.commit_unknown(commit.lease)
    desk.settle()
    desk.tell("running")
    desk.settle()
    desk.reactor.mailbox_read(old.lease, commands)
    desk.settle()
    assert desk.reactor.lane(A).state.mode == "running"


@pytest.mark.parametrize("word", ["committed", "refused", "unknown", "busy"])
def test_a_late_answer_to_a_commit_of_a_thrown_away_lane_changes_nothing(word: str) -> None:
    desk = Desk()
    desk.submit()
    old = desk.until(Commit)
    desk.reactor.commit_unknown(old.lease)
    new = desk.until(Commit)
    assert new.version == old.version
    before = desk.reactor.lane(A)
    match word:
        case "committed":
            desk.reactor.committed(old.lease, old.version)
        case "refused":
            desk.reactor.commit_refused(old.lease)
        case "unknown":
            desk.reactor.commit_unknown(old.lease)
        case _:
            desk.reactor.commit_busy(old.lease, desk.now_ms)
    assert desk.orders() == []
    assert desk.reactor.lane(A) is before
    assert desk.reactor.next_ms() is None


def test_what_became_of_an_effect_is_heard_even_if_the_lane_was_loaded_again() -> None:
    desk = Desk()
    intent = desk.submit()
    desk.settle()
    desk.tell("hum")
    commit = desk.until(Commit)
    desk.reactor.commit_unknown(commit.lease)
    desk.finish(intent)
    desk.settle()
    assert desk.status(intent) == "confirmed"


def test_answers_to_lanes_that_are_not_held_are_dropped() -> None:
    desk = Desk()
    lease = Lease(A, Owner("me"), 1)
    desk.reactor.not_opened(A, 0)
    desk.reactor.open_failed(A, 0)
    desk.reactor.read_failed(lease, 0)
    desk.reactor.mailbox_read(lease, ())
    desk.reactor.answered(A, Ignored())
    desk.reactor.broken(A, RuntimeError())
    assert desk.settle() == []


def test_a_lane_that_was_given_up_while_it_was_claimed_is_released() -> None:
    desk = Desk()
    lease = desk.claim(A)
    desk.reactor.opened(lease, desk.book.load(lease))
    assert desk.reactor.orders(0) == [Release(lease)]


def test_a_lane_claimed_twice_stands_on_the_last_lease() -> None:
    desk = Desk()
    intent = desk.submit()
    desk.orders()
    first = desk.claim(A)
    rows = desk.book.load(first)
    second = desk.claim(A)
    desk.reactor.opened(second, desk.book.load(second))
    desk.reactor.opened(first, rows)
    commit = desk.until(Commit)
    assert commit.lease == second
    desk.answer(commit)
    third = desk.claim(A)
    desk.reactor.opened(third, desk.book.load(third))
    assert performed(desk.settle()).count(intent) == 2, "ordered once, and once by resume"
    assert desk.reactor.owns(A, third.fence)


# Opening.


def test_a_lane_that_someone_else_owns_is_asked_for_again_in_a_while() -> None:
    desk = Desk()
    intent = desk.submit()
    assert desk.orders() == [Open(A)]
    desk.reactor.not_opened(A, desk.now_ms)
    assert desk.orders() == []
    assert desk.reactor.next_ms() == desk.now_ms + CLAIM_RETRY_MS
    desk.now_ms += CLAIM_RETRY_MS
    assert performed(desk.settle()) == [intent]


def test_a_store_too_busy_to_open_a_lane_is_asked_with_growing_pauses() -> None:
    desk = Desk()
    intent = desk.submit()
    desk.orders()
    pauses = []
    for _ in range(3):
        desk.reactor.open_failed(A, desk.now_ms)
        next_ms = desk.reactor.next_ms()
        assert next_ms is not None
        pauses.append(next_ms - desk.now_ms)
        desk.now_ms = next_ms
        assert desk.orders() == [Open(A)]
    assert pauses == [50, 100, 200]
    desk.answer(Open(A))
    assert performed(desk.settle()) == [intent]


def test_a_store_too_busy_to_read_is_read_again_backlog_and_mailbox() -> None:
    desk = Desk()
    intent = desk.submit()
    read = desk.until(ReadBacklog)
    desk.reactor.read_failed(read.lease, desk.now_ms)
    assert desk.orders() == []
    desk.now_ms += 50
    (mailbox,) = desk.orders()
    assert isinstance(mailbox, ReadMailbox)
    desk.answer(mailbox)
    assert kinds(desk.orders()) == ["ReadBacklog"]
    desk.reactor.backlog_read(read.lease, desk.book.backlog(read.lease, read.after, 10))
    assert performed(desk.settle()) == [intent]


def test_lanes_of_kinds_this_process_was_not_given_are_left_to_others() -> None:
    desk = Desk()
    foreign = LaneId("evm:1:0xabc")
    desk.reactor.woken(foreign)
    desk.reactor.called(foreign)
    assert desk.orders() == []
    assert not desk.reactor.serves(foreign)


# The backlog.


def test_a_wake_during_a_backlog_read_is_not_lost() -> None:
    desk = Desk()
    first = desk.submit()
    read = desk.until(ReadBacklog)
    page = desk.book.backlog(read.lease, read.after, read.limit)
    second = desk.submit()
    desk.reactor.backlog_read(read.lease, page)
    assert performed(desk.settle()) == [first]
    desk.finish(first)
    assert performed(desk.settle()) == [second]


def test_an_empty_page_with_a_wake_meanwhile_is_read_again() -> None:
    desk = Desk()
    desk.reactor.woken(A)
    read = desk.until(ReadBacklog)
    page = desk.book.backlog(read.lease, read.after, read.limit)
    intent = desk.submit()
    desk.reactor.backlog_read(read.lease, page)
    assert performed(desk.settle()) == [intent]


def test_what_the_door_hands_over_is_not_read_from_the_store() -> None:
    desk = Desk()
    first = desk.submit()
    desk.settle()
    second = desk.submit()
    desk.finish(first)
    commit = desk.until(Commit)
    assert records(commit) == ["Result", "RowKey", "RowPut"]
    desk.answer(commit)
    assert performed(desk.settle()) == [second]


def test_handing_over_never_passes_an_intent_that_another_process_accepted() -> None:
    desk = Desk()
    first = desk.submit()
    desk.settle()
    foreign, _ = desk.accept()
    mine = desk.submit()
    desk.finish(first)
    assert performed(desk.settle()) == [foreign.id]
    desk.finish(foreign.id)
    assert performed(desk.settle()) == [mine]


def test_a_page_takes_no_more_than_its_bound_and_the_rest_is_read_in_order() -> None:
    desk = Desk(windows=Windows(backlog_page=3))
    intents = [desk.submit() for _ in range(10)]
    order: list[IntentId] = []
    while len(order) < len(intents):
        (intent,) = performed(desk.settle())
        order.append(intent)
        desk.finish(intent)
    assert order == intents


def test_something_more_urgent_goes_before_what_was_read_ahead() -> None:
    desk = Desk()
    low = [desk.submit(priority=2) for _ in range(3)]
    assert performed(desk.settle()) == low[:1]
    urgent = desk.submit(priority=0)
    order = []
    for done in (low[0], urgent, low[1]):
        desk.finish(done)
        order += performed(desk.settle())
    assert order == [urgent, low[1], low[2]]


def test_something_urgent_that_comes_while_the_page_is_read_goes_before_it() -> None:
    desk = Desk()
    low = desk.submit(priority=2)
    read = desk.until(ReadBacklog)
    page = desk.book.backlog(read.lease, read.after, read.limit)
    urgent = desk.submit(priority=1)
    desk.reactor.backlog_read(read.lease, page)
    assert performed(desk.settle()) == [urgent]
    desk.finish(urgent)
    assert performed(desk.settle()) == [low]


def test_a_cancelled_intent_leaves_the_page() -> None:
    desk = Desk()
    first, second, third = desk.submit(), desk.submit(), desk.submit()
    desk.settle()
    desk.tell("cancel", second)
    desk.finish(first)
    assert performed(desk.settle()) == [third]
    assert desk.status(second) == "cancelled"


def test_an_intent_cancelled_while_the_page_is_read_is_not_begun() -> None:
    desk = Desk()
    first, second = desk.submit(), desk.submit()
    read = desk.until(ReadBacklog)
    page = desk.book.backlog(read.lease, read.after, read.limit)
    desk.tell("cancel", first)
    desk.settle()
    assert desk.status(first) == "cancelled"
    desk.reactor.backlog_read(read.lease, page)
    assert performed(desk.settle()) == [second]


def test_an_intent_cancelled_in_the_turn_that_begins_a_read_is_not_begun() -> None:
    """The read is answered before the commit: the store does not know of the cancelling yet."""
    desk = Desk()
    desk.tell("pause")
    desk.settle()
    first, second = desk.submit(), desk.submit()
    desk.tell("cancel", first)
    desk.tell("running")
    orders = desk.orders()
    while not any(isinstance(order, Commit) for order in orders):
        for order in orders:
            desk.answer(order)
        orders = desk.orders()
    (read,) = [order for order in orders if isinstance(order, ReadBacklog)]
    (commit,) = [order for order in orders if isinstance(order, Commit)]
    page = desk.book.backlog(read.lease, read.after, read.limit)
    assert first in [row.id for row in page.intents]
    desk.reactor.backlog_read(read.lease, page)
    desk.answer(commit)
    assert performed(desk.settle()) == [second]
    assert desk.status(first) == "cancelled"


def test_intents_that_were_offered_and_not_taken_wait_where_they_were() -> None:
    desk = Desk(window=2)
    first = desk.submit()
    unwanted = desk.submit(payload=b"no")
    third = desk.submit()
    assert performed(desk.settle()) == [first]
    assert unwanted not in desk.reactor.lane(A).intents
    desk.finish(first)
    assert performed(desk.settle())[:1] == [unwanted]
    desk.finish(unwanted)
    assert third in performed(desk.settle()) or third in desk.reactor.lane(A).open


# Commands.


def test_a_command_is_answered_by_the_commit_that_follows_it() -> None:
    desk = Desk()
    desk.tell("pause")
    commit = desk.until(Commit)
    assert commit.write.answered == (1,)
    desk.answer(commit)
    assert [o.records for o in desk.settle() if isinstance(o, CommitDone)] == [
        [ModeChanged("pause")]
    ]
    assert desk.book.mailbox(commit.lease) == ()


def test_a_command_read_twice_is_followed_once() -> None:
    desk = Desk()
    desk.submit()
    desk.settle()
    desk.tell("pause")
    reads: list[ReadMailbox] = []
    while not reads:
        for order in desk.orders():
            if isinstance(order, ReadMailbox):
                reads.append(order)
            else:
                desk.answer(order)
    commands = desk.book.mailbox(reads[0].lease)
    desk.reactor.mailbox_read(reads[0].lease, commands)
    desk.reactor.mailbox_read(reads[0].lease, commands)
    assert desk.until(Commit).write.answered == (1,)


def test_commands_in_the_mailbox_are_followed_when_the_lane_is_opened() -> None:
    desk = Desk()
    desk.accept()
    desk.book.begin()
    desk.tell("pause")
    desk.settle()
    assert desk.reactor.lane(A).state.mode == "pause"


def test_what_was_told_before_is_heard_before_the_next_is_begun() -> None:
    """A pause that was durable when an execution ended lets no other one begin."""
    desk = Desk()
    first, second = desk.submit(), desk.submit()
    desk.settle()
    desk.finish(first)
    desk.tell("pause")
    assert performed(desk.settle()) == []
    assert desk.status(first) == "confirmed"
    desk.tell("running")
    assert performed(desk.settle()) == [second]


# Rest.


def test_an_idle_lane_gives_no_order_and_has_no_alarm() -> None:
    desk = Desk()
    for number in range(100):
        desk.finish(desk.submit(LaneId(f"toy:{number}")), LaneId(f"toy:{number}"))
        desk.settle()
    desk.settle()
    for number in range(100):
        lane = LaneId(f"toy:{number}")
        (intent,) = desk.reactor.lane(lane).open or (None,)
        if intent is not None:
            desk.finish(intent, lane)
    desk.settle()
    assert len(desk.reactor._idle) == len(desk.reactor._runs) == 100
    assert desk.reactor.is_idle()
    assert desk.reactor.is_quiet()
    assert desk.reactor.next_ms() is None
    desk.now_ms += 1 << 40
    assert desk.orders() == []


def test_idle_lanes_beyond_the_bound_are_released_the_oldest_first() -> None:
    desk = Desk(windows=Windows(idle_lanes=2))
    lanes = [LaneId(f"toy:{number}") for number in range(5)]
    released = []
    for lane in lanes:
        intent = desk.submit(lane)
        desk.settle()
        desk.finish(intent, lane)
        released += [o.lease.lane for o in desk.settle() if isinstance(o, Release)]
    assert released == lanes[:3]
    assert len(desk.reactor._runs) == 2
    again = desk.submit(lanes[0])
    assert performed(desk.settle()) == [again]


def test_a_lane_that_waits_for_an_answer_is_never_idle() -> None:
    desk = Desk(windows=Windows(idle_lanes=0))
    intent = desk.submit()
    assert not any(isinstance(order, Release) for order in desk.settle())
    assert not desk.reactor.is_quiet()
    desk.finish(intent)
    assert kinds(desk.settle()) == ["CommitDone", "Release"]


def test_a_lane_woken_while_its_commit_is_answered_is_not_given_up() -> None:
    desk = Desk(windows=Windows(idle_lanes=0))
    first = desk.submit()
    desk.settle()
    desk.finish(first)
    commit = desk.until(Commit)
    second = desk.submit()
    desk.answer(commit)
    assert performed(desk.settle()) == [second]


def test_a_paused_lane_with_a_page_can_be_given_up() -> None:
    desk = Desk(windows=Windows(idle_lanes=0))
    first = desk.submit()
    second = desk.submit()
    desk.settle()
    desk.tell("pause")
    desk.finish(first)
    done = desk.settle()
    assert any(isinstance(order, Release) for order in done)
    desk.tell("running")
    assert performed(desk.settle()) == [second]


def test_a_deadline_is_told_to_the_lane_once() -> None:
    desk = Desk()
    desk.submit()
    desk.settle()
    lane = desk.reactor.lane(A)
    lane.state.alarm_ms = 5_000
    desk.reactor.answered(A, Ignored())
    desk.settle()
    assert desk.reactor.next_ms() == 5_000
    desk.now_ms = 4_999
    assert desk.orders() == []
    desk.now_ms = 5_000
    (told,) = [order for order in desk.settle() if isinstance(order, CommitDone)]
    assert told.records == [ModeChanged("running")]
    assert desk.reactor.next_ms() is None


@pytest.mark.parametrize(("back_ms", "is_woken"), [(CLOCK_BACK_MS_MIN, False), (3_600_000, True)])
def test_a_clock_that_was_set_back_wakes_every_lane(back_ms: int, is_woken: bool) -> None:
    desk = Desk()
    desk.now_ms = 9_000_000
    desk.submit()
    desk.settle()
    desk.reactor.lane(A).state.alarm_ms = desk.now_ms + 5_000
    desk.reactor.answered(A, Ignored())
    desk.settle()
    desk.now_ms -= back_ms
    found = desk.settle()
    assert any(isinstance(order, CommitDone) for order in found) == is_woken


@pytest.mark.parametrize(
    ("ahead_ms", "is_woken"), [(FAR_MS, False), (5_000, True), (3_600_000, True)]
)
def test_a_lane_that_is_stood_up_with_nothing_to_do_for_long_is_woken_once(
    ahead_ms: int, is_woken: bool
) -> None:
    desk = Desk()
    kind = replace(toy_kind(1), deadline=lambda _: desk.now_ms + ahead_ms)
    desk.reactor = Reactor({"toy": kind}, Owner("me"))
    desk.submit()
    done = [order for order in desk.settle() if isinstance(order, CommitDone)]
    woken = [one for order in done for one in order.records if one == ModeChanged("running")]
    assert len(woken) == is_woken


def test_what_is_tried_later_is_tried_now_after_the_clock_was_set_back() -> None:
    desk = Desk()
    desk.now_ms = 9_000_000
    desk.reactor.woken(B)
    assert [type(order) for order in desk.orders()] == [Open]
    desk.reactor.not_opened(B, desk.now_ms)
    assert desk.orders() == []
    desk.now_ms -= 3_600_000
    assert [type(order) for order in desk.orders()] == [Open]


def test_a_deadline_that_passes_during_a_commit_is_not_lost() -> None:
    desk = Desk()
    intent = desk.submit()
    desk.settle()
    desk.reactor.lane(A).state.alarm_ms = 5_000
    desk.finish(intent)
    commit = desk.until(Commit)
    desk.now_ms = 6_000
    assert desk.orders() == []
    desk.answer(commit)
    told = [record for o in desk.settle() if isinstance(o, CommitDone) for record in o.records]
    assert ModeChanged("running") in told


@pytest.mark.slow
def test_the_heap_of_deadlines_stays_bounded_over_many_jobs() -> None:
    desk = Desk()
    lanes = [LaneId(f"toy:{number}") for number in range(10)]
    running = {lane: desk.submit(lane) for lane in lanes}
    desk.settle()
    for job in range(2_000):
        lane = lanes[job % len(lanes)]
        desk.reactor.lane(lane).state.alarm_ms = desk.now_ms + 1_800_000 - job
        desk.finish(running[lane], lane)
        running[lane] = desk.submit(lane)
        desk.settle()
        desk.now_ms += 7
        assert len(desk.reactor._alarms) <= 2 * len(lanes) + 1_024


# Bugs.


def test_a_bug_stops_its_lane_before_anything_of_that_turn_is_written() -> None:
    desk = Desk()
    mine, other = desk.submit(A), desk.submit(B)
    desk.settle()
    desk.finish(mine, A)
    desk.reactor.answered(A, Broke())
    desk.finish(other, B)
    done = desk.settle()
    (stopped,) = [order for order in done if isinstance(order, Stopped)]
    assert (stopped.lane, str(stopped.error)) == (A, "an invariant is broken")
    assert desk.status(mine) is None
    assert desk.status(other) == "confirmed"


def test_a_bug_takes_back_what_its_turn_had_ordered() -> None:
    desk = Desk()
    desk.submit()
    desk.settle()
    desk.reactor.leave()
    desk.tell("break")
    assert kinds(desk.settle()) == ["Release", "Stopped"], "what resume had ordered is not sent"


def test_a_stopped_lane_is_not_opened_again_and_the_others_go_on() -> None:
    desk = Desk()
    desk.submit(A)
    desk.settle()
    desk.reactor.answered(A, Broke())
    desk.settle()
    desk.submit(A)
    assert desk.settle() == []
    desk.tell("pause", lane=A)
    assert kinds(desk.settle()) == ["Release"], "its mailbox holds nothing that revives it"
    assert not desk.reactor.holds(A)
    assert not desk.reactor.serves(A)
    assert performed(desk.settle()) == []
    intent = desk.submit(B)
    assert performed(desk.settle()) == [intent]


def test_rows_that_cannot_stand_up_stop_their_lane_alone() -> None:
    desk = Desk()
    desk.submit(A)
    desk.settle()
    desk.reactor.leave()
    shelf: Any = desk.book.shelves[A]
    shelf.rows = {key: _spoilt(row) for key, row in shelf.rows.items()}
    desk.reactor.woken(A)
    intent = desk.submit(B)
    done = desk.settle()
    assert [o.lane for o in done if isinstance(o, Stopped)] == [A]
    assert performed(done) == [intent]


def _spoilt(row: Any) -> Any:
    import msgspec

    return msgspec.structs.replace(row, body=b"\xc1")


def test_a_bug_in_carrying_out_an_effect_stops_that_lane() -> None:
    desk = Desk()
    desk.submit(A)
    desk.settle()
    error = RuntimeError("the performer raised")
    desk.reactor.broken(A, error)
    release, stopped = desk.settle()
    assert isinstance(release, Release), "others may have it"
    assert stopped == Stopped(A, error, version=1)
    assert not desk.reactor.holds(A)


# The end.


def test_holding_takes_nothing_more_and_lets_what_runs_end() -> None:
    desk = Desk()
    first, second = desk.submit(), desk.submit()
    desk.settle()
    desk.reactor.hold()
    desk.finish(first)
    assert performed(desk.settle()) == []
    assert desk.status(first) == "confirmed"
    assert desk.status(second) is None
    assert desk.reactor.is_quiet()


def test_a_reactor_that_holds_is_not_quiet_before_it_has_heard_everything() -> None:
    desk = Desk()
    desk.submit()
    desk.settle()
    desk.reactor.hold()
    assert desk.reactor.is_quiet()
    desk.tell("pause")
    assert not desk.reactor.is_quiet()
    desk.settle()
    assert desk.reactor.is_quiet()


def test_a_closed_reactor_commits_and_starts_no_effect() -> None:
    desk = Desk()
    intent = desk.submit()
    commit = desk.until(Commit)
    desk.reactor.close()
    desk.answer(commit)
    done = desk.settle()
    assert performed(done) == []
    assert [o.records for o in done if isinstance(o, CommitDone)] == [[Begun(intent, 1, 0)]]
    desk.submit(B)
    desk.tell("pause", lane=B)
    assert desk.settle() == []


def test_leaving_gives_up_every_lease_and_all_that_waits() -> None:
    desk = Desk()
    desk.submit(A)
    desk.submit(B)
    desk.settle()
    desk.reactor.lane(A).state.alarm_ms = 5_000
    desk.reactor.answered(A, Ignored())
    desk.settle()
    desk.reactor.answered(B, Ignored())
    leases = desk.reactor.leave()
    assert sorted(lease.lane for lease in leases) == [A, B]
    assert desk.orders() == []
    assert desk.reactor.next_ms() is None
    assert len(desk.reactor._runs) == 0


def test_a_halted_lane_does_not_hold_up_the_end_but_is_not_called_ended() -> None:
    desk = Desk()
    intent = desk.submit()
    desk.settle()
    desk.tell("halted")
    desk.settle()
    assert desk.reactor.is_quiet()
    assert not desk.reactor.is_idle()
    desk.finish(intent)
    assert not desk.reactor.is_quiet()
    desk.settle()
    assert desk.reactor.is_idle()


def test_a_lane_that_someone_else_owns_does_not_hold_up_the_end() -> None:
    desk = Desk()
    desk.submit()
    desk.orders()
    assert not desk.reactor.is_quiet()
    desk.reactor.not_opened(A, desk.now_ms)
    assert desk.orders() == []
    assert desk.reactor.is_quiet()


def test_memory_and_store_hold_the_same_after_every_commit() -> None:
    desk = Desk(window=2)
    for _ in range(5):
        desk.submit()
    desk.settle()
    for intent in list(desk.reactor.lane(A).open):
        desk.finish(intent)
        desk.settle()
        kept = desk.book.load(Lease(A, Owner("me"), 1))
        memory = desk.reactor.lane(A)
        assert {row.key for row in kept.open} == set(memory.open)
        assert kept.head.cursors == memory.state.cursors


# Effects that are answered in the turn that ordered them.


def finish_all(_: LaneId, effects: list[Any], now_ms: int) -> tuple[Any, list[Any]]:
    assert now_ms == 1_000
    (effect,) = effects
    return Finished(effect.intent), []


def test_an_effect_that_is_answered_in_the_turn_shares_its_commit() -> None:
    desk = Desk(prompt=finish_all)
    intent = desk.submit()
    commit = desk.until(Commit)
    desk.reactor.committed(commit.lease, desk.commit(commit))
    (told,) = [order for order in desk.orders() if isinstance(order, CommitDone)]
    assert told.records == [Begun(intent, 1, 0), Ended(intent)]
    assert performed(desk.done) == []
    assert desk.status(intent) == "confirmed"


def test_a_lane_whose_effects_are_all_answered_at_once_goes_on_with_its_backlog() -> None:
    desk = Desk(prompt=finish_all)
    intents = [desk.submit() for _ in range(30)]
    desk.settle()
    assert [desk.status(intent) for intent in intents] == ["confirmed"] * 30


def test_what_a_prompt_leaves_is_performed_behind_the_commit() -> None:
    def second_waits(_: LaneId, effects: list[Any], _ms: int) -> tuple[Any, list[Any]]:
        return Finished(effects[0].intent), effects[1:]

    desk = Desk(window=2, prompt=second_waits)
    first, second = desk.submit(), desk.submit()
    orders = desk.settle()
    assert performed(orders) == [second]
    assert desk.status(first) == "confirmed"


def test_a_prompt_that_answers_nothing_changes_nothing() -> None:
    asked: list[list[Any]] = []

    def nothing(_: LaneId, effects: list[Any], _ms: int) -> tuple[Any, list[Any]]:
        asked.append(effects)
        return None, []

    desk = Desk(prompt=nothing)
    intent = desk.submit()
    assert performed(desk.settle()) == [intent]
    desk.reactor.answered(A, Ignored())
    desk.settle()
    assert len(asked) == 1, "a turn without effects asks nobody"


def test_a_prompt_that_raises_stops_its_lane_and_no_other() -> None:
    def broken(lane: LaneId, effects: list[Any], _: int) -> tuple[Any, list[Any]]:
        if lane == A:
            raise RuntimeError("an invariant is broken")
        return None, effects

    desk = Desk(prompt=broken)
    desk.submit()
    other = desk.submit(B)
    orders = desk.settle()
    assert [order.lane for order in orders if isinstance(order, Stopped)] == [A]
    assert performed(orders) == [other]
