"""Rows are the truth."""

import msgspec
import pytest

from laneway.core.ids import IntentId, lane_id
from laneway.core.limits import PRIORITY_CLASSES
from laneway.core.rows import (
    START,
    Command,
    Head,
    HeadWrite,
    Index,
    LaneView,
    Result,
    Returned,
    RowKey,
    RowPut,
    Table,
    Tail,
    Write,
    all_classes,
    taken,
)

LANE = lane_id("contract", "Qm1")
INTENT = IntentId("tx_1")
HEAD = HeadWrite(START, 1, 4, None, b"state")


def write(**fields: object) -> Write:
    return msgspec.structs.replace(Write(HEAD, at_ms=5, feed=b"records"), **fields)


def test_one_cursor_a_class_stands_at_the_start() -> None:
    assert START == (0,) * PRIORITY_CLASSES


def test_the_same_write_has_the_same_digest_and_any_other_has_another() -> None:
    put = RowPut(Table.SLOT, "1", INTENT, b"row")
    others = [
        write(),
        write(touched=(put,)),
        write(touched=(RowKey(Table.SLOT, "1"),)),
        write(touched=(put, put)),
        write(answered=(3,)),
        write(at_ms=6),
        write(feed=b""),
        write(head=msgspec.structs.replace(HEAD, wake_ms=0)),
    ]
    digests = [other.digest() for other in others]
    assert len(set(digests)) == len(others)
    assert write().digest() == digests[0]


def test_a_write_tells_which_answers_became_final_in_their_order() -> None:
    first, second = Result(INTENT, "confirmed", 5), Result(IntentId("tx_2"), "expired", 5)
    touched = (first, RowKey(Table.SLOT, "1"), second)
    assert write(touched=touched).results() == (first, second)


def test_depth_is_what_was_accepted_and_is_not_settled() -> None:
    tail = Tail(LANE, 8, accepted_count=7, accepted_bytes=70)
    view = LaneView(tail, Head(LANE, settled_count=3, settled_bytes=25), leased=True)
    assert view.depth() == 4
    assert view.depth_bytes() == 45


@pytest.mark.parametrize(
    "row",
    [
        Tail(LANE),
        Head(LANE),
        Returned(INTENT, 3, 0),
        Result(INTENT, "confirmed", 5),
        Index("key", "order-7", INTENT, LANE),
        Command(1, LANE, "pause", 5),
        RowPut(Table.SLOT, "1", None, b""),
        write(),
    ],
    ids=lambda row: type(row).__name__,
)
def test_a_row_comes_back_from_its_bytes_and_refuses_fields_it_does_not_know(row: object) -> None:
    body = msgspec.msgpack.encode(row)
    assert msgspec.msgpack.decode(body, type=type(row)) == row
    longer = msgspec.msgpack.encode([*msgspec.msgpack.decode(body), "from the future"])
    with pytest.raises(msgspec.ValidationError):
        msgspec.msgpack.decode(longer, type=type(row))


def test_a_class_that_was_never_taken_from_stands_at_its_start() -> None:
    assert taken((7,), 0) == 7
    assert taken((7,), 2) == 0


def test_a_class_without_a_cursor_was_never_taken_from() -> None:
    assert all_classes((7,)) == (7, 0, 0, 0)
    assert all_classes((1, 2, 3, 4)) == (1, 2, 3, 4)
