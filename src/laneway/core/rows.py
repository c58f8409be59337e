"""Rows are the truth; records are how they change.

A store never sees what a row means. It keeps a row's columns and one body of bytes,
encoded here. Fields of an encoded row are only ever appended, each with a default, so
that a database of any released version still loads.
"""

from hashlib import sha256
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import IntentRow
from laneway.core.limits import PRIORITY_CLASSES

Cursors = tuple[int, ...]
"""For each priority class the highest sequence the lane has taken."""

START: Cursors = (0,) * PRIORITY_CLASSES

DIGEST_BYTES: Final = 16
"""The size of a write's digest: enough that no two are ever taken for each other."""


def all_classes(cursors: Cursors) -> Cursors:
    """A cursor for every class: one that had none yet was never taken from."""
    return cursors + START[len(cursors) :]


def taken(cursors: Cursors, priority: int) -> int:
    """How far one class was taken."""
    return cursors[priority] if priority < len(cursors) else 0


class Table:
    """The tables of a lane's open rows. Plain strings: an Enum hashes ten times slower."""

    SLOT: Final = "slot"
    ATTEMPT: Final = "attempt"
    RETURNED: Final = "returned"
    AUX: Final = "aux"


class RowKey(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """An open row that is gone."""

    table: str
    key: str


class RowPut(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """One open row of a lane, as it stands now."""

    table: str
    key: str
    intent: IntentId | None
    """The intent this row speaks of: `load` brings its bytes along."""
    body: bytes


class Tail(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What the door knows of a lane; only `accept` writes it, and creates it on demand."""

    lane: LaneId
    seq_next: int = 1
    accepted_count: int = 0
    accepted_bytes: int = 0
    fast_hits: int = 0
    slow_hits: int = 0


class Head(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What the owner knows of a lane; only fenced commits and claims write it."""

    lane: LaneId
    owner: Owner | None = None
    fence: int = 0
    version: int = 0
    digest: bytes = b""
    """Of the last write: the same version and digest again is "already applied"."""
    cursors: Cursors = START
    settled_count: int = 0
    settled_bytes: int = 0
    wake_ms: int | None = None
    """0: there is work now; a time: wake it then; None: it sleeps until the door calls."""
    state: bytes = b""
    """The machine's own head, under 1 KB."""


class Returned(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """An intent whose slot was freed. It keeps its order and goes before the backlog."""

    intent: IntentId
    seq: int
    priority: int
    refusals: int = 0
    """How often every node refused all bytes of it for good."""
    reason: str = ""
    """Why its slot was freed."""


class Result(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """The final answer of an intent, written once."""

    intent: IntentId
    status: str
    settled_ms: int
    number: int | None = None
    """The position on chain: contract block, nonce, sequence, rollup block."""
    hash: bytes | None = None
    reason: str = ""
    history: bytes = b""
    """The finished slot and its attempts, as the lane's kind encodes them."""


class Index(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """A name that finds an intent, and outlives it when it is pruned."""

    name: str
    value: str
    intent: IntentId
    lane: LaneId
    digest: bytes = b""
    status: str = ""
    """The final status, filled in when the intent is pruned; empty while it is kept."""
    hash: bytes | None = None


class Command(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """An operator's command to a lane, durable in its mailbox until a commit answers it."""

    id: int
    lane: LaneId
    verb: str
    at_ms: int
    reason: str = ""
    by: str = ""
    intent: IntentId | None = None
    seq: int = 0
    priority: int = 0
    size: int = 0
    word: str = ""
    payload: bytes = b""
    """The command's argument, where it is more than `word` can hold."""


class Lease(Struct, frozen=True):
    """The right to write one lane, until someone else's fence is higher."""

    lane: LaneId
    owner: Owner
    fence: int


class Rows(Struct, frozen=True):
    """All that a lane is recovered from."""

    head: Head
    open: tuple[RowPut, ...]
    intents: tuple[IntentRow, ...]
    """The intents that open rows name."""
    mailbox: tuple[Command, ...]


Touch: TypeAlias = RowPut | RowKey | Result | Index
"""A row as it stands now, the key of one that is gone, or a final answer."""

Touched: TypeAlias = tuple[Touch, ...]


class HeadWrite(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    cursors: Cursors
    settled_count: int
    settled_bytes: int
    wake_ms: int | None
    state: bytes


class Write(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One commit of one lane: the rows it puts and drops, and the records that say why."""

    head: HeadWrite
    touched: tuple[Touch, ...] = ()
    """In the order in which they were touched: of two touches of one row the last counts."""
    answered: tuple[int, ...] = ()
    """Mailbox commands this commit answers."""
    at_ms: int = 0
    feed: bytes = b""
    """The records, encoded; empty when there are none."""

    def digest(self) -> bytes:
        # SHA-256, which processors have in hardware: a commit may be half a megabyte.
        return sha256(_encode(self)).digest()[:DIGEST_BYTES]

    def results(self) -> tuple[Result, ...]:
        return tuple([touch for touch in self.touched if type(touch) is Result])


class FeedEntry(Struct, frozen=True, gc=False):
    """The records of one commit of one lane; entries are in the order of its versions."""

    cursor: str
    """Where the feed goes on after this entry. Opaque: only its store can read it."""
    lane: LaneId
    version: int
    at_ms: int
    records: bytes


class LaneView(Struct, frozen=True):
    """Tail and head of one lane, read in one atomic step."""

    tail: Tail
    head: Head
    leased: bool

    def depth(self) -> int:
        return self.tail.accepted_count - self.head.settled_count

    def depth_bytes(self) -> int:
        return self.tail.accepted_bytes - self.head.settled_bytes


_encode = msgspec.msgpack.Encoder().encode
