"""An account's lane in memory, and its rows."""

from collections.abc import Collection, Mapping
from types import MappingProxyType

import msgspec

from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import IntentRow
from laneway.core.rows import (
    HeadWrite,
    Returned,
    RowKey,
    RowPut,
    Rows,
    Table,
    Touch,
    Touched,
    all_classes,
)
from laneway.core.units import amount, value
from laneway.lanes.common.heads import encode, head_row
from laneway.lanes.eoa.fees import NO_FEE
from laneway.lanes.eoa.ranges import Ranges
from laneway.lanes.eoa.rows import (
    FIRST,
    Attempt,
    Content,
    EoaHead,
    History,
    Inclusion,
    KeptSlot,
    Slot,
)
from laneway.lanes.eoa.settings import EoaSettings

replace = msgspec.structs.replace
decode_head = msgspec.msgpack.Decoder(EoaHead).decode
decode_kept = msgspec.msgpack.Decoder(KeptSlot).decode
decode_attempt = msgspec.msgpack.Decoder(Attempt).decode
decode_returned = msgspec.msgpack.Decoder(Returned).decode

decode_content = msgspec.msgpack.Decoder(Content).decode
decode_history = msgspec.msgpack.Decoder(History).decode

RAW, FREE, CONTENT = "raw/", "free/", "content/"
"""Rows of bytes that were signed, of free numbers, and of what replaces an intent's own content:
what changes stays small."""

NO_TRIES: Mapping[int, Attempt] = MappingProxyType({})


class EoaLane:
    """An owned index over frozen rows."""

    def __init__(self, lane: LaneId, settings: EoaSettings) -> None:
        self.id = lane
        self.settings = settings
        self.head = EoaHead()
        self.slots: dict[int, Slot] = {}
        self.nonces: dict[int, int] = {}
        """The slot of each bound number."""
        self.attempts: dict[int, dict[int, Attempt]] = {}
        """By slot and number; a slot without bytes has none."""
        self.raws: dict[str, bytes] = {}
        """Signed bytes that are too many for the attempt's own row."""
        self.hashes: dict[bytes, tuple[int, int]] = {}
        """Whose bytes a hash is: slot and attempt."""
        self.unsure: dict[tuple[int, int], None] = {}
        """Attempts that some node has not answered, or with an answer that may change."""
        self.inherited: dict[tuple[int, int], None] = {}
        """Attempts that were out when the lane was stood up, and are offered again by `resume`: an
        answer to the first offer may still come. Not a row: it is true of this life alone."""
        self.delayed: dict[int, None] = {}
        """Slots whose bytes are to be made again."""
        self.submitted: dict[int, None] = {}
        """Slots of which some node has an attempt."""
        self.seen: dict[int, Inclusion] = {}
        """Where slots were mined that are not final yet."""
        self.noops: dict[int, None] = {}
        """Slots that no intent has."""
        self.bound: dict[IntentId, int] = {}
        """The slot of each intent that has a number."""
        self.contents: dict[IntentId, Content] = {}
        """What replaces the content of intents, whether they have a number or not."""
        self.returned: dict[IntentId, Returned] = {}
        self.spend = 0
        """Wei for the gas of all attempts in flight, the dearest of each slot."""
        self.free = Ranges()
        self.dated: dict[IntentId, int] = {}
        """Until when intents may be offered for the first time, of those that have a number or wait
        for one again. Whose bytes were offered is not here: a node may hold them."""
        self.intents: dict[str, IntentRow] = {}
        self.unwritten: dict[int, None] = {}
        """Slots that were claimed in this turn, and have no row yet."""

    def slot_at(self, nonce: int) -> Slot | None:
        found = self.nonces.get(nonce)
        return None if found is None else self.slots[found]

    def slot_of(self, intent: IntentId | None) -> Slot | None:
        found = None if intent is None else self.bound.get(intent)
        return None if found is None else self.slots[found]

    def tries(self, slot: int) -> Mapping[int, Attempt]:
        return self.attempts.get(slot, NO_TRIES)

    def raw(self, attempt: Attempt) -> bytes:
        return attempt.raw or self.raws[attempt.key()]

    def live(self, slot: int) -> Attempt | None:
        """The newest attempt that some node may still take, else the newest of all."""
        tries = self.tries(slot).values()
        found = [attempt for attempt in tries if not attempt.is_denied()]
        return found[-1] if found else self.last(slot)

    def last(self, slot: int) -> Attempt | None:
        tries = self.attempts.get(slot)
        return None if not tries else next(reversed(tries.values()))


