"""Rollups' log lines, with the words of seed 000."""

import logging
from typing import Any, get_args

import pytest
from msgspec.structs import replace
from tests.kinds.rollup.ear import LANE, Ear
from tests.kinds.rollup.test_events import AT, MAKING, OUT, PACKAGE, SLOT, TELL, TOLD, TX, VERSION
from tests.lanes.bundle.stage import SETTINGS, Stage, submitted

from laneway.core.ids import LaneId
from laneway.core.intent import Accepted, Arrival
from laneway.core.jam import SlotClock
from laneway.core.rows import Result
from laneway.kinds.rollup.log import CHANGES, COUNTED, LINES, BundleLog
from laneway.lanes.bundle import records as v
from laneway.lanes.bundle import rows as r
from laneway.lanes.bundle.lane import BundleLane, put_slot
from laneway.lanes.bundle.packages import why_useless
from laneway.lanes.bundle.released import (
    SlotChanged,
    VersionChanged,
    slot_changed,
    version_changed,
)
from laneway.lanes.common.heads import encode

NAME = "laneway.bundle"
NAMED = PACKAGE.hex()


def said(
    caplog: pytest.LogCaptureFixture,
    *records: Any,
    lane: BundleLane | None = None,
    level: int = logging.DEBUG,
) -> list[str]:
    caplog.clear()
    with caplog.at_level(level, NAME):
        BundleLog(lambda _: lane).notified(LANE, records, ())
    return [record.getMessage() for record in caplog.records]


def test_states_are_told_in_the_words_of_the_seed(caplog: pytest.LogCaptureFixture) -> None:
    ear = Ear()
    log = BundleLog(lambda _: ear.lane)
    ear.listeners = (log,)
    ear.accept(3)
    with caplog.at_level(logging.INFO, NAME):
        ear.run(12)
    hash_ = ear.lane.finished[1].package_hash.hex()
    told = [record.getMessage() for record in caplog.records if "Marked" in record.getMessage()]
    tail = f"lane={LANE} bundleID=B-1 blockNumber=1"
    assert told == [
        f"Queue: Marked queued {tail} txCount=3",
        f"Queue: Marked submitted {tail} version=1 wpHash={hash_} txCount=3",
        f"Queue: Marked guaranteed (core now free!) {tail} version=1 wpHash={hash_} txCount=3",
        f"Queue: Marked accumulated (cleanup) {tail} version=1 wpHash={hash_} txCount=3",
        f"Queue: Marked finalized {tail} version=1 wpHash={hash_} txCount=3",
    ]
    lines = [record.getMessage() for record in caplog.records]
    assert (
        f"Queue Runner: In submission window lane={LANE} queued=0 submitted=1 guaranteed=0 "
        "canSubmit=false"
    ) in lines
    removed = f"Removing accumulated transactions from txpool {tail} wpHash={hash_} txCount=3"
    assert lines.count(removed.replace(" lane", " lane", 1)) == 1
    assert any(
        line.startswith("Queue: Bundle built") and f"wpHash={hash_} anchorSlot=" in line
        for line in lines
    )
    assert not any("Transaction" in line for line in lines), "they are told with their block"


def test_a_version_that_did_not_win_is_rejected_in_the_words_of_the_seed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stage = submitted()
    stage.lane.head.duplicate_guarantees = 1
    counted = v.Counted("duplicate_guarantee", 1, 2, 1)
    assert said(caplog, counted, lane=stage.lane) == [
        f"Rejecting guarantee for non-winning version lane={LANE} bundleID=B-1 blockNumber=1 "
        "version=2 winningVersion=1",
        f"Queue Metrics lane={LANE} duplicateGuaranteesRejected=1 duplicateAccumulatesRejected=0 "
        "nonWinningVersionsCanceled=0 overruled=0",
    ]
    assert caplog.records[0].levelno == logging.WARNING
    for what, (level, message) in COUNTED.items():
        (line,) = said(caplog, v.Counted(what, 3, 2, 1))
        assert line.startswith(f"{message} lane=")
        assert caplog.records[0].levelno == level


def test_a_retry_says_which_it_is_and_that_the_bytes_are_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stage = submitted()
    again = replace(stage.version(1), sends=2, serial=2)
    first, _window = said(
        caplog, version_changed(VersionChanged(again, "offered")), lane=stage.lane
    )
    assert first.startswith(
        f"Queue Runner: Fast retry, the same bytes again lane={LANE} bundleID=B-1 blockNumber=1 "
    )
    assert 'attempt="2 of 8"' in first
    # Without the lane at hand it says what the record does.
    (alone,) = said(caplog, version_changed(VersionChanged(VERSION, "offered")))
    assert alone.startswith("Queue Runner: Submitting bundle")
    assert "blockNumber=None" in alone
    assert "attempt=1 " in alone


