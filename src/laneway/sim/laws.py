"""What the laws of all kinds of worlds have in common; each kind adds its own."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from laneway.core.ids import LaneId, Owner, lane_kind
from laneway.core.intent import IntentRow
from laneway.core.rows import FeedEntry, Lease, Result, Rows
from laneway.sim.clients import Wish
from laneway.sim.world import LawBroken, World
from laneway.stores.memory import MemoryBook

if TYPE_CHECKING:
    from laneway.sim.process import Process

COMPARED_EVERY = 3
"""Loading a lane costs as much as a dozen steps, so every third commit is compared."""

FEED_PAGE = 1_000


class WorldLaws(ABC):
    """Safety at every step, the account at the end."""

    _world: World

    def __init__(self, world: World) -> None:
        self._world = world
        self._commits = 0
        self._place = 0
        self._cursor = ""

    # What a kind says.

    @abstractmethod
    def restore(self, rows: Rows, settings: Any) -> Any:
        """A lane from its rows."""

    @abstractmethod
    def shape(self, lane: Any) -> dict[str, object]:
        """All that a lane is, its caches of intents aside."""

    @abstractmethod
    def check_result(self, wish: Wish, result: Result) -> None:
        """At the end: a final answer is true of the chain."""

    @abstractmethod
    def check_rest(self, lane: LaneId) -> None:
        """At the end: nothing of a lane is left open, and its counts add up."""

    # At every step.

    def recorded(self, lane: LaneId, records: Sequence[Any]) -> None:  # noqa: B027
        """Laws may read durable records from the store's own feed as well."""

    def committed(self, process: "Process", lane: LaneId) -> None:
        """After every commit what the store holds equals what the lane is in memory."""
        self._commits += 1
        view = self._world.book.lane(lane)
        assert view is not None
        if self._commits % COMPARED_EVERY or view.head.owner != process.owner:
            return
        if process.reactor.is_settled(lane):
            memory = process.reactor.lane(lane)
            if apart := self.parted(self.load(lane, memory.settings), memory):
                raise LawBroken(f"{lane}: in the store and in memory {apart}")

    # At the end.

    def account(self) -> None:
        """Every accepted wish has one final answer, and it is true."""
        world, client = self._world, self._world.client
        for wish in client.wishes:
            assert wish.acked is not None
            view = world.book.intent(wish.acked)
            if view is None or view.result is None:
                raise LawBroken(f"never lost: {wish.data} has no answer")
            known = client.results.get(wish.acked)
            if known is not None and known != view.result:
                raise LawBroken(f"{wish.data} was answered {known}, the store says {view.result}")
            self.check_result(wish, view.result)
            world.seen[f"result:{view.result.status}"] += 1
        for lane in world.lanes:
            view_ = world.book.lane(lane)
            if view_ is not None:
                if view_.depth():
                    raise LawBroken(f"{lane}: all is settled, yet its depth is {view_.depth()}")
                self.check_rest(lane)

    # What is durable.

    def rows(self, lane: LaneId) -> Rows:
        view = self._world.book.lane(lane)
        assert view is not None
        return self._world.book.load(Lease(lane, view.head.owner or Owner(""), view.head.fence))

    def load(self, lane: LaneId, settings: Any) -> Any:
        return self.restore(self.rows(lane), settings)

    def entries(self) -> Sequence[FeedEntry]:
        """All that was committed since they were asked for last, in its order; a process may have
        died before it knew."""
        book = self._world.book
        if isinstance(book, MemoryBook):
            found = book.entries[self._place :]
            self._place += len(found)
            return found
        page = book.feed(self._cursor, FEED_PAGE)
        if page:
            self._cursor = page[-1].cursor
        return page

    def unread(self) -> Iterator[tuple[LaneId, tuple[Any, ...]]]:
        """The records of each commit since the last call, with their lane."""
        if self._world.is_written:
            self._world.is_written = False
            for entry in self.entries():
                yield entry.lane, self._world.kinds[lane_kind(entry.lane)].decode(entry.records)

    def records(self, lane: LaneId) -> Iterator[Any]:
        """All records of a lane that the feed ever had."""
        cursor = ""
        while entries := self._world.book.feed(cursor, FEED_PAGE):
            for entry in entries:
                if entry.lane == lane:
                    yield from self._world.kinds[lane_kind(lane)].decode(entry.records)
            cursor = entries[-1].cursor

    def row(self, key: str) -> IntentRow:
        """The intent that a caller gave this key."""
        index = self._world.book.find("key", f"\x1f{key}")
        if index is None:
            raise LawBroken(f"never lost: {key} was done, and the store does not know it")
        view = self._world.book.intent(index.intent)
        assert view is not None
        return view.intent

    def check_line(self, lane: LaneId, data: Sequence[str], *, is_ordered: bool = True) -> None:
        """Each intent is on the chain once, and those of one class in the order of acceptance."""
        if len(set(data)) != len(data):
            raise LawBroken(f"never twice: {lane} has {data}")
        keys = {wish.data: wish.key for wish in self._world.client.by_intent.values()}
        for datum in data:
            if datum not in keys:
                raise LawBroken(f"{lane}: {datum} is on the chain and was never accepted")
        rows = [self.row(keys[datum]) for datum in data] if is_ordered else []
        for priority in {row.priority for row in rows}:
            seqs = [row.seq for row in rows if row.priority == priority]
            if seqs != sorted(seqs):
                raise LawBroken(f"in order: {lane} has {data}, in the sequence {seqs}")

    def check_feed(self, lane: LaneId, folded: Any, kept: Any) -> None:
        """The feed's records make the same lane as the rows."""
        if apart := self.parted(folded, kept):
            raise LawBroken(f"{lane}: by the feed and by the rows {apart}")

    def parted(self, one: Any, other: Any) -> str:
        """The fields in which two lanes differ; empty where they are alike."""
        first, second = self.shape(one), self.shape(other)
        return "; ".join(
            f"{name} are {first[name]}, and {second[name]}"
            for name in first
            if first[name] != second[name]
        )
