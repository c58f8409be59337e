"""All transitions of a contract lane, as stories: strictly in order, one at a time, never lost."""

from collections.abc import Callable

import pytest
from tests.lanes.contract.stage import (
    LANE,
    PARENTLESS,
    Stage,
    doubting,
    executing,
    exhausting,
    halting,
    intent,
)

from laneway.core.ids import Owner
from laneway.core.intent import Arrival
from laneway.core.outcome import Outcome
from laneway.core.rows import START, Command, Head, Rows
from laneway.lanes.common.values import CommandReceived, IntentDropped, IntentsOffered, TimerFired
from laneway.lanes.contract import values as v
from laneway.lanes.contract.lane import ContractLane
from laneway.lanes.contract.machine import contract_kind, decide
from laneway.lanes.contract.settings import ContractSettings
from laneway.stores.book import flush
from laneway.stores.memory import MemoryBook

# Claiming.


def test_the_first_job_reads_the_height_before_it_runs() -> None:
    stage = Stage()
    decision = stage.offer(intent(1))
    slot = v.Slot(1, intent(1).id, 1, 6, 0, 1_000)
    assert decision.records == (v.SlotClaimed(slot, 0, None),)
    assert decision.effects == (v.ReadHeight(1, intent(1).payload),)


def test_the_next_job_builds_on_the_block_of_the_last_without_asking() -> None:
    stage = executing()
    stage.accept(6)
    decision = stage.offer(intent(2))
    deadline_ms = stage.now_ms + stage.settings.execution_ms_max
    attempt = v.Attempt(2, 1, 6, stage.now_ms, deadline_ms, bound=True)
    assert decision.records == (
        v.SlotClaimed(v.Slot(2, intent(2).id, 2, 6, 0, 1_000, attempt_next=2), 0, attempt),
    )
    assert decision.effects == (v.Execute(2, 1, intent(2).payload, 6, deadline_ms),)


def test_jobs_run_strictly_in_their_order_each_on_the_block_before() -> None:
    stage = Stage()
    for seq in range(1, 11):
        stage.offer(intent(seq))
        if seq == 1:
            stage.read(5)
        stage.accept(5 + seq)
    executed = [effect for effect in stage.effects if isinstance(effect, v.Execute)]
    assert [effect.payload for effect in executed] == [intent(seq).payload for seq in range(1, 11)]
    assert [effect.parent for effect in executed] == list(range(5, 15))
    assert [stage.result(seq).number for seq in range(1, 11)] == list(range(6, 16))


def test_the_window_is_one() -> None:
    stage = Stage()
    assert stage.wants == 1
    stage.offer(intent(1), intent(2))
    assert stage.slot.intent == intent(1).id
    assert stage.wants == 0
    assert stage.offer(intent(2)).records == ()
    stage.read(5)
    assert stage.wants == 0
    stage.lose()
    assert stage.wants == 0
    stage.search(6, block=6)
    assert stage.wants == 1


def test_expiry_is_judged_when_a_job_is_pulled() -> None:
    stage = Stage()
    stage.now_ms = 500
    decision = stage.offer(
        intent(1, valid_until_ms=499), intent(2, valid_until_ms=498), intent(3, valid_until_ms=500)
    )
    assert [type(record) for record in decision.records] == [
        IntentDropped,
        IntentDropped,
        v.SlotClaimed,
    ]
    assert stage.result(1).status == stage.result(2).status == "expired"
    assert stage.slot.intent == intent(3).id
    assert stage.lane.head.cursors == (3,)


def test_a_lane_that_only_expired_jobs_were_offered_wants_more() -> None:
    stage = Stage()
    assert stage.offer(intent(1, valid_until_ms=1)).effects == ()
    assert stage.wants == 1
    assert stage.lane.slot is None


def test_an_urgent_job_passes_in_its_own_class_and_leaves_the_others_waiting() -> None:
    stage = Stage(ContractSettings(priorities=True))
    stage.offer(intent(4, priority=0))
    assert stage.lane.head.cursors == (4, 0, 0, 0)
    stage.read(5)
    stage.accept(6)
    stage.offer(intent(1, priority=2))
    assert stage.lane.head.cursors == (4, 0, 1, 0)