def test_a_stale_anchor_is_told_in_the_words_of_the_seed(caplog: pytest.LogCaptureFixture) -> None:
    stage: Stage = submitted()
    old = replace(stage.version(1), born=-20, anchor=AT, first_ms=None)
    reason = why_useless(stage.lane, old, None)
    (line,) = said(caplog, v.VersionDiscarded(1, 1, reason))
    assert line.startswith("Queue Runner: Bundle anchor getting stale, will rebuild")
    (line,) = said(caplog, v.VersionDiscarded(1, 1, "another version was guaranteed"))
    assert line.startswith("Queue Runner: Version thrown away before anyone heard of it")


WHATS = (
    *("delayed", "requeued", "won", "undecided", "overdue", "waits", "revived", "hopeless"),
    *("popped", "unpopped", "retried"),
)


def holding(slot: r.Slot) -> BundleLane:
    lane = BundleLane(LANE, SETTINGS)
    put_slot(lane, slot)
    return lane


@pytest.mark.parametrize("what", WHATS)
def test_what_happens_to_a_block_has_a_line(what: str, caplog: pytest.LogCaptureFixture) -> None:
    slot = replace(
        SLOT, wait_reason="so", tries=2, faults=1, overdue=3, retry_ms=9, making=MAKING,
        winner=1, overdue_ms=9,
    )  # fmt: skip
    record = slot_changed(SlotChanged(slot, what))
    (line,) = said(caplog, record, lane=holding(slot))
    level, message = CHANGES[type(record)]
    assert line.startswith(f"{message} lane={LANE} bundleID=B-3 blockNumber=7 version=1")
    assert caplog.records[0].levelno == level
    assert ("reason=so" in line) == (what != "won")
    assert ("tries=2" in line) == (what == "delayed")
    assert ("nextVersion=2 faults=1" in line) == (what == "requeued")
    assert ("overdue=3" in line) == (what == "overdue")


def test_bookkeeping_has_none(caplog: pytest.LogCaptureFixture) -> None:
    for record in (
        v.AccumulationNotified(3, True),
        v.WaitChanged(3, ""),
        v.TellOwed(replace(TELL, word="finalised")),
        v.WindowAwaited(None),
        v.LookEnded(9),
    ):
        assert said(caplog, record) == []


DEAD = r.Fact(r.FactKind.DEAD, AT, 9, words="its anchor is no recent block any more")
YES = r.Answered("a", 0, "taken", "accepted", False)
NO = r.Answered("a", 0, "core_busy", "refused", False, "core engaged")

VERSIONS: list[tuple[r.Version, str, int, str]] = [
    (replace(VERSION, facts=(DEAD,)), "dead", logging.WARNING, "Queue: Version can land no more"),
    (
        replace(VERSION, facts=(replace(DEAD, by_prerequisite=True),)),
        "dead",
        logging.WARNING,
        "Queue: Version dies with the one that it names",
    ),
    (VERSION, "gone", logging.WARNING, "Queue: A fork took back what was seen"),
    (VERSION, "seen", logging.DEBUG, "Queue: Seen on the chain"),
    (replace(VERSION, answers=(YES,)), "answered", logging.DEBUG, "Queue Runner: Taken by a node"),
    (
        replace(VERSION, answers=(NO,)),
        "answered",
        logging.WARNING,
        "Queue Runner: Submission failed, tried again",
    ),
    (
        replace(VERSION, answers=(NO,), is_refused=True),
        "answered",
        logging.WARNING,
        "Queue Runner: Refused for good by every node",
    ),
]


