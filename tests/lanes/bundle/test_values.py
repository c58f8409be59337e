"""The bundle lane's values."""

from typing import get_args

import msgspec

from laneway.lanes.bundle import values


def test_every_event_has_its_time() -> None:
    for event in get_args(values.Event):
        assert "now_ms" in event.__struct_fields__


def test_effects_and_events_are_frozen() -> None:
    for one in (*get_args(values.Event), *get_args(values.Effect)):
        assert issubclass(one, msgspec.Struct)
        assert one.__struct_config__.frozen
