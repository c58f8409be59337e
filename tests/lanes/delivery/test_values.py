"""The values of a delivery lane."""

import msgspec

from laneway.core.ids import IntentId
from laneway.lanes.common.values import IntentDropped
from laneway.lanes.delivery import values as v


def test_rows_are_read_back_and_grow_only_at_their_end() -> None:
    slot = v.Slot(1, IntentId("tx_1"), 1, 5, 7)
    history = v.History(slot, (v.Attempt(1, 9, 2, 500, "HTTP 500", b"oops"),))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(history), type=v.History) == history
    assert msgspec.msgpack.decode(b"\x90", type=v.DeliveryHead) == v.DeliveryHead()


def test_every_record_bears_its_name() -> None:
    kinds = v.Record.__args__
    assert len({kind.__struct_config__.tag for kind in kinds}) == len(kinds)


def test_a_message_that_an_earlier_release_dropped_has_no_place() -> None:
    old = msgspec.msgpack.encode((("IntentDropped", "tx_1", 7, "cancelled", "why", 9),))
    wanted = IntentDropped(IntentId("tx_1"), 0, 0, 7, "cancelled", "why", 9, passes=False)
    assert v.decode_records(old) == (wanted,)
