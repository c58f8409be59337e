"""What a commit changes in an account's keys. Pure.

A commit is fenced by its version: changes that were worked out from the rows of the version before
are right if the commit is written at all.
"""

from collections.abc import Collection

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
from laneway.stores.redis.engine_core.keys import AccountKeys
from laneway.stores.redis.engine_core.values import (
    BORROWED,
    PENDING,
    SUBMITTED,
    Shot,
    attempt_json,
    borrowed_json,
    ended_fields,
    health_json,
    hexed,
    receipt_json,
    submitted_member,
)
from laneway.stores.redis.layout import LayoutCommand

SLOT, ATTEMPT, AUX = Table.SLOT, Table.ATTEMPT, Table.AUX

decode_end = msgspec.msgpack.Decoder(int).decode


class SlotBeginning(Struct, frozen=True, array_like=True, gc=False):
    """The beginning of a slot; the rest is not needed for what it shows."""

    id: int
    intent: IntentId | None
    seq: int
    priority: int
    size: int
    nonce: int


class SlotRow(Struct, frozen=True, array_like=True):
    """A slot's row."""

    slot: SlotBeginning
    first: Attempt | None


decode_kept = msgspec.msgpack.Decoder(SlotRow).decode


class AttemptBeginning(Struct, frozen=True, array_like=True, gc=False):
    """The beginning of an attempt that has ended."""

    slot: int
    number: int
    hash: bytes


class HistoryBeginning(Struct, frozen=True, array_like=True):
    """The beginning of a history."""

    slot: Slot
    attempts: tuple[AttemptBeginning, ...]


decode_past = msgspec.msgpack.Decoder(HistoryBeginning).decode


class SlotShown(Struct, gc=False):
    """What stands in Redis because of one slot that has attempts."""

    intent: IntentId | None
    place: str
    tries: dict[int, tuple[str, str, str]]
    """For each attempt its hash, its number on chain, and its member among the submitted."""


