"""Make the database that stands for a released version: `python make_database.py v1.sqlite`.

Run it once for each release that changes a row or the schema, under the next name, and never
again for an old one: the file must stay as that release wrote it.
"""

import sys
from pathlib import Path
from typing import Any

from laneway.core.ids import LaneId, Owner, intent_id
from laneway.core.intent import Arrival
from laneway.core.outcome import Outcome
from laneway.core.rows import Command, Lease, Write
from laneway.engine.contract import encode_call
from laneway.lanes.contract import ContractSettings, contract_kind
from laneway.lanes.contract.values import ExecutionReturned, HeightRead
from laneway.ports import ContractCall
from laneway.stores.book import flush
from laneway.stores.sqlite import SqliteBook

CONTRACT = contract_kind(ContractSettings())
OWNER = Owner("a process of that release")
START_MS = 1_767_225_600_000


class Maker:
    """Drives real lanes by hand, one commit an event."""

    def __init__(self, path: str) -> None:
        self.book = SqliteBook(path)
        self.now_ms = START_MS
        self.number = 0

    def accept(self, lane: LaneId, count: int) -> None:
        arrivals = []
        for _ in range(count):
            self.number += 1
            self.now_ms += 10
            call = ContractCall(lane.partition(":")[2], "did:1", f"call {self.number}")
            arrivals.append(
                Arrival(
                    id=intent_id(self.now_ms, self.number.to_bytes(10, "big")),
                    lane=lane,
                    payload=encode_call(call),
                    digest=b"digest of %d" % self.number,
                    accepted_ms=self.now_ms,
                    key=f"key {self.number}",
                )
            )
        self.book.begin()
        self.book.accept(arrivals)
        flush(self.book)

    def tell(self, lane: LaneId, verb: str) -> Command:
        self.book.begin()
        command = self.book.tell(Command(0, lane, verb, self.now_ms, "because", "an operator"))
        flush(self.book)
        return command

    def open(self, lane: LaneId) -> "OpenLane":
        self.book.begin()
        lease = self.book.claim(lane, OWNER, 0)
        flush(self.book)
        assert lease is not None
        return OpenLane(self, lease)

    def prune(self, before_ms: int) -> None:
        self.book.begin()
        self.book.prune(before_ms, 0, 100)
        flush(self.book)


class OpenLane:
    def __init__(self, maker: Maker, lease: Lease) -> None:
        self.maker = maker
        self.lease = lease
        rows = maker.book.load(lease)
        self.lane = CONTRACT.restore(rows)
        self.version = rows.head.version

    def pull(self) -> None:
        page = self.maker.book.backlog(self.lease, CONTRACT.cursors(self.lane), 1)
        for intent in page.intents:
            self.lane.intents[intent.id] = intent
        self.happened(CONTRACT.offered(self.maker.now_ms, page.intents))

    def read_height(self, height: int) -> None:
        self.happened(HeightRead(self.maker.now_ms, self.lane.slot.id, height))

    def answer(self, outcome: Outcome, *, final: bool = False, reason: str = "") -> None:
        attempt = list(self.lane.attempts.values())[-1]
        block = attempt.parent + 1 if outcome is Outcome.ACCEPTED else None
        event = ExecutionReturned(
            now_ms=self.maker.now_ms,
            slot=self.lane.slot.id,
            attempt=attempt.number,
            outcome=outcome,
            block=block,
            final=final,
            reason=reason,
        )
        self.happened(event)

    def obey(self, command: Command) -> None:
        self.happened(CONTRACT.commanded(self.maker.now_ms, command), command.id)

    def happened(self, event: Any, *answered: int) -> None:
        self.maker.now_ms += 100
        decision = CONTRACT.decide(self.lane, event)
        touched = [t for record in decision.records for t in CONTRACT.evolve(self.lane, record)]
        head = CONTRACT.head(self.lane, CONTRACT.deadline(self.lane))
        records = CONTRACT.encode(decision.records)
        write = Write(head, tuple(touched), answered, self.maker.now_ms, records)
        self.version += 1
        self.maker.book.begin()
        self.maker.book.commit(self.lease, self.version, write)
        flush(self.maker.book)


def make(path: str) -> None:
    maker = Maker(path)
    idle = LaneId("contract:idle")
    maker.accept(idle, 3)
    lane = maker.open(idle)
    lane.pull()
    lane.read_height(7)
    lane.answer(Outcome.ACCEPTED)
    maker.prune(maker.now_ms + 1)
    lane.pull()
    lane.answer(Outcome.REFUSED, final=True, reason="it is against the rules")
    lane.pull()
    lane.answer(Outcome.ACCEPTED)

    running = LaneId("contract:running")
    maker.accept(running, 3)
    lane = maker.open(running)
    lane.pull()
    lane.read_height(40)

    doubted = LaneId("contract:doubted")
    maker.accept(doubted, 2)
    lane = maker.open(doubted)
    lane.pull()
    lane.read_height(2)
    lane.answer(Outcome.UNKNOWN, reason="the connection broke")

    paused = LaneId("contract:paused")
    maker.accept(paused, 2)
    lane = maker.open(paused)
    lane.obey(maker.tell(paused, "pause"))

    mail = LaneId("contract:mail")
    maker.accept(mail, 1)
    maker.tell(mail, "pause")
    maker.tell(mail, "resume")
    maker.book.close()


if __name__ == "__main__":
    target = Path(sys.argv[1])
    assert not target.exists(), "a released database is never made again"
    make(str(target))
    Path(f"{target}-lock").unlink()
