"""Power cuts: what was acknowledged is there, the rest is there wholly or not at all."""

from random import Random
from typing import Any

import pytest

from laneway.core.errors import StoreClosed
from laneway.core.ids import LaneId, Owner, intent_id
from laneway.core.intent import Accepted, Arrival
from laneway.core.rows import Command, HeadWrite, Lease, Result, RowPut, Table, Write
from laneway.sim.disk import SimDisk
from laneway.stores.sqlite import SqliteBook, database

LANES = [LaneId(f"contract:{letter}") for letter in "abc"]
SEEDS = 320
GROUP_STEPS_MAX = 40
"""A group is 5 to 60 writes and syncs; a power cut hits any of them, or none."""


class LostWriteError(AssertionError):
    """Something acknowledged is gone, or half a group is there."""


class World:
    """One disk, one book at a time, and what its caller was told."""

    def __init__(self, seed: int, disk: SimDisk, *, full: bool = True) -> None:
        self.random = Random(seed)
        self.disk = disk
        self.full = full
        self.owner = Owner("nobody")
        self.leases: dict[LaneId, Lease] = {}
        self.numbers = iter(range(1, 100_000))
        self.truth: dict[str, Any] = {}
        self.doubt: dict[str, Any] = {}
        self.cuts = 0
        self.kept = 0
        self.open()

    def open(self) -> None:
        """Another start. It may be cut short as well."""
        while True:
            if self.random.random() < 0.2:
                self.disk.cut_after(self.random.randrange(60))
            try:
                self.book = SqliteBook("power.db", vfs=self.disk.name, exclusive=True)
            except StoreClosed:
                self.disk.crash(self.random)
                continue
            self.disk.heal()
            if not self.full:
                self.book._db.pragma("synchronous", "normal")
            self.owner = Owner(f"owner {next(self.numbers)}")
            self.leases.clear()
            return

    def look(self) -> dict[str, Any]:
        """All that the file tells, in terms of what its caller was told."""
        seen: dict[str, Any] = {}
        for view in self.book.lanes(None, 100):
            lane = view.tail.lane
            seen[f"accepted {lane}"] = view.tail.accepted_count
            seen[f"head {lane}"] = (view.head.fence, view.head.version, view.head.state)
            rows = self.book.load(Lease(lane, self.owner, view.head.fence))
            seen[f"rows {lane}"] = rows.open
            seen[f"mail {lane}"] = tuple(command.id for command in rows.mailbox)
        for entry in self.book.feed("", 100_000):
            seen[f"feed {entry.cursor}"] = (entry.lane, entry.version)
        for word in ("queued", "submitted", "confirmed"):
            for intent in self.book.page(word, None, 100_000):
                seen[f"intent {intent.intent.id}"] = (intent.intent.seq, word)
        return seen

    def group(self) -> None:
        """One group of random requests; the power may go out at any step of it."""
        if self.random.random() < 0.7:
            self.disk.cut_after(self.random.randrange(GROUP_STEPS_MAX))
        try:
            self.book.begin()
            for _ in range(self.random.randint(1, 4)):
                self.request(self.random.choice(LANES))
            self.doubt = self.expect()
            self.book.write()
            self.book.sync()
        except StoreClosed:
            self.cut()
            return
        self.disk.heal()
        self.truth = self.doubt
        if self.random.random() < 0.1:
            self.cut()
        elif self.random.random() < 0.05:
            self.book.close()
            self.open()

    def request(self, lane: LaneId) -> None:
        kind = self.random.randrange(4)
        if kind == 0:
            self.book.tell(Command(0, lane, "pause", 0))
        elif kind == 1 and lane in self.leases and self.book.group.entry(lane).no:
            self.commit(lane)
        elif kind == 2 and lane not in self.leases:
            lease = self.book.claim(lane, self.owner, 0)
            assert lease is not None
            self.leases[lane] = lease
        else:
            size = self.random.choice((10, 200, 6_000))
            answers = self.book.accept([arrival(next(self.numbers), lane, size) for _ in range(2)])
            assert all(isinstance(answer, Accepted) for answer in answers)

    def commit(self, lane: LaneId) -> None:
        entry = self.book.group.entry(lane)
        waiting = self.book.backlog(self.leases[lane], entry.cursors, 1).intents
        touched: list[RowPut | Result] = [
            RowPut(Table.SLOT, str(self.random.randrange(3)), None, self.random.randbytes(40))
        ]
        cursors, settled = entry.cursors, entry.settled_count
        if waiting:
            cursors, settled = (waiting[0].seq, 0, 0, 0), settled + 1
            touched.append(Result(waiting[0].id, "confirmed", 1))
        answered = tuple(sorted(entry.mail)[:1])
        state = self.random.randbytes(8)
        write = Write(
            HeadWrite(cursors, settled, 0, None, state), tuple(touched), answered, 1, b"f"
        )
        self.book.commit(self.leases[lane], entry.version + 1, write)

    def expect(self) -> dict[str, Any]:
        """What will be there if the group that is now gathered becomes durable."""
        seen = dict(self.truth)
        group = self.book.group
        for lane, entry in group.lanes.items():
            seen[f"accepted {lane}"] = entry.accepted_count
            seen[f"head {lane}"] = (entry.fence, entry.version, entry.state)
            rows = {(row.table, row.key): row for row in seen.get(f"rows {lane}", ())}
            for (owner, table, key), row in group.rows.items():
                if owner == lane and row is not None:
                    rows[(table, key)] = row
            seen[f"rows {lane}"] = tuple(rows[key] for key in sorted(rows))
            seen[f"mail {lane}"] = tuple(sorted(entry.mail))
            for cursor, (told, version, *_) in enumerate(group.feed, self.book._counters["feed"]):
                if told == lane:
                    seen[f"feed {cursor}"] = (lane, version)
        for intent, (_, seq) in group.intents.items():
            seen[f"intent {intent}"] = (seq, "queued")
        for intent in group.results:
            name = f"intent {intent}"
            seen[name] = (seen[name][0], "confirmed")
        return seen

    def cut(self) -> None:
        """Off and on again: the truth holds, and of the last group all or nothing."""
        self.cuts += 1
        if self.random.random() < 0.5:
            self.book.abandon()
        self.disk.crash(self.random)
        self.open()
        seen = self.look()
        if seen == self.doubt:
            self.kept += self.doubt != self.truth
        elif seen != self.truth:
            raise LostWriteError
        self.truth = self.doubt = seen

    def run(self, groups: int) -> None:
        for _ in range(groups):
            self.group()
        self.cut()
        assert self.book._db.pragma("integrity_check") == "ok"


