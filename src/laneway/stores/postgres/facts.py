"""What the server said about a group's lanes, intents and owners, while it holds them locked."""

from collections import deque
from collections.abc import Sequence
from typing import Any

from laneway.core.errors import Bug
from laneway.core.ids import LaneId, Owner
from laneway.core.rows import START, Command, Cursors, Index
from laneway.stores.codec import decode_command

Rows = Sequence[tuple[Any, ...]]


class Entry:
    """Tail and head of one lane."""

    __slots__ = (
        "accepted_bytes",
        "accepted_count",
        "cursors",
        "digest",
        "dirty",
        "fast_hits",
        "fence",
        "mail",
        "no",
        "owner",
        "seq_next",
        "settled_bytes",
        "settled_count",
        "slow_hits",
        "state",
        "version",
        "wake_ms",
    )

    def __init__(self) -> None:
        self.no = 0
        """Zero: the lane is not in the database, and nothing has made it yet."""
        self.seq_next = 1
        self.accepted_count = 0
        self.accepted_bytes = 0
        self.fast_hits = 0
        self.slow_hits = 0
        self.owner: Owner | None = None
        self.fence = 0
        self.version = 0
        self.digest = b""
        self.cursors: Cursors = START
        self.settled_count = 0
        self.settled_bytes = 0
        self.wake_ms: int | None = None
        self.state = b""
        self.mail: dict[int, Command] = {}
        self.dirty = False

    def line(self) -> tuple[object, ...]:
        """The columns of the lane's row, in the order of the statement that puts it."""
        return (
            self.no,
            self.seq_next,
            self.accepted_count,
            self.accepted_bytes,
            self.fast_hits,
            self.slow_hits,
            self.owner,
            self.fence,
            self.version,
            self.digest,
            *self.cursors,
            *(None,) * (len(START) - len(self.cursors)),
            self.settled_count,
            self.settled_bytes,
            self.wake_ms,
            self.state,
        )


def read_entry(row: tuple[Any, ...]) -> Entry:
    entry = Entry()
    entry.no, entry.seq_next, entry.accepted_count, entry.accepted_bytes = row[:4]
    entry.fast_hits, entry.slow_hits, entry.owner, entry.fence, entry.version = row[4:9]
    entry.digest, cursors, entry.settled_count, entry.settled_bytes = row[9:13]
    entry.cursors = tuple(cursors)
    entry.wake_ms, entry.state = row[13:]
    return entry


class Facts:
    """Answers to the questions of a group, each under the name of its statement."""

    def __init__(self) -> None:
        self.lanes: dict[LaneId, Entry] = {}
        self.alive: dict[Owner, None] = {}
        self.dead: dict[Owner, None] = {}
        self.peers: dict[Owner, None] = {}
        self.intents: dict[bytes, bool] = {}
        """Those that are there, and whether they are final."""
        self.indexes: dict[tuple[str, str], Index] = {}
        self.finished: Rows = ()
        self.trimmed = 0
        self.standbys_behind: int | None = None
        self._numbers: deque[int] = deque()

    def learn(self, name: str, rows: Rows) -> None:
        getattr(self, f"_{name}")(rows)

    def _lock_lanes(self, rows: Rows) -> None:
        self.lanes = {LaneId(row[0]): read_entry(row[1:]) for row in rows}

    def _lock_owners(self, rows: Rows) -> None:
        for owner, dead, alive in rows:
            if dead:
                self.dead[owner] = None
            elif alive:
                self.alive[owner] = None

    def _peers(self, rows: Rows) -> None:
        self.peers = {Owner(owner): None for (owner,) in rows}

    def _standbys_behind(self, rows: Rows) -> None:
        ((self.standbys_behind,),) = rows

    def _waiting_commands(self, rows: Rows) -> None:
        for lane, number, body in rows:
            # A lane that another process made since is missed here; making it again tells us.
            if lane in self.lanes:
                self.lanes[lane].mail[number] = decode_command(body)

    def _known_intents(self, rows: Rows) -> None:
        self.intents = dict(rows)

    def _known_indexes(self, rows: Rows) -> None:
        self.indexes = {(row[0], row[1]): Index(*row) for row in rows}

    def _command_numbers(self, rows: Rows) -> None:
        self._numbers.extend(number for (number,) in rows)

    def _finished(self, rows: Rows) -> None:
        self.finished = rows

    def _trim_feed(self, rows: Rows) -> None:
        self.trimmed = len(rows)

    def _forget_owners(self, rows: Rows) -> None:
        """Graves, long grown over."""

    def command_number(self) -> int:
        if not self._numbers:
            raise Bug("more commands than were asked numbers for")
        return self._numbers.popleft()
