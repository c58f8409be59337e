"""What a caller wants done once, and what the door answers."""

from typing import TypeAlias

from msgspec import Struct

from laneway.core.ids import IntentId, LaneId


class Arrival(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """An intent at the door. The store gives it its place in the lane."""

    id: IntentId
    lane: LaneId
    payload: bytes
    digest: bytes
    """Of the body as the caller sent it: the same key with another digest is a conflict."""
    accepted_ms: int
    key: str | None = None
    scope: str = ""
    """Whose key space `key` lives in (an API key's id); empty for the embedded library."""
    priority: int = 0
    valid_until_ms: int | None = None
    fast_size: int = 5
    """A hit is fast when the door found fewer unsettled intents than this."""
    count_max: int | None = None
    bytes_max: int | None = None
    fresh: bool = False
    """The id was made for this very arrival, so no store can know it yet."""


class IntentRow(Struct, frozen=True, forbid_unknown_fields=True, array_like=True, gc=False):
    """An accepted intent. Written once; `seq` is its place in the lane for ever."""

    id: IntentId
    lane: LaneId
    seq: int
    priority: int
    accepted_ms: int
    valid_until_ms: int | None
    key: str | None
    scope: str
    digest: bytes
    payload: bytes

    def size(self) -> int:
        return len(self.payload)


def placed(arrival: Arrival, seq: int) -> IntentRow:
    """The arrival with its place in the lane: what `accept` writes."""
    return IntentRow(
        arrival.id,
        arrival.lane,
        seq,
        arrival.priority,
        arrival.accepted_ms,
        arrival.valid_until_ms,
        arrival.key,
        arrival.scope,
        arrival.digest,
        arrival.payload,
    )


class BacklogPage(Struct, frozen=True):
    """Waiting intents in the lane's order; `more` says that the backlog goes on after them."""

    intents: tuple[IntentRow, ...]
    more: bool


class Accepted(Struct, frozen=True, tag=True, gc=False):
    """Durable: from here on the intent survives any crash until it has a final answer."""

    id: IntentId
    seq: int
    depth: int
    """Unsettled intents of the lane, this one included."""
    bytes: int
    """Unsettled bytes of the lane, this one's included."""
    fast: bool


class Replayed(Struct, frozen=True, tag=True):
    """The same key and the same body came before; this is the intent it made then."""

    id: IntentId


class Conflict(Struct, frozen=True, tag=True):
    """The key is taken by another body."""

    id: IntentId


class Full(Struct, frozen=True, tag=True):
    """The lane's own limit refuses it (policy `reject`); nothing was written."""

    bound: str
    limit: int


Answer: TypeAlias = Accepted | Replayed | Conflict | Full
