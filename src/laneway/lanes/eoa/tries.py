"""Bytes of attempts: what is made next, what may be sent, what is too dear."""

from collections.abc import Iterable
from typing import TypeAlias

from laneway.core import records
from laneway.core.units import value
from laneway.lanes.eoa.fees import Fee, fresh
from laneway.lanes.eoa.lane import EoaLane
from laneway.lanes.eoa.rows import Attempt, Purpose, Slot
from laneway.lanes.eoa.values import Effect, LookAtChain, Made, MakeAttempt, Record, SendAttempt

Decision: TypeAlias = records.Decision[Record, Effect]

NOTHING: Decision = records.Decision()

PARKED = "parked_by_cap"
OUT_OF_FUNDS = "out_of_funds"


def said(made: Iterable[Record], effects: Iterable[Effect] = ()) -> Decision:
    return records.Decision(tuple(made), tuple(effects))


def market(lane: EoaLane) -> Fee:
    return fresh(lane.head.base_fee, lane.head.tip)


def make(lane: EoaLane, slot: Slot, payload: bytes | None = None) -> MakeAttempt:
    """The payload of an intent that was just offered, or replaced, is not in the lane yet."""
    if slot.purpose != Purpose.INTENT:
        payload = b""
    elif payload is None:
        assert slot.intent is not None
        content = lane.contents.get(slot.intent)
        payload = lane.intents[slot.intent].payload if content is None else content.payload
    return MakeAttempt(
        slot.id, slot.attempt_next, slot.nonce, slot.purpose, payload, market(lane), slot.floor
    )


def send_again(lane: EoaLane, attempt: Attempt) -> SendAttempt:
    raw = lane.raw(attempt)
    return SendAttempt(attempt.slot, attempt.number, raw, attempt.silent, again=True)


def look(lane: EoaLane) -> LookAtChain:
    return LookAtChain(lane.head.block, lane.head.block_hash, tuple(lane.hashes))


def over_cap(lane: EoaLane, slot: Slot, made: Made) -> bool:
    """Whether an attempt is dearer than its account or the operator allows."""
    settings = lane.settings
    before = value(slot.cost)
    spend = value(lane.head.spend) - before + max(before, made.cost)
    bounds = (
        (settings.fee_wei_max, made.fee.cap),
        (settings.cost_wei_max, made.cost),
        (settings.spend_wei_max, spend),
    )
    return any(bound is not None and found > bound for bound, found in bounds)
