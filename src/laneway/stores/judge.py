"""The one judge of all writes to a store: the answer to each request of a group, and what the
group changes. Pure.

Memory, SQLite and PostgreSQL look up what the judge asks for (`StoreFacts`), and write what it has
gathered. Requests are judged in turn, each on what those before it left. A request that raises
LeaseLost changed nothing, and its group goes on.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Protocol

import msgspec

from laneway.core.errors import Bug, LeaseLost
from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import (
    Accepted,
    Answer,
    Arrival,
    Conflict,
    Full,
    IntentRow,
    Replayed,
)
from laneway.core.limits import PRIORITY_CLASSES
from laneway.core.rows import (
    Command,
    Cursors,
    Head,
    HeadWrite,
    Index,
    Lease,
    Result,
    RowKey,
    RowPut,
    Tail,
    Touched,
    Write,
)

KEY_INDEX = "key"
"""Idempotency keys; the value is the scope, a unit separator and the key."""
ID_INDEX = "id"
"""Pruned intents by id: what is left of them."""

replace = msgspec.structs.replace


@dataclass(slots=True, eq=False)
class LaneEntry:
    """Tail, head and mailbox of one lane, as the group has left them so far."""

    seq_next: int
    accepted_count: int
    accepted_bytes: int
    fast_hits: int
    slow_hits: int
    owner: Owner | None
    fence: int
    version: int
    digest: bytes
    cursors: Cursors
    settled_count: int
    settled_bytes: int
    wake_ms: int | None
    state: bytes
    mail: dict[int, Command]
    no: int = 0
    """The number that the store gave the lane. Zero if nothing of it is written yet."""
    tail_dirty: bool = False
    head_dirty: bool = False
    wake_dirty: bool = False
    """Apart from the head: SQLite indexes it, and it seldom changes while a lane is busy."""

    def wake(self, at_ms: int | None) -> None:
        if at_ms != self.wake_ms:
            self.wake_ms = at_ms
            self.wake_dirty = True

    def is_dirty(self) -> bool:
        return self.tail_dirty or self.head_dirty or self.wake_dirty

    def clean(self) -> None:
        self.tail_dirty = self.head_dirty = self.wake_dirty = False


tail_columns = attrgetter(*Tail.__struct_fields__[1:])
head_columns = attrgetter(*Head.__struct_fields__[1:])
"""The columns of an entry's Tail and Head, after the lane."""


def entry_of(tail: Tail, head: Head, mail: Iterable[Command] = (), no: int = 0) -> LaneEntry:
    commands = {command.id: command for command in mail}
    columns = (*tail_columns(tail), *head_columns(head), commands, no)
    return LaneEntry(*columns)


def empty_entry(lane: LaneId) -> LaneEntry:
    """The entry of a lane that is not in the store."""
    return entry_of(Tail(lane), Head(lane))


class StoreFacts(Protocol):
    """What a store held before the group began."""

    def entry(self, lane: LaneId) -> LaneEntry:
        """The lane's entry, an empty one if there is no such lane. The judge changes it."""

    def is_known(self, arrival: Arrival) -> bool:
        """Whether an intent with this id was accepted before, even if it was pruned since.

        A store that finds out by itself when it writes need not look for a fresh arrival's.
        """

    def key(self, value: str) -> Index | None:
        """The intent that holds an idempotency key."""

    def is_final(self, intent: IntentId) -> bool:
        """Whether an intent has its final answer, even if it was pruned since."""

    def check_unsettled(self, intent: IntentId) -> None:
        """Raise Bug unless the intent is there and has no final answer.

        A store that finds out by itself when it writes need not look here.
        """

    def command_number(self) -> int:
        """A number that no command had before."""

    def gives_way(self, holder: Owner | None, owner: Owner, now_ms: int) -> bool:
        """Whether `owner` may take a lane that `holder` had."""


