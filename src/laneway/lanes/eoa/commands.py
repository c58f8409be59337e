"""An operator's or a caller's word to the lane; each is answered by a record."""

from msgspec import Struct

from laneway.core.limits import NAME_BYTES_MAX
from laneway.core.outcome import Status
from laneway.core.reason import clip
from laneway.core.rows import Command, taken
from laneway.lanes.eoa.answers import dropped, fall_out, falls_out
from laneway.lanes.eoa.lane import EoaLane
from laneway.lanes.eoa.limits import ATTEMPTS_MAX, GAP_NUMBERS_MAX
from laneway.lanes.eoa.rows import Content, Purpose, Slot
from laneway.lanes.eoa.timers import bump
from laneway.lanes.eoa.tries import Decision, look, make, said
from laneway.lanes.eoa.values import (
    CommandRefused,
    ContentReplaced,
    Effect,
    FundsJudged,
    IntentDropped,
    LookBegun,
    MakingResumed,
    ModeChanged,
    NoncesReset,
    Record,
    SlotDropped,
)


def judge_command(lane: EoaLane, command: Command, now_ms: int) -> Decision:
    match command.verb:
        case "pause":
            return said([mode_changed("paused", command, now_ms)])
        case "resume":
            return go_on(lane, command, now_ms)
        case "drain":
            return drain(lane, command, now_ms)
        case "cancel":
            return cancel(lane, command, now_ms)
        case "bump":
            return dearer(lane, command)
        case "replace":
            return put_instead(lane, command)
        case "reset-nonce":
            return reset(lane, command, now_ms)
        case verb:
            return refused(command, f"an account's lane knows no {verb}")


def refused(command: Command, reason: str) -> Decision:
    return said([CommandRefused(clip(command.verb, NAME_BYTES_MAX), clip(reason), command.intent)])


def mode_changed(mode: str, command: Command, now_ms: int, seq: int = 0, left: int = 0) -> Record:
    reason, by = clip(command.reason), clip(command.by, NAME_BYTES_MAX)
    return ModeChanged(mode, reason, by, now_ms, seq, left)


# The lane.


def go_on(lane: EoaLane, command: Command, now_ms: int) -> Decision:
    """After a pause or a drain; and out of funds by a person's word, who knows of a top-up before
    the next look, or that the threshold was learned from a larger transaction."""
    records: list[Record] = [mode_changed("running", command, now_ms)]
    effects: list[Effect] = []
    if lane.head.broke:
        records.append(FundsJudged(False, b""))
        if lane.delayed:
            records.append(MakingResumed())
            effects += [make(lane, lane.slots[one]) for one in lane.delayed]
    return said(records, effects)


def drain(lane: EoaLane, command: Command, now_ms: int) -> Decision:
    """Finish the queue as it stands, or only what has a number, and start nothing more."""
    head = lane.head
    match command.word:
        case "queue":
            # Sequences have no gaps, so those that have no number yet are easily counted.
            seq = max(command.seq, head.dropped_seq, *head.cursors)
            left = seq - head.settled_count - len(lane.bound) - len(lane.returned)
        case "running":
            seq = left = 0
        case _:
            return refused(command, "a lane drains its 'queue' or what is 'running'")
    if not left and not lane.bound and not lane.returned:
        return said([mode_changed("paused", command, now_ms)])
    return said([mode_changed("draining", command, now_ms, seq, left)])


# One intent.


def is_final(lane: EoaLane, command: Command) -> bool:
    """Whether it was taken from the backlog, and neither has a number nor waits for one again."""
    return command.intent not in lane.returned and command.seq <= taken(
        lane.head.cursors, command.priority
    )


def cancel(lane: EoaLane, command: Command, now_ms: int) -> Decision:
    """Waiting: it never gets a number. Bound: a no-op at its number, never a hole."""
    if command.intent is None:
        return refused(command, "it names no intent")
    if command.word:
        # The store tells each word on an intent once; two cancels must not differ by theirs.
        return refused(command, "a cancel takes no word")
    slot = lane.slot_of(command.intent)
    if slot is None:
        if is_final(lane, command):
            return refused(command, "it is final already")
        return said([waiting_dropped(lane, command, now_ms)])
    if slot.seen is not None:
        return refused(command, f"it was mined in block {slot.seen.block}")
    reason = clip(command.reason)
    if lane.head.halted and slot.nonce == lane.head.halted_nonce:
        return said([released(lane, slot, reason, now_ms)])
    if slot.purpose == Purpose.CANCEL:
        return refused(command, "it is being taken back already")
    if falls_out(lane, slot):
        return fall_out(lane, slot, reason, now_ms, [], status=Status.CANCELLED.value)
    if not lane.tries(slot.id):
        # Nothing of it was ever signed. Its number is filled by the next one, or by a no-op.
        return said([dropped(lane, slot, Status.CANCELLED.value, reason, now_ms)])
    return bump(lane, slot, reason, Purpose.CANCEL)


