"""The rows of a lane as cells, `{(type, key, member): value}`, and back. Pure.

A cell is one member of one Redis hash or sorted set. A commit is the difference of cells that its
rows make, and guards on cells that must or must not be there; the server applies it without
knowing what any of it means.
"""

from collections.abc import Collection, Iterable
from typing import Any, TypeAlias

import msgspec

from laneway.core.errors import Bug
from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import Arrival, IntentRow
from laneway.core.outcome import Status
from laneway.core.rows import (
    Command,
    Head,
    Index,
    Result,
    RowKey,
    RowPut,
    Tail,
    Write,
)
from laneway.stores.codec import (
    decode_body,
    decode_command,
    decode_cursors,
    encode,
    intent_body,
)
from laneway.stores.pages import bad_cursor, feed_number
from laneway.stores.redis.rows import keys

Change: TypeAlias = tuple[str, str, Collection[str], Iterable[str], Iterable[bytes]]
"""A sign and a type, a key, its members, and their scores or values: `+` puts and `-` drops cells,
`!` puts those that must be new, and `?` asks that they are there. The type of open rows is "row":
the intents that rows name are counted with it."""

CLASS_SHIFT = 48
"""A score holds class and sequence exactly: 2 + 48 bits of the 53 that a double has."""

FINAL_STATUSES = tuple(status.value for status in Status if status.is_final())
TIME_BITS = 46
"""Of a time in milliseconds, enough for two thousand years."""

HEAD_FIELDS = (
    *("seq", "count", "bytes", "fast", "slow", "owner", "fence", "version", "digest", "cursors"),
    *("settled", "settled_bytes", "wake", "state"),
)

FeedLine: TypeAlias = tuple[int, int, int, LaneId, int, bytes]
"""A commit in the feed: its time, group and place there, its lane, version and records."""

SEPARATOR = "\x1f"
"""Between the table and the key of an open row; no field of a head has it."""
NAMED = "#"
"""Before an intent that open rows name: how many do."""


# Single rows.


def row_value(row: RowPut) -> bytes:
    """The intent it names stands before the body, where a script can read it."""
    return b"\n" + row.body if row.intent is None else row.intent.encode() + b"\n" + row.body


def row_parsed(member: str, value: bytes) -> RowPut:
    table, _, key = member.partition(SEPARATOR)
    named, _, body = value.partition(b"\n")
    return RowPut(table, key, IntentId(named.decode()) if named else None, body)


def score(priority: int, seq: int) -> int:
    return (priority << CLASS_SHIFT) + seq


def intent_value(arrival: Arrival | IntentRow) -> bytes:
    """Size and lane stand before the rest, where a script or a reader finds them."""
    size, lane = len(arrival.payload), arrival.lane.encode()
    return b"%d\n%b\n%b" % (size, lane, intent_body(arrival))


def intent_parsed(intent: bytes, scored: bytes, value: bytes) -> IntentRow:
    place = int(float(scored))
    priority, seq = place >> CLASS_SHIFT, place & (1 << CLASS_SHIFT) - 1
    _, lane, body = value.split(b"\n", 2)
    return IntentRow(
        IntentId(intent.decode()), LaneId(lane.decode()), seq, priority, *decode_body(body)
    )


def home_parsed(value: bytes) -> LaneId:
    return LaneId(value.split(b"\n", 2)[1].decode())


def command_value(command: Command) -> bytes:
    """What must not be queued twice stands before the rest; the id is the member's."""
    same = ""
    if command.intent is not None:
        same = SEPARATOR.join((command.intent, command.verb, command.word))
    return b"%b\n%b" % (same.encode(), encode(msgspec.structs.replace(command, id=0)))


def command_parsed(member: bytes, value: bytes) -> Command:
    command = decode_command(value[value.index(b"\n") + 1 :])
    return msgspec.structs.replace(command, id=int(member))


def reservation(intent: IntentId, lane: LaneId, digest: bytes) -> bytes:
    return b"%b\n%b\n%b" % (intent.encode(), lane.encode(), digest)


def reservation_parsed(value: bytes) -> tuple[IntentId, LaneId, bytes]:
    intent, lane, digest = value.split(b"\n", 2)
    return IntentId(intent.decode()), LaneId(lane.decode()), digest


def index_member(name: str, value: str) -> str:
    return f"{name}{SEPARATOR}{value}"


def place_member(index: Index) -> str:
    return f"{index.name}{SEPARATOR}{index.value}{SEPARATOR}{index.lane}"


def ended_score(status: str, settled_ms: int) -> int:
    """Final statuses one after the other, each by the time it was reached."""
    return (FINAL_STATUSES.index(status) << TIME_BITS) + settled_ms


