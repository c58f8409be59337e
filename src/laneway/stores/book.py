"""The store's rules without their waiting: what a commit does, step by step.

A Book is synchronous and does one thing at a time. `begin` opens a group, `write` hands it over
and `sync` makes it durable: all of it or nothing. `sync` alone may run on another thread. A call
that raises LeaseLost changed nothing and its group goes on; after any other error the group is
rolled back. The asyncio store (group.py), the simulator and the contract suite all drive the
same Books.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

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
from laneway.ports import Alive, Commit, Durability, IntentView, Lost
from laneway.stores.judge import Judge


def flush(book: "Book") -> None:
    book.write()
    book.sync()


def committed(
    commit: Callable[[Lease, int, Write], int], commits: Sequence[Commit]
) -> list[int | LeaseLost]:
    """What each of these commits is answered."""
    answers: list[int | LeaseLost] = []
    for one in commits:
        try:
            answers.append(commit(one.lease, one.version, one.write))
        except LeaseLost as lost:
            # That lane alone is refused; the rest of the group is not its business.
            answers.append(lost)
    return answers


class Book(Protocol):
    """A store that one process has for itself. What writes is judged in the open group; owners live
    by the clock of the caller, and one that never sent a heartbeat is dead."""

    durability: Durability
    sync_ms: float
    """How long the last flush waited for the disk."""
    _group: Judge | None
    _until_ms: dict[Owner, int]
    _dead: set[Owner]

    def __init__(self) -> None:
        self._group = None
        self._until_ms, self._dead = {}, set()

    # Groups.

    def begin(self) -> None: ...
    def write(self) -> None: ...
    def sync(self) -> None: ...
    def rollback(self) -> None:
        """Forget the open group, if there is one: the book is as it was before `begin`."""

    @property
    def group(self) -> Judge:
        """The open group."""
        assert self._group is not None
        return self._group

    # Writers.

    def accept(self, arrivals: Sequence[Arrival]) -> list[Answer]:
        return self.group.accept(arrivals)

    def tell(self, command: Command) -> Command:
        return self.group.tell(command)

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
            if self._until_ms.get(holder, -1) >= now_ms:
                return False
            # A lane is taken from it: it must never beat under this name again.
            self.leave(holder)
            self._dead.add(holder)
        return True

    def claim(self, lane: LaneId, owner: Owner, now_ms: int) -> Lease | None:
        return self.group.claim(lane, owner, now_ms)

    def commit(self, lease: Lease, version: int, write: Write) -> int:
        return self.group.commit(lease, version, write)

    def release(self, lease: Lease) -> None:
        self.group.release(lease)

    def prune(self, before_ms: int, feed_before_ms: int, limit: int) -> int:
        """Drop finished intents and feed that are old, at most `limit` of each.

        The answer is the larger of the two counts: at the limit there may be more to drop.
        """

    # Readers.

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
        """The cursor after the newest entry of the feed."""

    def close(self) -> None: ...
