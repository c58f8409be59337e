"""Where log lines go: stderr, as text for people or as one JSON object a line for machines."""

import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

import msgspec

from laneway.wiring.schema import LogSection


def set_up_logs(section: LogSection, stream: TextIO | None = None) -> None:
    stream = stream or sys.stderr
    as_json = section.format == "json" or (section.format == "auto" and not stream.isatty())
    writer = logging.StreamHandler(stream)
    writer.setFormatter(JsonLines() if as_json else TextLines())
    root = logging.getLogger("laneway")
    root.handlers = [writer]
    root.propagate = False
    root.setLevel(section.level.upper())


def stamp(record: logging.LogRecord) -> str:
    """RFC 3339, UTC, milliseconds."""
    made = datetime.fromtimestamp(record.created, UTC)
    return made.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class TextLines(logging.Formatter):
    """The seed's form (004 §10), with the time before it."""

    def format(self, record: logging.LogRecord) -> str:
        line = f"{stamp(record)} [{record.levelname}] {record.getMessage()}"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", None)
        event = record.getMessage()
        if fields is not None and isinstance(record.args, tuple):
            # The queue's lines carry their fields twice; here they need no second form.
            event = str(record.args[0])
        body: dict[str, object] = {
            "ts": stamp(record),
            "level": record.levelname.lower(),
            "event": event,
            "logger": record.name,
        }
        body |= fields or {}
        if record.exc_info:
            body["error"] = self.formatException(record.exc_info)
        return msgspec.json.encode(body, enc_hook=str).decode()
