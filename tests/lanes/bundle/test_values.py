"""The bundle lane's values."""

from typing import get_args

import msgspec

from laneway.lanes.bundle import values


def test_records_are_told_apart_by_their_names_and_strict_about_fields() -> None:
    for record in get_args(values.Record):
        config = record.__struct_config__
        assert config.tag == record.__name__
        assert config.frozen
        assert config.array_like
        assert config.forbid_unknown_fields


def test_every_event_has_its_time() -> None:
    for event in get_args(values.Event):
        assert "now_ms" in event.__struct_fields__


def test_effects_and_events_are_frozen() -> None:
    for one in (*get_args(values.Event), *get_args(values.Effect)):
        assert issubclass(one, msgspec.Struct)
        assert one.__struct_config__.frozen
