"""What a look at the chain proves: inclusion, finality, reorgs, and who else used a number."""

from laneway.core.outcome import Status
from laneway.core.units import amount, value
from laneway.lanes.eoa.answers import offer
from laneway.lanes.eoa.lane import EoaLane
from laneway.lanes.eoa.limits import PROOFS_MAX
from laneway.lanes.eoa.tries import NOTHING, Decision, said
from laneway.lanes.eoa.values import (
    AccountSeen,
    AttemptReoffered,
    ChainRead,
    Effect,
    FundsJudged,
    HeadMoved,
    Inclusion,
    LookEnded,
    NonceProven,
    ProofOrdered,
    ProveNonce,
    Purpose,
    Receipt,
    Record,
    SendAttempt,
    Slot,
    SlotDropped,
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
    for receipt in event.receipts:
        place = lane.hashes.get(receipt.hash)
        if place is not None and place[0] not in seen:
            seen[place[0]] = fact = included(receipt, place[1])
            records.append(SlotIncluded(place[0], fact))
    for number, fact in undone.items():
        if number not in seen:
            record, effect = reoffer(lane, number, fact.attempt)
            records.append(record)
            effects.append(effect)
    settled = settle(lane, seen, event)
    records += settled
    proofs = prove(lane, seen, event)
    records += [ProofOrdered(slot.id, True) for slot in proofs]
    effects += [ProveNonce(slot.nonce, event.block) for slot in proofs]
    if head.nonce_next is not None:
        # Whoever else used numbers below them, those above are held back no longer.
        moved = offer(lane, [], {}, event.latest)
        records += moved.records
        effects += moved.effects
    is_over = len(lane.slots) == len(settled) and not lane.returned and not head.broke
    records.append(LookEnded(None if is_over else event.now_ms + lane.settings.poll_ms))
    return said(records, effects)


def reoffer(lane: EoaLane, slot: int, number: int) -> tuple[AttemptReoffered, SendAttempt]:
    """The same bytes to everyone: a block that held them was taken back."""
    attempt = lane.attempts[slot][number]
    nodes = (*attempt.silent, *attempt.refused, *attempt.taken)
    raw = lane.raw(attempt)
    return AttemptReoffered(slot, number), SendAttempt(slot, number, raw, nodes, again=True)


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
    purpose = lane.attempts[slot.id][fact.attempt].purpose
    if purpose == Purpose.CANCEL:
        return SlotSettled(slot.id, Status.CANCELLED.value, now_ms, "a no-op took its place")
    if purpose == Purpose.NOOP and slot.intent is not None:
        # A no-op took the number so that others could go on: the intent is given another.
        retake_ms = now_ms + lane.settings.make_retry_ms
        return SlotFreed(slot.id, retake_ms, "a no-op took its place", recycle=False)
    status = Status.CONFIRMED if fact.ok else Status.REVERTED
    return SlotSettled(slot.id, status.value, now_ms)


def prove(lane: EoaLane, seen: dict[int, Inclusion], event: ChainRead) -> list[Slot]:
    """Numbers that the chain says are used, and none of our bytes was seen there."""
    found: list[Slot] = []
    for number in range(lane.head.low, event.latest):
        slot = lane.slot_at(number)
        if slot is not None and slot.id not in seen and not slot.proving:
            found.append(slot)
            if len(found) == PROOFS_MAX:
                break
    return found


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
        return said([SlotIncluded(slot.id, included(receipt, place[1]))])
    if receipt.block + lane.settings.finality_depth_blocks > lane.head.block:
        return said([ProofOrdered(slot.id, False)])
    reason = f"replaced by 0x{receipt.hash.hex()}"
    retake_ms = event.now_ms + lane.settings.make_retry_ms
    if slot.intent is None:
        gone = SlotDropped(
            slot.id, Status.REFUSED.value, reason, event.now_ms, retake_ms, recycle=False
        )
        return said([gone])
    if slot.purpose == Purpose.CANCEL:
        gone = SlotDropped(
            slot.id, Status.CANCELLED.value, reason, event.now_ms, retake_ms, recycle=False
        )
        return said([gone])
    return said([SlotFreed(slot.id, retake_ms, reason, recycle=False)])
