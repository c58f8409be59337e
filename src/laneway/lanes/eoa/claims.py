"""Numbers for intents: free ones first, then new ones; no-ops for those nobody may take."""

from collections import deque

from laneway.core.intent import IntentRow
from laneway.lanes.common.commands import expiry_of, is_expired
from laneway.lanes.eoa import values as v
from laneway.lanes.eoa.lane import EoaLane
from laneway.lanes.eoa.limits import CLAIMS_MAX, SLOTS_OPEN_MAX
from laneway.lanes.eoa.rows import Purpose, Slot
from laneway.lanes.eoa.tries import NOTHING, Decision, ceiling, decided, look, make, make_at, market


def budget(lane: EoaLane) -> int:
    """Numbers that may still be in flight (seed 002: window − (optimistic − cached))."""
    head = lane.head
    if head.nonce_next is None:
        return 0
    inflight = head.nonce_next - head.latest
    return max(0, min(lane.settings.inflight_max() - inflight, SLOTS_OPEN_MAX - len(lane.slots)))


def is_running(lane: EoaLane) -> bool:
    head = lane.head
    return head.mode in ("running", "draining") and not head.broke and not head.halted


def wants(lane: EoaLane) -> int:
    """How many intents of the backlog may be given numbers now.

    None while an older one waits to be given one again, or a number below those in flight is
    free: what comes later must not overtake.
    """
    if not is_running(lane) or lane.returned:
        return 0
    if lane.head.nonce_next is None:
        # What is offered makes it read the account.
        return 0 if lane.head.looking or is_drained(lane) else 1
    if lane.free.count and lane.settings.recycled == "returned":
        return 0
    if lane.free.count > lane.settings.recycled_max:
        return 0
    wanted = min(CLAIMS_MAX, budget(lane))
    return min(wanted, lane.head.drain_left) if lane.head.mode == "draining" else wanted


def is_drained(lane: EoaLane) -> bool:
    """Whether an operator's drain is done: all intents have ended, and no-ops do not count."""
    head = lane.head
    return head.mode == "draining" and not head.drain_left and not lane.bound and not lane.returned


class Numbers:
    """The numbers that are given out next, in their order."""

    def __init__(self, lane: EoaLane) -> None:
        assert lane.head.nonce_next is not None
        self._free = lane.free.first(lane.free.count)
        self._next = lane.head.nonce_next
        self._slot = lane.head.slot_next

    def has_free(self) -> bool:
        return bool(self._free)

    def lowest(self) -> int:
        """The one that is given out next."""
        return self._free[0] if self._free else self._next

    def slot(self) -> int:
        self._slot += 1
        return self._slot - 1

    def take(self) -> int:
        if self._free:
            return self._free.pop(0)
        self._next += 1
        return self._next - 1


def claim_offered(lane: EoaLane, intents: tuple[IntentRow, ...], now_ms: int) -> Decision:
    """Intents from the backlog, in their order."""
    left = wants(lane)
    if left == 0:
        return NOTHING
    if is_stale(lane, now_ms):
        # One that came back with nothing is not repeated before its time.
        is_planned = lane.head.poll_ms is not None and now_ms < lane.head.poll_ms
        if lane.head.looking or is_planned:
            return NOTHING
        return decided([v.LookBegun()], [look(lane)])
    numbers, asked, bound = Numbers(lane), market(lane), ceiling(lane)
    records: list[v.Record] = []
    effects: list[v.Effect] = []
    draining = lane.head.mode == "draining"
    for intent in intents:
        if draining and intent.seq > lane.head.drain_seq:
            break
        if is_expired(intent, now_ms):
            records.append(expiry_of(intent, now_ms))
            continue
        if left == 0:
            break
        left -= 1
        slot = slot_for(lane, intent, numbers, now_ms)
        records.append(v.SlotClaimed(slot, returned=False))
        content = lane.contents.get(intent.id) if slot.content else None
        payload = intent.payload if content is None else content.payload
        effects.append(make_at(slot, payload, asked, bound))
    return decided((*records, *poll_soon(lane, now_ms)), effects)


def is_stale(lane: EoaLane, now_ms: int) -> bool:
    """An account that rested is read before its first number: others may have used it."""
    head = lane.head
    if head.nonce_next is None:
        return True
    return not lane.slots and now_ms - head.read_ms > lane.settings.rest_ms


def poll_soon(lane: EoaLane, now_ms: int) -> tuple[v.Record, ...]:
    """While something is out the chain is looked at."""
    if lane.head.looking or lane.head.poll_ms is not None:
        return ()
    return (v.LookEnded(now_ms + lane.settings.poll_ms),)


def retake(lane: EoaLane, now_ms: int) -> Decision:
    """Returned intents take the free numbers, and new ones after them; no-ops fill the rest.

    A free number is not for one that is younger than some intent above it: it would overtake.
    """
    if not is_running(lane):
        return NOTHING
    numbers = Numbers(lane)
    records: list[v.Record] = []
    effects: list[v.Effect] = []
    back = deque[IntentRow]()
    for row in sorted(lane.returned.values(), key=lambda row: (-row.priority, row.seq)):
        intent = lane.intents[row.intent]
        if is_expired(intent, now_ms):
            records.append(expiry_of(intent, now_ms))
        else:
            back.append(intent)
    while back or numbers.has_free():
        is_back = bool(back) and may_take(lane, back[0], numbers.lowest())
        if is_back:
            slot = slot_for(lane, back.popleft(), numbers, now_ms)
        else:
            slot = no_op(numbers.slot(), numbers.take(), now_ms)
        records.append(v.SlotClaimed(slot, returned=is_back))
        effects.append(make(lane, slot))
    return decided((*records, *poll_soon(lane, now_ms)), effects)


def may_take(lane: EoaLane, intent: IntentRow, number: int) -> bool:
    assert lane.head.nonce_next is not None
    if number >= lane.head.nonce_next or lane.settings.recycled == "any":
        return True
    return not any(
        slot.nonce > number and slot.seq < intent.seq and slot.priority == intent.priority
        for slot in lane.slots.values()
        if slot.intent is not None
    )


def slot_for(lane: EoaLane, intent: IntentRow, numbers: Numbers, now_ms: int) -> Slot:
    content = lane.contents.get(intent.id) if lane.contents else None
    back = lane.returned.get(intent.id)
    return Slot(
        id=numbers.slot(),
        intent=intent.id,
        seq=intent.seq,
        priority=intent.priority,
        size=intent.size(),
        nonce=numbers.take(),
        claimed_ms=now_ms,
        accepted_ms=intent.accepted_ms,
        content=0 if content is None else content.count,
        refusals=0 if back is None else back.refusals,
    )


def no_op(slot: int, nonce: int, now_ms: int) -> Slot:
    """A slot that fills a number and has no intent."""
    return Slot(slot, None, 0, 0, 0, nonce, now_ms, purpose=Purpose.NOOP)
