"""A stage for one delivery lane: it hands over events, folds records, keeps rows as a store would.

After every event the laws are checked: `decide` only reads, `resume` orders what is out and no
more, rows are the lane and stay small, and the deadline neither spins nor sleeps.
"""

from hashlib import blake2b
from typing import Any

import msgspec

from laneway.core.ids import IntentId, lane_id
from laneway.core.intent import IntentRow
from laneway.core.records import Decision
from laneway.core.rows import Command, Head, Index, Result, RowKey, RowPut, Rows
from laneway.lanes.common.heads import head_row
from laneway.lanes.common.values import CommandReceived, IntentsOffered, TimerFired
from laneway.lanes.delivery.lane import DeliveryLane, evolve, restore
from laneway.lanes.delivery.machine import deadline, decide, delivery_kind, resume, wants
from laneway.lanes.delivery.values import Event, Post, PostDeclined, PostReturned, Record

LANE = lane_id("delivery", "hook")
ROW_BYTES_MAX = 1_000
FAR_MS = 1 << 50

Said = Decision[Record, Post]


def intent(seq: int) -> IntentRow:
    name = IntentId(f"tx_{seq:032x}")
    return IntentRow(name, LANE, seq, 0, 0, None, None, "", b"", b"message %d" % seq)


def digest(lane: DeliveryLane) -> bytes:
    kept = (lane.head, list(lane.slots.items()), sorted(lane.attempts.items()))
    found = (*kept, sorted(lane.waiting.items()), sorted(lane.intents))
    return blake2b(msgspec.msgpack.encode(found)).digest()


class Stage:
    """One lane, its rows, and all that was ever recorded and ordered."""

    def __init__(self) -> None:
        self.lane = DeliveryLane(LANE)
        self.now_ms = 1_000
        self.rows: dict[tuple[str, str], RowPut] = {}
        self.state = b""
        self.results: dict[IntentId, Result] = {}
        self.intents: dict[IntentId, IntentRow] = {}
        self.records: list[Record] = []
        self.posts: list[Post] = []
        self.large = False
        """Whether checking all of it after every event would take too long."""

    def apply(self, event: Event) -> Said:
        before = b"" if self.large else digest(self.lane)
        decision = decide(self.lane, event)
        assert self.large or digest(self.lane) == before, "decide changes nothing"
        for record in decision.records:
            self.fold(record)
        self.records += decision.records
        self.posts += decision.effects
        if not self.large:
            self.check(decision)
        return decision

    def fold(self, record: Record) -> None:
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
                    raise AssertionError("a delivery lane writes no index")
        self.state = head_row(self.lane.head, None).state

    def check(self, decision: Said) -> None:
        lane = self.lane
        out = [slot.id for slot in lane.slots.values() if slot.retry_ms is None]
        resumed = resume(lane)
        assert [post.slot for post in resumed] == out, "what is out is resumed, and nothing else"
        assert all(post in resumed for post in decision.effects)
        assert lane.out_count() == len(out) <= 16
        assert len(lane.slots) <= 1_000
        assert lane.head.settled_count == len(self.results)
        assert lane.head.open_count == len(lane.slots)
        wake_ms = deadline(lane)
        if wake_ms is None:
            assert decide(lane, TimerFired(FAR_MS)).records == ()
        else:
            assert decide(lane, TimerFired(wake_ms - 1)).records == ()
            assert decide(lane, TimerFired(wake_ms)).records != ()
        assert len(self.state) < ROW_BYTES_MAX
        assert all(len(row.body) < ROW_BYTES_MAX for row in self.rows.values())
        if self.state:
            assert digest(restore(self.load())) == digest(lane)

    def check_feed(self) -> None:
        """Folding the feed from the empty lane equals the lane."""
        kind = delivery_kind()
        folded = DeliveryLane(LANE)
        folded.intents = dict(self.lane.intents)
        for record in kind.decode(kind.encode(tuple(self.records))):
            evolve(folded, record)
        assert digest(folded) == digest(self.lane)

    def offer(self, *seqs: int) -> Said:
        rows = tuple(intent(seq) for seq in seqs)
        for row in rows:
            self.intents[row.id] = row
            self.lane.intents[row.id] = row
        wanted = wants(self.lane)
        for row in rows[wanted:]:
            del self.lane.intents[row.id]  # As the reactor does with what was not taken.
        return self.apply(IntentsOffered(self.now_ms, rows))

    def answer(self, code: int | None, slot: int = 1, **fields: Any) -> Said:
        open_slot = self.lane.slots.get(slot)
        number = fields.pop("attempt", 1 if open_slot is None else open_slot.attempt)
        words = {"duration_ms": 20, "reason": "" if code == 200 else f"HTTP {code}", **fields}
        return self.apply(PostReturned(self.now_ms, slot, number, code=code, **words))

    def decline(self, slot: int = 1, attempt: int = 1) -> Said:
        return self.apply(PostDeclined(self.now_ms, slot, attempt))

    def tick(self, at_ms: int | None = None) -> Said:
        wake_ms = deadline(self.lane) if at_ms is None else at_ms
        assert wake_ms is not None, "nothing waits for time"
        self.now_ms = max(self.now_ms, wake_ms)
        return self.apply(TimerFired(self.now_ms))

    def tell(self, verb: str, **fields: Any) -> Said:
        command = Command(1, LANE, verb, self.now_ms, **fields)
        return self.apply(CommandReceived(self.now_ms, command))

    def cancel(self, seq: int) -> Said:
        row = intent(seq)
        return self.tell("cancel", intent=row.id, seq=seq, size=row.size(), reason="no more")

    def restart(self) -> tuple[Post, ...]:
        self.lane = restore(self.load())
        return resume(self.lane)

    def load(self) -> Rows:
        # By key as text, as a store sorts: slot 10 comes before slot 2.
        rows = tuple(self.rows[key] for key in sorted(self.rows))
        named = [self.intents[row.intent] for row in rows if row.intent is not None]
        return Rows(Head(LANE, state=self.state), rows, tuple(named), ())

    def result(self, seq: int) -> Result:
        return self.results[intent(seq).id]
