"""The contract lane's rows and its three families of values: events, records, effects."""

from typing import TypeAlias

from msgspec import Struct

from laneway.core.ids import IntentId
from laneway.core.intent import IntentRow
from laneway.core.outcome import AttemptWord, Outcome
from laneway.core.rows import START, Command, Cursors

# Rows.


class ContractHead(Struct, array_like=True, forbid_unknown_fields=True):
    """The lane's own head: what it remembers between executions.

    Unlike every other row it is changed in place, by `evolve` alone: it is rewritten with every
    commit, and a copy for each record would cost more than the rest of the turn.
    """

    cursors: Cursors = START
    settled_count: int = 0
    settled_bytes: int = 0
    slot_next: int = 1
    height: int | None = None
    """The latest block known; None means it must be read before the next execution."""
    started_count: int = 0
    """Intents that were given a slot: the seed's executeCount."""
    failures: int = 0
    """Doubtful or failed answers in a row; a tripped breaker is a count at its limit."""
    mode: str = "running"
    """running, paused, draining (finish the queue, then pause) or halted."""
    reason: str = ""
    by: str = ""
    mode_ms: int = 0
    drain_seq: int = 0
    """While draining: the last sequence that is still taken."""
    running_since_ms: int | None = None
    """When the open slot was claimed, so that a page can show its age without loading the lane."""
    doubted: bool = False
    """Whether the open slot's outcome is in doubt."""
    waiting: bool = False
    """Whether the open slot waits for its next attempt."""


class Slot(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Block N+1 on block N, claimed for one intent."""

    id: int
    intent: IntentId
    seq: int
    size: int
    accepted_ms: int
    claimed_ms: int
    attempt_next: int = 1
    stale_count: int = 0
    retry_ms: int | None = None
    """When the next attempt may be made; None while one is out."""
    search_ms: int | None = None
    """When the chain is asked again for a block in doubt."""


class Attempt(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One execution on one parent. Durable before the host hears of it."""

    slot: int
    number: int
    parent: int
    offered_ms: int
    deadline_ms: int
    word: AttemptWord = AttemptWord.OFFERED
    reason: str = ""
    doubted: bool = False
    """Its answer is unknown or its deadline passed: it may have run, and may still land."""
    stale: bool = False
    """The host said its parent was stale; a look at the chain must confirm that."""

    def may_land(self) -> bool:
        return self.word is AttemptWord.OFFERED


class History(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A finished slot with all its attempts, kept in the result."""

    slot: Slot
    attempts: tuple[Attempt, ...]


# Events.


class IntentsOffered(Struct, frozen=True):
    now_ms: int
    intents: tuple[IntentRow, ...]


class HeightRead(Struct, frozen=True):
    """The answer to ReadHeight; None when the host could not be asked."""

    now_ms: int
    slot: int
    height: int | None
    reason: str = ""


class ExecutionReturned(Struct, frozen=True):
    """The answer to Execute."""

    now_ms: int
    slot: int
    attempt: int
    outcome: Outcome
    block: int | None = None
    final: bool = False
    stale: bool = False
    reason: str = ""


class SearchReturned(Struct, frozen=True):
    """The answer to FindExecution; `latest` is None when the host could not be asked."""

    now_ms: int
    slot: int
    attempt: int
    latest: int | None
    block: int | None = None
    reason: str = ""


class TimerFired(Struct, frozen=True):
    now_ms: int


class CommandTold(Struct, frozen=True):
    now_ms: int
    command: Command


Event: TypeAlias = (
    IntentsOffered | HeightRead | ExecutionReturned | SearchReturned | TimerFired | CommandTold
)


# Records.


class SlotClaimed(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    slot: Slot
    priority: int
    attempt: Attempt | None
    """Its first attempt, when the height was known; else one follows once it is read."""


class AttemptOffered(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    attempt: Attempt


class AttemptDoubted(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """Nobody knows whether it ran. It counts as sent."""

    slot: int
    attempt: int
    stale: bool
    reason: str
    at_ms: int


class AttemptRefused(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """Proven not to have run, and never to run."""

    slot: int
    attempt: int
    word: AttemptWord
    reason: str
    at_ms: int


class RetryPlanned(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    slot: int
    retry_ms: int | None
    """None: it is being tried now."""
    reason: str
    failed: bool
    """Whether it counts toward the breaker."""


class SearchPlanned(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    slot: int
    search_ms: int | None
    """None: the chain is being asked now."""


class SlotSettled(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    slot: int
    status: str
    attempt: int | None
    block: int | None
    reason: str
    at_ms: int


class IntentDropped(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """A waiting intent became final without a slot: cancelled or expired."""

    intent: IntentId
    seq: int
    priority: int
    size: int
    status: str
    reason: str
    at_ms: int
    passed: bool
    """It was pulled from the backlog, so the cursor passes it."""


class ModeChanged(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    mode: str
    reason: str
    by: str
    at_ms: int
    drain_seq: int = 0


class CommandRefused(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """An operator's word that cannot be followed, and why."""

    verb: str
    intent: IntentId | None
    reason: str
    at_ms: int


Record: TypeAlias = (
    SlotClaimed
    | AttemptOffered
    | AttemptDoubted
    | AttemptRefused
    | RetryPlanned
    | SearchPlanned
    | SlotSettled
    | IntentDropped
    | ModeChanged
    | CommandRefused
)


# Effects.


class ReadHeight(Struct, frozen=True):
    slot: int
    payload: bytes


class Execute(Struct, frozen=True):
    """Run it on this parent. Not repeated after a crash: FindExecution takes its place."""

    slot: int
    attempt: int
    payload: bytes
    parent: int
    deadline_ms: int


class FindExecution(Struct, frozen=True):
    """Look for our executor and data behind the parent."""

    slot: int
    attempt: int
    """The latest attempt when it was asked: an older question cannot deny a newer attempt."""
    payload: bytes
    parent: int


Effect: TypeAlias = ReadHeight | Execute | FindExecution