def released(lane: EoaLane, slot: Slot, reason: str, now_ms: int) -> SlotDropped:
    """A halted lane's slot is given up: its number is used and nothing shows by what, or it is far
    above the account's count; a no-op could not land there either. If bytes of it were signed,
    they may be what used it, or land one day, and "cancelled" could be retried."""
    word = Status.INDETERMINATE if lane.tries(slot.id) else Status.CANCELLED
    why = "was used by no transaction that a node shows"
    if slot.nonce - lane.head.latest > GAP_NUMBERS_MAX:
        why = f"is far above the account's count of {lane.head.latest}"
    told = clip(f"its nonce {slot.nonce} {why}; {reason}")
    return dropped(lane, slot, word.value, told, now_ms, recycle=False)


def waiting_dropped(lane: EoaLane, command: Command, now_ms: int) -> IntentDropped:
    assert command.intent is not None
    return IntentDropped(
        intent=command.intent,
        seq=command.seq,
        priority=command.priority,
        size=command.size,
        status=Status.CANCELLED.value,
        reason=clip(command.reason),
        at_ms=now_ms,
        returned=command.intent in lane.returned,
        passes=False,
    )


def dearer(lane: EoaLane, command: Command) -> Decision:
    if command.intent is None:
        return refused(command, "it names no intent")
    slot = lane.slot_of(command.intent)
    if slot is None or not lane.tries(slot.id):
        return refused(command, "nothing of it is out")
    if slot.seen is not None:
        return refused(command, f"it was mined in block {slot.seen.block}")
    if slot.making and not slot.delayed:
        return refused(command, "a further attempt is being made already")
    if len(lane.tries(slot.id)) >= ATTEMPTS_MAX:
        return refused(command, f"it has {ATTEMPTS_MAX} attempts; no dearer one is made")
    return bump(lane, slot, clip(command.reason))


def put_instead(lane: EoaLane, command: Command) -> Decision:
    """Other content for the same intent, at the same number: never a second nonce."""
    if command.intent is None:
        return refused(command, "it names no intent")
    slot = lane.slot_of(command.intent)
    if slot is None and is_final(lane, command):
        return refused(command, "it is final already")
    if slot is not None and (why := unfit(lane, slot)) is not None:
        return refused(command, why)
    before = lane.contents.get(command.intent)
    if before is not None and before.payload == command.payload:
        return refused(command, "it was replaced by this already")
    content = Content(
        intent=command.intent,
        seq=command.seq,
        priority=command.priority,
        count=1 if before is None else before.count + 1,
        payload=command.payload,
    )
    reason, by = clip(command.reason), clip(command.by, NAME_BYTES_MAX)
    told = ContentReplaced(content, reason, by)
    if slot is None:
        return said([told])
    order = bump(lane, slot, reason, Purpose.INTENT, content)
    return said([told, *order.records], order.effects)


def unfit(lane: EoaLane, slot: Slot) -> str | None:
    """Why the content of what has a number cannot be replaced."""
    if slot.seen is not None:
        return f"it was mined in block {slot.seen.block}"
    if len(lane.tries(slot.id)) >= ATTEMPTS_MAX:
        return f"it has {ATTEMPTS_MAX} attempts; no other one is made"
    return "it is being taken back" if slot.purpose == Purpose.CANCEL else None


# The numbers.


class ResetPlan(Struct, frozen=True):
    """What a reset of an account's numbers would do, and why no more."""

    nonce_next: int
    """The optimistic nonce now."""
    latest: int
    """The account's count, as the chain last said."""
    bound: int
    """Numbers that an intent or a no-op has."""
    bound_highest: int | None
    free: int
    """Numbers below the optimistic one that nobody has."""
    becomes: int
    forgotten: int
    """Free numbers that are nobody's afterwards."""

    def why(self) -> str:
        """Why it would not become lower."""
        if self.bound_highest is None or self.becomes > self.bound_highest + 1:
            return f"the chain counts {self.latest}, and nothing of ours is out above it"
        return (
            f"nonce {self.bound_highest} may still be mined: it is bound until every attempt of it "
            "is proven dead; cancel what has it, or wait"
        )


def plan_reset(lane: EoaLane) -> ResetPlan | None:
    """Back to what the chain says, and never below a number that someone may still use.

    A number that was offered stays bound to its slot until every node refused every attempt of it
    for good, so what no slot has is proven dead. None: the account was not read yet.
    """
    head = lane.head
    if head.nonce_next is None:
        return None
    highest = max(lane.nonces, default=None)
    becomes = head.latest if highest is None else max(head.latest, highest + 1)
    free = lane.free.first(lane.free.count)
    return ResetPlan(
        nonce_next=head.nonce_next,
        latest=head.latest,
        bound=len(lane.nonces),
        bound_highest=highest,
        free=len(free),
        becomes=becomes,
        forgotten=sum(1 for number in free if number >= becomes or number < head.latest),
    )


def reset(lane: EoaLane, command: Command, now_ms: int) -> Decision:
    plan = plan_reset(lane)
    if plan is None:
        return refused(command, "the account was not read yet")
    reason, by = clip(command.reason), clip(command.by, NAME_BYTES_MAX)
    done = NoncesReset(plan.becomes, now_ms, reason, by)
    stuck = lane.slot_at(lane.head.halted_nonce) if lane.head.halted else None
    if stuck is not None and (stuck.intent is None or stuck.purpose == Purpose.CANCEL):
        # No intent is left to cancel there, and a no-op will never land. The next look is soon.
        return said([released(lane, stuck, reason, now_ms), done])
    if lane.head.looking:
        return said([done])
    return said([done, LookBegun()], [look(lane)])
