"""The only code that changes an account's lane: one record at a time."""

from collections.abc import Iterable
from typing import TypeAlias, assert_never

from laneway.core.rows import Index, Result, Returned, RowKey, RowPut, Table, Touch, Touched
from laneway.core.units import value
from laneway.lanes.common import heads
from laneway.lanes.common.heads import encode
from laneway.lanes.common.values import CommandRefused, IntentDropped, ModeChanged
from laneway.lanes.eoa import values as v
from laneway.lanes.eoa.lane import (
    EoaLane,
    answered,
    drop_attempts,
    drop_content,
    drop_slot,
    free_number,
    index_slot,
    is_between,
    moved,
    note_date,
    put_attempt,
    put_content,
    put_raw,
    put_slot,
    replace,
    stale_contents,
    take_first,
    take_number,
    undate,
    use_up,
)
from laneway.lanes.eoa.limits import RESETS_KEPT
from laneway.lanes.eoa.rows import FIRST, Attempt, History, Slot


def evolve(lane: EoaLane, record: v.Record) -> Touched:
    """Fold one record into the lane; the rows it touched. The most frequent stand first."""
    match record:
        case v.SlotClaimed():
            return claim(lane, record)
        case v.AttemptSigned():
            return sign(lane, record)
        case v.SlotSettled():
            return settle(lane, record)
        case v.AttemptsTaken():
            return take_all(lane, record)
        case v.AttemptAnswered():
            return answer(lane, record)
        case v.SlotIncluded(slot=place, inclusion=inclusion):
            seen = replace(lane.slots[place], seen=inclusion, proving=False, wait_reason="")
            return (put_slot(lane, seen),)
        case v.SlotFellOut():
            return fall_out(lane, record)
        case v.AttemptReoffered():
            return reoffer(lane, record)
        case v.ResendPlanned(at_ms=resend_ms):
            lane.head.resend_ms = resend_ms
            return () if resend_ms is not None else doubt(lane)
        case v.MakingDelayed():
            return delay(lane, record)
        case v.MakingResumed():
            lane.head.make_ms = None
            made_again = [replace(lane.slots[one], delayed=False) for one in lane.delayed]
            return tuple([put_slot(lane, one) for one in made_again])
        case v.SlotFreed():
            return free(lane, record)
        case v.SlotDropped():
            return drop(lane, record)
        case v.BumpOrdered():
            return bump(lane, record)
        case v.ContentReplaced(content=content):
            return (put_content(lane, content),)
        case v.HeadMoved():
            return move_head(lane, record)
        case v.InclusionDenied(slot=place):
            return (put_slot(lane, replace(lane.slots[place], seen=None)),)
        case v.ProofOrdered(slot=place, proving=proving):
            return (put_slot(lane, replace(lane.slots[place], proving=proving)),)
        case IntentDropped():
            return drop_intent(lane, record)
        case v.AccountSeen() | v.Offered() | v.LookBegun() | v.LookEnded() | v.FundsJudged():
            return evolve_head(lane, record)
        case (
            v.NoncesReset() | v.NoncesCrowded() | v.CleanupDone() | ModeChanged() | CommandRefused()
        ):
            return evolve_head(lane, record)
        case v.ProofsPaced() | v.HaltJudged():
            return evolve_head(lane, record)
        case _:
            assert_never(record)


OfHead: TypeAlias = (
    v.AccountSeen | v.Offered | v.LookBegun | v.LookEnded | v.FundsJudged | v.NoncesReset
    | v.NoncesCrowded | v.CleanupDone | ModeChanged | CommandRefused | v.ProofsPaced | v.HaltJudged
)  # fmt: skip


def evolve_head(lane: EoaLane, record: OfHead) -> Touched:
    """Those that change the head alone."""
    head = lane.head
    match record:
        case v.AccountSeen():
            return see_account(lane, record)
        case v.Offered(next=number):
            head.offered_next = number
            undate(lane)
        case v.LookBegun():
            head.looking, head.poll_ms = True, None
        case v.LookEnded(poll_ms=poll_ms):
            head.looking, head.poll_ms = False, poll_ms
        case v.FundsJudged():
            judge_funds(lane, record)
        case v.NoncesReset(nonce_next=nonce_next, at_ms=at_ms):
            return reset(lane, nonce_next, at_ms)
        case v.CleanupDone(report=report):
            head.report = report
        case ModeChanged():
            heads.change_mode(head, record)
        case v.ProofsPaced(next_ms=next_ms, tries=tries):
            head.prove_ms, head.prove_tries = next_ms, tries
        case v.HaltJudged(nonce=nonce, reason=reason, at_ms=at_ms):
            head.halted, head.halted_nonce, head.halted_ms = reason, nonce, at_ms
        case CommandRefused() | v.NoncesCrowded():
            pass
        case _:
            assert_never(record)
    return ()


