"""Which record of a bundle lane is which event, for every kind of record."""

from typing import Any, get_args

import msgspec
import pytest
from msgspec.structs import replace
from tests.kinds.rollup.ear import LANE, Ear

from laneway.core.ids import intent_id
from laneway.core.jam import JamBlockRef
from laneway.core.rows import FeedEntry
from laneway.kinds.events import events_of
from laneway.lanes.bundle import records as v
from laneway.lanes.bundle import rows as r
from laneway.lanes.bundle.released import SlotChanged, VersionChanged
from laneway.lanes.common import values as shared
from laneway.wire.values import EventBody

TX, OTHER, THIRD = (intent_id(n, bytes(10)) for n in (1, 2, 3))
HASH, PACKAGE = b"\xab" * 32, b"\xcd" * 32
NAMED, NAMED_PACKAGE = "0x" + "ab" * 32, "0x" + "cd" * 32
AT = JamBlockRef(b"\x01" * 32, 40)
SLOT = r.Slot(
    id=3, number=7, event_id=1, add_ms=1, made_ms=1, order=1, count=2, size=9, version=1,
    building=False, block=b"\xee" * 32,
)  # fmt: skip
VERSION = r.Version(
    slot=3, version=1, package_hash=PACKAGE, anchor=AT, lookup_anchor=AT, core=0,
    prerequisites=(), built_ms=1, size=300, sends=1, serial=1, first_ms=1, last_ms=1,
)  # fmt: skip
MAKING = r.Making(1, 2, (), 0, 1, 9)
WON = replace(SLOT, winner=1, overdue_ms=9)
IN = r.Member(TX, 1, 0, 9, HASH, r.ExecutionVerdict.INCLUDED)
BACK = r.Member(OTHER, 2, 0, 9, b"\xac" * 32, r.ExecutionVerdict.REVERTED, "no funds")
OUT = r.Member(THIRD, 3, 0, 9, b"", r.ExecutionVerdict.REFUSED, "its nonce was used")
LATER = r.Member(THIRD, 3, 0, 9, b"", r.ExecutionVerdict.DEFERRED)
DONE = r.Member(
    OTHER, 2, 0, 9, HASH, r.ExecutionVerdict.APPLIED, "no funds",
    receipt=r.LineReceipt(4, b"\x03" * 32, 0, PACKAGE, False),
)  # fmt: skip
"""It was executed in a block that others brought."""
TELL = r.Tell(1, "accumulated", 3, 7, 1, PACKAGE, b"\xee" * 32, b"\x02" * 32, (HASH,), 9)

BLOCK = {"bundle": "B-3", "block": 7}
MOVED = {"bundle": "B-3", "block": 7, "package_version": 1}
Told = list[tuple[str, dict[str, Any]]]

