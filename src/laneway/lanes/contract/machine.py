"""All transitions of a contract lane: what an event makes true, and what must be done.

One execution is out at a time. An execution whose answer is unknown is never given up and never
simply repeated: the chain is asked for block N+1 with our executor and data. A second try is
made only on a host whose `execute` takes the parent, and on the same parent, so that at most one
of the tries can land. Elsewhere the lane halts until the block appears or a person decides.
"""

from functools import partial
from typing import TypeAlias, assert_never

import msgspec

from laneway.core.intent import IntentRow
from laneway.core.outcome import AttemptWord, Outcome
from laneway.core.records import Decision as CoreDecision
from laneway.core.rows import Command
from laneway.lanes.contract.commands import judge_command
from laneway.lanes.contract.lane import (
    ContractLane,
    encode,
    evolve,
    head_write,
    replace,
    restore,
)
from laneway.lanes.contract.settings import ContractSettings
from laneway.lanes.contract.show import describe
from laneway.lanes.contract.values import (
    Attempt,
    AttemptDoubted,
    AttemptOffered,
    AttemptRefused,
    CommandTold,
    Effect,
    Event,
    Execute,
    ExecutionReturned,
    FindExecution,
    HeightRead,
    IntentDropped,
    IntentsOffered,
    ModeChanged,
    ReadHeight,
    Record,
    RetryPlanned,
    SearchPlanned,
    SearchReturned,
    Slot,
    SlotClaimed,
    SlotSettled,
    TimerFired,
)
from laneway.lanes.kind import LaneKind
from laneway.lanes.limits import ATTEMPTS_OPEN_MAX

Decision: TypeAlias = CoreDecision[Record, Effect]

NOTHING: Decision = CoreDecision()


def decide(lane: ContractLane, event: Event) -> Decision:
    """Say what becomes true and what must be done; change nothing."""
    match event:
        case IntentsOffered(intents=intents, now_ms=now_ms):
            return claim_next(lane, intents, now_ms)
        case HeightRead():
            return judge_height(lane, event)
        case ExecutionReturned():
            return judge_answer(lane, event)
        case SearchReturned():
            return judge_search(lane, event)
        case TimerFired(now_ms=now_ms):
            return judge_timer(lane, now_ms)
        case CommandTold(command=command, now_ms=now_ms):
            return judge_command(lane, command, now_ms)
        case _:
            assert_never(event)


def claim_next(lane: ContractLane, intents: tuple[IntentRow, ...], now_ms: int) -> Decision:
    """Take the first intent that is still wanted; pass those that came too late."""
    if wants(lane) == 0:
        return NOTHING
    records: list[Record] = []
    for intent in intents:
        if lane.head.mode == "draining" and intent.seq > lane.head.drain_seq:
            records.append(ModeChanged("paused", "drained", lane.head.by, now_ms))
            break
        if intent.valid_until_ms is not None and intent.valid_until_ms < now_ms:
            records.append(expire(intent, now_ms))
            continue
        slot = Slot(
            id=lane.head.slot_next,
            intent=intent.id,
            seq=intent.seq,
            size=intent.size(),
            accepted_ms=intent.accepted_ms,
            claimed_ms=now_ms,
        )
        if lane.head.height is None:
            records.append(SlotClaimed(slot, intent.priority, None))
            effect: Effect = ReadHeight(slot.id, intent.payload)
        else:
            attempt = next_attempt(lane, slot, lane.head.height, now_ms)
            slot = replace(slot, attempt_next=2)
            records.append(SlotClaimed(slot, intent.priority, attempt))
            effect = execution(attempt, intent.payload)
        return CoreDecision(tuple(records), (effect,))
    return CoreDecision(tuple(records))


def expire(intent: IntentRow, now_ms: int) -> IntentDropped:
    return IntentDropped(
        intent=intent.id,
        seq=intent.seq,
        priority=intent.priority,
        size=intent.size(),
        status="expired",
        reason="valid_until passed while it waited",
        at_ms=now_ms,
        passed=True,
    )