@pytest.mark.parametrize(("version", "what", "level", "message"), VERSIONS)
def test_what_happens_to_a_version_has_a_line(
    version: r.Version, what: str, level: int, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    (line,) = said(caplog, version_changed(VersionChanged(version, what)))
    assert line.startswith(f"{message} lane={LANE} bundleID=B-3")
    assert f"wpHash={NAMED}" in line
    assert caplog.records[0].levelno == level


def test_a_drop_and_what_goes_with_it_are_errors(caplog: pytest.LogCaptureFixture) -> None:
    failed = v.TellOwed(replace(TELL, word="failed", reason="enough"))
    told = said(
        caplog, failed, v.BlockDropped(3, "enough", 9), v.BlockDropped(4, "enough", 9, False)
    )
    assert [line.split(" lane=")[0] for line in told] == [
        "Returning transactions of a failed bundle to txpool",
        "Queue: Max retries exceeded, bundle dropped",
        "Queue: Bundle dropped with the one it was built on",
    ]
    assert "blockNumber=7" in told[1]
    assert [record.levelno for record in caplog.records[1:]] == [logging.ERROR] * 2


def test_what_goes_back_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    restored = v.TellOwed(replace(TELL, word="restored", reason="a fork"))
    back = v.StatusChanged(3, 7, 1, "accumulated", "submitted")
    told = said(caplog, restored, back, level=logging.WARNING)
    assert told[0].startswith("Restoring transactions to txpool")
    assert told[1].startswith("Queue: Marked submitted")
    assert told[1].endswith("was=accumulated")
    (line,) = said(caplog, v.StatusChanged(3, 7, 0, "queued", "building"))
    assert line.startswith("Queue: Marked building")


def test_a_clock_that_is_off_is_told_once_until_it_is_right(
    caplog: pytest.LogCaptureFixture,
) -> None:
    lane = BundleLane(LANE, SETTINGS)
    log = BundleLog(lambda _: lane)

    def look(skew_ms: int | None) -> None:
        clock = SlotClock(slot_ms=6_000, slot=1, heard_ms=1, begin_ms=0, skew_ms=skew_ms)
        lane.head.clock = clock
        log.notified(LANE, (v.LookEnded(9, clock),), ())

    with caplog.at_level(logging.DEBUG, NAME):
        for skew_ms in (0, None, 1_500, 1_600, -900, -2_000):
            look(skew_ms)
        log.closed(LANE)
        look(-2_000)
    off = "Queue Runner: Clock is off, nothing is built or submitted"
    told = [record.getMessage() for record in caplog.records]
    assert told == [
        f"{off} lane={LANE} skewMs=1500 skewMsMax=1000",
        f"Queue Runner: Clock is right again lane={LANE} skewMs=-900 skewMsMax=1000",
        f"{off} lane={LANE} skewMs=-2000 skewMsMax=1000",
        f"{off} lane={LANE} skewMs=-2000 skewMsMax=1000",
    ]


def test_a_chain_that_cannot_be_looked_at_is_told_once_until_it_can(
    caplog: pytest.LogCaptureFixture,
) -> None:
    lane = BundleLane(LANE, SETTINGS)
    log = BundleLog(lambda _: lane)

    def look(reason: str) -> None:
        lane.head.look_reason = reason
        log.notified(LANE, (v.LookEnded(9, reason=reason),), ())

    with caplog.at_level(logging.DEBUG, NAME):
        for reason in ("", "nobody answers", "nobody answers", "", ""):
            look(reason)
        look("away")
        log.closed(LANE)
        look("away")
    blind = "Queue Runner: Chain cannot be looked at"
    assert [record.getMessage() for record in caplog.records] == [
        f'{blind} lane={LANE} reason="nobody answers"',
        f"Queue Runner: Chain is seen again lane={LANE}",
        f"{blind} lane={LANE} reason=away",
        f"{blind} lane={LANE} reason=away",
    ]


def test_a_callback_that_failed_says_whose_it_was(caplog: pytest.LogCaptureFixture) -> None:
    told = said(caplog, v.TellsDelayed(9, "busy"), v.TellsDelayed(9, "full", r.Ear.BUILDER))
    assert told == [
        f"Callback failed, made again lane={LANE} ear=user reason=busy",
        f"Callback failed, made again lane={LANE} ear=builder reason=full",
    ]


def test_every_line_names_its_lane_and_no_other_kind_has_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for record, _ in TOLD:
        told = said(caplog, record)
        assert len(told) <= (type(record) in LINES), record
        assert all(f"lane={LANE}" in line for line in told)
    assert set(LINES) <= set(get_args(v.Record))
    with caplog.at_level(logging.DEBUG, NAME):
        caplog.clear()
        BundleLog().notified(LaneId("cosmos:a:b"), (v.BlockDropped(3, "x", 9),), ())
    assert not caplog.records
    assert said(caplog, v.BlockUnmade(3, (OUT,), 9)) == [
        f"Queue: Block unmade, nothing would be in it lane={LANE} bundleID=B-3 blockNumber=None "
        "left=1"
    ]
    late = replace(OUT, verdict=r.ExecutionVerdict.DEFERRED)
    for members, level in (((OUT, late), logging.WARNING), ((late,), logging.INFO)):
        said(caplog, v.BlockUnmade(3, members, 9))
        assert [record.levelno for record in caplog.records] == [level]


def test_an_end_without_a_block_is_told_and_one_with_a_block_only_to_who_asks(
    caplog: pytest.LogCaptureFixture,
) -> None:
    finished = r.Finished(3, 7, 1, PACKAGE, b"e" * 32, b"r" * 32, AT, 1, 1_000, 2_200)
    inside = Result(TX, "confirmed", 2_200, 7, b"\xab" * 32, "", encode(r.History(finished, 0)))
    outside = Result(TX, "expired", 5, reason="too late")
    for level, count in ((logging.INFO, 1), (logging.DEBUG, 2)):
        caplog.clear()
        with caplog.at_level(level, NAME):
            BundleLog().notified(LANE, (), (inside, outside))
        assert len(caplog.records) == count
    told = [record.getMessage() for record in caplog.records]
    assert told == [
        f"Transaction confirmed lane={LANE} tx={TX} status=confirmed bundleID=B-3 blockNumber=7 "
        f"blockTime=1.2s hash={'ab' * 32}",
        f'Transaction expired lane={LANE} tx={TX} status=expired reason="too late"',
    ]
    caplog.clear()
    with caplog.at_level(logging.INFO, NAME):
        BundleLog().accepted(Arrival(TX, LANE, b"", b"", 1), Accepted(TX, 1, 1, 1, True))
    assert caplog.records[0].getMessage() == f"Transaction queued lane={LANE} tx={TX} seq=1"
