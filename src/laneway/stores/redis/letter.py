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
    as_taken,
    decode_attempt,
    decode_head,
    taken_by_all,
)
from laneway.lanes.eoa.rows import FIRST, Attempt, EoaHead, Slot
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
Say: TypeAlias = tuple[str, Sequence[str], Sequence[str], Sequence[str]]
"""A command and its keys, the words that are the same for all of them, and those that are each
key's own, one behind the other. `UNLESS` drops its key if the key said before is gone."""

PENDING, BORROWED, SUBMITTED = "pending", "borrowed", "submitted"

SLOT, ATTEMPT, AUX = Table.SLOT, Table.ATTEMPT, Table.AUX

decode_end = msgspec.msgpack.Decoder(int).decode


class Bound(Struct, frozen=True, array_like=True, gc=False):
    """The beginning of a slot; the rest is not needed for what it shows."""

    id: int
    intent: IntentId | None
    seq: int
    priority: int
    size: int
    nonce: int


class Kept(Struct, frozen=True, array_like=True):
    """A slot's row."""

    slot: Bound
    first: Attempt | None


decode_kept = msgspec.msgpack.Decoder(Kept).decode


class Mined(Struct, frozen=True, array_like=True, gc=False):
    """The beginning of an attempt that has ended."""

    slot: int
    number: int
    hash: bytes


class Past(Struct, frozen=True, array_like=True):
    """The beginning of a history."""

    slot: Slot
    attempts: tuple[Mined, ...]


decode_past = msgspec.msgpack.Decoder(Past).decode


class Shown(Struct, gc=False):
    """What stands in Redis because of one slot that has attempts."""

    intent: IntentId | None
    place: str
    tries: dict[int, tuple[str, str, str]]
    """Of each attempt its hash, its number on chain, and how it is called among the submitted."""


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
    """Commands, those of a kind together."""

    def __init__(self, account: Account) -> None:
        self.account = account
        self.gone: list[str] = []
        self.hashes: list[str] = []
        self.hashed: list[str] = []
        """Keys of hashes that are gone, and of those that are new, whose they are."""
        self.tried: list[str] = []
        self.tries: list[str] = []
        """Keys of lists of attempts, and what each is told."""
        self.says: list[Say] = []
        self.waits: list[str] = []
        self.waits_not: list[str] = []
        self.borrows: list[str] = []
        self.borrows_not: list[str] = []
        self.submits: list[str] = []
        self.submits_not: list[str] = []

    def all(self) -> list[Say]:
        account = self.account
        pending, borrowed = (account.pending,), (account.borrowed,)
        submitted = (account.submitted,)
        said: list[Say] = []
        if self.gone:
            said.append(("DEL", self.gone, (), ()))
        if self.hashes:
            said.append(("SET", self.hashes, (), self.hashed))
            said.append(("LPUSH", self.tried, (), self.tries))
        said += self.says
        if self.waits_not:
            said.append(("ZREM", pending, (), self.waits_not))
        if self.waits:
            said.append(("ZADD", pending, (), self.waits))
        if self.borrows_not:
            said.append(("HDEL", borrowed, (), self.borrows_not))
        if self.borrows:
            said.append(("HSET", borrowed, (), self.borrows))
        if self.submits_not:
            said.append(("ZREM", submitted, (), self.submits_not))
        if self.submits:
            said.append(("ZADD", submitted, (), self.submits))
        return said


