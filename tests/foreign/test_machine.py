"""Stories of the counter's machine: what an answer proves, and what silence does not."""

from typing import Any

from tests.foreign.counter.machine import (
    CounterLane,
    CounterSettings,
    counter_kind,
    decode_records,
    describe,
    encode,
)
from tests.foreign.counter.values import (
    Add,
    Addition,
    AddReturned,
    AttemptOffered,
    CounterRead,
    ReadBegun,
    ReadCounter,
    RetryPlanned,
    RetryTuned,
    SlotSettled,
)

from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import IntentRow
from laneway.core.outcome import Outcome
from laneway.core.rows import Command, Head, Result, Rows
from laneway.lanes.common.values import (
    CommandReceived,
    CommandRefused,
    IntentDropped,
    IntentsOffered,
    ModeChanged,
    TimerFired,
)

LANE = LaneId("counter:a")
ONE, TWO = IntentId("tx_1"), IntentId("tx_2")
KIND = counter_kind(CounterSettings(retry_ms=100))


def row(intent: IntentId, seq: int, amount: int = 5, until_ms: int | None = None) -> IntentRow:
    payload = encode(Addition(amount))
    return IntentRow(intent, LANE, seq, 0, 0, until_ms, None, "", b"", payload)


class Stage:
    """A lane that follows its decisions, and the rows that its store would hold."""

    def __init__(self) -> None:
        self.lane: CounterLane = KIND.empty(LANE)
        self.results: list[Result] = []

    def tell(self, event: Any) -> tuple[list[Any], list[Any]]:
        before = encode(self.lane.head), self.lane.slot
        decision = KIND.decide(self.lane, event)
        assert (encode(self.lane.head), self.lane.slot) == before, "to decide changes nothing"
        for record in decision.records:
            touched = KIND.evolve(self.lane, record)
            self.results += [touch for touch in touched if isinstance(touch, Result)]
        assert decode_records(KIND.encode(decision.records)) == decision.records
        return list(decision.records), list(decision.effects)

    def begin(self) -> None:
        """One addition is asked for at place 3."""
        self.tell(IntentsOffered(0, (row(ONE, 1),)))
        self.tell(CounterRead(1, ONE, None, 3))

    def command(
        self, verb: str, intent: IntentId | None = None, word: str = "", seq: int = 0
    ) -> Any:
        (record,), _ = self.tell(
            CommandReceived(9, Command(1, LANE, verb, 9, intent=intent, seq=seq, word=word))
        )
        return record


def test_an_addition_is_asked_for_at_the_place_that_was_read() -> None:
    stage = Stage()
    _, effects = stage.tell(IntentsOffered(0, (row(ONE, 1), row(TWO, 2))))
    assert effects == [ReadCounter(ONE, None)]
    assert KIND.wants(stage.lane) == 0
    records, effects = stage.tell(CounterRead(1, ONE, None, 3))
    assert records == [AttemptOffered(ONE, 3, 1)]
    assert effects == [Add(ONE, 3, 1, 5)]
    stage.tell(AddReturned(2, ONE, 1, Outcome.ACCEPTED))
    assert [(one.status, one.number) for one in stage.results] == [("confirmed", 3)]
    assert (stage.lane.head.total, KIND.wants(stage.lane)) == (5, 1)


def test_an_unknown_answer_asks_the_counter_and_keeps_the_place() -> None:
    stage = Stage()
    stage.begin()
    records, effects = stage.tell(AddReturned(2, ONE, 1, Outcome.UNKNOWN, reason="silence"))
    assert (records, effects) == ([RetryPlanned(ONE, 102, "silence")], [])
    assert KIND.deadline(stage.lane) == 102
    assert describe(encode(stage.lane.head)).word == "backing off"
    assert stage.tell(TimerFired(101)) == ([], [])
    assert stage.tell(TimerFired(102)) == ([ReadBegun()], [ReadCounter(ONE, 3)])
    # It is free: the same place again, so that one of the two tries at most can land.
    assert stage.tell(CounterRead(103, ONE, 3, 3))[1] == [Add(ONE, 3, 2, 5)]
    # A late answer of the first try decides nothing.
    assert stage.tell(AddReturned(104, ONE, 1, Outcome.ACCEPTED)) == ([], [])


