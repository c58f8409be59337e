"""The laws of every contract lane, checked after every event, whatever the event was."""

from tests.lanes.contract.stage import LANE, Stage

from laneway.core.outcome import AttemptWord
from laneway.core.records import Decision
from laneway.lanes.common.values import TimerFired
from laneway.lanes.contract import values as v
from laneway.lanes.contract.fold import evolve
from laneway.lanes.contract.lane import ContractLane, restore
from laneway.lanes.contract.machine import contract_kind, deadline, decide, resume, wants

ROW_BYTES_MAX = 1_000
"""A row that changes stays under 1 KB."""

FAR_MS = 1 << 50


class Laws:
    """Watches a stage: everything passes through here."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.owed: list[v.Effect] = []
        """Effects that were ordered and that no record has answered yet."""

    def apply(self, event: v.Event) -> Decision[v.Record, v.Effect]:
        decision = self.stage.apply(event)
        for record in decision.records:
            self.owed = [effect for effect in self.owed if not self.is_answered(effect, record)]
        self.owed += decision.effects
        self.check()
        return decision

    def restart(self) -> tuple[v.Effect, ...]:
        """What a crash lost is ordered anew; an execution that was out is looked for."""
        self.owed = list(self.stage.restart())
        self.check()
        return tuple(self.owed)

    def is_answered(self, effect: v.Effect, record: v.Record) -> bool:
        if isinstance(record, v.SlotSettled):
            return True
        match effect:
            case v.ReadHeight():
                planned = isinstance(record, v.RetryPlanned) and record.retry_ms is not None
                return planned or isinstance(record, v.AttemptOffered)
            case v.Execute(attempt=number):
                if not isinstance(record, v.AttemptDoubted | v.AttemptRefused):
                    return False
                return record.attempt == number
            case v.FindExecution():
                planned = isinstance(record, v.SearchPlanned) and record.search_ms is not None
                nothing_left = not any(a.may_land() for a in self.stage.attempts)
                return planned or nothing_left or isinstance(record, v.AttemptOffered)

    # The laws.

    def check(self) -> None:
        self.check_resume()
        self.check_tries()
        self.check_modes()
        self.check_deadline()
        self.check_rows()

    def check_resume(self) -> None:
        """Every effect ordered by a decision is in `resume` until the record that answers it."""
        resumed = resume(self.stage.lane)
        for effect in self.owed:
            if isinstance(effect, v.ReadHeight):
                assert effect in resumed
            else:
                finds = [found for found in resumed if isinstance(found, v.FindExecution)]
                assert [found.slot for found in finds] == [effect.slot]
                assert finds[0].parent == effect.parent
        assert bool(resumed) == bool(self.owed), "and nothing else is resumed"

    def check_tries(self) -> None:
        """Never two undoubted attempts out; attempts that may land share one parent."""
        lane = self.stage.lane
        landing = [attempt for attempt in lane.attempts.values() if attempt.may_land()]
        assert len([attempt for attempt in landing if attempt.is_out()]) <= 1
        assert len({attempt.parent for attempt in landing}) <= 1
        if lane.slot is None:
            assert lane.attempts == {}
            return
        assert lane.slot.search_ms is None or (landing and not any(a.is_out() for a in landing))
        assert all(number < lane.slot.attempt_next for number in lane.attempts)
        assert lane.head.doubted == any(attempt.doubted for attempt in lane.attempts.values())
        floor = lane.head.floor
        assert all(attempt.parent <= floor for attempt in lane.attempts.values())

    def check_modes(self) -> None:
        """A lane is halted only over an open slot, and takes one job at a time."""
        lane, head = self.stage.lane, self.stage.lane.head
        assert head.mode in ("running", "paused", "draining")
        assert lane.slot is not None or not head.halted
        assert wants(lane) == (
            lane.slot is None and (head.mode == "running" or head.mode == "draining")
        )
        assert head.settled_count == len(self.stage.results)
        assert (head.running_since_ms is None) == (lane.slot is None)

    def check_deadline(self) -> None:
        """The deadline is None exactly when nothing waits for time, and never spins."""
        lane = self.stage.lane
        wake_ms = deadline(lane)
        if wake_ms is None:
            assert decide(lane, TimerFired(FAR_MS)).records == ()
        else:
            assert decide(lane, TimerFired(wake_ms - 1)).records == ()
            assert decide(lane, TimerFired(wake_ms)).records != ()

    def check_rows(self) -> None:
        """`restore` gives back the lane, from rows that stay small."""
        stage = self.stage
        assert len(stage.state) < ROW_BYTES_MAX
        assert all(len(row.body) < ROW_BYTES_MAX for row in stage.rows.values())
        same(restore(stage.load(), stage.settings), stage.lane, stage.state != b"")

    def check_feed(self) -> None:
        """Folding the feed from the empty lane equals the lane."""
        stage = self.stage
        kind = contract_kind(stage.settings)
        folded = ContractLane(LANE, stage.settings)
        for record in kind.decode(kind.encode(tuple(stage.records))):
            evolve(folded, record)
        same(folded, stage.lane, True)


def same(one: ContractLane, other: ContractLane, written: bool) -> None:
    assert one.slot == other.slot
    assert list(one.attempts.items()) == list(other.attempts.items())
    if written:
        assert one.head == other.head


def sometimes(stage: Stage) -> set[str]:
    """Rare states that a test should have met."""
    seen = {type(record).__name__ for record in stage.records}
    seen |= {f"mode:{mode}" for mode in stage.modes()}
    seen |= {f"result:{result.status}" for result in stage.results.values()}
    for record in stage.records:
        if isinstance(record, v.AttemptRefused) and record.word is not AttemptWord.REFUSED:
            seen.add(f"attempt:{record.word.value}")
        if isinstance(record, v.SlotClaimed) and record.attempt is not None:
            seen.add("claimed at a known height")
        if isinstance(record, v.AttemptOffered) and record.attempt.number > 1:
            seen.add("second try")
    return seen
