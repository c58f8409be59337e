"""What the writing process keeps in memory: a lane's counters, and the group it gathers."""

from collections.abc import Iterator

from laneway.core.ids import LaneId
from laneway.core.rows import START, Cursors, Index
from laneway.stores.codec import decode_cursors, encode


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
        "wake_dirty",
        "wake_ms",
    )

    def __init__(self, no: int) -> None:
        self.no = no
        """Zero: the lane is not in the database, and nothing has made it yet."""
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
        self.mail: set[int] = set()
        """Commands in the mailbox, by id: only asked whether one is there."""
        self.new = False
        self.tail_dirty = False
        self.head_dirty = False
        self.wake_dirty = False
        """Apart from the head: it is indexed, and seldom changes while a lane is busy."""

    def wake(self, at_ms: int | None) -> None:
        if at_ms != self.wake_ms:
            self.wake_ms = at_ms
            self.wake_dirty = True

    def is_dirty(self) -> bool:
        return self.head_dirty or self.tail_dirty or self.wake_dirty

    def clean(self) -> None:
        self.new = self.tail_dirty = self.head_dirty = self.wake_dirty = False

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
            self.state,
            self.no,
        )


def read_entry(row: tuple) -> Entry:  # type: ignore[type-arg]
    entry = Entry(row[0])
    entry.seq_next, entry.accepted_count, entry.accepted_bytes = row[1:4]
    entry.fast_hits, entry.slow_hits = row[4:6]
    entry.owner, entry.fence, entry.version, entry.digest = row[6:10]
    entry.cursors = decode_cursors(row[10])
    entry.settled_count, entry.settled_bytes, entry.wake_ms, entry.state = row[11:15]
    if row[15] is not None:
        entry.mail = {int(command) for command in row[15].split(",")}
    return entry


class Group:
    """What one flush will write, table by table."""

    __slots__ = (
        "answered",
        "commands",
        "dropped_numbers",
        "feed",
        "indexes",
        "intents",
        "lanes",
        "results",
        "rows",
        "trimmed",
    )

    def __init__(self) -> None:
        self.lanes: dict[LaneId, Entry] = {}
        """Every lane the group looked at; those it changed are marked."""
        self.intents: dict[bytes, tuple[int, bytes, int, int, int, bytes]] = {}
        self.rows: dict[tuple[int, str, str], tuple[int, str, str, bytes | None, bytes] | None] = {}
        """By lane, table and key; None: it is gone."""
        self.results: dict[bytes, tuple[str, int, bytes]] = {}
        self.indexes: dict[tuple[str, str], Index] = {}
        self.commands: list[tuple[int, int, bytes]] = []
        self.answered: list[tuple[int, int]] = []
        self.feed: list[tuple[object, ...]] = []
        self.dropped_numbers: list[tuple[int]] = []
        self.trimmed: list[tuple[int]] = []

    def numbers(self) -> Iterator[tuple[bytes, int]]:
        """Of the intents it accepts."""
        return ((packed, row[0]) for packed, row in self.intents.items())

    def is_empty(self) -> bool:
        """Whether it changes nothing: every change but these marks its lane."""
        if self.commands or self.dropped_numbers or self.trimmed:
            return False
        return not any(entry.is_dirty() for entry in self.lanes.values())