def test_a_place_that_is_ours_is_done_and_one_that_is_anothers_is_left() -> None:
    stage = Stage()
    stage.begin()
    stage.tell(AddReturned(2, ONE, 1, Outcome.UNKNOWN))
    stage.tell(TimerFired(102))
    assert stage.tell(CounterRead(103, ONE, 3, 6, "other"))[1] == [Add(ONE, 6, 2, 5)]
    stage.tell(AddReturned(104, ONE, 2, Outcome.REFUSED, reason="taken"))
    stage.tell(TimerFired(204))
    records, _ = stage.tell(CounterRead(205, ONE, 6, 8, ONE))
    assert records == [SlotSettled(ONE, "confirmed", 6, 5, "", 205)]


def test_an_answer_to_another_question_says_nothing() -> None:
    stage = Stage()
    stage.begin()
    # Read before the place was known: it cannot say whose place 3 is.
    assert stage.tell(CounterRead(2, ONE, None, 4)) == ([], [])
    assert stage.tell(CounterRead(2, TWO, 3, 4)) == ([], [])
    assert stage.tell(AddReturned(2, TWO, 1, Outcome.ACCEPTED)) == ([], [])


def test_what_is_refused_for_good_is_refused_and_what_came_too_late_is_expired() -> None:
    stage = Stage()
    stage.begin()
    stage.tell(AddReturned(2, ONE, 1, Outcome.REFUSED, True, "too much"))
    late = row(TWO, 2, until_ms=5)
    (dropped,), effects = stage.tell(IntentsOffered(9, (late,)))
    assert (dropped.status, effects) == ("expired", [])
    assert [one.status for one in stage.results] == ["refused", "expired"]
    assert stage.lane.head.total == 0


def test_a_crash_leaves_the_question_what_became_of_it() -> None:
    stage = Stage()
    assert KIND.resume(stage.lane) == ()
    stage.begin()
    assert KIND.resume(stage.lane) == (ReadCounter(ONE, 3),)
    wrote = KIND.head(stage.lane, None)
    slot = KIND.evolve(stage.lane, AttemptOffered(ONE, 3, 1))
    rows = Rows(Head(LANE, state=wrote.state), slot, (row(ONE, 1),), ())  # type: ignore[arg-type]
    again = KIND.restore(rows)
    assert (again.head, again.slot) == (stage.lane.head, stage.lane.slot)
    stage.tell(AddReturned(2, ONE, 1, Outcome.UNKNOWN))
    assert KIND.resume(stage.lane) == ()


def test_commands_are_followed_or_refused_with_a_reason() -> None:
    stage = Stage()
    assert stage.command("tune", word="250") == RetryTuned(250)
    assert isinstance(stage.command("tune", word="0"), CommandRefused)
    assert isinstance(stage.command("dance"), CommandRefused)
    assert isinstance(stage.command("cancel"), CommandRefused)
    assert isinstance(stage.command("cancel", TWO, seq=2), IntentDropped)
    stage.begin()
    assert isinstance(stage.command("cancel", ONE, seq=1), CommandRefused)
    assert isinstance(stage.command("hurry", ONE), CommandRefused)
    stage.tell(AddReturned(2, ONE, 1, Outcome.UNKNOWN, reason="silence"))
    assert stage.command("hurry", ONE) == RetryPlanned(ONE, 9, "silence", hurried=True)
    stage.tell(TimerFired(9))
    stage.tell(CounterRead(10, ONE, 3, 4, ONE))
    assert isinstance(stage.command("cancel", ONE, seq=1), CommandRefused)
    assert stage.command("pause").mode == "paused"
    assert (KIND.wants(stage.lane), stage.command("resume").mode) == (0, "running")


def test_a_drain_ends_with_the_last_that_waited() -> None:
    stage = Stage()
    stage.begin()
    assert stage.command("drain", word="queue", seq=2).mode == "draining"
    stage.tell(AddReturned(2, ONE, 1, Outcome.ACCEPTED))
    assert KIND.wants(stage.lane) == 1
    stage.tell(IntentsOffered(3, (row(TWO, 2),)))
    stage.tell(CounterRead(4, TWO, None, 4))
    records, _ = stage.tell(AddReturned(5, TWO, 1, Outcome.ACCEPTED))
    assert isinstance(records[-1], ModeChanged)
    assert (records[-1].mode, KIND.wants(stage.lane)) == ("paused", 0)
