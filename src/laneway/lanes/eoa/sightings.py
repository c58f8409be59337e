"""What a look at the chain proves: inclusion, finality, reorgs, and who else used a number."""

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from laneway.core.outcome import Status
from laneway.core.reason import clip
from laneway.core.units import amount, value
from laneway.lanes.eoa import values as v
from laneway.lanes.eoa.answers import dropped, offer
from laneway.lanes.eoa.lane import EoaLane
from laneway.lanes.eoa.limits import (
    GAP_NUMBERS_MAX,
    PROOFS_MAX,
    PROOFS_TO_HALT,
    PROVE_GROWTH_MAX,
)
from laneway.lanes.eoa.rows import Attempt, Cleanup, Inclusion, Purpose, Slot
from laneway.lanes.eoa.tries import NOTHING, Decision, decided, needs_majority, prove, reoffer
from laneway.lanes.eoa.values import SlotSettled

CONFIRMED, REVERTED = Status.CONFIRMED.value, Status.REVERTED.value
"""Constants: every payment ends with one of them, and to ask an Enum for its value is a call."""


def judge_chain(lane: EoaLane, event: v.ChainRead) -> Decision:
    """The account, then blocks taken back, then what is in the new ones, then what is final."""
    head = lane.head
    if event.since != head.block_hash:
        return NOTHING
    if needs_majority(lane) and event.latest < head.final_next:
        return decided(contradicted(lane, event))
    records: list[v.Record] = [
        v.AccountSeen(
            latest=event.latest,
            preconfirmed=event.preconfirmed,
            balance=amount(event.balance),
            base_fee=event.base_fee,
            tip=event.tip,
            at_ms=event.now_ms,
            filled=is_filled(lane, event),
        )
    ]
    effects: list[v.Effect] = []
    is_broke = head.broke and not has_funds(lane, event)
    if head.broke and not is_broke:
        records.append(v.FundsJudged(False, head.health.threshold))
    facts = Facts(lane, event.fork)
    if event.fork is not None:
        records.append(v.HeadMoved(event.block, event.block_hash, event.fork))
    elif (event.block, event.block_hash) != (head.block, head.block_hash):
        records.append(v.HeadMoved(event.block, event.block_hash))
    doubled = facts.take(event.receipts)
    facts.judge(event)
    settled = settle(lane, facts, event)
    final = {record.slot for record in settled}
    records += [
        seen_at(lane.slots[slot], fact, lane.attempts[slot][fact.attempt].hash)
        for slot, fact in facts.fresh.items()
        if slot not in final
    ]
    back = taken_back(lane, facts)
    records += (*back.records, *settled)
    effects += back.effects
    unknown = unseen(lane, facts, event)
    report = report_of(event.now_ms, settled, doubled, len(unknown))
    if is_telling(report):
        records.append(v.CleanupDone(report))
    # A node may count what is in the block after the one it names (anvil does); the next look
    # reads that one.
    overdue = [slot for slot in unknown if slot.nonce < head.latest]
    proofs = ordered_proofs(lane, overdue, event.now_ms, above_a_hole(lane, event))
    records += proofs.records
    effects += proofs.effects
    if head.nonce_next is not None:
        # No matter who else used numbers below them, those above are held back no longer.
        moved = offer(lane, [], {}, event.now_ms, event.latest)
        records += moved.records
        effects += moved.effects
    open_count = len(lane.slots) - len(settled)
    pause_ms = look_pause_ms(lane, open_count, is_broke=is_broke)
    records.append(v.LookEnded(None if pause_ms is None else event.now_ms + pause_ms))
    return decided(records, effects)


def has_funds(lane: EoaLane, event: v.ChainRead) -> bool:
    """Whether an account that is out of funds is worth another try: it has more than it had then,
    or what the slot needs for which that was said, or that was said long ago."""
    health, settings = lane.head.health, lane.settings
    if event.balance > value(health.threshold):
        return True
    if event.now_ms >= health.broke_ms + settings.funds_check_ms:
        return True
    slot = lane.slots.get(health.poor_slot)
    is_lowest = slot is not None and slot.nonce <= event.latest
    is_enough = 0 < value(health.needed) <= event.balance
    return is_lowest and is_enough and event.now_ms >= health.broke_ms + settings.funds_retry_ms


