"""How rows become columns and bytes, and back."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from laneway.core.errors import Bug, LeaseLost
from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import Arrival, IntentRow
from laneway.core.rows import (
    Command,
    Cursors,
    Head,
    Index,
    LaneView,
    Lease,
    Result,
    RowPut,
    Tail,
)
from laneway.ports import IntentView
from laneway.stores.limits import IDS_PACKED_MAX

encode = msgspec.msgpack.Encoder().encode
decode_cursors = msgspec.msgpack.Decoder(Cursors).decode
decode_command = msgspec.msgpack.Decoder(Command).decode
decode_index = msgspec.msgpack.Decoder(Index).decode
decode_result = msgspec.msgpack.Decoder(Result).decode
decode_body = msgspec.msgpack.Decoder(tuple[int, int | None, str | None, str, bytes, bytes]).decode


@lru_cache(maxsize=IDS_PACKED_MAX)
def pack_id(intent: IntentId) -> bytes:
    """Sixteen bytes in the index instead of 35 characters; the order stays the same."""
    try:
        return bytes.fromhex(intent[3:])
    except ValueError as error:
        raise Bug(f"{intent!r} is not an intent id") from error


def unpack_id(packed: bytes) -> IntentId:
    return IntentId(f"tx_{packed.hex()}")


def intent_body(arrival: Arrival | IntentRow) -> bytes:
    return encode(
        (
            arrival.accepted_ms,
            arrival.valid_until_ms,
            arrival.key,
            arrival.scope,
            arrival.digest,
            arrival.payload,
        )
    )


def intent_row(lane: str, packed: bytes, priority: int, seq: int, body: bytes) -> IntentRow:
    return IntentRow(unpack_id(packed), LaneId(lane), seq, priority, *decode_body(body))


def intent_view(row: Sequence[Any]) -> IntentView:
    """From an intent's columns, its result's body and whether an open row names it."""
    *columns, result, named = row
    ended = None if result is None else decode_result(result)
    return IntentView(intent_row(*columns), ended, bool(named))


def open_rows(found: Iterable[tuple[str, str, bytes | None, bytes]]) -> tuple[RowPut, ...]:
    return tuple(
        RowPut(table, key, None if intent is None else unpack_id(intent), body)
        for table, key, intent, body in found
    )


def lane_view(row: Sequence[Any]) -> LaneView:
    """From a lane's name, then the columns of its tail and of its head. Cursors are packed in
    SQLite and an array in PostgreSQL."""
    lane, cursors = LaneId(row[0]), row[10]
    owner = None if row[6] is None else Owner(row[6])
    taken = decode_cursors(cursors) if isinstance(cursors, bytes) else tuple(cursors)
    head = Head(lane, owner, row[7], row[8], row[9], taken, *row[11:15])
    return LaneView(Tail(lane, *row[1:6]), head, owner is not None)


def held(view: LaneView | None, lease: Lease) -> LaneView:
    """The lane as its owner may load it; LeaseLost if it is not the owner any more."""
    if view is None or view.head.fence != lease.fence:
        raise LeaseLost(lease.lane, lease.fence, 0 if view is None else view.head.version)
    return view
