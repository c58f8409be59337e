"""What the signer's and the nodes' answers prove. Silence and doubt prove nothing."""

from collections.abc import Iterable

from laneway.core.ids import IntentId
from laneway.core.outcome import Outcome, Status
from laneway.core.units import amount, value
from laneway.lanes.eoa import values as v
from laneway.lanes.eoa.lane import EoaLane, answered, is_late, is_next_taken, moved
from laneway.lanes.eoa.limits import (
    NOOP_GROWTH_MAX,
    RAW_INLINE_MAX,
    REFUSALS_MAX,
    RESEND_GROWTH_MAX,
)
from laneway.lanes.eoa.rows import FIRST, Attempt, Purpose, Slot
from laneway.lanes.eoa.timers import bump
from laneway.lanes.eoa.tries import (
    NOTHING,
    OUT_OF_FUNDS,
    PARKED,
    Decision,
    Spending,
    decided,
    make,
    needs_majority,
    over_cap,
)

HAD = ("taken", "cheap")
"""Answers that prove that a node had the bytes."""

# The signer.


def judge_made(lane: EoaLane, made: tuple[v.Made | v.NotMade, ...], now_ms: int) -> Decision:
    """Signed bytes become durable, and are sent when everything below them was."""
    records: list[v.Record] = []
    signed: dict[int, tuple[Attempt, bytes]] = {}
    spending = Spending(lane)
    for slot, one in waited_for(lane, made):
        if is_late(lane, slot.intent, now_ms):
            continue  # The timer is due that ends it.
        if isinstance(one, v.NotMade):
            if is_final(lane, slot, one) and falls_out(lane, slot):
                # Those above it move down and are made anew, so nothing else of this batch holds.
                return fall_out(lane, slot, one.reason, now_ms, records)
            records += not_made(lane, slot, one, now_ms)
        elif (why := PARKED if over_cap(lane, one) else spending.why_not(slot, one)) is not None:
            pause_ms = lane.settings.poll_ms << min(slot.make_tries, lane.settings.make_tries_max)
            records.append(v.MakingDelayed(slot.id, now_ms + pause_ms, why))
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
                block=lane.head.block,
            )
            apart = b"" if attempt.raw else one.raw
            records.append(
                v.AttemptSigned(attempt, apart, amount(one.cost), slot.intent, slot.nonce)
            )
            signed[slot.nonce] = (attempt, one.raw)
    return offer(lane, records, signed, now_ms)


def is_final(lane: EoaLane, slot: Slot, one: v.NotMade) -> bool:
    """A call that fails may succeed once those before it have been mined: an allowance, then its
    use. It is judged when it is the next."""
    return one.final and not (one.reverts and slot.nonce > lane.head.latest)


def waited_for(
    lane: EoaLane, made: tuple[v.Made | v.NotMade, ...]
) -> list[tuple[Slot, v.Made | v.NotMade]]:
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
    records: list[v.Record],
    signed: dict[int, tuple[Attempt, bytes]],
    now_ms: int,
    latest: int = 0,
) -> Decision:
    """Numbers are offered without a gap: one that is not made yet holds back those above it, and
    so does one that is valid no longer.

    Numbers below `latest` are used up, by whomever, and hold nobody back. A reorg may free them
    again, so what is signed there is offered with the others, and never after its time.
    """
    effects: list[v.Effect] = []
    now_ms = max(now_ms, newest_ms(lane)) if lane.dated else now_ms
    begun = max(lane.head.offered_next, latest)
    below = range(lane.head.offered_next, latest)
    # Mostly there are none, and the window may be wide.
    for nonce in sorted([one for one in lane.nonces if one in below]) if below else ():
        ready = None if nonce in signed else made_before(lane, nonce)
        if ready is None:
            continue
        attempt, raw = ready
        if lane.dated and is_late(lane, lane.slots[attempt.slot].intent, now_ms):
            begun = nonce
            break
        effects.append(v.SendAttempt(attempt.slot, attempt.number, raw, attempt.silent))
    for nonce in sorted([nonce for nonce in signed if nonce < begun]):
        attempt, raw = signed[nonce]
        effects.append(v.SendAttempt(attempt.slot, attempt.number, raw, attempt.silent))
    number = begun
    while (ready := signed.get(number) or made_before(lane, number)) is not None:
        attempt, raw = ready
        if lane.dated and is_late(lane, lane.slots[attempt.slot].intent, now_ms):
            break
        effects.append(v.SendAttempt(attempt.slot, attempt.number, raw, attempt.silent))
        number += 1
    if number > lane.head.offered_next:
        records.append(v.Offered(number))
    return decided(records, effects)


