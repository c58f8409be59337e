"""All transitions of a delivery lane: what an event makes true, and what must be done.

Messages go to one endpoint, each for itself: a retry holds up nobody. At most sixteen are under
way at once. A message is tried eight times over a day, and then it is dead and the lane goes on.
An attempt may be repeated after a crash: receivers know a message by its id.
"""

from typing import TypeAlias, assert_never

from laneway.core.intent import IntentRow
from laneway.core.reason import clip
from laneway.core.records import Decision as CoreDecision
from laneway.core.rows import Command
from laneway.lanes.common.commands import FINAL_ALREADY, cancelled, is_taken, mode_changed, refusal
from laneway.lanes.common.values import CommandReceived, IntentsOffered, ModeChanged, TimerFired
from laneway.lanes.delivery import values as v
from laneway.lanes.delivery.lane import DeliveryLane, describe, evolve, restore
from laneway.lanes.kind import LaneKind
from laneway.lanes.limits import (
    DELIVERIES_OPEN_MAX,
    DELIVERIES_OUT_MAX,
    LADDER_MS,
    PREVIEW_BYTES_MAX,
    PUT_OFF_MS,
    RETRY_AFTER_MS_MAX,
)

GONE = 410
"""The receiver wants no more of these, ever (Standard Webhooks, "deliverability")."""

BUSY = (429, 503)
"""Answers whose Retry-After counts (RFC 6585 §4, RFC 9110 §15.6.4)."""

Decision: TypeAlias = CoreDecision[v.Record, v.Effect]

NOTHING: Decision = CoreDecision()


def decide(lane: DeliveryLane, event: v.Event) -> Decision:
    """Say what becomes true and what must be done; change nothing."""
    match event:
        case IntentsOffered(intents=intents, now_ms=now_ms):
            return claim(lane, intents, now_ms)
        case v.PostReturned():
            return judge_answer(lane, event)
        case v.PostDeclined():
            return judge_declined(lane, event)
        case TimerFired(now_ms=now_ms):
            return begin_due(lane, now_ms)
        case CommandReceived(command=command, now_ms=now_ms):
            return judge_command(lane, command, now_ms)
        case _:
            assert_never(event)


def claim(lane: DeliveryLane, intents: tuple[IntentRow, ...], now_ms: int) -> Decision:
    slots = [
        v.Slot(lane.head.slot_next + place, intent.id, intent.seq, intent.size(), now_ms)
        for place, intent in enumerate(intents[: wants(lane)])
    ]
    posts = tuple(
        v.Post(slot.id, slot.attempt, intent.payload)
        for slot, intent in zip(slots, intents, strict=False)
    )
    return CoreDecision(tuple(v.SlotClaimed(slot) for slot in slots), posts)


def begin_due(lane: DeliveryLane, now_ms: int) -> Decision:
    """Send what is due, the longest overdue first, as far as the window allows."""
    if lane.head.mode != "running":
        return NOTHING
    due = sorted((at_ms, number) for number, at_ms in lane.waiting.items() if at_ms <= now_ms)
    begun = [lane.slots[number] for _, number in due[: DELIVERIES_OUT_MAX - lane.out_count()]]
    records = tuple(v.AttemptBegun(slot.id) for slot in begun)
    return CoreDecision(records, tuple(post(lane, slot) for slot in begun))


def post(lane: DeliveryLane, slot: v.Slot) -> v.Post:
    return v.Post(slot.id, slot.attempt, lane.intents[slot.intent].payload)


# Answers.