def judge_funds(lane: EoaLane, record: v.FundsJudged) -> None:
    head = lane.head
    head.broke = record.broke
    health = replace(head.health, threshold=record.threshold, broke_ms=record.at_ms)
    head.health = replace(health, needed=record.needed, poor_slot=record.slot)
    if not record.broke:
        # What waited for money is tried at once.
        head.make_ms = None if head.make_ms is None else min(head.make_ms, head.read_ms)
        head.retake_ms = None if head.retake_ms is None else min(head.retake_ms, head.read_ms)


def see_account(lane: EoaLane, record: v.AccountSeen) -> Touched:
    head = lane.head
    touched: list[Touch] = []
    while (lowest := lane.free.lowest()) is not None and lowest < record.latest:
        touched += take_number(lane, lowest)  # Someone else used it.
    if head.nonce_next is None:
        head.nonce_next = head.offered_next = record.latest
    # Others may have used numbers beyond ours; those are nobody's to give out.
    head.nonce_next = max(head.nonce_next, record.latest)
    if not lane.slots:
        # Nothing is out: only the chain's count is known, whatever others did, or a reorg undid.
        head.low = head.nonce_next = head.offered_next = record.latest
        for number in lane.free.first(lane.free.count):
            touched += take_number(lane, number)  # It is the next, or comes after the next.
    health = replace(head.health, balance=record.balance, balance_ms=record.at_ms)
    if record.filled:
        health = replace(health, filled_ms=record.at_ms)
    promised = max(record.latest, record.preconfirmed)
    if promised > max(head.latest, head.preconfirmed) or health.moved_ms == 0:
        health = replace(health, moved_ms=record.at_ms)
    head.health = health
    head.latest, head.preconfirmed = record.latest, record.preconfirmed
    if not lane.free.count and not lane.noops:
        head.noop_refusals, head.noop_reason = 0, ""  # There is nothing left to fill.
    head.base_fee, head.tip, head.read_ms = record.base_fee, record.tip, record.at_ms
    return tuple(touched)


def claim(lane: EoaLane, record: v.SlotClaimed) -> Touched:
    head, slot = lane.head, record.slot
    assert head.nonce_next is not None
    touched: list[Touch] = []
    head.slot_next = slot.id + 1
    if not lane.slots:
        head.taken_next = slot.id
    if record.returned:
        assert slot.intent is not None
        del lane.returned[slot.intent]
        touched.append(RowKey(Table.RETURNED, slot.intent))
    elif slot.intent is not None:
        head.cursors = heads.passed(head.cursors, slot.priority, slot.seq)
        if head.drain_left:
            head.drain_left -= 1
        if lane.contents:
            touched += stale_contents(lane, slot)
    if slot.nonce == head.nonce_next:
        head.nonce_next = slot.nonce + 1
    elif slot.nonce in lane.free:
        touched += take_number(lane, slot.nonce)
    else:
        assert slot.intent is None  # A hole that someone else's transaction left.
        assert slot.nonce < head.nonce_next
        head.low = min(head.low, slot.nonce)
    if not lane.returned and not lane.free.count:
        head.retake_ms = None
    index_slot(lane, slot)
    note_date(lane, slot.intent)
    # Its first attempt is mostly signed in the same turn, and then stands in the same row.
    lane.unwritten[slot.id] = None
    return tuple(touched)


def fall_out(lane: EoaLane, record: v.SlotFellOut) -> Touched:
    head, slot = lane.head, lane.slots[record.slot]
    assert head.nonce_next is not None
    assert slot.nonce >= head.offered_next
    touched = drop_slot(lane, slot)
    lane.spend -= value(slot.cost)
    for nonce in sorted([one for one in lane.nonces if one > slot.nonce]):
        above = lane.slots[lane.nonces.pop(nonce)]
        touched += drop_attempts(lane, above.id)
        lane.spend -= value(above.cost)
        touched.append(put_slot(lane, moved(above)))
    head.nonce_next -= 1
    if slot.intent is None:
        return tuple(touched)
    return (*final(lane, slot, record.status, record.at_ms, reason=record.reason), *touched)