def newest_ms(lane: EoaLane) -> int:
    """The latest time that its rows name: an answer that was on its way for long is older."""
    signed = [last.made_ms for slot in lane.slots if (last := lane.last(slot)) is not None]
    return max([lane.head.health.balance_ms, *signed])


def made_before(lane: EoaLane, nonce: int) -> tuple[Attempt, bytes] | None:
    """The newest bytes of a number, if it has some."""
    slot = lane.slot_at(nonce)
    last = None if slot is None else lane.last(slot.id)
    return None if last is None else (last, lane.raw(last))


def falls_out(lane: EoaLane, slot: Slot) -> bool:
    """Nothing of it and nothing above it was ever offered."""
    return slot.nonce >= lane.head.offered_next and not lane.tries(slot.id)


def fall_out(
    lane: EoaLane,
    slot: Slot,
    reason: str,
    now_ms: int,
    before: list[v.Record],
    *,
    status: str = Status.REFUSED.value,
) -> Decision:
    """A final answer for one; those above it take the numbers below theirs.

    The records `before` concern lower numbers; higher ones are made again.
    """
    signed = {
        lane.slots[record.attempt.slot].nonce: (record.attempt, record.attempt.raw or record.raw)
        for record in before
        if isinstance(record, v.AttemptSigned)
    }
    decision = offer(lane, before, signed, now_ms)
    gone = v.SlotFellOut(slot.id, status, reason, now_ms, slot.intent)
    above = sorted([one for one in lane.nonces if one > slot.nonce])
    again = [make(lane, moved(lane.slots[lane.nonces[nonce]])) for nonce in above]
    return decided((*decision.records, gone), (*decision.effects, *again))


def not_made(lane: EoaLane, slot: Slot, one: v.NotMade, now_ms: int) -> list[v.Record]:
    settings = lane.settings
    if one.broke and not can_pay(lane, slot, one.needed):
        delayed = v.MakingDelayed(slot.id, now_ms + settings.funds_retry_ms, OUT_OF_FUNDS)
        if not is_of_this_balance(lane, one.asked_ms):
            return [delayed]
        return [delayed, broke(lane, slot, one.needed, now_ms)]
    if is_final(lane, slot, one) and slot.intent is not None and not lane.tries(slot.id):
        # Its number lies below others that were offered: it is filled, by whom stands in claims.
        return [dropped(lane, slot, Status.REFUSED.value, one.reason, now_ms)]
    tries = min(slot.make_tries, settings.make_tries_max)
    return [v.MakingDelayed(slot.id, now_ms + (settings.make_retry_ms << tries), one.reason)]


def dropped(
    lane: EoaLane,
    slot: Slot,
    status: str,
    reason: str,
    now_ms: int,
    *,
    retake_ms: int | None = None,
    recycle: bool = True,
) -> v.SlotDropped:
    """A final answer without anything on chain."""
    return v.SlotDropped(
        slot=slot.id,
        status=status,
        reason=reason,
        at_ms=now_ms,
        retake_ms=now_ms + lane.settings.make_retry_ms if retake_ms is None else retake_ms,
        recycle=recycle,
        intent=slot.intent,
        nonce=slot.nonce,
    )


def broke(lane: EoaLane, slot: Slot, needed: int, now_ms: int) -> v.FundsJudged:
    """What the account has is not enough, whatever it is (seed 002). Of several slots that it
    cannot pay the lowest is noted."""
    health = lane.head.health
    held, at_ms = value(health.balance or b""), now_ms
    if lane.head.broke:
        held, at_ms = max(value(health.threshold), held), health.broke_ms
        known = lane.slots.get(health.poor_slot)
        if known is not None and known.nonce < slot.nonce:
            slot, needed = known, value(health.needed)
    return v.FundsJudged(True, amount(held), amount(needed), slot.id, at_ms)


def can_pay(lane: EoaLane, slot: Slot, needed: int) -> bool:
    """Whether the balance says that the lowest number can be paid, so that a node which denies it
    lags behind. That is a reason to ask again, and for nothing else: a balance may be a lie too."""
    balance = value(lane.head.health.balance or b"")
    return 0 < needed <= balance and slot.nonce <= lane.head.latest


