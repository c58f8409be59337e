"""Rows in memory: for tests and the simulator. Every law of the real stores holds here too."""

import heapq
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from laneway.core.errors import Bug, LeaseLost
from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import Arrival, BacklogPage, IntentRow, placed
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
    RowPut,
    Rows,
    Tail,
    all_classes,
)
from laneway.ports import Durability, IntentView
from laneway.stores.book import Book
from laneway.stores.judge import (
    ID_INDEX,
    KEY_INDEX,
    Judge,
    LaneEntry,
    empty_entry,
    entry_of,
    head_columns,
    tail_columns,
)
from laneway.stores.pages import backlog_page, feed_number


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


class MemoryBook(Book):
    """A Book whose flush is instant; the simulator decides what a crash keeps."""

    durability = Durability.MEMORY
    sync_ms = 0.0

    def __init__(self) -> None:
        super().__init__()
        self.shelves: dict[LaneId, LaneShelf] = {}
        self.intents: dict[IntentId, IntentRow] = {}
        self.numbers: dict[IntentId, int] = {}
        """The order in which intents were accepted, for paging; pruned ones included."""
        self.results: dict[IntentId, Result] = {}
        self.indexes: dict[tuple[str, str], Index] = {}
        self.entries: list[FeedEntry] = []
        self.feed_next = 1
        self.command_next = 1
        self._trimmed: set[str] = set()
        """Cursors of feed entries that the open group drops."""

    def begin(self) -> None:
        self._group, self._trimmed = Judge(self), set()

    def write(self) -> None:
        pass

    def sync(self) -> None:
        """Make the open group true, if there is one."""
        group, self._group = self._group, None
        if group is None:
            return
        for lane, entry in group.lanes.items():
            if entry.is_dirty() and lane not in self.shelves:
                self.shelves[lane] = LaneShelf(lane)
            if lane in self.shelves:
                shelf = self.shelves[lane]
                shelf.tail = Tail(lane, *tail_columns(entry))
                shelf.head = Head(lane, *head_columns(entry))
                shelf.mail = entry.mail
        for arrival, seq in group.intents.values():
            row = self.intents[arrival.id] = placed(arrival, seq)
            self.numbers[row.id] = len(self.numbers) + 1
            self.shelves[row.lane].classes.setdefault(row.priority, []).append(row)
        for (lane, table, key), put in group.rows.items():
            if put is None:
                self.shelves[lane].rows.pop((table, key), None)
            else:
                self.shelves[lane].rows[table, key] = put
        self.results |= group.results
        self.indexes |= {(KEY_INDEX, value): index for value, index in group.keys.items()}
        self.indexes |= group.indexes
        self._drop(group.pruned)
        for feed in group.feed:
            self.entries.append(FeedEntry(str(self.feed_next), *feed))
            self.feed_next += 1
        self.command_next += len(group.commands)

    def _drop(self, pruned: Sequence[IntentId]) -> None:
        for intent in pruned:
            row = self.intents.pop(intent)
            del self.results[intent]
            self.shelves[row.lane].classes[row.priority].remove(row)
        if self._trimmed:
            self.entries = [entry for entry in self.entries if entry.cursor not in self._trimmed]

    def rollback(self) -> None:
        self._group = None

    # What the judge asks.

    def entry(self, lane: LaneId) -> LaneEntry:
        shelf = self.shelves.get(lane)
        if shelf is None:
            return empty_entry(lane)
        return entry_of(shelf.tail, shelf.head, shelf.mail.values())

    def is_known(self, arrival: Arrival) -> bool:
        return arrival.id in self.intents or (ID_INDEX, arrival.id) in self.indexes

    def key(self, value: str) -> Index | None:
        return self.indexes.get((KEY_INDEX, value))

    def is_final(self, intent: IntentId) -> bool:
        return intent in self.results or (ID_INDEX, intent) in self.indexes

    def check_unsettled(self, intent: IntentId) -> None:
        if intent in self.results:
            raise Bug(f"{intent} has a final answer already")
        if intent not in self.intents:
            raise Bug("a final answer names an intent that is not there")

    def command_number(self) -> int:
        return self.command_next + len(self.group.commands)

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
        return backlog_page(self._waiting(self._held(lease), after), limit)

    def _waiting(self, shelf: LaneShelf, after: Cursors) -> Iterator[IntentRow]:
        for priority, seq in enumerate(all_classes(after)):
            rows = shelf.classes.get(priority, [])
            for row in rows[bisect_right(rows, seq, key=lambda row: row.seq) :]:
                if row.id not in self.results:
                    yield row

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
        wanted = Status(status)
        number = 0 if after is None else self.numbers.get(after, 0)
        found: list[IntentView] = []
        for intent in self.intents:
            if self.numbers[intent] <= number:
                continue
            view = self.intent(intent)
            assert view is not None
            if view_has_status(view, wanted):
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
        place = feed_number(after)
        return [entry for entry in self.entries if feed_number(entry.cursor) > place][:limit]

    def feed_end(self) -> str:
        return str(self.feed_next - 1)

    def prune(self, before_ms: int, feed_before_ms: int, limit: int) -> int:
        old = [r for r in self.results.values() if r.settled_ms < before_ms and self._rests(r)]
        self.group.prune((self.intents[result.intent], result) for result in old[:limit])
        old_feed = [entry.cursor for entry in self.entries if entry.at_ms < feed_before_ms]
        self._trimmed = set(old_feed[:limit])
        return max(len(old[:limit]), len(self._trimmed))

    def _rests(self, result: Result) -> bool:
        """Whether no slot still watches over the finished intent."""
        view = self.intent(result.intent)
        return view is not None and not view.open

    def close(self) -> None:
        pass


def view_has_status(view: IntentView, wanted: Status) -> bool:
    """A final status is stored; of the open ones a store knows only waiting and begun."""
    if view.result is not None:
        return view.result.status == wanted.value
    return not wanted.is_final() and view.open == (wanted is not Status.QUEUED)
