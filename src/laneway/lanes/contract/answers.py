"""What answers of the host and looks at the chain prove about the open slot.

Silence proves nothing, and that our block is not on the chain proves little.
"""

from typing import Literal, TypeAlias, assert_never

from laneway.core.outcome import AttemptWord, Outcome
from laneway.core.reason import clip
from laneway.core.records import Decision as CoreDecision
from laneway.lanes.contract import values as v
from laneway.lanes.contract.lane import ContractLane
from laneway.lanes.contract.tries import (
    NOTHING,
    Decision,
    backoff_ms,
    find,
    halt_lifted,
    halted,
    is_active,
    may_land,
    offer_on,
    open_attempts,
    settled,
)
from laneway.lanes.limits import ATTEMPTS_OPEN_MAX


def judge_height(lane: ContractLane, event: v.HeightRead) -> Decision:
    slot = lane.slot
    if slot is None or slot.id != event.slot or slot.retry_ms is not None or may_land(lane):
        return NOTHING  # A late answer: the slot has gone on without it.
    if event.height is None:
        wait_ms = backoff_ms(lane, lane.head.failures + 1)
        reason = clip(event.reason)
        return CoreDecision((v.RetryPlanned(slot.id, event.now_ms + wait_ms, reason, failed=True),))
    if not is_active(lane):
        # It is read again when the lane goes on: a height ages.
        return CoreDecision((v.RetryPlanned(slot.id, event.now_ms, "", failed=False),))
    return offer_on(lane, slot, max(event.height, lane.head.floor), event.now_ms)


def judge_answer(lane: ContractLane, event: v.ExecutionReturned) -> Decision:
    slot = lane.slot
    if slot is None or slot.id != event.slot:
        return NOTHING  # A late answer: the slot is already settled.
    attempt = lane.attempts.get(event.attempt)
    match event.outcome:
        case Outcome.ACCEPTED:
            # Whatever we believed of this attempt, or forgot, the host says that it ran.
            number = None if attempt is None else attempt.number
            block = event.block
            return CoreDecision(
                settled(lane, "confirmed", event.now_ms, attempt=number, block=block)
            )
        case _ if attempt is None or not attempt.may_land():
            return NOTHING  # Already known not to land; the late answer adds nothing.
        case Outcome.UNKNOWN:
            return doubt(lane, slot, attempt, event.reason, event.now_ms)
        case Outcome.REFUSED if event.stale:
            # The host says that block N+1 is taken. It may be ours: a request delivered twice
            # lands once and is refused once, and we may receive the refusal only.
            return doubt(lane, slot, attempt, event.reason, event.now_ms, stale=True)
        case Outcome.REFUSED:
            return judge_refusal(lane, slot, attempt, event)
        case _:
            assert_never(event.outcome)


def judge_refusal(
    lane: ContractLane, slot: v.Slot, attempt: v.Attempt, event: v.ExecutionReturned
) -> Decision:
    now_ms, reason = event.now_ms, clip(event.reason)
    refused = v.AttemptRefused(
        slot.id, attempt.number, AttemptWord.REFUSED, reason, now_ms, event.final
    )
    others = [other for other in open_attempts(lane) if other is not attempt]
    if any(other.is_out() for other in others):
        return CoreDecision((refused,))  # The other one's own answer is still to come.
    if others:
        # This try is dead, but an earlier one may still land: only the chain shows it.
        return CoreDecision((refused, v.SearchPlanned(slot.id, None)), (find(lane, slot),))
    if event.final:
        number = attempt.number
        return CoreDecision(settled(lane, "refused", now_ms, attempt=number, reason=reason))
    if slot.final_reason is not None:
        # Nothing can land any more, and an earlier refusal was for good.
        ended = settled(lane, "refused", now_ms, reason=slot.final_reason)
        return CoreDecision((refused, *ended))
    wait_ms = backoff_ms(lane, lane.head.failures + 1)
    lifted = halt_lifted(lane, "it did not run", now_ms)
    again = v.RetryPlanned(slot.id, now_ms + wait_ms, reason, failed=False)
    return CoreDecision((refused, *lifted, again))


