"""The general laws under events that no host would send: any answer, late, doubled or absurd."""

from random import Random

import pytest
from tests.lanes.contract.laws import Laws, sometimes
from tests.lanes.contract.stage import LANE, Stage, intent

from laneway.core.outcome import Outcome
from laneway.core.rows import Command
from laneway.lanes.common.values import CommandReceived, IntentsOffered, TimerFired
from laneway.lanes.contract.settings import ContractSettings
from laneway.lanes.contract.values import Event, ExecutionReturned, HeightRead, SearchReturned

LONG = "🂡" * 4_000 + "\udcff"
"""The longest and worst of words: four bytes a letter, and no text at the end."""

VERBS = ("pause", "resume", "drain", "cancel", "settle")


class Chaos:
    """Hands arbitrary events to a lane."""

    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)
        self.stage = Stage(self.settings())
        self.laws = Laws(self.stage)
        self.accepted = 0
        self.taken = 0
        self.gone: set[int] = set()

    def settings(self) -> ContractSettings:
        dice = self.dice
        has_chain = dice.random() < 0.9
        return ContractSettings(
            execution_ms_max=dice.choice((50, 5_000)),
            search_ms=dice.choice((1, 300)),
            retry_ms_min=dice.choice((1, 100)),
            retry_ms_max=400,
            stale_retries_max=dice.choice((1, 3)),
            exhausted=dice.choice(("halt", "skip")),
            breaker_failures=dice.choice((1, 3)),
            breaker_open_ms=500,
            takes_parent=dice.random() < 0.6,
            has_chain=has_chain,
        )

    def step(self) -> None:
        dice, stage = self.dice, self.stage
        stage.now_ms += dice.choice((0, 0, 1, 10, 700))
        if dice.random() < 0.3:
            self.accepted += 1
        act = dice.choice((self.offer, self.answer, self.answer, self.wake, self.tell, self.crash))
        act()

    def offer(self) -> None:
        """Only what waits is offered, and only to a lane that wants it: that is the reactor's."""
        stage = self.stage
        while self.taken + 1 in self.gone:
            self.taken += 1
        if stage.wants == 0 or self.taken >= self.accepted:
            return
        self.taken += 1
        late = self.dice.random() < 0.1
        row = intent(self.taken, valid_until_ms=stage.now_ms - 1 if late else None)
        stage.intents[row.id] = row
        stage.lane.intents[row.id] = row
        self.laws.apply(IntentsOffered(stage.now_ms, (row,)))

    def answer(self) -> None:
        dice, stage = self.dice, self.stage
        now_ms = stage.now_ms
        slot = stage.lane.slot
        number = slot.id if slot is not None and dice.random() < 0.9 else dice.randint(0, 9)
        attempt = slot.attempt_next - dice.choice((1, 1, 1, 2, 3)) if slot is not None else 1
        floor = stage.lane.head.floor
        reason = dice.choice(("", "no", LONG))
        match dice.choice(("height", "execution", "execution", "search", "search")):
            case "height":
                height = dice.choice((None, floor, floor, floor + 1, 0))
                event: Event = HeightRead(now_ms, number, height, reason)
            case "execution":
                event = ExecutionReturned(
                    now_ms,
                    number,
                    attempt,
                    dice.choice((*Outcome, Outcome.REFUSED, Outcome.UNKNOWN, Outcome.UNKNOWN)),
                    dice.choice((None, floor + 1, floor + 1, 0)),
                    dice.random() < 0.3,
                    dice.random() < 0.3,
                    reason,
                )
            case _:
                latest = dice.choice((None, 0, floor, floor, floor + 1))
                block = floor + 1 if dice.random() < 0.1 else None
                event = SearchReturned(now_ms, number, attempt, latest, block, reason)
        self.laws.apply(event)

    def wake(self) -> None:
        wake_ms = self.stage.deadline
        if wake_ms is not None and self.dice.random() < 0.8:
            self.stage.now_ms = max(self.stage.now_ms, wake_ms)
        self.laws.apply(TimerFired(self.stage.now_ms))

    def tell(self) -> None:
        dice, stage = self.dice, self.stage
        verb = dice.choice(
            ("pause", "resume", "resume", "drain", "cancel", "settle", "settle", LONG)
        )
        word = dice.choice(("queue", "running", "executed", "not_executed", "skip", ""))
        seq = dice.randint(1, max(1, self.accepted))
        slot = stage.lane.slot
        if slot is not None and dice.random() < 0.7:
            seq = slot.seq
        if verb == "cancel" and (seq > self.accepted or seq in self.gone):
            return  # The store tells no cancel of what is final already.
        row = intent(seq)
        told = Command(
            1,
            LANE,
            verb,
            stage.now_ms,
            reason=dice.choice(("", "because", LONG)),
            by=dice.choice(("", "ada", LONG)),
            intent=None if dice.random() < 0.1 else row.id,
            seq=self.accepted if verb == "drain" else seq,
            size=row.size(),
            word="" if verb == "cancel" else word,
        )
        self.laws.apply(CommandReceived(stage.now_ms, told))
        if verb == "cancel" and row.id in stage.results:
            self.gone.add(seq)

    def crash(self) -> None:
        if self.dice.random() < 0.3:
            self.stage.settings = self.settings()
        if self.stage.state:
            self.laws.restart()


def chaos(seed: int, steps: int) -> Chaos:
    world = Chaos(seed)
    for _ in range(steps):
        world.step()
    return world


@pytest.mark.parametrize("seed", range(30))
def test_the_laws_hold_under_any_events(seed: int) -> None:
    world = chaos(seed, 150)  # Every step is judged there.
    assert world.stage.records, "and something happened"


@pytest.mark.parametrize("seed", range(100, 110))
def test_folding_the_feed_from_the_empty_lane_equals_the_lane(seed: int) -> None:
    world = Chaos(seed)
    # The fold knows one setting for all records, so the host stays what it is.
    settings = world.stage.settings
    for _ in range(150):
        world.step()
        world.stage.settings = world.stage.lane.settings = settings
    world.laws.check_feed()


@pytest.mark.slow
def test_the_laws_hold_under_many_more_events() -> None:
    seen: set[str] = set()
    for seed in range(1_000, 1_400):
        seen |= sometimes(chaos(seed, 200).stage)
    assert seen >= {
        "SlotClaimed",
        "claimed at a known height",
        "AttemptOffered",
        "second try",
        "AttemptDoubted",
        "AttemptRefused",
        "RetryPlanned",
        "SearchPlanned",
        "IntentDropped",
        "CommandRefused",
        "attempt:stale",
        "attempt:dropped",
        "mode:paused",
        "mode:draining",
        "mode:halted",
        "result:confirmed",
        "result:refused",
        "result:dead",
        "result:cancelled",
        "result:expired",
    }
