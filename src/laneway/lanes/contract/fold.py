"""The one function that changes a contract lane, a branch for each record."""

from typing import assert_never

from laneway.core.outcome import AttemptWord, Status
from laneway.core.rows import Result, RowKey, Table, Touched
from laneway.lanes.common import heads
from laneway.lanes.common.values import CommandRefused, IntentDropped, ModeChanged
from laneway.lanes.contract import values as v
from laneway.lanes.contract.lane import (
    WINDOW_PLACE,
    ContractLane,
    open_slot,
    put_attempt,
    put_slot,
    replace,
)
from laneway.lanes.limits import ATTEMPTS_KEPT_MAX

CONFIRMED = Status.CONFIRMED.value

SLOT_GONE = RowKey(Table.SLOT, WINDOW_PLACE)
FIRST_GONE = RowKey(Table.ATTEMPT, "1")
"""Nearly every slot has one attempt and ends with these two."""


def evolve(lane: ContractLane, record: v.Record) -> Touched:
    """Fold one record into the lane; the only function that changes it."""
    match record:
        case v.SlotSettled():
            return settle(lane, record)
        case v.SlotClaimed():
            return claim(lane, record)
        case v.AttemptOffered(attempt=attempt):
            return offer(lane, attempt)
        case v.AttemptDoubted():
            return doubt(lane, record)
        case v.AttemptRefused():
            return refuse(lane, record)
        case v.RetryPlanned():
            return plan_retry(lane, record)
        case v.SearchPlanned():
            lane.head.next_ms = record.search_ms
            return put_slot(lane, replace(open_slot(lane), search_ms=record.search_ms))
        case IntentDropped():
            lane.intents.pop(record.intent, None)
            return (heads.drop_waiting(lane.head, record),)
        case ModeChanged():
            change_mode(lane.head, record)
            return ()
        case CommandRefused():
            return ()
        case _:
            assert_never(record)


def claim(lane: ContractLane, record: v.SlotClaimed) -> Touched:
    slot, head = record.slot, lane.head
    head.cursors = heads.passed(head.cursors, record.priority, slot.seq)
    head.slot_next = slot.id + 1
    head.started_count += 1
    head.running_since_ms = slot.claimed_ms
    if record.attempt is None:
        return put_slot(lane, slot)
    head.floor = max(head.floor, record.attempt.parent)
    return put_slot(lane, slot) + put_attempt(lane, record.attempt)


def offer(lane: ContractLane, attempt: v.Attempt) -> Touched:
    head = lane.head
    head.height = attempt.parent
    head.floor = max(head.floor, attempt.parent)
    head.waiting = False
    head.next_ms = None
    slot = replace(open_slot(lane), attempt_next=attempt.number + 1, retry_ms=None, search_ms=None)
    return (*put_slot(lane, slot), *put_attempt(lane, attempt), *forget(lane))


def forget(lane: ContractLane) -> Touched:
    """Let go of the oldest attempts that can no longer land, so that a slot stays small."""
    excess = len(lane.attempts) - ATTEMPTS_KEPT_MAX
    if excess <= 0:
        return ()
    dead = [number for number, attempt in lane.attempts.items() if not attempt.may_land()]
    for number in dead[:excess]:
        del lane.attempts[number]
    return tuple(attempt_gone(number) for number in dead[:excess])


def doubt(lane: ContractLane, record: v.AttemptDoubted) -> Touched:
    head, attempt = lane.head, lane.attempts[record.attempt]
    head.failures += 1 if record.failed else 0
    head.doubted = True
    head.wait_reason = record.reason
    stale = attempt.stale or record.stale
    touched = put_attempt(lane, replace(attempt, doubted=True, stale=stale, reason=record.reason))
    if not record.aside:
        return touched
    return touched + put_slot(lane, replace(open_slot(lane), final_reason=record.reason))


