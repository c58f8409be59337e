"""All transitions of a counter lane: what an event makes true, and what must be done.

An addition is asked for at one place of the counter, and one place takes one addition. A try whose
answer is lost is never given up and never simply repeated elsewhere: the counter is read. If the
place is ours, it is done. If it is another's, none of our tries there can land, and the next place
is asked for. If it is free, the same place is asked for again, so that one try at most can land.
"""

from functools import partial
from typing import TypeAlias, assert_never

from msgspec import Struct
from msgspec.msgpack import Decoder
from msgspec.structs import replace
from tests.foreign.counter.values import (
    Add,
    Addition,
    AddReturned,
    AttemptOffered,
    CounterHead,
    CounterRead,
    Effect,
    Event,
    ReadBegun,
    ReadCounter,
    Record,
    RetryPlanned,
    RetryTuned,
    Slot,
    SlotClaimed,
    SlotSettled,
)

from laneway.core.ids import LaneId
from laneway.core.intent import IntentRow
from laneway.core.outcome import Outcome, Status
from laneway.core.reason import clip
from laneway.core.records import Decision as CoreDecision
from laneway.core.rows import (
    Command,
    HeadWrite,
    Index,
    Result,
    RowKey,
    RowPut,
    Rows,
    Table,
    Touched,
)
from laneway.lanes.common import heads
from laneway.lanes.common.commands import (
    FINAL_ALREADY,
    cancelled,
    drained,
    expiry_of,
    is_expired,
    is_taken,
    mode_changed,
    refusal,
    unfit_cancel,
)
from laneway.lanes.common.values import (
    CommandReceived,
    CommandRefused,
    IntentDropped,
    IntentsOffered,
    ModeChanged,
    TimerFired,
)
from laneway.lanes.kind import LaneKind, LaneState

PLACE_INDEX = "counter-place"
"""The index that finds an intent by `LANE#PLACE`."""
RETRY_MS_MAX = 60_000
CONFIRMED = Status.CONFIRMED.value
REFUSED = Status.REFUSED.value

encode = heads.encode
read_head = heads.head_reader(CounterHead)
decode_slot = Decoder(Slot).decode
decode_addition = Decoder(Addition).decode
decode_records = Decoder(tuple[Record, ...]).decode

Decision: TypeAlias = CoreDecision[Record, Effect]

NOTHING: Decision = CoreDecision()
SLOT_KEY = "1"
"""A window of one rewrites the same row."""


class CounterSettings(Struct, frozen=True, kw_only=True):
    retry_ms: int = 500
    """How long to wait before the counter is read again."""


class CounterLane:
    """The lane in memory: its head, and the addition that is under way."""

    __slots__ = ("head", "id", "intents", "settings", "slot")

    def __init__(self, lane: LaneId, settings: CounterSettings) -> None:
        self.id = lane
        self.settings = settings
        self.head = CounterHead()
        self.slot: Slot | None = None
        self.intents: dict[str, IntentRow] = {}

    def retry_ms(self) -> int:
        return self.head.retry_ms or self.settings.retry_ms


def restore(rows: Rows, settings: CounterSettings) -> CounterLane:
    """Stand a lane up from its rows, as they were committed."""
    lane = CounterLane(rows.head.lane, settings)
    lane.head = read_head(rows.head.state)
    for row in rows.open:
        lane.slot = decode_slot(row.body)
    lane.intents = {intent.id: intent for intent in rows.intents}
    return lane


# Decide.


def decide(lane: CounterLane, event: Event) -> Decision:
    """Say what becomes true and what must be done; change nothing."""
    decision = judge(lane, event)
    return end_drain(lane, decision, event.now_ms) if lane.head.mode == "draining" else decision


def judge(lane: CounterLane, event: Event) -> Decision:
    match event:
        case IntentsOffered(intents=intents, now_ms=now_ms):
            return claim(lane, intents, now_ms)
        case CounterRead():
            return judge_read(lane, event)
        case AddReturned():
            return judge_answer(lane, event)
        case TimerFired(now_ms=now_ms):
            slot = lane.slot
            if slot is None or slot.retry_ms is None or slot.retry_ms > now_ms:
                return NOTHING
            return CoreDecision((ReadBegun(),), (ReadCounter(slot.intent, slot.place),))
        case CommandReceived(command=command, now_ms=now_ms):
            return judge_command(lane, command, now_ms)
        case _:
            assert_never(event)


def claim(lane: CounterLane, intents: tuple[IntentRow, ...], now_ms: int) -> Decision:
    """Take the first intent that is still wanted; pass those that came too late."""
    records: list[Record] = []
    for intent in intents if wants(lane) else ():
        if is_expired(intent, now_ms):
            records.append(expiry_of(intent, now_ms))
            continue
        amount = decode_addition(intent.payload).amount
        slot = Slot(intent.id, intent.seq, intent.size(), amount, now_ms)
        return CoreDecision((*records, SlotClaimed(slot)), (ReadCounter(slot.intent, None),))
    return CoreDecision(tuple(records))