TOLD: list[tuple[Any, Told]] = [
    (v.SlotClaimed(SLOT, (IN,), 9), []),
    (
        v.BlockSealed(SLOT, (IN, BACK, OUT), b"", 9),
        [
            ("transaction.queued", {"tx": TX, "status": "queued", "hash": NAMED, **BLOCK}),
            (
                "transaction.queued",
                {
                    "tx": OTHER,
                    "status": "queued",
                    "hash": "0x" + "ac" * 32,
                    "reason": "no funds",
                    **BLOCK,
                },
            ),
            (
                "transaction.refused",
                {"tx": THIRD, "status": "refused", "reason": "its nonce was used"},
            ),
        ],
    ),
    (
        v.BlockUnmade(3, (OUT, LATER), 9),
        [
            (
                "transaction.refused",
                {"tx": THIRD, "status": "refused", "reason": "its nonce was used"},
            )
        ],
    ),
    (
        v.BlockUnmade(3, (DONE,), 9),
        [
            (
                "transaction.reverted",
                {
                    "tx": OTHER,
                    "status": "reverted",
                    "hash": NAMED,
                    "reason": "no funds",
                    "block": 4,
                    "package": NAMED_PACKAGE,
                },
            )
        ],
    ),
    (
        v.BlockUnmade(3, (replace(OUT, verdict=r.ExecutionVerdict.EXPIRED, reason="late"),), 9),
        [("transaction.expired", {"tx": THIRD, "status": "expired", "reason": "late"})],
    ),
    (v.BlockShrunk(3, 2, (IN,), "so"), []),
    (v.BlockOnLine(3, r.LinePlace(PACKAGE, AT)), []),
    (v.LineMoved(9, 2, 9), []),
    (SlotChanged(WON, "won"), []),
    (v.BuildDelayed(3, 9, 1, "no"), []),
    (v.BuildRetried(3, 2), []),
    (v.StartsCounted(3, 2), []),
    (v.VersionOrdered(3, MAKING), []),
    (v.VersionPutBack(3, 1), []),
    (v.BlockRequeued(3, 2, 9, 1, "so"), []),
    (v.BlockRevived(3), []),
    (v.BlockHopeless(3), []),
    (v.VersionWon(3, 1, 1, 9), []),
    (v.WinnerLost(3, True), []),
    (v.WaitChanged(3, "so"), []),
    (v.OverdueCounted(3, 1, 9, "so"), []),
    (v.OverdueEnded(3), []),
    (v.NumberConfirmed(3), []),
    (v.PackageAwaited(3, 9, "so"), []),
    (v.AccumulationNotified(3, True), []),
    (v.SlotNumbered(3, 7), [("bundle.renumbered", BLOCK)]),
    (
        v.StatusChanged(3, 7, 0, "building", "queued"),
        [("bundle.queued", {**BLOCK, "status": "queued"})],
    ),
    (
        v.StatusChanged(3, 7, 1, "submitted", "queued"),
        [("bundle.queued", {**MOVED, "status": "queued", "reason": "it was submitted"})],
    ),
    (
        v.StatusChanged(3, 7, 1, "queued", "submitted"),
        [("bundle.submitted", {**MOVED, "status": "submitted"})],
    ),
    (
        v.StatusChanged(3, 7, 1, "submitted", "guaranteed"),
        [("bundle.guaranteed", {**MOVED, "status": "included"})],
    ),
    (
        v.StatusChanged(3, 7, 1, "guaranteed", "accumulated"),
        [("bundle.accumulated", {**MOVED, "status": "included"})],
    ),
    (v.StatusChanged(3, 7, 1, "accumulated", "finalised"), [("bundle.finalised", MOVED)]),
    (v.VersionSealed(SLOT, VERSION, b""), []),
    (VersionChanged(VERSION, "offered"), []),
    (v.VersionOffered(3, 1, PACKAGE, ("a",), 1, 1, 1, 1, 0), []),
    (v.VersionAnswered(3, 1, PACKAGE, True, False, False, 0, ()), []),
    (v.FactsSeen(3, 1, PACKAGE, ()), []),
    (v.FactsTakenBack(3, 1, PACKAGE, (), 0), []),
    (v.VersionDied(3, 1, PACKAGE, ()), []),
    (v.VersionDiscarded(3, 1, "old"), []),
    (v.Counted("duplicate_guarantee", 3, 2, 1), []),
    (
        v.BlockDropped(3, "enough", 9),
        [("bundle.dropped", {"bundle": "B-3", "status": "queued", "reason": "enough"})],
    ),
    (
        v.BlockFinalised(3, 1, 9, (IN, BACK)),
        [
            (
                "transaction.confirmed",
                {
                    "tx": TX,
                    "status": "confirmed",
                    "hash": NAMED,
                    "bundle": "B-3",
                    "package_version": 1,
                },
            ),
            (
                "transaction.reverted",
                {
                    "tx": OTHER,
                    "status": "reverted",
                    "hash": "0x" + "ac" * 32,
                    "reason": "no funds",
                    "bundle": "B-3",
                    "package_version": 1,
                },
            ),
        ],
    ),
    (v.ChainSeen(None, (AT,), AT), []),
    (v.LookBegun(), []),
    (v.LookEnded(9), []),
    (v.ClockSetBack(9), []),
    (v.BlockDue(), []),
    (v.WindowAwaited(9), []),
    (v.TellOwed(TELL), []),
    (
        v.TellOwed(replace(TELL, word="restored", reason="a fork")),
        [
            (
                "bundle.restored",
                {**MOVED, "count": 1, "package": NAMED_PACKAGE, "reason": "a fork"},
            )
        ],
    ),
    (v.TellsBegun(1), []),
    (v.TellsDone(1), []),
    (v.TellsDelayed(9, "busy"), []),
    (
        shared.IntentDropped(TX, 1, 0, 9, "expired", "too late", 9),
        [("transaction.expired", {"tx": TX, "status": "expired", "reason": "too late"})],
    ),
    (
        shared.ModeChanged("halted", "three drops", "", 9),
        [("lane.halted", {"reason": "three drops"})],
    ),
    (
        shared.ModeChanged("running", "again", "ann", 9),
        [("lane.resumed", {"reason": "again", "by": "ann"})],
    ),
    (
        shared.CommandRefused("cancel", "it is in a block", TX),
        [("lane.command_refused", {"tx": TX, "reason": "cancel: it is in a block"})],
    ),
]


