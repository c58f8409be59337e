"""What a SQLite file tells, read through its own connection: committed rows only."""

from collections.abc import Sequence
from typing import Any

import apsw

from laneway.core.errors import LeaseLost
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import BacklogPage, IntentRow
from laneway.core.outcome import Status
from laneway.core.rows import (
    Command,
    Cursors,
    FeedEntry,
    Index,
    LaneView,
    Lease,
    RowPut,
    Rows,
)
from laneway.ports import IntentView
from laneway.stores.limits import BACKLOG_PAGE_BYTES_MAX, LANES_CACHED_MAX
from laneway.stores.sqlite.codec import (
    decode_command,
    decode_index,
    decode_result,
    intent_row,
    lane_view,
    pack_id,
    unpack_id,
)
from laneway.stores.sqlite.database import statements, translate

SQL = statements()


class SqliteReader:
    """The reading half of the Book."""

    def __init__(self, path: str, reader: apsw.Connection) -> None:
        self.path = path
        self._reader = reader
        self._numbers: dict[LaneId, int] = {}

    def _lane_no(self, lane: LaneId) -> int:
        """The lane's number; it never changes, so it is kept at hand."""
        no = self._numbers.get(lane)
        if no is None:
            if len(self._numbers) >= LANES_CACHED_MAX:
                self._numbers.clear()
            (no,) = self._one("lane_no", (lane,))
            self._numbers[lane] = no
        return no

    def _all(self, name: str, bindings: tuple[object, ...]) -> list[Any]:
        try:
            return self._reader.execute(SQL[name], bindings).fetchall()
        except apsw.Error as error:
            raise translate(self.path, error) from error

    def _one(self, name: str, bindings: tuple[object, ...]) -> Any:
        try:
            return self._reader.execute(SQL[name], bindings).fetchone()
        except apsw.Error as error:
            raise translate(self.path, error) from error

    def ready(self, now_ms: int, after: LaneId | None, limit: int) -> list[LaneId]:
        return [LaneId(row[0]) for row in self._all("ready", (now_ms, after, limit))]

    def load(self, lease: Lease) -> Rows:
        found = self._one("lane_load", (lease.lane,))
        view = None if found is None else lane_view(found)
        if view is None or view.head.fence != lease.fence:
            raise LeaseLost(lease.lane, lease.fence, 0 if view is None else view.head.version)
        no, has_mail = found[15:17]
        mailbox = tuple(self._mailbox(no)) if has_mail else ()
        if view.head.version == 0:
            return Rows(view.head, (), (), mailbox)  # Never written: it has no rows yet.
        rows = tuple(
            RowPut(kind, key, None if intent is None else unpack_id(intent), body)
            for kind, key, intent, body in self._all("open_rows", (no,))
        )
        intents: tuple[IntentRow, ...] = ()
        if any(row.intent is not None for row in rows):
            intents = tuple(
                intent_row(lease.lane, *row) for row in self._all("named_intents", (no,))
            )
        return Rows(view.head, rows, intents, mailbox)

    def backlog(self, lease: Lease, after: Cursors, limit: int) -> BacklogPage:
        no = self._lane_no(lease.lane)
        return self._backlog(lease.lane, no, after, limit)

    def _backlog(self, lane: LaneId, no: int, after: Cursors, limit: int) -> BacklogPage:
        rows: list[IntentRow] = []
        size = 0
        for priority, seq in enumerate(after):
            # One row more than asked tells whether the backlog goes on.
            for found in self._all("backlog", (no, priority, seq, limit + 1 - len(rows))):
                row = intent_row(lane, *found)
                if len(rows) == limit or (rows and size + row.size() > BACKLOG_PAGE_BYTES_MAX):
                    return BacklogPage(tuple(rows), more=True)
                size += row.size()
                rows.append(row)
        return BacklogPage(tuple(rows), more=False)

    def mailbox(self, lease: Lease) -> Sequence[Command]:
        no = self._lane_no(lease.lane)
        return self._mailbox(no)

    def _mailbox(self, no: int) -> list[Command]:
        return [decode_command(row[0]) for row in self._all("mailbox", (no,))]

    def intent(self, intent: IntentId) -> IntentView | None:
        row = self._one("intent", (pack_id(intent),))
        if row is None:
            return None
        packed, priority, seq, body, lane, result, named = row
        return IntentView(
            intent_row(LaneId(lane), packed, priority, seq, body),
            None if result is None else decode_result(result),
            bool(named),
        )

    def find(self, name: str, value: str) -> Index | None:
        row = self._one("index", (name, value))
        return None if row is None else decode_index(row[0])

    def lane(self, lane: LaneId) -> LaneView | None:
        row = self._one("lane_view", (lane,))
        return None if row is None else lane_view(row)

    def lanes(self, after: LaneId | None, limit: int) -> list[LaneView]:
        return [lane_view(row) for row in self._all("lane_views", (after or "", limit))]

    def oldest(self, lane: LaneId) -> IntentRow | None:
        view = self.lane(lane)
        if view is None:
            return None
        no = self._lane_no(lane)
        page = self._backlog(lane, no, view.head.cursors, 1)
        return page.intents[0] if page.intents else None

    def page(self, status: str, after: IntentId | None, limit: int) -> list[IntentView]:
        word = Status(status)
        no = 0
        if after is not None:
            place = self._one("place", (pack_id(after),))
            no = 0 if place is None else place[0]
        if word.is_final():
            found = self._all("page_final", (word.value, no, limit))
        elif word is Status.QUEUED:
            found = self._all("page_queued", (no, limit))
        else:
            found = self._all("page_open", (no, limit))
        views = (self.intent(unpack_id(row[0])) for row in found)
        return [view for view in views if view is not None]

    def feed(self, after: int, limit: int) -> list[FeedEntry]:
        return [
            FeedEntry(cursor, LaneId(lane), version, at_ms, records)
            for cursor, lane, version, at_ms, records in self._all("feed", (after, limit))
        ]
