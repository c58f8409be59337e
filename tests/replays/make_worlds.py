"""Make the databases that stand for a release, one for each kind of lane and choice of seed:
`python make_worlds.py v2.tar.xz`.

Run it once for each release that changes a row or a record, under the next name, and never again
for an old one: the file must stay as that release wrote it. The databases are those of simulated
worlds that are cut off in the middle; beside each stands what that release read from it.
"""

import io
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw
import msgspec

from laneway.core.ids import LaneId, Owner, intent_id
from laneway.core.intent import Arrival
from laneway.core.rows import Command, Write
from laneway.kinds.events import events_of
from laneway.lanes.audit import audit_kind
from laneway.lanes.bundle import bundle_kind
from laneway.lanes.bundle.records import SlotNumbered
from laneway.lanes.common.values import ModeChanged
from laneway.lanes.contract import contract_kind
from laneway.lanes.delivery.machine import delivery_kind
from laneway.lanes.delivery.values import PostDeclined, PostReturned
from laneway.lanes.eoa import eoa_kind
from laneway.lanes.eoa.rows import Content
from laneway.lanes.eoa.values import ContentReplaced
from laneway.lanes.kind import LaneKind
from laneway.lanes.sequence import sequence_kind
from laneway.lanes.sequence.values import LaneHalted
from laneway.sim.disks import SqliteDisk
from laneway.sim.kinds import world_kind
from laneway.stores.book import flush
from laneway.stores.sqlite import SqliteBook

WORLDS: tuple[tuple[str, int, int, bool], ...] = (
    ("contract", 39, 400, False),
    ("contract", 184, 800, False),
    ("contract", 183, 150, False),
    ("contract", 19, 150, False),
    ("contract", 67, 150, False),
    ("contract", 180, 400, False),
    ("contract", 47, 800, False),
    ("contract", 7, 800, False),
    ("eoa", 88, 1500, True),
    ("eoa", 99, 1500, True),
    ("eoa", 64, 1500, True),
    ("eoa", 278, 800, False),
    ("eoa", 128, 400, False),
    ("eoa", 126, 2500, False),
    ("eoa", 266, 150, True),
    ("eoa", 127, 150, False),
    ("eoa", 87, 400, True),
    ("eoa", 34, 2500, False),
    ("cosmos", 118, 400, False),
    ("cosmos", 142, 2500, False),
    ("cosmos", 144, 1500, False),
    ("cosmos", 57, 150, False),
    ("cosmos", 180, 400, True),
    ("cosmos", 201, 150, True),
    ("cosmos", 212, 1500, True),
    ("cosmos", 234, 800, False),
    ("cosmos", 271, 1500, False),
    ("cosmos", 16, 800, True),
    ("cosmos", 211, 2500, True),
    ("rollup", 135, 800, False),
    ("rollup", 52, 800, False),
    ("rollup", 8, 400, False),
    ("rollup", 172, 800, False),
    ("rollup", 47, 800, False),
    ("rollup", 50, 1500, False),
    ("rollup", 252, 2500, False),
    ("rollup", 229, 2500, False),
    ("rollup", 210, 1500, False),
    ("contract", 2, 150, False),
    ("contract", 72, 150, False),
    ("eoa", 227, 1500, True),
    ("eoa", 133, 1500, True),
    ("cosmos", 128, 400, True),
    ("cosmos", 173, 800, True),
    ("cosmos", 32, 150, True),
    ("cosmos", 195, 2500, True),
    ("rollup", 110, 1500, False),
    ("rollup", 53, 2500, False),
    ("rollup", 34, 2500, False),
)
"""Kind, seed, the step after which the world is cut off, and whether one of its nodes lies.
Together they show every record, and every state of a lane, that 1,600 such worlds show."""

Disk = dict[str, bytes]
"""Files by their names."""


def main(target: Path) -> None:
    assert not target.exists(), "a released database is never made again"
    with tarfile.open(target, "w:xz") as archive:
        for name, files, settings in made():
            kept = {"settings.json": settings} | kept_of(files)
            for file, content in kept.items():
                entry = tarfile.TarInfo(f"{name}/{file}")
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))


