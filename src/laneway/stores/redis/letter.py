"""An account's lane by the letter of seed 002 §2.1: what a commit changes in those keys. Pure.

The rows of a lane stay the truth, in cells of their own. What stands here is drawn from them in
the same script, so that no crash can part the two. A commit is fenced by its version: changes that
were worked out from the rows of the version before are right if the commit is written at all.
"""

from collections.abc import Collection, Sequence
from typing import TypeAlias

import msgspec
from msgspec import Struct

from laneway.core.ids import IntentId
from laneway.core.rows import Result, RowKey, RowPut, Rows, Table, Write
from laneway.lanes.eoa.lane import (
    FREE,
    RAW,
    decode_head,
    decode_history,
    read_attempt,
    taken_by_all,
)
from laneway.lanes.eoa.rows import Attempt, EoaHead
from laneway.stores.redis.letter_keys import Account
from laneway.stores.redis.letter_words import (
    Shot,
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


class Bound(Struct, frozen=True, array_like=True, gc=False):
    """The beginning of a slot's row; the rest is not needed for what it shows."""

    id: int
    intent: IntentId | None
    seq: int
    priority: int
    size: int
    nonce: int


decode_bound = msgspec.msgpack.Decoder(Bound).decode


class Shown(Struct, gc=False):
    """What stands in Redis because of one slot that has attempts."""

    intent: IntentId | None
    place: str
    tries: dict[int, tuple[str, str]]
    """Of each attempt its hash, and how it is called among the submitted."""


def place_of(intent: IntentId | None, tries: dict[int, Attempt]) -> str:
    """Where its intent stands. Borrowed: signed, and no node has said anything yet. A number that
    is only filled has no intent to borrow for, and stands among the submitted at once."""
    if not tries:
        return PENDING
    if intent is None:
        return SUBMITTED
    for one in tries.values():
        # Unknown counts as sent.
        if one.taken or one.reason or one.refused or one.doubted:
            return SUBMITTED
    return BORROWED


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
            self._tell_slot(Spoken(account), number, None)
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
        head = decode_head(write.head.state) if write.head.state else None
        if head is not None:
            self._take(head.taken_next)
        spoken = Spoken(self.account)
        self._tell_slots(spoken)
        if self._ranges:
            self._tell_free(spoken)
        if head is not None:
            self._tell_head(spoken, head)
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
            attempt = read_attempt(row.body, self._head.taken_next)
            self._tries.setdefault(attempt.slot, {})[attempt.number] = attempt
            self._touched[attempt.slot] = None
        elif row.table == Table.AUX:
            if row.key.startswith(RAW):
                self._raws[row.key.removeprefix(RAW)] = row.body
            elif row.key.startswith(FREE):
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
            elif row.key.startswith(FREE):
                self._set_range(int(row.key.removeprefix(FREE)), None)

    def _take(self, taken_next: int) -> None:
        """First attempts that every node took, of which the head alone says so."""
        fresh: Collection[int] = range(self._head.taken_next, taken_next)
        if len(fresh) > len(self._tries):
            fresh = [number for number in self._tries if number in fresh]
        for number in fresh:
            first = self._tries.get(number, {}).get(1)
            if first is not None and first.silent and first.is_new():
                self._tries[number][1] = taken_by_all(first)
                self._touched[number] = None

    def _set_range(self, start: int, end: int | None) -> None:
        self._ranges.setdefault(start, self._free.get(start))
        if end is None:
            self._free.pop(start, None)
        else:
            self._free[start] = end

    def _end(self, result: Result) -> None:
        """A final answer, with the slot as it ended."""
        self._ended.append(result)
        if not result.history:
            return
        ended = decode_history(result.history)
        seen = ended.slot.seen
        if seen is not None:
            attempt = next(one for one in ended.attempts if one.number == seen.attempt)
            self._receipts[result.intent] = receipt_told(self.account, ended.slot, attempt)

    # What they show.

    def _tell_slots(self, spoken: Spoken) -> None:
        ended = {result.intent: result for result in self._ended}
        waiting: dict[IntentId, bool] = dict.fromkeys(ended, False)
        words: dict[IntentId, str] = {}
        # Those that are gone first: their intents may have other slots by now.
        gone = [one for one in self._touched if one not in self._tries]
        live = [one for one in self._touched if one in self._tries]
        for number in gone + live:
            before = self._shown.get(number)
            after = self._tell_slot(spoken, number, before)
            old, new = before.place if before else PENDING, after.place if after else PENDING
            shown = after or before
            intent = None if shown is None else shown.intent
            if intent is None or old == new:
                continue
            if intent in ended:
                if old != PENDING:
                    waiting.pop(intent, None)
                continue
            if new == SUBMITTED:
                words[intent] = SUBMITTED
            elif old == SUBMITTED:
                words[intent] = PENDING
            if PENDING in (old, new):
                waiting[intent] = new == PENDING
        self._tell_intents(spoken, waiting, words, ended)

    def _tell_intents(
        self,
        spoken: Spoken,
        waiting: dict[IntentId, bool],
        words: dict[IntentId, str],
        ended: dict[IntentId, Result],
    ) -> None:
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

    def _tell_slot(self, spoken: Spoken, number: int, before: Shown | None) -> Shown | None:
        """What one slot shows now, if anything."""
        tries = self._tries.get(number)
        if tries is None:
            if before is not None:
                del self._shown[number]
                self._tell_gone(spoken, before, {})
            return None
        slot = decode_bound(self._slots[number].body)
        place = place_of(slot.intent, tries)
        if before is None:
            before = Shown(slot.intent, PENDING, {})
        elif before.place == place and before.tries.keys() == tries.keys():
            return before
        self._tell_gone(spoken, before, tries, place)
        after = Shown(slot.intent, place, before.tries.copy())
        self._shown[number] = after
        for one in [one for one in after.tries if one not in tries]:
            del after.tries[one]
        for one, attempt in tries.items():
            is_fresh = one not in before.tries
            if is_fresh:
                after.tries[one] = self._tell_fresh(spoken, slot, attempt, place)
            if place == SUBMITTED and (is_fresh or before.place != place):
                spoken.submits += (slot.nonce, after.tries[one][1])
        return after

    def _tell_gone(
        self, spoken: Spoken, before: Shown, tries: dict[int, Attempt], place: str = PENDING
    ) -> None:
        for one, (hash_, member) in before.tries.items():
            if one not in tries:
                if before.intent is not None:
                    spoken.says.append((self.account.hash(hash_), "DEL", ()))
                if before.place == SUBMITTED:
                    spoken.submits_not.append(member)
        if before.place == BORROWED and place != BORROWED:
            assert before.intent is not None
            spoken.borrows_not.append(before.intent)

    def _tell_fresh(
        self, spoken: Spoken, slot: Bound, attempt: Attempt, place: str
    ) -> tuple[str, str]:
        """An attempt that was not shown yet: its hash, and its name among the submitted."""
        intent = slot.intent
        queued_ms = 0 if intent is None else self.queued[intent]
        one = Shot(intent, slot.nonce, hexed(attempt.hash), attempt, queued_ms)
        if intent is not None:
            account = self.account
            spoken.says.append((account.hash(one.hash), "SET", (intent,)))
            spoken.says.append((account.attempts(intent), "LPUSH", (attempt_told(one),)))
            if place == BORROWED:
                # Of several the last counts: the bytes that were signed last.
                raw = attempt.raw or self._raws[attempt.key()]
                spoken.borrows += (intent, borrowed_told(one, raw))
        return one.hash, submitted_member(one)

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
