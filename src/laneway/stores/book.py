"""The store's rules without their waiting: what a commit does, step by step.

A Book is synchronous and does one thing at a time. `begin` opens a group, `write` hands it over
and `sync` makes it durable: all of it or nothing. `sync` alone may run on another thread. A call
that raises LeaseLost changed nothing and its group goes on; after any other error the group is
rolled back. The asyncio store (group.py), the simulator and the contract suite all drive the
same Books.
"""

from collections.abc import Sequence
from typing import Protocol

from laneway.core.errors import BadRequest, Bug
from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import Answer, Arrival, BacklogPage, IntentRow
from laneway.core.limits import PRIORITY_CLASSES
from laneway.core.rows import (
    Command,
    Cursors,
    FeedEntry,
    HeadWrite,
    Index,
    LaneView,
    Lease,
    Result,
    Rows,
    Write,
)
from laneway.ports import Alive, Durability, IntentView, Lost
from laneway.stores.limits import FEED_CURSOR_CHARS_MAX

KEY_INDEX = "key"
"""Idempotency keys; the value is the scope, a unit separator and the key."""
ID_INDEX = "id"
"""Pruned intents by id: what is left of them."""


def flush(book: "Book") -> None:
    book.write()
    book.sync()


def key_value(scope: str, key: str) -> str:
    return f"{scope}\x1f{key}"


def feed_place(cursor: str) -> int:
    """The number behind which a feed goes on, in the stores that count."""
    if not cursor:
        return 0
    if not (cursor.isascii() and cursor.isdigit()) or len(cursor) > FEED_CURSOR_CHARS_MAX:
        raise BadRequest("cursor", "not a cursor of this store")
    return int(cursor)


class Book(Protocol):
    durability: Durability
    sync_ms: float
    """How long the last flush waited for the disk."""

    def begin(self) -> None: ...
    def write(self) -> None: ...
    def sync(self) -> None: ...
    def rollback(self) -> None:
        """Forget the open group, if there is one: the book is as it was before `begin`."""

    def accept(self, arrivals: Sequence[Arrival]) -> list[Answer]: ...
    def tell(self, command: Command) -> Command: ...
    def beat(self, owner: Owner, ttl_ms: int, now_ms: int) -> Alive | Lost: ...
    def leave(self, owner: Owner) -> None: ...
    def claim(self, lane: LaneId, owner: Owner, now_ms: int) -> Lease | None: ...
    def commit(self, lease: Lease, version: int, write: Write) -> int: ...
    def release(self, lease: Lease) -> None: ...
    def prune(self, before_ms: int, feed_before_ms: int, limit: int) -> int:
        """Drop finished intents and feed that are old, at most `limit` of each.

        The answer is the larger of the two counts: at the limit there may be more to drop.
        """

    def ready(self, now_ms: int, after: LaneId | None, limit: int) -> list[LaneId]: ...
    def load(self, lease: Lease) -> Rows: ...
    def backlog(self, lease: Lease, after: Cursors, limit: int) -> BacklogPage: ...
    def mailbox(self, lease: Lease) -> Sequence[Command]: ...
    def intent(self, intent: IntentId) -> IntentView | None: ...
    def answers(self, lane: LaneId, intents: Sequence[IntentId]) -> list[Result]: ...
    def find(self, name: str, value: str) -> Index | None: ...
    def lane(self, lane: LaneId) -> LaneView | None: ...
    def lanes(self, after: LaneId | None, limit: int) -> list[LaneView]: ...
    def oldest(self, lane: LaneId) -> IntentRow | None: ...
    def page(self, status: str, after: IntentId | None, limit: int) -> list[IntentView]: ...
    def history(self, lane: LaneId, after: IntentId | None, limit: int) -> list[IntentView]: ...
    def feed(self, after: str, limit: int) -> list[FeedEntry]: ...
    def feed_end(self) -> str:
        """The cursor behind everything told so far."""

    def close(self) -> None: ...


class Pulse:
    """Who is alive, by the store's clock. An owner that was never heard of is dead."""

    def __init__(self) -> None:
        self._until_ms: dict[Owner, int] = {}
        self._dead: set[Owner] = set()

    def beat(self, owner: Owner, ttl_ms: int, now_ms: int) -> Alive | Lost:
        if owner in self._dead:
            return Lost()
        self._until_ms[owner] = now_ms + ttl_ms
        return Alive(tuple(sorted(o for o, until in self._until_ms.items() if until >= now_ms)))

    def leave(self, owner: Owner) -> None:
        self._until_ms.pop(owner, None)

    def gives_way(self, holder: Owner | None, owner: Owner, now_ms: int) -> bool:
        """Whether `owner` may take what `holder` had: only from itself, nobody or the dead."""
        if owner in self._dead:
            return False
        if holder is not None and holder != owner:
            if self.is_alive(holder, now_ms):
                return False
            self.bury(holder)
        return True

    def is_alive(self, owner: Owner, now_ms: int) -> bool:
        return self._until_ms.get(owner, -1) >= now_ms

    def bury(self, owner: Owner) -> None:
        """Someone took a lane from it: it must never beat under this name again."""
        self._until_ms.pop(owner, None)
        self._dead.add(owner)


def wake_after(head: HeadWrite, accepted_count: int, mail: bool) -> int | None:
    """When the lane must be woken after this write; unsettled intents never let it sleep.

    While there is work the answer is "now": should the owner die, whoever looks next must take
    it up at once, and not at some deadline of the lane's. The depth is judged here, in the same
    atomic step as the write, because the lane cannot know what the door accepted meanwhile.
    """
    if mail or accepted_count > head.settled_count:
        return 0
    return head.wake_ms


def check_class(arrival: Arrival) -> None:
    """No backlog reads beyond the last class: an intent there would be accepted and never run."""
    if not 0 <= arrival.priority < PRIORITY_CLASSES:
        raise Bug(
            f"{arrival.id} has priority {arrival.priority}; classes end at {PRIORITY_CLASSES}"
        )


def leftovers(row: IntentRow, result: Result) -> list[Index]:
    """What a pruned intent leaves behind: its key, digest, final word and hash."""
    left = [Index(ID_INDEX, row.id, row.id, row.lane, row.digest, result.status, result.hash)]
    if row.key is not None:
        value = key_value(row.scope, row.key)
        left.append(
            Index(KEY_INDEX, value, row.id, row.lane, row.digest, result.status, result.hash)
        )
    return left


def says_the_same(waiting: Command, told: Command) -> bool:
    """Whether a command about an intent lies in the mailbox already.

    Such a command is told once: two of them could make one intent final twice, for a lane does
    not remember which of the intents that still wait were cancelled. For the same reason a
    command about an intent that is final is not queued at all; it comes back with the id 0.
    """
    return (
        told.intent is not None
        and waiting.intent == told.intent
        and waiting.verb == told.verb
        and waiting.word == told.word
    )
