"""Events and records that all lanes share."""

import msgspec

from laneway.lanes.common import values
from laneway.lanes.contract.values import Record as ContractRecord
from laneway.lanes.delivery.values import Record as DeliveryRecord
from laneway.lanes.eoa.values import Record as EoaRecord
from laneway.lanes.sequence.values import Record as SequenceRecord

RECORDS = (values.IntentDropped, values.ModeChanged, values.CommandRefused)


def test_a_shared_record_is_one_of_every_lane_with_a_mode() -> None:
    for family in (ContractRecord, DeliveryRecord, EoaRecord, SequenceRecord):
        assert set(RECORDS) <= set(family.__args__)


def test_records_are_strict_and_nothing_of_them_can_change() -> None:
    for record in RECORDS:
        config = record.__struct_config__
        assert (config.frozen, config.array_like, config.forbid_unknown_fields) == (True,) * 3


def test_an_intent_is_passed_by_the_cursor_unless_it_is_said_otherwise() -> None:
    written = msgspec.msgpack.encode(("intent_dropped", "tx", 1, 0, 5, "expired", "late", 9))
    assert msgspec.msgpack.decode(written, type=values.IntentDropped).passes


def test_a_change_of_mode_is_an_operators_unless_it_is_a_halt() -> None:
    assert not values.ModeChanged("paused", "", "ann", 1).halt