def settled_member(intent: IntentId, lane: LaneId) -> str:
    return f"{intent} {lane}"


def wake_value(wake_ms: int | None) -> str:
    return "" if wake_ms is None else str(wake_ms)


# What a commit changes.


def changes(lane: LaneId, write: Write, *, here: bool = False) -> list[Change]:
    """The difference of cells that a commit makes, those of a kind together, guards before what
    they guard; of two changes of one cell the last counts. `here`: in a plain store it also says
    where a name may be found; in a Cluster that stands with another group."""
    puts: dict[str, bytes] = {}
    drops: dict[str, None] = {}
    results: dict[str, bytes] = {}
    ended: list[str] = []
    scores: list[str] = []
    names: list[str] = []
    indexes: list[bytes] = []
    places: list[str] = []
    for touch in write.touched:
        # By its exact type: an account's commit touches thousands of rows.
        if type(touch) is RowPut:
            member = f"{touch.table}{SEPARATOR}{touch.key}"
            puts[member] = row_value(touch)
            drops.pop(member, None)
        elif type(touch) is RowKey:
            member = f"{touch.table}{SEPARATOR}{touch.key}"
            drops[member] = None
            puts.pop(member, None)
        elif type(touch) is Result:
            if touch.intent in results:
                raise Bug(f"{touch.intent} has a final answer already")
            results[touch.intent] = encode(touch)
            ended.append(settled_member(touch.intent, lane))
            scores.append(str(ended_score(touch.status, touch.settled_ms)))
        else:
            assert type(touch) is Index
            name = f"{touch.name}{SEPARATOR}{touch.value}"
            names.append(name)
            indexes.append(encode(touch))
            if here:
                places.append(f"{name}{SEPARATOR}{touch.lane}")
    made: list[Change] = []
    if puts:
        made.append(("+row", keys.LANE, puts, (), puts.values()))
    if drops:
        made.append(("-row", keys.LANE, drops, (), ()))
    if results:
        made.append(("?zset", keys.ORDER, results, (), ()))
        made.append(("!hash", keys.RESULTS, results, (), results.values()))
        made.append(("+zset", keys.ENDED, ended, scores, ()))
    if names:
        made.append(("+hash", keys.INDEXES, names, (), indexes))
    if places:
        made.append(("+zset", keys.PLACES, places, ["0"] * len(places), ()))
    if write.answered:
        made.append(("-hash", keys.MAIL, [str(done) for done in write.answered], (), ()))
    return made


# What a lane holds.


def open_parsed(rows: dict[str, bytes]) -> tuple[RowPut, ...]:
    """The open rows among what a lane holds."""
    found = [row_parsed(m, value) for m, value in rows.items() if SEPARATOR in m]
    return tuple(sorted(found, key=lambda row: (row.table, row.key)))


def head_parsed(lane: LaneId, fields: dict[str, bytes]) -> tuple[Tail, Head]:
    """Tail and head from one hash; a field that was never written is an empty lane's."""

    def number(field: str) -> int:
        return int(fields.get(field, b"0"))

    owner, wake = fields.get("owner", b""), fields.get("wake", b"")
    tail = Tail(
        lane, number("seq") + 1, number("count"), number("bytes"), number("fast"), number("slow")
    )
    cursors = fields.get("cursors")
    head = Head(
        lane,
        Owner(owner.decode()) if owner else None,
        number("fence"),
        number("version"),
        fields.get("digest", b""),
        decode_cursors(cursors) if cursors else Head(lane).cursors,
        number("settled"),
        number("settled_bytes"),
        int(wake) if wake else None,
        fields.get("state", b""),
    )
    return tail, head


# The feed.


def feed_parsed(shard: int, entry: list[Any]) -> list[FeedLine]:
    """The commits of one entry, which bears the number of its last commit."""
    place, fields = entry
    first = int(place.partition(b"-")[2]) - len(fields) // 4 + 1
    return [
        (
            int(fields[at + 2]),
            shard,
            first + at // 4,
            LaneId(fields[at].decode()),
            int(fields[at + 1]),
            fields[at + 3],
        )
        for at in range(0, len(fields), 4)
    ]


def feed_places(cursor: str, shards: int) -> list[int]:
    """How far each group's feed was read; the empty cursor is the beginning."""
    if not cursor:
        return [0] * shards
    parts = cursor.split(".")
    if len(parts) != shards or "" in parts:
        raise bad_cursor()
    return [feed_number(part) for part in parts]


def feed_cursor(places: list[int]) -> str:
    return ".".join(map(str, places))
