"""The counter lane's rows and its three families of values: events, records, effects."""

from typing import TypeAlias

from msgspec import Struct

from laneway.core.ids import IntentId
from laneway.core.outcome import Outcome
from laneway.core.rows import Cursors
from laneway.lanes.common.values import (
    CommandReceived,
    CommandRefused,
    IntentDropped,
    IntentsOffered,
    ModeChanged,
    TimerFired,
)


class Addition(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What a caller wants: the payload of an intent."""

    amount: int
    note: str = ""


# Rows.


class CounterHead(Struct, array_like=True, forbid_unknown_fields=True):
    """The lane's own head: changed in place, by `evolve` alone. A later release may append fields
    that have defaults, and change nothing else."""

    cursors: Cursors = (0,)
    settled_count: int = 0
    settled_bytes: int = 0
    mode: str = "running"
    reason: str = ""
    by: str = ""
    mode_ms: int = 0
    drain_seq: int = 0
    drain_left: int = 0
    dropped_seq: int = 0
    total: int = 0
    """The sum of what was added through this lane."""
    failures: int = 0
    """Tries without an answer, in a row."""
    wait_reason: str = ""
    running_since_ms: int | None = None
    next_ms: int | None = None
    retry_ms: int | None = None
    """How long to wait between two tries, if an operator tuned it."""


class Slot(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The addition that is under way; the window is one."""

    intent: IntentId
    seq: int
    size: int
    amount: int
    claimed_ms: int
    place: int | None = None
    """Where the counter is asked to put it; None until the counter was read."""
    attempt: int = 0
    retry_ms: int | None = None
    """When the counter is read again; None while an effect is out."""


# Events, beside those of all lanes.


class CounterRead(Struct, frozen=True):
    """The answer to ReadCounter, with what was asked: a late answer must fit no other slot."""

    now_ms: int
    intent: IntentId
    place: int | None
    count: int | None
    """How many additions the counter has; None if it did not answer."""
    mark: str = ""
    """Of the addition at the place, if there is one: the intent that made it."""
    reason: str = ""


class AddReturned(Struct, frozen=True):
    """The answer to Add."""

    now_ms: int
    intent: IntentId
    attempt: int
    outcome: Outcome
    final: bool = False
    """Of a refusal: whether no further try of it can succeed."""
    reason: str = ""


Event: TypeAlias = IntentsOffered | CounterRead | AddReturned | TimerFired | CommandReceived


# Records, beside those of all lanes.


class SlotClaimed(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    slot: Slot


class AttemptOffered(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """The counter is asked to add it at this place, and at no other."""

    intent: IntentId
    place: int
    attempt: int


class RetryPlanned(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """The counter is read again then, for nobody knows what became of the last try."""

    intent: IntentId
    retry_ms: int
    reason: str
    hurried: bool = False
    """An operator's command, and no failure."""


class ReadBegun(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """The counter is being read again."""


class SlotSettled(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    intent: IntentId
    status: str
    place: int | None
    amount: int
    reason: str
    at_ms: int


class RetryTuned(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    retry_ms: int


Record: TypeAlias = (
    SlotClaimed
    | AttemptOffered
    | RetryPlanned
    | ReadBegun
    | SlotSettled
    | RetryTuned
    | IntentDropped
    | ModeChanged
    | CommandRefused
)


# Effects.


class ReadCounter(Struct, frozen=True):
    """Read how many additions there are, and whose is the one at this place."""

    intent: IntentId
    place: int | None


class Add(Struct, frozen=True):
    """Add it at this place. It may be asked twice: one place takes one addition."""

    intent: IntentId
    place: int
    attempt: int
    amount: int


Effect: TypeAlias = ReadCounter | Add