class Judge:
    """One group: the answers to its requests, and what has to be written for them."""

    def __init__(self, facts: StoreFacts, *, fence_passed: int = 0) -> None:
        self._facts = facts
        self._fence_passed = fence_passed
        """No lease with this fence or a lower one counts: it may come from a server that was
        replaced, and its successor may lack what that one answered last."""
        self.lanes: dict[LaneId, LaneEntry] = {}
        """Every lane the group looked at; those it changed are marked."""
        self.intents: dict[IntentId, tuple[Arrival, int]] = {}
        """Accepted arrivals, each with its sequence."""
        self.keys: dict[str, Index] = {}
        """Index rows of accepted arrivals: nobody else may have them."""
        self.rows: dict[tuple[LaneId, str, str], RowPut | None] = {}
        """Open rows by lane, table and key; None if the row is gone."""
        self.results: dict[IntentId, Result] = {}
        self.indexes: dict[tuple[str, str], Index] = {}
        """Index rows that take the place of older ones."""
        self.commands: list[Command] = []
        self.answered: list[tuple[int, LaneId]] = []
        self.feed: list[tuple[LaneId, int, int, bytes]] = []
        """Lane, version, time and records of each commit that has any."""
        self.ended: dict[LaneId, None] = {}
        """Lanes some of whose intents got their final answer."""
        self.released: list[LaneId] = []
        self.pruned: list[IntentId] = []

    def entry(self, lane: LaneId) -> LaneEntry:
        entry = self.lanes.get(lane)
        if entry is None:
            entry = self.lanes[lane] = self._facts.entry(lane)
        return entry

    # Any process, unfenced.

    def accept(self, arrivals: Sequence[Arrival]) -> list[Answer]:
        return [self._accept(arrival) for arrival in arrivals]

    def _accept(self, arrival: Arrival) -> Answer:
        check_class(arrival)
        known = self._known(arrival)
        if known is not None:
            return known
        entry = self.entry(arrival.lane)
        size = len(arrival.payload)
        depth = entry.accepted_count - entry.settled_count
        unsettled = entry.accepted_bytes - entry.settled_bytes
        if arrival.count_max is not None and depth >= arrival.count_max:
            return Full("intents", arrival.count_max)
        if arrival.bytes_max is not None and unsettled + size > arrival.bytes_max:
            return Full("bytes", arrival.bytes_max)
        seq = entry.seq_next
        fast = depth < arrival.fast_size
        entry.seq_next = seq + 1
        entry.accepted_count += 1
        entry.accepted_bytes += size
        if fast:
            entry.fast_hits += 1
        else:
            entry.slow_hits += 1
        entry.tail_dirty = True
        entry.wake(0)
        self.intents[arrival.id] = (arrival, seq)
        if arrival.key is not None:
            value = key_value(arrival.scope, arrival.key)
            self.keys[value] = Index(KEY_INDEX, value, arrival.id, arrival.lane, arrival.digest)
        return Accepted(arrival.id, seq, depth + 1, unsettled + size, fast)

    def _known(self, arrival: Arrival) -> Answer | None:
        if arrival.id in self.intents or self._facts.is_known(arrival):
            if arrival.fresh:
                raise Bug(f"{arrival.id} was said to be fresh, but it is known")
            return Replayed(arrival.id)
        if arrival.key is None:
            return None
        value = key_value(arrival.scope, arrival.key)
        index = self.keys.get(value) or self._facts.key(value)
        if index is None:
            return None
        return Replayed(index.intent) if index.digest == arrival.digest else Conflict(index.intent)

    def tell(self, command: Command) -> Command:
        """The command as it is queued. One that says the same as a queued one is not queued again;
        one about an intent that is final is not queued at all, and comes back with the id 0."""
        intent = command.intent
        if intent is not None and (intent in self.results or self._facts.is_final(intent)):
            return replace(command, id=0)
        entry = self.entry(command.lane)
        for waiting in entry.mail.values():
            if says_the_same(waiting, command):
                return waiting
        command = replace(command, id=self._facts.command_number())
        self.commands.append(command)
        entry.mail[command.id] = command
        entry.wake(0)
        return command

    # Owners.

    def claim(self, lane: LaneId, owner: Owner, now_ms: int = 0) -> Lease | None:
        entry = self.entry(lane)
        if not self._facts.gives_way(entry.owner, owner, now_ms):
            return None
        entry.owner = owner
        entry.fence = max(entry.fence, self._fence_passed) + 1
        entry.head_dirty = True
        return Lease(lane, owner, entry.fence)

    def commit(self, lease: Lease, version: int, write: Write) -> int:
        """The version, which is written once however often it is asked for; or LeaseLost."""
        lane = lease.lane
        entry = self.entry(lane)
        digest = write.digest()
        if entry.fence != lease.fence or lease.fence <= self._fence_passed:
            raise LeaseLost(lane, lease.fence, version)
        if entry.version == version:
            if entry.digest == digest:
                return version
            raise Bug(f"{lane}: version {version} was written with other rows")
        if entry.version + 1 != version:
            raise LeaseLost(lane, lease.fence, version)
        self._touch(lane, write.touched)
        for done in write.answered:
            self.answered.append((done, lane))
            entry.mail.pop(done, None)
        if write.feed:
            self.feed.append((lane, version, write.at_ms, write.feed))
        head = write.head
        entry.version = version
        entry.digest = digest
        entry.cursors = head.cursors
        entry.settled_count = head.settled_count
        entry.settled_bytes = head.settled_bytes
        entry.wake(wake_after(head, entry.accepted_count, bool(entry.mail)))
        entry.state = head.state
        entry.head_dirty = True
        return version

    def _touch(self, lane: LaneId, touched: Touched) -> None:
        rows, results, intents = self.rows, self.results, self.intents
        ended = len(results)
        for touch in touched:
            # By its exact type: an account's commit touches thousands of rows.
            if type(touch) is RowPut:
                rows[lane, touch.table, touch.key] = touch
            elif type(touch) is RowKey:
                rows[lane, touch.table, touch.key] = None
            elif type(touch) is Result:
                intent = touch.intent
                if intent in results:
                    raise Bug(f"{intent} has a final answer already")
                if intent not in intents:
                    self._facts.check_unsettled(intent)
                results[intent] = touch
            else:
                assert type(touch) is Index
                self.indexes[touch.name, touch.value] = touch
        if len(results) > ended:
            self.ended[lane] = None

    def release(self, lease: Lease) -> None:
        entry = self.entry(lease.lane)
        if 0 < lease.fence == entry.fence:
            entry.owner = None
            entry.head_dirty = True
            self.released.append(lease.lane)

    # Retention.

    def prune(self, finished: Iterable[tuple[IntentRow, Result]]) -> None:
        """Forget finished intents; what finds them again stays in the index."""
        for row, result in finished:
            for index in leftovers(row, result):
                self.indexes[index.name, index.value] = index
            self.pruned.append(row.id)


