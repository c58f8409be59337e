"""What the signer's and the nodes' answers prove. Silence and doubt prove nothing."""

from laneway.core.outcome import Outcome, Status
from laneway.core.units import amount, value
from laneway.lanes.eoa.lane import EoaLane
from laneway.lanes.eoa.limits import RAW_INLINE_MAX
from laneway.lanes.eoa.rows import Attempt, Purpose, Slot
from laneway.lanes.eoa.tries import NOTHING, OUT_OF_FUNDS, PARKED, Decision, make, over_cap, said
from laneway.lanes.eoa.values import (
    AttemptAnswered,
    AttemptSigned,
    Effect,
    FundsJudged,
    Made,
    MakingDelayed,
    NoncesCrowded,
    NotMade,
    Offered,
    Record,
    ResendPlanned,
    SendAttempt,
    SendResult,
    SlotDropped,
    SlotFellOut,
    SlotFreed,
)

# The signer.


def judge_made(lane: EoaLane, made: tuple[Made | NotMade, ...], now_ms: int) -> Decision:
    """Signed bytes become durable, and are sent when everything below them was."""
    records: list[Record] = []
    signed: dict[int, tuple[Attempt, bytes]] = {}
    for slot, one in waited_for(lane, made):
        if isinstance(one, NotMade):
            if is_final(lane, slot, one) and falls_out(lane, slot):
                # Those above it move down and are made anew, so nothing else of this batch holds.
                return fall_out(lane, slot, one.reason, now_ms, records)
            records += not_made(lane, slot, one, now_ms)
        elif over_cap(lane, slot, one):
            records.append(MakingDelayed(slot.id, now_ms + lane.settings.poll_ms, PARKED))
        else:
            attempt = Attempt(
                slot=slot.id,
                number=one.number,
                hash=one.hash,
                purpose=slot.purpose,
                fee=one.fee,
                gas=one.gas,
                made_ms=now_ms,
                silent=lane.settings.nodes,
                raw=one.raw if len(one.raw) <= RAW_INLINE_MAX else b"",
                content=slot.content,
            )
            apart = b"" if attempt.raw else one.raw
            records.append(AttemptSigned(attempt, apart, amount(one.cost), slot.intent, slot.nonce))
            signed[slot.nonce] = (attempt, one.raw)
    return offer(lane, records, signed)


def is_final(lane: EoaLane, slot: Slot, one: NotMade) -> bool:
    """A call that fails may succeed once those before it have been mined: an allowance, then its
    use. It is judged when it is the next."""
    return one.final and not (one.reverts and slot.nonce > lane.head.latest)


def waited_for(
    lane: EoaLane, made: tuple[Made | NotMade, ...]
) -> list[tuple[Slot, Made | NotMade]]:
    """In the order of numbers; late answers are left out, for only bytes that are waited for are
    ever sent."""
    found = [
        (slot, one)
        for one in made
        if (slot := lane.slots.get(one.slot)) is not None
        and slot.making
        and slot.attempt_next == one.number
    ]
    return sorted(found, key=lambda pair: pair[0].nonce)


def offer(
    lane: EoaLane,
    records: list[Record],
    signed: dict[int, tuple[Attempt, bytes]],
    latest: int = 0,
) -> Decision:
    """Numbers are offered without a gap: one that is not made yet holds back those above it.

    Numbers below `latest` are used up, by whomever, and hold nobody back.
    """
    effects: list[Effect] = []
    begun = max(lane.head.offered_next, latest)
    for nonce in sorted(signed):
        attempt, raw = signed[nonce]
        if nonce < begun:
            effects.append(SendAttempt(attempt.slot, attempt.number, raw, attempt.silent))
    number = begun
    while number in signed or is_signed(lane, number):
        if number in signed:
            attempt, raw = signed[number]
        else:
            slot = lane.slot_at(number)
            assert slot is not None
            held = lane.last(slot.id)
            assert held is not None
            attempt, raw = held, lane.raw(held)
        effects.append(SendAttempt(attempt.slot, attempt.number, raw, attempt.silent))
        number += 1
    if number > lane.head.offered_next:
        records.append(Offered(number))
    return said(records, effects)


def is_signed(lane: EoaLane, nonce: int) -> bool:
    slot = lane.slot_at(nonce)
    return slot is not None and bool(lane.tries(slot.id))


def falls_out(lane: EoaLane, slot: Slot) -> bool:
    """Nothing of it and nothing above it was ever offered."""
    return slot.nonce >= lane.head.offered_next and not lane.tries(slot.id)


def fall_out(
    lane: EoaLane,
    slot: Slot,
    reason: str,
    now_ms: int,
    before: list[Record],
    *,
    status: str = Status.REFUSED.value,
) -> Decision:
    """A final answer for one; those above it take the numbers below theirs.

    What the batch said `before` concerns lower numbers; higher ones are made again.
    """
    signed = {
        lane.slots[record.attempt.slot].nonce: (record.attempt, record.attempt.raw or record.raw)
        for record in before
        if isinstance(record, AttemptSigned)
    }
    decision = offer(lane, before, signed)
    gone = SlotFellOut(slot.id, status, reason, now_ms, slot.intent)
    assert lane.head.nonce_next is not None
    again: list[Effect] = []
    for nonce in range(slot.nonce + 1, lane.head.nonce_next):
        above = lane.slot_at(nonce)
        assert above is not None
        moved = Slot(
            id=above.id,
            intent=above.intent,
            seq=above.seq,
            priority=above.priority,
            size=above.size,
            nonce=nonce - 1,
            claimed_ms=above.claimed_ms,
            purpose=above.purpose,
            attempt_next=above.attempt_next + 1,
            floor=above.floor,
            content=above.content,
        )
        again.append(make(lane, moved))
    return said((*decision.records, gone), (*decision.effects, *again))


