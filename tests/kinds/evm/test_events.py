"""Which record of an account's lane is which event, for every kind of record."""

from typing import Any, get_args

import msgspec
import pytest

from laneway.core.ids import LaneId, intent_id
from laneway.core.rows import FeedEntry
from laneway.kinds.events import events_of
from laneway.lanes.common import values as shared
from laneway.lanes.eoa import rows as r
from laneway.lanes.eoa import values as v
from laneway.lanes.eoa.fees import EvmFee
from laneway.wire.values import EventBody

LANE = LaneId("evm:1:0xab")
TX = intent_id(1, bytes(10))
HASH = b"\x01" * 32
SEEN = "0x" + "01" * 32
SLOT = r.Slot(id=3, intent=TX, seq=9, priority=0, size=10, nonce=7, claimed_ms=1)
ATTEMPT = r.Attempt(3, 1, HASH, "intent", EvmFee(2, 1), 21_000, 1, ("a",))
MINED = r.Inclusion(1, 88, b"b", True)

TOLD: list[tuple[Any, str | None, dict[str, Any]]] = [
    (v.SlotClaimed(SLOT, False), None, {}),
    (
        v.AttemptSigned(ATTEMPT, b"", b"", TX, 7),
        "transaction.signed",
        {"tx": TX, "status": "signed", "nonce": 7, "hash": SEEN},
    ),
    (v.AttemptSigned(ATTEMPT, b"", b"", None, 7), None, {}),
    (
        v.AttemptAnswered(3, 1, "a", "taken", "", TX, HASH),
        "transaction.submitted",
        {"tx": TX, "status": "submitted", "hash": SEEN},
    ),
    (v.AttemptAnswered(3, 1, "b", "taken", ""), None, {}),
    (
        v.AttemptsTaken(3, (None, TX), (b"no-op", HASH)),
        "transaction.submitted",
        {"tx": TX, "status": "submitted", "hash": SEEN},
    ),
    (
        v.AttemptReoffered(3, 1, TX, HASH, reorg=True),
        "transaction.submitted",
        {
            "tx": TX,
            "status": "submitted",
            "hash": SEEN,
            "reason": "its block was taken back; the same bytes are sent again",
        },
    ),
    (
        v.AttemptReoffered(3, 1, TX, HASH),
        "transaction.submitted",
        {
            "tx": TX,
            "status": "submitted",
            "hash": SEEN,
            "reason": "it was not mined and nodes may have forgotten it; "
            "the same bytes are sent again",
        },
    ),
    (
        v.SlotFreed(3, 9, "underpriced", True, TX, 7),
        "transaction.send_attempt_nack",
        {"tx": TX, "status": "queued", "nonce": 7, "reason": "underpriced"},
    ),
    (
        v.SlotFreed(3, 9, "replaced by 0x1", False, TX, 7),
        "transaction.replaced",
        {"tx": TX, "status": "queued", "nonce": 7, "reason": "replaced by 0x1"},
    ),
    (
        v.SlotIncluded(3, MINED, TX, 7, HASH),
        "transaction.included",
        {"tx": TX, "status": "included", "nonce": 7, "block": 88, "hash": SEEN},
    ),
    (
        v.SlotSettled(3, "reverted", 9, "", TX, 7, 88, HASH),
        "transaction.reverted",
        {"tx": TX, "status": "reverted", "nonce": 7, "block": 88, "hash": SEEN},
    ),
    (v.SlotSettled(3, "confirmed", 9), None, {}),
    (
        v.SlotDropped(3, "refused", "too large", 9, None, True, TX, 7),
        "transaction.refused",
        {"tx": TX, "status": "refused", "reason": "too large"},
    ),
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
        v.ContentReplaced(r.Content(TX, 9, 0, 1, b"x"), "typo", "ann"),
        "transaction.content_replaced",
        {"tx": TX, "reason": "typo", "by": "ann"},
    ),
    (shared.ModeChanged("running", "ok", "ann", 9), "lane.resumed", {"reason": "ok", "by": "ann"}),
    (shared.ModeChanged("paused", "ok", "ann", 9), "lane.paused", {"reason": "ok", "by": "ann"}),
    (v.FundsJudged(True, b"\x01"), "lane.out_of_funds", {}),
    (v.FundsJudged(False, b""), "lane.funded", {}),
    (
        v.NoncesReset(7, 9, "drift", "ann"),
        "lane.nonces_reset",
        {"nonce": 7, "reason": "drift", "by": "ann"},
    ),
    (
        v.NoncesCrowded(51, 50),
        "lane.recycled_above_max",
        {
            "reason": "51 nonces are free, more than 50: no new ones are given out; "
            "reset-nonce with dry_run shows what it can do"
        },
    ),
    (
        shared.CommandRefused("bump", "nothing of it is out", TX),
        "lane.command_refused",
        {"tx": TX, "reason": "bump: nothing of it is out"},
    ),
    (v.AccountSeen(1, 1, b"", 1, 1, 1), None, {}),
    (v.Offered(3), None, {}),
    (v.MakingDelayed(3, 9, "parked_by_cap"), None, {}),
    (v.MakingResumed(), None, {}),
    (v.ResendPlanned(9), None, {}),
    (v.BumpOrdered(3, "intent", EvmFee(1, 1), ""), None, {}),
    (v.LookBegun(), None, {}),
    (v.LookEnded(9), None, {}),
    (v.HeadMoved(9, b""), None, {}),
    (v.ProofOrdered(3, True), None, {}),
    (v.ProofsPaced(9, 1), None, {}),
    (v.InclusionDenied(3, TX, 7, HASH), None, {}),
    (
        v.HaltJudged("used by nothing", 9, 7),
        "lane.halted",
        {"nonce": 7, "reason": "used by nothing"},
    ),
    (v.HaltJudged("", 9, 7), "lane.resumed", {"nonce": 7, "reason": ""}),
    (v.CleanupDone(r.Cleanup(9)), None, {}),
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
    assert {type(record) for record, _, _ in TOLD} == set(get_args(v.Record))


def test_a_batch_that_finds_no_funds_says_so_once() -> None:
    poor = v.FundsJudged(True, b"\x01")
    assert [event.type for event in events_of(entry(poor, poor))] == ["lane.out_of_funds"]