def sign(lane: EoaLane, record: v.AttemptSigned) -> Touched:
    attempt = record.attempt
    slot = lane.slots[attempt.slot]
    cost = record.cost
    if slot.cost:
        cost = max(slot.cost, cost, key=value)
        lane.spend -= value(slot.cost)
    lane.spend += value(cost)
    slot = replace(
        slot,
        attempt_next=attempt.number + 1,
        making=False,
        delayed=False,
        make_tries=0,
        cost=cost,
        tried_ms=attempt.made_ms,
        wait_reason="",
    )
    lane.slots[slot.id] = slot
    lane.delayed.pop(slot.id, None)
    lane.unwritten.pop(slot.id, None)
    touched: tuple[Touch, ...] = (put_attempt(lane, attempt),)
    if attempt.number != FIRST:
        touched += (put_slot(lane, slot),)
    if not attempt.raw:
        touched += (put_raw(lane, attempt, record.raw),)
    if slot.intent is None:
        return touched
    if slot.nonce < lane.head.offered_next:
        undate(lane)
    # Now, for a chain may be quicker than our own record of a node's answer.
    return (*touched, Index("hash", attempt.hash.hex(), slot.intent, lane.id))


def reoffer(lane: EoaLane, record: v.AttemptReoffered) -> Touched:
    attempt = lane.attempts[record.slot][record.number]
    touched: list[Touch] = []
    if lane.raw(attempt):
        nodes = (*attempt.silent, *attempt.refused, *attempt.taken)
        again = replace(
            attempt, silent=nodes, refused=(), taken=(), doubted=True, denied=(), cheap=False
        )
        touched.append(put_attempt(lane, again))
    if record.at_ms:
        slot = lane.slots[record.slot]
        reason = record.reason or slot.wait_reason
        touched.append(put_slot(lane, replace(slot, tried_ms=record.at_ms, wait_reason=reason)))
    return tuple(touched)


def doubt(lane: EoaLane) -> Touched:
    """Bytes that are offered a second time: no refusal of theirs proves anything any more."""
    again = [
        lane.attempts[slot][number]
        for slot, number in lane.unsure
        if lane.slots[slot].nonce < lane.head.offered_next
    ]
    certain = [attempt for attempt in again if not attempt.doubted]
    lane.head.resends = lane.head.resends + 1 if len(certain) < len(again) else 0
    return tuple([put_attempt(lane, replace(attempt, doubted=True)) for attempt in certain])


def take_all(lane: EoaLane, record: v.AttemptsTaken) -> Touched:
    first, lane.head.taken_next = record.first, record.first + len(record.hashes)
    for slot in range(first, lane.head.taken_next):
        take_first(lane, slot)
    return ()


def answer(lane: EoaLane, record: v.AttemptAnswered) -> Touched:
    before, slot = lane.attempts[record.slot][record.number], lane.slots[record.slot]
    attempt = answered(before, record.node, record.word, record.reason, lane.head.block)
    is_refused = attempt.is_outvoted() and not before.is_outvoted()
    if slot.intent is None and record.word == "taken":
        lane.head.noop_refusals, lane.head.noop_reason = 0, ""
    tried_ms = record.at_ms or slot.tried_ms
    slot = replace(slot, refusals=slot.refusals + is_refused, tried_ms=tried_ms)
    index_slot(lane, slot)
    touched = put_attempt(lane, attempt)
    is_apart = attempt.number != FIRST and (is_refused or record.at_ms)
    return (touched, put_slot(lane, slot)) if is_apart else (touched,)


def delay(lane: EoaLane, record: v.MakingDelayed) -> Touched:
    head, slot = lane.head, lane.slots[record.slot]
    tries = slot.make_tries + 1
    head.make_ms = record.make_ms if head.make_ms is None else min(head.make_ms, record.make_ms)
    waiting = replace(slot, delayed=True, make_tries=tries, wait_reason=record.reason)
    return (put_slot(lane, waiting),)


def free(lane: EoaLane, record: v.SlotFreed) -> Touched:
    head, slot = lane.head, lane.slots[record.slot]
    assert slot.intent is not None
    back = Returned(slot.intent, slot.seq, slot.priority, slot.refusals, record.reason)
    lane.returned[slot.intent] = back
    note_date(lane, slot.intent)
    head.retake_ms = record.retake_ms
    lane.spend -= value(slot.cost)
    if not record.recycle:
        use_up(lane, slot.nonce)
    return (
        *drop_slot(lane, slot),
        *(free_number(lane, slot.nonce) if record.recycle else ()),
        RowPut(Table.RETURNED, slot.intent, slot.intent, encode(back)),
    )


