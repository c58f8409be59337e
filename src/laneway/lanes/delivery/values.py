"""The delivery lane's rows and its three families of values: events, records, effects."""

from typing import TypeAlias

from msgspec import Struct

from laneway.core.ids import IntentId
from laneway.core.rows import Cursors
from laneway.lanes.common.released import RefusedAt, records_reader, refused
from laneway.lanes.common.values import (
    CommandReceived,
    CommandRefused,
    IntentDropped,
    IntentsOffered,
    LaneRecord,
    LaneRow,
    ModeChanged,
    TimerFired,
)

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


class Slot(LaneRow, frozen=True):
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


class Attempt(LaneRow, frozen=True):
    """One POST and what came of it. Written when it is answered: sending it twice is allowed."""

    number: int
    ended_ms: int
    duration_ms: int
    code: int | None
    """The HTTP status; None when there was no answer."""
    reason: str = ""
    preview: bytes = b""
    """How the answer's body began."""


class History(LaneRow, frozen=True):
    """A finished delivery with its attempts, kept in the result."""

    slot: Slot
    attempts: tuple[Attempt, ...]


# Events.


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


Event: TypeAlias = IntentsOffered | PostReturned | PostDeclined | TimerFired | CommandReceived


# Records.


class SlotClaimed(LaneRecord, frozen=True):
    """A delivery begins, with its first attempt."""

    slot: Slot


class AttemptBegun(LaneRecord, frozen=True):
    """The next attempt is out."""

    slot: int


class AttemptFailed(LaneRecord, frozen=True):
    slot: int
    attempt: Attempt
    retry_ms: int


class AttemptPutOff(LaneRecord, frozen=True):
    """It was not sent after all, and is sent then."""

    slot: int
    retry_ms: int


class SlotSettled(LaneRecord, frozen=True):
    slot: int
    intent: IntentId
    status: str
    attempt: Attempt | None
    reason: str
    at_ms: int


class FeedPassed(LaneRecord, frozen=True):
    """All that concerns this endpoint is accepted, up to this cursor of the feed."""

    cursor: str


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


class DroppedBySize(LaneRecord, frozen=True, tag="IntentDropped"):
    """As earlier releases had it: without its place, for no delivery lane drains."""

    intent: IntentId
    size: int
    status: str
    reason: str
    at_ms: int


def dropped_by_size(old: DroppedBySize) -> IntentDropped:
    return IntentDropped(
        old.intent, 0, 0, old.size, old.status, old.reason, old.at_ms, passes=False
    )


decode_records = records_reader(Record, {RefusedAt: refused, DroppedBySize: dropped_by_size})


# Effects.


class Post(Struct, frozen=True):
    """Send it. It may be sent twice: by the message's own id the receiver recognises it."""

    slot: int
    attempt: int
    payload: bytes


Effect: TypeAlias = Post