def judge_height(lane: ContractLane, event: HeightRead) -> Decision:
    slot = lane.slot
    if slot is None or slot.id != event.slot or slot.retry_ms is not None or may_land(lane):
        return NOTHING  # A late answer: the slot has gone on without it.
    if event.height is None:
        return retry_later(lane, slot, event.now_ms, event.reason, failed=True)
    return offer_on(lane, slot, event.height, event.now_ms)


def judge_answer(lane: ContractLane, event: ExecutionReturned) -> Decision:
    """Decide what an answer proves about the execution; silence proves nothing."""
    slot = lane.slot
    if slot is None or slot.id != event.slot or event.attempt not in lane.attempts:
        return NOTHING  # A late answer: the slot is already settled.
    attempt = lane.attempts[event.attempt]
    match event.outcome:
        case Outcome.ACCEPTED:
            # Whatever we believed of this attempt, the host says that it ran.
            return settled(lane, "confirmed", event.attempt, event.block, event.now_ms)
        case _ if not attempt.may_land():
            return NOTHING  # Already known not to land; the late word adds nothing.
        case Outcome.UNKNOWN:
            return doubt(lane, slot, attempt, event.reason, event.now_ms)
        case Outcome.REFUSED if event.stale:
            # The host says that block N+1 is taken. It may be ours: a request delivered twice
            # lands once and is refused once, and we may hear of the refusal only.
            return doubt(lane, slot, attempt, event.reason, event.now_ms, stale=True)
        case Outcome.REFUSED:
            return judge_refusal(lane, slot, attempt, event)
        case _:
            assert_never(event.outcome)


def judge_refusal(
    lane: ContractLane, slot: Slot, attempt: Attempt, event: ExecutionReturned
) -> Decision:
    refused = AttemptRefused(
        slot.id, attempt.number, AttemptWord.REFUSED, event.reason, event.now_ms
    )
    others = any(other.may_land() for other in lane.attempts.values() if other is not attempt)
    if others:
        # This try is dead, but an earlier one may still land: only the chain can tell.
        search = find(lane, slot)
        return CoreDecision((refused, SearchPlanned(slot.id, None)), (search,))
    if event.final:
        ended = SlotSettled(slot.id, "refused", attempt.number, None, event.reason, event.now_ms)
        return CoreDecision((ended,))
    retry = retry_later(lane, slot, event.now_ms, event.reason, failed=True)
    return CoreDecision((refused, *retry.records), retry.effects)


def doubt(
    lane: ContractLane,
    slot: Slot,
    attempt: Attempt,
    reason: str,
    now_ms: int,
    *,
    stale: bool = False,
) -> Decision:
    """Nobody knows whether it ran, so it counts as sent, and the chain is asked."""
    if attempt.doubted and not stale:
        return NOTHING  # It is being looked for already.
    doubted = AttemptDoubted(slot.id, attempt.number, stale, reason, now_ms)
    return CoreDecision((doubted, SearchPlanned(slot.id, None)), (find(lane, slot),))


def judge_search(lane: ContractLane, event: SearchReturned) -> Decision:
    slot = lane.slot
    if slot is None or slot.id != event.slot or not may_land(lane):
        return NOTHING
    if event.block is not None:
        number = next(n for n, attempt in lane.attempts.items() if attempt.may_land())
        return settled(lane, "confirmed", number, event.block, event.now_ms)
    if event.attempt != slot.attempt_next - 1:
        return NOTHING  # It was asked before the newest attempt, which it cannot deny.
    if event.latest is None:
        return search_later(lane, slot, event.now_ms)
    return judge_absence(lane, slot, event.latest, event.now_ms)


def judge_absence(lane: ContractLane, slot: Slot, latest: int, now_ms: int) -> Decision:
    """Our block is not there. Rows of the table, the first that fits fires:

    A  the parent was passed, host takes the parent   every try on it is dead: try anew
    B  every try was told that its parent was stale   the same, on any host
    C  host takes the parent, tries left              try again on the same parent
    D  host takes the parent, no tries left           halt, and keep looking
    E  host picks the parent, the round may run       keep looking
    F  host picks the parent, the round is over       halt, and keep looking
    """
    settings = lane.settings
    open_ = [attempt for attempt in lane.attempts.values() if attempt.may_land()]
    parent_passed = latest > open_[-1].parent
    if (settings.takes_parent and parent_passed) or all(attempt.stale for attempt in open_):
        return go_stale(lane, slot, open_, latest, now_ms)
    if settings.takes_parent and len(open_) < ATTEMPTS_OPEN_MAX:
        return try_again(lane, slot, open_, now_ms)
    later = search_later(lane, slot, now_ms)
    if not settings.takes_parent and now_ms < open_[-1].deadline_ms:
        return later
    return halt_unknown(lane, slot, later, now_ms)


