"""Account lanes' log lines."""

import logging
from typing import Any, get_args

import msgspec
import pytest
from tests.kinds.evm.test_events import HASH, LANE, MINED, SLOT, TOLD, TX

from laneway.core.ids import LaneId
from laneway.core.intent import Accepted, Arrival
from laneway.core.rows import Result
from laneway.kinds.evm.log import LINES, EoaLog
from laneway.lanes.common.heads import encode
from laneway.lanes.eoa import rows as r
from laneway.lanes.eoa import values as v
from laneway.lanes.eoa.lane import replace

QUIET = "laneway.eoa"


def lines(caplog: pytest.LogCaptureFixture, *records: Any, level: int = logging.DEBUG) -> list[str]:
    caplog.clear()
    with caplog.at_level(level, QUIET):
        EoaLog().notified(LANE, records, ())
    return [record.getMessage() for record in caplog.records]


def test_the_cleanup_report_has_the_seeds_six_names(caplog: pytest.LogCaptureFixture) -> None:
    report = r.Cleanup(9, 1, 2, 3, 0, 0, 6)
    assert lines(caplog, v.CleanupDone(report)) == [
        f"CleanupReport lane={LANE} moved_to_success=1 moved_to_pending=2 noop_count=3 "
        "cross_nonce_violations=0 per_nonce_violations=0 nonces_without_receipts=6"
    ]
    assert caplog.records[0].levelno == logging.INFO
    lines(caplog, v.CleanupDone(replace(report, per_nonce_violations=1)))
    assert caplog.records[0].levelno == logging.ERROR


def test_every_line_names_its_lane_and_every_kind_that_has_one_is_written(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reorg = v.HeadMoved(9, b"", 4)
    for record in (*(one for one, _, _ in TOLD), reorg):
        said = lines(caplog, record)
        assert len(said) == (type(record) in LINES)
        assert all(f"lane={LANE}" in line for line in said)
    assert lines(caplog, reorg) == [f"Reorg lane={LANE} block=9 fork=4"]
    assert set(LINES) <= set(get_args(v.Record))


def test_taken_back_by_a_reorg_is_said_only_of_reorgs(caplog: pytest.LogCaptureFixture) -> None:
    # A record of the first release has none of the last three fields.
    old = msgspec.msgpack.encode(["AttemptReoffered", 3, 1, TX, HASH])
    reminded = msgspec.msgpack.decode(old, type=v.AttemptReoffered)
    (line,) = lines(caplog, reminded)
    assert line.startswith(f"Transaction sent again lane={LANE} tx={TX}")
    assert "may have forgotten it" in line
    (line,) = lines(caplog, replace(reminded, at_ms=7, reason="32 attempts"))
    assert 'reason="32 attempts"' in line
    (line,) = lines(caplog, replace(reminded, reorg=True))
    assert line.startswith("Transaction taken back by a reorg, sent again")


def test_what_every_transaction_does_is_silent_unless_it_is_asked_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    included = v.SlotIncluded(3, MINED, TX, 7, HASH)
    assert lines(caplog, included, level=logging.WARNING) == []
    assert lines(caplog, included) == [f"Transaction included lane={LANE} tx={TX} nonce=7 block=88"]


def test_the_total_time_is_since_the_acceptance_whatever_restarted_meanwhile(
    caplog: pytest.LogCaptureFixture,
) -> None:
    slot = replace(SLOT, accepted_ms=1_000, claimed_ms=61_000)
    ended = Result(TX, "confirmed", 62_000, 7, HASH, "", encode(r.History(slot, ())))
    with caplog.at_level(logging.INFO, QUIET):
        EoaLog().notified(LANE, (), (ended,))
    assert "totalTime=1m1s" in caplog.records[0].getMessage()


def test_an_end_says_what_it_took(caplog: pytest.LogCaptureFixture) -> None:
    history = r.History(replace(SLOT, seen=MINED), ())
    ended = Result(TX, "confirmed", 1_201, 7, HASH, "", encode(history))
    refused = Result(TX, "refused", 5, reason="it is too large")
    with caplog.at_level(logging.INFO, QUIET):
        EoaLog().notified(LANE, (), (ended, refused))
        EoaLog().notified(LaneId("contract:Qm1"), (), (ended,))
        arrival = Arrival(TX, LANE, b"", b"", 1)
        EoaLog().accepted(arrival, Accepted(TX, 1, 1, 1, True))
        EoaLog().accepted(replace(arrival, lane=LaneId("contract:Q")), Accepted(TX, 1, 1, 1, True))
    first, second, third = (record.getMessage() for record in caplog.records)
    assert "Transaction confirmed" in first
    assert "nonce=7 attempts=0 totalTime=1.2s block=88 gasUsed=0" in first
    assert 'status=refused reason="it is too large"' in second
    assert third == f"Transaction queued lane={LANE} tx={TX} seq=1"
