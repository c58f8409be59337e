"""What an operator's words would do, and what may be retried, in words for people."""

from typing import Literal, assert_never

from laneway.core.errors import RetryUnfit
from laneway.lanes.contract.show import is_proven_dead
from laneway.ports import IntentView
from laneway.wire.times import to_time
from laneway.wire.values import DeadLetter, Lane, SettleWord


def dead_letter(view: IntentView) -> DeadLetter:
    row, result = view.intent, view.result
    assert result is not None
    return DeadLetter(
        id=row.id,
        lane=row.lane,
        reason=result.reason,
        accepted_at=to_time(row.accepted_ms),
        settled_at=to_time(result.settled_ms),
    )


def check_retry(view: IntentView) -> None:
    """Nothing may stand in the place of what was done, or may still be done."""
    if view.result is None:
        raise RetryUnfit(view.intent.id, "it is not final yet")
    if not is_proven_dead(view.result.status):
        reason = f"it is {view.result.status}; only what is proven dead can be done anew"
        raise RetryUnfit(view.intent.id, reason)


def cancel_effect(view: IntentView) -> str:
    if view.open:
        return "refused while it executes; taken back only if every try of it was refused"
    return "it would never be executed; what waits behind it moves up"


def settle_effect(lane: Lane, said: SettleWord) -> str:
    if lane.state != "halted":
        return "refused: the lane is not halted, and finds out by itself"
    match said:
        case "executed":
            return "it would be confirmed by your word, and the lane goes on"
        case "not_executed":
            return "it would be tried again, or be refused if a try was refused for good"
        case "skip":
            return "it would be given up as dead, and the lane goes on"
        case _:
            assert_never(said)


def lane_effect(lane: Lane, verb: Literal["pause", "resume", "drain"], mode: str) -> str:
    match verb:
        case "pause":
            return f"starts nothing more; {lane.running} running ends, {lane.waiting} stay queued"
        case "resume":
            if lane.state == "halted":
                return f"goes on if no try can still land; it is halted: {lane.reason}"
            return f"goes on with {lane.waiting} queued"
        case "drain":
            if mode == "running":
                return f"finishes {lane.running} running, then pauses; {lane.waiting} stay queued"
            return f"finishes {lane.running} running and {lane.waiting} queued, then pauses"
        case _:
            assert_never(verb)
