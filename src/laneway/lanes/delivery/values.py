"""The delivery lane's rows and its three families of values: events, records, effects."""

from typing import TypeAlias

from msgspec import Struct

from laneway.core.ids import IntentId
from laneway.core.intent import IntentRow
from laneway.core.rows import Command, Cursors

KIND = "delivery"

# Rows.


class DeliveryHead(Struct, array_like=True, forbid_unknown_fields=True):
    """The lane's own head. It is changed in place, by `evolve` alone, as every head is."""

    cursors: Cursors = (0,)
    settled_count: int = 0
    settled_bytes: int = 0
    slot_next: int = 1
    mode: str = "running"
    """running; paused, by a person's word; disabled, by the endpoint's own (410 Gone)."""
    reason: str = ""
    by: str = ""
    mode_ms: int = 0
    feed: str | None = None
    """How far the feed was passed on to this endpoint; None: not at all yet."""
    open_count: int = 0
    """Deliveries under way or waiting for their next attempt."""
    waiting_count: int = 0
    delivered_count: int = 0
    dead_count: int = 0
    failures: int = 0
    """Attempts that failed in a row."""
    wait_reason: str = ""
    """Of the last attempt that failed."""


class Slot(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One delivery. It holds up no other."""

    id: int
    intent: IntentId
    seq: int
    size: int
    claimed_ms: int
    attempt: int = 1
    """The number of the attempt that is out, or comes next."""
    retry_ms: int | None = None
    """When the next attempt is due; None while one is out."""


class Attempt(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One POST and what came of it. Written when it is answered: sending it twice is allowed."""

    number: int
    ended_ms: int
    duration_ms: int
    code: int | None
    """The HTTP status; None when there was no answer."""
    reason: str = ""
    preview: bytes = b""
    """How the answer's body began."""


class History(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A finished delivery with its attempts, kept in the result."""

    slot: Slot
    attempts: tuple[Attempt, ...]


# Events.


class IntentsOffered(Struct, frozen=True):
    now_ms: int
    intents: tuple[IntentRow, ...]


class PostReturned(Struct, frozen=True):
    """The answer to Post."""

    now_ms: int
    slot: int
    attempt: int
    duration_ms: int
    code: int | None
    reason: str = ""
    preview: bytes = b""
    retry_after_ms: int | None = None
    """How long the endpoint asks to be left alone."""


class PostDeclined(Struct, frozen=True):
    """It was not sent: this process may not act now. That is no attempt."""

    now_ms: int
    slot: int
    attempt: int


class TimerFired(Struct, frozen=True):
    now_ms: int


class CommandTold(Struct, frozen=True):
    now_ms: int
    command: Command


Event: TypeAlias = IntentsOffered | PostReturned | PostDeclined | TimerFired | CommandTold


# Records.


class SlotClaimed(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """A delivery begins, with its first attempt."""

    slot: Slot


class AttemptBegun(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """The next attempt is out."""

    slot: int


class AttemptFailed(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    slot: int
    attempt: Attempt
    retry_ms: int


class AttemptPutOff(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """It was not sent after all, and is sent then."""

    slot: int
    retry_ms: int


class SlotSettled(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    slot: int
    intent: IntentId
    status: str
    attempt: Attempt | None
    reason: str
    at_ms: int


class IntentDropped(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """A message was taken back before its first attempt."""

    intent: IntentId
    size: int
    status: str
    reason: str
    at_ms: int


class ModeChanged(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    mode: str
    reason: str
    by: str
    at_ms: int


class FeedPassed(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """All that concerns this endpoint is accepted, up to this cursor of the feed."""

    cursor: str


class CommandRefused(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """An operator's word that cannot be followed, and why."""

    verb: str
    intent: IntentId | None
    reason: str
    at_ms: int


Record: TypeAlias = (
    SlotClaimed
    | AttemptBegun
    | AttemptFailed
    | AttemptPutOff
    | SlotSettled
    | IntentDropped
    | ModeChanged
    | FeedPassed
    | CommandRefused
)


# Effects.


class Post(Struct, frozen=True):
    """Send it. It may be sent twice: the message's own id tells the receiver."""

    slot: int
    attempt: int
    payload: bytes


Effect: TypeAlias = Post
