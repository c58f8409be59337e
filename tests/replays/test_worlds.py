"""Databases that releases wrote, of every kind of lane: they load, are read, and go on."""

import json
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct
from msgspec.structs import replace

from laneway.core.ids import LaneId, Owner
from laneway.core.rows import Command, FeedEntry, Lease, Write
from laneway.kinds.events import events_of
from laneway.lanes.audit import audit_kind
from laneway.lanes.bundle import BundleSettings, bundle_kind
from laneway.lanes.bundle import lane as bundle
from laneway.lanes.contract import ContractSettings, contract_kind
from laneway.lanes.contract import lane as contract
from laneway.lanes.delivery import lane as delivery
from laneway.lanes.delivery.machine import delivery_kind
from laneway.lanes.eoa import EoaSettings, eoa_kind
from laneway.lanes.eoa import lane as eoa
from laneway.lanes.kind import LaneKind
from laneway.lanes.sequence import SequenceSettings, sequence_kind
from laneway.lanes.sequence import lane as sequence
from laneway.stores.book import flush
from laneway.stores.sqlite import SqliteBook

RELEASES = sorted(Path(__file__).parent.glob("v*.tar.xz"))
TIMERS_MAX = 20
"""Times that a lane is woken: enough that whatever was due has been done."""

FINAL = ("confirmed", "reverted", "refused", "cancelled", "expired", "dead", "indeterminate")

TABLES = (
    *("slot", "slots", "attempts", "versions", "members", "returned", "tells", "chain", "bound"),
    *("contents", "waiting", "nonces", "numbers", "hashes", "watched", "finished"),
)
"""What a lane in memory is made of, its head aside."""


def by_settings(
    kind: Callable[[Any], LaneKind], settings: type[Struct]
) -> Callable[[bytes], LaneKind]:
    return lambda written: kind(msgspec.json.decode(written, type=settings))


KINDS: dict[str, tuple[Callable[[bytes], LaneKind], Callable[[bytes], Any] | None]] = {
    "contract": (by_settings(contract_kind, ContractSettings), contract.decode_history),
    "eoa": (by_settings(eoa_kind, EoaSettings), eoa.decode_history),
    "cosmos": (by_settings(sequence_kind, SequenceSettings), sequence.decode_history),
    "rollup": (by_settings(bundle_kind, BundleSettings), bundle.decode_history),
    "delivery": (lambda _: delivery_kind(), delivery.decode_history),
    "audit": (lambda _: audit_kind(), None),
}

TAGS = {
    "contract": (
        "SlotClaimed AttemptOffered AttemptDoubted AttemptRefused RetryPlanned SearchPlanned "
        "SlotSettled IntentDropped ModeChanged CommandRefused"
    ),
    "eoa": (
        "SlotClaimed SlotFellOut AccountSeen AttemptSigned Offered MakingDelayed MakingResumed "
        "AttemptsTaken AttemptAnswered ResendPlanned AttemptReoffered SlotFreed SlotDropped "
        "BumpOrdered ContentReplaced LookBegun LookEnded HeadMoved SlotIncluded ProofOrdered "
        "InclusionDenied ProofsPaced HaltJudged SlotSettled IntentDropped FundsJudged CleanupDone "
        "NoncesCrowded NoncesReset ModeChanged CommandRefused"
    ),
    "cosmos": (
        "SlotClaimed AttemptSigned SlotChanged.delayed SlotChanged.refused SlotChanged.unsure "
        "SlotChanged.dead SlotChanged.over SlotChanged.shown SlotChanged.proving "
        "SlotChanged.doubted SlotChanged.taken MakingDelayed MakingResumed NodeChanged Submitted "
        "AccountSeen LaneHalted AccountMissing SlotFellOut SlotsRenumbered SlotSettled "
        "SlotCorrected IntentDropped SequenceSet ModeChanged CommandRefused"
    ),
    "rollup": (
        "SlotClaimed BlockSealed BlockUnmade SlotChanged.retried SlotChanged.delayed "
        "SlotChanged.popped SlotChanged.unpopped SlotChanged.requeued SlotChanged.won "
        "SlotChanged.undecided SlotChanged.reopened SlotChanged.overdue SlotChanged.waits "
        "SlotChanged.told SlotChanged.submitted SlotChanged.revived SlotChanged.hopeless "
        "SlotChanged.canonical SlotChanged.accumulated SlotNumbered StatusChanged VersionSealed "
        "VersionChanged.offered VersionChanged.answered VersionChanged.seen VersionChanged.gone "
        "VersionChanged.dead VersionDiscarded Counted BlockDropped BlockFinalised ChainSeen "
        "LookBegun LookEnded BlockDue WindowAwaited TellOwed TellsBegun TellsDone TellsDelayed "
        "IntentDropped ModeChanged CommandRefused"
    ),
    "delivery": (
        "SlotClaimed AttemptBegun AttemptFailed AttemptPutOff SlotSettled IntentDropped "
        "ModeChanged FeedPassed CommandRefused"
    ),
    "audit": "EntryKept",
}
"""Each tag that the release of `v2` writes; of those that a word tells apart, each word."""