@pytest.mark.parametrize("priorities", [False, True])
def test_urgent_jobs_run_first_and_within_a_class_in_order_only_where_that_is_set(
    priorities: bool,
) -> None:
    book, settings = MemoryBook(), ContractSettings(priorities=priorities)
    classes = [3, 0, 1, 3, 0, 1, 2, 0]
    book.begin()
    for seq, priority in enumerate(classes, 1):
        # Where priorities are off the door gives every job the same class.
        placed = priority if priorities else 0
        book.accept([Arrival(intent(seq).id, LANE, b"call", b"", 0, priority=placed)])
    lease = book.claim(LANE, Owner("me"), 0)
    flush(book)
    assert lease is not None
    stage = Stage(settings)
    ran = []
    for height in range(5, 5 + len(classes)):
        (row,) = book.backlog(lease, stage.lane.head.cursors, 1).intents
        stage.offer(row)
        ran.append(row.seq)
        if not stage.attempts:
            stage.read(height)
        stage.accept(height + 1)
    assert ran == ([2, 5, 8, 3, 6, 7, 1, 4] if priorities else list(range(1, 9)))
    assert book.backlog(lease, stage.lane.head.cursors, 1).intents == ()


def test_without_a_chain_the_lane_counts_and_never_asks() -> None:
    stage = Stage(ContractSettings(has_chain=False, takes_parent=False))
    for seq in (1, 2, 3):
        stage.offer(intent(seq))
        stage.accept(seq if seq != 2 else None)
    executed = [effect for effect in stage.effects if isinstance(effect, v.Execute)]
    assert [effect.parent for effect in executed] == [0, 1, 2]
    assert len(stage.effects) == 3


def test_where_the_host_picks_the_parent_a_baseline_is_read_before_each_execution() -> None:
    stage = executing(PARENTLESS)
    stage.accept(6)
    stage.offer(intent(2))
    assert isinstance(stage.effects[-1], v.ReadHeight)


# Time.


def test_a_passed_deadline_is_unknown_and_not_failed() -> None:
    stage = executing()
    assert stage.deadline == stage.attempts[0].deadline_ms
    decision = stage.tick()
    assert decision.records == (
        v.AttemptDoubted(1, 1, False, "its deadline passed", stage.now_ms, True),
        v.SearchPlanned(1, None),
    )
    assert isinstance(decision.effects[0], v.FindExecution)
    assert stage.results == {}
    stage.accept(6)
    assert stage.result(1).status == "confirmed", "its late answer still counts"


@pytest.mark.parametrize("begin", [Stage, executing, doubting, exhausting])
def test_a_timer_that_fires_early_changes_nothing(begin: Callable[[], Stage]) -> None:
    stage = begin()
    assert stage.apply(TimerFired(stage.now_ms)).records == ()


def test_a_search_that_is_due_asks_once() -> None:
    stage = doubting(PARENTLESS)
    stage.search(5)
    assert stage.apply(TimerFired(stage.now_ms)).records == (), "too early"
    decision = stage.tick()
    assert decision.records == (v.SearchPlanned(1, None),)
    assert isinstance(decision.effects[0], v.FindExecution)
    assert stage.apply(TimerFired(stage.now_ms)).records == ()


def test_a_retry_that_is_due_reads_the_height_once() -> None:
    stage = executing()
    stage.refuse()
    assert stage.apply(TimerFired(stage.now_ms)).records == (), "too early"
    decision = stage.tick()
    assert decision.records == (v.RetryPlanned(1, None, "", failed=False),)
    assert isinstance(decision.effects[0], v.ReadHeight)
    assert stage.deadline is None
    assert stage.apply(TimerFired(stage.now_ms)).records == ()


def test_a_retry_that_is_due_waits_while_the_lane_is_paused() -> None:
    stage = executing()
    stage.refuse()
    stage.tell("pause")
    assert stage.deadline is None
    assert stage.apply(TimerFired(9_999_999)).records == ()
    stage.tell("resume")
    assert stage.deadline is not None


def test_the_first_of_several_deadlines_wakes_the_lane() -> None:
    stage = executing(PARENTLESS)
    stage.restart()
    stage.search(None)
    assert stage.deadline == stage.now_ms + stage.settings.search_ms
    stage = doubting(ContractSettings(execution_ms_max=700, search_ms=5_000))
    stage.look()
    assert stage.deadline == stage.attempts[-1].deadline_ms


def test_after_not_executed_the_retry_stays_on_its_parent_where_the_host_takes_it() -> None:
    stage = doubting()
    while stage.mode != "halted":
        stage.look()
        if stage.mode != "halted":
            stage.lose()
    stage.tell_of(intent(1), "settle", "not_executed")
    decision = stage.tick()
    assert [type(record) for record in decision.records] == [v.AttemptOffered]
    assert isinstance(decision.effects[0], v.Execute)
    assert decision.effects[0].parent == 5


