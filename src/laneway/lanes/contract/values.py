"""The contract lane's rows and its three families of values: events, records, effects."""

from typing import TypeAlias

from msgspec import Struct

from laneway.core.ids import IntentId
from laneway.core.outcome import AttemptWord, Outcome
from laneway.core.rows import START, Cursors
from laneway.lanes.common.released import Dropped, RefusedAt, dropped, records_reader, refused
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
    """The block the next execution builds on; None means it must be read first."""
    floor: int = 0
    """The highest block we know of. A node that lags must not send us back below it, where an
    equal call of ours would be taken for the next one."""
    started_count: int = 0
    """Intents that were given a slot: the seed's executeCount."""
    failures: int = 0
    """Doubtful or failed answers in a row; a tripped breaker is a count at its limit."""
    mode: str = "running"
    """The operator's mode: running, paused, or draining (finish the queue, then pause)."""
    reason: str = ""
    by: str = ""
    mode_ms: int = 0
    drain_seq: int = 0
    """While draining: what was accepted up to this sequence is still to be finished."""
    drain_left: int = 0
    """While draining: how many of these are not final yet."""
    dropped_seq: int = 0
    """The highest sequence that became final while it waited."""
    halted: bool = False
    """The machine's own halt, over the operator's mode: only a person or the chain can go on."""
    halt_ms: int = 0
    wait_reason: str = ""
    """Why the open slot waits, looks or is halted."""
    running_since_ms: int | None = None
    """When the open slot was claimed, so that a page can show its age without loading the lane."""
    doubted: bool = False
    """Whether the open slot's outcome is in doubt."""
    waiting: bool = False
    """Whether the open slot waits for its next attempt."""
    next_ms: int | None = None
    """When the open slot's next attempt or look at the chain is due, for people to see."""


class Slot(LaneRow, frozen=True):
    """Block N+1 on block N, claimed for one intent."""

    id: int
    intent: IntentId
    seq: int
    size: int
    accepted_ms: int
    claimed_ms: int
    attempt_next: int = 1
    stale_count: int = 0
    """How often someone else's block was where its own would have gone."""
    retry_ms: int | None = None
    """When the next attempt may be made; None while one is out, or is being prepared."""
    search_ms: int | None = None
    """When the chain is asked again for a block in doubt; None while it is being asked."""
    final_reason: str | None = None
    """Why a try was refused for good; it is the answer once no other try can land."""


class Attempt(LaneRow, frozen=True):
    """One execution on one parent. Durable before the host is asked."""

    slot: int
    number: int
    parent: int
    offered_ms: int
    deadline_ms: int
    bound: bool
    """The host was asked to build on the parent, so it lands there or nowhere. Kept with the
    attempt: the host may be another one after a restart."""
    word: AttemptWord = AttemptWord.OFFERED
    reason: str = ""
    doubted: bool = False
    """Its answer is unknown or its deadline passed: it may have run, and may still land."""
    stale: bool = False
    """The host said its parent was stale; a look at the chain must confirm that."""

    def may_land(self) -> bool:
        return self.word is AttemptWord.OFFERED

    def is_out(self) -> bool:
        """Whether its own answer is still waited for."""
        return self.word is AttemptWord.OFFERED and not self.doubted


class History(LaneRow, frozen=True):
    """A finished slot with its latest attempts, kept in the result."""

    slot: Slot
    attempts: tuple[Attempt, ...]


# Events.


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


Event: TypeAlias = (
    IntentsOffered | HeightRead | ExecutionReturned | SearchReturned | TimerFired | CommandReceived
)


# Records.


class SlotClaimed(LaneRecord, frozen=True):
    slot: Slot
    priority: int
    attempt: Attempt | None
    """Its first attempt, when the height was known; else one follows once it is read."""


class AttemptOffered(LaneRecord, frozen=True):
    attempt: Attempt


class AttemptDoubted(LaneRecord, frozen=True):
    """Nobody knows whether it ran. It counts as sent."""

    slot: int
    attempt: int
    stale: bool
    reason: str
    at_ms: int
    failed: bool
    """Whether it counts toward the breaker: our own restart and a moved parent do not."""
    aside: bool = False
    """A person put it aside: no other try is made, and the reason is its answer if none landed."""


class AttemptRefused(LaneRecord, frozen=True):
    """Proven not to have run, and never to run; or DROPPED, by a person's command."""

    slot: int
    attempt: int
    word: AttemptWord
    reason: str
    at_ms: int
    final: bool = False
    """No other try of the same call can fare better."""


class RetryPlanned(LaneRecord, frozen=True):
    slot: int
    retry_ms: int | None
    """None: it is being tried now."""
    reason: str
    failed: bool
    """Whether it counts toward the breaker."""
    afresh: bool = False
    """A person wants it tried: what was counted against it is forgotten."""


class SearchPlanned(LaneRecord, frozen=True):
    slot: int
    search_ms: int | None
    """None: the chain is being asked now."""


class SlotSettled(LaneRecord, frozen=True):
    slot: int
    status: str
    attempt: int | None
    block: int | None
    reason: str
    at_ms: int
    intent: IntentId | None = None
    """Whose slot it was, so that a reader who joins the feed in the middle knows it."""


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

decode_records = records_reader(Record, {Dropped: dropped, RefusedAt: refused})


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
    """Look for our executor and data on top of the parent."""

    slot: int
    attempt: int
    """The latest attempt when it was asked: an older question cannot deny a newer attempt."""
    payload: bytes
    parent: int


Effect: TypeAlias = ReadHeight | Execute | FindExecution
