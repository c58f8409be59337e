"""A sketch of the EOA nonce machine: the second customer of the lane port, to try it on.

Many nonces are in flight. An intent is pending, then borrowed (its signed bytes are committed
before they are sent), submitted, confirmed. A nonce is free again only when every node it was
offered to refused it for good; its intent is returned, keeps its order, and takes a recycled
nonce first. Unknown keeps the nonce. After a minute a higher fee is a further attempt.
"""

from typing import Any, TypeAlias, assert_never

import msgspec
from msgspec import Struct

from laneway.core.ids import IntentId, LaneId, lane_id
from laneway.core.intent import IntentRow
from laneway.core.outcome import Outcome
from laneway.core.records import Decision, PassOn
from laneway.core.rows import (
    Command,
    HeadWrite,
    Index,
    Outbox,
    Result,
    Returned,
    RowKey,
    RowPut,
    Rows,
    Table,
    Touch,
    Touched,
)
from laneway.lanes.kind import LaneKind, LaneState

WINDOW = 4
NODES = ("a", "b")
"""Whom every attempt is offered to; committed with it."""
BUMP_MS = 60_000
WATCH_MS = 2_000
RETURN_MS = 1_000
DELIVERY = lane_id("delivery", "hook")

replace = msgspec.structs.replace
encode = msgspec.msgpack.Encoder().encode

# Rows.


class EoaHead(Struct, array_like=True):
    cursors: tuple[int, ...] = (0,)
    settled_count: int = 0
    settled_bytes: int = 0
    slot_next: int = 1
    nonce_next: int | None = None
    watch_ms: int | None = None
    """When receipts are read next; None while they are being read, or nothing is out."""
    watching: bool = False
    retake_ms: int | None = None
    """When returned intents are given slots again."""


class Slot(Struct, frozen=True, array_like=True):
    id: int
    intent: IntentId
    seq: int
    size: int
    nonce: int | None
    """None until the account's count was read."""
    fee: int = 100
    attempt_next: int = 1
    signing: bool = True
    """The bytes of the next attempt are being made."""
    tried_ms: int = 0


class Attempt(Struct, frozen=True, array_like=True):
    slot: int
    number: int
    hash: bytes
    silent: tuple[str, ...]
    """Nodes that have not answered."""
    refused: tuple[str, ...] = ()
    """Nodes that refused it for good."""

    def key(self) -> str:
        return f"{self.slot}/{self.number}"

    def is_dead(self) -> bool:
        return len(self.refused) == len(NODES)


# Events.


class IntentsOffered(Struct, frozen=True):
    now_ms: int
    intents: tuple[IntentRow, ...]


class NonceRead(Struct, frozen=True):
    now_ms: int
    nonce: int


class AttemptMade(Struct, frozen=True):
    """The signer's answer."""

    now_ms: int
    slot: int
    number: int
    raw: bytes
    hash: bytes


class SendResult(Struct, frozen=True):
    slot: int
    number: int
    node: str
    outcome: Outcome


class BroadcastReturned(Struct, frozen=True):
    now_ms: int
    results: tuple[SendResult, ...]


class ReceiptsSeen(Struct, frozen=True):
    now_ms: int
    mined: tuple[bytes, ...]


class TimerFired(Struct, frozen=True):
    now_ms: int


class CommandTold(Struct, frozen=True):
    now_ms: int
    command: Command


class MessagePassed(Struct, frozen=True):
    now_ms: int
    id: IntentId


Event: TypeAlias = (
    IntentsOffered | NonceRead | AttemptMade | BroadcastReturned | ReceiptsSeen
    | TimerFired | CommandTold | MessagePassed
)  # fmt: skip

# Records.


class SlotClaimed(Struct, frozen=True, tag=True):
    slot: Slot
    returned: bool


class NonceLearned(Struct, frozen=True, tag=True):
    nonce: int


class AttemptSigned(Struct, frozen=True, tag=True):
    """Borrowed: the bytes are durable, and only now may they be sent."""

    attempt: Attempt
    raw: bytes
    at_ms: int


class AttemptAnswered(Struct, frozen=True, tag=True):
    slot: int
    number: int
    node: str
    refused: bool


