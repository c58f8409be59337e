"""What the events of all accounts' lanes have in common."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, cast

from laneway.core.rows import FeedEntry
from laneway.feeds.events import NamedEvent
from laneway.wire.hex import octets
from laneway.wire.values import EventBody, StatusWord

EventDraft = tuple[str, dict[str, Any]]
"""The type of an event, and the fields of its body."""
EventMaker = Callable[[Any], EventDraft | list[EventDraft] | None]
"""What makes the events of one record."""

MODES = {"running": "resumed"}
"""The mode a lane is in, as the thing that happened to it."""


def account_events(
    entry: FeedEntry,
    records: Sequence[Any],
    table: Mapping[type, EventMaker],
    once: Sequence[str] = (),
    digits: Callable[[bytes], str] = octets,
) -> Sequence[NamedEvent]:
    """The events of one commit. `once` are types that several of its records may have, and
    `digits` writes the hashes."""
    found: list[NamedEvent] = []
    seen: set[str] = set()
    for record in records:
        make = table.get(type(record))
        for word, body in () if make is None else listed(make(record)):
            if word in once and word in seen:
                continue
            seen.add(word)
            if isinstance(body.get("hash"), bytes):
                body["hash"] = digits(body["hash"])
            found.append((word, EventBody(lane=entry.lane, version=entry.version, **body)))
    return found


def listed(made: EventDraft | list[EventDraft] | None) -> Sequence[EventDraft]:
    if isinstance(made, list):
        return made
    return () if made is None else (made,)


def tx_event(word: str | None, *, of: str = "", **paths: str) -> EventMaker:
    """What makes `transaction.` and a word of a record, None: its final status. Each field is read
    from the record at its path; `of` is where the intent stands."""
    readers = {name: attrgetter(path) for name, path in paths.items()}
    whose = attrgetter(of) if of else None

    def made(record: Any) -> EventDraft | None:
        more = {name: read(record) for name, read in readers.items()}
        return of_intent(word or record.status, whose(record) if whose else record, **more)

    return made


def lane_event(word: str, **paths: str) -> EventMaker:
    """What makes `lane.` and a word of a record, with the fields at these paths."""
    readers = {name: attrgetter(path) for name, path in paths.items()}
    return lambda record: (f"lane.{word}", {name: read(record) for name, read in readers.items()})


def submitted(record: Any) -> list[EventDraft]:
    """Of many intents at once."""
    return [
        ("transaction.submitted", {"tx": intent, "status": "submitted", "hash": hash_})
        for intent, hash_ in zip(record.intents, record.hashes, strict=True)
        if intent is not None
    ]


def of_intent(word: str, record: Any, **more: Any) -> EventDraft | None:
    """`transaction.` and a word, of an intent that is open or has its final status. What only fills
    a number is nobody's transaction, and has no event."""
    if record.intent is None:
        return None
    body = {"tx": record.intent, "status": cast(StatusWord, more.pop("status", word))}
    return f"transaction.{word}", body | more


def ended(record: Any) -> EventDraft | None:
    """A final answer to what is in no block."""
    return of_intent(record.status, record, reason=record.reason)


def mode_changed(record: Any) -> EventDraft:
    word = MODES.get(record.mode, record.mode)
    return f"lane.{word}", {"reason": record.reason, "by": record.by}


def command_refused(record: Any) -> EventDraft:
    reason = f"{record.verb}: {record.reason}"
    return "lane.command_refused", {"tx": record.intent, "reason": reason}
