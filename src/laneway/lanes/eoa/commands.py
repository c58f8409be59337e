"""An operator's or a caller's command to the lane; each is answered by a record."""

from msgspec import Struct

from laneway.core.limits import NAME_BYTES_MAX
from laneway.core.outcome import Status
from laneway.core.reason import clip
from laneway.core.rows import Command
from laneway.lanes.common.commands import (
    FINAL_ALREADY,
    cancelled,
    drained,
    is_taken,
    mode_changed,
    refusal,
    unfit_cancel,
)
from laneway.lanes.eoa import values as v
from laneway.lanes.eoa.answers import dropped, fall_out, falls_out
from laneway.lanes.eoa.lane import EoaLane
from laneway.lanes.eoa.limits import ATTEMPTS_MAX, GAP_NUMBERS_MAX
from laneway.lanes.eoa.rows import Content, Purpose, Slot
from laneway.lanes.eoa.timers import bump
from laneway.lanes.eoa.tries import Decision, decided, look, make


def judge_command(lane: EoaLane, command: Command, now_ms: int) -> Decision:
    match command.verb:
        case "pause":
            return decided([mode_changed("paused", command, now_ms)])
        case "resume":
            return go_on(lane, command, now_ms)
        case "drain":
            begun = len(lane.bound) + len(lane.returned)
            mode = drained(lane.head, command, now_ms, begun=begun, is_idle=not begun)
            return decided([mode])
        case "cancel":
            return cancel(lane, command, now_ms)
        case "bump":
            return dearer(lane, command)
        case "replace":
            return put_instead(lane, command)
        case "reset-nonce":
            return reset(lane, command, now_ms)
        case verb:
            return refused(command, f"an account's lane has no command {verb!r}")


def refused(command: Command, reason: str) -> Decision:
    return decided([refusal(command, reason)])


# The lane.


def go_on(lane: EoaLane, command: Command, now_ms: int) -> Decision:
    """Run again after a pause or a drain; also out of funds, as the operator may know
    of a top-up before the next look, or that a larger transaction set the threshold."""
    records: list[v.Record] = [mode_changed("running", command, now_ms)]
    effects: list[v.Effect] = []
    if lane.head.broke:
        records.append(v.FundsJudged(False, b""))
        if lane.delayed:
            records.append(v.MakingResumed())
            effects += [make(lane, lane.slots[one]) for one in lane.delayed]
    return decided(records, effects)


# One intent.


def is_final(lane: EoaLane, command: Command) -> bool:
    """Whether it was taken from the backlog, and neither has a number nor waits for one again."""
    return command.intent not in lane.returned and is_taken(lane.head, command)


def cancel(lane: EoaLane, command: Command, now_ms: int) -> Decision:
    """Waiting: it never gets a number. Bound: a no-op at its number, never a hole."""
    unfit = unfit_cancel(command)
    if unfit is not None:
        return decided([unfit])
    slot = lane.slot_of(command.intent)
    if slot is None:
        if is_final(lane, command):
            return refused(command, FINAL_ALREADY)
        return decided([cancelled(command, now_ms)])
    if slot.seen is not None:
        return refused(command, f"it was mined in block {slot.seen.block}")
    reason = clip(command.reason)
    if lane.head.halted and slot.nonce == lane.head.halted_nonce:
        return decided([released(lane, slot, reason, now_ms)])
    if slot.purpose == Purpose.CANCEL:
        return refused(command, "it is being taken back already")
    if falls_out(lane, slot):
        return fall_out(lane, slot, reason, now_ms, [], status=Status.CANCELLED.value)
    if not lane.tries(slot.id):
        # Nothing of it was ever signed. Its number is filled by the next one, or by a no-op.
        return decided([dropped(lane, slot, Status.CANCELLED.value, reason, now_ms)])
    return bump(lane, slot, reason, Purpose.CANCEL)


def released(lane: EoaLane, slot: Slot, reason: str, now_ms: int) -> v.SlotDropped:
    """A halted lane's slot is given up: its number is used and nothing shows by what, or it is far
    above the account's count; a no-op could not land there either. If bytes of it were signed,
    they may be what used it, or land one day, and "cancelled" could be retried."""
    status = Status.INDETERMINATE if lane.tries(slot.id) else Status.CANCELLED
    why = "was used by no transaction that a node shows"
    if slot.nonce - lane.head.latest > GAP_NUMBERS_MAX:
        why = f"is far above the account's count of {lane.head.latest}"
    reason = clip(f"its nonce {slot.nonce} {why}; {reason}")
    return dropped(lane, slot, status.value, reason, now_ms, recycle=False)


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
        return refused(command, FINAL_ALREADY)
    if slot is not None and (why := unreplaceable(lane, slot)) is not None:
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
    replaced = v.ContentReplaced(content, reason, by)
    if slot is None:
        return decided([replaced])
    order = bump(lane, slot, reason, Purpose.INTENT, content)
    return decided([replaced, *order.records], order.effects)


def unreplaceable(lane: EoaLane, slot: Slot) -> str | None:
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
    """The account's count, as the chain last showed it."""
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
    done = v.NoncesReset(plan.becomes, now_ms, reason, by)
    stuck = lane.slot_at(lane.head.halted_nonce) if lane.head.halted else None
    if stuck is not None and (stuck.intent is None or stuck.purpose == Purpose.CANCEL):
        # No intent is left to cancel there, and a no-op will never land. The next look is soon.
        return decided([released(lane, stuck, reason, now_ms), done])
    if lane.head.looking:
        return decided([done])
    return decided([done, v.LookBegun()], [look(lane)])