def go_stale(
    lane: ContractLane, slot: Slot, dead: list[Attempt], latest: int, now_ms: int
) -> Decision:
    """Someone else's block is where ours would have gone: none of our tries can land there."""
    records: list[Record] = [
        AttemptRefused(slot.id, attempt.number, AttemptWord.STALE, "its parent was passed", now_ms)
        for attempt in dead
    ]
    if slot.stale_count + len(dead) < lane.settings.stale_retries_max:
        again = offer_on(lane, slot, latest, now_ms)
        return CoreDecision((*records, *again.records), again.effects)
    reason = f"other writers took its block {slot.stale_count + len(dead)} times"
    if lane.settings.exhausted == "skip":
        records.append(SlotSettled(slot.id, "dead", None, None, reason, now_ms))
        return CoreDecision(tuple(records))
    # The next attempt waits for a person: a planned retry is not made while halted.
    records.append(RetryPlanned(slot.id, now_ms, reason, failed=False))
    records.append(ModeChanged("halted", reason, "laneway", now_ms))
    return CoreDecision(tuple(records))


def try_again(lane: ContractLane, slot: Slot, open_: list[Attempt], now_ms: int) -> Decision:
    """On the same parent, so that at most one of the tries can land."""
    records: list[Record] = [
        AttemptDoubted(slot.id, attempt.number, False, "the process restarted", now_ms)
        for attempt in open_
        if not attempt.doubted
    ]
    wait_ms = backoff_ms(lane, lane.head.failures + len(records) - 1)
    if wait_ms == 0:
        again = offer_on(lane, slot, open_[-1].parent, now_ms)
        return CoreDecision((*records, *again.records), again.effects)
    records.append(SearchPlanned(slot.id, None))
    records.append(RetryPlanned(slot.id, now_ms + wait_ms, "its outcome is unknown", failed=False))
    return CoreDecision(tuple(records))


def halt_unknown(lane: ContractLane, slot: Slot, later: Decision, now_ms: int) -> Decision:
    if lane.head.mode == "halted":
        return later
    reason = (
        f"the outcome of {slot.intent} is unknown; it is settled when its block appears, "
        "or by a person who knows"
    )
    halted = ModeChanged("halted", reason, "laneway", now_ms)
    return CoreDecision((*later.records, halted))


def judge_timer(lane: ContractLane, now_ms: int) -> Decision:
    slot = lane.slot
    if slot is None:
        return NOTHING
    for attempt in lane.attempts.values():
        if attempt.may_land() and not attempt.doubted and attempt.deadline_ms <= now_ms:
            return doubt(lane, slot, attempt, "its deadline passed", now_ms)
    if slot.search_ms is not None and slot.search_ms <= now_ms:
        return CoreDecision((SearchPlanned(slot.id, None),), (find(lane, slot),))
    if slot.retry_ms is None or slot.retry_ms > now_ms or not is_active(lane):
        return NOTHING
    open_ = [attempt for attempt in lane.attempts.values() if attempt.may_land()]
    if open_:
        # Only a host that takes the parent comes here: the same parent again is safe.
        return offer_on(lane, slot, open_[-1].parent, now_ms)
    tried = RetryPlanned(slot.id, None, "", failed=False)
    return CoreDecision((tried,), (ReadHeight(slot.id, payload(lane, slot)),))


def settled(
    lane: ContractLane, status: str, attempt: int, block: int | None, now_ms: int
) -> Decision:
    assert lane.slot is not None
    records: list[Record] = [SlotSettled(lane.slot.id, status, attempt, block, "", now_ms)]
    if lane.head.mode == "halted":
        # It was halted over this very slot, and now the answer is known.
        records.append(ModeChanged("running", "the block appeared", "laneway", now_ms))
    return CoreDecision(tuple(records))