STATES = {
    "contract": "idle running recovering tripped halted paused draining",
    "eoa": "idle running paused draining halted",
    "cosmos": "idle running recovering paused draining halted",
    "rollup": "idle running paused draining halted",
    "delivery": "halted",
    "audit": "idle",
}


REWIRED = ("cosmos-144", "cosmos-271")
"""Worlds in which an operator named other nodes: their feeds were told under other settings."""


class World(Struct):
    name: str
    kind: str
    book: SqliteBook
    machine: LaneKind
    history: Callable[[bytes], Any] | None
    events: list[Any]

    def feed(self) -> Iterator[FeedEntry]:
        cursor = ""
        while page := self.book.feed(cursor, 1_000):
            yield from page
            cursor = page[-1].cursor

    def lanes(self) -> list[LaneId]:
        return [view.tail.lane for view in self.book.lanes(None, 100)]

    def claim(self, lane: LaneId) -> Lease:
        self.book.begin()
        lease = self.book.claim(lane, Owner("a process of today"), 0)
        flush(self.book)
        assert lease is not None
        return lease


def archived(release: Path) -> dict[str, dict[str, bytes]]:
    worlds: dict[str, dict[str, bytes]] = {}
    with tarfile.open(release) as archive:
        for entry in archive:
            content = archive.extractfile(entry)
            assert content is not None
            name, _, file = entry.name.partition("/")
            worlds.setdefault(name, {})[file] = content.read()
    return worlds


ARCHIVED = {
    f"{path.stem}/{name}": kept for path in RELEASES for name, kept in archived(path).items()
}


@pytest.fixture(params=ARCHIVED)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    kept = ARCHIVED[request.param]
    name = request.param.partition("/")[2]
    kind = name.partition("-")[0]
    path = tmp_path / "laneway.db"
    path.write_bytes(kept["laneway.db"])
    machine, history = KINDS[kind]
    book = SqliteBook(str(path))
    yield World(
        name, kind, book, machine(kept["settings.json"]), history, json.loads(kept["events.json"])
    )
    book.close()


def shape(world: World, lane: Any, *, is_rewired: bool = False) -> dict[str, Any]:
    """A lane, as far as its rows and records tell; bytes that are large stand in rows alone."""
    write = world.machine.head(lane, None)
    state = write.state
    if is_rewired:
        state = msgspec.msgpack.encode(replace(lane.head, nodes=(), is_rewired=False))
    found = {name: getattr(lane, name) for name in TABLES if hasattr(lane, name)}
    return {"head": state, "cursors": write.cursors, **found}


def test_a_release_is_kept_here() -> None:
    assert RELEASES


def test_every_tag_and_state_of_the_release_is_in_its_databases(tmp_path: Path) -> None:
    tags: dict[str, set[str]] = {kind: set() for kind in KINDS}
    states: dict[str, set[str]] = {kind: set() for kind in KINDS}
    for name, kept in ARCHIVED.items():
        kind = name.partition("/")[2].partition("-")[0]
        path = tmp_path / "laneway.db"
        path.write_bytes(kept["laneway.db"])
        book = SqliteBook(str(path))
        world = World(name, kind, book, KINDS[kind][0](kept["settings.json"]), None, [])
        for entry in world.feed():
            for tag, *fields in msgspec.msgpack.decode(entry.records):
                told = tag in ("SlotChanged", "VersionChanged")
                tags[kind].add(f"{tag}.{fields[1]}" if told else tag)
        for view in book.lanes(None, 100):
            states[kind].add(world.machine.describe(view.head.state).word)
        book.close()
    for kind, wanted in TAGS.items():
        assert set(wanted.split()) - tags[kind] == set(), kind
    for kind, wanted in STATES.items():
        assert set(wanted.split()) - states[kind] == set(), kind


