"""A Book in one SQLite file.

One process writes, so it may keep tails and heads at hand: fence and version are compared there,
in the same step as the write. A group is gathered in memory and handed over at `write`, table by
table, in one transaction of the database. When that fails nothing of the group is kept.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from time import perf_counter
from typing import Any

import apsw
import msgspec

from laneway.core.errors import Bug, LeaseLost, StoreClosed, StoreRefused
from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import (
    Accepted,
    Answer,
    Arrival,
    Conflict,
    Full,
    IntentRow,
    Replayed,
)
from laneway.core.rows import Command, Index, Lease, Result, RowKey, RowPut, Write
from laneway.ports import Alive, Durability, Lost
from laneway.stores.book import (
    ID_INDEX,
    KEY_INDEX,
    Pulse,
    check_class,
    key_value,
    leftovers,
    says_the_same,
    wake_after,
)
from laneway.stores.codec import (
    decode_command,
    decode_index,
    decode_result,
    encode,
    intent_body,
    intent_row,
    pack_id,
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
from laneway.stores.sqlite.entry import Entry, Group, read_entry
from laneway.stores.sqlite.inserts import delete_all, insert_all
from laneway.stores.sqlite.pointers import pointed, write_indexes
from laneway.stores.sqlite.reader import SqliteReader, readable
from laneway.stores.sqlite.results import write_results

SQL = statements()


class SqliteBook(SqliteReader):
    """The embedded store's rules. Writers and readers are separate connections to one file.

    An exclusive book has one connection for both, as a virtual file system needs it: whoever
    drives it reads only between groups.
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
            self._lane_next: int = self._db.execute(SQL["lane_next"]).get
            self._counters: dict[str, int] = dict(self._db.execute(SQL["counters"]))
            self._opened = opened.pop_all()
        self._counters_kept = dict(self._counters)
        self._entries: dict[LaneId, Entry] = {}
        self._open: dict[bytes, int] = {}
        """Numbers of intents that were accepted here and have no final answer; not of all: those
        that are missing are looked up."""
        self._group: Group | None = None
        self._pulse = Pulse()
        self._pruned_no = 0
        self.sync_ms = 0.0

    # Groups.

    def begin(self) -> None:
        if self.failed is not None:
            raise self.failed.with_traceback(None)
        assert self._group is None
        self._group = Group()

    def write(self) -> None:
        """Hand the group to the database; nothing of it counts before `sync`."""
        group = self._group
        assert group is not None
        if not group.is_empty():
            self._step(lambda: self._write(group))

    def sync(self) -> None:
        """Make the written group durable. On any error nothing of it is kept."""
        assert self._group is not None
        if self._db.in_transaction:
            begun = perf_counter()
            self._step(lambda: self._db.execute("COMMIT"))
            self.sync_ms = (perf_counter() - begun) * 1000
        group, self._group = self._group, None
        self._kept(group)

    def _step(self, step: Callable[[], object]) -> None:
        """Take one step of a group; when it fails nothing of the group is kept."""
        try:
            step()
        except apsw.Error as error:
            told = self._translate(error)
            self.rollback()
            raise told from error
        except Bug:
            self.rollback()
            raise

    def rollback(self) -> None:
        """Forget the open group, if there is one: the book is as it was before `begin`."""
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

    def _kept(self, group: Group) -> None:
        self._counters_kept = dict(self._counters)
        for packed, number in group.numbers():
            if len(self._open) < OPEN_NUMBERS_MAX:
                self._open[packed] = number
        for packed in group.results:
            self._open.pop(packed, None)
        for entry in group.lanes.values():
            entry.clean()
        if len(self._entries) > LANES_CACHED_MAX:
            for lane in list(self._entries)[: LANES_CACHED_MAX // 4]:
                del self._entries[lane]

    def _forget(self, group: Group) -> None:
        self._counters = dict(self._counters_kept)
        for lane, entry in group.lanes.items():
            self._entries.pop(lane, None)
            self._numbers.pop(lane, None)
            if entry.new:
                self._lane_next = min(self._lane_next, entry.no)

    def _write(self, group: Group) -> None:
        many = self._db.executemany
        self._db.execute("BEGIN IMMEDIATE")
        self._write_lanes(group)
        if group.intents:
            insert_all(self._db, SQL["add_intent"], list(group.intents.values()))
        self._write_rows(group)
        if group.results:
            write_results(self._db, SQL, group.results, self._open)
        if group.indexes:
            write_indexes(self._db, SQL, list(group.indexes.values()), self._open)
        if group.commands:
            many(SQL["add_command"], group.commands)
        if group.answered:
            many(SQL["drop_command"], group.answered)
        if group.feed:
            many(SQL["add_feed"], group.feed)
        if group.dropped_numbers:
            many(SQL["drop_result"], group.dropped_numbers)
            many(SQL["drop_intent"], group.dropped_numbers)
            self._db.execute(SQL["drop_pointers"])
        if group.trimmed:
            many(SQL["drop_feed"], group.trimmed)
        if group.commands or group.dropped_numbers or group.trimmed:
            # While the rows that bear the numbers stay, the highest of them says as much.
            many(SQL["put_counter"], [(value, name) for name, value in self._counters.items()])

    def _write_lanes(self, group: Group) -> None:
        many = self._db.executemany
        new = [(lane, entry) for lane, entry in group.lanes.items() if entry.new]
        if new:
            many(SQL["add_lane"], [(entry.no, lane, *entry.tail()) for lane, entry in new])
            many(SQL["add_head"], [entry.head() for _, entry in new])
        old = [entry for entry in group.lanes.values() if not entry.new]
        tails = [(*entry.tail(), entry.no) for entry in old if entry.tail_dirty]
        if tails:
            many(SQL["put_tail"], tails)
        heads = [entry.head() for entry in old if entry.head_dirty]
        if heads:
            many(SQL["put_head"], heads)
        wakes = [(entry.wake_ms, entry.no) for entry in group.lanes.values() if entry.wake_dirty]
        if wakes:
            many(SQL["put_wake"], wakes)

    def _write_rows(self, group: Group) -> None:
        drops = [key for key, row in group.rows.items() if row is None]
        puts = [row for row in group.rows.values() if row is not None]
        if drops:
            delete_all(self._db, SQL, drops)
        if puts:
            insert_all(self._db, SQL["put_row"], puts)

    # Entries.

    def _entry(self, lane: LaneId) -> Entry:
        """The lane's tail and head as the open group sees them; number 0 if there are none."""
        assert self._group is not None
        entry = self._entries.get(lane)
        if entry is None:
            entry = self._entries[lane] = self._read_entry(lane)
        self._group.lanes[lane] = entry
        return entry

    def _make(self, entry: Entry) -> None:
        entry.no = self._lane_next
        entry.new = entry.head_dirty = True
        self._lane_next += 1

    @readable
    def _read_entry(self, lane: LaneId) -> Entry:
        row = self._db.execute(SQL["lane_entry"], (lane,)).fetchone()
        return Entry(0) if row is None else read_entry(row)

    def _number(self, name: str) -> int:
        number = self._counters[name]
        self._counters[name] = number + 1
        return number

    # Any process, unfenced.

    def accept(self, arrivals: Sequence[Arrival]) -> list[Answer]:
        return [self._accept(arrival) for arrival in arrivals]

    def _accept(self, arrival: Arrival) -> Answer:
        assert self._group is not None
        packed = pack_id(arrival.id)
        check_class(arrival)
        if not arrival.fresh or arrival.key is not None:
            known = self._known(arrival, packed)
            if known is not None:
                return known
        entry = self._entry(arrival.lane)
        size = len(arrival.payload)
        depth = entry.accepted_count - entry.settled_count
        unsettled = entry.accepted_bytes - entry.settled_bytes
        if arrival.count_max is not None and depth >= arrival.count_max:
            return Full("intents", arrival.count_max)
        if arrival.bytes_max is not None and unsettled + size > arrival.bytes_max:
            return Full("bytes", arrival.bytes_max)
        if entry.no == 0:
            self._make(entry)
        seq = entry.seq_next
        fast = depth < arrival.fast_size
        entry.seq_next = seq + 1
        entry.accepted_count += 1
        entry.accepted_bytes += size
        if fast:
            entry.fast_hits += 1
        else:
            entry.slow_hits += 1
        entry.tail_dirty = True
        entry.wake(0)
        self._group.intents[packed] = (
            self._number("intent"),
            packed,
            entry.no,
            arrival.priority,
            seq,
            intent_body(arrival),
        )
        if arrival.key is not None:
            value = key_value(arrival.scope, arrival.key)
            self._group.indexes[(KEY_INDEX, value)] = Index(
                KEY_INDEX, value, arrival.id, arrival.lane, arrival.digest
            )
        return Accepted(arrival.id, seq, depth + 1, unsettled + size, fast)

    def _known(self, arrival: Arrival, packed: bytes) -> Answer | None:
        assert self._group is not None
        if not arrival.fresh and self._knows(arrival.id, packed):
            return Replayed(arrival.id)
        if arrival.key is None:
            return None
        index = self._index(KEY_INDEX, key_value(arrival.scope, arrival.key))
        if index is None:
            return None
        return Replayed(index.intent) if index.digest == arrival.digest else Conflict(index.intent)

    @readable
    def _knows(self, intent: IntentId, packed: bytes) -> bool:
        assert self._group is not None
        if packed in self._group.intents or self._index(ID_INDEX, intent) is not None:
            return True
        return self._db.execute(SQL["knows_intent"], (packed,)).fetchone() is not None

    @readable
    def _index(self, name: str, value: str) -> Index | None:
        """An index row as the open group sees it."""
        assert self._group is not None
        gathered = self._group.indexes.get((name, value))
        if gathered is not None:
            return gathered
        row = self._db.execute(SQL["index"], (name, value)).fetchone()
        return None if row is None else decode_index(row[0])

    def tell(self, command: Command) -> Command:
        assert self._group is not None
        if command.intent is not None and self._is_final(command.intent):
            return msgspec.structs.replace(command, id=0)
        entry = self._entry(command.lane)
        for waiting in self._waiting(entry):
            if says_the_same(waiting, command):
                return waiting
        if entry.no == 0:
            self._make(entry)
        command = msgspec.structs.replace(command, id=self._number("command"))
        self._group.commands.append((command.id, entry.no, encode(command)))
        entry.mail.add(command.id)
        entry.wake(0)
        return command

    @readable
    def _is_final(self, intent: IntentId) -> bool:
        assert self._group is not None
        packed = pack_id(intent)
        if packed in self._group.results or self._index(ID_INDEX, intent) is not None:
            return True
        return self._db.execute(SQL["is_final"], (packed,)).fetchone() is not None

    @readable
    def _waiting(self, entry: Entry) -> list[Command]:
        """The lane's commands as the open group sees them."""
        assert self._group is not None
        if not entry.mail:
            return []
        bodies = [row[0] for row in self._db.execute(SQL["mailbox"], (entry.no,))]
        bodies += [body for _, no, body in self._group.commands if no == entry.no]
        return [c for c in map(decode_command, bodies) if c.id in entry.mail]

    # Owners.

    def beat(self, owner: Owner, ttl_ms: int, now_ms: int) -> Alive | Lost:
        # The file lock is held, so owners of earlier processes are dead without a heartbeat.
        return self._pulse.beat(owner, ttl_ms, now_ms)

    def leave(self, owner: Owner) -> None:
        self._pulse.leave(owner)

    def claim(self, lane: LaneId, owner: Owner, now_ms: int) -> Lease | None:
        entry = self._entry(lane)
        holder = None if entry.owner is None else Owner(entry.owner)
        if not self._pulse.gives_way(holder, owner, now_ms):
            return None
        if entry.no == 0:
            self._make(entry)
        entry.owner = owner
        entry.fence += 1
        entry.head_dirty = True
        return Lease(lane, owner, entry.fence)

    def commit(self, lease: Lease, version: int, write: Write) -> int:
        assert self._group is not None
        entry = self._entry(lease.lane)
        digest = write.digest()
        if entry.fence != lease.fence:
            raise LeaseLost(lease.lane, lease.fence, version)
        if entry.version == version:
            if entry.digest == digest:
                return version
            raise Bug(f"{lease.lane}: version {version} was written with other rows")
        if entry.version + 1 != version:
            raise LeaseLost(lease.lane, lease.fence, version)
        group, no = self._group, entry.no
        rows = group.rows
        for touch in write.touched:
            # By its exact type: an account's commit touches thousands of rows.
            if type(touch) is RowPut:
                intent = None if touch.intent is None else pack_id(touch.intent)
                table, key = touch.table, touch.key
                rows[no, table, key] = (no, table, key, intent, touch.body)
            elif type(touch) is RowKey:
                rows[no, touch.table, touch.key] = None
            elif type(touch) is Result:
                packed = pack_id(touch.intent)
                if packed in group.results:
                    raise Bug(f"{touch.intent} has a final answer already")
                group.results[packed] = (touch.status, touch.settled_ms, encode(touch))
            else:
                assert type(touch) is Index
                group.indexes[touch.name, touch.value] = touch
        for done in write.answered:
            group.answered.append((done, no))
            entry.mail.discard(done)
        if write.feed:
            group.feed.append((self._number("feed"), no, version, write.at_ms, write.feed))
        head = write.head
        entry.version = version
        entry.digest = digest
        entry.cursors = head.cursors
        entry.settled_count = head.settled_count
        entry.settled_bytes = head.settled_bytes
        entry.wake(wake_after(head, entry.accepted_count, bool(entry.mail)))
        entry.state = head.state
        entry.head_dirty = True
        return version

    def release(self, lease: Lease) -> None:
        entry = self._entry(lease.lane)
        if entry.fence == lease.fence:
            entry.owner = None
            entry.head_dirty = True

    @readable
    def prune(self, before_ms: int, feed_before_ms: int, limit: int) -> int:
        """Drop old finished intents and old feed; what finds an intent again stays in the index."""
        group = self._group
        assert group is not None
        old = 0
        for no in self._settled_before(before_ms, limit):
            found = self._db.execute(SQL["finished"], (no,)).fetchone()
            if found is None:
                continue  # A slot still watches over it.
            packed, priority, seq, body, lane, result = found
            row: IntentRow = intent_row(lane, packed, priority, seq, body)
            ended = decode_result(result)
            for index in (*leftovers(row, ended), *pointed(row, ended)):
                group.indexes[(index.name, index.value)] = index
            group.dropped_numbers.append((no,))
            old += 1
        feed = self._db.execute(SQL["feed_front"], (limit,))
        group.trimmed += [(cursor,) for cursor, at_ms in feed if at_ms < feed_before_ms]
        return max(old, len(group.trimmed))

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
        found: list[Any] = self._db.execute(
            SQL["results_behind"], (after, PRUNE_SCAN_MAX)
        ).fetchall()
        return found

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
