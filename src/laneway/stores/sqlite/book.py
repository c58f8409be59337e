"""A Book in one SQLite file.

One process writes, so it may keep tails and heads at hand: fence and version are compared there,
in the same step as the write. A group is gathered in memory and written at `flush`, table by
table, in one transaction of the database. When that fails nothing of the group is kept.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

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
from laneway.core.rows import START, Command, Cursors, Index, Lease, Result, RowKey, RowPut, Write
from laneway.ports import Alive, Durability, Lost
from laneway.stores.book import ID_INDEX, KEY_INDEX, Pulse, key_value, wake_after
from laneway.stores.limits import LANES_CACHED_MAX
from laneway.stores.memory import leftovers
from laneway.stores.sqlite.codec import (
    decode_cursors,
    decode_index,
    decode_result,
    encode,
    intent_body,
    intent_row,
    pack_id,
)
from laneway.stores.sqlite.database import (
    FileLock,
    connect,
    connect_reader,
    has_wal_reset_bug,
    migrate,
    sqlite_version,
    statements,
    translate,
    translated,
)
from laneway.stores.sqlite.reader import SqliteReader

SQL = statements()


class Entry:
    """Tail and head of one lane, as the last write of this process left them."""

    __slots__ = (
        "accepted_bytes",
        "accepted_count",
        "cursors",
        "digest",
        "fast_hits",
        "fence",
        "head_dirty",
        "mail",
        "new",
        "no",
        "owner",
        "seq_next",
        "settled_bytes",
        "settled_count",
        "slow_hits",
        "state",
        "tail_dirty",
        "version",
        "wake_ms",
    )

    def __init__(self, no: int) -> None:
        self.no = no
        self.seq_next = 1
        self.accepted_count = 0
        self.accepted_bytes = 0
        self.fast_hits = 0
        self.slow_hits = 0
        self.owner: str | None = None
        self.fence = 0
        self.version = 0
        self.digest = b""
        self.cursors: Cursors = START
        self.settled_count = 0
        self.settled_bytes = 0
        self.wake_ms: int | None = None
        self.state = b""
        self.mail = 0
        self.new = False
        self.tail_dirty = False
        self.head_dirty = False

    def tail(self) -> tuple[int, int, int, int, int]:
        return (
            self.seq_next,
            self.accepted_count,
            self.accepted_bytes,
            self.fast_hits,
            self.slow_hits,
        )

    def head(self) -> tuple[object, ...]:
        return (
            self.owner,
            self.fence,
            self.version,
            self.digest,
            encode(self.cursors),
            self.settled_count,
            self.settled_bytes,
            self.wake_ms,
            self.state,
            self.no,
        )


class Group:
    """What one flush will write, table by table."""

    __slots__ = (
        "answered",
        "commands",
        "dropped",
        "dropped_numbers",
        "feed",
        "indexes",
        "intents",
        "lanes",
        "results",
        "rows",
        "trim",
    )

    def __init__(self) -> None:
        self.lanes: dict[LaneId, Entry] = {}
        self.intents: dict[bytes, tuple[object, ...]] = {}
        self.rows: dict[tuple[int, str, str], tuple[bytes | None, bytes] | None] = {}
        self.results: list[tuple[object, ...]] = []
        self.indexes: dict[tuple[str, str], Index] = {}
        self.commands: list[tuple[int, int, bytes]] = []
        self.answered: list[tuple[int]] = []
        self.feed: list[tuple[object, ...]] = []
        self.dropped_numbers: list[tuple[int]] = []
        self.trim: tuple[int, int] | None = None


class SqliteBook(SqliteReader):
    """The embedded store's rules. Writers and readers are separate connections to one file."""

    durability = Durability.FULL

    def __init__(self, path: str, *, vfs: str | None = None, exclusive: bool = False) -> None:
        version = sqlite_version()
        if has_wal_reset_bug(version):
            raise StoreRefused(
                path,
                f"SQLite {'.'.join(map(str, version))} can lose committed writes (the WAL-reset "
                "bug); install apsw 3.51.3 or newer",
            )
        self.path = path
        self._lock = None if vfs is not None else FileLock(Path(path))
        try:
            with translated(path):
                self._db = connect(path, vfs=vfs, exclusive=exclusive)
                migrate(self._db, path)
                reader = self._db if exclusive else connect_reader(path)
                super().__init__(path, reader)
                self._lane_next: int = self._db.execute(SQL["lane_next"]).get
                self._counters: dict[str, int] = dict(self._db.execute(SQL["counters"]))
        except BaseException:
            if self._lock is not None:
                self._lock.release()
            raise
        self._counters_kept = dict(self._counters)
        self._entries: dict[LaneId, Entry] = {}
        self._group: Group | None = None
        self._pulse = Pulse()
        self._closed: StoreClosed | None = None
        self.sync_ms = 0.0

    # Groups.

    def begin(self) -> None:
        if self._closed is not None:
            raise self._closed
        assert self._group is None
        self._group = Group()

    def write(self) -> None:
        """Hand the group to the database; nothing of it counts before `sync`."""
        assert self._group is not None
        with self._undone():
            self._db.execute("BEGIN IMMEDIATE")
            self._write(self._group)

    def sync(self) -> None:
        """Make the written group durable. On any error nothing of it is kept."""
        assert self._group is not None
        with self._undone():
            begun = perf_counter()
            self._db.execute("COMMIT")
            self.sync_ms = (perf_counter() - begun) * 1000
        group, self._group = self._group, None
        self._kept(group)

    @contextmanager
    def _undone(self) -> Iterator[None]:
        """Undo the group when a step of it fails; after a doubtful sync, close the file."""
        try:
            yield
        except apsw.Error as error:
            failed = translate(self.path, error)
            self.rollback()
            if isinstance(failed, StoreClosed):
                # After a failed sync nobody knows what the disk holds, and asking again lies.
                self._closed = failed
                self.close()
            raise failed from error
        except Bug:
            self.rollback()
            raise

    def rollback(self) -> None:
        assert self._group is not None
        group, self._group = self._group, None
        self._forget(group)
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def _kept(self, group: Group) -> None:
        self._counters_kept = dict(self._counters)
        for entry in group.lanes.values():
            entry.new = entry.tail_dirty = entry.head_dirty = False
        if len(self._entries) > LANES_CACHED_MAX:
            for lane in list(self._entries)[: LANES_CACHED_MAX // 4]:
                del self._entries[lane]

    def _forget(self, group: Group) -> None:
        self._counters = dict(self._counters_kept)
        for lane, entry in group.lanes.items():
            self._entries.pop(lane, None)
            if entry.new:
                self._lane_next = min(self._lane_next, entry.no)

    def _write(self, group: Group) -> None:
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
        if group.intents:
            many(SQL["add_intent"], list(group.intents.values()))
        self._write_rows(group)
        if group.results:
            before = self._db.total_changes()
            many(SQL["add_result"], group.results)
            if self._db.total_changes() - before != len(group.results):
                raise Bug("a final answer names an intent that is not there")
        if group.indexes:
            many(
                SQL["put_index"],
                [(i.name, i.value, encode(i)) for i in group.indexes.values()],
            )
        if group.commands:
            many(SQL["add_command"], group.commands)
        if group.answered:
            many(SQL["drop_command"], group.answered)
        if group.feed:
            many(SQL["add_feed"], group.feed)
        if group.dropped_numbers:
            many(SQL["drop_result"], group.dropped_numbers)
            many(SQL["drop_intent"], group.dropped_numbers)
        if group.trim is not None:
            self._db.execute(SQL["trim_feed"], group.trim)
        moved = [
            (value, name)
            for name, value in self._counters.items()
            if value != self._counters_kept[name]
        ]
        if moved:
            many(SQL["put_counter"], moved)

    def _write_rows(self, group: Group) -> None:
        puts = []
        drops = []
        for key, row in group.rows.items():
            if row is None:
                drops.append(key)
            else:
                puts.append((*key, *row))
        if drops:
            self._db.executemany(SQL["drop_row"], drops)
        if puts:
            self._db.executemany(SQL["put_row"], puts)

    # Entries.

    def _entry(self, lane: LaneId) -> Entry:
        """The lane's tail and head, made on demand, as part of the open group."""
        assert self._group is not None
        entry = self._entries.get(lane)
        if entry is None:
            entry = self._entries[lane] = self._read_entry(lane)
        self._group.lanes[lane] = entry
        return entry

    def _read_entry(self, lane: LaneId) -> Entry:
        with translated(self.path):
            row = self._db.execute(SQL["lane_entry"], (lane,)).fetchone()
        if row is None:
            entry = Entry(self._lane_next)
            entry.new = True
            self._lane_next += 1
            return entry
        entry = Entry(row[0])
        entry.seq_next, entry.accepted_count, entry.accepted_bytes = row[1:4]
        entry.fast_hits, entry.slow_hits = row[4:6]
        entry.owner, entry.fence, entry.version, entry.digest = row[6:10]
        entry.cursors = decode_cursors(row[10])
        entry.settled_count, entry.settled_bytes, entry.wake_ms, entry.state = row[11:15]
        entry.mail = row[15]
        return entry

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
        if entry.wake_ms != 0:
            entry.wake_ms = 0
            entry.head_dirty = True
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

    def _knows(self, intent: IntentId, packed: bytes) -> bool:
        assert self._group is not None
        if packed in self._group.intents or self._index(ID_INDEX, intent) is not None:
            return True
        with translated(self.path):
            return self._db.execute(SQL["knows_intent"], (packed,)).fetchone() is not None

    def _index(self, name: str, value: str) -> Index | None:
        """An index row as the open group sees it."""
        assert self._group is not None
        gathered = self._group.indexes.get((name, value))
        if gathered is not None:
            return gathered
        with translated(self.path):
            row = self._db.execute(SQL["index"], (name, value)).fetchone()
        return None if row is None else decode_index(row[0])

    def tell(self, command: Command) -> Command:
        assert self._group is not None
        entry = self._entry(command.lane)
        command = msgspec.structs.replace(command, id=self._number("command"))
        self._group.commands.append((command.id, entry.no, encode(command)))
        entry.mail += 1
        entry.wake_ms = 0
        entry.head_dirty = True
        return command

    # Owners.

    def beat(self, owner: Owner, ttl_ms: int, now_ms: int) -> Alive | Lost:
        # The file lock is held, so owners of earlier processes are dead without a heartbeat.
        return self._pulse.beat(owner, ttl_ms, now_ms)

    def leave(self, owner: Owner) -> None:
        self._pulse.leave(owner)

    def claim(self, lane: LaneId, owner: Owner, now_ms: int) -> Lease | None:
        entry = self._entry(lane)
        if entry.owner is not None and entry.owner != owner:
            holder = Owner(entry.owner)
            if self._pulse.is_alive(holder, now_ms):
                return None
            self._pulse.bury(holder)
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
        for touch in write.touched:
            if isinstance(touch, RowPut):
                intent = None if touch.intent is None else pack_id(touch.intent)
                group.rows[(no, touch.table, touch.key)] = (intent, touch.body)
            elif isinstance(touch, RowKey):
                group.rows[(no, touch.table, touch.key)] = None
            elif isinstance(touch, Result):
                packed = pack_id(touch.intent)
                group.results.append((touch.status, touch.settled_ms, encode(touch), packed))
            else:
                group.indexes[(touch.name, touch.value)] = touch
        for done in write.answered:
            group.answered.append((done,))
        entry.mail -= len(write.answered)
        if write.feed:
            group.feed.append((self._number("feed"), no, version, write.at_ms, write.feed))
        entry.version = version
        entry.digest = digest
        entry.cursors = write.head.cursors
        entry.settled_count = write.head.settled_count
        entry.settled_bytes = write.head.settled_bytes
        entry.wake_ms = wake_after(write, entry.accepted_count, entry.mail > 0)
        entry.state = write.head.state
        entry.head_dirty = True
        return version

    def release(self, lease: Lease) -> None:
        entry = self._entry(lease.lane)
        if entry.fence == lease.fence:
            entry.owner = None
            entry.head_dirty = True

    def prune(self, before_ms: int, feed_before_ms: int, limit: int) -> int:
        """Drop the oldest finished intents; what finds them again stays in the index."""
        assert self._group is not None
        with translated(self.path):
            rows = list(self._db.execute(SQL["oldest_results"], (limit,)))
        old = 0
        for no, settled_ms, packed, priority, seq, body, lane, result in rows:
            if settled_ms >= before_ms:
                continue
            old += 1
            row: IntentRow = intent_row(lane, packed, priority, seq, body)
            for index in leftovers(row, decode_result(result)):
                self._group.indexes[(index.name, index.value)] = index
            self._group.dropped_numbers.append((no,))
        self._group.trim = (feed_before_ms, limit)
        return old

    def close(self) -> None:
        if self._reader is not self._db:
            self._reader.close(True)
        self._db.close(True)
        if self._lock is not None:
            self._lock.release()
            self._lock = None
