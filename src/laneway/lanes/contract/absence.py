"""What a look at the chain proves. That our block is not there proves little."""

from typing import Literal, TypeAlias, assert_never

from laneway.core.outcome import AttemptWord
from laneway.core.records import Decision as CoreDecision
from laneway.lanes.contract.lane import ContractLane
from laneway.lanes.contract.tries import (
    NOTHING,
    Decision,
    backoff_ms,
    halt_lifted,
    halted,
    is_active,
    offer_on,
    open_attempts,
    settled,
)
from laneway.lanes.contract.values import (
    Attempt,
    AttemptDoubted,
    AttemptRefused,
    Record,
    RetryPlanned,
    SearchPlanned,
    SearchReturned,
    Slot,
)
from laneway.lanes.limits import ATTEMPTS_OPEN_MAX

Row: TypeAlias = Literal["A", "B", "C", "D", "E", "F"]


def judge_search(lane: ContractLane, event: SearchReturned) -> Decision:
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
    lane: ContractLane, slot: Slot, open_: list[Attempt], latest: int, now_ms: int
) -> Decision:
    settings = lane.settings
    told_stale = all(attempt.stale for attempt in open_)
    bound = all(attempt.bound for attempt in open_)
    row = absence_row(
        # The block behind the parent is someone else's: a bound try cannot land any more, and
        # what a host picked a parent for is dead when the host itself said so.
        dead=latest > open_[0].parent and all(tried.bound or tried.stale for tried in open_),
        for_good=slot.final_reason is not None,
        # Where the parent is said to be stale, one more try on it is idle: the chain must show it.
        may_try=settings.takes_parent and bound and not told_stale,
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
    help unless one was refused for good, or all were told that the parent is stale.
    """
    if dead:
        return "B" if for_good else "A"
    if may_try and not for_good:
        return "C" if tries_left else "D"
    return "E" if may_run else "F"


def try_anew(
    lane: ContractLane, slot: Slot, dead: list[Attempt], latest: int, now_ms: int
) -> Decision:
    """Someone else's block is where ours would have gone: none of our tries can land there."""
    settings, stale_count = lane.settings, slot.stale_count + 1
    records = given_up(slot, dead, now_ms)
    if stale_count >= settings.stale_retries_max:
        reason = f"other writers took its block {stale_count} times"
        if settings.exhausted == "skip":
            return CoreDecision((*records, *settled(lane, "dead", now_ms, reason=reason)))
        # The next attempt waits for a person: a planned retry is not made while halted.
        again = RetryPlanned(slot.id, now_ms, reason, failed=False)
        return CoreDecision((*records, again, halted(reason, now_ms)))
    lifted = halt_lifted(lane, "it did not run", now_ms)
    wait_ms = backoff_ms(lane, lane.head.failures)
    if wait_ms > 0 or lane.head.mode == "paused":
        again = RetryPlanned(slot.id, now_ms + wait_ms, "", failed=False)
        return CoreDecision((*records, *lifted, again))
    offered = offer_on(lane, slot, latest, now_ms)
    return CoreDecision((*records, *lifted, *offered.records), offered.effects)


def given_up(slot: Slot, dead: list[Attempt], now_ms: int) -> tuple[Record, ...]:
    reason = "its parent was passed"
    return tuple(
        AttemptRefused(slot.id, attempt.number, AttemptWord.STALE, reason, now_ms)
        for attempt in dead
    )


def try_again(lane: ContractLane, slot: Slot, open_: list[Attempt], now_ms: int) -> Decision:
    """On the same parent, so that at most one of the tries can land."""
    due_ms = slot.retry_ms
    if due_ms is None:
        due_ms = now_ms + backoff_ms(lane, lane.head.failures)
    records: list[Record] = [*doubts(slot, open_, now_ms)]
    if is_active(lane) and due_ms <= now_ms:
        offered = offer_on(lane, slot, open_[0].parent, now_ms)
        return CoreDecision((*records, *offered.records), offered.effects)
    search_ms = now_ms + lane.settings.search_ms
    if now_ms < due_ms:
        search_ms = min(search_ms, due_ms)
    if slot.retry_ms is None:
        records.append(RetryPlanned(slot.id, due_ms, "", failed=False))
    return CoreDecision((*records, SearchPlanned(slot.id, search_ms)))


def look_again(lane: ContractLane, slot: Slot, open_: list[Attempt], now_ms: int) -> Decision:
    later = SearchPlanned(slot.id, now_ms + lane.settings.search_ms)
    return CoreDecision((*doubts(slot, open_, now_ms), later))


def halt_unknown(lane: ContractLane, slot: Slot, open_: list[Attempt], now_ms: int) -> Decision:
    later = look_again(lane, slot, open_, now_ms)
    if lane.head.halted:
        return later
    reason = (
        f"the outcome of {slot.intent} is unknown; it is settled when its block appears, "
        "or by a person who knows"
    )
    return CoreDecision((*later.records, halted(reason, now_ms)))


def doubts(slot: Slot, open_: list[Attempt], now_ms: int) -> tuple[Record, ...]:
    """Whoever must look for an attempt that is out has lost its answer: the process restarted."""
    return tuple(
        AttemptDoubted(slot.id, attempt.number, False, "the process restarted", now_ms, False)
        for attempt in open_
        if attempt.is_out()
    )