def test_the_events_of_an_old_feed_are_those_that_its_release_told(world: World) -> None:
    told = [event for entry in world.feed() for event in events_of(entry)]
    assert msgspec.to_builtins(told) == world.events


def test_the_feed_of_an_old_database_folds_to_its_lanes(world: World) -> None:
    folded = {lane: world.machine.empty(lane) for lane in world.lanes()}
    for entry in world.feed():
        for record in world.machine.decode(entry.records):
            world.machine.evolve(folded[entry.lane], record)
    for lane, found in folded.items():
        loaded = world.machine.restore(world.book.load(world.claim(lane)))
        is_rewired = world.name in REWIRED
        wanted = shape(world, loaded, is_rewired=is_rewired)
        assert shape(world, found, is_rewired=is_rewired) == wanted


def test_what_became_of_its_intents_is_read(world: World) -> None:
    for status in FINAL:
        for found in world.book.page(status, None, 1_000):
            assert found.result is not None
            if found.result.history:
                assert world.history is not None
                world.history(found.result.history)


def test_every_lane_of_an_old_database_goes_on(world: World) -> None:
    for lane in world.lanes():
        going = Going(world, lane)
        going.told("pause")
        going.told("dance")
        going.told("resume")
        going.wake()
        going.pull()
        going.wake()
        going.told("drain", word="queue")
        going.cancel()
        going.told("resume")
        going.wake()
        going.pull()


class Going:
    """A lane that goes on from its rows: each event is decided, folded and committed, and what is
    loaded then is the lane in memory."""

    def __init__(self, world: World, lane: LaneId) -> None:
        self.world = world
        self.machine = world.machine
        self.lease = world.claim(lane)
        rows = world.book.load(self.lease)
        self.lane, self.version = self.machine.restore(rows), rows.head.version
        self.now_ms = max([entry.at_ms for entry in world.feed()], default=1)
        self.machine.resume(self.lane)

    def told(self, verb: str, **fields: Any) -> None:
        command = Command(0, self.lease.lane, verb, self.now_ms, "why", "ann", **fields)
        self.world.book.begin()
        command = self.world.book.tell(command)
        flush(self.world.book)
        self.happened(self.machine.commanded(self.now_ms, command), command.id)

    def cancel(self) -> None:
        page = self.world.book.backlog(self.lease, self.machine.cursors(self.lane), 1)
        for row in page.intents:
            place = {"seq": row.seq, "priority": row.priority, "size": row.size()}
            self.told("cancel", intent=row.id, **place)

    def pull(self) -> None:
        count = self.machine.wants(self.lane)
        if count:
            page = self.world.book.backlog(self.lease, self.machine.cursors(self.lane), count)
            for intent in page.intents:
                self.lane.intents[intent.id] = intent
            self.happened(self.machine.offered(self.now_ms, page.intents))

    def wake(self) -> None:
        for _ in range(TIMERS_MAX):
            wake_ms = self.machine.deadline(self.lane)
            if wake_ms is None:
                return
            self.now_ms = max(self.now_ms, wake_ms)
            self.happened(self.machine.woken(self.now_ms))

    def happened(self, event: Any, *answered: int) -> None:
        machine, book = self.machine, self.world.book
        decision = machine.decide(self.lane, event)
        touched = [one for record in decision.records for one in machine.evolve(self.lane, record)]
        touched += machine.left(self.lane)
        head = machine.head(self.lane, machine.deadline(self.lane))
        records = machine.encode(decision.records)
        self.version += 1
        book.begin()
        write = Write(head, tuple(touched), answered, self.now_ms, records)
        book.commit(self.lease, self.version, write)
        flush(book)
        loaded = machine.restore(book.load(self.lease))
        assert shape(self.world, loaded) == shape(self.world, self.lane)
        machine.resume(loaded)
