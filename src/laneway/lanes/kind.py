"""What the engine knows of a lane kind: five small functions and how its values are written.

The engine treats lanes, events, records and effects as opaque. `Any` stands for them here and
nowhere inside a machine, where every value has its type.
"""

from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct

from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import IntentRow
from laneway.core.records import Decision
from laneway.core.rows import Command, Cursors, HeadWrite, Rows, Touched


class Lane(Protocol):
    """What every lane in memory shows to the engine."""

    id: LaneId
    intents: dict[str, IntentRow]
    """Bytes of the intents in its open rows; not a row itself."""


class LaneKind(Struct, frozen=True):
    """One discipline. Each function's contract stands in ARCHITECTURE §4."""

    name: str
    empty: Callable[[LaneId], Any]
    restore: Callable[[Rows], Any]
    decide: Callable[[Any, Any], Decision[Any, Any]]
    evolve: Callable[[Any, Any], Touched]
    """Folds a record into the lane; the rows it touched, but for those that are `left`."""
    resume: Callable[[Any], tuple[Any, ...]]
    wants: Callable[[Any], int]
    deadline: Callable[[Any], int | None]
    head: Callable[[Any, int | None], HeadWrite]
    """The lane's head as it stands; the second argument is its deadline."""
    cursors: Callable[[Any], Cursors]
    """How far the lane has taken its backlog."""
    offered: Callable[[int, tuple[IntentRow, ...]], Any]
    """The event that hands over intents from the backlog."""
    told: Callable[[int, Command], Any]
    """The event that hands over an operator's command."""
    woken: Callable[[int], Any]
    """The event that says the deadline has passed."""
    encode: Callable[[tuple[Any, ...]], bytes]
    decode: Callable[[bytes], tuple[Any, ...]]
    describe: Callable[[bytes], "LaneState"]
    """What a lane's head says for people, without waking the lane."""
    left: Callable[[Any], Touched] = lambda _: ()
    """Rows that `evolve` left to the end of the turn, to be written once and not with every record
    that touches them."""
    pages: int = 1
    """How much of its backlog it may hold ahead, in pages of the engine's: a lane with a window of
    thousands takes more at once than one with a window of one."""
    serves: Callable[[LaneId], bool] = lambda _: True
    """Whether this process was given what the lane needs."""
    passed: Callable[[int, IntentId], Any] | None = None
    """The event that answers PassOn; None for kinds that send no messages."""


class LaneState(Struct, frozen=True):
    """Where a lane is and why, in words an operator reads."""

    word: str
    """idle, ready, running, backing off, recovering, tripped, halted, paused or draining."""
    reason: str
    since_ms: int
    running: int = 0
    running_since_ms: int | None = None
    executed_count: int = 0
    failures: int = 0
    by: str = ""
    """Who paused or drained it."""
    next_ms: int | None = None
    """When the next attempt, or the next look for one in doubt, is due."""
