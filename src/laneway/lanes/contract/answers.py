"""What an answer of the host proves about the open slot. Silence proves nothing."""

from typing import assert_never

from laneway.core.outcome import AttemptWord, Outcome
from laneway.core.reason import clip
from laneway.core.records import Decision as CoreDecision
from laneway.lanes.contract.lane import ContractLane
from laneway.lanes.contract.tries import (
    NOTHING,
    Decision,
    backoff_ms,
    find,
    halt_lifted,
    is_active,
    may_land,
    offer_on,
    open_attempts,
    settled,
)
from laneway.lanes.contract.values import (
    Attempt,
    AttemptDoubted,
    AttemptRefused,
    ExecutionReturned,
    HeightRead,
    RetryPlanned,
    SearchPlanned,
    Slot,
)


def judge_height(lane: ContractLane, event: HeightRead) -> Decision:
    slot = lane.slot
    if slot is None or slot.id != event.slot or slot.retry_ms is not None or may_land(lane):
        return NOTHING  # A late answer: the slot has gone on without it.
    if event.height is None:
        wait_ms = backoff_ms(lane, lane.head.failures + 1)
        reason = clip(event.reason)
        return CoreDecision((RetryPlanned(slot.id, event.now_ms + wait_ms, reason, failed=True),))
    if not is_active(lane):
        # It is read again when the lane goes on: a height ages.
        return CoreDecision((RetryPlanned(slot.id, event.now_ms, "", failed=False),))
    return offer_on(lane, slot, max(event.height, lane.head.floor), event.now_ms)


def judge_answer(lane: ContractLane, event: ExecutionReturned) -> Decision:
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
    now_ms, reason = event.now_ms, clip(event.reason)
    refused = AttemptRefused(
        slot.id, attempt.number, AttemptWord.REFUSED, reason, now_ms, event.final
    )
    others = [other for other in open_attempts(lane) if other is not attempt]
    if any(other.is_out() for other in others):
        return CoreDecision((refused,))  # The other one's own answer is still to come.
    if others:
        # This try is dead, but an earlier one may still land: only the chain can tell.
        return CoreDecision((refused, SearchPlanned(slot.id, None)), (find(lane, slot),))
    if event.final:
        number = attempt.number
        return CoreDecision(settled(lane, "refused", now_ms, attempt=number, reason=reason))
    if slot.final_reason is not None:
        # Nothing can land any more, and an earlier refusal was for good.
        ended = settled(lane, "refused", now_ms, reason=slot.final_reason)
        return CoreDecision((refused, *ended))
    wait_ms = backoff_ms(lane, lane.head.failures + 1)
    lifted = halt_lifted(lane, "it did not run", now_ms)
    again = RetryPlanned(slot.id, now_ms + wait_ms, reason, failed=False)
    return CoreDecision((refused, *lifted, again))


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
    if attempt.doubted and (attempt.stale or not stale):
        return NOTHING  # It is being looked for already.
    failed = not stale and not attempt.doubted
    doubted = AttemptDoubted(slot.id, attempt.number, stale, clip(reason), now_ms, failed)
    if any(other.is_out() for other in open_attempts(lane) if other is not attempt):
        return CoreDecision((doubted,))  # The other one's own answer is still to come.
    return CoreDecision((doubted, SearchPlanned(slot.id, None)), (find(lane, slot),))
