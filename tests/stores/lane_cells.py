"""A whole lane as cells, `{(type, key, member): value}`, and back: what Redis must hold of it."""

from typing import TypeAlias

from msgspec import Struct

from laneway.core.ids import LaneId
from laneway.core.intent import IntentRow
from laneway.core.rows import Command, Head, Index, Result, RowPut, Tail
from laneway.stores.codec import decode_index, decode_result, encode
from laneway.stores.redis.rows import keys
from laneway.stores.redis.rows.cells import (
    NAMED,
    SEPARATOR,
    command_parsed,
    command_value,
    ended_score,
    head_parsed,
    index_member,
    intent_parsed,
    intent_value,
    open_parsed,
    row_value,
    score,
    settled_member,
    wake_value,
)

Cell: TypeAlias = tuple[str, str, str]
"""Type ("hash" or "zset"), key and member."""

Cells: TypeAlias = dict[Cell, bytes]


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
        made[("hash", keys.LANE, f"{row.table}{SEPARATOR}{row.key}")] = row_value(row)
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
    numbers = {
        "seq": b"%d" % (tail.seq_next - 1),
        "count": b"%d" % tail.accepted_count,
        "bytes": b"%d" % tail.accepted_bytes,
        "fast": b"%d" % tail.fast_hits,
        "slow": b"%d" % tail.slow_hits,
        "fence": b"%d" % head.fence,
        "version": b"%d" % head.version,
        "settled": b"%d" % head.settled_count,
        "settled_bytes": b"%d" % head.settled_bytes,
    }
    texts = {
        "owner": owner,
        "digest": head.digest,
        "cursors": encode(head.cursors) if head.version else b"",
        "wake": wake_value(head.wake_ms).encode(),
        "state": head.state,
    }
    counted = {field: value for field, value in numbers.items() if value != b"0"}
    return counted | {field: value for field, value in texts.items() if value}


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
