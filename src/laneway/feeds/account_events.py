"""What the events of all accounts' lanes have in common."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from laneway.core.rows import FeedEntry
from laneway.wire.values import EventBody, StatusWord

Told = tuple[str, EventBody]
Said = tuple[str, dict[str, Any]]
Tell = Callable[[Any], Said | list[Said] | None]

MODES = {"running": "resumed"}
"""The mode a lane is in, as the thing that happened to it."""


def told(
    entry: FeedEntry, records: Sequence[Any], table: Mapping[type, Tell], once: Sequence[str] = ()
) -> Sequence[Told]:
    """What one commit told. `once` are words that several of its records may say."""
    found: list[Told] = []
    heard: set[str] = set()
    for record in records:
        tell = table.get(type(record))
        for word, body in () if tell is None else listed(tell(record)):
            if word in once and word in heard:
                continue
            heard.add(word)
            found.append((word, EventBody(lane=entry.lane, version=entry.version, **body)))
    return found


def listed(said: Said | list[Said] | None) -> Sequence[Said]:
    if isinstance(said, list):
        return said
    return () if said is None else (said,)


def of_intent(word: str, record: Any, **more: Any) -> Said | None:
    """`transaction.` and a word, of an intent that is still open or has its last word. What fills
    a number is nobody's transaction, and tells nothing."""
    if record.intent is None:
        return None
    body = {"tx": record.intent, "status": cast(StatusWord, more.pop("status", word))}
    return f"transaction.{word}", body | more


def ended(record: Any) -> Said | None:
    """A final answer to what is in no block."""
    return of_intent(record.status, record, reason=record.reason)


def mode_changed(record: Any) -> Said:
    word = MODES.get(record.mode, record.mode)
    return f"lane.{word}", {"reason": record.reason, "by": record.by}


def command_refused(record: Any) -> Said:
    reason = f"{record.verb}: {record.reason}"
    return "lane.command_refused", {"tx": record.intent, "reason": reason}
