"""Which record of a sequence lane is which event, for every kind of record."""

from typing import Any, get_args

import msgspec
import pytest
from msgspec.structs import replace

from laneway.core.cosmos import TxSeen, TxStanding
from laneway.core.ids import LaneId, intent_id
from laneway.core.rows import FeedEntry
from laneway.kinds.events import events_of
from laneway.lanes.common import values as shared
from laneway.lanes.sequence import rows as r
from laneway.lanes.sequence import values as v
from laneway.lanes.sequence.released import SlotChanged
from laneway.wire.values import EventBody

LANE = LaneId("cosmos:mocha-4:celestia1x")
TX = intent_id(1, bytes(10))
HASH = b"\xab" * 32
NAMED = "AB" * 32
ATTEMPT = r.Attempt(1, HASH, "intent", 100_000, 400, 40, 5, 300)
SLOT = r.Slot(
    id=3, intent=TX, seq=9, priority=0, size=10, sequence=7, claimed_ms=1, attempt=ATTEMPT
)
FILLER = replace(SLOT, intent=None)
LATER = replace(SLOT, attempt=replace(ATTEMPT, number=2))
GONE = replace(SLOT, attempt=None, past=(r.Past(HASH, 40, "not in a block up to 40"),))
SEEN = TxSeen(HASH, TxStanding.COMMITTED, 88)
FAILED = TxSeen(HASH, TxStanding.COMMITTED, 88, 5, "sdk", "no funds")
SENT = {"tx": TX, "status": "submitted", "hash": NAMED}

