"""A Book in one SQLite file.

One process writes, so it may keep tails and heads at hand: fence and version are compared there,
in the same step as the write. A group is gathered in memory and handed over at `write`, table by
table, in one transaction of the database. When that fails nothing of the group is kept.
"""

from collections.abc import Callable
from contextlib import ExitStack, suppress
from time import perf_counter

import apsw

from laneway.core.errors import Bug, StoreClosed, StoreRefused
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import Arrival, IntentRow
from laneway.core.rows import Index, Result
from laneway.ports import Durability
from laneway.stores.book import Book
from laneway.stores.codec import (
    decode_command,
    decode_index,
    decode_result,
    encode,
    intent_body,
    intent_row,
    lane_view,
    pack_id,
)
from laneway.stores.judge import (
    ID_INDEX,
    KEY_INDEX,
    Judge,
    LaneEntry,
    empty_entry,
    entry_of,
    tail_columns,
)
from laneway.stores.limits import LANES_CACHED_MAX, OPEN_NUMBERS_MAX, PRUNE_SCAN_MAX
from laneway.stores.sqlite.database import (
    FileLock,
    connect,
    connect_reader,
    has_wal_reset_bug,
    sqlite_version,
    statements,
    translated,
)
from laneway.stores.sqlite.inserts import (
    delete_all,
    insert_all,
    pointed,
    write_indexes,
    write_results,
)
from laneway.stores.sqlite.reader import SqliteReader, readable

SQL = statements()


