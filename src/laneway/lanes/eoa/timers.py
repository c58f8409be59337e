"""What is due: another look, bytes made or offered again, numbers given anew, a higher fee."""

from laneway.lanes.common.timers import earliest, is_due
from laneway.lanes.common.values import ModeChanged
from laneway.lanes.eoa import values as v
from laneway.lanes.eoa.claims import is_drained, is_running, no_op, retake
from laneway.lanes.eoa.fees import bumped
from laneway.lanes.eoa.lane import EoaLane, replace
from laneway.lanes.eoa.limits import ATTEMPTS_MAX, REMINDED_MAX
from laneway.lanes.eoa.rows import Content, Purpose, Slot
from laneway.lanes.eoa.tries import (
    NOTHING,
    TRIED_OUT,
    Decision,
    decided,
    look,
    make,
    market,
    reoffer,
    send_again,
)

STOOD_STILL = "its number stood still for too long"
"""Why a dearer attempt is ordered that nobody asked for."""


def retake_ms(lane: EoaLane) -> int | None:
    """When returned intents and free numbers are looked after; None while there are neither. Free
    numbers for which no time was noted are looked after at once: those above wait for them."""
    has_work = bool(lane.returned) or lane.free.count > 0
    return (lane.head.retake_ms or 0) if has_work and is_running(lane) else None


def make_ms(lane: EoaLane) -> int | None:
    return lane.head.make_ms if lane.delayed and lane.head.mode != "paused" else None


def resend_ms(lane: EoaLane) -> int | None:
    return lane.head.resend_ms if lane.unsure else None


def stalled(lane: EoaLane) -> Slot | None:
    """The lowest number that is neither mined nor promised by a flashblock, if its bytes are out
    and no others are being made: only it is worth a higher fee."""
    slot = lane.slot_at(max(lane.head.latest, lane.head.preconfirmed))
    if slot is None or slot.seen is not None or not lane.tries(slot.id):
        return None
    is_held_back = slot.nonce >= lane.head.offered_next
    return None if is_held_back or (slot.making and not slot.delayed) else slot


def bump_ms(lane: EoaLane) -> int | None:
    slot = stalled(lane)
    if slot is None:
        return None
    return max(slot.tried_ms, lane.head.health.moved_ms) + lane.settings.bump_after_ms


def gap_ms(lane: EoaLane) -> int | None:
    """The chain waits for a number that nobody has: someone else's transaction was there, and a
    reorg took it back. Those above it wait for ever unless it is filled. A free number is no gap:
    it is looked after by `retake`."""
    head = lane.head
    if head.nonce_next is None or head.latest >= head.nonce_next or not lane.slots:
        return None
    if head.latest in lane.nonces or head.latest in lane.free or not is_running(lane):
        return None
    return head.health.moved_ms + lane.settings.bump_after_ms


def expire_ms(lane: EoaLane) -> int | None:
    """When the next intent may not be offered any more; in a paused lane as in any other."""
    return min(lane.dated.values()) + 1 if lane.dated else None


def funded_ms(lane: EoaLane) -> int | None:
    """Due at once when what the account could not pay has gone: it was cancelled, or replaced."""
    poor = lane.head.health.poor_slot
    return 0 if lane.head.broke and poor and poor not in lane.slots else None


def drained_ms(lane: EoaLane) -> int | None:
    return lane.head.mode_ms if is_drained(lane) else None


def deadline(lane: EoaLane) -> int | None:
    return earliest((
        drained_ms(lane),
        expire_ms(lane),
        funded_ms(lane),
        lane.head.poll_ms,
        retake_ms(lane),
        make_ms(lane),
        resend_ms(lane),
        bump_ms(lane),
        gap_ms(lane),
    ))  # fmt: skip


def judge_head(lane: EoaLane, now_ms: int) -> Decision:
    """A new block is looked into at once, not at the next poll, unless blocks come too quickly."""
    head = lane.head
    if head.looking or not lane.slots or now_ms < head.read_ms + lane.settings.look_ms_min:
        return NOTHING
    return decided([v.LookBegun()], [look(lane)])


