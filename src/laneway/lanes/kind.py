"""What the engine knows of a lane kind: five small functions and how its values are written.

The engine treats lanes, events, records and effects as opaque. `Any` stands for them here and
nowhere inside a machine, where every value has its type.
"""

from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from laneway.core.ids import LaneId
from laneway.core.intent import IntentRow
from laneway.core.records import Decision
from laneway.core.rows import Command, Cursors, HeadWrite, Rows, Touched
from laneway.lanes.common import heads
from laneway.lanes.common.values import CommandReceived, IntentsOffered, TimerFired

S = TypeVar("S")


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
    decode: Callable[[bytes], tuple[Any, ...]]
    """Reads the records of one commit, also those of earlier releases."""
    describe: Callable[[bytes], "LaneState"]
    """What a lane's head says for people, without waking the lane."""
    head: Callable[[Any, int | None], HeadWrite] = lambda lane, wake_ms: heads.head_row(
        lane.head, wake_ms
    )
    """The lane's head as it stands; the second argument is its deadline."""
    cursors: Callable[[Any], Cursors] = lambda lane: lane.head.cursors
    """How far the lane has taken its backlog."""
    offered: Callable[[int, tuple[IntentRow, ...]], Any] = IntentsOffered
    """The event that hands over intents from the backlog."""
    commanded: Callable[[int, Command], Any] = CommandReceived
    """The event that hands over an operator's command."""
    woken: Callable[[int], Any] = TimerFired
    """The event that says the deadline has passed."""
    encode: Callable[[tuple[Any, ...]], bytes] = heads.encode
    """The records of one commit as the feed keeps them."""
    left: Callable[[Any], Touched] = lambda _: ()
    """Rows that `evolve` left to the end of the turn, to be written once and not with every record
    that touches them."""
    pages: int = 1
    """How much of its backlog it may hold ahead, in pages of the engine's: a lane with a window of
    thousands takes more at once than one with a window of one."""
    serves: Callable[[LaneId], bool] = lambda _: True
    """Whether this process has what the lane needs."""
    aside_verbs: tuple[str, ...] = ("cancel",)
    """The commands that put an intent aside which stopped its lane."""


class PerLane(Generic[S]):
    """Settings of lanes: the same for all of them, or by lane; one without any is not served."""

    def __init__(self, settings: S | Mapping[LaneId, S]) -> None:
        self._settings = settings

    def of(self, lane: LaneId) -> S:
        return self._settings[lane] if isinstance(self._settings, Mapping) else self._settings

    def serves(self, lane: LaneId) -> bool:
        return not isinstance(self._settings, Mapping) or lane in self._settings


class LaneState(Struct, frozen=True):
    """Where a lane is and why, for operators."""

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
