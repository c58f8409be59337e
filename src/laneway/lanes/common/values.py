"""Events and records that mean the same in every lane, whatever its discipline."""

from msgspec import Struct

from laneway.core.ids import IntentId
from laneway.core.intent import IntentRow
from laneway.core.rows import Command

# Bases, for how values are written.


class LaneRow(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A part of a lane's state, as the store keeps it."""


class LaneRecord(LaneRow, frozen=True, tag=True):
    """What becomes true by a decision, as the feed keeps it under its class name."""


# Events.


class IntentsOffered(Struct, frozen=True):
    """Intents from the backlog, in their order."""

    now_ms: int
    intents: tuple[IntentRow, ...]


class TimerFired(Struct, frozen=True):
    """The lane's deadline has passed."""

    now_ms: int


class CommandReceived(Struct, frozen=True):
    """An operator's or a caller's command."""

    now_ms: int
    command: Command


# Records. Two have tags of their own: earlier releases wrote other fields under their names.


class IntentDropped(LaneRecord, frozen=True, tag="intent_dropped"):
    """An intent that waits became final: cancelled or expired. It never gets a slot."""

    intent: IntentId
    seq: int
    priority: int
    size: int
    status: str
    reason: str
    at_ms: int
    passes: bool = True
    """Whether the cursor of its class passes it. Otherwise it stays in the backlog, or had a slot
    before."""


class ModeChanged(LaneRecord, frozen=True):
    """The lane runs, is paused, drains or is halted from now on."""

    mode: str
    """running, paused, draining or halted; of a delivery lane also disabled."""
    reason: str
    by: str
    at_ms: int
    drain_seq: int = 0
    """Of a drain: what was accepted up to this sequence is finished."""
    drain_left: int = 0
    """Of a drain: how many of these are still to come."""
    halt: bool = False
    """The machine halts, or lifts its halt and the operator's last command counts again."""


class CommandRefused(LaneRecord, frozen=True, tag="command_refused"):
    """A command that cannot be followed, and why."""

    verb: str
    reason: str
    intent: IntentId | None = None