class LetterView:
    """What stands in Redis because of a lane's rows, at one version of them."""

    def __init__(self, account: Account, rows: Rows) -> None:
        self.account = account
        self.fence = rows.head.fence
        self.version = rows.head.version
        self.queued = {intent.id: intent.accepted_ms for intent in rows.intents}
        """When the intents that rows name came in."""
        self._fresh: dict[int, RowPut] = {}
        """Rows of slots that this commit puts, the last of each."""
        self._slots: dict[int, Bound] = {}
        self._tries: dict[int, dict[int, Attempt]] = {}
        self._raws: dict[str, bytes] = {}
        self._free: dict[int, int] = {}
        self._head = decode_head(rows.head.state) if rows.head.state else EoaHead()
        self._shown: dict[int, Shown] = {}
        self._touched: dict[int, None] = {}
        self._ended: dict[IntentId, Result] = {}
        self._ranges: dict[int, int | None] = {}
        """Free ranges that this commit touches, as they were."""
        for row in rows.open:
            self._put(row)
        self._read_fresh()
        for number in self._touched:
            self._tell_slot(Spoken(account), number, None)
        self._touched, self._ranges = {}, {}

    def missing(self, write: Write) -> list[IntentId]:
        """Intents whose time of arrival must be known before this can be shown."""
        queued = self.queued
        return [
            touch.intent
            for touch in write.touched
            if type(touch) is RowPut
            and touch.table == SLOT
            and touch.intent is not None
            and touch.intent not in queued
        ]

    def advance(self, write: Write) -> list[Say]:
        """Take one commit in; what it changes."""
        for touch in write.touched:
            if type(touch) is RowPut:
                self._put(touch)
            elif type(touch) is RowKey:
                self._drop(touch)
            elif type(touch) is Result:
                self._ended[touch.intent] = touch
        self._read_fresh()
        head = decode_head(write.head.state) if write.head.state else None
        if head is not None:
            self._take(head.taken_next)
        spoken = Spoken(self.account)
        if self._touched or self._ended:
            self._tell_slots(spoken)
        if self._ranges:
            self._tell_free(spoken)
        if head is not None:
            self._tell_head(spoken, head)
        if write.answered:
            answered = [str(told) for told in write.answered]
            spoken.says.append(("HDEL", (self.account.resets,), (), answered))
            spoken.says.append(("UNLESS", (self.account.reset,), (), ()))
        self._touched, self._ended, self._ranges = {}, {}, {}
        self.version += 1
        return spoken.all()

    # Rows.

    def _put(self, row: RowPut) -> None:
        table, key = row.table, row.key
        if table == SLOT:
            self._fresh[int(key)] = row
        elif table == ATTEMPT:
            attempt = decode_attempt(row.body)
            self._tries.setdefault(attempt.slot, {})[attempt.number] = attempt
            self._touched[attempt.slot] = None
        elif table == AUX:
            if key.startswith(RAW):
                self._raws[key.removeprefix(RAW)] = row.body
            elif key.startswith(FREE):
                self._set_range(int(key.removeprefix(FREE)), decode_end(row.body))

    def _drop(self, row: RowKey) -> None:
        table, key = row.table, row.key
        if table == SLOT:
            number = int(key)
            self._fresh.pop(number, None)
            self._slots.pop(number, None)
            self._drop_try(number, FIRST)
        elif table == ATTEMPT:
            place, _, count = key.partition("/")
            self._drop_try(int(place), int(count))
        elif table == AUX:
            if key.startswith(RAW):
                self._raws.pop(key.removeprefix(RAW), None)
            elif key.startswith(FREE):
                self._set_range(int(key.removeprefix(FREE)), None)

    def _drop_try(self, slot: int, number: int) -> None:
        tries = self._tries.get(slot)
        if tries is not None and tries.pop(number, None) is not None:
            self._touched[slot] = None
            if not tries:
                del self._tries[slot]

    def _read_fresh(self) -> None:
        """A slot shows nothing by itself: its intent waits until there are bytes."""
        taken_next = self._head.taken_next
        for number, row in self._fresh.items():
            kept = decode_kept(row.body)
            self._slots[number] = kept.slot
            if kept.first is None:
                self._drop_try(number, FIRST)
            else:
                tries = {FIRST: as_taken(kept.first, taken_next)}
                others = self._tries.get(number)
                self._tries[number] = tries if others is None else tries | others | tries
                self._touched[number] = None
        self._fresh = {}

    def _take(self, taken_next: int) -> None:
        """First attempts that every node took, of which the head alone says so."""
        fresh: Collection[int] = range(self._head.taken_next, taken_next)
        if len(fresh) > len(self._tries):
            fresh = [number for number in self._tries if number in fresh]
        for number in fresh:
            first = self._tries.get(number, {}).get(FIRST)
            if first is not None and first.silent and first.is_new():
                self._tries[number][FIRST] = taken_by_all(first)
                self._touched[number] = None

    def _set_range(self, start: int, end: int | None) -> None:
        self._ranges.setdefault(start, self._free.get(start))
        if end is None:
            self._free.pop(start, None)
        else:
            self._free[start] = end

    # What they show.

    def _tell_slots(self, spoken: Spoken) -> None:
        ended = self._ended
        waiting: dict[IntentId, bool] = dict.fromkeys(ended, False)
        words: dict[IntentId, str] = {}
        # Those that are gone first: their intents may have other slots by now.
        for number in sorted(self._touched, key=self._tries.__contains__):
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
        for intent, waits in waiting.items():
            if waits:
                spoken.waits += (str(self.queued[intent]), intent)
            else:
                spoken.waits_not.append(intent)
        for word in (PENDING, SUBMITTED):
            told = [self.account.told(intent) for intent, one in words.items() if one == word]
            if told:
                spoken.says.append(("HSET", told, ("status", word), ()))
        if ended:
            self._tell_ended(spoken)

    def _tell_ended(self, spoken: Spoken) -> None:
        """Final answers: those that say the same together, with the receipt of each."""
        account = self.account
        same: dict[tuple[str, int, str, bool], tuple[Result, list[str], list[str]]] = {}
        for intent, result in self._ended.items():
            receipt = self._receipt(result)
            alike = (result.status, result.settled_ms, result.reason, receipt != "")
            _, told, receipts = same.setdefault(alike, (result, [], []))
            told.append(account.told(intent))
            receipts.append(receipt)
            self.queued.pop(intent, None)
        for (_, _, _, is_seen), (result, told, receipts) in same.items():
            fields = [str(word) for pair in ended_fields(result).items() for word in pair]
            if is_seen:
                fields.append("receipt")
            spoken.says.append(("HSET", told, fields, receipts if is_seen else ()))

    def _receipt(self, result: Result) -> str:
        """Of a slot that was seen on chain, as it ended."""
        if not result.history:
            return ""
        past = decode_past(result.history)
        seen = past.slot.seen
        if seen is None:
            return ""
        hash_ = next(one.hash for one in past.attempts if one.number == seen.attempt)
        return receipt_told(self.account, past.slot.nonce, seen, hash_).decode()

    def _tell_slot(self, spoken: Spoken, number: int, before: Shown | None) -> Shown | None:
        """What one slot shows now, if anything."""
        tries = self._tries.get(number)
        if tries is None:
            if before is not None:
                del self._shown[number]
                self._tell_gone(spoken, before, {})
            return None
        slot = self._slots[number]
        place = place_of(slot.intent, tries)
        known: dict[int, tuple[str, str, str]] = {}
        if before is not None:
            known = before.tries
            if before.place == place and known.keys() == tries.keys():
                return before
            self._tell_gone(spoken, before, tries, place)
        is_moved = before is None or before.place != place
        told: dict[int, tuple[str, str, str]] = {}
        for one, attempt in tries.items():
            shown = known.get(one)
            is_fresh = shown is None
            if shown is None:
                shown = self._tell_fresh(spoken, slot, attempt, place)
            told[one] = shown
            if place == SUBMITTED and (is_fresh or is_moved):
                spoken.submits += shown[1:]
        after = self._shown[number] = Shown(slot.intent, place, told)
        return after

    def _tell_gone(
        self, spoken: Spoken, before: Shown, tries: dict[int, Attempt], place: str = PENDING
    ) -> None:
        for one, (hash_, _, member) in before.tries.items():
            if one not in tries:
                if before.intent is not None:
                    spoken.gone.append(self.account.hash(hash_))
                if before.place == SUBMITTED:
                    spoken.submits_not.append(member)
        if before.place == BORROWED and place != BORROWED:
            assert before.intent is not None
            spoken.borrows_not.append(before.intent)

    def _tell_fresh(
        self, spoken: Spoken, slot: Bound, attempt: Attempt, place: str
    ) -> tuple[str, str, str]:
        """An attempt that was not shown yet: its hash, its number, its name among the submitted."""
        intent, nonce = slot.intent, slot.nonce
        queued_ms = 0 if intent is None else self.queued[intent]
        one = Shot(intent, nonce, hexed(attempt.hash), attempt, queued_ms)
        if intent is not None:
            account = self.account
            spoken.hashes.append(account.hash(one.hash))
            spoken.hashed.append(intent)
            spoken.tried.append(account.attempts(intent))
            spoken.tries.append(attempt_told(one).decode())
            if place == BORROWED:
                # Of several the last counts: the bytes that were signed last.
                raw = attempt.raw or self._raws[attempt.key()]
                spoken.borrows += (intent, borrowed_told(one, raw).decode())
        return one.hash, str(nonce), submitted_member(one)

    def _tell_free(self, spoken: Spoken) -> None:
        was = numbers_of(self._ranges)
        now = numbers_of({start: self._free.get(start) for start in self._ranges})
        recycled = (self.account.recycled,)
        if was - now:
            gone = [str(number) for number in sorted(was - now)]
            spoken.says.append(("ZREM", recycled, (), gone))
        if now - was:
            pairs = [word for number in sorted(now - was) for word in (str(number),) * 2]
            spoken.says.append(("ZADD", recycled, (), pairs))

    def _tell_head(self, spoken: Spoken, head: EoaHead) -> None:
        before, self._head = self._head, head
        account = self.account
        if head.nonce_next != before.nonce_next and head.nonce_next is not None:
            spoken.says.append(("SET", (account.optimistic,), (), (str(head.nonce_next),)))
        if head.latest != before.latest or (head.read_ms and not before.read_ms):
            spoken.says.append(("SET", (account.counted,), (), (str(head.latest),)))
        if head.health != before.health:
            told = health_told(head.health).decode()
            spoken.says.append(("SET", (account.health,), (), (told,)))


def numbers_of(ranges: dict[int, int | None]) -> set[int]:
    found: set[int] = set()
    for start, end in ranges.items():
        found.update(range(start, start if end is None else end))
    return found