def is_of_this_balance(lane: EoaLane, asked_ms: int) -> bool:
    """Whether a node that was asked then can have known what the account has now. Had it not, what
    was filled in since would pass for too little, and nothing but more would end that."""
    health = lane.head.health
    if not health.filled_ms or value(health.balance or b"") <= value(health.threshold):
        return True
    return asked_ms >= health.filled_ms + lane.settings.block_ms


# The nodes.


def funds_judged(
    lane: EoaLane,
    poor: Iterable[v.SendResult],
    after: dict[tuple[int, int], Attempt],
    now_ms: int,
    *,
    rich: bool,
) -> list[v.FundsJudged]:
    """By what nodes said: `poor` are answers that a slot cannot be paid. A node that lags may say
    so when there are funds again."""
    lacking = {
        lane.slots[one.slot].nonce: one
        for one in poor
        if is_of_this_balance(lane, one.asked_ms)
        if not can_pay(lane, lane.slots[one.slot], one.needed)
        if not is_taken(lane, one.slot, after)
    }
    if lacking:
        lowest = lacking[min(lacking)]
        return [broke(lane, lane.slots[lowest.slot], lowest.needed, now_ms)]
    return [v.FundsJudged(False, lane.head.health.threshold)] if rich and lane.head.broke else []


def judge_answers(lane: EoaLane, results: tuple[v.SendResult, ...], now_ms: int) -> Decision:
    in_row = taken_in_a_row(lane, results)
    if in_row is not None:
        return decided([in_row])
    records: list[v.Record] = []
    effects: list[v.Effect] = []
    after: dict[tuple[int, int], Attempt] = {}
    hopeless: dict[int, v.SendResult] = {}
    first: dict[int, None] = {}
    judged: dict[int, None] = {}
    """Slots whose number could be free now; one that a node took an attempt of is not."""
    poor: dict[int, v.SendResult] = {}
    rich = False
    doubtful = False
    for result in results:
        place = (result.slot, result.number)
        attempt = after.get(place) or lane.tries(result.slot).get(result.number)
        if attempt is None or result.node not in attempt.silent:
            continue
        is_first = result.first and place not in lane.inherited
        word = proven(result, attempt, is_first=is_first, is_alone=not needs_majority(lane))
        intent = None
        if word == "taken" and result.slot not in lane.submitted and result.slot not in first:
            first[result.slot] = None
            intent = lane.slots[result.slot].intent
        records.append(
            v.AttemptAnswered(
                result.slot, result.number, result.node, word, result.reason, intent,
                b"" if intent is None else attempt.hash,
                now_ms if word in HAD and attempt.doubted and not attempt.was_had() else 0,
            )
        )  # fmt: skip
        after[place] = answered(attempt, result.node, word, result.reason, lane.head.block)
        if word == "taken":
            # A node that takes new bytes has looked at the balance; old ones it may just have kept.
            rich = rich or not result.reason
            continue
        judged[result.slot] = None
        doubtful = doubtful or word in ("silent", "denied", "cheap")
        if result.broke:
            poor[result.slot] = result
        if word in ("refused", "denied") and (result.hopeless or is_tried_out(lane, result.slot)):
            hopeless[result.slot] = result
    if not records:
        return NOTHING
    freed = 0
    for slot in judged:
        last = hopeless.get(slot)
        dead = judge_dead(lane, slot, after, last, now_ms, poor=bool(poor))
        freed += len(dead)
        records += dead
        if last is not None and is_denied(lane, slot, after, by_all=last.hopeless):
            ordered = bump(lane, lane.slots[slot], last.reason, Purpose.NOOP)
            records += ordered.records
            effects += ordered.effects
    records += crowded(lane, freed)
    records += funds_judged(lane, poor.values(), after, now_ms, rich=rich)
    if doubtful and lane.head.resend_ms is None:
        records.append(resend_planned(lane, now_ms))
    return decided(records, effects)


def is_tried_out(lane: EoaLane, number: int) -> bool:
    """Whether a further refusal of all its bytes by every node is one too many."""
    return lane.slots[number].refusals + 1 >= REFUSALS_MAX


def resend_planned(lane: EoaLane, now_ms: int) -> v.ResendPlanned:
    """Ever more rarely, while nothing but doubt comes back."""
    pause_ms = lane.settings.resend_ms << min(lane.head.resends, RESEND_GROWTH_MAX)
    return v.ResendPlanned(now_ms + pause_ms)