class SlotFreed(Struct, frozen=True, tag=True):
    slot: int
    retake_ms: int


class BumpOrdered(Struct, frozen=True, tag=True):
    slot: int
    fee: int


class WatchPlanned(Struct, frozen=True, tag=True):
    at_ms: int | None
    watching: bool


class SlotConfirmed(Struct, frozen=True, tag=True):
    slot: int
    hash: bytes
    at_ms: int
    message: Outbox


class MessageTaken(Struct, frozen=True, tag=True):
    id: IntentId


Record: TypeAlias = (
    SlotClaimed | NonceLearned | AttemptSigned | AttemptAnswered | SlotFreed | BumpOrdered
    | WatchPlanned | SlotConfirmed | MessageTaken
)  # fmt: skip

# Effects.


class ReadNonce(Struct, frozen=True):
    pass


class Sign(Struct, frozen=True):
    slot: int
    number: int
    nonce: int
    fee: int
    payload: bytes


class Send(Struct, frozen=True):
    """Offer these bytes to the nodes that have not answered yet."""

    slot: int
    number: int
    raw: bytes
    nodes: tuple[str, ...]


class ReadReceipts(Struct, frozen=True):
    hashes: tuple[bytes, ...]


Effect: TypeAlias = ReadNonce | Sign | Send | ReadReceipts | PassOn
Said: TypeAlias = Decision[Record, Effect]

NOTHING: Said = Decision()


class EoaLane:
    """An owned index over frozen rows."""

    def __init__(self, lane: LaneId) -> None:
        self.id = lane
        self.head = EoaHead()
        self.slots: dict[int, Slot] = {}
        self.attempts: dict[str, Attempt] = {}
        self.raws: dict[str, bytes] = {}
        """Written once, in rows of their own: what changes stays small."""
        self.returned: dict[str, Returned] = {}
        self.free: list[int] = []
        self.outbox: dict[str, Outbox] = {}
        self.intents: dict[str, IntentRow] = {}

    def tries(self, slot: int) -> list[Attempt]:
        return [attempt for attempt in self.attempts.values() if attempt.slot == slot]


def restore(rows: Rows) -> EoaLane:
    lane = EoaLane(rows.head.lane)
    if rows.head.state:
        lane.head = msgspec.msgpack.decode(rows.head.state, type=EoaHead)
    for row in rows.open:
        if row.table == Table.SLOT:
            slot = msgspec.msgpack.decode(row.body, type=Slot)
            lane.slots[slot.id] = slot
        elif row.table == Table.ATTEMPT:
            attempt = msgspec.msgpack.decode(row.body, type=Attempt)
            lane.attempts[attempt.key()] = attempt
        elif row.table == Table.RETURNED:
            lane.returned[row.key] = msgspec.msgpack.decode(row.body, type=Returned)
        elif row.table == Table.OUTBOX:
            lane.outbox[row.key] = msgspec.msgpack.decode(row.body, type=Outbox)
        elif row.key.startswith("raw/"):
            lane.raws[row.key.removeprefix("raw/")] = row.body
        else:
            lane.free.append(int(row.key.removeprefix("free/")))
    lane.slots = dict(sorted(lane.slots.items()))
    lane.free.sort()
    lane.intents = {intent.id: intent for intent in rows.intents}
    return lane


# Decide.


def decide(lane: EoaLane, event: Event) -> Said:
    match event:
        case IntentsOffered(intents=intents):
            return claim(lane, [(intent, False) for intent in intents])
        case NonceRead(nonce=nonce):
            return judge_nonce(lane, nonce)
        case AttemptMade():
            return judge_signed(lane, event)
        case BroadcastReturned(results=results, now_ms=now_ms):
            return judge_answers(lane, results, now_ms)
        case ReceiptsSeen(mined=mined, now_ms=now_ms):
            return judge_receipts(lane, mined, now_ms)
        case TimerFired(now_ms=now_ms):
            return judge_timer(lane, now_ms)
        case CommandTold():
            return NOTHING
        case MessagePassed(id=name):
            return Decision((MessageTaken(name),)) if name in lane.outbox else NOTHING
        case _:
            assert_never(event)