def made() -> Iterator[tuple[str, Disk, bytes]]:
    unseen = dict(UNSEEN)
    for kind, seed, steps, lying in WORLDS:
        files, settings = cut_off(kind, seed, steps, lying=lying)
        more = added(kind, files, settings, unseen[kind]) if kind in unseen else None
        if more is not None:
            files = more
            del unseen[kind]
        name = f"{kind}-{seed}-lying" if lying else f"{kind}-{seed}"
        yield name, files, msgspec.json.encode(settings)
    yield "delivery-1", driven(deliver), b"{}"
    yield "audit-1", driven(audit), b"{}"


def cut_off(kind: str, seed: int, steps: int, *, lying: bool) -> tuple[Disk, Any]:
    """The disk of a world after so many steps, and the settings of its lanes."""
    shelf = SqliteDisk(seed)
    worlds = world_kind(kind)
    world = worlds.world(worlds.planned(seed, shared=False, lying=lying), shelf)
    world.boot()
    world.client.start()
    world.operator.start()
    world._until(lambda: world.steps >= steps)
    disk = shelf._disk
    names = ("world.db", "world.db-wal")
    found = {name: disk.content(name) for name in names}
    settings: Any = getattr(world, "settings", None) or world.plan.settings  # type: ignore[attr-defined]
    return {name: one for name, one in found.items() if one}, settings


def added(kind: str, files: Disk, settings: Any, told: Callable[[Any], list[Any]]) -> Disk | None:
    """A disk with what no world of its kind tells, told by hand of its first lane with a slot; None
    if it has none that is not halted."""
    with TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        path = Path(folder) / "world.db"
        book = SqliteBook(str(path))
        is_told = False
        for view in book.lanes(None, 100):
            machine = KINDS[kind](settings)
            if machine.describe(view.head.state).word == "halted":
                continue
            driver = Driver(book, machine, view.tail.lane)
            slots = getattr(driver.lane, "slots", {0: getattr(driver.lane, "slot", None)})
            open_ = [one for one in slots.values() if one is not None]
            bound = [one for one in open_ if getattr(one, "intent", "-") is not None]
            if bound:
                for record in told(bound[0]):
                    driver.commit((record,))
                is_told = True
                break
        book.close()
        return {"world.db": path.read_bytes()} if is_told else None


KINDS: dict[str, Callable[[Any], LaneKind]] = {
    "contract": contract_kind,
    "eoa": eoa_kind,
    "cosmos": sequence_kind,
    "rollup": bundle_kind,
}
UNSEEN: dict[str, Callable[[Any], list[Any]]] = {
    "contract": lambda slot: [ModeChanged("draining", "why", "ann", 9, slot.seq, 1)],
    "eoa": lambda slot: [
        ContentReplaced(Content(slot.intent, slot.seq, 0, 1, b"other"), "why", "ann"),
        ModeChanged("draining", "why", "ann", 9, 3, 1),
    ],
    "cosmos": lambda _slot: [LaneHalted("the account was at sequence 9", 9)],
    "rollup": lambda slot: [
        SlotNumbered(slot.id, slot.number + 1),
        ModeChanged("halted", "4 blocks were dropped", "", 9),
    ],
}


def kept_of(files: Disk) -> Disk:
    """The database in one file, without what was deleted, and what is read from it."""
    with TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        path = Path(folder) / "world.db"
        connection = apsw.Connection(str(path))
        connection.execute("PRAGMA journal_mode = DELETE; VACUUM")
        connection.close()
        database = path.read_bytes()
        book = SqliteBook(str(path))
        events = [event for entry in feed(book) for event in events_of(entry)]
        book.close()
        return {"laneway.db": database, "events.json": msgspec.json.encode(events)}


def feed(book: SqliteBook) -> Iterator[Any]:
    cursor = ""
    while page := book.feed(cursor, 1_000):
        yield from page
        cursor = page[-1].cursor


# Lanes that no world has: driven by hand.