def doubt(
    lane: ContractLane,
    slot: v.Slot,
    attempt: v.Attempt,
    reason: str,
    now_ms: int,
    *,
    stale: bool = False,
) -> Decision:
    """Nobody knows whether it ran, so it counts as sent, and the chain is asked."""
    if attempt.doubted and (attempt.stale or not stale):
        return NOTHING  # It is being looked for already.
    failed = not stale and not attempt.doubted
    doubted = v.AttemptDoubted(slot.id, attempt.number, stale, clip(reason), now_ms, failed)
    if any(other.is_out() for other in open_attempts(lane) if other is not attempt):
        return CoreDecision((doubted,))  # The other one's own answer is still to come.
    return CoreDecision((doubted, v.SearchPlanned(slot.id, None)), (find(lane, slot),))


Row: TypeAlias = Literal["A", "B", "C", "D", "E", "F"]


def judge_search(lane: ContractLane, event: v.SearchReturned) -> Decision:
    slot = lane.slot
    if slot is None or slot.id != event.slot:
        return NOTHING  # A late answer: the slot is already settled.
    open_ = open_attempts(lane)
    if event.block is not None:
        # Whatever we believed of its tries, there it is.
        number = next((tried.number for tried in (*open_, *lane.attempts.values())), None)
        found = settled(
            lane,
            "confirmed",
            event.now_ms,
            attempt=number,
            block=event.block,
            reason="found on the chain",
        )
        return CoreDecision(found)
    if not open_ or event.attempt != slot.attempt_next - 1:
        return NOTHING  # It was asked before the newest attempt, which it cannot deny.
    if event.latest is None:
        return look_again(lane, slot, open_, event.now_ms)
    return judge_absence(lane, slot, open_, event.latest, event.now_ms)


def judge_absence(
    lane: ContractLane, slot: v.Slot, open_: list[v.Attempt], latest: int, now_ms: int
) -> Decision:
    settings = lane.settings
    all_stale = all(attempt.stale for attempt in open_)
    bound = all(attempt.bound for attempt in open_)
    row = absence_row(
        # The block on top of the parent is someone else's: a bound try cannot land any more, and
        # what a host picked a parent for is dead when the host itself said so.
        dead=latest > open_[0].parent and all(tried.bound or tried.stale for tried in open_),
        for_good=slot.final_reason is not None,
        # Where the parent is said to be stale, one more try on it is idle: the chain must show it.
        may_try=settings.takes_parent and bound and not all_stale,
        tries_left=len(open_) < ATTEMPTS_OPEN_MAX,
        may_run=now_ms < max(attempt.deadline_ms for attempt in open_),
    )
    match row:
        case "A":
            return try_anew(lane, slot, open_, latest, now_ms)
        case "B":
            assert slot.final_reason is not None
            ended = settled(lane, "refused", now_ms, reason=slot.final_reason)
            return CoreDecision((*given_up(slot, open_, now_ms), *ended))
        case "C":
            return try_again(lane, slot, open_, now_ms)
        case "E":
            return look_again(lane, slot, open_, now_ms)
        case "D" | "F":
            return halt_unknown(lane, slot, open_, now_ms)
        case _:
            assert_never(row)


def absence_row(
    *, dead: bool, for_good: bool, may_try: bool, tries_left: bool, may_run: bool
) -> Row:
    """Our block is not there. Exactly one row fires:

    A  every try is dead, none was refused for good    try anew, on the latest block
    B  every try is dead, one was refused for good     that refusal is the answer
    C  another try is safe and may help, tries left    try again on the same parent
    D  another try is safe and may help, none left     halt, and keep looking
    E  no other try, a round may still run             keep looking
    F  no other try, all rounds are over               halt, and keep looking

    Another try is safe where the parent is named, for two on one parent cannot both land. It may
    help unless one was refused for good, or all were answered that the parent is stale.
    """
    if dead:
        return "B" if for_good else "A"
    if may_try and not for_good:
        return "C" if tries_left else "D"
    return "E" if may_run else "F"


