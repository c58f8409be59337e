"""Bytes of attempts: what is made next, what may be sent, what is too dear."""

from collections import deque
from collections.abc import Iterable
from typing import TypeAlias

from laneway.core import records
from laneway.core.units import value
from laneway.lanes.eoa import values as v
from laneway.lanes.eoa.fees import (
    NO_CEILING,
    NO_FEE,
    Ceiling,
    EvmFee,
    bumped,
    by_base_fee,
    fresh,
    replacing,
)
from laneway.lanes.eoa.lane import EoaLane
from laneway.lanes.eoa.rows import Attempt, Purpose, Slot

Decision: TypeAlias = records.Decision[v.Record, v.Effect]

NOTHING: Decision = records.Decision()

GAP_BEFORE = "gap_before"
PARKED = "parked_by_cap"
"""How the reason begins of what is not made because it would cost too much."""
OUT_OF_FUNDS = "out_of_funds"
TRIED_OUT = "tried_out"
"""It has as many attempts as one number may have; the last is offered again and again."""


def decided(made: Iterable[v.Record], effects: Iterable[v.Effect] = ()) -> Decision:
    return records.Decision(tuple(made), tuple(effects))


def market(lane: EoaLane) -> EvmFee:
    return fresh(lane.head.base_fee, lane.head.tip)


def ceiling(lane: EoaLane) -> Ceiling:
    """What an attempt may cost that is made now."""
    settings = lane.settings
    if settings.fee_wei_max is settings.cost_wei_max is None:
        return NO_CEILING
    asked_wei = settings.fee_wei_max
    if asked_wei is not None and settings.fee_by_base:
        asked_wei = by_base_fee(asked_wei, lane.head.base_fee)
    return Ceiling(settings.fee_wei_max, asked_wei, settings.cost_wei_max, settings.fee_wei_source)


def make(lane: EoaLane, slot: Slot, payload: bytes | None = None) -> v.MakeAttempt:
    """The payload of an intent that was just replaced is not in the lane yet."""
    if slot.purpose != Purpose.INTENT:
        payload = b""
    elif payload is None:
        assert slot.intent is not None
        content = lane.contents.get(slot.intent)
        payload = lane.intents[slot.intent].payload if content is None else content.payload
    floor, least, last = slot.floor, NO_FEE, lane.last(slot.id)
    if last is not None and floor != NO_FEE:
        # By what the market asks now: one that was parked in a storm is made cheaper after it.
        floor, least = bumped(last.fee, market(lane)), replacing(last.fee)
    return make_at(slot, payload, market(lane), ceiling(lane), floor, least)


def make_at(
    slot: Slot,
    payload: bytes,
    asked: EvmFee,
    bound: Ceiling,
    floor: EvmFee = NO_FEE,
    least: EvmFee = NO_FEE,
) -> v.MakeAttempt:
    """The order to make a slot's next bytes. The first attempt of a slot has no floor."""
    name = slot.id, slot.attempt_next, slot.nonce, slot.purpose
    return v.MakeAttempt(*name, payload, asked, floor, least, bound)


def send_again(lane: EoaLane, attempt: Attempt) -> v.SendAttempt:
    raw = lane.raw(attempt)
    return v.SendAttempt(attempt.slot, attempt.number, raw, attempt.asked(), again=True)


def reoffer(
    lane: EoaLane, attempt: Attempt, at_ms: int = 0, reason: str = "", *, reorg: bool = False
) -> tuple[v.AttemptReoffered, tuple[v.SendAttempt, ...]]:
    """The same bytes to everyone: a block that held them was taken back, or pools forgot them.

    Of an attempt that was adopted by its hash alone there are no bytes to offer."""
    slot, number = attempt.slot, attempt.number
    nodes = (*attempt.silent, *attempt.refused, *attempt.taken)
    raw = lane.raw(attempt)
    record = v.AttemptReoffered(
        slot, number, lane.slots[slot].intent, attempt.hash, at_ms, reason, reorg
    )
    return record, (v.SendAttempt(slot, number, raw, nodes, again=True),) if raw else ()


def look(lane: EoaLane) -> v.LookAtChain:
    return v.LookAtChain(
        lane.head.block,
        lane.head.block_hash,
        tuple(lane.hashes),
        lane.settings.finality_depth_blocks,
        due(lane) if needs_majority(lane) else (),
    )


def needs_majority(lane: EoaLane) -> bool:
    """With one node there is nobody else to ask."""
    return len(lane.settings.nodes) > 1


def due(lane: EoaLane) -> tuple[tuple[bytes, int], ...]:
    """What was seen in blocks, in the order of nonces."""
    places = sorted(lane.seen, key=lambda slot: lane.slots[slot].nonce)
    facts = [(slot, lane.seen[slot]) for slot in places]
    return tuple([(lane.attempts[slot][fact.attempt].hash, fact.block) for slot, fact in facts])


def prove(lane: EoaLane, slot: Slot) -> v.ProveNonce:
    hashes = tuple([one.hash for one in lane.tries(slot.id).values()])
    return v.ProveNonce(slot.nonce, hashes, lane.settings.finality_depth_blocks)


def over_cap(lane: EoaLane, made: v.Made) -> bool:
    """Whether one attempt is dearer than its account or the operator allows."""
    bounds = ((lane.settings.fee_wei_max, made.fee.cap), (lane.settings.cost_wei_max, made.cost))
    return any(bound is not None and found > bound for bound, found in bounds)


class Spending:
    """The cost of the gas of all attempts in flight, each slot's dearest, while a batch of attempts
    is judged in the order of its numbers. What was mined is not in flight; of a slot that is made
    dearer only the rise is added.

    A number that lacks bytes keeps those above it from being signed: they could not land before
    it, and would take what it needs.
    """

    def __init__(self, lane: EoaLane) -> None:
        self._lane = lane
        self._wei_max = lane.settings.spend_wei_max
        if self._wei_max is None:
            return
        self._wei = lane.spend - sum([value(lane.slots[one].cost) for one in lane.seen])
        bare = [
            slot.nonce
            for slot in lane.slots.values()
            if slot.nonce >= lane.head.latest and not lane.tries(slot.id)
        ]
        free = lane.free.lowest()
        self._bare = deque(sorted(bare if free is None else [*bare, free]))

    def why_not(self, slot: Slot, made: v.Made) -> str | None:
        """Why this attempt is not signed now; None if it may be, and then it is counted."""
        if self._wei_max is None:
            return None
        before = value(slot.cost)
        rise = max(0, made.cost - before)
        is_first = not self._lane.tries(slot.id)
        if is_first and self._bare and self._bare[0] < slot.nonce:
            return GAP_BEFORE
        if rise and self._wei + rise > self._wei_max:
            return PARKED
        self._wei += rise
        if is_first and self._bare and self._bare[0] == slot.nonce:
            self._bare.popleft()
        return None