def restore(rows: Rows, settings: EoaSettings) -> EoaLane:
    """Stand a lane up from its rows, as they were committed."""
    lane = EoaLane(rows.head.lane, settings)
    if rows.head.state:
        lane.head = decode_head(rows.head.state)
        lane.head.cursors = all_classes(lane.head.cursors)
        lane.spend = value(lane.head.spend)
    found: list[Attempt] = []
    taken_next = lane.head.taken_next
    for row in rows.open:
        match row.table:
            case Table.SLOT:
                kept = decode_kept(row.body)
                index_slot(lane, kept.slot)
                if kept.first is not None:
                    found.append(as_taken(kept.first, taken_next))
            case Table.ATTEMPT:
                found.append(decode_attempt(row.body))
            case Table.RETURNED:
                back = decode_returned(row.body)
                lane.returned[back.intent] = back
            case _:
                assert row.table == Table.AUX
                if row.key.startswith(RAW):
                    lane.raws[row.key.removeprefix(RAW)] = row.body
                elif row.key.startswith(CONTENT):
                    content = decode_content(row.body)
                    lane.contents[content.intent] = content
                else:
                    start = int(row.key.removeprefix(FREE))
                    lane.free.load(start, msgspec.msgpack.decode(row.body, type=int))
    for attempt in sorted(found, key=lambda one: one.number):
        index_attempt(lane, attempt)
    below = lane.head.offered_next
    lane.inherited = {place: None for place in lane.unsure if lane.slots[place[0]].nonce < below}
    lane.intents = {intent.id: intent for intent in rows.intents}
    for intent in lane.returned:
        note_date(lane, intent)
    for intent, number in lane.bound.items():
        if lane.slots[number].nonce >= below or not lane.tries(number):
            note_date(lane, intent)
    return lane


def note_date(lane: EoaLane, intent: IntentId | None) -> None:
    row = None if intent is None else lane.intents.get(intent)
    if row is not None and row.valid_until_ms is not None:
        lane.dated[row.id] = row.valid_until_ms


def use_up(lane: EoaLane, nonce: int) -> None:
    """A majority showed what used a number for good. A node that lags, or lies, may count less."""
    head = lane.head
    head.final_next = max(head.final_next, nonce + 1)
    head.latest = max(head.latest, head.final_next)


def is_between(slot: Slot, attempt: Attempt) -> bool:
    """Whether it was mined with a content that is neither the intent's first nor its last."""
    mined = slot.seen is not None and slot.seen.attempt == attempt.number
    return mined and 0 < attempt.content < slot.content


def undate(lane: EoaLane) -> None:
    """Forget until when intents are valid whose bytes a node may hold from here on."""
    for intent in [*lane.dated]:
        slot = lane.slot_of(intent)
        if slot is not None and slot.nonce < lane.head.offered_next and lane.tries(slot.id):
            del lane.dated[intent]


def is_late(lane: EoaLane, intent: IntentId | None, now_ms: int) -> bool:
    """Whether it may not be offered any more, and never was."""
    until_ms = None if intent is None else lane.dated.get(intent)
    return until_ms is not None and until_ms < now_ms


def as_taken(first: Attempt, taken_next: int) -> Attempt:
    """A first attempt as it stands, by its row and the head."""
    if first.slot < taken_next and first.silent and first.is_new():
        return taken_by_all(first)
    return first


def taken_by_all(attempt: Attempt) -> Attempt:
    return replace(attempt, silent=(), taken=(*attempt.taken, *attempt.silent))


