"""All transitions of a contract lane: what an event makes true, and what must be done.

One execution is out at a time. An execution whose answer is unknown is never given up and never
simply repeated: the chain is asked for block N+1 with our executor and data. A second try is
made only on a host whose `execute` takes the parent, and on the same parent, so that at most one
of the tries can land. Elsewhere the lane halts until the block appears or a person decides.
"""

from functools import partial
from typing import assert_never

from laneway.core.intent import IntentRow
from laneway.core.records import Decision as CoreDecision
from laneway.lanes.common.commands import expiry_of, is_expired
from laneway.lanes.common.timers import is_due
from laneway.lanes.common.values import (
    CommandReceived,
    IntentDropped,
    IntentsOffered,
    ModeChanged,
    TimerFired,
)
from laneway.lanes.contract import values as v
from laneway.lanes.contract.answers import doubt, judge_answer, judge_height, judge_search
from laneway.lanes.contract.commands import judge_command
from laneway.lanes.contract.fold import evolve
from laneway.lanes.contract.lane import ContractLane, restore
from laneway.lanes.contract.settings import ContractSettings
from laneway.lanes.contract.show import describe
from laneway.lanes.contract.tries import (
    NOTHING,
    Decision,
    execution,
    find,
    is_active,
    may_land,
    new_attempt,
    offer_on,
    parent_kept,
    read_height,
)
from laneway.lanes.kind import LaneKind


def decide(lane: ContractLane, event: v.Event) -> Decision:
    """Say what becomes true and what must be done; change nothing."""
    decision = judge(lane, event)
    if lane.head.mode == "draining":
        return end_drain(lane, decision, event.now_ms)
    return decision


def judge(lane: ContractLane, event: v.Event) -> Decision:
    match event:
        case IntentsOffered():
            return claim_next(lane, event.intents, event.now_ms)
        case v.ExecutionReturned():
            return judge_answer(lane, event)
        case v.HeightRead():
            return judge_height(lane, event)
        case v.SearchReturned():
            return judge_search(lane, event)
        case TimerFired(now_ms=now_ms):
            return judge_timer(lane, now_ms)
        case CommandReceived(command=command, now_ms=now_ms):
            return judge_command(lane, command, now_ms)
        case _:
            assert_never(event)


def claim_next(lane: ContractLane, intents: tuple[IntentRow, ...], now_ms: int) -> Decision:
    """Take the first intent that is still wanted; pass those that came too late."""
    if wants(lane) == 0:
        return NOTHING
    records: list[v.Record] = []
    for intent in intents:
        if is_expired(intent, now_ms):
            records.append(expiry_of(intent, now_ms, "valid_until passed while it waited"))
            continue
        height = lane.head.height
        slot = v.Slot(
            id=lane.head.slot_next,
            intent=intent.id,
            seq=intent.seq,
            size=intent.size(),
            accepted_ms=intent.accepted_ms,
            claimed_ms=now_ms,
            attempt_next=1 if height is None else 2,
        )
        if height is None:
            records.append(v.SlotClaimed(slot, intent.priority, None))
            effect: v.Effect = v.ReadHeight(slot.id, intent.payload)
        else:
            attempt = new_attempt(lane, slot.id, 1, height, now_ms)
            records.append(v.SlotClaimed(slot, intent.priority, attempt))
            effect = execution(attempt, intent.payload)
        return CoreDecision(tuple(records), (effect,))
    return CoreDecision(tuple(records))


def judge_timer(lane: ContractLane, now_ms: int) -> Decision:
    slot = lane.slot
    if slot is None:
        return NOTHING
    for attempt in lane.attempts.values():
        if attempt.is_out() and attempt.deadline_ms <= now_ms:
            return doubt(lane, slot, attempt, "its deadline passed", now_ms)
    if slot.search_ms is not None:
        if slot.search_ms > now_ms:
            return NOTHING
        return CoreDecision((v.SearchPlanned(slot.id, None),), (find(lane, slot),))
    if not is_due(slot.retry_ms, now_ms) or not is_active(lane) or may_land(lane):
        return NOTHING
    parent = parent_kept(lane)
    if parent is not None:
        return offer_on(lane, slot, parent, now_ms)
    tried = v.RetryPlanned(slot.id, None, "", failed=False)
    return CoreDecision((tried,), (read_height(lane, slot),))


def end_drain(lane: ContractLane, decision: Decision, now_ms: int) -> Decision:
    """Pause when the last of what the drain was to finish became final."""
    head = lane.head
    left, busy = head.drain_left, lane.slot is not None
    for record in decision.records:
        if isinstance(record, ModeChanged) and not record.halt:
            return decision  # The operator's new command ends the drain.
        if isinstance(record, v.SlotClaimed):
            busy = True
        elif isinstance(record, v.SlotSettled):
            assert lane.slot is not None
            busy = False
            left -= 1 if lane.slot.seq <= head.drain_seq else 0
        elif isinstance(record, IntentDropped):
            left -= 1 if record.seq <= head.drain_seq else 0
    if busy or left > 0:
        return decision
    paused = ModeChanged("paused", "drained", head.by, now_ms)
    return CoreDecision((*decision.records, paused), decision.effects)


def resume(lane: ContractLane) -> tuple[v.Effect, ...]:
    """What a crash may have lost. For an execution that is the question what became of it."""
    slot = lane.slot
    if slot is None or slot.search_ms is not None:
        return ()
    if may_land(lane):
        return (find(lane, slot),)
    return () if slot.retry_ms is not None else (read_height(lane, slot),)


def wants(lane: ContractLane) -> int:
    """The window is one: the next execution builds on the block of the last."""
    head = lane.head
    if lane.slot is not None or head.halted:
        return 0
    return 1 if head.mode == "running" or (head.mode == "draining" and head.drain_left) else 0


def deadline(lane: ContractLane) -> int | None:
    slot = lane.slot
    if slot is None:
        return None
    earliest = slot.search_ms
    landing = False
    for attempt in lane.attempts.values():
        landing = landing or attempt.may_land()
        if attempt.is_out() and (earliest is None or attempt.deadline_ms < earliest):
            earliest = attempt.deadline_ms
    if landing or not is_active(lane):
        return earliest
    return slot.retry_ms


def contract_kind(settings: ContractSettings) -> LaneKind:
    """The contract discipline under these settings, as the engine knows it."""
    return LaneKind(
        name="contract",
        empty=partial(ContractLane, settings=settings),
        restore=partial(restore, settings=settings),
        decide=decide,
        evolve=evolve,
        resume=resume,
        wants=wants,
        deadline=deadline,
        decode=v.decode_records,
        describe=partial(describe, settings=settings),
        aside_verbs=("put_aside", "cancel"),
    )
