"""A tiny pure world for one contract lane: a chain, its host, one process that dies, an operator.

Answers are lost, late and doubled, rounds crash and drag on, nodes lag, others write to the same
contract, and the process dies between any two steps. The chain alone says what really happened.
"""

from heapq import heappop, heappush
from random import Random

from tests.lanes.contract.laws import Laws
from tests.lanes.contract.stage import LANE, Stage, intent

from laneway.core.intent import IntentRow
from laneway.core.outcome import Outcome
from laneway.core.rows import Command
from laneway.devnets.contract.model import ContractChain, RequestFault, RoundEnded
from laneway.lanes.common.values import CommandReceived, IntentsOffered, TimerFired
from laneway.lanes.contract import values as v
from laneway.lanes.contract.settings import ContractSettings
from laneway.ports import ContractCall

STEPS_MAX = 1_500
CALM_AFTER = 300
US = "did:us"


class World:
    """Everything happens in one place, in an order the seed decides."""

    def __init__(self, seed: int) -> None:
        dice = self.dice = Random(seed)
        self.takes_parent = dice.random() < 0.7
        self.stage = Stage(
            ContractSettings(
                execution_ms_max=dice.choice((150, 1_000)),
                search_ms=dice.choice((20, 200)),
                retry_ms_min=10,
                retry_ms_max=100,
                stale_retries_max=dice.choice((2, 50)),
                exhausted=dice.choice(("halt", "skip")),
                breaker_failures=dice.choice((1, 4)),
                breaker_open_ms=200,
                takes_parent=self.takes_parent,
            )
        )
        self.laws = Laws(self.stage)
        self.chain = ContractChain(round_ms=100, slow_factor=4, refuses=refuses)
        self.trouble = dice.choice((0.0, 0.1, 0.3))
        # Some calls are equal to the letter: each must run as often as it was asked for.
        words = ("same", "same", "!bad", "x", "y", "z")
        self.calls = [dice.choice(words) for _ in range(dice.randint(1, 6))]
        self.waiting = list(range(1, len(self.calls) + 1))
        self.epoch = 0
        self.order = 0
        self.mail: list[tuple[int, int, int, v.Event]] = []
        """What is on its way: when, in which order, to which life of the process."""
        self.rounds: dict[int, tuple[int, v.Execute]] = {}

    # The world goes on.

    def run(self) -> None:
        for step in range(STEPS_MAX):
            if step == CALM_AFTER:
                self.trouble = 0.0
            if len(self.stage.results) == len(self.calls):
                return
            self.step(calm=step >= CALM_AFTER)
        raise AssertionError(f"never lost: {self.stage.lane.head} {self.stage.lane.slot}")

    def step(self, *, calm: bool) -> None:
        stage, dice = self.stage, self.dice
        if self.luck(0.1):
            self.crash()
        if self.luck(0.05):
            self.chain.begin(self.call("foreign", "did:other"), None, stage.now_ms)
        if self.luck(0.1):
            self.tell(dice.choice(("pause", "resume", "drain")), dice.choice(("queue", "running")))
        if self.luck(0.05) and self.waiting:
            self.cancel(dice.choice(self.waiting))
        if calm:
            self.calm()
        if stage.wants and self.waiting:
            self.happen(IntentsOffered(stage.now_ms, (self.row(self.waiting[0]),)))
        else:
            self.advance()

    def luck(self, chance: float) -> bool:
        return self.trouble > 0 and self.dice.random() < chance

    def advance(self) -> None:
        """Go to whatever comes next: an answer, the end of a round, the lane's own deadline."""
        stage = self.stage
        times = [self.mail[0][0] if self.mail else None, self.chain.next_ms(), stage.deadline]
        stage.now_ms = max(stage.now_ms, min((t for t in times if t is not None), default=0) or 1)
        for end in self.chain.step(stage.now_ms):
            self.end(end)
        if self.mail and self.mail[0][0] <= stage.now_ms:
            _, _, epoch, event = heappop(self.mail)
            if epoch == self.epoch:
                self.happen(event)
        elif stage.deadline is not None and stage.deadline <= stage.now_ms:
            self.happen(TimerFired(stage.now_ms))

    # The process.

    def happen(self, event: v.Event) -> None:
        """Decide, commit, and only then act; it may die before and behind the commit."""
        if self.luck(0.02):
            return self.crash()
        for row in event.intents if isinstance(event, IntentsOffered) else ():
            self.stage.intents[row.id] = self.stage.lane.intents[row.id] = row
        decision = self.laws.apply(event)
        open_ = self.stage.lane.head.cursors[0]
        self.waiting = [s for s in self.waiting if s > open_ and s not in self.final()]
        if self.luck(0.02):
            return self.crash()
        for effect in decision.effects:
            self.perform(effect)
        return None

    def crash(self) -> None:
        self.epoch += 1
        if self.stage.state:
            for effect in self.laws.restart():
                self.perform(effect)

    def final(self) -> set[int]:
        return {
            seq for seq in range(1, len(self.calls) + 1) if intent(seq).id in self.stage.results
        }

    def row(self, seq: int) -> IntentRow:
        return intent(seq, payload=self.calls[seq - 1].encode())

    def tell(self, verb: str, word: str = "", seq: int | None = None) -> None:
        row = None if seq is None else self.row(seq)
        told = Command(1, LANE, verb, self.stage.now_ms, word=word, seq=seq or len(self.calls))
        if row is not None:
            told = Command(1, LANE, verb, self.stage.now_ms, "", "", row.id, row.seq, 0, 1, word)
        self.happen(CommandReceived(self.stage.now_ms, told))

    def cancel(self, seq: int) -> None:
        if seq not in self.final():
            self.tell("cancel", seq=seq)

    def calm(self) -> None:
        """An operator who looks at the chain and says what is there, once no round runs."""
        stage = self.stage
        if stage.mode == "paused":
            self.tell("resume")
        elif stage.mode == "halted" and not self.chain.running("Qm1") and not self.mail:
            self.tell("settle", "executed" if self.has_landed() else "not_executed", stage.slot.seq)
            if stage.mode == "halted":
                self.tell("settle", "skip", stage.slot.seq)

    def has_landed(self) -> bool:
        data = self.calls[self.stage.slot.seq - 1]
        return self.on_chain(data) > self.confirmed(data)

    # The host.

    def perform(self, effect: v.Effect) -> None:
        now_ms, dice = self.stage.now_ms, self.dice
        latest = self.chain.latest("Qm1")
        # A node that takes the parent may lag behind; the other sort is asked where it executes.
        seen = max(0, latest - dice.randint(0, 1)) if self.takes_parent else latest
        lost = self.luck(self.trouble)
        match effect:
            case v.ReadHeight(slot=slot):
                self.post(v.HeightRead(now_ms, slot, None if lost else seen, "down"))
            case v.FindExecution(slot=slot, attempt=attempt, payload=payload, parent=parent):
                call = self.call(payload.decode(), US)
                block = self.chain.find(call, parent, self.takes_parent)
                block = None if block is None or block > seen else block
                found = v.SearchReturned(now_ms, slot, attempt, None if lost else seen, block)
                self.post(found if not lost else v.SearchReturned(now_ms, slot, attempt, None))
            case v.Execute() if lost:
                self.post(answer(effect, now_ms, Outcome.REFUSED, reason="nothing was sent"))
            case v.Execute():
                fault = (
                    dice.choice(list(RequestFault))
                    if self.luck(self.trouble)
                    else RequestFault.NONE
                )
                parent = effect.parent if self.takes_parent else None  # type: ignore[assignment]
                call = self.call(effect.payload.decode(), US)
                for number in self.chain.begin(call, parent, now_ms, fault):
                    self.rounds[number] = (self.epoch, effect)

    def end(self, end: RoundEnded) -> None:
        if end.round not in self.rounds or not end.is_answered:
            return
        epoch, effect = self.rounds[end.round]
        now_ms = self.stage.now_ms
        if self.luck(self.trouble):
            event = answer(effect, now_ms, Outcome.UNKNOWN, reason="the line broke")
        elif end.block is not None:
            block = None if self.luck(0.2) else end.block
            event = answer(effect, now_ms, Outcome.ACCEPTED, block=block)
        else:
            final, stale = end.refused is not None, end.conflict
            event = answer(effect, now_ms, Outcome.REFUSED, final=final, stale=stale)
        if epoch == self.epoch:
            self.post(event)

    def post(self, event: v.Event) -> None:
        """It arrives after a while, and sometimes twice."""
        for _ in range(2 if self.luck(0.1) else 1):
            self.order += 1
            at_ms = self.stage.now_ms + self.dice.randint(0, 60)
            heappush(self.mail, (at_ms, self.order, self.epoch, event))

    def call(self, data: str, executor: str) -> ContractCall:
        return ContractCall("Qm1", executor, data)

    # What the chain says.

    def ours(self) -> list[str]:
        return [block.data for block in self.chain.history("Qm1") if block.executor == US]

    def on_chain(self, data: str) -> int:
        return self.ours().count(data)

    def confirmed(self, data: str) -> int:
        results = self.stage.results
        return sum(
            word == data and results[intent(seq).id].status == "confirmed"
            for seq, word in enumerate(self.calls, 1)
            if intent(seq).id in results
        )


def answer(
    effect: v.Execute,
    now_ms: int,
    outcome: Outcome,
    *,
    block: int | None = None,
    final: bool = False,
    stale: bool = False,
    reason: str = "",
) -> v.ExecutionReturned:
    return v.ExecutionReturned(
        now_ms, effect.slot, effect.attempt, outcome, block, final, stale, reason
    )


def refuses(call: ContractCall) -> str | None:
    return "the contract refuses it" if call.data.startswith("!") else None
