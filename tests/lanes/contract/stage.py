"""A stage for one contract lane: it hands over events, folds records, keeps rows as a store would.

Every event passes the law that `decide` only reads, and every record the law that the rows it
touched are the rows the lane has.
"""

from hashlib import blake2b
from typing import Any

import msgspec

from laneway.core.ids import IntentId, lane_id
from laneway.core.intent import IntentRow
from laneway.core.outcome import Outcome
from laneway.core.records import Decision
from laneway.core.rows import Command, Head, Index, Result, RowKey, RowPut, Rows
from laneway.lanes.common.heads import encode, head_row
from laneway.lanes.common.values import CommandReceived, IntentsOffered, ModeChanged, TimerFired
from laneway.lanes.contract import values as v
from laneway.lanes.contract.fold import evolve
from laneway.lanes.contract.lane import ContractLane, restore
from laneway.lanes.contract.machine import deadline, decide, resume, wants
from laneway.lanes.contract.settings import ContractSettings

LANE = lane_id("contract", "Qm1")

PARENTLESS = ContractSettings(takes_parent=False)
"""A host that picks the parent itself, as the real node does."""

replace = msgspec.structs.replace


def intent(seq: int, **fields: Any) -> IntentRow:
    row = IntentRow(
        id=IntentId(f"tx_{seq:032x}"),
        lane=LANE,
        seq=seq,
        priority=0,
        accepted_ms=0,
        valid_until_ms=None,
        key=None,
        scope="",
        digest=b"",
        payload=b"call %d" % seq,
    )
    return replace(row, **fields)


FIRST = intent(1).id


def digest(lane: ContractLane) -> bytes:
    """Of all that a lane is."""
    kept = (lane.id, lane.head, lane.slot, list(lane.attempts.items()), list(lane.intents.items()))
    return blake2b(msgspec.msgpack.encode(kept)).digest()


