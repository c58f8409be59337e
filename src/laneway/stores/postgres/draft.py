"""One group as it will be written: what it must know, what the server answered about it, and each
request judged in turn on that. Every request has two sides under one name: in Wants what it asks
about, in GroupDraft what it does.

The lanes are locked while a group is judged, so nobody else can write what is read here.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from laneway.core.errors import Bug, LeaseLost
from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import Arrival, IntentRow
from laneway.core.rows import Command, Index, Lease, Result
from laneway.ports import Alive, Commit, Lost
from laneway.stores.book import committed
from laneway.stores.codec import decode_command, decode_result, intent_row, lane_view, pack_id
from laneway.stores.judge import (
    ID_INDEX,
    KEY_INDEX,
    Judge,
    LaneEntry,
    empty_entry,
    entry_of,
    key_value,
)
from laneway.stores.postgres.arrays import blobs, texts
from laneway.stores.postgres.limits import TOMBSTONE_MS

Rows = Sequence[tuple[Any, ...]]
Question = tuple[str, Mapping[str, object]]
"""A statement by name, and what is bound to it."""


class Wants:
    """What a group must know and lock before it can be judged. All locks are taken in one order:
    lanes by name, then owners."""

    def __init__(self, *, doubt_fresh: bool) -> None:
        self._doubt_fresh = doubt_fresh
        """Whether ids that were declared fresh are looked up nevertheless."""
        self.lanes: dict[LaneId, None] = {}
        self.mail: dict[LaneId, None] = {}
        self.claimed: list[LaneId] = []
        self.owners: list[Owner] = []
        self.peers = False
        self.ids: dict[bytes, None] = {}
        self.indexes: dict[tuple[str, str], None] = {}
        self.commands = 0
        self.pruned: tuple[int, int, int] | None = None

    def accept(self, arrivals: Sequence[Arrival]) -> None:
        for arrival in arrivals:
            self.lanes[arrival.lane] = None
            if self._doubt_fresh or not arrival.fresh:
                self.ids[pack_id(arrival.id)] = None
                self.indexes[ID_INDEX, arrival.id] = None
            if arrival.key is not None:
                self.indexes[KEY_INDEX, key_value(arrival.scope, arrival.key)] = None

    def tell(self, command: Command) -> None:
        self.lanes[command.lane] = self.mail[command.lane] = None
        self.commands += 1
        if command.intent is not None:
            self.ids[pack_id(command.intent)] = None
            self.indexes[ID_INDEX, command.intent] = None

    def beat(self, owner: Owner, ttl_ms: int) -> None:  # noqa: ARG002
        self.owners.append(owner)
        self.peers = True

    def leave(self, owner: Owner) -> None:
        self.owners.append(owner)

    def claim(self, lane: LaneId, owner: Owner) -> None:
        self.lanes[lane] = None
        self.claimed.append(lane)
        self.owners.append(owner)

    def commit_all(self, commits: Sequence[Commit]) -> None:
        for commit in commits:
            lane = commit.lease.lane
            self.lanes[lane] = self.mail[lane] = None
            for touch in commit.write.touched:
                if type(touch) is Result:
                    self.ids[pack_id(touch.intent)] = None

    def release(self, lease: Lease) -> None:
        self.lanes[lease.lane] = None

    def prune_old(self, before_ms: int, feed_before_ms: int, limit: int) -> None:
        self.pruned = (before_ms, feed_before_ms, limit)

    def questions(self) -> list[Question]:
        """What is asked, in one go; what locks comes first, what reads sees what is locked."""
        asked: list[Question] = []
        if self.lanes:
            asked.append(("lock_lanes", {"lanes": texts(self.lanes)}))
        if self.owners:
            bound = {"owners": texts(self.owners), "lanes": texts(self.claimed)}
            asked.append(("lock_owners", bound))
        if self.peers:
            asked.append(("peers", {}))
            asked.append(("standbys_behind", {}))
        if self.mail:
            asked.append(("waiting_commands", {"lanes": texts(self.mail)}))
        # Intents before what is left of pruned ones: a prune in between hides an id from neither.
        if self.ids:
            asked.append(("known_intents", {"ids": blobs(self.ids)}))
        if self.indexes:
            names, values = zip(*self.indexes, strict=True)
            asked.append(("known_indexes", {"names": texts(names), "values": texts(values)}))
        if self.commands:
            asked.append(("command_numbers", {"count": self.commands}))
        if self.pruned is not None:
            before_ms, feed_before_ms, limit = self.pruned
            asked.append(("finished", {"before": before_ms, "limit": limit}))
            asked.append(("trim_feed", {"before": feed_before_ms, "limit": limit}))
            asked.append(("forget_owners", {"age": TOMBSTONE_MS}))
        return asked


class GroupFacts:
    """Answers to the questions of a group, each under the name of its statement."""

    def __init__(self) -> None:
        self.lanes: dict[LaneId, LaneEntry] = {}
        self.alive: dict[Owner, None] = {}
        self.dead: dict[Owner, None] = {}
        self.buried: dict[Owner, None] = {}
        """Owners that the group declares dead."""
        self.peers: dict[Owner, None] = {}
        self.intents: dict[bytes, bool] = {}
        """Ids of intents that exist, and whether each is final."""
        self.indexes: dict[tuple[str, str], Index] = {}
        self.finished: list[tuple[IntentRow, Result]] = []
        self.trimmed = 0
        self.standbys_behind: int | None = None
        self._numbers: deque[int] = deque()

    def learn(self, name: str, rows: Rows) -> None:
        getattr(self, f"_{name}")(rows)

    def _lock_lanes(self, rows: Rows) -> None:
        for no, *row in rows:
            view = lane_view(row)
            self.lanes[view.head.lane] = entry_of(view.tail, view.head, (), no)

    def _lock_owners(self, rows: Rows) -> None:
        for owner, dead, alive in rows:
            if dead:
                self.dead[owner] = None
            elif alive:
                self.alive[owner] = None

    def _peers(self, rows: Rows) -> None:
        self.peers = {Owner(owner): None for (owner,) in rows}

    def _standbys_behind(self, rows: Rows) -> None:
        ((self.standbys_behind,),) = rows

    def _waiting_commands(self, rows: Rows) -> None:
        for lane, number, body in rows:
            # A lane that another process made since is missed here; making it again fails.
            if lane in self.lanes:
                self.lanes[lane].mail[number] = decode_command(body)

    def _known_intents(self, rows: Rows) -> None:
        self.intents = dict(rows)

    def _known_indexes(self, rows: Rows) -> None:
        self.indexes = {(row[0], row[1]): Index(*row) for row in rows}

    def _command_numbers(self, rows: Rows) -> None:
        self._numbers.extend(number for (number,) in rows)

    def _finished(self, rows: Rows) -> None:
        self.finished = [(intent_row(*row), decode_result(result)) for *row, result in rows]

    def _trim_feed(self, rows: Rows) -> None:
        self.trimmed = len(rows)

    def _forget_owners(self, rows: Rows) -> None:
        """Tombstones of owners that died longer ago than they are remembered: nothing to learn."""

    # What the judge asks.

    def entry(self, lane: LaneId) -> LaneEntry:
        found = self.lanes.get(lane)
        return empty_entry(lane) if found is None else found

    def is_known(self, arrival: Arrival) -> bool:
        return pack_id(arrival.id) in self.intents or (ID_INDEX, arrival.id) in self.indexes

    def key(self, value: str) -> Index | None:
        return self.indexes.get((KEY_INDEX, value))

    def is_final(self, intent: IntentId) -> bool:
        return self.intents.get(pack_id(intent), False) or (ID_INDEX, intent) in self.indexes

    def check_unsettled(self, intent: IntentId) -> None:
        is_final = self.intents.get(pack_id(intent))
        if is_final:
            raise Bug(f"{intent} has a final answer already")
        if is_final is None:
            raise Bug("a final answer names an intent that is not there")

    def command_number(self) -> int:
        if not self._numbers:
            raise Bug("more commands than were asked numbers for")
        return self._numbers.popleft()

    def gives_way(self, holder: Owner | None, owner: Owner, now_ms: int) -> bool:  # noqa: ARG002
        """The server has judged by its own clock who is alive."""
        if owner in self.dead:
            return False
        if holder is not None and holder != owner:
            if holder in self.alive:
                return False
            # It must never beat under this name again, for a lane was taken from it.
            self.buried[holder] = None
            self.dead[holder] = None
            self.forget(holder)
        return True

    def forget(self, owner: Owner) -> None:
        """The owner no longer counts among the living."""
        self.alive.pop(owner, None)
        self.peers.pop(owner, None)


class GroupDraft(Judge):
    """What the group changes, owners included, and what each of its requests is answered."""

    def __init__(self, facts: GroupFacts, *, timeline: int = 1) -> None:
        # The last fence that can have been handed out before this server was promoted.
        super().__init__(facts, fence_passed=(timeline - 1) << 32)
        self.facts = facts
        self.beats: dict[Owner, int] = {}
        self.left: list[Owner] = []

    def beat(self, owner: Owner, ttl_ms: int) -> Alive | Lost:
        facts = self.facts
        if owner in facts.dead:
            return Lost()
        self.beats[owner] = ttl_ms
        facts.alive[owner] = facts.peers[owner] = None
        return Alive(tuple(sorted(facts.peers)))

    def leave(self, owner: Owner) -> None:
        self.left.append(owner)
        self.beats.pop(owner, None)
        self.facts.forget(owner)

    def commit_all(self, commits: Sequence[Commit]) -> list[int | LeaseLost]:
        return committed(self.commit, commits)

    def prune_old(self, before_ms: int, feed_before_ms: int, limit: int) -> int:  # noqa: ARG002
        """What is old was read and locked with the group."""
        self.prune(self.facts.finished)
        return max(len(self.pruned), self.facts.trimmed)

    def new_lanes(self) -> list[LaneId]:
        """Lanes that this group makes: those it changed and nobody had made."""
        return sorted(lane for lane, one in self.lanes.items() if one.is_dirty() and not one.no)

    def woken(self) -> list[LaneId]:
        """Lanes that have work, and whose owner may not know of it."""
        accepted = [arrival.lane for arrival, _ in self.intents.values()]
        # Anyone may take a lane that was given back.
        free = [lane for lane in self.released if self.lanes[lane].wake_ms is not None]
        return [*dict.fromkeys(accepted + free)]
