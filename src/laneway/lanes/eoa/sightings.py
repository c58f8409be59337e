"""What a look at the chain proves: inclusion, finality, reorgs, and who else used a number."""

from laneway.core.outcome import Status
from laneway.core.units import amount, value
from laneway.lanes.eoa.answers import dropped, offer
from laneway.lanes.eoa.lane import EoaLane
from laneway.lanes.eoa.limits import PROOFS_MAX
from laneway.lanes.eoa.report import Sightings, is_telling, report_of
from laneway.lanes.eoa.rows import Attempt, CleanupReport, Inclusion, Purpose, Slot
from laneway.lanes.eoa.tries import NOTHING, Decision, said
from laneway.lanes.eoa.values import (
    AccountSeen,
    AttemptReoffered,
    ChainRead,
    CleanupDone,
    Effect,
    FundsJudged,
    HeadMoved,
    LookEnded,
    NonceProven,
    ProofOrdered,
    ProveNonce,
    Receipt,
    Record,
    SendAttempt,
    SlotFreed,
    SlotIncluded,
    SlotSettled,
)


def judge_chain(lane: EoaLane, event: ChainRead) -> Decision:
    """The account, then blocks taken back, then what is in the new ones, then what is final."""
    head = lane.head
    records: list[Record] = [
        AccountSeen(
            latest=event.latest,
            preconfirmed=event.preconfirmed,
            balance=amount(event.balance),
            base_fee=event.base_fee,
            tip=event.tip,
            at_ms=event.now_ms,
        )
    ]
    effects: list[Effect] = []
    threshold = head.health.threshold
    if head.broke and event.balance > value(threshold):
        records.append(FundsJudged(False, threshold))
    seen = {slot.id: slot.seen for slot in lane.slots.values() if slot.seen is not None}
    undone: dict[int, Inclusion] = {}
    if event.fork is not None:
        records.append(HeadMoved(event.block, event.block_hash, event.fork))
        undone = {slot: fact for slot, fact in seen.items() if fact.block > event.fork}
        seen = {slot: fact for slot, fact in seen.items() if slot not in undone}
    elif (event.block, event.block_hash) != (head.block, head.block_hash):
        records.append(HeadMoved(event.block, event.block_hash))
    doubled = 0
    for receipt in event.receipts:
        place = lane.hashes.get(receipt.hash)
        if place is None:
            continue
        if place[0] in seen:
            doubled += seen[place[0]].attempt != place[1]
            continue
        seen[place[0]] = fact = included(receipt, place[1])
        records.append(seen_at(lane.slots[place[0]], fact, receipt.hash))
    for number, fact in undone.items():
        if number not in seen:
            record, effect = reoffer(lane, number, fact.attempt)
            records.append(record)
            effects.append(effect)
    settled = settle(lane, seen, event)
    records += settled
    unknown = unseen(lane, seen, event)
    report = report_of(lane, Sightings(event.now_ms, tuple(seen), settled, doubled, len(unknown)))
    if is_telling(report):
        records.append(CleanupDone(report))
    proofs = [slot for slot in unknown if not slot.proving][:PROOFS_MAX]
    records += [ProofOrdered(slot.id, True) for slot in proofs]
    effects += [ProveNonce(slot.nonce, event.block) for slot in proofs]
    if head.nonce_next is not None:
        # Whoever else used numbers below them, those above are held back no longer.
        moved = offer(lane, [], {}, min(event.latest, head.nonce_next))
        records += moved.records
        effects += moved.effects
    is_over = len(lane.slots) == len(settled) and not lane.returned and not head.broke
    records.append(LookEnded(None if is_over else event.now_ms + lane.settings.poll_ms))
    return said(records, effects)


def reoffer(lane: EoaLane, slot: int, number: int) -> tuple[AttemptReoffered, SendAttempt]:
    """The same bytes to everyone: a block that held them was taken back."""
    attempt = lane.attempts[slot][number]
    nodes = (*attempt.silent, *attempt.refused, *attempt.taken)
    record = AttemptReoffered(slot, number, lane.slots[slot].intent, attempt.hash)
    return record, SendAttempt(slot, number, lane.raw(attempt), nodes, again=True)