def claim(lane: EoaLane, intents: list[tuple[IntentRow, bool]]) -> Said:
    """Recycled nonces first, then new ones; slots without a number wait for the count."""
    free, nonce_next = list(lane.free), lane.head.nonce_next
    records: list[Record] = []
    effects: list[Effect] = []
    for place, (intent, returned) in enumerate(intents):
        nonce: int | None = None
        if nonce_next is not None:
            nonce = free.pop(0) if free else nonce_next
            nonce_next = max(nonce_next, nonce + 1)
        slot = Slot(lane.head.slot_next + place, intent.id, intent.seq, intent.size(), nonce)
        records.append(SlotClaimed(slot, returned))
        effects += sign(lane, slot)
    if nonce_next is None and not any(slot.nonce is None for slot in lane.slots.values()):
        effects.append(ReadNonce())
    return Decision(tuple(records), tuple(effects))


def judge_nonce(lane: EoaLane, nonce: int) -> Said:
    if lane.head.nonce_next is not None:
        return NOTHING
    waiting = [slot for slot in lane.slots.values() if slot.nonce is None]
    numbered = [replace(slot, nonce=nonce + place) for place, slot in enumerate(waiting)]
    signs = tuple(effect for slot in numbered for effect in sign(lane, slot))
    return Decision((NonceLearned(nonce),), signs)


def judge_signed(lane: EoaLane, event: AttemptMade) -> Said:
    slot = lane.slots.get(event.slot)
    if slot is None or not slot.signing or slot.attempt_next != event.number:
        return NOTHING  # A late answer: the bytes were made already, and only those are sent.
    attempt = Attempt(slot.id, event.number, event.hash, NODES)
    signed = AttemptSigned(attempt, event.raw, event.now_ms)
    return Decision((signed,), (Send(slot.id, event.number, event.raw, NODES),))


def judge_answers(lane: EoaLane, results: tuple[SendResult, ...], now_ms: int) -> Said:
    records: list[Record] = []
    effects: tuple[Effect, ...] = ()
    after = dict(lane.attempts)
    for result in results:
        key = f"{result.slot}/{result.number}"
        attempt = after.get(key)
        if attempt is None or result.node not in attempt.silent:
            continue
        refused = result.outcome is Outcome.REFUSED
        answered = AttemptAnswered(result.slot, result.number, result.node, refused)
        records.append(answered)
        after[key] = answer(attempt, answered)
    for slot in lane.slots.values():
        tries = [attempt for attempt in after.values() if attempt.slot == slot.id]
        if tries and not slot.signing and all(attempt.is_dead() for attempt in tries):
            records.append(SlotFreed(slot.id, now_ms + RETURN_MS))
    watches = lane.head.watching or lane.head.watch_ms is not None
    if records and not watches and any(not attempt.is_dead() for attempt in after.values()):
        records.append(WatchPlanned(now_ms + WATCH_MS, watching=False))
    return Decision(tuple(records), effects)


def judge_receipts(lane: EoaLane, mined: tuple[bytes, ...], now_ms: int) -> Said:
    records: list[Record] = []
    effects: list[Effect] = []
    left = dict(lane.slots)
    for attempt in lane.attempts.values():
        slot = left.get(attempt.slot)
        if slot is not None and attempt.hash in mined:
            del left[attempt.slot]
            # The message's name follows from the intent's, so passing it on twice makes one.
            name = IntentId(f"tx_{int(slot.intent[3:], 16) + (1 << 120):032x}")
            message = Outbox(name, DELIVERY, slot.intent.encode(), now_ms)
            records.append(SlotConfirmed(slot.id, attempt.hash, now_ms, message))
            effects.append(PassOn(message))
    if lane.head.watching:
        records.append(WatchPlanned(now_ms + WATCH_MS if left else None, watching=False))
    return Decision(tuple(records), tuple(effects))