def answered(attempt: Attempt, node: str, word: str, reason: str, block: int) -> Attempt:
    """An attempt after one node's answer, which came when this block was the newest known."""
    attempt = replace(attempt, reason=reason)
    silent = tuple([one for one in attempt.silent if one != node])
    match word:
        case "taken":
            return replace(attempt, silent=silent, taken=(*attempt.taken, node), block=block)
        case "refused":
            return replace(attempt, silent=silent, refused=(*attempt.refused, node))
        case "denied" if node not in attempt.denied:
            return replace(attempt, denied=(*attempt.denied, node))
        case "cheap":
            return replace(attempt, cheap=True, block=block)
        case _:
            return attempt


def is_next_taken(lane: EoaLane, slot: int) -> bool:
    """Whether no slot below it stands in the way of saying so of all of them in the head."""
    below: Collection[int] = range(lane.head.taken_next, slot)
    if len(below) > len(lane.slots):
        below = [one for one in lane.slots if one in below]
    return not any(is_in_the_way(lane, one) for one in below)


def is_in_the_way(lane: EoaLane, number: int) -> bool:
    """Whether its first attempt could be taken for one that every node took, and was not."""
    slot = lane.slots.get(number)
    if slot is None or slot.attempt_next == 1:
        return slot is not None
    first = lane.tries(number).get(FIRST)
    return first is not None and first.silent != () and first.is_new()


def head_write(lane: EoaLane, wake_ms: int | None) -> HeadWrite:
    """The head as it is kept; what others hold in numbers is counted here, once a turn."""
    head = lane.head
    head.open_count, head.noop_count = len(lane.slots), len(lane.noops)
    head.submitted_count, head.returned_count = len(lane.submitted), len(lane.returned)
    head.free_count, head.spend = lane.free.count, amount(lane.spend)
    head.crowded = head.free_count > lane.settings.recycled_max
    if wake_ms is None and (lane.slots or head.looking):
        # What is being made or looked at is work, though no intent may wait for it: should this
        # process die, another has to end it.
        wake_ms = 0
    return head_row(head, wake_ms)


def left_rows(lane: EoaLane) -> Touched:
    """Those of slots whose bytes are not made in the turn that claimed them."""
    left, lane.unwritten = lane.unwritten, {}
    return tuple([put_slot(lane, lane.slots[number]) for number in left if number in lane.slots])


def moved(slot: Slot) -> Slot:
    """A slot at the number below its own. Bytes for its old number may still be made; the number of
    its next attempt keeps them from being taken for the new ones."""
    nonce, number = slot.nonce - 1, slot.attempt_next + 1
    again = replace(slot, nonce=nonce, making=True, delayed=False, attempt_next=number)
    return replace(again, floor=NO_FEE, cost=b"")


# Rows, each put in one place alone.


def index_slot(lane: EoaLane, slot: Slot) -> None:
    number = slot.id
    lane.slots[number] = slot
    lane.nonces[slot.nonce] = number
    if slot.seen is not None:
        lane.seen[number] = slot.seen
    elif number in lane.seen:
        del lane.seen[number]
    if slot.delayed:
        lane.delayed[number] = None
    elif number in lane.delayed:
        del lane.delayed[number]
    if slot.intent is None:
        lane.noops[number] = None
    else:
        lane.bound[slot.intent] = number


def index_attempt(lane: EoaLane, attempt: Attempt) -> None:
    slot = attempt.slot
    tries = lane.attempts.setdefault(slot, {})
    tries[attempt.number] = attempt
    place = (slot, attempt.number)
    lane.hashes[attempt.hash] = place
    if attempt.silent and attempt.asked():
        lane.unsure[place] = None
    else:
        lane.unsure.pop(place, None)
    if attempt.taken or (len(tries) > 1 and any(one.taken for one in tries.values())):
        lane.submitted[slot] = None
    else:
        lane.submitted.pop(slot, None)


def take_first(lane: EoaLane, slot: int) -> None:
    """Every node has its first attempt, at once and without a doubt."""
    tries = lane.attempts[slot]
    tries[FIRST] = taken_by_all(tries[FIRST])
    lane.unsure.pop((slot, FIRST), None)
    lane.submitted[slot] = None


def put_slot(lane: EoaLane, slot: Slot) -> RowPut:
    index_slot(lane, slot)
    return slot_row(slot, lane.tries(slot.id).get(FIRST))