def not_made(lane: EoaLane, slot: Slot, one: NotMade, now_ms: int) -> list[Record]:
    settings = lane.settings
    if one.broke:
        delayed = MakingDelayed(slot.id, now_ms + settings.funds_retry_ms, OUT_OF_FUNDS)
        return [delayed, broke(lane)]
    if is_final(lane, slot, one) and slot.intent is not None and not lane.tries(slot.id):
        # Its number lies below others that were offered: it is filled, by whom stands in claims.
        return [dropped(lane, slot, Status.REFUSED.value, one.reason, now_ms)]
    tries = min(slot.make_tries, settings.make_tries_max)
    return [MakingDelayed(slot.id, now_ms + (settings.make_retry_ms << tries), one.reason)]


def dropped(
    lane: EoaLane,
    slot: Slot,
    status: str,
    reason: str,
    now_ms: int,
    *,
    retake_ms: int | None = None,
    recycle: bool = True,
) -> SlotDropped:
    """A final answer without anything on chain."""
    return SlotDropped(
        slot=slot.id,
        status=status,
        reason=reason,
        at_ms=now_ms,
        retake_ms=now_ms + lane.settings.make_retry_ms if retake_ms is None else retake_ms,
        recycle=recycle,
        intent=slot.intent,
        nonce=slot.nonce,
    )


def broke(lane: EoaLane) -> FundsJudged:
    """What the account has is not enough, whatever it is (seed 002)."""
    health = lane.head.health
    return FundsJudged(True, amount(max(value(health.threshold), value(health.balance or b""))))


# The nodes.


def judge_answers(lane: EoaLane, results: tuple[SendResult, ...], now_ms: int) -> Decision:
    records: list[Record] = []
    after: dict[tuple[int, int], Attempt] = {}
    hopeless: dict[int, str] = {}
    first: dict[int, None] = {}
    poor = False
    doubtful = False
    for result in results:
        place = (result.slot, result.number)
        attempt = after.get(place) or lane.tries(result.slot).get(result.number)
        if attempt is None or result.node not in attempt.silent:
            continue
        word = proven(result, attempt)
        intent = lane.slots[result.slot].intent
        if word != "taken" or result.slot in lane.submitted or result.slot in first:
            intent = None
        else:
            first[result.slot] = None
        records.append(
            AttemptAnswered(
                slot=result.slot,
                number=result.number,
                node=result.node,
                word=word,
                reason=result.reason,
                intent=intent,
                hash=b"" if intent is None else attempt.hash,
            )
        )
        after[place] = answered(attempt, result.node, word)
        doubtful = doubtful or word == "silent"
        poor = poor or result.broke
        if result.hopeless and word == "refused":
            hopeless[result.slot] = result.reason
    if not records:
        return NOTHING
    freed = 0
    for slot in dict.fromkeys(place[0] for place in after):
        dead = judge_dead(lane, slot, after, hopeless.get(slot), now_ms, poor=poor)
        freed += len(dead)
        records += dead
    records += crowded(lane, freed)
    if poor:
        records.append(broke(lane))
    if doubtful and lane.head.resend_ms is None:
        records.append(ResendPlanned(now_ms + lane.settings.resend_ms))
    return said(records)


def proven(result: SendResult, attempt: Attempt) -> str:
    match result.outcome:
        case Outcome.ACCEPTED:
            return "taken"
        case Outcome.REFUSED if result.final and result.first and not attempt.doubted:
            return "refused"
        case _:
            # Unknown counts as sent, and so does a refusal of what may have been taken before:
            # giving the number away could pay twice.
            return "silent"


def answered(attempt: Attempt, node: str, word: str) -> Attempt:
    silent = tuple(one for one in attempt.silent if one != node)
    match word:
        case "taken":
            taken, refused = (*attempt.taken, node), attempt.refused
        case "refused":
            taken, refused = attempt.taken, (*attempt.refused, node)
        case _:
            return attempt
    return Attempt(
        slot=attempt.slot,
        number=attempt.number,
        hash=attempt.hash,
        purpose=attempt.purpose,
        fee=attempt.fee,
        gas=attempt.gas,
        made_ms=attempt.made_ms,
        silent=silent,
        refused=refused,
        taken=taken,
    )


def judge_dead(
    lane: EoaLane,
    number: int,
    after: dict[tuple[int, int], Attempt],
    hopeless: str | None,
    now_ms: int,
    *,
    poor: bool,
) -> list[Record]:
    """A number is free only when every node refused every attempt of it for good."""
    slot = lane.slots[number]
    tries = [after.get((number, one), attempt) for one, attempt in lane.tries(number).items()]
    if slot.making or slot.seen is not None or not all(one.is_dead() for one in tries):
        return []
    settings = lane.settings
    retake_ms = now_ms + (settings.funds_retry_ms if poor else settings.make_retry_ms)
    reason = hopeless or next((one.reason for one in tries if one.reason), "every node refused it")
    if slot.purpose == Purpose.CANCEL:
        word = Status.CANCELLED.value
        return [dropped(lane, slot, word, "taken back", now_ms, retake_ms=retake_ms)]
    if slot.intent is None or hopeless is not None:
        return [dropped(lane, slot, Status.REFUSED.value, reason, now_ms, retake_ms=retake_ms)]
    return [SlotFreed(number, retake_ms, reason, intent=slot.intent, nonce=slot.nonce)]


def crowded(lane: EoaLane, freed: int) -> list[Record]:
    """Someone is told when free numbers become more than are allowed, and not again until then."""
    bound, free = lane.settings.recycled_max, lane.free.count
    return [NoncesCrowded(free + freed, bound)] if free <= bound < free + freed else []