def taken_in_a_row(lane: EoaLane, results: tuple[v.SendResult, ...]) -> v.AttemptsTaken | None:
    """The next first attempts of several slots, which every node took at once; None for whatever
    must be judged one by one."""
    first = results[0].slot if results else 0
    slot, place = first, 0
    intents: list[IntentId | None] = []
    hashes: list[bytes] = []
    while place < len(results):
        attempt = lane.tries(slot).get(FIRST)
        if attempt is None or not attempt.is_new() or attempt.taken or attempt.reason:
            return None
        end = place + len(attempt.silent)
        if place == end or end > len(results):
            return None
        for node in attempt.silent:
            if not is_plain(results[place], slot, node):
                return None
            place += 1
        intents.append(lane.slots[slot].intent)
        hashes.append(attempt.hash)
        slot += 1
    if len(hashes) < 2 or lane.head.broke or not is_next_taken(lane, first):
        return None
    return v.AttemptsTaken(first, tuple(intents), tuple(hashes))


def is_plain(result: v.SendResult, slot: int, node: str) -> bool:
    """Whether this node took the first attempt of this slot, or has it already."""
    if result.slot != slot or result.number != 1 or result.node != node:
        return False
    return result.outcome is Outcome.ACCEPTED


def is_taken(lane: EoaLane, number: int, after: dict[tuple[int, int], Attempt]) -> bool:
    """Whether some node has one of its attempts: it has looked at the balance, and one that says
    there is too little lags behind it."""
    tries = lane.tries(number).items()
    return any(after.get((number, one), attempt).taken for one, attempt in tries)


def is_denied(
    lane: EoaLane, number: int, after: dict[tuple[int, int], Attempt], *, by_all: bool
) -> bool:
    """No node, or only a minority, will ever take any of its bytes, but one may have had them, so
    that its number is not free. A no-op takes it: whichever lands decides, and those above go
    on."""
    slot = lane.slots[number]
    if slot.seen is not None or slot.purpose != Purpose.INTENT:
        return False
    tries = [after.get((number, one), attempt) for one, attempt in lane.tries(number).items()]
    if slot.making and all(one.content != slot.content for one in tries):
        return False  # What is being made is something else. Dearer bytes of the same are not.
    is_void = all(one.is_denied() if by_all else one.is_outvoted() for one in tries)
    return is_void and not all(one.is_dead() for one in tries)


def proven(result: v.SendResult, attempt: Attempt, *, is_first: bool, is_alone: bool) -> str:
    match result.outcome:
        case Outcome.ACCEPTED:
            return "taken"
        case Outcome.REFUSED if result.final:
            # What may have been taken before is not free: giving the number away could pay twice.
            # Nor is sound bytes' number, where one of several nodes may have passed them on.
            is_void = is_alone or not result.policy
            return "refused" if is_first and is_void and not attempt.doubted else "denied"
        case Outcome.REFUSED if result.cheap:
            return "cheap"
        case _:
            return "silent"  # Unknown counts as sent.


def judge_dead(
    lane: EoaLane,
    number: int,
    after: dict[tuple[int, int], Attempt],
    hopeless: v.SendResult | None,
    now_ms: int,
    *,
    poor: bool,
) -> list[v.Record]:
    """A number is free only when every node refused every attempt of it for good."""
    slot = lane.slots[number]
    tries = [after.get((number, one), attempt) for one, attempt in lane.tries(number).items()]
    if slot.making or slot.seen is not None or not all(one.is_dead() for one in tries):
        return []
    settings = lane.settings
    pause_ms = settings.make_retry_ms << min(slot.refusals, REFUSALS_MAX)
    if slot.intent is None:
        pause_ms = settings.make_retry_ms << min(lane.head.noop_refusals, NOOP_GROWTH_MAX)
    retake_ms = now_ms + (settings.funds_retry_ms if poor else pause_ms)
    said_of_it = ("" if hopeless is None else hopeless.reason, *(one.reason for one in tries))
    reason = next((one for one in said_of_it if one), "every node refused it")
    if slot.purpose == Purpose.CANCEL:
        status = Status.CANCELLED.value
        return [dropped(lane, slot, status, "taken back", now_ms, retake_ms=retake_ms)]
    if slot.intent is None or hopeless is not None:
        return [dropped(lane, slot, Status.REFUSED.value, reason, now_ms, retake_ms=retake_ms)]
    return [v.SlotFreed(number, retake_ms, reason, intent=slot.intent, nonce=slot.nonce)]


def crowded(lane: EoaLane, freed: int) -> list[v.Record]:
    """A notice when free numbers become more than are allowed, and not again until then."""
    bound, free = lane.settings.recycled_max, lane.free.count
    return [v.NoncesCrowded(free + freed, bound)] if free <= bound < free + freed else []
