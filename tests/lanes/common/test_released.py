"""Records as earlier releases wrote them."""

from typing import Any

import msgspec
import pytest

from laneway.core.ids import IntentId
from laneway.lanes.audit import audit_kind
from laneway.lanes.common.released import Dropped, dropped, records_reader
from laneway.lanes.common.values import CommandRefused, IntentDropped, ModeChanged
from laneway.lanes.contract import values as contract
from laneway.lanes.delivery import values as delivery
from laneway.lanes.eoa import values as eoa
from laneway.lanes.sequence import released as sequence

TX = IntentId("tx_1")
PLACED = ("tx_1", 4, 1, 7, "expired", "late", 9)
"""Of an intent that was dropped, all that most kinds wrote."""


@pytest.mark.parametrize(
    ("read", "old", "new"),
    [
        (contract, ("IntentDropped", *PLACED, False), IntentDropped(TX, *PLACED[1:], False)),
        (sequence, ("IntentDropped", *PLACED), IntentDropped(TX, *PLACED[1:])),
        (eoa, ("IntentDropped", *PLACED, True, False), IntentDropped(TX, *PLACED[1:], False)),
        (
            delivery,
            ("IntentDropped", "tx_1", 7, "cancelled", "why", 9),
            IntentDropped(TX, 0, 0, 7, "cancelled", "why", 9, False),
        ),
        (contract, ("CommandRefused", "x", "tx_1", "no", 9), CommandRefused("x", "no", TX)),
        (delivery, ("CommandRefused", "x", None, "no", 9), CommandRefused("x", "no")),
        (eoa, ("CommandRefused", "x", "no", "tx_1"), CommandRefused("x", "no", TX)),
        (sequence, ("CommandRefused", "x", "no"), CommandRefused("x", "no")),
        (delivery, ("ModeChanged", "paused", "", "", 9), ModeChanged("paused", "", "", 9)),
        (eoa, ("ModeChanged", "paused", "", "", 9, 5, 2), ModeChanged("paused", "", "", 9, 5, 2)),
    ],
)
def test_what_a_kind_wrote_under_an_old_tag_is_read(read: Any, old: Any, new: Any) -> None:
    assert read.decode_records(msgspec.msgpack.encode((old,))) == (new,)
    assert read.decode_records(msgspec.msgpack.encode((new, old))) == (new, new)


def test_what_says_nothing_today_is_left_out() -> None:
    read = records_reader(ModeChanged, {Dropped: lambda _: None})
    mode = ModeChanged("paused", "", "", 9)
    assert read(msgspec.msgpack.encode((mode, Dropped(TX, 1, 0, 1, "", "", 1)))) == (mode,)


def test_a_commit_of_an_earlier_release_is_completed_and_no_other() -> None:
    read = records_reader(IntentDropped, {Dropped: dropped}, lambda found: found[:1])
    one = Dropped(TX, 1, 0, 1, "", "", 1)
    assert read(msgspec.msgpack.encode((one, one))) == (dropped(one),)
    new = (dropped(one), dropped(one))
    assert read(msgspec.msgpack.encode(new)) == new


def test_an_unknown_tag_is_not_read() -> None:
    with pytest.raises(msgspec.ValidationError):
        audit_kind().decode(msgspec.msgpack.encode((("Nothing", 1),)))
