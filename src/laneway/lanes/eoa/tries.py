"""Bytes of attempts: what is made next, what may be sent, what is too dear."""

from collections.abc import Iterable
from typing import TypeAlias

from laneway.core import records
from laneway.core.units import value
from laneway.lanes.eoa.fees import NO_FEE, Fee, bumped, fresh
from laneway.lanes.eoa.lane import EoaLane
from laneway.lanes.eoa.rows import Attempt, Purpose, Slot
from laneway.lanes.eoa.values import (
    AttemptReoffered,
    Effect,
    LookAtChain,
    Made,
    MakeAttempt,
    Record,
    SendAttempt,
)

Decision: TypeAlias = records.Decision[Record, Effect]

NOTHING: Decision = records.Decision()

PARKED = "parked_by_cap"
OUT_OF_FUNDS = "out_of_funds"
TRIED_OUT = "tried_out"
"""It has as many attempts as one number may have; the last is offered again and again."""


def said(made: Iterable[Record], effects: Iterable[Effect] = ()) -> Decision:
    return records.Decision(tuple(made), tuple(effects))


def market(lane: EoaLane) -> Fee:
    return fresh(lane.head.base_fee, lane.head.tip)


def make(lane: EoaLane, slot: Slot, payload: bytes | None = None) -> MakeAttempt:
    """The payload of an intent that was just replaced is not in the lane yet."""
    if slot.purpose != Purpose.INTENT:
        payload = b""
    elif payload is None:
        assert slot.intent is not None
        content = lane.contents.get(slot.intent)
        payload = lane.intents[slot.intent].payload if content is None else content.payload
    floor, last = slot.floor, lane.last(slot.id)
    if last is not None and floor != NO_FEE:
        # By what the market asks now: one that was parked in a storm is made cheaper behind it.
        floor = bumped(last.fee, market(lane))
    return MakeAttempt(
        slot.id, slot.attempt_next, slot.nonce, slot.purpose, payload, market(lane), floor
    )


def make_first(slot: Slot, payload: bytes, asked: Fee) -> MakeAttempt:
    """Of a slot that is just being claimed, at what the market asks."""
    return MakeAttempt(
        slot.id, slot.attempt_next, slot.nonce, slot.purpose, payload, asked, slot.floor
    )


def send_again(lane: EoaLane, attempt: Attempt) -> SendAttempt:
    raw = lane.raw(attempt)
    return SendAttempt(attempt.slot, attempt.number, raw, attempt.asked(), again=True)


def reoffer(
    lane: EoaLane, attempt: Attempt, at_ms: int = 0, reason: str = "", *, reorg: bool = False
) -> tuple[AttemptReoffered, tuple[SendAttempt, ...]]:
    """The same bytes to everyone: a block that held them was taken back, or pools forgot them.

    Of an attempt that was adopted by its hash alone there are no bytes to offer."""
    slot, number = attempt.slot, attempt.number
    nodes = (*attempt.silent, *attempt.refused, *attempt.taken)
    raw = lane.raw(attempt)
    record = AttemptReoffered(
        slot, number, lane.slots[slot].intent, attempt.hash, at_ms, reason, reorg
    )
    return record, (SendAttempt(slot, number, raw, nodes, again=True),) if raw else ()


def look(lane: EoaLane) -> LookAtChain:
    return LookAtChain(lane.head.block, lane.head.block_hash, tuple(lane.hashes))


def over_cap(lane: EoaLane, slot: Slot, made: Made) -> bool:
    """Whether an attempt is dearer than its account or the operator allows."""
    settings = lane.settings
    if settings.fee_wei_max is settings.cost_wei_max is settings.spend_wei_max is None:
        return False
    before = value(slot.cost)
    spend = lane.spend - before + max(before, made.cost)
    if slot.nonce <= lane.head.latest:
        # What is in flight above the lowest number cannot land before it, nor make room for it.
        spend = max(before, made.cost)
    bounds = (
        (settings.fee_wei_max, made.fee.cap),
        (settings.cost_wei_max, made.cost),
        (settings.spend_wei_max, spend),
    )
    return any(bound is not None and found > bound for bound, found in bounds)