def arrival(number: int, lane: LaneId, size: int) -> Arrival:
    id_ = intent_id(number, (number * 0x9E3779B97F4A7C15 % (1 << 80)).to_bytes(10, "big"))
    return Arrival(id=id_, lane=lane, payload=bytes(size), digest=b"", accepted_ms=number)


@pytest.fixture(autouse=True)
def _checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    # A checkpoint every few groups: its half-way states are the ones worth cutting.
    monkeypatch.setattr(database, "WAL_PAGES_CHECKPOINT", 40)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_what_was_acknowledged_survives_any_power_cut(part: int) -> None:
    cuts = kept = 0
    for seed in range(part, SEEDS, 8):
        disk = SimDisk()
        world = World(seed, disk)
        world.run(15)
        world.book.abandon()
        disk.close()
        cuts += world.cuts
        kept += world.kept
    # Sometimes the last group is there although nobody heard of it, and mostly it is not.
    assert 0 < kept < cuts // 2
    assert cuts > SEEDS // 8


@pytest.mark.slow
def test_the_same_test_finds_what_synchronous_normal_loses() -> None:
    lost = 0
    for seed in range(40):
        disk = SimDisk()
        world = World(seed, disk, full=False)
        try:
            world.run(15)
        except LostWriteError:
            lost += 1
        world.book.abandon()
        disk.close()
    assert lost > 20


def test_two_power_cuts_of_one_seed_leave_the_same_disk() -> None:
    left = []
    for _ in range(2):
        disk = SimDisk()
        world = World(3, disk)
        world.run(15)
        left.append((world.truth, world.cuts, world.kept, disk.content("power.db")))
        world.book.abandon()
        disk.close()
    assert left[0] == left[1]


def test_a_sync_that_failed_is_made_good_by_the_next_start() -> None:
    """The kernel drops what a failed sync could not write: no later sync of the log writes it."""
    for seed in range(30):
        disk = SimDisk()
        world = World(seed, disk)
        gather(world)
        disk.fail_syncs()
        with pytest.raises(StoreClosed):
            world.book.sync()
        world.book.close()
        disk.heal()
        world.book = SqliteBook("power.db", vfs=disk.name, exclusive=True)
        world.truth = world.look()
        gather(world)
        world.book.sync()
        world.truth = world.doubt
        world.cut()
        world.book.abandon()
        disk.close()


def gather(world: World) -> None:
    world.book.begin()
    world.book.accept([arrival(next(world.numbers), LANES[0], 10)])
    world.doubt = world.expect()
    world.book.write()
