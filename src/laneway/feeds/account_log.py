"""What the log lines of all accounts' lanes have in common.

They tell committed records and durable arrivals, never intentions. Nothing of a payload is told.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from laneway.core.ids import LaneId
from laneway.core.intent import Accepted, Arrival
from laneway.core.rows import Result
from laneway.engine.listeners import Listener
from laneway.feeds.log import quoted

Line = tuple[int, str, Mapping[str, object]]


class AccountLog(Listener):
    """A listener that writes one line for each thing that happened."""

    def __init__(
        self,
        log: logging.Logger,
        serves: Callable[[str], bool],
        lines: Mapping[type, Callable[[Any], Line]],
        quiet: Collection[type],
    ) -> None:
        """`quiet` are the records of every transaction, whose lines are no warnings: they must cost
        nothing unheard."""
        self._log = log
        self._serves = serves
        self._lines = lines
        self._loud = {kind: tell for kind, tell in lines.items() if kind not in quiet}

    def accepted(self, arrival: Arrival, answer: Accepted) -> None:
        if self._log.isEnabledFor(logging.INFO) and self._serves(arrival.lane):
            line = (logging.INFO, "Transaction queued", {"tx": arrival.id, "seq": answer.seq})
            self.write(arrival.lane, line)

    def told(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        if not self._serves(lane):
            return
        talkative = self._log.isEnabledFor(logging.INFO)
        heard = self._lines if talkative else self._loud
        for record in records:
            if type(record) in heard:
                self.write(lane, heard[type(record)](record))
        for result in results if talkative else ():
            self.write(lane, self.end(result))

    def end(self, result: Result) -> Line:
        raise NotImplementedError

    def write(self, lane: LaneId, line: Line) -> None:
        level, message, fields = line
        if self._log.isEnabledFor(level):
            said = {"lane": lane, **fields}
            text = " ".join(f"{name}={quoted(value)}" for name, value in said.items())
            self._log.log(level, "%s %s", message, text, extra={"fields": said})


def mode(record: Any) -> Line:
    return logging.WARNING, f"Lane {record.mode}", {"by": record.by, "reason": record.reason}


def refused(record: Any) -> Line:
    fields = {"verb": record.verb, "tx": record.intent, "reason": record.reason}
    return logging.WARNING, "Command refused", fields
