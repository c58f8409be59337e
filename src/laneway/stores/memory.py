"""Rows in memory: for tests and the simulator. Every law of the real stores holds here too."""

import heapq
from collections.abc import Sequence
from typing import Any, TypeAlias, assert_never

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
    all_classes,
)
from laneway.ports import Alive, Durability, IntentView, Lost
from laneway.stores.book import (
    ID_INDEX,
    KEY_INDEX,
    Pulse,
    check_class,
    feed_place,
    key_value,
    leftovers,
    says_the_same,
    wake_after,
)
from laneway.stores.limits import BACKLOG_PAGE_BYTES_MAX

replace = msgspec.structs.replace

Change: TypeAlias = tuple[Any, Any, Any]
"""One change of the open group: a table, a key and what stood there before (None: nothing), or
an object, a field and its value, or a list that grew by one."""


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
        self.numbers: dict[IntentId, int] = {}
        """The order in which intents were accepted, for paging; pruned ones included."""
        self.results: dict[IntentId, Result] = {}
        self.indexes: dict[tuple[str, str], Index] = {}
        self.entries: list[FeedEntry] = []
        self.feed_next = 1
        self.command_next = 1
        self.pulse = Pulse()
        self._undo: list[Change] = []

    def begin(self) -> None:
        self._undo.clear()

    def write(self) -> None:
        pass

    def sync(self) -> None:
        self._undo.clear()

    def rollback(self) -> None:
        while self._undo:
            place, key, old = self._undo.pop()
            if type(place) is list:
                place.pop()
            elif type(place) is not dict:
                setattr(place, key, old)
            elif old is None:
                place.pop(key, None)
            else:
                place[key] = old
        # Pruned intents that came back stand last, but pages go by acceptance.
        self.intents = dict(sorted(self.intents.items(), key=lambda row: self.numbers[row[0]]))

    def _shelf(self, lane: LaneId) -> LaneShelf:
        """The lane's shelf, made on demand; its head is about to change."""
        shelf = self.shelves.get(lane)
        if shelf is None:
            self._undo.append((self.shelves, lane, None))
            shelf = self.shelves[lane] = LaneShelf(lane)
        else:
            self._undo.append((shelf, "head", shelf.head))
        return shelf

    def _put(self, table: dict[Any, Any], key: object, value: object) -> None:
        self._undo.append((table, key, table.get(key)))
        table[key] = value

    def _drop(self, table: dict[Any, Any], key: object) -> None:
        self._undo.append((table, key, table.pop(key, None)))

    def _next(self, name: str) -> int:
        number: int = getattr(self, name)
        self._undo.append((self, name, number))
        setattr(self, name, number + 1)
        return number

    # Any process, unfenced.

    def accept(self, arrivals: Sequence[Arrival]) -> list[Answer]:
        return [self._accept(arrival) for arrival in arrivals]

    def _accept(self, arrival: Arrival) -> Answer:
        check_class(arrival)
        known = self._known(arrival)
        if known is not None:
            return known
        shelf = self.shelves.get(arrival.lane) or LaneShelf(arrival.lane)
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
        shelf = self._shelf(arrival.lane)
        self._undo.append((shelf, "tail", tail))
        shelf.tail = tail_after(tail, size, fast=fast)
        shelf.head = replace(head, wake_ms=0)
        line = shelf.classes.setdefault(row.priority, [])
        line.append(row)
        self._undo.append((line, None, None))
        self._put(self.intents, row.id, row)
        self._put(self.numbers, row.id, len(self.numbers) + 1)
        if row.key is not None:
            value = key_value(row.scope, row.key)
            self._put_index(Index(KEY_INDEX, value, row.id, row.lane, row.digest))
        return Accepted(row.id, row.seq, depth + 1, unsettled + size, fast)

    def _put_index(self, index: Index) -> None:
        self._put(self.indexes, (index.name, index.value), index)

    def _known(self, arrival: Arrival) -> Answer | None:
        if arrival.id in self.intents or (ID_INDEX, arrival.id) in self.indexes:
            if arrival.fresh:
                raise Bug(f"{arrival.id} was said to be fresh, but it is known")
            return Replayed(arrival.id)
        if arrival.key is None:
            return None
        index = self.indexes.get((KEY_INDEX, key_value(arrival.scope, arrival.key)))
        if index is None:
            return None
        return Replayed(index.intent) if index.digest == arrival.digest else Conflict(index.intent)

    def tell(self, command: Command) -> Command:
        if command.intent in self.results or (ID_INDEX, command.intent) in self.indexes:
            return replace(command, id=0)
        shelf = self._shelf(command.lane)
        for waiting in shelf.mail.values():
            if says_the_same(waiting, command):
                return waiting
        command = replace(command, id=self._next("command_next"))
        self._put(shelf.mail, command.id, command)
        shelf.head = replace(shelf.head, wake_ms=0)
        return command

    # Owners.

    def beat(self, owner: Owner, ttl_ms: int, now_ms: int) -> Alive | Lost:
        return self.pulse.beat(owner, ttl_ms, now_ms)

    def leave(self, owner: Owner) -> None:
        self.pulse.leave(owner)

    def claim(self, lane: LaneId, owner: Owner, now_ms: int) -> Lease | None:
        head = (self.shelves.get(lane) or LaneShelf(lane)).head
        if not self.pulse.gives_way(head.owner, owner, now_ms):
            return None
        shelf = self._shelf(lane)
        shelf.head = replace(head, owner=owner, fence=head.fence + 1)
        return Lease(lane, owner, head.fence + 1)

    def commit(self, lease: Lease, version: int, write: Write) -> int:
        held = self.shelves.get(lease.lane)
        digest = write.digest()
        if held is None or held.head.fence != lease.fence:
            raise LeaseLost(lease.lane, lease.fence, version)
        head = held.head
        if head.version == version:
            if head.digest == digest:
                return version
            raise Bug(f"{lease.lane}: version {version} was written with other rows")
        if head.version + 1 != version:
            raise LeaseLost(lease.lane, lease.fence, version)
        shelf = self._shelf(lease.lane)
        for touch in write.touched:
            match touch:
                case RowPut():
                    self._put(shelf.rows, (touch.table, touch.key), touch)
                case RowKey():
                    self._drop(shelf.rows, (touch.table, touch.key))
                case Result():
                    self._put_result(touch)
                case Index():
                    self._put_index(touch)
                case _:
                    assert_never(touch)
        for done in write.answered:
            self._drop(shelf.mail, done)
        shelf.head = Head(
            lane=head.lane,
            owner=head.owner,
            fence=head.fence,
            version=version,
            digest=digest,
            cursors=write.head.cursors,
            settled_count=write.head.settled_count,
            settled_bytes=write.head.settled_bytes,
            wake_ms=wake_after(write.head, shelf.tail.accepted_count, bool(shelf.mail)),
            state=write.head.state,
        )
        if write.feed:
            cursor = self._next("feed_next")
            self.entries.append(
                FeedEntry(str(cursor), lease.lane, version, write.at_ms, write.feed)
            )
            self._undo.append((self.entries, None, None))
        return version

    def _put_result(self, result: Result) -> None:
        if result.intent in self.results:
            raise Bug(f"{result.intent} has a final answer already")
        if result.intent not in self.intents:
            raise Bug("a final answer names an intent that is not there")
        self._put(self.results, result.intent, result)

    def release(self, lease: Lease) -> None:
        held = self.shelves.get(lease.lane)
        if held is not None and held.head.fence == lease.fence:
            shelf = self._shelf(lease.lane)
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
        shelf = self._held(lease)
        if shelf.head.fence != lease.fence:
            raise LeaseLost(lease.lane, lease.fence, shelf.head.version)
        rows = tuple(shelf.rows[key] for key in sorted(shelf.rows))
        named = sorted({row.intent for row in rows if row.intent is not None})
        return Rows(
            head=shelf.head,
            open=rows,
            intents=tuple(self.intents[intent] for intent in named),
            mailbox=self._mailbox(shelf),
        )

    def _held(self, lease: Lease) -> LaneShelf:
        shelf = self.shelves.get(lease.lane)
        if shelf is None:
            raise LeaseLost(lease.lane, lease.fence, 0)
        return shelf

    def backlog(self, lease: Lease, after: Cursors, limit: int) -> BacklogPage:
        shelf = self._held(lease)
        rows: list[IntentRow] = []
        size = 0
        for priority, seq in enumerate(all_classes(after)):
            for row in self._behind(shelf.classes.get(priority, []), seq):
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
        return self._mailbox(self._held(lease))

    @staticmethod
    def _mailbox(shelf: LaneShelf) -> tuple[Command, ...]:
        return tuple(shelf.mail[command] for command in sorted(shelf.mail))

    def intent(self, intent: IntentId) -> IntentView | None:
        row = self.intents.get(intent)
        if row is None:
            return None
        named = any(put.intent == intent for put in self.shelves[row.lane].rows.values())
        return IntentView(row, self.results.get(intent), named)

    def answers(self, _lane: LaneId, intents: Sequence[IntentId]) -> list[Result]:
        return [self.results[intent] for intent in intents if intent in self.results]

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
        number = 0 if after is None else self.numbers.get(after, 0)
        found: list[IntentView] = []
        for intent in self.intents:
            if self.numbers[intent] <= number:
                continue
            view = self.intent(intent)
            assert view is not None
            if view_has_status(view, word):
                found.append(view)
                if len(found) == limit:
                    break
        return found

    def history(self, lane: LaneId, after: IntentId | None, limit: int) -> list[IntentView]:
        shelf = self.shelves.get(lane)
        classes = {} if shelf is None else shelf.classes
        rows = [row for priority in sorted(classes) for row in classes[priority]]
        row = None if after is None else self.intents.get(after)
        if row is not None:
            rows = [
                other for other in rows if (other.priority, other.seq) > (row.priority, row.seq)
            ]
        views = (self.intent(other.id) for other in rows[:limit])
        return [view for view in views if view is not None]

    def feed(self, after: str, limit: int) -> list[FeedEntry]:
        place = feed_place(after)
        return [entry for entry in self.entries if feed_place(entry.cursor) > place][:limit]

    def feed_end(self) -> str:
        return str(self.feed_next - 1)

    def prune(self, before_ms: int, feed_before_ms: int, limit: int) -> int:
        old = [r for r in self.results.values() if r.settled_ms < before_ms and self._rests(r)]
        for result in old[:limit]:
            row = self.intents[result.intent]
            self._drop(self.intents, row.id)
            self._drop(self.results, row.id)
            classes = self.shelves[row.lane].classes
            self._put(classes, row.priority, [r for r in classes[row.priority] if r is not row])
            for index in leftovers(row, result):
                self._put_index(index)
        trimmed = [entry.cursor for entry in self.entries if entry.at_ms < feed_before_ms]
        gone = set(trimmed[:limit])
        self._undo.append((self, "entries", self.entries))
        self.entries = [entry for entry in self.entries if entry.cursor not in gone]
        return max(len(old[:limit]), len(gone))

    def _rests(self, result: Result) -> bool:
        """Whether no slot still watches over the finished intent."""
        view = self.intent(result.intent)
        return view is not None and not view.open

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


def view_has_status(view: IntentView, word: Status) -> bool:
    """Final words are stored; of the open ones a store tells only waiting from begun."""
    if view.result is not None:
        return view.result.status == word.value
    return not word.is_final() and view.open == (word is not Status.QUEUED)
