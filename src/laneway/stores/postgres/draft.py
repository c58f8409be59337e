"""One group as it will be written: every request judged in turn on what the server said.

The lanes are locked while a group is judged, so nobody else can write what is read here.
"""

from collections.abc import Sequence

import msgspec

from laneway.core.errors import Bug, LeaseLost
from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import Accepted, Answer, Arrival, Conflict, Full, Replayed
from laneway.core.rows import Command, Index, Lease, Result, RowKey, RowPut, Write
from laneway.ports import Alive, Commit, Lost
from laneway.stores.book import (
    ID_INDEX,
    KEY_INDEX,
    check_class,
    key_value,
    leftovers,
    says_the_same,
    wake_after,
)
from laneway.stores.codec import decode_result, encode, intent_body, intent_row, pack_id
from laneway.stores.postgres.facts import Entry, Facts

IntentLine = tuple[LaneId, int, int, bytes]
ResultLine = tuple[str, int, bytes]
RowLine = tuple[bytes | None, bytes]


class Draft:
    """What the group changes, and what each of its requests is answered."""

    def __init__(self, facts: Facts, *, timeline: int = 1) -> None:
        self._facts = facts
        self._passed = (timeline - 1) << 32
        """The last fence that can have been handed out before this server was promoted: it may lack
        what the old primary answered last, and must not answer it again."""
        self.lanes: dict[LaneId, Entry] = facts.lanes
        self.intents: dict[bytes, IntentLine] = {}
        self.rows: dict[tuple[LaneId, str, str], RowLine | None] = {}
        self.results: dict[bytes, ResultLine] = {}
        self.keys: dict[tuple[str, str], Index] = {}
        """Index rows of arrivals: nobody else may have them."""
        self.indexes: dict[tuple[str, str], Index] = {}
        """Index rows that take the place of older ones."""
        self.commands: list[Command] = []
        self.answered: list[tuple[int, LaneId]] = []
        self.feed: list[tuple[LaneId, int, int, bytes]] = []
        self.beats: dict[Owner, int] = {}
        self.left: list[Owner] = []
        self.buried: dict[Owner, None] = {}
        self.pruned: list[bytes] = []
        self.woken: dict[LaneId, None] = {}
        self.told: dict[LaneId, None] = {}
        self.ended: dict[LaneId, None] = {}

    def _entry(self, lane: LaneId) -> Entry:
        """The lane as the group leaves it so far; one that nobody made has the number 0."""
        entry = self.lanes.get(lane)
        if entry is None:
            entry = self.lanes[lane] = Entry()
        return entry

    # Any process, unfenced.

    def accept(self, arrivals: Sequence[Arrival]) -> list[Answer]:
        return [self._accept(arrival) for arrival in arrivals]

    def _accept(self, arrival: Arrival) -> Answer:
        packed = pack_id(arrival.id)
        check_class(arrival)
        known = self._known(arrival, packed)
        if known is not None:
            return known
        entry = self._entry(arrival.lane)
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
        entry.wake_ms = 0
        entry.dirty = True
        self.woken[arrival.lane] = None
        self.intents[packed] = (arrival.lane, arrival.priority, seq, intent_body(arrival))
        if arrival.key is not None:
            value = key_value(arrival.scope, arrival.key)
            self.keys[KEY_INDEX, value] = Index(
                KEY_INDEX, value, arrival.id, arrival.lane, arrival.digest
            )
        return Accepted(arrival.id, seq, depth + 1, unsettled + size, fast)

    def _known(self, arrival: Arrival, packed: bytes) -> Answer | None:
        if self._knows(arrival.id, packed):
            if arrival.fresh:
                raise Bug(f"{arrival.id} was said to be fresh, but it is known")
            return Replayed(arrival.id)
        if arrival.key is None:
            return None
        index = self._index(KEY_INDEX, key_value(arrival.scope, arrival.key))
        if index is None:
            return None
        return Replayed(index.intent) if index.digest == arrival.digest else Conflict(index.intent)

    def _knows(self, intent: IntentId, packed: bytes) -> bool:
        if packed in self.intents or packed in self._facts.intents:
            return True
        return self._index(ID_INDEX, intent) is not None

    def _index(self, name: str, value: str) -> Index | None:
        """An index row as the group leaves it so far."""
        place = (name, value)
        return self.keys.get(place) or self.indexes.get(place) or self._facts.indexes.get(place)

    def tell(self, command: Command) -> Command:
        if command.intent is not None and self._is_final(command.intent):
            return msgspec.structs.replace(command, id=0)
        entry = self._entry(command.lane)
        for waiting in entry.mail.values():
            if says_the_same(waiting, command):
                return waiting
        command = msgspec.structs.replace(command, id=self._facts.command_number())
        self.commands.append(command)
        entry.mail[command.id] = command
        entry.wake_ms = 0
        entry.dirty = True
        self.told[command.lane] = None
        return command

    def _is_final(self, intent: IntentId) -> bool:
        packed = pack_id(intent)
        if packed in self.results or self._facts.intents.get(packed):
            return True
        return self._index(ID_INDEX, intent) is not None

    # Owners.

    def beat(self, owner: Owner, ttl_ms: int) -> Alive | Lost:
        facts = self._facts
        if owner in facts.dead:
            return Lost()
        self.beats[owner] = ttl_ms
        facts.alive[owner] = facts.peers[owner] = None
        return Alive(tuple(sorted(facts.peers)))

    def leave(self, owner: Owner) -> None:
        self.left.append(owner)
        self._forget(owner)

    def _forget(self, owner: Owner) -> None:
        self.beats.pop(owner, None)
        self._facts.alive.pop(owner, None)
        self._facts.peers.pop(owner, None)

    def claim(self, lane: LaneId, owner: Owner) -> Lease | None:
        facts, entry = self._facts, self._entry(lane)
        if owner in facts.dead:
            return None
        if entry.owner is not None and entry.owner != owner:
            if entry.owner in facts.alive:
                return None
            # It must never beat under this name again, for a lane was taken from it.
            self.buried[entry.owner] = None
            facts.dead[entry.owner] = None
            self._forget(entry.owner)
        entry.owner = owner
        entry.fence = max(entry.fence, self._passed) + 1
        entry.dirty = True
        return Lease(lane, owner, entry.fence)

    def commit(self, commits: Sequence[Commit]) -> list[int | LeaseLost]:
        answers: list[int | LeaseLost] = []
        for commit in commits:
            try:
                answers.append(self._commit(commit.lease, commit.version, commit.write))
            except LeaseLost as lost:
                # That lane alone is refused; the rest of the group is not its business.
                answers.append(lost)
        return answers

    def _commit(self, lease: Lease, version: int, write: Write) -> int:
        entry = self._entry(lease.lane)
        digest = write.digest()
        if entry.fence != lease.fence or lease.fence <= self._passed:
            raise LeaseLost(lease.lane, lease.fence, version)
        if entry.version == version:
            if entry.digest == digest:
                return version
            raise Bug(f"{lease.lane}: version {version} was written with other rows")
        if entry.version + 1 != version:
            raise LeaseLost(lease.lane, lease.fence, version)
        self._touch(lease.lane, write)
        for done in write.answered:
            self.answered.append((done, lease.lane))
            entry.mail.pop(done, None)
        if write.feed:
            self.feed.append((lease.lane, version, write.at_ms, write.feed))
        head = write.head
        entry.version = version
        entry.digest = digest
        entry.cursors = head.cursors
        entry.settled_count = head.settled_count
        entry.settled_bytes = head.settled_bytes
        entry.wake_ms = wake_after(head, entry.accepted_count, bool(entry.mail))
        entry.state = head.state
        entry.dirty = True
        return version

    def _touch(self, lane: LaneId, write: Write) -> None:
        for touch in write.touched:
            if isinstance(touch, RowPut):
                intent = None if touch.intent is None else pack_id(touch.intent)
                self.rows[lane, touch.table, touch.key] = (intent, touch.body)
            elif isinstance(touch, RowKey):
                self.rows[lane, touch.table, touch.key] = None
            elif isinstance(touch, Result):
                self._put_result(touch)
                self.ended[lane] = None
            else:
                self.indexes[touch.name, touch.value] = touch

    def _put_result(self, result: Result) -> None:
        packed = pack_id(result.intent)
        final = self._facts.intents.get(packed)
        if final or packed in self.results:
            raise Bug(f"{result.intent} has a final answer already")
        if final is None and packed not in self.intents:
            raise Bug("a final answer names an intent that is not there")
        self.results[packed] = (result.status, result.settled_ms, encode(result))

    def release(self, lease: Lease) -> None:
        entry = self._entry(lease.lane)
        if entry.no and entry.fence == lease.fence:
            entry.owner = None
            entry.dirty = True
            if entry.wake_ms is not None:
                self.woken[lease.lane] = None  # Whoever it belongs to may have it now.

    def prune(self, before_ms: int, feed_before_ms: int, limit: int) -> int:  # noqa: ARG002
        """What is old was found under the group's own eyes; what finds it again stays."""
        for lane, packed, priority, seq, body, result in self._facts.finished:
            row = intent_row(lane, packed, priority, seq, body)
            for index in leftovers(row, decode_result(result)):
                self.indexes[index.name, index.value] = index
            self.pruned.append(packed)
        return max(len(self.pruned), self._facts.trimmed)

    def new_lanes(self) -> list[LaneId]:
        """Lanes that this group makes: those it changed and nobody had made."""
        return sorted(lane for lane, entry in self.lanes.items() if entry.dirty and not entry.no)