def place_of(intent: IntentId | None, tries: dict[int, Attempt]) -> str:
    """Where its intent stands. Borrowed: signed, and no node has answered yet. A number that
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


class LayoutCommands:
    """The commands of one commit, those of a kind together."""

    def __init__(self, account: AccountKeys) -> None:
        self.gone: list[str] = []
        """Keys of hashes that are gone."""
        self.hashes: list[str] = []
        self.hashed: list[str] = []
        """Keys of hashes that are new, and the intent of each."""
        self.tried: list[str] = []
        self.tries: list[str] = []
        """Keys of lists of attempts, and the attempt that each gets."""
        self.others: list[LayoutCommand] = []
        self.waits_not: list[str] = []
        self.waits: list[str] = []
        self.borrows_not: list[str] = []
        self.borrows: list[str] = []
        self.submits_not: list[str] = []
        self.submits: list[str] = []
        self._places = (
            ("ZREM", account.pending, self.waits_not),
            ("ZADD", account.pending, self.waits),
            ("HDEL", account.borrowed, self.borrows_not),
            ("HSET", account.borrowed, self.borrows),
            ("ZREM", account.submitted, self.submits_not),
            ("ZADD", account.submitted, self.submits),
        )

    def all(self) -> list[LayoutCommand]:
        commands: list[LayoutCommand] = []
        if self.gone:
            commands.append(("DEL", self.gone, (), ()))
        if self.hashes:
            commands.append(("SET", self.hashes, (), self.hashed))
            commands.append(("LPUSH", self.tried, (), self.tries))
        commands += self.others
        return commands + [(name, (key,), (), words) for name, key, words in self._places if words]


class EngineCoreView:
    """What stands in Redis because of a lane's rows, at one version of them."""

    def __init__(self, account: AccountKeys, rows: Rows) -> None:
        self.account = account
        self.fence = rows.head.fence
        self.version = rows.head.version
        self.queued = {intent.id: intent.accepted_ms for intent in rows.intents}
        """When the intents that rows name came in."""
        self._fresh: dict[int, RowPut] = {}
        """Rows of slots that this commit puts, the last of each."""
        self._slots: dict[int, SlotBeginning] = {}
        self._tries: dict[int, dict[int, Attempt]] = {}
        self._raws: dict[str, bytes] = {}
        self._free: dict[int, int] = {}
        self._head = decode_head(rows.head.state) if rows.head.state else EoaHead()
        self._shown: dict[int, SlotShown] = {}
        self._touched: dict[int, None] = {}
        self._ended: dict[IntentId, Result] = {}
        self._ranges: dict[int, int | None] = {}
        """Free ranges that this commit touches, as they were."""
        for row in rows.open:
            self._put(row)
        self._read_fresh()
        for number in self._touched:
            self._show_slot(LayoutCommands(account), number, None)
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

    def advance(self, write: Write) -> list[LayoutCommand]:
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
        commands = LayoutCommands(self.account)
        if self._touched or self._ended:
            self._show_slots(commands)
        if self._ranges:
            self._show_free(commands)
        if head is not None:
            self._show_head(commands, head)
        if write.answered:
            answered = [str(number) for number in write.answered]
            commands.others.append(("HDEL", (self.account.resets,), (), answered))
            commands.others.append(("UNLESS", (self.account.reset,), (), ()))
        self._touched, self._ended, self._ranges = {}, {}, {}
        self.version += 1
        return commands.all()

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

    def _show_slots(self, commands: LayoutCommands) -> None:
        ended = self._ended
        waiting: dict[IntentId, bool] = dict.fromkeys(ended, False)
        words: dict[IntentId, str] = {}
        # Those that are gone first: their intents may have other slots by now.
        for number in sorted(self._touched, key=self._tries.__contains__):
            before = self._shown.get(number)
            after = self._show_slot(commands, number, before)
            old, new = before.place if before else PENDING, after.place if after else PENDING
            slot = after or before
            intent = None if slot is None else slot.intent
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
                commands.waits += (str(self.queued[intent]), intent)
            else:
                commands.waits_not.append(intent)
        for word in (PENDING, SUBMITTED):
            hashes = [self.account.data(intent) for intent, one in words.items() if one == word]
            if hashes:
                commands.others.append(("HSET", hashes, ("status", word), ()))
        if ended:
            self._show_ended(commands)

    def _show_ended(self, commands: LayoutCommands) -> None:
        """Final answers: those that say the same together, with the receipt of each."""
        account = self.account
        same: dict[tuple[str, int, str, bool], tuple[Result, list[str], list[str]]] = {}
        for intent, result in self._ended.items():
            receipt = self._receipt(result)
            alike = (result.status, result.settled_ms, result.reason, receipt != "")
            _, hashes, receipts = same.setdefault(alike, (result, [], []))
            hashes.append(account.data(intent))
            receipts.append(receipt)
            self.queued.pop(intent, None)
        for (_, _, _, is_seen), (result, hashes, receipts) in same.items():
            fields = [str(word) for pair in ended_fields(result).items() for word in pair]
            if is_seen:
                fields.append("receipt")
            commands.others.append(("HSET", hashes, fields, receipts if is_seen else ()))

    def _receipt(self, result: Result) -> str:
        """Of a slot that was seen on chain, as it ended."""
        if not result.history:
            return ""
        past = decode_past(result.history)
        seen = past.slot.seen
        if seen is None:
            return ""
        hash_ = next(one.hash for one in past.attempts if one.number == seen.attempt)
        return receipt_json(self.account.address, past.slot.nonce, seen, hash_).decode()

    def _show_slot(
        self, commands: LayoutCommands, number: int, before: SlotShown | None
    ) -> SlotShown | None:
        """What one slot shows now, if anything."""
        tries = self._tries.get(number)
        if tries is None:
            if before is not None:
                del self._shown[number]
                self._show_gone(commands, before, {})
            return None
        slot = self._slots[number]
        place = place_of(slot.intent, tries)
        known: dict[int, tuple[str, str, str]] = {}
        if before is not None:
            known = before.tries
            if before.place == place and known.keys() == tries.keys():
                return before
            self._show_gone(commands, before, tries, place)
        is_moved = before is None or before.place != place
        attempts: dict[int, tuple[str, str, str]] = {}
        for one, attempt in tries.items():
            known_try = known.get(one)
            is_fresh = known_try is None
            if known_try is None:
                known_try = self._show_fresh(commands, slot, attempt, place)
            attempts[one] = known_try
            if place == SUBMITTED and (is_fresh or is_moved):
                commands.submits += known_try[1:]
        after = self._shown[number] = SlotShown(slot.intent, place, attempts)
        return after

    def _show_gone(
        self,
        commands: LayoutCommands,
        before: SlotShown,
        tries: dict[int, Attempt],
        place: str = PENDING,
    ) -> None:
        for one, (hash_, _, member) in before.tries.items():
            if one not in tries:
                if before.intent is not None:
                    commands.gone.append(self.account.hash(hash_))
                if before.place == SUBMITTED:
                    commands.submits_not.append(member)
        if before.place == BORROWED and place != BORROWED:
            assert before.intent is not None
            commands.borrows_not.append(before.intent)

    def _show_fresh(
        self, commands: LayoutCommands, slot: SlotBeginning, attempt: Attempt, place: str
    ) -> tuple[str, str, str]:
        """An attempt that was not shown yet: its hash, its number, its name among the submitted."""
        intent, nonce = slot.intent, slot.nonce
        queued_ms = 0 if intent is None else self.queued[intent]
        one = Shot(intent, nonce, hexed(attempt.hash), attempt, queued_ms)
        if intent is not None:
            account = self.account
            commands.hashes.append(account.hash(one.hash))
            commands.hashed.append(intent)
            commands.tried.append(account.attempts(intent))
            commands.tries.append(attempt_json(one).decode())
            if place == BORROWED:
                # Of several the last counts: the bytes that were signed last.
                raw = attempt.raw or self._raws[attempt.key()]
                commands.borrows += (intent, borrowed_json(one, raw).decode())
        return one.hash, str(nonce), submitted_member(one)

    def _show_free(self, commands: LayoutCommands) -> None:
        was = numbers_of(self._ranges)
        now = numbers_of({start: self._free.get(start) for start in self._ranges})
        recycled = (self.account.recycled,)
        if was - now:
            gone = [str(number) for number in sorted(was - now)]
            commands.others.append(("ZREM", recycled, (), gone))
        if now - was:
            pairs = [word for number in sorted(now - was) for word in (str(number),) * 2]
            commands.others.append(("ZADD", recycled, (), pairs))

    def _show_head(self, commands: LayoutCommands, head: EoaHead) -> None:
        before, self._head = self._head, head
        account = self.account
        if head.nonce_next != before.nonce_next and head.nonce_next is not None:
            commands.others.append(("SET", (account.optimistic,), (), (str(head.nonce_next),)))
        if head.latest != before.latest or (head.read_ms and not before.read_ms):
            commands.others.append(("SET", (account.counted,), (), (str(head.latest),)))
        if head.health != before.health:
            health = health_json(head.health).decode()
            commands.others.append(("SET", (account.health,), (), (health,)))


def numbers_of(ranges: dict[int, int | None]) -> set[int]:
    found: set[int] = set()
    for start, end in ranges.items():
        found.update(range(start, start if end is None else end))
    return found
