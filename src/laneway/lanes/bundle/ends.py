"""Versions that came to nothing: another is wanted, or the block is dropped.

Another version is wanted only when all before it are dead on the chain and their time is over. A
block is dropped only when that cannot be taken back; its number goes to the next block, and what
was built on it goes with it.
"""

from collections.abc import Iterable

from laneway.core.jam import PackageKind
from laneway.core.outcome import Status
from laneway.core.reason import clip
from laneway.lanes.bundle import records as r
from laneway.lanes.bundle.blocks import RESUME, SEE_DOCS, halt
from laneway.lanes.bundle.draft import DecisionDraft
from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.limits import FAULTS_MAX, REASON_KEPT_BYTES_MAX
from laneway.lanes.bundle.packages import discard
from laneway.lanes.bundle.rows import (
    NOT_AUTHORISED,
    Answered,
    BlockState,
    FactKind,
    Slot,
    Version,
)
from laneway.lanes.bundle.standing import (
    before,
    current,
    is_accumulated,
    is_alone_at_fault,
    is_dead_for_good,
)
from laneway.lanes.bundle.tells import TAKEN_BACK, owe
from laneway.lanes.common.values import IntentDropped, ModeChanged

UNSETTLED = "its end is not final yet"
OVERDUE = "its accumulation is overdue"
UNAUTHORISED = (
    "not_authorised: the service takes no packages by this rollup's authorizer; set `authorizer` "
    f"to one that the service lists, start again, and {RESUME}"
)

TO_AUTHORISE = "set `authorizer` or its `signer`, start again, and resume the lane"
"""Ends a reason that nodes gave: this rollup's authorizer does not let its packages pass."""


def judge_ends(draft: DecisionDraft) -> None:
    """The lowest block first: those after it may depend on it."""
    for one in list(draft.lane.in_order()):
        slot = draft.lane.slots.get(one.id)
        if slot is None or draft.lane.words[slot.id] in (
            BlockState.BUILDING,
            BlockState.ACCUMULATED,
        ):
            continue
        slot = judge_overdue(draft, slot)
        if slot.queued:
            judge_queued(draft, slot)
        elif slot.id in draft.lane.over:
            judge_over(draft, slot)


def judge_overdue(draft: DecisionDraft, slot: Slot) -> Slot:
    """It was guaranteed and does not accumulate. Counted so often, and then left to the chain."""
    if slot.overdue_ms is None or slot.overdue_ms > draft.now_ms:
        return slot
    settings = draft.lane.settings
    overdue = slot.overdue + 1
    again_ms = draft.now_ms + settings.accumulate_timeout_ms
    overdue_ms = again_ms if overdue < settings.accumulate_timeouts_max else None
    reason = OVERDUE if slot.winner else slot.wait_reason
    return draft.change(r.OverdueCounted(slot.id, overdue, overdue_ms, reason))


def judge_queued(draft: DecisionDraft, slot: Slot) -> None:
    """A fork may have brought a version back that others have: then no other one is wanted."""
    lane = draft.lane
    alive = [one for one in lane.of(slot.id) if one.is_sent() and not one.is_dead()]
    if alive:
        for version in lane.of(slot.id):
            if not version.is_sent():
                discard(draft, slot, version, "an earlier version may land after all")
        draft.change(r.BlockRevived(slot.id))
    elif slot.is_hopeless and slot.making is None and can_drop(lane, slot):
        judge_hopeless(draft, slot)


def judge_hopeless(draft: DecisionDraft, slot: Slot) -> None:
    """No package can be made of it. As where no block can be built, less is tried, down to the
    transaction at fault, which is refused; several in a row are the builder's own trouble."""
    lane, reason = draft.lane, slot.wait_reason
    members, is_alone = lane.members[slot.id], is_alone_at_fault(lane, slot)
    if is_alone and lane.head.unpacked + 1 >= FAULTS_MAX:
        halt(
            draft,
            f"no package could be made of {FAULTS_MAX} transactions one after the other: "
            f"{clip(reason, REASON_KEPT_BYTES_MAX)}; fix the builder, and {RESUME}",
        )
        return
    let_go(draft, [slot, *dependants(lane, slot)], reason, unpackable=slot.id)
    if is_alone:
        (one,) = members
        why = clip(f"no package can be made of a block with it: {reason}")
        refused = (Status.REFUSED.value, why, draft.now_ms)
        draft.say(IntentDropped(one.intent, one.seq, one.priority, one.size, *refused))


def judge_over(draft: DecisionDraft, slot: Slot) -> None:
    lane = draft.lane
    gate = gate_ms(lane, slot)
    if gate is None or gate > draft.now_ms:
        return
    last = lane.of(slot.id)[-1]
    if not must_drop(lane, slot):
        fact = last.fact(FactKind.DEAD)
        own = fact is None or not fact.by_prerequisite
        reason, number = clip(reason_of(last), REASON_KEPT_BYTES_MAX), lane.head.event_next
        draft.change(r.BlockRequeued(slot.id, number, draft.now_ms, slot.faults + own, reason))
    elif can_drop(lane, slot):
        drop(draft, slot, reason_of(last))
    elif slot.wait_reason != UNSETTLED:
        draft.change(r.WaitChanged(slot.id, UNSETTLED))


