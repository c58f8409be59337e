"""Records are written as they are read."""

from typing import get_args

from laneway.lanes.eoa.machine import eoa_kind
from laneway.lanes.eoa.settings import EoaSettings
from laneway.lanes.eoa.values import CommandRefused, LookBegun, NoncesCrowded, Record


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