def refuse(lane: ContractLane, record: v.AttemptRefused) -> Touched:
    head, slot, attempt = lane.head, open_slot(lane), lane.attempts[record.attempt]
    touched = put_attempt(
        lane, replace(attempt, word=record.word, reason=record.reason, doubted=False)
    )
    head.doubted = any(other.doubted for other in lane.attempts.values())
    head.wait_reason = record.reason
    if record.final:
        slot = replace(slot, final_reason=record.reason)
    elif record.word is AttemptWord.REFUSED:
        head.failures += 1
    if not any(other.may_land() for other in lane.attempts.values()):
        slot = replace(slot, search_ms=None)
        head.next_ms = None
        if record.word is AttemptWord.STALE:
            # The chain moved under us, so the height is read again before the next attempt.
            head.height = None
            slot = replace(slot, stale_count=slot.stale_count + 1)
    return touched + put_slot(lane, slot)


def plan_retry(lane: ContractLane, record: v.RetryPlanned) -> Touched:
    head, slot = lane.head, open_slot(lane)
    head.failures += 1 if record.failed else 0
    head.waiting = record.retry_ms is not None
    head.next_ms = record.retry_ms
    head.wait_reason = record.reason or head.wait_reason
    stale_count = 0 if record.afresh else slot.stale_count
    return put_slot(lane, replace(slot, retry_ms=record.retry_ms, stale_count=stale_count))


def attempt_gone(number: int) -> RowKey:
    return FIRST_GONE if number == 1 else RowKey(Table.ATTEMPT, str(number))


def settle(lane: ContractLane, record: v.SlotSettled) -> Touched:
    slot, head = open_slot(lane), lane.head
    confirmed = record.status == CONFIRMED
    if record.attempt is not None:
        word = AttemptWord.ACCEPTED if confirmed else AttemptWord.REFUSED
        attempt = lane.attempts[record.attempt]
        lane.attempts[record.attempt] = replace(
            attempt, word=word, doubted=False, reason=record.reason
        )
    history = v.History(slot, tuple(lane.attempts.values()))
    dropped = [attempt_gone(number) for number in lane.attempts]
    if confirmed:
        head.floor = max(head.floor, block_least(lane, record))
    head.height = height_after(lane, record, confirmed=confirmed)
    heads.settle(head, slot.size)
    heads.count_drained(head, slot.seq)
    head.failures = 0
    head.wait_reason = ""
    head.running_since_ms = None
    head.doubted = head.waiting = False
    head.next_ms = None
    lane.slot = None
    lane.attempts = {}
    lane.intents.pop(slot.intent, None)
    result = Result(
        intent=slot.intent,
        status=record.status,
        settled_ms=record.at_ms,
        number=record.block,
        reason=record.reason,
        history=heads.encode(history),
    )
    return (result, SLOT_GONE, *dropped)


def block_least(lane: ContractLane, record: v.SlotSettled) -> int:
    """The lowest number that the block of a confirmed slot can have."""
    attempt = lane.attempts.get(record.attempt or 0)
    if attempt is not None:
        return max(record.block or 0, attempt.parent + 1)
    # A person's answer, or a try long forgotten: it comes after what may still land, if anything.
    parents = [attempt.parent for attempt in lane.attempts.values() if attempt.may_land()]
    return max(record.block or 0, min(parents, default=-1) + 1)


def height_after(lane: ContractLane, record: v.SlotSettled, *, confirmed: bool) -> int | None:
    """The height the next execution may build on without asking; None where it must ask."""
    head, settings = lane.head, lane.settings
    if not settings.has_chain:
        return head.floor  # The lane counts: nobody else knows.
    if not settings.takes_parent:
        # The host picks the parent itself, so each search needs a baseline read just before.
        return None
    if not confirmed:
        return head.height
    # A host may say "done" without saying where: then the height is read.
    return None if record.block is None else head.floor


def change_mode(head: v.ContractHead, record: ModeChanged) -> None:
    if record.halt:
        head.halted = record.mode == "halted"
        if head.halted:
            head.halt_ms, head.wait_reason = record.at_ms, record.reason
        return
    heads.change_mode(head, record)