def accept(book: SqliteBook, lane: LaneId, *numbers: int) -> None:
    arrivals = [
        Arrival(
            id=intent_id(1_767_225_600_000, number.to_bytes(10, "big")),
            lane=lane,
            payload=b"message %d" % number,
            digest=b"digest of %d" % number,
            accepted_ms=1_767_225_600_000,
        )
        for number in numbers
    ]
    book.begin()
    book.accept(arrivals)
    flush(book)


class Driver:
    """Drives one lane, one commit an event."""

    def __init__(self, book: SqliteBook, kind: LaneKind, lane: LaneId) -> None:
        self.book = book
        self.kind = kind
        self.name = lane
        self.now_ms = 1_767_225_600_000
        self.book.begin()
        lease = self.book.claim(lane, Owner("a process of that release"), 0)
        flush(self.book)
        assert lease is not None
        self.lease = lease
        rows = self.book.load(lease)
        self.lane, self.version = kind.restore(rows), rows.head.version

    def tell(self, verb: str, word: str = "", **about: Any) -> None:
        self.book.begin()
        told = Command(0, self.name, verb, self.now_ms, "because", "an operator", word=word)
        command = self.book.tell(msgspec.structs.replace(told, **about))
        flush(self.book)
        self.happened(self.kind.commanded(self.now_ms, command), command.id)

    def pull(self) -> None:
        page = self.book.backlog(self.lease, self.kind.cursors(self.lane), 16)
        for intent in page.intents:
            self.lane.intents[intent.id] = intent
        self.happened(self.kind.offered(self.now_ms, page.intents))

    def happened(self, event: Any, *answered: int) -> None:
        self.now_ms += 100
        self.commit(self.kind.decide(self.lane, event).records, *answered)

    def commit(self, told: tuple[Any, ...], *answered: int) -> None:
        touched = [touch for record in told for touch in self.kind.evolve(self.lane, record)]
        touched += self.kind.left(self.lane)
        head = self.kind.head(self.lane, self.kind.deadline(self.lane))
        records = self.kind.encode(told)
        self.version += 1
        self.book.begin()
        write = Write(head, tuple(touched), answered, self.now_ms, records)
        self.book.commit(self.lease, self.version, write)
        flush(self.book)


def driven(story: Callable[[str], SqliteBook]) -> Disk:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "world.db"
        story(str(path)).close()
        return {"world.db": path.read_bytes()}


def opened(path: str, kind: LaneKind, lane: LaneId) -> Driver:
    book = SqliteBook(path)
    accept(book, lane, 1)
    return Driver(book, kind, lane)


def deliver(path: str) -> SqliteBook:
    driver = opened(path, delivery_kind(), LaneId("delivery:hook"))
    lane = driver.lane

    def post(slot: int, code: int | None, reason: str = "") -> None:
        attempt = lane.slots[slot].attempt
        driver.happened(PostReturned(driver.now_ms, slot, attempt, 7, code, reason, b"body"))

    accept(driver.book, driver.name, 2, 3, 4, 5, 6)
    driver.pull()
    post(1, 200)
    post(2, 500, "it fails")
    driver.happened(PostDeclined(driver.now_ms, 3, 1))
    driver.now_ms += 10_000
    driver.happened(driver.kind.woken(driver.now_ms))
    for _ in range(8):
        post(4, None, "no answer")
        if 4 in lane.slots:
            driver.now_ms = lane.slots[4].retry_ms
            driver.happened(driver.kind.woken(driver.now_ms))
    driver.tell("fed", "a cursor of the feed")
    driver.tell("pause")
    accept(driver.book, driver.name, 7, 8)
    waiting = driver.book.backlog(driver.lease, driver.kind.cursors(lane), 16).intents
    driver.tell("cancel", intent=waiting[0].id, seq=waiting[0].seq, size=waiting[0].size())
    driver.tell("dance")
    driver.tell("resume")
    post(5, 410, "gone")
    return driver.book


def audit(path: str) -> SqliteBook:
    driver = opened(path, audit_kind(), LaneId("audit:operators"))
    accept(driver.book, driver.name, 2, 3)
    driver.pull()
    driver.tell("pause")
    accept(driver.book, driver.name, 4)
    return driver.book


if __name__ == "__main__":
    main(Path(sys.argv[1]))