TOLD: list[tuple[Any, str | None, dict[str, Any]]] = [
    (v.SlotClaimed(SLOT), None, {}),
    (
        v.AttemptSigned(SLOT, b""),
        "transaction.signed",
        {"tx": TX, "status": "signed", "sequence": 7, "hash": NAMED},
    ),
    (v.AttemptSigned(FILLER, b""), None, {}),
    (v.Submitted(8, "a", (None, TX), (b"filler", HASH)), "transaction.submitted", SENT),
    (SlotChanged(LATER, "taken"), "transaction.submitted", SENT | {"sequence": 7}),
    (SlotChanged(SLOT, "taken"), None, {}),
    (
        v.AttemptTaken(3, "", TX, 7, (), (), 2, HASH),
        "transaction.submitted",
        SENT | {"sequence": 7},
    ),
    (v.AttemptTaken(3, "", TX, 7, (), (), 1, HASH), None, {}),
    (
        SlotChanged(GONE, "dead"),
        "transaction.attempt_ended",
        {
            "tx": TX,
            "status": "queued",
            "sequence": 7,
            "hash": NAMED,
            "reason": "not in a block up to 40",
        },
    ),
    (
        v.AttemptEnded(3, "not in a block up to 40", TX, 7, HASH, True),
        "transaction.attempt_ended",
        {
            "tx": TX,
            "status": "queued",
            "sequence": 7,
            "hash": NAMED,
            "reason": "not in a block up to 40",
        },
    ),
    (SlotChanged(replace(GONE, intent=None), "dead"), None, {}),
    (v.AttemptEnded(3, "", None, 7, HASH, True), None, {}),
    (SlotChanged(SLOT, "refused"), None, {}),
    (v.AttemptRefused(3, "no", TX, 7, ("a",), (), 5, "sdk"), None, {}),
    (v.RefusalDoubted(3, "", TX, 7, (), ()), None, {}),
    (v.AttemptDelayed(3, "no", TX, 7, 1), None, {}),
    (v.PastProven(3, "", TX, 7, (True,)), None, {}),
    (v.InclusionShown(3, "", TX, 7, ()), None, {}),
    (v.ProofOrdered(3, "", TX, 7, 9), None, {}),
    (v.ProofFailed(3, "", TX, 7), None, {}),
    (
        v.SlotSettled(3, "confirmed", 9, 7, "", TX, SEEN),
        "transaction.confirmed",
        {"tx": TX, "status": "confirmed", "sequence": 7, "block": 88, "hash": NAMED},
    ),
    (
        v.SlotSettled(3, "reverted", 9, 7, "sdk code 5", TX, FAILED),
        "transaction.reverted",
        {
            "tx": TX,
            "status": "reverted",
            "sequence": 7,
            "block": 88,
            "hash": NAMED,
            "reason": "sdk code 5",
        },
    ),
    (
        v.SlotSettled(3, "indeterminate", 9, 7, "who knows", TX, stays=replace(SLOT, told=True)),
        "transaction.indeterminate",
        {
            "tx": TX,
            "status": "indeterminate",
            "sequence": 7,
            "hash": NAMED,
            "reason": "who knows",
        },
    ),
    (
        v.SlotSettled(3, "refused", 9, 7, "no", TX, stays=FILLER),
        "transaction.refused",
        {"tx": TX, "status": "refused", "sequence": 7, "reason": "no"},
    ),
    (v.SlotSettled(3, "confirmed", 9, 7, seen=SEEN), None, {}),
    (
        v.SlotFellOut(3, "cancelled", "why", 9, TX),
        "transaction.cancelled",
        {"tx": TX, "status": "cancelled", "reason": "why"},
    ),
    (
        shared.IntentDropped(TX, 9, 0, 10, "expired", "late", 9),
        "transaction.expired",
        {"tx": TX, "status": "expired", "reason": "late"},
    ),
    (
        v.SlotCorrected(3, TX, SEEN),
        "transaction.corrected",
        {
            "tx": TX,
            "status": "confirmed",
            "block": 88,
            "hash": NAMED,
            "reason": "it was told to be indeterminate",
        },
    ),
    (v.SlotCorrected(3, TX), None, {}),
    (
        v.SlotsRenumbered(12, "others used sequence 7", 9),
        "lane.renumbered",
        {"sequence": 12, "reason": "others used sequence 7"},
    ),
    (
        v.SequenceSet(0, 12, 9, "drift", "ann"),
        "lane.sequence_set",
        {"sequence": 12, "reason": "drift", "by": "ann"},
    ),
    (shared.ModeChanged("running", "ok", "ann", 9), "lane.resumed", {"reason": "ok", "by": "ann"}),
    (shared.ModeChanged("paused", "ok", "ann", 9), "lane.paused", {"reason": "ok", "by": "ann"}),
    (
        shared.CommandRefused("cancel", "a node may have it", TX),
        "lane.command_refused",
        {"tx": TX, "reason": "cancel: a node may have it"},
    ),
    (v.MakingDelayed(9), None, {}),
    (v.MakingResumed(), None, {}),
    (v.NodeChanged(r.Node("a")), None, {}),
    (v.RecoveryBegan("a", "evicted", 3, 9, None, None, "soon"), None, {}),
    (v.RecoveryEnded("a", "evicted"), None, {}),
    (v.AccountSeen(1, 2, 3, 4), None, {}),
    (v.AccountMissing(9), None, {}),
    (v.LaneHalted("it counts back", 9), "lane.halted", {"reason": "it counts back"}),
]


def entry(*records: Any) -> FeedEntry:
    return FeedEntry("5", LANE, 4, 1_000, msgspec.msgpack.encode(records))


@pytest.mark.parametrize(("record", "kind", "said"), TOLD)
def test_a_record_is_told_in_its_own_words(
    record: Any, kind: str | None, said: dict[str, Any]
) -> None:
    events = events_of(entry(record))
    if kind is None:
        assert events == []
        return
    (event,) = events
    assert (event.type, event.data) == (kind, EventBody(lane=LANE, version=4, **said))


def test_every_kind_of_record_is_judged_here() -> None:
    assert {type(record) for record, _, _ in TOLD} == {*get_args(v.Record), SlotChanged}


def test_a_failed_execution_that_is_found_late_is_no_success() -> None:
    (event,) = events_of(entry(v.SlotCorrected(3, TX, FAILED)))
    assert event.data.status == "reverted"