def taken_back(lane: EoaLane, facts: "Facts") -> Decision:
    """What is in no block any more, or never was: its bytes are sent again."""
    records: list[v.Record] = [denied_at(lane, slot, fact) for slot, fact in facts.denied.items()]
    effects: list[v.Effect] = []
    for slot, fact in facts.undone.items():
        if slot not in facts.fresh and slot not in facts.sure:
            is_reorg = slot not in facts.denied
            record, sends = reoffer(lane, lane.attempts[slot][fact.attempt], reorg=is_reorg)
            records.append(record)
            effects += sends
    return decided(records, effects)


def contradicted(lane: EoaLane, event: v.ChainRead) -> list[v.Record]:
    """The count is below numbers that a majority showed to be mined for good: nothing is taken from
    such a look."""
    head = lane.head
    records: list[v.Record] = [v.LookEnded(event.now_ms + lane.settings.poll_ms)]
    if not head.halted:
        reason = (
            f"nodes count {event.latest}, and nonce {head.final_next - 1} was final: they lag, lie "
            "or serve another chain; replace them, or reset-nonce if the chain was begun anew"
        )
        records.append(v.HaltJudged(reason, event.now_ms, head.final_next - 1))
    return records


def above_a_hole(lane: EoaLane, event: v.ChainRead) -> v.HaltJudged | None:
    """Our lowest number is so far above the account's count that a false count must have put it
    there, and filling the hole would cost a no-op for each number in it. None: it is not."""
    if event.latest in lane.nonces:
        return None  # Nearly always: the lowest of thousands need not be looked for.
    lowest = min(lane.nonces, default=event.latest)
    if lowest - event.latest - lane.free.count <= GAP_NUMBERS_MAX:
        return None
    reason = (
        f"nodes count {event.latest}, and our lowest nonce is {lowest}: a false count put it "
        "there, and it cannot be mined; replace the node that lied, then cancel what has that "
        "nonce, or reset-nonce if it is a no-op's"
    )
    return v.HaltJudged(reason, event.now_ms, lowest)


def ordered_proofs(
    lane: EoaLane, overdue: list[Slot], now_ms: int, hole: v.HaltJudged | None
) -> Decision:
    """It is asked who used these numbers, ever more rarely while nothing comes of it. A lane whose
    lowest number is above a hole is halted until it is not."""
    head = lane.head
    records: list[v.Record] = []
    if hole is not None and not (head.halted and head.halted_nonce == hole.nonce):
        records.append(hole)
    if not overdue and head.halted and hole is None:
        records.append(v.HaltJudged("", now_ms, head.halted_nonce))
    if not overdue and head.prove_tries:
        records.append(v.ProofsPaced(0, 0))
    asked = [slot for slot in overdue if not slot.proving][:PROOFS_MAX]
    if not asked or now_ms < head.prove_ms:
        return decided(records)
    pause_ms = lane.settings.poll_ms << min(head.prove_tries, PROVE_GROWTH_MAX)
    records.append(v.ProofsPaced(now_ms + pause_ms, head.prove_tries + 1))
    records += [v.ProofOrdered(slot.id, True) for slot in asked]
    return decided(records, [prove(lane, slot) for slot in asked])


def look_pause_ms(lane: EoaLane, open_count: int, *, is_broke: bool) -> int | None:
    """How long the chain is not looked at; None while there is nothing to look for."""
    if open_count or lane.returned:
        return lane.settings.poll_ms
    # Nothing is out: all that can be waited for is money.
    return lane.settings.funds_retry_ms if is_broke else None


def is_filled(lane: EoaLane, event: v.ChainRead) -> bool:
    """Whether the balance has risen. Where it does so all the time that says nothing: half of the
    time nodes are believed."""
    health = lane.head.health
    if health.balance is None or event.balance <= value(health.balance):
        return False
    return event.now_ms >= health.filled_ms + 2 * lane.settings.block_ms