def judge_timer(lane: EoaLane, now_ms: int) -> Decision:
    records: list[v.Record] = []
    effects: list[v.Effect] = []
    if is_due(drained_ms(lane), now_ms):
        records.append(ModeChanged("paused", lane.head.reason, lane.head.by, now_ms))
    if is_due(funded_ms(lane), now_ms):
        records.append(v.FundsJudged(False, lane.head.health.threshold))
    if is_due(lane.head.poll_ms, now_ms):
        records.append(v.LookBegun())
        effects.append(look(lane))
    pressed = press(lane, now_ms) if is_due(bump_ms(lane), now_ms) else NOTHING
    if is_due(resend_ms(lane), now_ms):
        records.append(v.ResendPlanned(None))
        effects += resends(lane, pressed)
    if is_due(make_ms(lane), now_ms):
        records.append(v.MakingResumed())
        effects += [make(lane, lane.slots[one]) for one in lane.delayed]
    records += pressed.records
    effects += pressed.effects
    if is_due(gap_ms(lane), now_ms):
        filled = fill(lane, now_ms)
        records += filled.records
        effects += filled.effects
    elif is_due(retake_ms(lane), now_ms):
        again = retake(lane, now_ms)
        records += again.records
        effects += again.effects
    return decided(records, effects)


def resends(lane: EoaLane, pressed: Decision) -> list[v.SendAttempt]:
    """The same bytes to nodes that did not say, but for those that go to everyone now."""
    again = [(one.slot, one.number) for one in pressed.effects if isinstance(one, v.SendAttempt)]
    left = [place for place in offered(lane) if place not in again]
    return [send_again(lane, lane.attempts[slot][number]) for slot, number in left]


def press(lane: EoaLane, now_ms: int) -> Decision:
    """The lowest number stood still: it is made dearer, as often as one number may be, if a node
    had its bytes and blocks went by without them. Bytes that no node had, or that a majority
    refuses for good, are not too cheap: the same go out again, and so they do where no dearer
    attempt can or may be made. A no-op that every node refused is made anew."""
    slot = stalled(lane)
    assert slot is not None
    above = remind(lane, slot)
    last, live = lane.last(slot.id), lane.live(slot.id)
    assert last is not None
    assert live is not None
    is_tried_out = len(lane.tries(slot.id)) >= ATTEMPTS_MAX
    is_passed_over = last.was_had() and not last.is_outvoted() and lane.head.block > last.block
    is_void = slot.purpose != Purpose.INTENT and last.is_denied()
    may_be_made = not is_tried_out and not slot.delayed and is_running(lane)
    if may_be_made and (is_passed_over or is_void):
        dearer = bump(lane, slot, STOOD_STILL)
        return decided((*dearer.records, *above.records), (*dearer.effects, *above.effects))
    why = "" if slot.delayed else last.reason
    record, sends = reoffer(lane, live, now_ms, TRIED_OUT if is_tried_out else why)
    return decided((record, *above.records), (*sends, *above.effects))


def remind(lane: EoaLane, lowest: Slot) -> Decision:
    """What nodes had taken above a number that stands still is offered to them again: a node that
    was started again has forgotten all of it, and nothing else would bring it back. So is what all
    of them refuse for good: each of those is refused often enough before its turn comes."""
    records: list[v.Record] = []
    effects: list[v.Effect] = []
    below = lane.head.offered_next
    for nonce in sorted([one for one in lane.nonces if lowest.nonce < one < below]):
        slot = lane.slots[lane.nonces[nonce]]
        last = None if slot.seen is not None else lane.last(slot.id)
        if last is None or last.asked() or not lane.raw(last):
            continue  # What some node has not answered is offered again anyway.
        record, sends = reoffer(lane, last)
        records.append(record)
        effects += sends
        if len(effects) == REMINDED_MAX:
            break
    return decided(records, effects)


def fill(lane: EoaLane, now_ms: int) -> Decision:
    slot = no_op(lane.head.slot_next, lane.head.latest, now_ms)
    return decided([v.SlotClaimed(slot, returned=False)], [make(lane, slot)])


def offered(lane: EoaLane) -> list[tuple[int, int]]:
    """Attempts that were sent and that some node has not answered, in the order of numbers."""
    below = lane.head.offered_next
    found = [place for place in lane.unsure if lane.slots[place[0]].nonce < below]
    return sorted(found, key=lambda place: (lane.slots[place[0]].nonce, place[1]))


def bump(
    lane: EoaLane,
    slot: Slot,
    reason: str,
    purpose: str | None = None,
    content: Content | None = None,
) -> Decision:
    """A further attempt at the same number, dear enough to take the place of the last."""
    last = lane.last(slot.id)
    floor = slot.floor if last is None else bumped(last.fee, market(lane))
    order = v.BumpOrdered(
        slot=slot.id,
        purpose=purpose or slot.purpose,
        floor=floor,
        reason=reason,
        # Bytes for what it was to do before may still be made, also where they failed once: the
        # question was asked again after a reload. They must not be taken for these.
        number=slot.attempt_next + 1 if slot.making else slot.attempt_next,
        content=slot.content if content is None else content.count,
        intent=slot.intent,
    )
    made = replace(slot, purpose=order.purpose, floor=floor, making=True, attempt_next=order.number)
    return decided([order], [make(lane, made, None if content is None else content.payload)])
