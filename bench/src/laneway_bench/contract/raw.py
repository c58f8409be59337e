"""What the file could do at best: loops without an engine, on the same tables.

`raw` writes the rows laneway writes, by laneway's own statements, a hundred jobs a commit: one
commit to accept them, one before they run, one after. `merged` lets the commit after one batch
be the commit before the next, as laneway's own turns do. `bare` commits one small row, twice a
job. The rows are those of a real execution, read back from its file: they have its sizes.
"""

import asyncio
from pathlib import Path
from typing import Any

import apsw
from msgspec import Struct

from laneway.chains.contract_callable import CallableHost
from laneway.ports import ContractCall
from laneway.stores.sqlite.database import connect, migrate, statements
from laneway.wiring.embedded import Laneway
from laneway_bench.child import BenchFailed
from laneway_bench.contestant import answer_all
from laneway_bench.limits import BATCH
from laneway_bench.watch import Stopwatch

SQL = statements()

SAMPLE_JOBS = 150
"""Executions up to the one whose rows are taken: by then its numbers have the usual widths."""

Job = tuple[int, int, int, bytes]
"""Its number, its lane's number, its place in the lane, its id."""


class Shape(Struct, frozen=True):
    """The rows of one real execution."""

    owner: str
    digest: bytes
    cursors: bytes
    state_running: bytes
    state_idle: bytes
    intent: bytes
    slot: tuple[str, bytes]
    """Key and body, as of every open row."""
    attempt: tuple[str, bytes]
    result: bytes
    feed_start: bytes
    feed_done: bytes

    def bytes_per_job(self) -> int:
        rows = (self.intent, self.slot[1], self.attempt[1], self.result)
        heads = (self.state_running, self.state_idle, self.cursors, self.digest)
        return sum(map(len, (*rows, *heads, self.feed_start, self.feed_done)))


def noop(_payload: bytes, _parent: int) -> None:
    """The work itself."""


def shape_of_an_execution(folder: Path) -> Shape:
    """Execute for real, one at a time, and read the rows back: while it runs, and after."""
    path = str(folder / "sample.db")
    running: dict[str, Any] = {}

    async def look(call: ContractCall, parent: int) -> int:
        if call.data == f"data{SAMPLE_JOBS}":
            running["head"] = one(path, "SELECT owner, digest, cursors, state FROM heads")
            running["slot"] = one(path, "SELECT key, body FROM rows WHERE kind = 'slot'")
            running["attempt"] = one(path, "SELECT key, body FROM rows WHERE kind = 'attempt'")
        return parent + 1

    async def execute() -> None:
        async with Laneway.open(path, CallableHost(look)) as laneway:
            for number in range(1, SAMPLE_JOBS + 1):
                handle = await laneway.submit("c17", f"data{number}", executor="did:bench")
                await handle.result()

    asyncio.run(execute())
    owner, digest, cursors, state_running = running["head"]
    newest = "SELECT records FROM feed ORDER BY cursor DESC LIMIT 1 OFFSET"
    return Shape(
        owner=owner,
        digest=digest,
        cursors=cursors,
        state_running=state_running,
        state_idle=one(path, "SELECT state FROM heads")[0],
        intent=one(path, "SELECT body FROM intents ORDER BY no DESC")[0],
        slot=running["slot"],
        attempt=running["attempt"],
        result=one(path, "SELECT body FROM results ORDER BY no DESC")[0],
        feed_start=one(path, f"{newest} 1")[0],
        feed_done=one(path, f"{newest} 0")[0],
    )


def one(path: str, query: str) -> tuple[Any, ...]:
    with apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY) as database:
        row = database.execute(query).fetchone()
    if row is None:
        raise BenchFailed(f"a real execution left no such row: {query}")
    found: tuple[Any, ...] = row
    return found