def seen_at(slot: Slot, fact: Inclusion, mined: bytes) -> SlotIncluded:
    return SlotIncluded(slot.id, fact, slot.intent, slot.nonce, mined)


def included(receipt: Receipt, attempt: int) -> Inclusion:
    return Inclusion(
        attempt, receipt.block, receipt.block_hash, receipt.ok, receipt.gas_used, receipt.price
    )


def settle(
    lane: EoaLane, seen: dict[int, Inclusion], event: ChainRead
) -> list[SlotSettled | SlotFreed]:
    """Final answers in the order of the numbers; one that is not final holds back those above."""
    records: list[SlotSettled | SlotFreed] = []
    final_block = event.block - lane.settings.finality_depth_blocks
    number = lane.head.low
    while True:
        slot = lane.slot_at(number)
        if slot is None:
            if number >= event.latest:
                return records
        else:
            fact = seen.get(slot.id)
            if fact is None or fact.block > final_block:
                return records
            records.append(ended(lane, slot, fact, event.now_ms))
        number += 1


def ended(lane: EoaLane, slot: Slot, fact: Inclusion, now_ms: int) -> SlotSettled | SlotFreed:
    attempt = lane.attempts[slot.id][fact.attempt]
    status, reason = Status.CONFIRMED if fact.ok else Status.REVERTED, landed(slot, attempt)
    if attempt.purpose == Purpose.CANCEL:
        status, reason = Status.CANCELLED, "a no-op took its place"
    elif attempt.purpose == Purpose.NOOP and slot.intent is not None:
        # A no-op took the number so that others could go on: the intent is given another.
        reason = "a no-op took its place"
        return freed(lane, slot, reason, now_ms)
    return SlotSettled(
        slot=slot.id,
        status=status.value,
        at_ms=now_ms,
        reason=reason,
        intent=slot.intent,
        nonce=slot.nonce,
        block=fact.block,
        hash=attempt.hash,
    )


def landed(slot: Slot, attempt: Attempt) -> str:
    """Which of its contents, where there was a choice."""
    if slot.content == 0:
        return ""
    if attempt.content == 0:
        return "its first content landed, not its replacement"
    return f"its replacement {attempt.content} of {slot.content} landed"


def freed(lane: EoaLane, slot: Slot, reason: str, now_ms: int) -> SlotFreed:
    """Its number is used up, and not by it."""
    retake_ms = now_ms + lane.settings.make_retry_ms
    return SlotFreed(slot.id, retake_ms, reason, False, slot.intent, slot.nonce)


def unseen(lane: EoaLane, seen: dict[int, Inclusion], event: ChainRead) -> list[Slot]:
    """Numbers that the chain says are used, and none of our bytes was seen there."""
    return [
        slot
        for number in range(lane.head.low, event.latest)
        if (slot := lane.slot_at(number)) is not None and slot.id not in seen
    ]


def judge_proof(lane: EoaLane, event: NonceProven) -> Decision:
    """Another's transaction at our number frees the intent only when that one is final: as long
    as a reorg can take it back, our own bytes could land."""
    slot = lane.slot_at(event.nonce)
    if slot is None or not slot.proving:
        return NOTHING
    receipt = event.receipt
    if receipt is None:
        return said([ProofOrdered(slot.id, False)])
    place = lane.hashes.get(receipt.hash)
    if place is not None and place[0] == slot.id:
        return said([seen_at(slot, included(receipt, place[1]), receipt.hash)])
    if receipt.block + lane.settings.finality_depth_blocks > lane.head.block:
        return said([ProofOrdered(slot.id, False)])
    reason = f"replaced by 0x{receipt.hash.hex()}"
    if slot.intent is not None and slot.purpose != Purpose.CANCEL:
        moved = CleanupReport(event.now_ms, moved_to_pending=1)
        return said([freed(lane, slot, reason, event.now_ms), CleanupDone(moved)])
    word = Status.REFUSED if slot.intent is None else Status.CANCELLED
    return said([dropped(lane, slot, word.value, reason, event.now_ms, recycle=False)])
