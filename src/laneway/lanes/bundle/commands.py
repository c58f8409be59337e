"""What an operator tells a bundle lane."""

from laneway.core.limits import NAME_BYTES_MAX
from laneway.core.outcome import Status
from laneway.core.reason import clip
from laneway.core.rows import Command, taken
from laneway.lanes.bundle.draft import Draft
from laneway.lanes.bundle.values import CommandRefused, IntentDropped, ModeChanged


def judge_command(draft: Draft, command: Command) -> None:
    match command.verb:
        case "pause":
            change_mode(draft, "paused", command)
        case "resume":
            change_mode(draft, "running", command)
        case "drain":
            drain(draft, command)
        case "cancel":
            cancel(draft, command)
        case verb:
            refuse(draft, command, f"a bundle lane knows no {verb}")


def refuse(draft: Draft, command: Command, reason: str) -> None:
    verb = clip(command.verb, NAME_BYTES_MAX)
    draft.say(CommandRefused(verb, clip(reason), command.intent))


def change_mode(draft: Draft, mode: str, command: Command, seq: int = 0, left: int = 0) -> None:
    reason, by = clip(command.reason), clip(command.by, NAME_BYTES_MAX)
    draft.say(ModeChanged(mode, reason, by, draft.now_ms, seq, left))


def drain(draft: Draft, command: Command) -> None:
    """Finish the queue as it stands, or only what is in a block, and begin nothing more."""
    lane, head = draft.lane, draft.lane.head
    match command.word:
        case "queue":
            # Places have no gaps, so those that are in no block yet are easily counted.
            seq = max(command.seq, head.dropped_seq, *head.cursors)
            inside = sum([len(members) for members in lane.members.values()])
            left = seq - head.settled_count - inside - len(lane.returned)
        case "running":
            seq = left = 0
        case _:
            refuse(draft, command, "a lane drains its 'queue' or what is 'running'")
            return
    change_mode(draft, "draining", command, seq, left)


def cancel(draft: Draft, command: Command) -> None:
    """What is in no block is taken back; a block that is sealed never changes."""
    lane = draft.lane
    if command.intent is None:
        refuse(draft, command, "it names no intent")
    elif command.word:
        # The store tells each word on an intent once; two cancels must not differ by theirs.
        refuse(draft, command, "a cancel takes no word")
    elif command.intent in lane.bound:
        refuse(draft, command, "it is in a block, which never changes")
    elif command.intent in lane.returned or command.seq > taken(
        lane.head.cursors, command.priority
    ):
        draft.say(
            IntentDropped(
                intent=command.intent,
                seq=command.seq,
                priority=command.priority,
                size=command.size,
                status=Status.CANCELLED.value,
                reason=clip(command.reason),
                at_ms=draft.now_ms,
                passes=False,
            )
        )
    else:
        refuse(draft, command, "it is final already")
