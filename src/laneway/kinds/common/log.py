"""What the log lines of all accounts' lanes have in common.

They report committed records and durable arrivals, never intentions, and nothing of a payload.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from operator import attrgetter
from typing import Any

from laneway.core.ids import LaneId
from laneway.core.intent import Accepted, Arrival
from laneway.core.rows import Result
from laneway.engine.listeners import Listener
from laneway.kinds.contract.log import quoted
from laneway.wire.hex import octets

Line = tuple[int, str, Mapping[str, object]]


class AccountLog(Listener):
    """A listener that writes one line for each thing that happened."""

    digits: Callable[[bytes], str] = staticmethod(octets)
    """How bytes are written, which are hashes."""

    def __init__(
        self,
        log: logging.Logger,
        prefix: str,
        lines: Mapping[type, Callable[[Any], Line]],
        quiet: Collection[type],
    ) -> None:
        """`prefix` begins the names of its lanes. `quiet` are the records of every transaction,
        whose lines are no warnings: they must cost nothing unheard."""
        self._log = log
        self._prefix = prefix
        self._lines = lines
        self._loud = {kind: tell for kind, tell in lines.items() if kind not in quiet}

    def accepted(self, arrival: Arrival, answer: Accepted) -> None:
        if self._log.isEnabledFor(logging.INFO) and arrival.lane.startswith(self._prefix):
            line = (logging.INFO, "Transaction queued", {"tx": arrival.id, "seq": answer.seq})
            self.write(arrival.lane, line)

    def notified(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        if not lane.startswith(self._prefix):
            return
        talkative = self._log.isEnabledFor(logging.INFO)
        lines = self._lines if talkative else self._loud
        for record in records:
            if type(record) in lines:
                self.write(lane, lines[type(record)](record))
        for result in results if talkative else ():
            self.write(lane, self.end(result))

    def end(self, result: Result) -> Line:
        """The line of a final answer."""
        fields: dict[str, object] = {"tx": result.intent, "status": result.status}
        if result.history:
            fields |= self.past(result)
        if result.hash is not None:
            fields["hash"] = result.hash
        if result.reason:
            fields["reason"] = result.reason
        return self.end_level(result), f"Transaction {result.status}", fields

    def end_level(self, result: Result) -> int:  # noqa: ARG002
        return logging.INFO

    def past(self, result: Result) -> Mapping[str, object]:
        """Fields of a transaction that had a number or a block, from its history."""
        raise NotImplementedError

    def write(self, lane: LaneId, line: Line) -> None:
        level, message, fields = line
        if self._log.isEnabledFor(level):
            written: dict[str, object] = {"lane": lane}
            for name, value in fields.items():
                written[name] = self.digits(value) if isinstance(value, bytes) else value
            text = " ".join(f"{name}={quoted(value)}" for name, value in written.items())
            self._log.log(level, "%s %s", message, text, extra={"fields": written})


def line(level: int, message: str, **paths: str) -> Callable[[Any], Line]:
    """What writes such a line of a record; each field is read from the record at its path."""
    readers = {name: attrgetter(path) for name, path in paths.items()}
    return lambda record: (level, message, {name: read(record) for name, read in readers.items()})


def mode(record: Any) -> Line:
    return logging.WARNING, f"Lane {record.mode}", {"by": record.by, "reason": record.reason}


refused = line(logging.WARNING, "Command refused", verb="verb", tx="intent", reason="reason")
