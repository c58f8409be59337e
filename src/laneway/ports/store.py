"""What the engine asks of a store: to accept, claim, load and commit, and what readers ask."""

from asyncio import Future
from collections.abc import AsyncIterator, Sequence
from enum import Enum
from typing import Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from laneway.core.errors import LeaseLost
from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import Answer, Arrival, BacklogPage, IntentRow
from laneway.core.rows import (
    Command,
    Cursors,
    FeedEntry,
    Index,
    LaneView,
    Lease,
    Result,
    Rows,
    Write,
)


class Alive(Struct, frozen=True):
    """The heartbeat was written; the owner may act until its own clock says otherwise."""

    peers: tuple[Owner, ...] = ()
    """Everyone whose heart beats, the owner included, sorted by name."""


class Lost(Struct, frozen=True):
    """Someone declared this owner dead. It must stop, and start again under a new name."""


class IntentView(Struct, frozen=True):
    """All the store knows of one intent."""

    intent: IntentRow
    result: Result | None
    open: bool
    """Whether an open row names it (it has a slot, or was returned)."""


class Woken(Struct, frozen=True):
    """Another process left something for this lane."""

    lane: LaneId
    is_command: bool = False
    """Whether a command was left, and not an intent."""


class Ended(Struct, frozen=True):
    """Another process committed final answers of this lane."""

    lane: LaneId


News: TypeAlias = Woken | Ended
"""What other processes did: a hint to look, which may come late, twice or not at all."""


class Commit(Struct, frozen=True):
    """One lane's next write. Lanes share the sync; a lost lease refuses that lane alone."""

    lease: Lease
    version: int
    write: Write


class Durability(Enum):
    """What survives: a power cut, most power cuts, or not even the end of the process."""

    FULL = "full"
    RELAXED = "relaxed"
    MEMORY = "memory"


class Store(Protocol):
    """Rows that outlive the process. See ARCHITECTURE §5 for the laws every store keeps.

    Every answer is a future, which may be done already: a task for each would cost more than
    most answers do.
    """

    durability: Durability
    shared: bool
    """Whether other processes may use it at the same time."""

    # Any process, unfenced.
    def accept(self, arrivals: Sequence[Arrival]) -> Future[Sequence[Answer]]: ...
    def tell(self, command: Command) -> Future[Command]: ...

    # Owners.
    def beat(self, owner: Owner, ttl_ms: int) -> Future[Alive | Lost]: ...
    def leave(self, owner: Owner) -> Future[None]: ...
    def ready(self, now_ms: int, after: LaneId | None, limit: int) -> Future[list[LaneId]]: ...
    def claim(self, lane: LaneId, owner: Owner) -> Future[Lease | None]: ...
    def load(self, lease: Lease) -> Future[Rows]: ...
    def backlog(self, lease: Lease, after: Cursors, limit: int) -> Future[BacklogPage]: ...
    def mailbox(self, lease: Lease) -> Future[Sequence[Command]]: ...
    def commit(self, commits: Sequence[Commit]) -> Future[Sequence[int | LeaseLost]]: ...
    def release(self, lease: Lease) -> Future[None]: ...

    # Readers.
    def intent(self, intent: IntentId) -> Future[IntentView | None]: ...
    def answers(self, lane: LaneId, intents: Sequence[IntentId]) -> Future[list[Result]]:
        """Of these intents of one lane, a few hundred, the answers of those that are final."""

    def find(self, name: str, value: str) -> Future[Index | None]: ...
    def lane(self, lane: LaneId) -> Future[LaneView | None]: ...
    def lanes(self, after: LaneId | None, limit: int) -> Future[list[LaneView]]: ...
    def oldest(self, lane: LaneId) -> Future[IntentRow | None]: ...
    def page(self, status: str, after: IntentId | None, limit: int) -> Future[list[IntentView]]: ...
    def history(self, lane: LaneId, after: IntentId | None, limit: int) -> Future[list[IntentView]]:
        """A lane's intents in its own order (class, then sequence), waiting and final alike."""

    def feed(self, after: str, limit: int) -> Future[list[FeedEntry]]:
        """The entries after this cursor ("" is the beginning), ordered for each lane."""

    def news(self) -> AsyncIterator[News]:
        """What other processes do, while there are any. A reader who must know asks as well."""

    def prune(self, before_ms: int, feed_before_ms: int, limit: int) -> Future[int]: ...
    def close(self) -> Future[None]: ...


@runtime_checkable
class FeedEnd(Protocol):
    """A Store that knows where its feed ends, so that nobody reads all of it to join there."""

    def feed_end(self) -> Future[str]:
        """The cursor after the last entry so far."""


@runtime_checkable
class Cautious(Protocol):
    """A Store on servers that others may promote or demote."""

    def cautions(self) -> Sequence[str]:
        """What could be lost although it was answered, each with the setting that prevents it."""
