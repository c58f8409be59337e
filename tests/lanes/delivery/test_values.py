"""The values of a delivery lane."""

import msgspec

from laneway.core.ids import IntentId
from laneway.lanes.delivery.values import Attempt, DeliveryHead, History, Record, Slot


def test_rows_are_read_back_and_grow_only_at_their_end() -> None:
    slot = Slot(1, IntentId("tx_1"), 1, 5, 7)
    history = History(slot, (Attempt(1, 9, 2, 500, "HTTP 500", b"oops"),))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(history), type=History) == history
    assert msgspec.msgpack.decode(b"\x90", type=DeliveryHead) == DeliveryHead()


def test_every_record_bears_its_name() -> None:
    kinds = Record.__args__
    assert len({kind.__struct_config__.tag for kind in kinds}) == len(kinds)
