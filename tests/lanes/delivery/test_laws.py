"""The general laws under any events: late, doubled, absurd, and a process that dies."""

from random import Random

import pytest
from tests.lanes.delivery.stage import Stage, intent

from laneway.lanes.delivery.machine import deadline, wants

LONG = "🂡" * 4_000 + "\udcff"
CURSOR = ".".join(["123456789"] * 32)


class Chaos:
    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)
        self.stage = Stage()
        self.seq = 0
        self.gone: set[int] = set()

    def step(self) -> None:
        dice, stage = self.dice, self.stage
        stage.now_ms += dice.choice((0, 0, 1, 700, 7_200_000))
        match dice.choice(("offer", "answer", "answer", "answer", "decline", "wake", "tell")):
            case "offer":
                self.offer()
            case "answer":
                code = dice.choice((200, 200, 410, 429, 500, 500, None))
                slot = dice.randint(0, stage.lane.head.slot_next)
                stage.answer(
                    code,
                    slot,
                    reason=dice.choice(("", LONG)),
                    preview=b"x" * dice.choice((0, 9_999)),
                    retry_after_ms=dice.choice((None, -5, 1 << 60)),
                    **({"attempt": 3} if dice.random() < 0.1 else {}),
                )
            case "decline":
                stage.decline(dice.randint(0, stage.lane.head.slot_next), dice.randint(1, 3))
            case "wake":
                if deadline(stage.lane) is not None:
                    stage.tick()
            case _:
                self.tell()
        if dice.random() < 0.1:
            before = dict(stage.lane.slots)
            stage.restart()
            assert stage.lane.slots == before

    def offer(self) -> None:
        count = self.dice.randint(0, min(wants(self.stage.lane), 5))
        seqs: list[int] = []
        while len(seqs) < count:
            self.seq += 1
            if self.seq not in self.gone:
                seqs.append(self.seq)
        if seqs:
            self.stage.offer(*seqs)

    def tell(self) -> None:
        dice, stage = self.dice, self.stage
        match dice.choice(("pause", "resume", "resume", "resume", "cancel", "fed", LONG)):
            case "cancel":
                seq = self.seq + dice.randint(-3, 3)
                if seq > 0 and intent(seq).id not in stage.results:
                    stage.cancel(seq)
                    if intent(seq).id in stage.results:
                        self.gone.add(seq)
            case "fed":
                stage.tell("fed", word=CURSOR)
            case verb:
                stage.tell(verb, reason=LONG, by=LONG)


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_the_laws_hold_whatever_happens(first: int) -> None:
    seen: set[str] = set()
    for seed in range(first, first + 20):
        chaos = Chaos(seed)
        for _ in range(60):
            chaos.step()
        chaos.stage.check_feed()
        seen |= {type(record).__name__ for record in chaos.stage.records}
        seen |= {result.status for result in chaos.stage.results.values()}
    assert seen >= {"AttemptPutOff", "AttemptBegun", "FeedPassed", "IntentDropped", "refused"}
    assert seen >= {"CommandRefused", "confirmed", "cancelled"}