def retry_later(
    lane: ContractLane, slot: Slot, now_ms: int, reason: str, *, failed: bool
) -> Decision:
    wait_ms = max(backoff_ms(lane, lane.head.failures + 1), lane.settings.retry_ms_min)
    return CoreDecision((RetryPlanned(slot.id, now_ms + wait_ms, reason, failed=failed),))


def search_later(lane: ContractLane, slot: Slot, now_ms: int) -> Decision:
    return CoreDecision((SearchPlanned(slot.id, now_ms + lane.settings.search_ms),))


def offer_on(lane: ContractLane, slot: Slot, parent: int, now_ms: int) -> Decision:
    attempt = next_attempt(lane, slot, parent, now_ms)
    return CoreDecision((AttemptOffered(attempt),), (execution(attempt, payload(lane, slot)),))


def next_attempt(lane: ContractLane, slot: Slot, parent: int, now_ms: int) -> Attempt:
    return Attempt(
        slot=slot.id,
        number=slot.attempt_next,
        parent=parent,
        offered_ms=now_ms,
        deadline_ms=now_ms + lane.settings.execution_ms_max,
    )


def execution(attempt: Attempt, body: bytes) -> Execute:
    return Execute(attempt.slot, attempt.number, body, attempt.parent, attempt.deadline_ms)


def find(lane: ContractLane, slot: Slot) -> FindExecution:
    # All tries that may land share one parent: a new parent is taken only when they are dead.
    parent = next(a.parent for a in reversed(lane.attempts.values()) if a.may_land())
    return FindExecution(slot.id, slot.attempt_next - 1, payload(lane, slot), parent)


def payload(lane: ContractLane, slot: Slot) -> bytes:
    return lane.intents[slot.intent].payload


def may_land(lane: ContractLane) -> bool:
    return any(attempt.may_land() for attempt in lane.attempts.values())


def is_active(lane: ContractLane) -> bool:
    return lane.head.mode in ("running", "draining")


def is_tripped(lane: ContractLane) -> bool:
    return lane.head.failures >= lane.settings.breaker_failures


def backoff_ms(lane: ContractLane, failures: int) -> int:
    """How long to wait after so many failures in a row; the breaker's rest once it trips."""
    settings = lane.settings
    if failures >= settings.breaker_failures:
        return settings.breaker_open_ms
    if failures <= 0:
        return 0
    return min(settings.retry_ms_min << (failures - 1), settings.retry_ms_max)


def resume(lane: ContractLane) -> tuple[Effect, ...]:
    """What a crash may have lost. For an execution that is the question what became of it."""
    slot = lane.slot
    if slot is None or slot.search_ms is not None or slot.retry_ms is not None:
        return ()
    if may_land(lane):
        return (find(lane, slot),)
    return (ReadHeight(slot.id, payload(lane, slot)),)


def wants(lane: ContractLane) -> int:
    """The window is one: the next execution builds on the block of the last."""
    return 1 if lane.slot is None and is_active(lane) else 0


def deadline(lane: ContractLane) -> int | None:
    slot = lane.slot
    if slot is None:
        return None
    earliest = slot.search_ms
    if slot.retry_ms is not None and is_active(lane):
        earliest = slot.retry_ms if earliest is None else min(earliest, slot.retry_ms)
    for attempt in lane.attempts.values():
        is_out = attempt.may_land() and not attempt.doubted
        if is_out and (earliest is None or attempt.deadline_ms < earliest):
            earliest = attempt.deadline_ms
    return earliest


_decode = msgspec.msgpack.Decoder(tuple[Record, ...]).decode


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
        head=head_write,
        cursors=lambda lane: lane.head.cursors,
        offered=offered,
        told=told,
        woken=TimerFired,
        encode=encode,
        decode=_decode,
        describe=partial(describe, settings=settings),
    )


def offered(now_ms: int, intents: tuple[IntentRow, ...]) -> IntentsOffered:
    return IntentsOffered(now_ms, intents)


def told(now_ms: int, command: Command) -> CommandTold:
    return CommandTold(now_ms, command)