def gate_ms(lane: BundleLane, slot: Slot) -> int | None:
    """When another version may be built, of a block whose versions are all dead. None: not by the
    time alone."""
    last = lane.of(slot.id)[-1]
    if last.is_refused or last.first_ms is None:
        return 0
    fact = last.fact(FactKind.DEAD)
    assert fact is not None
    if fact.by_prerequisite:
        # It goes with the block before it, which has another version or is to have one.
        found = before(lane, slot)
        waits = found is not None and not found.queued and current(lane, found) is None
        return None if waits else 0
    if slot.overdue >= lane.settings.accumulate_timeouts_max and was_guaranteed(last):
        return 0
    if slot.overdue_ms is not None and was_guaranteed(last):
        return slot.overdue_ms
    # A fork may have taken the winner's report back, and with it the time it was waited for.
    return last.first_ms + lane.settings.guarantee_wait_ms()


def was_guaranteed(version: Version) -> bool:
    """Whether it may have waited for its accumulation: it was reported, its report was not dropped
    for want of validators that had it, and the service was not given it."""
    if version.fact(FactKind.REPORTED) is None or version.fact(FactKind.REFUSED) is not None:
        return False
    failed = version.fact(FactKind.FAILED)
    return failed is None or not failed.words.startswith(PackageKind.UNAVAILABLE.value)


def must_drop(lane: BundleLane, slot: Slot) -> bool:
    """Whether no other version is tried: there were enough, or none can land."""
    last = lane.of(slot.id)[-1]
    fact = last.fact(FactKind.DEAD)
    if slot.is_hopeless or last.is_hopeless or (fact is not None and fact.is_hopeless):
        return True
    own = fact is None or not fact.by_prerequisite
    return own and slot.faults + 1 >= lane.settings.max_version_retries


def can_drop(lane: BundleLane, slot: Slot) -> bool:
    return all(is_dead_for_good(lane, version) for version in lane.of(slot.id) if version.is_sent())


def over_ms(lane: BundleLane, slot: Slot) -> int | None:
    """When the time of a block whose versions are dead is over; None: time alone does nothing."""
    if must_drop(lane, slot) and not can_drop(lane, slot):
        return None
    return gate_ms(lane, slot)


def reason_of(version: Version) -> str:
    """Why it came to nothing. That its anchor grew too old follows from what nodes said before."""
    for one in () if version.is_held else version.answers:
        if is_unauthorised(one):
            return f"{one.kind}: {one.words} ({one.node}); {TO_AUTHORISE}"
    fact = version.fact(FactKind.DEAD)
    if fact is not None:
        return fact.words
    return "; ".join(f"{one.node}: {one.kind} {one.words}".strip() for one in version.answers)


def is_unauthorised(answer: Answered) -> bool:
    """Whether a node refused a package for its authorizer, and not for what is in it."""
    if answer.kind == PackageKind.REFINE_FAILED.value:
        return "authorizer" in answer.words
    return answer.kind == PackageKind.UNAUTHORIZED.value


# Dropping.


def drop(draft: DecisionDraft, slot: Slot, reason: str) -> None:
    """The block and those that were built on it. Their transactions keep their order."""
    lane = draft.lane
    let_go(draft, [slot, *dependants(lane, slot)], reason, cause=slot.id)
    if reason.upper() == NOT_AUTHORISED:
        # The next block would be refused for the same reason, and the one after it.
        draft.say(ModeChanged("halted", UNAUTHORISED, "", draft.now_ms))
    elif reason.endswith(TO_AUTHORISE):
        draft.say(ModeChanged("halted", clip(reason), "", draft.now_ms))
    elif lane.head.drops >= lane.settings.drops_max:
        kept = clip(reason, REASON_KEPT_BYTES_MAX)
        why = f"{lane.head.drops} blocks were dropped one after the other: {kept}; {SEE_DOCS}"
        draft.say(ModeChanged("halted", clip(why), "", draft.now_ms))


def let_go(
    draft: DecisionDraft,
    slots: Iterable[Slot],
    reason: str,
    *,
    cause: int = 0,
    unpackable: int = 0,
) -> None:
    """Drop blocks that can have no effect, the lowest first. `cause` is the one that is at fault,
    `unpackable` one of which no package can be made."""
    for one in slots:
        if one.told:
            owe(draft, one, "restored", TAKEN_BACK)
        if not one.building:
            owe(draft, one, "failed", reason)
        draft.say(
            r.BlockDropped(one.id, reason, draft.now_ms, one.id == cause, one.id == unpackable)
        )


def dependants(lane: BundleLane, slot: Slot) -> list[Slot]:
    """Blocks after it that had no effect yet. Its service takes none of them without it; one that
    takes blocks as they come may still take what is out, so that stays."""
    return [
        one
        for one in lane.in_order()
        if one.number > slot.number
        and not is_accumulated(lane, one)
        and (lane.settings.keeps_records or not is_out(lane, one))
    ]


def is_out(lane: BundleLane, slot: Slot) -> bool:
    return any(one.is_sent() and not one.is_dead() for one in lane.of(slot.id))