class Facts:
    """Where slots are mined, by what was known and by what one look found."""

    def __init__(self, lane: EoaLane, fork: int | None) -> None:
        self._lane = lane
        self.undone: dict[int, Inclusion] = {}
        """What a reorg took back."""
        if fork is not None:
            self.undone = {slot: fact for slot, fact in lane.seen.items() if fact.block > fork}
        self.fresh: dict[int, Inclusion] = {}
        self.sure: dict[int, Inclusion] = {}
        """What a majority of several nodes shows to be final."""
        self.denied: dict[int, Inclusion] = {}
        """What was known, and a majority of them shows nowhere."""

    def take(self, receipts: tuple[v.Receipt, ...]) -> int:
        """What is in the new blocks; how many receipts stand at one number beside another."""
        doubled = 0
        for receipt in receipts:
            place = self._lane.hashes.get(receipt.hash)
            if place is None:
                continue
            known = self.get(place[0])
            if known is None:
                self.fresh[place[0]] = included(receipt, place[1])
            else:
                doubled += known.attempt != place[1]
        return doubled

    def judge(self, event: v.ChainRead) -> None:
        """What a majority says of what is final."""
        for receipt in event.agreed:
            place = self._lane.hashes.get(receipt.hash)
            if place is not None:
                self.sure[place[0]] = included(receipt, place[1])
        for hash_ in event.denied:
            place = self._lane.hashes.get(hash_)
            if place is None:
                continue
            self.fresh.pop(place[0], None)
            known = self._lane.seen.get(place[0])
            if known is not None and place[0] not in self.undone and place[0] not in self.sure:
                self.undone[place[0]] = self.denied[place[0]] = known

    def final(self, slot: int, block: int) -> Inclusion | None:
        """Where it was mined, if that is final by this block."""
        if needs_majority(self._lane):
            return self.sure.get(slot)
        fact = self.get(slot)
        return fact if fact is not None and fact.block <= block else None

    def get(self, slot: int) -> Inclusion | None:
        found = self.sure.get(slot) or self.fresh.get(slot)
        if found is None and slot not in self.undone:
            found = self._lane.seen.get(slot)
        return found

    def count(self) -> int:
        return len(self._lane.seen) - len(self.undone) + len(self.fresh)


def seen_at(slot: Slot, fact: Inclusion, mined: bytes) -> v.SlotIncluded:
    return v.SlotIncluded(slot.id, fact, slot.intent, slot.nonce, mined)


def denied_at(lane: EoaLane, slot: int, fact: Inclusion) -> v.InclusionDenied:
    one = lane.slots[slot]
    return v.InclusionDenied(slot, one.intent, one.nonce, lane.attempts[slot][fact.attempt].hash)


def included(receipt: v.Receipt, attempt: int) -> Inclusion:
    return Inclusion(
        attempt, receipt.block, receipt.block_hash, receipt.ok, receipt.gas_used, receipt.price
    )


def settle(lane: EoaLane, facts: Facts, event: v.ChainRead) -> list[v.SlotSettled]:
    """Final answers in the order of the numbers; one that is not final holds back those above."""
    records: list[v.SlotSettled] = []
    final_block = event.block - lane.settings.finality_depth_blocks
    # Our own numbers, never up to one that a node named.
    for nonce in sorted(lane.nonces):
        slot = lane.slots[lane.nonces[nonce]]
        fact = facts.final(slot.id, final_block)
        if fact is None:
            break
        records.append(ended(lane, slot, fact, event.now_ms))
    return records


def ended(lane: EoaLane, slot: Slot, fact: Inclusion, now_ms: int) -> v.SlotSettled:
    attempt = lane.attempts[slot.id][fact.attempt]
    status, reason = CONFIRMED if fact.ok else REVERTED, ""
    if slot.content:
        reason = landed(slot, attempt)
    if attempt.purpose == Purpose.CANCEL:
        status, reason = Status.CANCELLED.value, "a no-op took its place"
    elif attempt.purpose == Purpose.NOOP and slot.intent is not None:
        # No node takes it, and none ever will: the no-op made sure that none had.
        status, reason = Status.REFUSED.value, denial(lane, slot)
    return v.SlotSettled(
        slot=slot.id,
        status=status,
        at_ms=now_ms,
        reason=reason,
        intent=slot.intent,
        nonce=slot.nonce,
        block=fact.block,
        hash=attempt.hash,
        seen=fact,
    )


