"""An account's lane by the letter of seed 002 §2.1: what a commit changes in those keys. Pure.

The rows of a lane stay the truth, in cells of their own. What stands here is drawn from them in
the same script, so that no crash can part the two. A commit is fenced by its version: changes that
were worked out from the rows of the version before are right if the commit is written at all.
"""

from collections.abc import Sequence
from typing import TypeAlias

import msgspec
from msgspec import Struct

from laneway.core.ids import IntentId
from laneway.core.rows import Result, RowKey, RowPut, Rows, Table, Write
from laneway.lanes.eoa.lane import FREE, RAW, decode_attempt, decode_head, decode_slot
from laneway.lanes.eoa.values import Attempt, EoaHead, Slot
from laneway.stores.redis.letter_keys import Account
from laneway.stores.redis.letter_words import (
    attempt_told,
    borrowed_told,
    ended_fields,
    health_told,
    hexed,
    receipt_told,
    submitted_member,
)

Word: TypeAlias = str | bytes | int
Say: TypeAlias = tuple[str, str, Sequence[Word]]
"""A key, a command, and its words. `UNLESS` drops its key if the key said before is gone."""

PENDING, BORROWED, SUBMITTED = "pending", "borrowed", "submitted"

decode_end = msgspec.msgpack.Decoder(int).decode


class Shown(Struct, gc=False):
    """What stands in Redis because of one slot."""

    intent: IntentId | None
    place: str
    tries: dict[int, tuple[str, str]]
    """Of each attempt its hash, and how it is called among the submitted."""


NOTHING = Shown(None, PENDING, {})


def place_of(slot: Slot | None, tries: dict[int, Attempt]) -> str:
    """Where its intent stands. Borrowed: signed, and no node has said anything yet. A number that
    is only filled has no intent to borrow for, and stands among the submitted at once."""
    if slot is None or not tries:
        return PENDING
    if slot.intent is None or any(is_answered(one) for one in tries.values()):
        return SUBMITTED
    return BORROWED


def is_answered(attempt: Attempt) -> bool:
    """Unknown counts as sent."""
    return bool(attempt.taken or attempt.refused or attempt.reason or attempt.doubted)


class Spoken:
    """Commands, those on a key that all payments share together."""

    def __init__(self, account: Account) -> None:
        self.says: list[Say] = []
        self.waits: list[Word] = []
        self.waits_not: list[Word] = []
        self.borrows: list[Word] = []
        self.borrows_not: list[Word] = []
        self.submits: list[Word] = []
        self.submits_not: list[Word] = []
        self._account = account

    def all(self) -> list[Say]:
        account = self._account
        grouped = (
            (account.pending, "ZREM", self.waits_not),
            (account.pending, "ZADD", self.waits),
            (account.borrowed, "HDEL", self.borrows_not),
            (account.borrowed, "HSET", self.borrows),
            (account.submitted, "ZREM", self.submits_not),
            (account.submitted, "ZADD", self.submits),
        )
        return self.says + [say for say in grouped if say[2]]