def test_after_not_executed_a_host_that_picks_the_parent_is_asked_for_its_height() -> None:
    stage = halting()
    stage.tell_of(intent(1), "settle", "not_executed")
    decision = stage.tick()
    assert isinstance(decision.effects[0], v.ReadHeight)


# Draining.


def test_a_drain_ends_with_its_last_job_and_not_before() -> None:
    stage = executing()
    stage.tell("drain", "queue", seq=3)
    stage.accept(6)
    stage.offer(intent(2, valid_until_ms=1), intent(3))
    assert (stage.mode, stage.lane.head.drain_left) == ("draining", 1)
    stage.accept(7)
    assert stage.modes() == ["draining", "paused"]


def test_a_latecomer_neither_ends_nor_shortens_a_drain() -> None:
    stage = Stage(ContractSettings(priorities=True))
    stage.tell("drain", "queue", seq=1)
    stage.offer(intent(2, valid_until_ms=1), intent(9))
    stage.read(5)
    stage.lose()
    stage.search(6, block=6)
    assert (stage.mode, stage.lane.head.drain_left) == ("draining", 1)
    stage.tell("pause")
    assert stage.modes() == ["draining", "paused"], "the operator's own word"


def test_a_drained_lane_takes_nothing_until_it_is_resumed() -> None:
    stage = executing()
    stage.tell("drain", "running")
    stage.accept(6)
    assert (stage.mode, stage.wants) == ("paused", 0)
    assert stage.offer(intent(2)).records == ()
    stage.tell("resume")
    assert stage.wants == 1


# A crash between any two commits.


def test_an_idle_lane_resumes_nothing() -> None:
    stage = executing()
    stage.accept(6)
    assert stage.restart() == ()


def test_a_height_that_was_being_read_is_read_again() -> None:
    stage = Stage()
    stage.offer(intent(1))
    assert stage.restart() == (v.ReadHeight(1, intent(1).payload),)


def test_an_execution_is_never_simply_repeated_after_a_crash_but_looked_for() -> None:
    stage = executing()
    assert stage.restart() == (v.FindExecution(1, 1, intent(1).payload, 5),)
    stage.search(6, block=6)
    assert stage.result(1).status == "confirmed"


def test_a_search_that_was_under_way_is_asked_again() -> None:
    stage = doubting()
    assert stage.restart() == (v.FindExecution(1, 1, intent(1).payload, 5),)


def test_what_waits_for_time_is_not_resumed_but_woken() -> None:
    stage = executing()
    stage.refuse()
    assert stage.restart() == ()
    assert stage.deadline == stage.now_ms + 1_000
    stage = doubting()
    stage.search(5)
    assert stage.restart() == ()
    assert stage.deadline is not None


# The kind.


def test_the_kind_speaks_for_the_machine() -> None:
    kind = contract_kind(ContractSettings(priorities=True))
    lane = kind.empty(LANE)
    assert isinstance(lane, ContractLane)
    assert kind.name == "contract"
    assert kind.cursors(lane) == START
    assert (kind.wants(lane), kind.deadline(lane), kind.resume(lane)) == (1, None, ())
    assert kind.offered(7, (intent(1),)) == IntentsOffered(7, (intent(1),))
    command = Command(1, LANE, "pause", 7)
    assert kind.commanded(7, command) == CommandReceived(7, command)
    assert kind.woken(7) == TimerFired(7)
    lane.intents[intent(1).id] = intent(1)
    decision = kind.decide(lane, kind.offered(7, (intent(1),)))
    for record in decision.records:
        kind.evolve(lane, record)
    assert kind.decode(kind.encode(decision.records)) == decision.records
    head = kind.head(lane, 9)
    assert head.wake_ms == 9
    assert kind.describe(head.state).word == "running"
    assert kind.restore(Rows(Head(LANE, state=head.state), (), (), ())).head == lane.head


@pytest.mark.parametrize(
    "event",
    [
        v.HeightRead(1, 1, 5),
        v.ExecutionReturned(1, 1, 1, Outcome.ACCEPTED, 6),
        v.SearchReturned(1, 1, 1, 6, 6),
        TimerFired(1),
    ],
    ids=lambda event: type(event).__name__,
)
def test_an_answer_to_a_lane_without_a_slot_is_let_go(event: TimerFired) -> None:
    lane = ContractLane(LANE, ContractSettings())
    decision = decide(lane, event)
    assert decision.records == ()
    assert decision.effects == ()
