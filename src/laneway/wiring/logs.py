"""Where log lines go: stderr, as text for people or as one JSON object a line for machines."""

import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

import msgspec

from laneway.core.text import printable, printable_json
from laneway.core.urls import shown_urls
from laneway.kinds.contract.log import quoted
from laneway.wiring.schema import LogSection

OURS = "laneway"
FOREIGN = ("aiohttp", "asyncio", "psycopg")
"""Libraries whose warnings and errors are written as ours are; else Python would print them as they
come, with whatever addresses they hold."""


def set_up_logs(section: LogSection, stream: TextIO | None = None) -> None:
    stream = stream or sys.stderr
    as_json = section.format == "json" or (section.format == "auto" and not stream.isatty())
    writer = logging.StreamHandler(stream)
    writer.setFormatter(JsonLines() if as_json else TextLines())
    for name in (OURS, *FOREIGN):
        logger = logging.getLogger(name)
        logger.handlers = [writer]
        logger.propagate = False
        logger.setLevel(section.level.upper() if name == OURS else logging.WARNING)


def stamp(record: logging.LogRecord) -> str:
    """RFC 3339, UTC, milliseconds."""
    made = datetime.fromtimestamp(record.created, UTC)
    return made.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class TextLines(logging.Formatter):
    """The seed's form (004 §10), with the time before it. Text of others begins no line of its
    own and commands no terminal."""

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        if not record.args:
            # The queue's lines have their fields among their words already.
            fields: dict[str, object] = getattr(record, "fields", {})
            message = " ".join((message, *(f"{name}={quoted(fields[name])}" for name in fields)))
        text = printable(shown_urls(message))
        line = f"{stamp(record)} [{record.levelname}] {text}"
        if record.exc_info:
            trace = shown_urls(self.formatException(record.exc_info))
            line += "\n" + printable(trace, keep="\n")
        return line


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", None)
        event = record.getMessage()
        if fields is not None and isinstance(record.args, tuple) and record.args:
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
        safe = {key: shown_urls(one) if isinstance(one, str) else one for key, one in body.items()}
        return printable_json(msgspec.json.encode(safe, enc_hook=str).decode())