def judge_read(lane: CounterLane, event: CounterRead) -> Decision:
    slot = lane.slot
    if slot is None or (slot.intent, slot.place) != (event.intent, event.place):
        return NOTHING  # A late answer: it says nothing of the place that counts now.
    if slot.retry_ms is not None:
        return NOTHING  # The question will be asked again.
    if event.count is None:
        return retry(lane, slot, event.reason, event.now_ms)
    place = slot.place
    if place is None or place < event.count:
        if event.mark == slot.intent:
            return settle(slot, CONFIRMED, place, "", event.now_ms)
        place = event.count  # Another's: none of our tries at the old place can land.
    attempt = slot.attempt + 1
    offered = AttemptOffered(slot.intent, place, attempt)
    return CoreDecision((offered,), (Add(slot.intent, place, attempt, slot.amount),))


def judge_answer(lane: CounterLane, event: AddReturned) -> Decision:
    slot = lane.slot
    if slot is None or (slot.intent, slot.attempt) != (event.intent, event.attempt):
        return NOTHING  # A late answer: a newer try decides.
    if slot.retry_ms is not None:
        return NOTHING  # The counter itself will be asked.
    match event.outcome:
        case Outcome.ACCEPTED:
            return settle(slot, CONFIRMED, slot.place, "", event.now_ms)
        case Outcome.REFUSED if event.final:
            return settle(slot, REFUSED, None, event.reason, event.now_ms)
        case Outcome.REFUSED | Outcome.UNKNOWN:
            # Unknown counts as done until the counter shows that it is not.
            return retry(lane, slot, event.reason, event.now_ms)
        case _:
            assert_never(event.outcome)


def retry(lane: CounterLane, slot: Slot, reason: str, now_ms: int) -> Decision:
    return CoreDecision((RetryPlanned(slot.intent, now_ms + lane.retry_ms(), clip(reason)),))


def settle(slot: Slot, status: str, place: int | None, reason: str, now_ms: int) -> Decision:
    end = SlotSettled(slot.intent, status, place, slot.amount, clip(reason), now_ms)
    return CoreDecision((end,))


def judge_command(lane: CounterLane, command: Command, now_ms: int) -> Decision:
    match command.verb:
        case "pause":
            record: Record = mode_changed("paused", command, now_ms)
        case "resume":
            record = mode_changed("running", command, now_ms)
        case "drain":
            idle = lane.slot is None
            record = drained(lane.head, command, now_ms, begun=0, is_idle=idle)
        case "cancel":
            record = cancel(lane, command, now_ms)
        case "hurry":
            record = hurry(lane, command, now_ms)
        case "tune":
            record = tune(command)
        case _:
            record = refusal(command, f"a counter's lane has no command {command.verb!r}")
    return CoreDecision((record,))


def cancel(lane: CounterLane, command: Command, now_ms: int) -> Record:
    unfit = unfit_cancel(command)
    if unfit is not None:
        return unfit
    if lane.slot is not None and lane.slot.intent == command.intent:
        return refusal(command, "it may have been added; wait for its answer")
    if is_taken(lane.head, command):
        return refusal(command, FINAL_ALREADY)
    return cancelled(command, now_ms)


def hurry(lane: CounterLane, command: Command, now_ms: int) -> Record:
    """The command of an intent that only this kind has: read the counter now."""
    slot = lane.slot
    if slot is None or slot.intent != command.intent or slot.retry_ms is None:
        return refusal(command, "it does not wait for its next try")
    return RetryPlanned(slot.intent, now_ms, lane.head.wait_reason, hurried=True)


def tune(command: Command) -> Record:
    """The command of a lane that only this kind has; its word is the new wait."""
    if not (command.word.isdecimal() and 0 < int(command.word) <= RETRY_MS_MAX):
        return refusal(command, f"a wait is 1 to {RETRY_MS_MAX} milliseconds")
    return RetryTuned(int(command.word))


def end_drain(lane: CounterLane, decision: Decision, now_ms: int) -> Decision:
    """Pause when the last of what the drain was to finish became final."""
    left, is_busy = lane.head.drain_left, lane.slot is not None
    for record in decision.records:
        if isinstance(record, ModeChanged):
            return decision  # The operator's new command ends the drain.
        if isinstance(record, SlotClaimed):
            is_busy = True
        elif isinstance(record, SlotSettled):
            is_busy = False
            left -= slot_of(lane).seq <= lane.head.drain_seq
        elif isinstance(record, IntentDropped):
            left -= record.seq <= lane.head.drain_seq
    if is_busy or left > 0:
        return decision
    paused = ModeChanged("paused", "drained", lane.head.by, now_ms)
    return CoreDecision((*decision.records, paused), decision.effects)