def slot_row(slot: Slot, first: Attempt | None = None) -> RowPut:
    return RowPut(Table.SLOT, str(slot.id), slot.intent, encode((slot, first)))


def put_attempt(lane: EoaLane, attempt: Attempt) -> RowPut:
    index_attempt(lane, attempt)
    if attempt.number == FIRST:
        return slot_row(lane.slots[attempt.slot], attempt)
    return attempt_row(attempt)


def attempt_row(attempt: Attempt) -> RowPut:
    return RowPut(Table.ATTEMPT, attempt.key(), None, encode(attempt))


def put_raw(lane: EoaLane, attempt: Attempt, raw: bytes) -> RowPut:
    lane.raws[attempt.key()] = raw
    return RowPut(Table.AUX, RAW + attempt.key(), None, raw)


def put_content(lane: EoaLane, content: Content) -> RowPut:
    lane.contents[content.intent] = content
    return RowPut(Table.AUX, CONTENT + content.intent, None, encode(content))


def drop_content(lane: EoaLane, intent: IntentId) -> list[Touch]:
    if lane.contents.pop(intent, None) is None:
        return []
    return [RowKey(Table.AUX, CONTENT + intent)]


def stale_contents(lane: EoaLane, slot: Slot) -> list[Touch]:
    """Of intents that were taken back while they waited, and replaced by a later command."""
    stale = [
        content.intent
        for content in lane.contents.values()
        if content.priority == slot.priority
        and content.seq < slot.seq
        and content.intent not in lane.bound
        and content.intent not in lane.returned
    ]
    return [touch for intent in stale for touch in drop_content(lane, intent)]


def drop_attempts(lane: EoaLane, slot: int) -> list[Touch]:
    """Their rows; that of the first is its slot's, which goes or is put again with this."""
    gone: list[Touch] = []
    lane.submitted.pop(slot, None)
    for attempt in lane.attempts.pop(slot, {}).values():
        del lane.hashes[attempt.hash]
        if attempt.silent:
            lane.unsure.pop((slot, attempt.number), None)
        if lane.inherited:
            lane.inherited.pop((slot, attempt.number), None)
        if attempt.number != FIRST:
            gone.append(RowKey(Table.ATTEMPT, attempt.key()))
        if not attempt.raw:
            key = attempt.key()
            del lane.raws[key]
            gone.append(RowKey(Table.AUX, RAW + key))
    return gone


def drop_slot(lane: EoaLane, slot: Slot) -> list[Touch]:
    number = slot.id
    del lane.slots[number]
    if lane.seen:
        lane.seen.pop(number, None)
    if lane.delayed:
        lane.delayed.pop(number, None)
    if lane.nonces.get(slot.nonce) == number:
        del lane.nonces[slot.nonce]
    if slot.intent is None:
        del lane.noops[number]
    else:
        del lane.bound[slot.intent]
    return [RowKey(Table.SLOT, str(number)), *drop_attempts(lane, number)]


def free_number(lane: EoaLane, number: int) -> list[Touch]:
    """Nobody has it; those at the top are simply given out anew (seed 002's cleaning)."""
    head = lane.head
    assert head.nonce_next is not None
    if number + 1 < head.nonce_next:
        return range_rows(lane, lane.free.add(number))
    head.nonce_next = number
    starts: set[int] = set()
    while head.nonce_next - 1 in lane.free:
        head.nonce_next -= 1
        starts |= lane.free.take(head.nonce_next)
    head.offered_next = min(head.offered_next, head.nonce_next)
    return range_rows(lane, starts)


def take_number(lane: EoaLane, number: int) -> list[Touch]:
    return range_rows(lane, lane.free.take(number))


def range_rows(lane: EoaLane, starts: set[int]) -> list[Touch]:
    rows = lane.free.rows()
    touched: list[Touch] = []
    for start in sorted(starts):
        key = f"{FREE}{start}"
        if start in rows:
            touched.append(RowPut(Table.AUX, key, None, encode(rows[start])))
        else:
            touched.append(RowKey(Table.AUX, key))
    return touched
