"""How rows become columns and bytes, and back."""

from functools import lru_cache

import msgspec

from laneway.core.errors import Bug
from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import Arrival, IntentRow
from laneway.core.rows import Command, Cursors, Head, Index, LaneView, Result, Tail
from laneway.stores.limits import IDS_PACKED_MAX

encode = msgspec.msgpack.Encoder().encode
decode_cursors = msgspec.msgpack.Decoder(Cursors).decode
decode_command = msgspec.msgpack.Decoder(Command).decode
decode_index = msgspec.msgpack.Decoder(Index).decode
decode_result = msgspec.msgpack.Decoder(Result).decode
_decode_body = msgspec.msgpack.Decoder(tuple[int, int | None, str | None, str, bytes, bytes]).decode


@lru_cache(maxsize=IDS_PACKED_MAX)
def pack_id(intent: IntentId) -> bytes:
    """Sixteen bytes in the index instead of 35 characters; the order stays the same."""
    try:
        return bytes.fromhex(intent[3:])
    except ValueError as error:
        raise Bug(f"{intent!r} is not an intent id") from error


def unpack_id(packed: bytes) -> IntentId:
    return IntentId(f"tx_{packed.hex()}")


def intent_body(arrival: Arrival) -> bytes:
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


def intent_row(lane: LaneId, packed: bytes, priority: int, seq: int, body: bytes) -> IntentRow:
    return IntentRow(unpack_id(packed), lane, seq, priority, *_decode_body(body))


def lane_view(row: tuple) -> LaneView:  # type: ignore[type-arg]
    lane = LaneId(row[0])
    owner = None if row[6] is None else Owner(row[6])
    head = Head(lane, owner, row[7], row[8], row[9], decode_cursors(row[10]), *row[11:15])
    return LaneView(Tail(lane, *row[1:6]), head, owner is not None)