# Evolve.


def evolve(lane: CounterLane, record: Record) -> Touched:
    """Fold one record into the lane; the only function that changes it."""
    head = lane.head
    match record:
        case SlotClaimed(slot=slot):
            head.cursors = heads.passed(head.cursors, 0, slot.seq)
            head.running_since_ms = slot.claimed_ms
            return put(lane, slot)
        case AttemptOffered(place=place, attempt=attempt):
            return put(lane, replace(slot_of(lane), place=place, attempt=attempt))
        case RetryPlanned(retry_ms=retry_ms, reason=reason, hurried=hurried):
            head.failures += not hurried
            head.wait_reason = reason
            return put(lane, replace(slot_of(lane), retry_ms=retry_ms))
        case ReadBegun():
            return put(lane, replace(slot_of(lane), retry_ms=None))
        case SlotSettled():
            return end(lane, record)
        case RetryTuned(retry_ms=retry_ms):
            head.retry_ms = retry_ms
            return ()
        case IntentDropped():
            lane.intents.pop(record.intent, None)
            return (heads.drop_waiting(head, record),)
        case ModeChanged():
            heads.change_mode(head, record)
            return ()
        case CommandRefused():
            return ()
        case _:
            assert_never(record)


def slot_of(lane: CounterLane) -> Slot:
    assert lane.slot is not None
    return lane.slot


def put(lane: CounterLane, slot: Slot) -> Touched:
    lane.slot, lane.head.next_ms = slot, slot.retry_ms
    return (RowPut(Table.SLOT, SLOT_KEY, slot.intent, encode(slot)),)


def end(lane: CounterLane, record: SlotSettled) -> Touched:
    slot, head, place = slot_of(lane), lane.head, record.place
    heads.settle(head, slot.size)
    heads.count_drained(head, slot.seq)
    head.total += record.amount if record.status == CONFIRMED else 0
    head.failures, head.wait_reason = 0, ""
    head.running_since_ms = head.next_ms = lane.slot = None
    lane.intents.pop(slot.intent, None)
    history = encode(slot)
    result = Result(
        slot.intent,
        record.status,
        record.at_ms,
        number=place,
        reason=record.reason,
        history=history,
    )
    gone = RowKey(Table.SLOT, SLOT_KEY)
    if place is None:
        return (result, gone)
    return (result, gone, Index(PLACE_INDEX, f"{lane.id}#{place}", slot.intent, lane.id))


# The other three, and the kind.


def resume(lane: CounterLane) -> tuple[Effect, ...]:
    """What a crash may have lost. For an addition that is the question what became of it."""
    if lane.slot is None or lane.slot.retry_ms is not None:
        return ()
    return (ReadCounter(lane.slot.intent, lane.slot.place),)


def wants(lane: CounterLane) -> int:
    """The window is one: the order of the counter is the order of the lane."""
    head = lane.head
    if lane.slot is not None:
        return 0
    return 1 if head.mode == "running" or (head.mode == "draining" and head.drain_left) else 0


def deadline(lane: CounterLane) -> int | None:
    return None if lane.slot is None else lane.slot.retry_ms


def head_write(lane: CounterLane, wake_ms: int | None) -> HeadWrite:
    return heads.head_row(lane.head, wake_ms)


def describe(state: bytes) -> LaneState:
    """What the head says for people, without waking the lane."""
    head = read_head(state)
    word, reason, since_ms = head.mode, head.reason, head.mode_ms
    if word == "running":
        word, reason = ("backing off", head.wait_reason) if head.next_ms else ("running", "")
        since_ms = head.running_since_ms or head.mode_ms
        if head.running_since_ms is None:
            word = "idle"
    return LaneState(
        word=word,
        reason=reason,
        since_ms=since_ms,
        running=0 if head.running_since_ms is None else 1,
        running_since_ms=head.running_since_ms,
        executed_count=head.settled_count,
        failures=head.failures,
        by=head.by if head.mode != "running" else "",
        next_ms=head.next_ms,
    )


def counter_kind(settings: CounterSettings) -> LaneKind:
    """The discipline under these settings, as the engine knows it."""
    return LaneKind(
        name="counter",
        empty=partial(CounterLane, settings=settings),
        restore=partial(restore, settings=settings),
        decide=decide,
        evolve=evolve,
        resume=resume,
        wants=wants,
        deadline=deadline,
        head=head_write,
        decode=decode_records,
        describe=describe,
    )