class Stage:
    """One lane, its rows, and all that was ever recorded and ordered."""

    def __init__(self, settings: ContractSettings | None = None) -> None:
        self.settings = settings or ContractSettings()
        self.lane = ContractLane(LANE, self.settings)
        self.now_ms = 1_000
        self.rows: dict[tuple[str, str], RowPut] = {}
        self.state = b""
        self.results: dict[IntentId, Result] = {}
        self.intents: dict[IntentId, IntentRow] = {}
        self.records: list[v.Record] = []
        self.effects: list[v.Effect] = []

    # What happens.

    def apply(self, event: v.Event) -> Decision[v.Record, v.Effect]:
        before = digest(self.lane)
        decision = decide(self.lane, event)
        assert digest(self.lane) == before, "decide changes nothing"
        for record in decision.records:
            self.fold(record)
        self.records += decision.records
        self.effects += decision.effects
        return decision

    def fold(self, record: v.Record) -> None:
        for touch in evolve(self.lane, record):
            match touch:
                case RowPut():
                    self.rows[(touch.table, touch.key)] = touch
                case RowKey():
                    del self.rows[(touch.table, touch.key)]
                case Result():
                    assert touch.intent not in self.results, "a final answer is written once"
                    self.results[touch.intent] = touch
                case Index():
                    raise AssertionError("a contract lane writes no index")
        self.state = head_row(self.lane.head, None).state

    def offer(self, *intents: IntentRow) -> Decision[v.Record, v.Effect]:
        """As the reactor does: the bytes come with the event, and leave again if not taken."""
        for row in intents:
            self.intents[row.id] = row
            self.lane.intents[row.id] = row
        decision = self.apply(IntentsOffered(self.now_ms, intents))
        slot = self.lane.slot
        self.lane.intents = {} if slot is None else {slot.intent: self.intents[slot.intent]}
        return decision

    def read(self, height: int | None, reason: str = "") -> Decision[v.Record, v.Effect]:
        return self.apply(v.HeightRead(self.now_ms, self.slot.id, height, reason))

    def answer(
        self, outcome: Outcome, attempt: int | None = None, **fields: Any
    ) -> Decision[v.Record, v.Effect]:
        number = self.slot.attempt_next - 1 if attempt is None else attempt
        return self.apply(v.ExecutionReturned(self.now_ms, self.slot.id, number, outcome, **fields))

    def accept(self, block: int | None, attempt: int | None = None) -> Decision[v.Record, v.Effect]:
        return self.answer(Outcome.ACCEPTED, attempt, block=block)

    def lose(self, attempt: int | None = None) -> Decision[v.Record, v.Effect]:
        return self.answer(Outcome.UNKNOWN, attempt, reason="the line broke")

    def refuse(self, attempt: int | None = None, **fields: Any) -> Decision[v.Record, v.Effect]:
        return self.answer(Outcome.REFUSED, attempt, **{"reason": "no", **fields})

    def search(
        self, latest: int | None, block: int | None = None, attempt: int | None = None
    ) -> Decision[v.Record, v.Effect]:
        number = self.slot.attempt_next - 1 if attempt is None else attempt
        return self.apply(v.SearchReturned(self.now_ms, self.slot.id, number, latest, block))

    def tick(self, at_ms: int | None = None) -> Decision[v.Record, v.Effect]:
        """Go to the lane's deadline, or to a time."""
        wake_ms = deadline(self.lane) if at_ms is None else at_ms
        assert wake_ms is not None, "nothing waits for time"
        self.now_ms = max(self.now_ms, wake_ms)
        return self.apply(TimerFired(self.now_ms))

    def tell(self, verb: str, word: str = "", **fields: Any) -> Decision[v.Record, v.Effect]:
        command = Command(1, LANE, verb, self.now_ms, word=word, **fields)
        return self.apply(CommandReceived(self.now_ms, command))

    def tell_of(self, row: IntentRow, verb: str, word: str = "", **fields: Any) -> Any:
        names = {"intent": row.id, "seq": row.seq, "priority": row.priority, "size": row.size()}
        return self.tell(verb, word, **{**names, **fields})

    def restart(self, settings: ContractSettings | None = None) -> tuple[v.Effect, ...]:
        """The process dies and another loads the rows; these effects it orders anew."""
        self.settings = settings or self.settings
        self.lane = restore(self.load(), self.settings)
        return resume(self.lane)

    def look(self, latest: int = 5) -> Decision[v.Record, v.Effect]:
        """Find nothing on the chain, again and again, until the lane does more than look."""
        for _ in range(1_000):
            decision = self.search(latest)
            if decision.effects or self.slot.search_ms is None or self.mode == "halted":
                return decision
            self.tick()
        raise AssertionError("it looks for ever")

    # What there is.

    def load(self) -> Rows:
        # By key as text, as a store sorts: attempt 10 comes before attempt 2.
        rows = tuple(self.rows[key] for key in sorted(self.rows))
        named = {row.intent: self.intents[row.intent] for row in rows if row.intent is not None}
        return Rows(Head(LANE, state=self.state), rows, tuple(named.values()), ())

    @property
    def slot(self) -> v.Slot:
        assert self.lane.slot is not None
        return self.lane.slot

    @property
    def attempts(self) -> list[v.Attempt]:
        return list(self.lane.attempts.values())

    @property
    def mode(self) -> str:
        return "halted" if self.lane.head.halted else self.lane.head.mode

    @property
    def wants(self) -> int:
        return wants(self.lane)

    @property
    def deadline(self) -> int | None:
        return deadline(self.lane)

    def result(self, seq: int) -> Result:
        assert intent(seq).id in self.results, f"intent {seq} has no final answer"
        return self.results[intent(seq).id]

    def names(self) -> list[str]:
        """The records so far, by their class."""
        return [type(record).__name__ for record in self.records]

    def modes(self) -> list[str]:
        return [record.mode for record in self.records if isinstance(record, ModeChanged)]


def executing(settings: ContractSettings | None = None, seq: int = 1, height: int = 5) -> Stage:
    """A stage whose first execution is out on block 5."""
    stage = Stage(settings)
    stage.offer(intent(seq))
    if stage.settings.has_chain:
        stage.read(height)
    return stage


def doubting(settings: ContractSettings | None = None) -> Stage:
    """A stage whose first execution is in doubt; the chain is being asked."""
    stage = executing(settings)
    stage.lose()
    return stage


def halting(settings: ContractSettings = PARENTLESS) -> Stage:
    """A stage that halted because nobody knows what became of the execution."""
    stage = doubting(settings)
    stage.now_ms = stage.attempts[0].deadline_ms
    stage.search(5)
    assert stage.mode == "halted"
    return stage


def exhausting(**fields: Any) -> Stage:
    """A stage whose block others took as often as is allowed."""
    stage = executing(ContractSettings(stale_retries_max=1, **fields))
    stage.refuse(stale=True)
    stage.search(6)
    return stage


def size(row: object) -> int:
    return len(encode(row))
