import pytest

from laneway.devnets.jam.model.values import (
    NULL_AUTHORIZER_HASH,
    BlockUnavailable,
    NotHeld,
    ReportUnavailable,
    SegmentUnavailable,
    ShardUnavailable,
)


def test_the_null_authorizer_is_the_one_of_the_dev_network() -> None:
    assert NULL_AUTHORIZER_HASH.hex().startswith("2357426f")
    assert NULL_AUTHORIZER_HASH.hex().endswith("09f8")


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (BlockUnavailable(b"\x01"), "block unavailable: 0x01"),
        (ReportUnavailable(b"\x02"), "work report unavailable: 0x02"),
        (SegmentUnavailable(b"\x03"), "segment unavailable: 0x03"),
        (ShardUnavailable(b"\x04"), "shard unavailable: 0x04"),
    ],
)
def test_what_is_unavailable_is_named(made: NotHeld, says: str) -> None:
    assert str(made) == says
    assert made.about == bytes([int(says[-1])])
