"""Rows in memory: for tests and the simulator. Every law of the real stores holds here too."""

import heapq
from collections.abc import Sequence
from typing import assert_never

import msgspec

from laneway.core.errors import Bug, LeaseLost
from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import (
    Accepted,
    Answer,
    Arrival,
    BacklogPage,
    Conflict,
    Full,
    IntentRow,
    Replayed,
    placed,
)
from laneway.core.outcome import Status
from laneway.core.rows import (
    Command,
    Cursors,
    FeedEntry,
    Head,
    Index,
    LaneView,
    Lease,
    Result,
    RowKey,
    RowPut,
    Rows,
    Tail,
    Write,
)
from laneway.ports import Alive, Durability, IntentView, Lost
from laneway.stores.book import ID_INDEX, KEY_INDEX, Pulse, key_value, wake_after
from laneway.stores.limits import BACKLOG_PAGE_BYTES_MAX

replace = msgspec.structs.replace


class LaneShelf:
    """All rows of one lane."""

    __slots__ = ("classes", "head", "mail", "rows", "tail")

    def __init__(self, lane: LaneId) -> None:
        self.tail = Tail(lane)
        self.head = Head(lane)
        self.rows: dict[tuple[str, str], RowPut] = {}
        self.mail: dict[int, Command] = {}
        self.classes: dict[int, list[IntentRow]] = {}
        """Waiting and taken intents by priority class, each in order of sequence."""