def entry(*records: Any) -> FeedEntry:
    return FeedEntry("1", LANE, 5, 1_000, msgspec.msgpack.encode(records))


@pytest.mark.parametrize(("record", "told"), TOLD)
def test_a_record_is_told_as(record: Any, told: Told) -> None:
    # Other numbers and hashes stand in neighbours of the same commit, which is another law.
    found = [(event.type, event.data) for event in events_of(entry(record))]
    assert [kind for kind, _ in found] == [kind for kind, _ in told]
    for (_, body), (_, wanted) in zip(found, told, strict=True):
        known = msgspec.to_builtins(EventBody(lane=LANE, version=5, **wanted))
        assert known.items() <= msgspec.to_builtins(body).items()


def test_every_kind_of_record_has_its_law() -> None:
    old = {SlotChanged, VersionChanged}
    assert {type(record) for record, _ in TOLD} == {*get_args(v.Record), *old}


def test_a_blocks_number_hash_and_count_come_from_the_same_commit() -> None:
    moved = v.StatusChanged(3, 7, 1, "queued", "submitted")
    old = VersionChanged(VERSION, "offered"), SlotChanged(SLOT, "submitted"), moved
    new = v.FactsSeen(3, 1, PACKAGE, ()), replace(moved, count=2)
    for records in (old, new):
        (event,) = events_of(entry(*records))
        body = event.data
        assert (body.package, body.count, body.block) == (NAMED_PACKAGE, 2, 7)
    failed = replace(TELL, word="failed")
    (event,) = events_of(entry(v.TellOwed(failed), v.BlockDropped(3, "enough", 9)))
    assert (event.data.block, event.data.count) == (7, 1)


def test_each_transaction_is_told_with_its_block_and_with_its_end_and_not_in_between() -> None:
    ear = Ear(block_txs_max=3)
    sent = ear.accept(5)
    ear.run(14)
    assert ear.statuses() == ["confirmed"] * 5
    events = ear.events()
    of_txs = [event for event in events if event.type.startswith("transaction.")]
    for word in ("queued", "confirmed"):
        told = [event.data.tx or "" for event in of_txs if event.type == f"transaction.{word}"]
        assert sorted(told) == sorted(sent)
    assert len(of_txs) == 10
    words = [event.type for event in events if event.data.bundle == "B-1" and event.data.tx is None]
    assert words == [
        "bundle.queued", "bundle.submitted", "bundle.guaranteed", "bundle.accumulated",
        "bundle.finalised",
    ]  # fmt: skip
    blocks = [event for event in events if event.type.startswith("bundle.")]
    assert all(event.data.block for event in blocks)
    later = [event.data for event in blocks if event.type != "bundle.queued"]
    assert all(body.package and body.package_version == 1 for body in later)
    ends = [event.data for event in of_txs if event.type == "transaction.confirmed"]
    assert {body.block for body in ends} == {1, 2}
    assert all(body.package and body.hash and body.bundle for body in ends)


def test_what_ends_without_a_block_is_told_at_once() -> None:
    ear = Ear()
    first, second = ear.accept(2)
    ear.pull()
    ear.build(t0="refused")
    told = {event.data.tx: event.type for event in ear.events()}
    assert (told[first], told[second]) == ("transaction.refused", "transaction.queued")