class SqliteBook(SqliteReader, Book):
    """The embedded store's rules. Writers and readers are separate connections to one file.

    The file lock is held, so owners of earlier processes are dead without a heartbeat. An
    exclusive book has one connection for both, as a virtual file system needs it: its caller
    reads only between groups.
    """

    durability = Durability.FULL

    def __init__(self, path: str, *, vfs: str | None = None, exclusive: bool = False) -> None:
        version = sqlite_version()
        if has_wal_reset_bug(version):
            raise StoreRefused(
                path,
                f"SQLite {'.'.join(map(str, version))} can lose committed writes (the WAL-reset "
                "bug); install apsw 3.51.3 or newer",
            )
        with ExitStack() as opened, translated(path):
            if vfs is None:
                opened.callback(FileLock(path).release)
            self._db = connect(path, vfs=vfs, exclusive=exclusive)
            opened.callback(self._db.close, True)
            super().__init__(path, self._db if exclusive else connect_reader(path))
            opened.callback(self._reader.close, True)
            self._counters: dict[str, int] = dict(self._db.execute(SQL["counters"]))
            self._opened = opened.pop_all()
        Book.__init__(self)
        self._counters_kept = dict(self._counters)
        self._entries: dict[LaneId, LaneEntry] = {}
        self._open: dict[bytes, int] = {}
        """Numbers of intents that were accepted here and have no final answer; not of all: those
        that are missing are looked up."""
        self._pruned_numbers: list[tuple[int]] = []
        self._trimmed: list[tuple[int]] = []
        """Intents and feed entries that the open group drops."""
        self._pruned_no = 0
        self.sync_ms = 0.0

    # Groups.

    def begin(self) -> None:
        if self.failed is not None:
            raise self.failed.with_traceback(None)
        assert self._group is None
        self._group = Judge(self)
        self._pruned_numbers, self._trimmed = [], []

    def write(self) -> None:
        """Hand the group to the database; nothing of it counts before `sync`."""
        group = self.group
        if not self._is_empty(group):
            self._step(lambda: self._write(group))

    def _is_empty(self, group: Judge) -> bool:
        """Whether the group changes nothing: every change but these marks its lane."""
        if group.commands or self._pruned_numbers or self._trimmed:
            return False
        return not any(entry.is_dirty() for entry in group.lanes.values())

    def sync(self) -> None:
        """Make the written group durable. On any error nothing of it is kept."""
        group = self.group
        if self._db.in_transaction:
            begun = perf_counter()
            self._step(lambda: self._db.execute("COMMIT"))
            self.sync_ms = (perf_counter() - begun) * 1000
        self._group = None
        self._kept(group)

    def _step(self, step: Callable[[], object]) -> None:
        """Take one step of a group; when it fails nothing of the group is kept."""
        try:
            step()
        except apsw.Error as error:
            problem = self._translate(error)
            self.rollback()
            raise problem from error
        except Bug:
            self.rollback()
            raise

    def rollback(self) -> None:
        if self._group is None:
            return
        group, self._group = self._group, None
        self._forget(group)
        try:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        except apsw.Error as error:
            # The database can no longer say what it holds; a new start can.
            self.failed = StoreClosed(self.path, str(error))

    def _kept(self, group: Judge) -> None:
        self._counters_kept = dict(self._counters)
        for entry in group.lanes.values():
            entry.clean()
        if len(self._entries) > LANES_CACHED_MAX:
            for lane in list(self._entries)[: LANES_CACHED_MAX // 4]:
                del self._entries[lane]

    def _forget(self, group: Judge) -> None:
        self._counters = dict(self._counters_kept)
        for lane in group.lanes:
            self._entries.pop(lane, None)
            self._numbers.pop(lane, None)
        for intent in group.intents:
            self._open.pop(pack_id(intent), None)

    def _write(self, group: Judge) -> None:
        many, lanes = self._db.executemany, group.lanes
        self._db.execute("BEGIN IMMEDIATE")
        self._write_lanes(group)
        if group.intents:
            self._write_intents(group)
        self._write_rows(group)
        if group.keys or group.indexes:
            indexes = [*group.keys.values(), *group.indexes.values()]
            write_indexes(self._db, SQL, indexes, self._open)
        if group.results:
            write_results(self._db, SQL, group.results, self._open)
        if group.commands:
            commands = [(one.id, lanes[one.lane].no, encode(one)) for one in group.commands]
            many(SQL["add_command"], commands)
        if group.answered:
            many(SQL["drop_command"], [(done, lanes[lane].no) for done, lane in group.answered])
        if group.feed:
            feed = [
                (self._number("feed"), lanes[lane].no, version, at_ms, records)
                for lane, version, at_ms, records in group.feed
            ]
            many(SQL["add_feed"], feed)
        if self._pruned_numbers:
            many(SQL["drop_result"], self._pruned_numbers)
            many(SQL["drop_intent"], self._pruned_numbers)
            self._db.execute(SQL["drop_pointers"])
        if self._trimmed:
            many(SQL["drop_feed"], self._trimmed)
        if group.commands or self._pruned_numbers or self._trimmed:
            # While the rows that bear the numbers stay, the highest of them says as much.
            many(SQL["put_counter"], [(value, name) for name, value in self._counters.items()])

    def _write_lanes(self, group: Judge) -> None:
        many = self._db.executemany
        lanes = group.lanes
        old = [entry for entry in lanes.values() if entry.no]
        new = [(lane, one) for lane, one in lanes.items() if not one.no and one.is_dirty()]
        if new:
            for _, entry in new:
                entry.no = self._number("lane")
            many(SQL["add_lane"], [(entry.no, lane, *tail_columns(entry)) for lane, entry in new])
            many(SQL["add_head"], [head_row(entry) for _, entry in new])
        tails = [(*tail_columns(entry), entry.no) for entry in old if entry.tail_dirty]
        if tails:
            many(SQL["put_tail"], tails)
        heads = [head_row(entry) for entry in old if entry.head_dirty]
        if heads:
            many(SQL["put_head"], heads)
        wakes = [(entry.wake_ms, entry.no) for entry in lanes.values() if entry.wake_dirty]
        if wakes:
            many(SQL["put_wake"], wakes)

    def _write_intents(self, group: Judge) -> None:
        lanes, numbers, number = group.lanes, self._open, self._counters["intent"]
        rows = []
        for arrival, seq in group.intents.values():
            packed, no = pack_id(arrival.id), lanes[arrival.lane].no
            rows.append((number, packed, no, arrival.priority, seq, intent_body(arrival)))
            if len(numbers) < OPEN_NUMBERS_MAX:
                numbers[packed] = number
            number += 1
        self._counters["intent"] = number
        insert_all(self._db, SQL["add_intent"], rows)

    def _write_rows(self, group: Judge) -> None:
        lanes = group.lanes
        drops, puts = [], []
        for (lane, table, key), row in group.rows.items():
            if row is None:
                drops.append((lanes[lane].no, table, key))
                continue
            intent = row.intent
            packed = None if intent is None else pack_id(intent)
            puts.append((lanes[lane].no, table, key, packed, row.body))
        if drops:
            delete_all(self._db, SQL, drops)
        if puts:
            insert_all(self._db, SQL["put_row"], puts)

    def _number(self, name: str) -> int:
        number = self._counters[name]
        self._counters[name] = number + 1
        return number

    # What the judge asks.

    def entry(self, lane: LaneId) -> LaneEntry:
        entry = self._entries.get(lane)
        if entry is None:
            entry = self._entries[lane] = self._read_entry(lane)
        return entry

    @readable
    def _read_entry(self, lane: LaneId) -> LaneEntry:
        row = self._db.execute(SQL["lane_load"], (lane,)).fetchone()
        if row is None:
            return empty_entry(lane)
        view, no = lane_view(row), row[15]
        bodies = self._db.execute(SQL["mailbox"], (no,))
        return entry_of(view.tail, view.head, [decode_command(body) for (body,) in bodies], no)

    def is_known(self, arrival: Arrival) -> bool:
        # A fresh id is not looked for: were it known, its insert would fail.
        return not arrival.fresh and self._has(SQL["knows_intent"], arrival.id)

    def is_final(self, intent: IntentId) -> bool:
        return self._has(SQL["is_final"], intent)

    @readable
    def _has(self, statement: str, intent: IntentId) -> bool:
        """Whether a statement finds an intent, or the index what is left of it."""
        if self._db.execute(SQL["index"], (ID_INDEX, intent)).fetchone() is not None:
            return True
        return self._db.execute(statement, (pack_id(intent),)).fetchone() is not None

    @readable
    def key(self, value: str) -> Index | None:
        row = self._db.execute(SQL["index"], (KEY_INDEX, value)).fetchone()
        return None if row is None else decode_index(row[0])

    def check_unsettled(self, intent: IntentId) -> None:
        """Results are written beside their intents, each once: the database says if one is not."""

    def command_number(self) -> int:
        return self._number("command")

    @readable
    def prune(self, before_ms: int, feed_before_ms: int, limit: int) -> int:
        finished: list[tuple[IntentRow, Result]] = []
        for no in self._settled_before(before_ms, limit):
            found = self._db.execute(SQL["finished"], (no,)).fetchone()
            if found is None:
                continue  # A slot still watches over it.
            *row, result = found
            finished.append((intent_row(*row), decode_result(result)))
            self._pruned_numbers.append((no,))
        self.group.prune(finished)
        for one in finished:
            for index in pointed(*one):
                self.group.indexes[index.name, index.value] = index
        feed = self._db.execute(SQL["feed_front"], (limit,))
        self._trimmed += [(cursor,) for cursor, at_ms in feed if at_ms < feed_before_ms]
        return max(len(finished), len(self._trimmed))

    def _settled_before(self, before_ms: int, limit: int) -> list[int]:
        """Numbers of old results, from bounded stretches of the table.

        Numbers follow acceptance and not settlement, so that young results may stand before old
        ones: where the front has too few, a second stretch wanders through the rest.
        """
        front = self._stretch(0)
        found = front
        if len(front) == PRUNE_SCAN_MAX:
            rest = self._stretch(max(self._pruned_no, front[-1][0]))
            self._pruned_no = rest[-1][0] if len(rest) == PRUNE_SCAN_MAX else 0
            found = front + rest
        return [no for no, settled_ms in found if settled_ms < before_ms][:limit]

    def _stretch(self, after: int) -> list[tuple[int, int]]:
        return [*self._db.execute(SQL["results_after"], (after, PRUNE_SCAN_MAX))]

    def close(self) -> None:
        if self.failed is not None:
            self.abandon()
        with translated(self.path):
            self._opened.close()

    def abandon(self) -> None:
        """Let go of the file as a crash would: nothing more is written to it."""
        with suppress(apsw.ConnectionClosedError):
            self._db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        self._opened.close()


def head_row(entry: LaneEntry) -> tuple[object, ...]:
    """The columns of a head's row, without its alarm: that has a statement of its own."""
    cursors, settled = encode(entry.cursors), (entry.settled_count, entry.settled_bytes)
    owner, fence, version, digest = entry.owner, entry.fence, entry.version, entry.digest
    return (owner, fence, version, digest, cursors, *settled, entry.state, entry.no)
