"""An operator's commands to lanes and intents, as rows of a lane's durable mailbox."""

from laneway.core.errors import BadRequest
from laneway.core.intent import IntentRow
from laneway.core.limits import REASON_CHARS_MAX
from laneway.core.rows import Command
from laneway.kinds.arrivals import check_text


def about(
    row: IntentRow,
    verb: str,
    at_ms: int,
    reason: str,
    by: str,
    order: tuple[str, bytes] = ("", b""),
) -> Command:
    """A command to the lane of an intent, about that intent; `order` is its argument, as text and
    as bytes."""
    return Command(
        id=0,
        lane=row.lane,
        verb=verb,
        at_ms=at_ms,
        reason=reason,
        by=by,
        intent=row.id,
        seq=row.seq,
        priority=row.priority,
        size=row.size(),
        word=order[0],
        payload=order[1],
    )


def checked(field: str, text: str) -> str:
    """A reason or a name that a row can hold."""
    check_text(field, text)
    if len(text) > REASON_CHARS_MAX:
        raise BadRequest(field, f"at most {REASON_CHARS_MAX} characters")
    return text