def key_value(scope: str, key: str) -> str:
    return f"{scope}\x1f{key}"


def check_class(arrival: Arrival) -> None:
    """No backlog reads beyond the last class: an intent there would be accepted and never run."""
    if not 0 <= arrival.priority < PRIORITY_CLASSES:
        raise Bug(
            f"{arrival.id} has priority {arrival.priority}; classes end at {PRIORITY_CLASSES}"
        )


def wake_after(head: HeadWrite, accepted_count: int, mail: bool) -> int | None:
    """When the lane must be woken after this write; unsettled intents never let it sleep.

    While there is work the answer is "now": should the owner die, the next process that looks must
    take it up at once, and not at some deadline of the lane's. The depth is judged here, in the
    same atomic step as the write, because the lane cannot know what the door accepted meanwhile.
    """
    if mail or accepted_count > head.settled_count:
        return 0
    return head.wake_ms


def says_the_same(waiting: Command, sent: Command) -> bool:
    """Whether a command about an intent is in the mailbox already.

    Such a command is queued once: two of them could make one intent final twice, for a lane does
    not remember which of the intents that still wait were cancelled.
    """
    return (
        sent.intent is not None
        and waiting.intent == sent.intent
        and waiting.verb == sent.verb
        and waiting.word == sent.word
    )


def leftovers(row: IntentRow, result: Result) -> list[Index]:
    """The index rows that a pruned intent leaves: its id and key, with digest, status and hash."""
    names = [(ID_INDEX, str(row.id))]
    if row.key is not None:
        names.append((KEY_INDEX, key_value(row.scope, row.key)))
    return [
        Index(name, value, row.id, row.lane, row.digest, result.status, result.hash)
        for name, value in names
    ]
