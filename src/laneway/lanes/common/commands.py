"""What a command means in every lane, and when an intent is too old for its turn."""

from laneway.core.intent import IntentRow
from laneway.core.limits import NAME_BYTES_MAX
from laneway.core.outcome import Status
from laneway.core.reason import clip
from laneway.core.rows import Command, taken
from laneway.lanes.common.heads import CountedHead, Drainable
from laneway.lanes.common.values import CommandRefused, IntentDropped, ModeChanged

FINAL_ALREADY = "it is final already"

LATE = "it was valid no longer when its turn came"


def refusal(command: Command, reason: str) -> CommandRefused:
    return CommandRefused(clip(command.verb, NAME_BYTES_MAX), clip(reason), command.intent)


def mode_changed(
    mode: str, command: Command, now_ms: int, drain_seq: int = 0, drain_left: int = 0
) -> ModeChanged:
    reason, by = clip(command.reason), clip(command.by, NAME_BYTES_MAX)
    return ModeChanged(mode, reason, by, now_ms, drain_seq, drain_left)


def drained(
    head: Drainable, command: Command, now_ms: int, *, begun: int, is_idle: bool
) -> ModeChanged | CommandRefused:
    """Finish the queue as it stands, or only what has begun, and start nothing more. `begun` are
    intents that were taken from the backlog and do not count as still to come; a lane that
    `is_idle` has nothing but its backlog."""
    match command.word:
        case "queue":
            # Sequences have no gaps, so those that are still to come are easily counted.
            seq = max(command.seq, head.dropped_seq, *head.cursors)
            left = seq - head.settled_count - begun
        case "running":
            seq = left = 0
        case _:
            return refusal(command, "a lane drains its 'queue' or what is 'running'")
    if is_idle and not left:
        return mode_changed("paused", command, now_ms)
    return mode_changed("draining", command, now_ms, seq, left)


# One intent.


def unfit_cancel(command: Command) -> CommandRefused | None:
    """The refusal of a cancel that no lane can follow; None if it names an intent, and no more."""
    if command.intent is None:
        return refusal(command, "it names no intent")
    if command.word:
        # The store keeps each command on an intent once; two cancels must not differ by a word.
        return refusal(command, "a cancel takes no word")
    return None


def is_taken(head: CountedHead, command: Command) -> bool:
    """Whether the intent of a command was taken from the backlog."""
    return command.seq <= taken(head.cursors, command.priority)


def cancelled(command: Command, now_ms: int) -> IntentDropped:
    """The end of an intent that waits, by an operator's command."""
    assert command.intent is not None
    return IntentDropped(
        command.intent,
        command.seq,
        command.priority,
        command.size,
        Status.CANCELLED.value,
        clip(command.reason),
        now_ms,
        passes=False,
    )


def is_expired(intent: IntentRow, now_ms: int) -> bool:
    return intent.valid_until_ms is not None and intent.valid_until_ms < now_ms


def expiry_of(intent: IntentRow, now_ms: int, reason: str = LATE) -> IntentDropped:
    """The end of an intent whose turn came too late."""
    return IntentDropped(
        intent.id,
        intent.seq,
        intent.priority,
        intent.size(),
        Status.EXPIRED.value,
        reason,
        now_ms,
    )