class RawLoop:
    """Accept, start, call, finish: the rows of a hundred jobs at a time, and nothing else."""

    def __init__(self, path: str, shape: Shape, contracts: int) -> None:
        self._shape = shape
        self._contracts = contracts
        self._feed = 0
        self._db = connect(path)
        migrate(self._db, path)
        with self._db:
            for no in range(1, contracts + 1):
                self._db.execute(SQL["add_lane"], (no, f"contract:c{no}", 1, 0, 0, 0, 0))
                self._db.execute(SQL["add_head"], self._head(no, 0, shape.state_idle))
                self._db.execute(SQL["put_wake"], (0, no))

    def run(self, jobs: int, *, merged: bool) -> dict[str, float]:
        watch = Stopwatch()
        before: list[Job] = []
        for first in range(0, jobs, BATCH):
            batch = [self._job(number) for number in range(first, min(jobs, first + BATCH))]
            with self._db:
                self._accept(batch)
            with self._db:
                if merged and before:
                    self._finish(before, alone=False)
                self._start(batch, before if merged else [])
            for _ in batch:
                noop(self._shape.intent, 0)
            if merged:
                before = batch
            else:
                with self._db:
                    self._finish(batch, alone=True)
        if before:
            with self._db:
                self._finish(before, alone=True)
        spent = watch.read()
        self._db.close()
        return spent

    def _job(self, number: int) -> Job:
        seq, lane = divmod(number, self._contracts)
        return number, lane + 1, seq + 1, number.to_bytes(16, "big")

    def _head(self, no: int, version: int, state: bytes) -> tuple[object, ...]:
        shape = self._shape
        return (shape.owner, 1, version, shape.digest, shape.cursors, version, 0, state, no)

    def _accept(self, batch: list[Job]) -> None:
        body = self._shape.intent
        self._db.executemany(
            SQL["put_tail"],
            [(seq + 1, seq, seq * len(body), seq, 0, no) for _, no, seq, _ in batch],
        )
        self._db.executemany(
            SQL["add_intent"],
            [(number + 1, id_, no, 0, seq, body) for number, no, seq, id_ in batch],
        )

    def _start(self, batch: list[Job], finished: list[Job]) -> None:
        """Heads and open rows; with the batch that just finished, heads and feed are shared."""
        shape = self._shape
        self._heads(batch, shape.state_running)
        for kind, (key, body) in (("slot", shape.slot), ("attempt", shape.attempt)):
            self._db.executemany(
                SQL["put_row"],
                [(no, kind, key, id_ if kind == "slot" else None, body) for _, no, _, id_ in batch],
            )
        self._fed(batch, shape.feed_done + shape.feed_start if finished else shape.feed_start)

    def _finish(self, batch: list[Job], *, alone: bool) -> None:
        shape = self._shape
        self._db.executemany(
            SQL["add_result"], [("confirmed", 1, shape.result, id_) for _, _, _, id_ in batch]
        )
        if not alone:
            return  # The next start of the same lanes rewrites the same open rows.
        self._heads(batch, shape.state_idle)
        for kind, (key, _) in (("slot", shape.slot), ("attempt", shape.attempt)):
            self._db.executemany(SQL["drop_row"], [(no, kind, key) for _, no, _, _ in batch])
        self._fed(batch, shape.feed_done)

    def _heads(self, batch: list[Job], state: bytes) -> None:
        self._db.executemany(
            SQL["put_head"], [self._head(no, seq, state) for _, no, seq, _ in batch]
        )

    def _fed(self, batch: list[Job], records: bytes) -> None:
        rows = [
            (self._feed + place, no, seq, 1, records)
            for place, (_, no, seq, _) in enumerate(batch, start=1)
        ]
        self._feed += len(rows)
        self._db.executemany(SQL["add_feed"], rows)


def bare(path: str, jobs: int) -> dict[str, float]:
    """Two commits a job, one small row each: what a queue that syncs twice a job may reach."""
    database = connect(path)
    database.execute("CREATE TABLE bare (no INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT")
    watch = Stopwatch()
    for _ in range(2 * jobs):
        database.execute("INSERT INTO bare (body) VALUES (?)", (b"0123456789abcdef",))
    spent = watch.read()
    database.close()
    return spent


def measure(question: dict[str, Any]) -> dict[str, float]:
    folder, jobs = Path(question["folder"]), question["jobs"]
    if question["loop"] == "bare":
        return bare(str(folder / "bare.db"), jobs)
    shape = shape_of_an_execution(folder)
    loop = RawLoop(str(folder / "raw.db"), shape, question["contracts"])
    spent = loop.run(jobs, merged=question["loop"] == "merged")
    return {**spent, "bytes_per_job": shape.bytes_per_job()}


def main() -> None:
    answer_all(measure)


if __name__ == "__main__":
    main()
