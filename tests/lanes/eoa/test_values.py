"""Records are written as they are read."""

from typing import get_args

import msgspec

from laneway.core.ids import IntentId
from laneway.lanes.common.values import CommandRefused, IntentDropped
from laneway.lanes.eoa.machine import eoa_kind
from laneway.lanes.eoa.settings import EoaSettings
from laneway.lanes.eoa.values import LookBegun, NoncesCrowded, Record, decode_records


def test_a_record_is_read_as_it_was_written() -> None:
    kind = eoa_kind(EoaSettings())
    said = (LookBegun(), NoncesCrowded(51, 50), CommandRefused("dance", "no"))
    assert kind.decode(kind.encode(said)) == said


def test_fields_of_a_record_may_be_missing_where_they_were_added_later() -> None:
    """A feed of an older version is still read."""
    added = {"intent", "nonce", "hash", "content", "drain_left", "by"}
    for kind in get_args(Record):
        required = kind.__struct_fields__[: -len(kind.__struct_defaults__) or None]
        assert "hash" not in required, kind
        assert not (added - {"intent", "by", "content"}) & set(required), kind


def test_that_a_dropped_intent_had_a_number_the_lane_knows() -> None:
    placed = (4, 1, 7, "expired", "late", 9)
    old = msgspec.msgpack.encode((("IntentDropped", "tx_1", *placed, True, False),))
    assert decode_records(old) == (IntentDropped(IntentId("tx_1"), *placed, passes=False),)
