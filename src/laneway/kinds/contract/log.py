"""The contract queue's log lines, with the seed's messages and fields (§10).

They report committed records and durable arrivals, never intentions.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from laneway.core.ids import LaneId, lane_key
from laneway.core.intent import Accepted, Arrival
from laneway.core.rows import Result
from laneway.engine.listeners import Listener
from laneway.lanes.common.values import CommandRefused, ModeChanged
from laneway.lanes.contract import ContractSettings
from laneway.lanes.contract.lane import decode_history
from laneway.lanes.contract.values import AttemptDoubted, AttemptOffered, SlotClaimed
from laneway.ports import Clock

log = logging.getLogger("laneway.contract")


class ContractLog(Listener):
    """A listener that writes one line for each thing that happened."""

    def __init__(self, clock: Clock, settings: ContractSettings) -> None:
        self._clock = clock
        self._settings = settings
        self._limited = settings.count_max is not None or settings.bytes_max is not None

    def accepted(self, arrival: Arrival, answer: Accepted) -> None:
        settings = self._settings
        if not arrival.lane.startswith("contract:"):
            return
        if not self._limited and not log.isEnabledFor(logging.INFO):
            return
        full = (settings.count_max is not None and answer.depth > settings.count_max) or (
            settings.bytes_max is not None and answer.bytes > settings.bytes_max
        )
        if full:
            line(
                logging.WARNING,
                "Queue above its limit, accepted all the same",
                contract=lane_key(arrival.lane),
                depth=answer.depth,
                bytes=answer.bytes,
            )
        if not log.isEnabledFor(logging.INFO):
            return
        # As the door counts: the fast queue is the first five unsettled, the running one included.
        name, length = ("FAST", "fastQueueLen") if answer.fast else ("SLOW", "slowQueueLen")
        waiting = answer.depth if answer.fast else answer.depth - settings.fast_size
        line(
            logging.INFO,
            f"Job enqueued to {name} queue",
            reqID=arrival.id,
            **{length: waiting},
            contract=lane_key(arrival.lane),
        )

    def opened(self, lane: LaneId) -> None:
        if lane.startswith("contract:"):
            line(logging.INFO, "Worker started for contract", contract=lane_key(lane))

    def closed(self, lane: LaneId) -> None:
        if lane.startswith("contract:"):
            line(logging.INFO, "Worker stopped", contract=lane_key(lane))

    def failed(self, error: Exception) -> None:
        log.critical("Queue stopped error=%s", error)

    def notified(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        if not lane.startswith("contract:"):
            return
        talkative = log.isEnabledFor(logging.INFO)
        lines = LINES if talkative else LOUD
        for record in records:
            if type(record) in lines:
                lines[type(record)](record, lane_key(lane))
        for result in results if talkative else ():
            self._result(lane_key(lane), result)

    def _result(self, contract: str, result: Result) -> None:
        named = {"reqID": result.intent, "contract": contract}
        if not result.history:
            message = f"EXECUTION {result.status.upper()}"
            line(logging.INFO, message, **named, reason=result.reason)
            return
        slot = decode_history(result.history).slot
        line(
            logging.INFO,
            "EXECUTION COMPLETE",
            **named,
            executionTime=duration(result.settled_ms - slot.claimed_ms),
            totalTime=duration(result.settled_ms - slot.accepted_ms),
            status=result.status,
            block=result.number,
        )


def started(record: SlotClaimed, contract: str) -> None:
    slot = record.slot
    waited = duration(slot.claimed_ms - slot.accepted_ms)
    fields = {"reqID": slot.intent, "contract": contract, "executeCount": slot.id}
    line(logging.INFO, "EXECUTION START", **fields, queueWaitTime=waited)


def doubted(record: AttemptDoubted, contract: str) -> None:
    fields = {"executeCount": record.slot, "attempt": record.attempt, "reason": record.reason}
    line(logging.WARNING, "EXECUTION UNKNOWN", contract=contract, **fields)


def retried(record: AttemptOffered, contract: str) -> None:
    attempt = record.attempt
    if attempt.number > 1:
        fields = {"attempt": attempt.number, "parent": attempt.parent}
        place = {"contract": contract, "executeCount": attempt.slot}
        line(logging.WARNING, "EXECUTION RETRY", **place, **fields)


def mode_changed(record: ModeChanged, contract: str) -> None:
    message = f"Queue {record.mode}"
    line(logging.WARNING, message, contract=contract, by=record.by, reason=record.reason)


def refused(record: CommandRefused, contract: str) -> None:
    fields = {"verb": record.verb, "reqID": record.intent, "reason": record.reason}
    line(logging.WARNING, "Command refused", contract=contract, **fields)


LOUD: dict[type, Callable[[Any, str], None]] = {
    AttemptDoubted: doubted,
    AttemptOffered: retried,
    ModeChanged: mode_changed,
    CommandRefused: refused,
}
"""Records whose lines are warnings."""
LINES = {SlotClaimed: started, **LOUD}


def line(level: int, message: str, **fields: object) -> None:
    if log.isEnabledFor(level):
        text = " ".join(f"{name}={quoted(value)}" for name, value in fields.items())
        log.log(level, "%s %s", message, text, extra={"fields": fields})


def quoted(value: object) -> str:
    """A value as one word; a foreign text must not look like fields or lines of ours."""
    text = str(value)
    plain = text.isprintable() and not any(mark in text for mark in ' "=')
    return text if plain else msgspec.json.encode(text).decode()


def duration(ms: int) -> str:
    """As the seed writes it, which is Go's way: 50ms, 1.2s, 10m5.05s, 1h0m0s."""
    ms = max(0, ms)  # A wall clock may be set back; a wait is never below zero.
    if 0 < ms < 1_000:
        return f"{ms}ms"
    minutes, rest = divmod(ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{rest / 1_000:.3f}".rstrip("0").rstrip(".") + "s"
    if hours:
        return f"{hours}h{minutes}m{seconds}"
    return f"{minutes}m{seconds}" if minutes else seconds