def judge_answer(lane: DeliveryLane, event: v.PostReturned) -> Decision:
    slot = out_slot(lane, event.slot, event.attempt)
    if slot is None:
        return NOTHING  # It was sent twice, and the other answer came first.
    attempt = v.Attempt(
        number=event.attempt,
        ended_ms=event.now_ms,
        duration_ms=event.duration_ms,
        code=event.code,
        reason=clip(event.reason),
        preview=event.preview[:PREVIEW_BYTES_MAX],
    )
    code, now_ms = event.code, event.now_ms
    if code is not None and 200 <= code < 300:
        return CoreDecision((settled(slot, "confirmed", attempt, now_ms),))
    if code == GONE:
        refused = settled(slot, "refused", attempt, now_ms)
        disabled = ModeChanged("disabled", "the endpoint answered 410 Gone", "", now_ms)
        return CoreDecision((refused, disabled))
    if event.attempt >= len(LADDER_MS):
        return CoreDecision((settled(slot, "dead", attempt, now_ms),))
    wait_ms = LADDER_MS[event.attempt]
    if code in BUSY and event.retry_after_ms is not None:
        # Never earlier than the ladder says: a receiver cannot make us ask it in a ring.
        wait_ms = max(wait_ms, min(event.retry_after_ms, RETRY_AFTER_MS_MAX))
    return CoreDecision((v.AttemptFailed(slot.id, attempt, now_ms + wait_ms),))


def out_slot(lane: DeliveryLane, number: int, attempt: int) -> v.Slot | None:
    """The slot whose attempt of this number is out."""
    slot = lane.slots.get(number)
    if slot is None or slot.retry_ms is not None or slot.attempt != attempt:
        return None
    return slot


def settled(slot: v.Slot, status: str, attempt: v.Attempt, now_ms: int) -> v.SlotSettled:
    return v.SlotSettled(slot.id, slot.intent, status, attempt, attempt.reason, now_ms)


def judge_declined(lane: DeliveryLane, event: v.PostDeclined) -> Decision:
    slot = out_slot(lane, event.slot, event.attempt)
    if slot is None:
        return NOTHING
    return CoreDecision((v.AttemptPutOff(slot.id, event.now_ms + PUT_OFF_MS),))


# Commands.


def judge_command(lane: DeliveryLane, command: Command, now_ms: int) -> Decision:
    match command.verb:
        case "pause":
            return CoreDecision((mode_changed("paused", command, now_ms),))
        case "resume":
            return CoreDecision((mode_changed("running", command, now_ms),))
        case "cancel":
            return cancel(lane, command, now_ms)
        case "fed":
            return CoreDecision((v.FeedPassed(command.word),))
        case _:
            return refuse(command, f"a delivery lane has no command {command.verb!r}")


def cancel(lane: DeliveryLane, command: Command, now_ms: int) -> Decision:
    if command.intent is None:
        return refuse(command, "it names no delivery")
    for slot in lane.slots.values():
        if slot.intent == command.intent:
            if slot.retry_ms is None:
                return refuse(command, "it is being sent; wait for its answer")
            reason = clip(command.reason)
            gone = v.SlotSettled(slot.id, slot.intent, "cancelled", None, reason, now_ms)
            return CoreDecision((gone,))
    if is_taken(lane.head, command):
        return refuse(command, FINAL_ALREADY)
    return CoreDecision((cancelled(command, now_ms),))


def refuse(command: Command, reason: str) -> Decision:
    return CoreDecision((refusal(command, reason),))


# The other three, and the kind.


def resume(lane: DeliveryLane) -> tuple[v.Effect, ...]:
    """What a crash may have lost: every attempt that is out is sent once more."""
    return tuple(post(lane, slot) for slot in lane.slots.values() if slot.retry_ms is None)


def wants(lane: DeliveryLane) -> int:
    """As many as may be under way, unless the number that waits shows that the endpoint is down."""
    if lane.head.mode != "running":
        return 0
    free = min(DELIVERIES_OUT_MAX - lane.out_count(), DELIVERIES_OPEN_MAX - len(lane.slots))
    return max(0, free)


def deadline(lane: DeliveryLane) -> int | None:
    if lane.head.mode != "running" or lane.out_count() >= DELIVERIES_OUT_MAX:
        return None
    return min(lane.waiting.values(), default=None)


def delivery_kind() -> LaneKind:
    """The delivery discipline, as the engine knows it."""
    return LaneKind(
        name=v.KIND,
        empty=DeliveryLane,
        restore=restore,
        decide=decide,
        evolve=evolve,
        resume=resume,
        wants=wants,
        deadline=deadline,
        decode=v.decode_records,
        describe=describe,
    )