class LetterView:
    """What stands in Redis because of a lane's rows, at one version of them."""

    def __init__(self, account: Account, rows: Rows) -> None:
        self.account = account
        self.fence = rows.head.fence
        self.version = rows.head.version
        self.queued = {intent.id: intent.accepted_ms for intent in rows.intents}
        """When the intents that rows name came in."""
        self._slots: dict[int, RowPut] = {}
        self._slot_of: dict[IntentId, int] = {}
        self._tries: dict[int, dict[int, Attempt]] = {}
        self._raws: dict[str, bytes] = {}
        self._free: dict[int, int] = {}
        self._head = decode_head(rows.head.state) if rows.head.state else EoaHead()
        self._shown: dict[int, Shown] = {}
        self._touched: dict[int, None] = {}
        self._ended: list[Result] = []
        self._receipts: dict[IntentId, bytes] = {}
        self._ranges: dict[int, int | None] = {}
        """Free ranges that this commit touches, as they were."""
        for row in sorted(rows.open, key=lambda row: row.table != Table.SLOT):
            self._put(row)
        for number in self._touched:
            self._shown[number] = self._showing(self._slot(number), NOTHING)
        self._touched, self._ranges = {}, {}

    def missing(self, write: Write) -> list[IntentId]:
        """Intents whose time of arrival must be known before this can be shown."""
        named = [
            touch.intent
            for touch in write.touched
            if type(touch) is RowPut and touch.table == Table.SLOT and touch.intent is not None
        ]
        return [intent for intent in named if intent not in self.queued]

    def advance(self, write: Write) -> list[Say]:
        """Take one commit in; what it changes."""
        for touch in write.touched:
            if type(touch) is RowPut:
                self._put(touch)
            elif type(touch) is RowKey:
                self._drop(touch)
            elif type(touch) is Result:
                self._end(touch)
        spoken = Spoken(self.account)
        self._tell_slots(spoken)
        if self._ranges:
            self._tell_free(spoken)
        if write.head.state:
            self._tell_head(spoken, decode_head(write.head.state))
        if write.answered:
            spoken.says.append((self.account.resets, "HDEL", write.answered))
            spoken.says.append((self.account.reset, "UNLESS", ()))
        self._touched, self._ended, self._receipts, self._ranges = {}, [], {}, {}
        self.version += 1
        return spoken.all()

    # Rows.

    def _put(self, row: RowPut) -> None:
        if row.table == Table.SLOT:
            # It shows nothing by itself: its intent waits until there are bytes.
            self._slots[int(row.key)] = row
            if row.intent is not None:
                self._slot_of[row.intent] = int(row.key)
        elif row.table == Table.ATTEMPT:
            attempt = decode_attempt(row.body)
            self._tries.setdefault(attempt.slot, {})[attempt.number] = attempt
            self._touched[attempt.slot] = None
        elif row.table == Table.AUX:
            if row.key.startswith(RAW):
                self._raws[row.key.removeprefix(RAW)] = row.body
            else:
                self._set_range(int(row.key.removeprefix(FREE)), decode_end(row.body))

    def _drop(self, row: RowKey) -> None:
        if row.table == Table.SLOT:
            slot = self._slots.pop(int(row.key), None)
            if slot is not None and slot.intent is not None:
                del self._slot_of[slot.intent]
        elif row.table == Table.ATTEMPT:
            place, _, number = row.key.partition("/")
            tries = self._tries.get(int(place), {})
            tries.pop(int(number), None)
            if not tries:
                self._tries.pop(int(place), None)
            self._touched[int(place)] = None
        elif row.table == Table.AUX:
            if row.key.startswith(RAW):
                self._raws.pop(row.key.removeprefix(RAW), None)
            else:
                self._set_range(int(row.key.removeprefix(FREE)), None)

    def _set_range(self, start: int, end: int | None) -> None:
        self._ranges.setdefault(start, self._free.get(start))
        if end is None:
            self._free.pop(start, None)
        else:
            self._free[start] = end

    def _end(self, result: Result) -> None:
        """A final answer comes before its slot goes."""
        self._ended.append(result)
        number = self._slot_of.get(result.intent)
        slot = None if number is None else self._slot(number)
        if slot is not None and slot.seen is not None:
            attempt = self._tries[slot.id][slot.seen.attempt]
            self._receipts[result.intent] = receipt_told(self.account, slot, attempt)

    # What they show.

    def _slot(self, number: int) -> Slot | None:
        row = self._slots.get(number)
        return None if row is None else decode_slot(row.body)

    def _showing(self, slot: Slot | None, before: Shown) -> Shown:
        if slot is None:
            return NOTHING
        tries = self._tries.get(slot.id, {})
        queued_ms = 0 if slot.intent is None else self.queued[slot.intent]
        told = {
            one.number: before.tries.get(one.number)
            or (hexed(one.hash), submitted_member(slot, one, queued_ms))
            for one in tries.values()
        }
        return Shown(slot.intent, place_of(slot, tries), told)

    def _tell_slots(self, spoken: Spoken) -> None:
        ended = {result.intent: result for result in self._ended}
        waiting: dict[IntentId, bool] = dict.fromkeys(ended, False)
        words: dict[IntentId, str] = {}
        # Those that are gone first: their intents may have other slots by now.
        for number in sorted(self._touched, key=lambda one: one in self._slots):
            slot, before = self._slot(number), self._shown.pop(number, NOTHING)
            after = self._showing(slot, before)
            if after.tries:
                self._shown[number] = after
            self._tell_tries(spoken, slot, before, after)
            intent = after.intent or before.intent
            if intent in ended and before.place != PENDING:
                waiting.pop(intent, None)
            if intent is None or intent in ended or before.place == after.place:
                continue
            if PENDING in (before.place, after.place):
                waiting[intent] = after.place == PENDING
            if SUBMITTED in (before.place, after.place):
                words[intent] = SUBMITTED if after.place == SUBMITTED else PENDING
        account = self.account
        for intent, waits in waiting.items():
            if waits:
                spoken.waits += (self.queued[intent], intent)
            else:
                spoken.waits_not.append(intent)
        for intent, word in words.items():
            spoken.says.append((account.told(intent), "HSET", ("status", word)))
        for intent, result in ended.items():
            fields = ended_fields(result)
            if intent in self._receipts:
                fields["receipt"] = self._receipts[intent]
            flat: list[Word] = [word for pair in fields.items() for word in pair]
            spoken.says.append((account.told(intent), "HSET", flat))
            self.queued.pop(intent, None)

    def _tell_tries(self, spoken: Spoken, slot: Slot | None, before: Shown, after: Shown) -> None:
        account = self.account
        for one, (hash_, member) in before.tries.items():
            if one in after.tries:
                continue
            if before.intent is not None:
                spoken.says.append((account.hash(hash_), "DEL", ()))
            if before.place == SUBMITTED:
                spoken.submits_not.append(member)
        if before.place == BORROWED and after.place != BORROWED:
            assert before.intent is not None
            spoken.borrows_not.append(before.intent)
        if slot is None:
            return
        moved = before.place != after.place
        for one, (hash_, member) in after.tries.items():
            is_fresh = one not in before.tries
            if after.place == SUBMITTED and (moved or is_fresh):
                spoken.submits += (slot.nonce, member)
            if is_fresh and after.intent is not None:
                attempt = self._tries[slot.id][one]
                spoken.says.append((account.hash(hash_), "SET", (after.intent,)))
                told = attempt_told(slot, attempt)
                spoken.says.append((account.attempts(after.intent), "LPUSH", (told,)))
                if after.place == BORROWED:
                    self._tell_borrowed(spoken, slot, attempt)

    def _tell_borrowed(self, spoken: Spoken, slot: Slot, attempt: Attempt) -> None:
        """Of several the last counts: the bytes that were signed last."""
        assert slot.intent is not None
        raw = attempt.raw or self._raws[attempt.key()]
        told = borrowed_told(slot, attempt, raw, self.queued[slot.intent])
        spoken.borrows += (slot.intent, told)

    def _tell_free(self, spoken: Spoken) -> None:
        was = numbers_of(self._ranges)
        now = numbers_of({start: self._free.get(start) for start in self._ranges})
        if was - now:
            spoken.says.append((self.account.recycled, "ZREM", sorted(was - now)))
        if now - was:
            pairs: list[Word] = [word for number in sorted(now - was) for word in (number, number)]
            spoken.says.append((self.account.recycled, "ZADD", pairs))

    def _tell_head(self, spoken: Spoken, head: EoaHead) -> None:
        before, self._head = self._head, head
        account = self.account
        if head.nonce_next != before.nonce_next and head.nonce_next is not None:
            spoken.says.append((account.optimistic, "SET", (head.nonce_next,)))
        if head.latest != before.latest or (head.read_ms and not before.read_ms):
            spoken.says.append((account.counted, "SET", (head.latest,)))
        if head.health != before.health:
            spoken.says.append((account.health, "SET", (health_told(head.health),)))


def numbers_of(ranges: dict[int, int | None]) -> set[int]:
    found: set[int] = set()
    for start, end in ranges.items():
        found.update(range(start, start if end is None else end))
    return found