class MemoryBook:
    """A Book whose flush is instant; what a crash keeps is the simulator's to say."""

    durability = Durability.MEMORY
    sync_ms = 0.0

    def __init__(self) -> None:
        self.shelves: dict[LaneId, LaneShelf] = {}
        self.intents: dict[IntentId, IntentRow] = {}
        self.results: dict[IntentId, Result] = {}
        self.indexes: dict[tuple[str, str], Index] = {}
        self.entries: list[FeedEntry] = []
        self.feed_next = 1
        self.command_next = 1
        self.pulse = Pulse()

    def begin(self) -> None:
        pass

    def write(self) -> None:
        pass

    def sync(self) -> None:
        pass

    def rollback(self) -> None:
        raise Bug("nothing in memory can fail half-way")

    # Any process, unfenced.

    def accept(self, arrivals: Sequence[Arrival]) -> list[Answer]:
        return [self._accept(arrival) for arrival in arrivals]

    def _accept(self, arrival: Arrival) -> Answer:
        known = self._known(arrival)
        if known is not None:
            return known
        shelf = self.shelves.get(arrival.lane)
        if shelf is None:
            shelf = self.shelves[arrival.lane] = LaneShelf(arrival.lane)
        tail, head = shelf.tail, shelf.head
        size = len(arrival.payload)
        depth = tail.accepted_count - head.settled_count
        unsettled = tail.accepted_bytes - head.settled_bytes
        if arrival.count_max is not None and depth >= arrival.count_max:
            return Full("intents", arrival.count_max)
        if arrival.bytes_max is not None and unsettled + size > arrival.bytes_max:
            return Full("bytes", arrival.bytes_max)
        row = placed(arrival, tail.seq_next)
        fast = depth < arrival.fast_size
        shelf.tail = tail_after(tail, size, fast=fast)
        shelf.head = replace(head, wake_ms=0)
        shelf.classes.setdefault(row.priority, []).append(row)
        self.intents[row.id] = row
        if row.key is not None:
            value = key_value(row.scope, row.key)
            self.indexes[(KEY_INDEX, value)] = Index(KEY_INDEX, value, row.id, row.lane, row.digest)
        return Accepted(row.id, row.seq, depth + 1, unsettled + size, fast)

    def _known(self, arrival: Arrival) -> Answer | None:
        if arrival.id in self.intents or (ID_INDEX, arrival.id) in self.indexes:
            assert not arrival.fresh
            return Replayed(arrival.id)
        if arrival.key is None:
            return None
        index = self.indexes.get((KEY_INDEX, key_value(arrival.scope, arrival.key)))
        if index is None:
            return None
        return Replayed(index.intent) if index.digest == arrival.digest else Conflict(index.intent)

    def tell(self, command: Command) -> Command:
        shelf = self.shelves.get(command.lane)
        if shelf is None:
            shelf = self.shelves[command.lane] = LaneShelf(command.lane)
        command = replace(command, id=self.command_next)
        self.command_next += 1
        shelf.mail[command.id] = command
        shelf.head = replace(shelf.head, wake_ms=0)
        return command

    # Owners.

    def beat(self, owner: Owner, ttl_ms: int, now_ms: int) -> Alive | Lost:
        return self.pulse.beat(owner, ttl_ms, now_ms)

    def leave(self, owner: Owner) -> None:
        self.pulse.leave(owner)

    def claim(self, lane: LaneId, owner: Owner, now_ms: int) -> Lease | None:
        shelf = self.shelves.get(lane)
        if shelf is None:
            shelf = self.shelves[lane] = LaneShelf(lane)
        head = shelf.head
        if head.owner is not None and head.owner != owner:
            if self.pulse.is_alive(head.owner, now_ms):
                return None
            self.pulse.bury(head.owner)
        shelf.head = replace(head, owner=owner, fence=head.fence + 1)
        return Lease(lane, owner, head.fence + 1)

    def commit(self, lease: Lease, version: int, write: Write) -> int:
        shelf = self.shelves[lease.lane]
        head = shelf.head
        digest = write.digest()
        if head.fence != lease.fence:
            raise LeaseLost(lease.lane, lease.fence, version)
        if head.version == version:
            if head.digest == digest:
                return version
            raise Bug(f"{lease.lane}: version {version} was written with other rows")
        if head.version + 1 != version:
            raise LeaseLost(lease.lane, lease.fence, version)
        for touch in write.touched:
            match touch:
                case RowPut():
                    shelf.rows[(touch.table, touch.key)] = touch
                case RowKey():
                    shelf.rows.pop((touch.table, touch.key), None)
                case Result():
                    if touch.intent in self.results:
                        raise Bug(f"{touch.intent} has a final answer already")
                    self.results[touch.intent] = touch
                case Index():
                    self.indexes[(touch.name, touch.value)] = touch
                case _:
                    assert_never(touch)
        for done in write.answered:
            shelf.mail.pop(done, None)
        shelf.head = Head(
            lane=head.lane,
            owner=head.owner,
            fence=head.fence,
            version=version,
            digest=digest,
            cursors=write.head.cursors,
            settled_count=write.head.settled_count,
            settled_bytes=write.head.settled_bytes,
            wake_ms=wake_after(write, shelf.tail.accepted_count, bool(shelf.mail)),
            state=write.head.state,
        )
        if write.feed:
            self.entries.append(
                FeedEntry(self.feed_next, lease.lane, version, write.at_ms, write.feed)
            )
            self.feed_next += 1
        return version

    def release(self, lease: Lease) -> None:
        shelf = self.shelves[lease.lane]
        if shelf.head.fence == lease.fence:
            shelf.head = replace(shelf.head, owner=None)

    # Readers.

    def ready(self, now_ms: int, after: LaneId | None, limit: int) -> list[LaneId]:
        due = (
            lane
            for lane, shelf in self.shelves.items()
            if shelf.head.wake_ms is not None
            and shelf.head.wake_ms <= now_ms
            and (after is None or lane > after)
        )
        return heapq.nsmallest(limit, due)

    def load(self, lease: Lease) -> Rows:
        shelf = self.shelves[lease.lane]
        if shelf.head.fence != lease.fence:
            raise LeaseLost(lease.lane, lease.fence, shelf.head.version)
        rows = tuple(shelf.rows[key] for key in sorted(shelf.rows))
        named = sorted({row.intent for row in rows if row.intent is not None})
        return Rows(
            head=shelf.head,
            open=rows,
            intents=tuple(self.intents[intent] for intent in named),
            mailbox=tuple(shelf.mail.values()),
        )

    def backlog(self, lease: Lease, after: Cursors, limit: int) -> BacklogPage:
        shelf = self.shelves[lease.lane]
        rows: list[IntentRow] = []
        size = 0
        for priority in sorted(shelf.classes):
            for row in self._behind(shelf.classes[priority], after[priority]):
                if row.id in self.results:
                    continue
                if len(rows) == limit or (rows and size + row.size() > BACKLOG_PAGE_BYTES_MAX):
                    return BacklogPage(tuple(rows), more=True)
                size += row.size()
                rows.append(row)
        return BacklogPage(tuple(rows), more=False)

    @staticmethod
    def _behind(rows: list[IntentRow], seq: int) -> Sequence[IntentRow]:
        # Sequences of a class rise, so the place behind the cursor is found by halving.
        low, high = 0, len(rows)
        while low < high:
            middle = (low + high) // 2
            if rows[middle].seq <= seq:
                low = middle + 1
            else:
                high = middle
        return rows[low:]

    def mailbox(self, lease: Lease) -> Sequence[Command]:
        return tuple(self.shelves[lease.lane].mail.values())

    def intent(self, intent: IntentId) -> IntentView | None:
        row = self.intents.get(intent)
        if row is None:
            return None
        named = any(put.intent == intent for put in self.shelves[row.lane].rows.values())
        return IntentView(row, self.results.get(intent), named)

    def find(self, name: str, value: str) -> Index | None:
        return self.indexes.get((name, value))

    def lane(self, lane: LaneId) -> LaneView | None:
        shelf = self.shelves.get(lane)
        if shelf is None:
            return None
        return LaneView(shelf.tail, shelf.head, shelf.head.owner is not None)

    def lanes(self, after: LaneId | None, limit: int) -> list[LaneView]:
        names = (lane for lane in self.shelves if after is None or lane > after)
        views = [self.lane(lane) for lane in heapq.nsmallest(limit, names)]
        return [view for view in views if view is not None]

    def oldest(self, lane: LaneId) -> IntentRow | None:
        shelf = self.shelves.get(lane)
        if shelf is None:
            return None
        page = self.backlog(Lease(lane, Owner(""), 0), shelf.head.cursors, 1)
        return page.intents[0] if page.intents else None

    def page(self, status: str, after: IntentId | None, limit: int) -> list[IntentView]:
        word = Status(status)
        found: list[IntentView] = []
        for intent in sorted(self.intents):
            if after is not None and intent <= after:
                continue
            view = self.intent(intent)
            assert view is not None
            if view_has_status(view, word):
                found.append(view)
                if len(found) == limit:
                    break
        return found

    def feed(self, after: int, limit: int) -> list[FeedEntry]:
        return [entry for entry in self.entries if entry.cursor > after][:limit]

    def prune(self, before_ms: int, feed_before_ms: int, limit: int) -> int:
        old = [r for r in self.results.values() if r.settled_ms < before_ms][:limit]
        for result in old:
            row = self.intents.pop(result.intent)
            del self.results[result.intent]
            self.shelves[row.lane].classes[row.priority].remove(row)
            for index in leftovers(row, result):
                self.indexes[(index.name, index.value)] = index
        self.entries = [entry for entry in self.entries if entry.at_ms >= feed_before_ms]
        return len(old)

    def close(self) -> None:
        pass


def tail_after(tail: Tail, size: int, *, fast: bool) -> Tail:
    return Tail(
        tail.lane,
        tail.seq_next + 1,
        tail.accepted_count + 1,
        tail.accepted_bytes + size,
        tail.fast_hits + (1 if fast else 0),
        tail.slow_hits + (0 if fast else 1),
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


def view_has_status(view: IntentView, word: Status) -> bool:
    """Final words are stored; of the open ones a store tells only waiting from begun."""
    if view.result is not None:
        return view.result.status == word.value
    return not word.is_final() and view.open == (word is not Status.QUEUED)