def landed(slot: Slot, attempt: Attempt) -> str:
    """Which of its contents, where there was a choice."""
    if attempt.content == 0:
        return "its first content landed, not its replacement"
    return f"its replacement {attempt.content} of {slot.content} landed"


def freed(lane: EoaLane, slot: Slot, reason: str, now_ms: int) -> v.SlotFreed:
    """Its number is used up, and not by it."""
    retake_ms = now_ms + lane.settings.make_retry_ms
    return v.SlotFreed(slot.id, retake_ms, reason, False, slot.intent, slot.nonce)


def denial(lane: EoaLane, slot: Slot) -> str:
    """Why nodes refused the intent's own bytes."""
    own = [one for one in lane.tries(slot.id).values() if one.purpose == Purpose.INTENT]
    return next((one.reason for one in own if one.reason), "every node refused it")


def unseen(lane: EoaLane, facts: Facts, event: v.ChainRead) -> list[Slot]:
    """Numbers that the chain says are used, and none of our bytes was seen there."""
    if facts.count() >= event.latest - lane.head.low:
        return []  # Each of them was: that is the rule, and the window may be wide.
    return [
        lane.slots[lane.nonces[nonce]]
        for nonce in sorted(lane.nonces)
        if nonce < event.latest and facts.get(lane.nonces[nonce]) is None
    ]


def judge_proof(lane: EoaLane, event: v.NonceProven) -> Decision:
    """What was mined at a number counts only when it is final at a majority of all nodes. As long
    as a reorg can take it back, or one node alone says so, our own bytes could land; and whether
    its block is one of those that we read is not known, so that no later look would say that it is
    gone."""
    head, slot = lane.head, lane.slot_at(event.nonce)
    if slot is None or not slot.proving:
        return NOTHING
    receipt = event.receipt
    if receipt is None:
        records: list[v.Record] = [v.ProofOrdered(slot.id, False)]
        is_known = head.halted and lane.slot_at(head.halted_nonce) is not None
        if event.evidence and head.prove_tries >= PROOFS_TO_HALT and not is_known:
            records.append(v.HaltJudged(clip(event.evidence), event.now_ms, slot.nonce))
        return decided(records)
    paced = [v.ProofsPaced(0, 0)] if head.prove_tries else []
    place = lane.hashes.get(receipt.hash)
    if place is not None and place[0] == slot.id:
        return decided([*paced, seen_at(slot, included(receipt, place[1]), receipt.hash)])
    reason = f"replaced by 0x{receipt.hash.hex()}"
    if slot.intent is not None and slot.purpose != Purpose.CANCEL:
        moved = Cleanup(event.now_ms, moved_to_pending=1)
        return decided([*paced, freed(lane, slot, reason, event.now_ms), v.CleanupDone(moved)])
    status = Status.REFUSED if slot.intent is None else Status.CANCELLED
    gone = dropped(lane, slot, status.value, reason, event.now_ms, recycle=False)
    return decided([*paced, replace(gone, proven=True)])


MINED = (Status.CONFIRMED.value, Status.REVERTED.value)


def report_of(at_ms: int, settled: Sequence[SlotSettled], doubled: int, unseen: int) -> Cleanup:
    """Of one look: what is final now, second receipts at one number, and numbers that are used by
    none of our bytes so far. What returns to the queue is recorded where it is proven."""
    mined = [record for record in settled if record.status in MINED and record.intent is not None]
    owners = Counter(record.intent for record in mined)
    return Cleanup(
        at_ms=at_ms,
        moved_to_success=len(mined),
        noop_count=len(settled) - len(mined),
        cross_nonce_violations=len(mined) - len(owners),
        per_nonce_violations=doubled,
        nonces_without_receipts=unseen,
    )


def is_telling(report: Cleanup) -> bool:
    return report != Cleanup(report.at_ms)