def drop(lane: EoaLane, record: v.SlotDropped) -> Touched:
    slot = lane.slots[record.slot]
    if record.proven:
        use_up(lane, slot.nonce)
    lane.spend -= value(slot.cost)
    attempts = lane.tries(slot.id).values()
    touched = drop_slot(lane, slot)
    if record.recycle:
        touched += free_number(lane, slot.nonce)
    if record.retake_ms is not None:
        lane.head.retake_ms = record.retake_ms
    if slot.intent is None:
        if record.recycle:
            lane.head.noop_refusals += 1
            lane.head.noop_reason = record.reason
        return tuple(touched)
    ended = final(lane, slot, record.status, record.at_ms, attempts, reason=record.reason)
    return (*ended, *touched)


def bump(lane: EoaLane, record: v.BumpOrdered) -> Touched:
    slot = lane.slots[record.slot]
    slot = replace(
        slot,
        purpose=record.purpose,
        floor=record.floor,
        making=True,
        delayed=False,
        make_tries=0,
        wait_reason=record.reason,
        attempt_next=record.number or slot.attempt_next,
        content=record.content,
    )
    return (put_slot(lane, slot),)


def move_head(lane: EoaLane, record: v.HeadMoved) -> Touched:
    lane.head.block, lane.head.block_hash = record.block, record.block_hash
    if record.fork is None:
        return ()
    undone = [slot for slot, fact in lane.seen.items() if fact.block > record.fork]
    return tuple([put_slot(lane, replace(lane.slots[slot], seen=None)) for slot in undone])


def settle(lane: EoaLane, record: v.SlotSettled) -> Touched:
    head, slot = lane.head, lane.slots[record.slot]
    lane.spend -= value(slot.cost)
    if head.health.confirmed_ms != record.at_ms:
        head.health = replace(head.health, confirmed_ms=record.at_ms)
    attempts = lane.tries(slot.id).values()
    gone = drop_slot(lane, slot)
    head.low = max(head.low, slot.nonce + 1)
    use_up(lane, slot.nonce)
    intent = slot.intent
    if intent is None:
        return tuple(gone)
    if record.seen is not None and slot.seen != record.seen:
        slot = replace(slot, seen=record.seen)
    status, reason, mined = record.status, record.reason, record.hash or None
    ended = final(lane, slot, status, record.at_ms, attempts, reason=reason, mined=mined)
    return (*ended, Index("nonce", f"{lane.id}#{slot.nonce}", intent, lane.id), *gone)


def final(
    lane: EoaLane,
    slot: Slot,
    status: str,
    at_ms: int,
    attempts: Iterable[Attempt] = (),
    *,
    reason: str = "",
    mined: bytes | None = None,
) -> list[Touch]:
    """The answer, with all that was tried for it, and what of that was mined."""
    assert slot.intent is not None
    heads.settle(lane.head, slot.size)
    lane.intents.pop(slot.intent, None)
    lane.dated.pop(slot.intent, None)
    content = lane.contents.get(slot.intent)
    number = None if mined is None else slot.nonce
    # The bytes are on the chain, or of no use any more; kept where no other row says what they do.
    tried = tuple([one if is_between(slot, one) else replace(one, raw=b"") for one in attempts])
    history = encode(History(slot, tried, b"" if content is None else content.payload))
    result = Result(slot.intent, status, at_ms, number, mined, reason, history)
    return [result] if content is None else [result, *drop_content(lane, slot.intent)]


def drop_intent(lane: EoaLane, record: IntentDropped) -> Touched:
    intent = record.intent
    touched: list[Touch] = []
    if lane.returned.pop(intent, None) is not None:
        touched += [heads.drop(lane.head, record), RowKey(Table.RETURNED, intent)]
    else:
        touched.append(heads.drop_waiting(lane.head, record))
    lane.intents.pop(intent, None)
    lane.dated.pop(intent, None)
    return (*touched, *drop_content(lane, intent))


def reset(lane: EoaLane, nonce_next: int, at_ms: int) -> Touched:
    """Free numbers from the new beginning on are no longer anybody's, nor are those used up."""
    head = lane.head
    head.nonce_next = nonce_next
    if head.halted:
        head.final_next = 0  # A person knows better: the chain may be another one by now.
    head.offered_next = min(head.offered_next, nonce_next)
    head.health = replace(head.health, resets_ms=(*head.health.resets_ms, at_ms)[-RESETS_KEPT:])
    touched: list[Touch] = []
    for number in lane.free.first(lane.free.count):
        if number >= nonce_next or number < head.latest:
            touched += take_number(lane, number)
    return tuple(touched)