def try_anew(
    lane: ContractLane, slot: v.Slot, dead: list[v.Attempt], latest: int, now_ms: int
) -> Decision:
    """Someone else's block is where ours would have gone: none of our tries can land there."""
    settings, stale_count = lane.settings, slot.stale_count + 1
    records = given_up(slot, dead, now_ms)
    if stale_count >= settings.stale_retries_max:
        reason = f"other writers took its block {stale_count} times"
        if settings.exhausted == "skip":
            return CoreDecision((*records, *settled(lane, "dead", now_ms, reason=reason)))
        # The next attempt waits for a person: a planned retry is not made while halted.
        again = v.RetryPlanned(slot.id, now_ms, reason, failed=False)
        return CoreDecision((*records, again, halted(reason, now_ms)))
    lifted = halt_lifted(lane, "it did not run", now_ms)
    wait_ms = backoff_ms(lane, lane.head.failures)
    if wait_ms > 0 or lane.head.mode == "paused":
        again = v.RetryPlanned(slot.id, now_ms + wait_ms, "", failed=False)
        return CoreDecision((*records, *lifted, again))
    offered = offer_on(lane, slot, latest, now_ms)
    return CoreDecision((*records, *lifted, *offered.records), offered.effects)


def given_up(slot: v.Slot, dead: list[v.Attempt], now_ms: int) -> tuple[v.Record, ...]:
    reason = "its parent was passed"
    return tuple(
        v.AttemptRefused(slot.id, attempt.number, AttemptWord.STALE, reason, now_ms)
        for attempt in dead
    )


def try_again(lane: ContractLane, slot: v.Slot, open_: list[v.Attempt], now_ms: int) -> Decision:
    """On the same parent, so that at most one of the tries can land."""
    due_ms = slot.retry_ms
    if due_ms is None:
        due_ms = now_ms + backoff_ms(lane, lane.head.failures)
    records: list[v.Record] = [*doubts(slot, open_, now_ms)]
    if is_active(lane) and due_ms <= now_ms:
        offered = offer_on(lane, slot, open_[0].parent, now_ms)
        return CoreDecision((*records, *offered.records), offered.effects)
    search_ms = now_ms + lane.settings.search_ms
    if now_ms < due_ms:
        search_ms = min(search_ms, due_ms)
    if slot.retry_ms is None:
        records.append(v.RetryPlanned(slot.id, due_ms, "", failed=False))
    return CoreDecision((*records, v.SearchPlanned(slot.id, search_ms)))


def look_again(lane: ContractLane, slot: v.Slot, open_: list[v.Attempt], now_ms: int) -> Decision:
    later = v.SearchPlanned(slot.id, now_ms + lane.settings.search_ms)
    return CoreDecision((*doubts(slot, open_, now_ms), later))


def halt_unknown(lane: ContractLane, slot: v.Slot, open_: list[v.Attempt], now_ms: int) -> Decision:
    later = look_again(lane, slot, open_, now_ms)
    if lane.head.halted:
        return later
    reason = (
        f"the outcome of {slot.intent} is unknown; it is settled when its block appears, "
        "or by a person who knows"
    )
    return CoreDecision((*later.records, halted(reason, now_ms)))


def doubts(slot: v.Slot, open_: list[v.Attempt], now_ms: int) -> tuple[v.Record, ...]:
    """An attempt that is out and has to be looked for lost its answer: the process restarted."""
    return tuple(
        v.AttemptDoubted(slot.id, attempt.number, False, "the process restarted", now_ms, False)
        for attempt in open_
        if attempt.is_out()
    )
