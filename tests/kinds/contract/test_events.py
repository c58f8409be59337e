"""Which record is which event, for every kind of record."""

from typing import Any, get_args

import msgspec
import pytest

from laneway.core.ids import LaneId, intent_id
from laneway.core.outcome import AttemptWord
from laneway.core.rows import FeedEntry
from laneway.kinds.events import events_of
from laneway.lanes.common import values as shared
from laneway.lanes.contract import values as v
from laneway.wire.values import EventBody

LANE = LaneId("contract:Qm1")
INTENT = intent_id(1, bytes(10))
SLOT = v.Slot(id=3, intent=INTENT, seq=9, size=10, accepted_ms=1_000, claimed_ms=1_200)
ATTEMPT = v.Attempt(3, 1, 7, 1_200, 2_000, bound=True)

TOLD: list[tuple[Any, str | None, dict[str, Any]]] = [
    (v.SlotClaimed(SLOT, 0, None), "transaction.submitted", {"tx": INTENT, "status": "submitted"}),
    (
        v.SlotSettled(3, "confirmed", 1, 8, "", 5, INTENT),
        "transaction.confirmed",
        {"tx": INTENT, "status": "confirmed", "block": 8},
    ),
    (
        shared.IntentDropped(INTENT, 9, 0, 10, "expired", "too late", 5, True),
        "transaction.expired",
        {"tx": INTENT, "status": "expired", "reason": "too late"},
    ),
    (
        shared.ModeChanged("paused", "upgrade", "ann", 5),
        "lane.paused",
        {"reason": "upgrade", "by": "ann"},
    ),
    (shared.ModeChanged("running", "", "ann", 5), "lane.resumed", {"by": "ann"}),
    (
        shared.ModeChanged("halted", "unknown", "laneway", 5, halt=True),
        "lane.halted",
        {"reason": "unknown", "by": "laneway"},
    ),
    (
        v.AttemptDoubted(3, 1, False, "no answer", 5, True),
        "lane.recovering",
        {"reason": "no answer"},
    ),
    (
        shared.CommandRefused("cancel", "it runs", INTENT),
        "lane.command_refused",
        {"tx": INTENT, "reason": "cancel: it runs"},
    ),
    (v.AttemptOffered(ATTEMPT), None, {}),
    (v.AttemptRefused(3, 1, AttemptWord.REFUSED, "no", 5), None, {}),
    (v.RetryPlanned(3, 9, "no", True), None, {}),
    (v.SearchPlanned(3, 9), None, {}),
]


def entry(*records: Any, lane: LaneId = LANE) -> FeedEntry:
    return FeedEntry("7", lane, 4, 86_400_000, msgspec.msgpack.encode(records))


@pytest.mark.parametrize(("record", "kind", "fields"), TOLD, ids=lambda v: type(v).__name__)
def test_a_record_is_told_as_its_event(record: Any, kind: str | None, fields: Any) -> None:
    events = events_of(entry(record))
    if kind is None:
        assert events == []
        return
    (event,) = events
    assert (event.type, event.timestamp.isoformat()) == (kind, "1970-01-02T00:00:00+00:00")
    assert event.data == EventBody(lane=LANE, version=4, **fields)


def test_every_kind_of_record_was_thought_of() -> None:
    assert {type(record) for record, *_ in TOLD} == set(get_args(v.Record))


def test_what_one_commit_told_keeps_its_order_and_other_kinds_tell_nothing() -> None:
    both = entry(*(record for record, *_ in TOLD[:3]))
    assert [event.type for event in events_of(both)] == [kind for _, kind, _ in TOLD[:3]]
    assert events_of(entry(lane=LaneId("evm:1:0xabc"))) == []