def judge_timer(lane: EoaLane, now_ms: int) -> Said:
    head = lane.head
    if head.retake_ms is not None and head.retake_ms <= now_ms:
        again = sorted(lane.returned.values(), key=lambda row: row.seq)
        return claim(lane, [(lane.intents[row.intent], True) for row in again])
    if head.watch_ms is not None and head.watch_ms <= now_ms:
        hashes = tuple(attempt.hash for attempt in lane.attempts.values())
        return Decision((WatchPlanned(None, watching=True),), (ReadReceipts(hashes),))
    for slot in lane.slots.values():
        if bump_ms(lane, slot) is not None and slot.tried_ms + BUMP_MS <= now_ms:
            fee = -(-slot.fee * 9 // 8)
            dearer = replace(slot, fee=fee, signing=True)
            return Decision((BumpOrdered(slot.id, fee),), sign(lane, dearer))
    return NOTHING


def bump_ms(lane: EoaLane, slot: Slot) -> int | None:
    """Only the lowest open nonce is worth a higher fee; the others wait for it."""
    if slot.signing or slot is not next(iter(by_nonce(lane)), None):
        return None
    return slot.tried_ms + BUMP_MS


def by_nonce(lane: EoaLane) -> list[Slot]:
    known = [(slot.nonce, slot) for slot in lane.slots.values() if slot.nonce is not None]
    return [slot for _, slot in sorted(known, key=lambda pair: pair[0])]


def sign(lane: EoaLane, slot: Slot) -> tuple[Effect, ...]:
    if slot.nonce is None:
        return ()
    body = lane.intents[slot.intent].payload
    return (Sign(slot.id, slot.attempt_next, slot.nonce, slot.fee, body),)


# Evolve.


def evolve(lane: EoaLane, record: Record) -> Touched:
    head = lane.head
    match record:
        case SlotClaimed(slot=slot, returned=returned):
            head.slot_next = slot.id + 1
            gone: list[Touch] = []
            if returned:
                del lane.returned[slot.intent]
                head.retake_ms = None
                gone.append(RowKey(Table.RETURNED, slot.intent))
            else:
                head.cursors = (slot.seq,)
            if slot.nonce in lane.free:
                lane.free.remove(slot.nonce)
                gone.append(RowKey(Table.AUX, f"free/{slot.nonce}"))
            elif slot.nonce is not None:
                head.nonce_next = slot.nonce + 1
            return (*gone, put_slot(lane, slot))
        case NonceLearned(nonce=nonce):
            touched: list[Touch] = []
            for slot in list(lane.slots.values()):
                touched.append(put_slot(lane, replace(slot, nonce=nonce)))
                nonce += 1
            head.nonce_next = nonce
            return tuple(touched)
        case AttemptSigned(attempt=attempt, raw=raw, at_ms=at_ms):
            slot = lane.slots[attempt.slot]
            number = slot.attempt_next + 1
            slot = replace(slot, attempt_next=number, signing=False, tried_ms=at_ms)
            lane.raws[attempt.key()] = raw
            return (
                put_slot(lane, slot),
                put_attempt(lane, attempt),
                RowPut(Table.AUX, f"raw/{attempt.key()}", None, raw),
                # A chain may be quicker than our own record of the answer.
                Index("hash", attempt.hash.hex(), slot.intent, lane.id),
            )
        case AttemptAnswered(slot=number, number=tried):
            return (put_attempt(lane, answer(lane.attempts[f"{number}/{tried}"], record)),)
        case SlotFreed(slot=number, retake_ms=retake_ms):
            slot = lane.slots[number]
            assert slot.nonce is not None
            back = Returned(slot.intent, slot.seq, 0)
            lane.returned[slot.intent] = back
            lane.free = sorted([*lane.free, slot.nonce])
            head.retake_ms = retake_ms
            return (
                *drop_slot(lane, slot),
                RowPut(Table.RETURNED, slot.intent, slot.intent, encode(back)),
                RowPut(Table.AUX, f"free/{slot.nonce}", None, b""),
            )
        case BumpOrdered(slot=number, fee=fee):
            return (put_slot(lane, replace(lane.slots[number], fee=fee, signing=True)),)
        case WatchPlanned(at_ms=watch_ms, watching=watching):
            head.watch_ms, head.watching = watch_ms, watching
            return ()
        case SlotConfirmed(slot=number, message=message):
            slot = lane.slots[number]
            head.settled_count += 1
            head.settled_bytes += slot.size
            lane.outbox[message.id] = message
            del lane.intents[slot.intent]
            result = Result(slot.intent, "confirmed", record.at_ms, slot.nonce, record.hash)
            sent = RowPut(Table.OUTBOX, message.id, None, encode(message))
            return (result, *drop_slot(lane, slot), sent)
        case MessageTaken(id=name):
            del lane.outbox[name]
            return (RowKey(Table.OUTBOX, name),)
        case _:
            assert_never(record)


def answer(attempt: Attempt, answered: AttemptAnswered) -> Attempt:
    silent = tuple(node for node in attempt.silent if node != answered.node)
    refused = (*attempt.refused, answered.node) if answered.refused else attempt.refused
    return replace(attempt, silent=silent, refused=refused)


def put_slot(lane: EoaLane, slot: Slot) -> RowPut:
    lane.slots[slot.id] = slot
    return RowPut(Table.SLOT, str(slot.id), slot.intent, encode(slot))


def put_attempt(lane: EoaLane, attempt: Attempt) -> RowPut:
    lane.attempts[attempt.key()] = attempt
    return RowPut(Table.ATTEMPT, attempt.key(), None, encode(attempt))


def drop_slot(lane: EoaLane, slot: Slot) -> Touched:
    gone: list[Touch] = [RowKey(Table.SLOT, str(slot.id))]
    del lane.slots[slot.id]
    for attempt in lane.tries(slot.id):
        del lane.attempts[attempt.key()], lane.raws[attempt.key()]
        gone += [
            RowKey(Table.ATTEMPT, attempt.key()),
            RowKey(Table.AUX, f"raw/{attempt.key()}"),
        ]
    return tuple(gone)


# The other three, and the kind.


def resume(lane: EoaLane) -> tuple[Effect, ...]:
    effects: list[Effect] = [PassOn(message) for message in lane.outbox.values()]
    for slot in lane.slots.values():
        effects += sign(lane, slot) if slot.signing else ()
        for attempt in lane.tries(slot.id):
            if attempt.silent:
                raw = lane.raws[attempt.key()]
                effects.append(Send(slot.id, attempt.number, raw, attempt.silent))
    if any(slot.nonce is None for slot in lane.slots.values()):
        effects.append(ReadNonce())
    if lane.head.watching:
        effects.append(ReadReceipts(tuple(tried.hash for tried in lane.attempts.values())))
    return tuple(effects)


def wants(lane: EoaLane) -> int:
    """The window, unless something older was returned: what is behind it must not overtake."""
    return 0 if lane.returned else WINDOW - len(lane.slots)


def deadline(lane: EoaLane) -> int | None:
    times = [lane.head.retake_ms, lane.head.watch_ms]
    times += [bump_ms(lane, slot) for slot in lane.slots.values()]
    return min((at_ms for at_ms in times if at_ms is not None), default=None)


def head_write(lane: EoaLane, wake_ms: int | None) -> HeadWrite:
    head = lane.head
    # A message may be all that is left to do, and no deadline would wake the lane for it.
    wake_ms = 0 if lane.outbox else wake_ms
    return HeadWrite(head.cursors, head.settled_count, head.settled_bytes, wake_ms, encode(head))


def describe(_state: bytes) -> LaneState:
    return LaneState("running", "", 0)


_decode = msgspec.msgpack.Decoder(tuple[Record, ...]).decode


def eoa_kind() -> LaneKind:
    def cursors(lane: Any) -> tuple[int, ...]:
        found: tuple[int, ...] = lane.head.cursors
        return found

    return LaneKind(
        name="evm",
        empty=EoaLane,
        restore=restore,
        decide=decide,
        evolve=evolve,
        resume=resume,
        wants=wants,
        deadline=deadline,
        head=head_write,
        cursors=cursors,
        offered=IntentsOffered,
        told=CommandTold,
        woken=TimerFired,
        encode=encode,
        decode=_decode,
        describe=describe,
        passed=MessagePassed,
    )
