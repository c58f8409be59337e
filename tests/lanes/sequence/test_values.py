"""The three families of values."""

from typing import get_args

import msgspec
from tests.lanes.sequence.stage import offered

from laneway.lanes.sequence.machine import sequence_kind
from laneway.lanes.sequence.settings import SequenceSettings
from laneway.lanes.sequence.values import Effect, Event, Record, SlotFellOut


def test_records_are_told_apart_by_their_names() -> None:
    kind = sequence_kind(SequenceSettings())
    written = kind.encode((SlotFellOut(1, "refused", "why", 9),))
    assert msgspec.msgpack.decode(written)[0][0] == "SlotFellOut"
    assert kind.decode(written) == (SlotFellOut(1, "refused", "why", 9),)


def test_nothing_of_a_value_can_change() -> None:
    for one in (*get_args(Event), *get_args(Record), *get_args(Effect)):
        assert one.__struct_config__.frozen, one


def test_an_order_is_offered_for_the_first_time_unless_it_is_resumed() -> None:
    assert offered(1).offered("a").again == 0
