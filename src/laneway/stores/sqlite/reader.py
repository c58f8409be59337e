"""Questions to a SQLite file, through a connection of their own: committed rows only."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import apsw
import msgspec

from laneway.core.errors import LanewayError, LeaseLost, StoreClosed, StoreCorrupt
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import BacklogPage, IntentRow
from laneway.core.limits import PRIORITY_CLASSES
from laneway.core.outcome import Status
from laneway.core.rows import (
    Command,
    Cursors,
    FeedEntry,
    Index,
    LaneView,
    Lease,
    Result,
    Rows,
    all_classes,
)
from laneway.ports import IntentView
from laneway.stores.codec import (
    decode_command,
    decode_cursors,
    decode_index,
    decode_result,
    held,
    intent_row,
    intent_view,
    lane_view,
    open_rows,
    pack_id,
    unpack_id,
)
from laneway.stores.judge import ID_INDEX
from laneway.stores.limits import LANES_CACHED_MAX, PLACE_SCAN_MAX
from laneway.stores.pages import backlog_page, feed_number
from laneway.stores.sqlite.database import statements, translate
from laneway.stores.sqlite.inserts import pack_value

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R", bound="SqliteReader")

SQL = statements()


def readable(method: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """A question to the file: it fails with our errors, and at once after a failure for good."""

    @wraps(method)
    def ask(self: R, /, *args: P.args, **kwargs: P.kwargs) -> T:
        if self.failed is not None:
            raise self.failed.with_traceback(None)
        try:
            return method(self, *args, **kwargs)
        except apsw.Error as error:
            raise self._translate(error) from error
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            self.failed = StoreCorrupt(self.path, f"a row cannot be read ({error})")
            raise self.failed from error

    return ask


class SqliteReader:
    """The reading half of the Book."""

    def __init__(self, path: str, reader: apsw.Connection) -> None:
        self.path = path
        self.failed: StoreClosed | StoreCorrupt | None = None
        """Why the file is not touched any more; only a new start may try again."""
        self._reader = reader
        self._numbers: dict[LaneId, int] = {}

    def _translate(self, error: apsw.Error) -> LanewayError:
        """The error as one of ours. One that leaves the file in doubt is the last one."""
        if self.failed is None:
            translated = translate(self.path, error)
            if not isinstance(translated, (StoreClosed, StoreCorrupt)):
                return translated
            self.failed = translated
        return self.failed

    def _lane_no(self, lease: Lease) -> int:
        """The lane's number; it never changes, so it is kept at hand."""
        no = self._numbers.get(lease.lane)
        if no is None:
            if len(self._numbers) >= LANES_CACHED_MAX:
                self._numbers.clear()
            found = self._one("lane_no", lease.lane)
            if found is None:
                raise LeaseLost(lease.lane, lease.fence, 0)
            no = self._numbers[lease.lane] = found[0]
        return no

    def _all(self, name: str, *bindings: object) -> list[Any]:
        return self._reader.execute(SQL[name], bindings).fetchall()

    def _one(self, name: str, *bindings: object) -> Any:
        return self._reader.execute(SQL[name], bindings).fetchone()

    @readable
    def ready(self, now_ms: int, after: LaneId | None, limit: int) -> list[LaneId]:
        return [LaneId(row[0]) for row in self._all("ready", now_ms, after, limit)]

    @readable
    def load(self, lease: Lease) -> Rows:
        found = self._one("lane_load", lease.lane)
        view = held(None if found is None else lane_view(found), lease)
        no, has_mail = found[15:17]
        mailbox = tuple(self._mailbox(no)) if has_mail else ()
        if view.head.version == 0:
            return Rows(view.head, (), (), mailbox)  # Never written: it has no rows yet.
        rows = open_rows(self._all("open_rows", no))
        intents: tuple[IntentRow, ...] = ()
        if any(row.intent is not None for row in rows):
            intents = tuple(intent_row(lease.lane, *row) for row in self._all("named_intents", no))
        return Rows(view.head, rows, intents, mailbox)

    @readable
    def backlog(self, lease: Lease, after: Cursors, limit: int) -> BacklogPage:
        waiting = self._waiting(lease.lane, self._lane_no(lease), after, limit)
        return backlog_page(waiting, limit)

    def _waiting(self, lane: LaneId, no: int, after: Cursors, limit: int) -> Iterator[IntentRow]:
        """What waits after the cursors. One row more than asked shows whether there is more."""
        left = limit + 1
        for priority, cursor in enumerate(after):
            for row in self._all("backlog", no, priority, cursor, left):
                left -= 1
                yield intent_row(lane, *row)
        if len(after) < PRIORITY_CLASSES:
            # Classes without a cursor were never taken from: one question for all of them.
            for row in self._all("backlog_untouched", no, len(after), left):
                yield intent_row(lane, *row)

    @readable
    def mailbox(self, lease: Lease) -> Sequence[Command]:
        return self._mailbox(self._lane_no(lease))

    def _mailbox(self, no: int) -> list[Command]:
        return [decode_command(row[0]) for row in self._all("mailbox", no)]

    @readable
    def intent(self, intent: IntentId) -> IntentView | None:
        row = self._one("intent", pack_id(intent))
        return None if row is None else intent_view(row)

    @readable
    def answers(self, _lane: LaneId, intents: Sequence[IntentId]) -> list[Result]:
        rows = [self._one("answer", pack_id(intent)) for intent in intents]
        return [decode_result(row[0]) for row in rows if row is not None]

    @readable
    def find(self, name: str, value: str) -> Index | None:
        row = self._one("index", name, value)
        return self._pointed(name, value) if row is None else decode_index(row[0])

    def _pointed(self, name: str, value: str) -> Index | None:
        """A name that only points at an intent: each stretch is asked, the newest first."""
        row = self._one("pointer", name, pack_value(value))
        return None if row is None else Index(name, value, unpack_id(row[0]), LaneId(row[1]))

    @readable
    def lane(self, lane: LaneId) -> LaneView | None:
        row = self._one("lane_load", lane)
        return None if row is None else lane_view(row)

    @readable
    def lanes(self, after: LaneId | None, limit: int) -> list[LaneView]:
        return [lane_view(row) for row in self._all("lane_views", after or "", limit)]

    @readable
    def oldest(self, lane: LaneId) -> IntentRow | None:
        found = self._one("lane_load", lane)
        if found is None:
            return None
        return next(self._waiting(lane, found[15], lane_view(found).head.cursors, 1), None)

    @readable
    def page(self, status: str, after: IntentId | None, limit: int) -> list[IntentView]:
        wanted = Status(status)
        if wanted is Status.QUEUED:
            return self._queued(after, limit)
        no = 0 if after is None else self._number_of(after)
        if wanted.is_final():
            found = self._all("page_final", wanted.value, no, limit)
        else:
            found = self._all("page_open", no, limit)
        views = (self.intent(unpack_id(row[0])) for row in found)
        return [view for view in views if view is not None]

    def _number_of(self, after: IntentId) -> int:
        """The number after which a page goes on; roughly there if `after` was pruned since."""
        packed = pack_id(after)
        place = self._one("place", packed)
        if place is None:
            place = self._one("place_near", packed, PLACE_SCAN_MAX)
        return int(place[0])

    def _queued(self, after: IntentId | None, limit: int) -> list[IntentView]:
        """Lane by lane what waits after the cursors: finished intents are not even looked at."""
        lane_no, priority, seq = 0, 0, 0
        if after is not None:
            lane_no, priority, seq = self._waited(after)
        found: list[IntentView] = []
        with closing(self._reader.execute(SQL["awake_lanes"], (lane_no,))) as lanes:
            for no, lane, packed in lanes:
                for class_, cursor in enumerate(all_classes(decode_cursors(packed))):
                    if no == lane_no:
                        if class_ < priority:
                            continue
                        cursor = max(cursor, seq) if class_ == priority else cursor
                    found += [
                        IntentView(intent_row(lane, *row), None, False)
                        for row in self._all("backlog", no, class_, cursor, limit - len(found))
                    ]
                    if len(found) == limit:
                        return found
        return found

    def _waited(self, after: IntentId) -> tuple[int, int, int]:
        """Where a queued intent stood; if it was pruned since, at least in which lane."""
        place = self._one("place", pack_id(after))
        if place is not None:
            _, lane_no, priority, seq = place
            return lane_no, priority, seq
        left = self.find(ID_INDEX, after)
        found = None if left is None else self._one("lane_no", left.lane)
        return (0, 0, 0) if found is None else (found[0], 0, 0)

    @readable
    def history(self, lane: LaneId, after: IntentId | None, limit: int) -> list[IntentView]:
        found = self._one("lane_no", lane)
        if found is None:
            return []
        place = None if after is None else self._one("place", pack_id(after))
        priority, seq = (0, 0) if place is None else place[2:4]
        rows = self._all("history", found[0], priority, seq, limit)
        return [intent_view((lane, *row)) for row in rows]

    @readable
    def feed(self, after: str, limit: int) -> list[FeedEntry]:
        rows = self._all("feed", feed_number(after), limit)
        return [FeedEntry(str(cursor), *rest) for cursor, *rest in rows]

    @readable
    def feed_end(self) -> str:
        return str(self._one("feed_end")[0])
