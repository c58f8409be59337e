"""The queue's log lines: the seed's words and fields (004 §10), in its order."""

import asyncio
import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from laneway.core.ids import LaneId, intent_id
from laneway.core.intent import Accepted, Arrival
from laneway.core.rows import Result
from laneway.devnets.contract.model import ContractChain
from laneway.devnets.contract.node.host import EmbeddedHost
from laneway.engine.system import SystemClock
from laneway.kinds.contract.log import ContractLog, duration, quoted
from laneway.lanes.common.heads import encode
from laneway.lanes.common.values import CommandRefused, ModeChanged
from laneway.lanes.contract import ContractSettings
from laneway.lanes.contract.values import (
    Attempt,
    AttemptDoubted,
    AttemptOffered,
    History,
    SearchPlanned,
    Slot,
    SlotClaimed,
)
from laneway.wiring.embedded import Laneway

LANE = LaneId("contract:Qm123456")
INTENT = intent_id(1, bytes(10))
SLOT = Slot(id=15, intent=INTENT, seq=9, size=10, accepted_ms=1_000, claimed_ms=1_200)
ATTEMPT = Attempt(15, 2, 7, 1_200, 2_000, bound=True)


class Log:
    """The listener, and what it wrote."""

    def __init__(self, caplog: pytest.LogCaptureFixture, **settings: Any) -> None:
        self._caplog = caplog
        caplog.set_level(logging.INFO, "laneway.contract")
        self.ear = ContractLog(SystemClock(), ContractSettings(**settings))

    def lines(self) -> list[str]:
        found = [f"[{r.levelname}] {r.getMessage()}" for r in self._caplog.records]
        self._caplog.clear()
        return found

    def accepted(self, depth: int, *, fast: bool, size: int = 10) -> list[str]:
        arrival = Arrival(INTENT, LANE, b"", b"", 0)
        self.ear.accepted(arrival, Accepted(INTENT, 1, depth, size, fast))
        return self.lines()

    def notified(self, *records: Any, results: Sequence[Result] = ()) -> list[str]:
        self.ear.notified(LANE, records, results)
        return self.lines()


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Log:
    return Log(caplog)


def test_a_job_that_finds_room_is_enqueued_to_the_fast_queue(log: Log) -> None:
    assert log.accepted(1, fast=True) == [
        f"[INFO] Job enqueued to FAST queue reqID={INTENT} fastQueueLen=1 contract=Qm123456"
    ]


def test_a_job_that_overflows_is_enqueued_to_the_slow_queue(log: Log) -> None:
    assert log.accepted(8, fast=False) == [
        f"[INFO] Job enqueued to SLOW queue reqID={INTENT} slowQueueLen=3 contract=Qm123456"
    ]


def test_the_start_of_an_execution_tells_its_count_and_its_wait(log: Log) -> None:
    assert log.notified(SlotClaimed(SLOT, 0, None)) == [
        f"[INFO] EXECUTION START reqID={INTENT} contract=Qm123456 executeCount=15 "
        "queueWaitTime=200ms"
    ]


def test_the_end_of_an_execution_tells_its_times_before_anything_of_our_own(log: Log) -> None:
    result = Result(
        INTENT, "confirmed", 1_200 + 605_000, 8, history=encode(History(SLOT, (ATTEMPT,)))
    )
    assert log.notified(results=[result]) == [
        f"[INFO] EXECUTION COMPLETE reqID={INTENT} contract=Qm123456 executionTime=10m5s "
        "totalTime=10m5.2s status=confirmed block=8"
    ]


def test_a_worker_tells_when_it_starts_and_stops(log: Log) -> None:
    log.ear.opened(LANE)
    log.ear.closed(LANE)
    assert log.lines() == [
        "[INFO] Worker started for contract contract=Qm123456",
        "[INFO] Worker stopped contract=Qm123456",
    ]


def test_every_line_carries_its_fields_for_machines(
    log: Log, caplog: pytest.LogCaptureFixture
) -> None:
    log.ear.notified(LANE, [SlotClaimed(SLOT, 0, None)], [])
    (record,) = caplog.records
    fields: Any = record.__dict__["fields"]
    assert list(fields) == ["reqID", "contract", "executeCount", "queueWaitTime"]
    assert fields["executeCount"] == 15


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0s"),
        (50, "50ms"),
        (200, "200ms"),
        (999, "999ms"),
        (1_000, "1s"),
        (1_200, "1.2s"),
        (59_999, "59.999s"),
        (60_000, "1m0s"),
        (605_000, "10m5s"),
        (605_050, "10m5.05s"),
        (605_200, "10m5.2s"),
        (3_600_000, "1h0m0s"),
        (5_405_020, "1h30m5.02s"),
        (-5_000, "0s"),
    ],
)
def test_durations_are_written_as_the_seed_writes_them(ms: int, text: str) -> None:
    assert duration(ms) == text


