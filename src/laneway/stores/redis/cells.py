"""The rows of a lane as cells, `{(type, key, member): value}`, and back. Pure.

A cell is one member of one Redis hash or sorted set. A commit is the difference of cells that its
rows make, and guards on cells that must or must not be there; the server applies it without
knowing what any of it means.
"""

from collections.abc import Collection, Iterable
from typing import TypeAlias

import msgspec
from msgspec import Struct

from laneway.core.errors import Bug
from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import Arrival, IntentRow
from laneway.core.outcome import Status
from laneway.core.rows import (
    Command,
    Cursors,
    Head,
    Index,
    Result,
    RowKey,
    RowPut,
    Tail,
    Write,
)
from laneway.stores.redis import keys

Cell: TypeAlias = tuple[str, str, str]
"""Type ("hash" or "zset"), key and member."""

Cells: TypeAlias = dict[Cell, bytes]

Change: TypeAlias = tuple[str, str, Collection[str], Iterable[str], Iterable[bytes]]
"""A sign and a type, a key, its members, and their scores or values: `+` puts and `-` drops cells,
`!` puts those that must be new, and `?` asks that they are there. The type of open rows is "row":
the intents that rows name are counted with it."""

CLASS_SHIFT = 48
"""A score holds class and sequence exactly: 2 + 48 bits of the 53 that a double has."""

FINAL_WORDS = tuple(word.value for word in Status if word.is_final())
TIME_BITS = 46
"""Of a time in milliseconds, enough for two thousand years."""

HEAD_FIELDS = (
    *("seq", "count", "bytes", "fast", "slow", "owner", "fence", "version", "digest", "cursors"),
    *("settled", "settled_bytes", "wake", "state"),
)

encode = msgspec.msgpack.Encoder().encode
decode_cursors = msgspec.msgpack.Decoder(Cursors).decode
decode_command = msgspec.msgpack.Decoder(Command).decode
decode_index = msgspec.msgpack.Decoder(Index).decode
decode_result = msgspec.msgpack.Decoder(Result).decode
_decode_body = msgspec.msgpack.Decoder(tuple[int, int | None, str | None, str, bytes, bytes]).decode

SEPARATOR = "\x1f"
"""Between the table and the key of an open row; no field of a head has it."""
NAMED = "#"
"""Before an intent that open rows name: how many do."""


class LaneRows(Struct, frozen=True):
    """All rows of one lane."""

    tail: Tail
    head: Head
    intents: tuple[IntentRow, ...] = ()
    """By class, then by sequence."""
    open: tuple[RowPut, ...] = ()
    """By table, then by key."""
    results: tuple[Result, ...] = ()
    """By intent."""
    indexes: tuple[Index, ...] = ()
    """By name, then by value."""
    mailbox: tuple[Command, ...] = ()
    left: tuple[Index, ...] = ()
    """By intent."""


# Single rows.


def row_member(table: str, key: str) -> str:
    return f"{table}{SEPARATOR}{key}"


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
    body = (
        arrival.accepted_ms,
        arrival.valid_until_ms,
        arrival.key,
        arrival.scope,
        arrival.digest,
        arrival.payload,
    )
    return b"%d\n%b\n%b" % (len(arrival.payload), arrival.lane.encode(), encode(body))


def intent_parsed(intent: bytes, scored: bytes, value: bytes) -> IntentRow:
    place = int(float(scored))
    priority, seq = place >> CLASS_SHIFT, place & (1 << CLASS_SHIFT) - 1
    _, lane, body = value.split(b"\n", 2)
    return IntentRow(
        IntentId(intent.decode()), LaneId(lane.decode()), seq, priority, *_decode_body(body)
    )


def home_parsed(value: bytes) -> LaneId:
    return LaneId(value.split(b"\n", 2)[1].decode())


def command_value(command: Command) -> bytes:
    """What must not be said twice stands before the rest; the id is the member's."""
    said = ""
    if command.intent is not None:
        said = SEPARATOR.join((command.intent, command.verb, command.word))
    return b"%b\n%b" % (said.encode(), encode(msgspec.structs.replace(command, id=0)))


def command_parsed(member: bytes, value: bytes) -> Command:
    told = decode_command(value[value.index(b"\n") + 1 :])
    return msgspec.structs.replace(told, id=int(member))


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
    """Final words one behind the other, each by the time it was said."""
    return (FINAL_WORDS.index(status) << TIME_BITS) + settled_ms


def settled_member(intent: IntentId, lane: LaneId) -> str:
    return f"{intent} {lane}"


