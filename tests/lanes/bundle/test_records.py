"""The bundle lane's records."""

from typing import get_args

from laneway.lanes.bundle import records
from laneway.lanes.common.values import CommandRefused, IntentDropped


def test_records_are_told_apart_by_their_names_and_strict_about_fields() -> None:
    for record in get_args(records.Record):
        config = record.__struct_config__
        assert record in (CommandRefused, IntentDropped) or config.tag == record.__name__
        assert config.frozen
        assert config.array_like
        assert config.forbid_unknown_fields


def test_those_of_one_block_and_of_one_version_are_records_of_the_lane() -> None:
    assert {*get_args(records.OfSlot), *get_args(records.OfVersion)} < {*get_args(records.Record)}