def test_a_queue_above_its_limit_warns_and_tells_the_enqueueing_all_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    counted, sized = Log(caplog, count_max=5), Log(caplog, bytes_max=100)
    assert len(counted.accepted(5, fast=True)) == 1
    warning, enqueued = counted.accepted(6, fast=False, size=60)
    assert warning == (
        "[WARNING] Queue above its limit, accepted all the same contract=Qm123456 depth=6 bytes=60"
    )
    assert "SLOW" in enqueued
    assert len(sized.accepted(3, fast=True, size=100)) == 1
    assert len(sized.accepted(3, fast=True, size=101)) == 2


def test_doubts_tries_and_changes_of_mode_are_warnings(log: Log) -> None:
    assert log.notified(
        AttemptDoubted(15, 2, False, "no answer before its deadline", 5, failed=True),
        AttemptOffered(ATTEMPT),
        ModeChanged("paused", "audit", "ann", 5),
        CommandRefused("cancel", "it is final already", INTENT),
    ) == [
        "[WARNING] EXECUTION UNKNOWN contract=Qm123456 executeCount=15 attempt=2 "
        'reason="no answer before its deadline"',
        "[WARNING] EXECUTION RETRY contract=Qm123456 executeCount=15 attempt=2 parent=7",
        "[WARNING] Queue paused contract=Qm123456 by=ann reason=audit",
        f"[WARNING] Command refused contract=Qm123456 verb=cancel reqID={INTENT} "
        'reason="it is final already"',
    ]


def test_what_is_only_planned_is_not_told(log: Log) -> None:
    first = Attempt(15, 1, 7, 1_200, 2_000, bound=True)
    assert log.notified(SearchPlanned(15, 5), AttemptOffered(first)) == []


def test_an_intent_that_ended_without_an_execution_says_how(log: Log) -> None:
    result = Result(INTENT, "cancelled", 5, reason="changed my mind")
    assert log.notified(results=[result]) == [
        f'[INFO] EXECUTION CANCELLED reqID={INTENT} contract=Qm123456 reason="changed my mind"'
    ]


def test_the_end_of_the_engine_is_critical(log: Log) -> None:
    log.ear.failed(RuntimeError("the disk is gone"))
    assert log.lines() == ["[CRITICAL] Queue stopped error=the disk is gone"]


def test_foreign_words_cannot_pass_for_lines_or_fields_of_ours() -> None:
    assert quoted("plain") == "plain"
    assert quoted(None) == "None"
    forged = quoted('x\n[INFO] EXECUTION COMPLETE reqID="y"')
    assert forged == '"x\\n[INFO] EXECUTION COMPLETE reqID=\\"y\\""'
    assert "\n" not in forged
    assert quoted("a=b") == '"a=b"'


def test_at_warning_only_what_is_loud_is_written(
    log: Log, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "laneway.contract")
    result = Result(INTENT, "cancelled", 5)
    assert log.accepted(1, fast=True) == []
    assert log.notified(SlotClaimed(SLOT, 0, None), results=[result]) == []
    assert len(log.notified(ModeChanged("paused", "", "", 5))) == 1
    caplog.set_level(logging.CRITICAL, "laneway.contract")
    assert Log.accepted(log, 1, fast=True) == []


def test_a_whole_execution_reads_as_the_seeds_example_does(
    log: Log, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    async def main() -> None:
        host = EmbeddedHost(ContractChain(round_ms=5))
        async with Laneway.open(str(tmp_path / "q.db"), host) as laneway:
            await (await laneway.submit("Qm1", "d")).result(5)

    asyncio.run(main())
    text = [re.sub(r"tx_\w+", "ID", line) for line in log.lines()]
    text = [re.sub(r"=[\d.]+m?s\b", "=TIME", line) for line in text]
    assert text == [
        "[INFO] Job enqueued to FAST queue reqID=ID fastQueueLen=1 contract=Qm1",
        "[INFO] Worker started for contract contract=Qm1",
        "[INFO] EXECUTION START reqID=ID contract=Qm1 executeCount=1 queueWaitTime=TIME",
        "[INFO] EXECUTION COMPLETE reqID=ID contract=Qm1 executionTime=TIME totalTime=TIME "
        "status=confirmed block=1",
        "[INFO] Worker stopped contract=Qm1",
    ]