def wake_value(wake_ms: int | None) -> str:
    return "" if wake_ms is None else str(wake_ms)


# What a commit changes.


def changes(lane: LaneId, write: Write, *, here: bool = False) -> list[Change]:
    """The difference of cells that a commit makes, those of a kind together, guards before what
    they guard; of two words on one cell the last. `here`: in a plain store it also says where a
    name may be found; in a Cluster that stands with another group."""
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


# A whole lane.


def cells(lane: LaneRows) -> Cells:
    """Everything that stands in Redis because of this lane, its ids and keys elsewhere aside."""
    name = lane.head.lane
    made: Cells = {("hash", keys.LANE, field): value for field, value in head_cells(lane).items()}
    made[("zset", keys.LANES, name)] = b"0"
    if lane.head.wake_ms == 0:
        made[("zset", keys.AWAKE, name)] = b"0"
    elif lane.head.wake_ms is not None:
        made[("zset", keys.ALARMS, name)] = b"%d" % lane.head.wake_ms
    for intent in lane.intents:
        made[("hash", keys.INTENTS, intent.id)] = intent_value(intent)
        made[("zset", keys.ORDER, intent.id)] = b"%d" % score(intent.priority, intent.seq)
    for row in lane.open:
        made[("hash", keys.LANE, row_member(row.table, row.key))] = row_value(row)
        if row.intent is not None:
            cell = ("hash", keys.LANE, f"{NAMED}{row.intent}")
            made[cell] = b"%d" % (int(made.get(cell, b"0")) + 1)
    for result in lane.results:
        made[("hash", keys.RESULTS, result.intent)] = encode(result)
        place = ended_score(result.status, result.settled_ms)
        made[("zset", keys.ENDED, settled_member(result.intent, name))] = b"%d" % place
    for index in lane.indexes:
        made[("hash", keys.INDEXES, index_member(index.name, index.value))] = encode(index)
    for command in lane.mailbox:
        made[("hash", keys.MAIL, str(command.id))] = command_value(command)
    for index in lane.left:
        made[("hash", keys.LEFT, index.intent)] = encode(index)
    return made


def head_cells(lane: LaneRows) -> dict[str, bytes]:
    """The fields of tail and head that differ from an empty lane's."""
    tail, head = lane.tail, lane.head
    owner = b"" if head.owner is None else head.owner.encode()
    fields = {
        "seq": b"%d" % (tail.seq_next - 1),
        "count": b"%d" % tail.accepted_count,
        "bytes": b"%d" % tail.accepted_bytes,
        "fast": b"%d" % tail.fast_hits,
        "slow": b"%d" % tail.slow_hits,
        "owner": owner,
        "fence": b"%d" % head.fence,
        "version": b"%d" % head.version,
        "digest": head.digest,
        "cursors": encode(head.cursors) if head.version else b"",
        "settled": b"%d" % head.settled_count,
        "settled_bytes": b"%d" % head.settled_bytes,
        "wake": wake_value(head.wake_ms).encode(),
        "state": head.state,
    }
    return {field: value for field, value in fields.items() if value not in (b"", b"0")} | (
        {"wake": b"0"} if head.wake_ms == 0 else {}
    )


def parse(lane: LaneId, found: Cells) -> LaneRows:
    """The lane that these cells hold; what only finds its rows again is passed over."""
    at: dict[str, dict[str, bytes]] = {}
    for (_, key, member), value in found.items():
        at.setdefault(key, {})[member] = value
    held = at.get(keys.LANE, {})
    tail, head = head_parsed(lane, held)
    order = at.get(keys.ORDER, {})
    intents = [
        intent_parsed(intent.encode(), order[intent], value)
        for intent, value in at.get(keys.INTENTS, {}).items()
    ]
    mail = [command_parsed(m.encode(), value) for m, value in at.get(keys.MAIL, {}).items()]
    indexes = map(decode_index, at.get(keys.INDEXES, {}).values())
    return LaneRows(
        tail,
        head,
        tuple(sorted(intents, key=lambda row: (row.priority, row.seq))),
        open_parsed(held),
        tuple(
            sorted(map(decode_result, at.get(keys.RESULTS, {}).values()), key=lambda r: r.intent)
        ),
        tuple(sorted(indexes, key=lambda index: (index.name, index.value))),
        tuple(sorted(mail, key=lambda command: command.id)),
        tuple(sorted(map(decode_index, at.get(keys.LEFT, {}).values()), key=lambda i: i.intent)),
    )


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
