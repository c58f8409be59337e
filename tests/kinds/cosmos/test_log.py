"""Cosmos accounts' log lines, and their numbers."""

import logging
from typing import Any, get_args

import pytest
from msgspec.structs import replace
from prometheus_client import CollectorRegistry, generate_latest
from tests.kinds.cosmos.test_events import GONE, HASH, LANE, NAMED, SEEN, SLOT, TOLD, TX

from laneway.core.ids import LaneId
from laneway.core.intent import Accepted, Arrival
from laneway.core.rows import Result
from laneway.kinds.cosmos.log import LINES, SequenceLog
from laneway.kinds.cosmos.metrics import SequenceMetrics
from laneway.lanes.common.heads import encode
from laneway.lanes.sequence import rows as r
from laneway.lanes.sequence import values as v
from laneway.lanes.sequence.recovery import began
from laneway.lanes.sequence.released import SlotChanged, slot_changed

NAME = "laneway.sequence"
BAD = r.Node("a", 3, height=9, gate=9, reason="wrong_sequence: x", expected=2, ours=3)


def lines(
    caplog: pytest.LogCaptureFixture,
    *commits: tuple[Any, ...],
    level: int = logging.DEBUG,
    log: SequenceLog | None = None,
) -> list[str]:
    caplog.clear()
    log = log or SequenceLog()
    with caplog.at_level(level, NAME):
        for records in commits:
            log.notified(LANE, records, ())
    return [record.getMessage() for record in caplog.records]


def test_a_recovery_says_why_what_is_expected_and_what_happens_next(
    caplog: pytest.LogCaptureFixture,
) -> None:
    commits = [(began(BAD),), (v.NodeChanged(BAD),), (v.RecoveryEnded("a", BAD.reason),)]
    assert lines(caplog, *commits, level=logging.WARNING) == [
        f'Recovery entered lane={LANE} node=a reason="wrong_sequence: x" expected=2 ours=3 next=3 '
        'height=9 then="asked again after block 9"',
        f'Recovery left lane={LANE} node=a reason="wrong_sequence: x"',
    ]
    back = r.Node("b", 3, reason="evicted: sequence 3")
    assert lines(caplog, (began(back),)) == [
        f'Recovery entered lane={LANE} node=b reason="evicted: sequence 3" next=3 height=0 '
        'then="offered again from sequence 3 on"'
    ]


def test_every_line_names_its_lane_and_every_kind_that_has_one_is_written(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for told, _, _ in TOLD:
        record = slot_changed(told) if isinstance(told, SlotChanged) else told
        said = lines(caplog, (record,))
        assert len(said) == (type(record) in LINES), record
        assert all(f"lane={LANE}" in line for line in said)
    assert set(LINES) <= set(get_args(v.Record))


def test_what_every_transaction_does_is_silent_unless_it_is_asked_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    signed = v.AttemptSigned(SLOT, b"")
    assert lines(caplog, (signed,), level=logging.WARNING) == []
    assert lines(caplog, (signed,)) == [
        f"Attempt signed lane={LANE} tx={TX} sequence=7 attempt=1 purpose=intent hash={NAMED} "
        "gas=100000 fee=400 timeoutHeight=40"
    ]


def test_the_total_time_is_since_the_acceptance_whatever_restarted_meanwhile(
    caplog: pytest.LogCaptureFixture,
) -> None:
    slot = replace(SLOT, accepted_ms=1_000, claimed_ms=61_000)
    ended = Result(TX, "confirmed", 62_000, 7, HASH, "", encode(r.History(slot, SEEN)))
    with caplog.at_level(logging.INFO, NAME):
        SequenceLog().notified(LANE, (), (ended,))
    assert "totalTime=1m1s" in caplog.records[0].getMessage()


def test_an_end_says_what_it_took(caplog: pytest.LogCaptureFixture) -> None:
    ended = Result(TX, "confirmed", 1_201, 7, HASH, "", encode(r.History(SLOT, SEEN)))
    doubt = Result(TX, "indeterminate", 5, 7, HASH, "who knows", encode(r.History(SLOT, raw=b"x")))
    log = SequenceLog()
    with caplog.at_level(logging.INFO, NAME):
        log.notified(LANE, (), (ended, doubt))
        log.notified(LaneId("contract:Qm1"), (), (ended,))
        arrival = Arrival(TX, LANE, b"", b"", 1)
        log.accepted(arrival, Accepted(TX, 1, 1, 1, True))
        log.accepted(replace(arrival, lane=LaneId("evm:1:0x")), Accepted(TX, 1, 1, 1, True))
    first, second, third = (record.getMessage() for record in caplog.records)
    assert "sequence=7 attempts=1 totalTime=1.2s height=88 code=0 gasUsed=0" in first
    assert f"hash={NAMED}" in first
    assert "status=indeterminate sequence=7" in second
    assert caplog.records[1].levelno == logging.ERROR
    assert third == f"Transaction queued lane={LANE} tx={TX} seq=1"


@pytest.mark.parametrize("per_lane", [False, True])
def test_what_happened_is_counted(per_lane: bool) -> None:
    registry = CollectorRegistry()
    meter = SequenceMetrics(registry, per_lane=per_lane)
    ended = Result(TX, "confirmed", 1_201, 7, HASH, "", encode(r.History(SLOT, SEEN)))
    dropped = Result(TX, "cancelled", 5)
    dead = slot_changed(SlotChanged(GONE, "dead"))
    records = (v.AttemptSigned(SLOT, b""), dead, v.NodeChanged(BAD), began(BAD))
    meter.notified(LANE, records, (ended, dropped))
    meter.notified(LANE, (v.NodeChanged(BAD), v.RecoveryEnded("a", BAD.reason)), ())
    meter.notified(LaneId("contract:Q"), records, (ended,))
    said = generate_latest(registry).decode()
    lane = f'lane="{LANE}"' if per_lane else ""
    for name in ("attempts", "attempts_ended", "recoveries"):
        labels = f"{{{lane}}}" if per_lane else ""
        assert f"laneway_cosmos_{name}_total{labels} 1.0" in said
    more = f"{lane}," if per_lane else ""
    for status in ("confirmed", "cancelled"):
        assert f'laneway_cosmos_transactions_total{{{more}result="{status}"}} 1.0' in said
    assert "laneway_cosmos_confirmation_seconds_sum" in said
