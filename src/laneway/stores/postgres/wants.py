"""What a group must know and lock before it can be judged, gathered from its requests.

Every request has two sides under one name: here what it asks about, in draft.py what it does.
"""

from collections.abc import Mapping, Sequence

from laneway.core.ids import LaneId, Owner
from laneway.core.intent import Arrival
from laneway.core.rows import Command, Lease, Result
from laneway.ports import Commit
from laneway.stores.book import ID_INDEX, KEY_INDEX, key_value
from laneway.stores.codec import pack_id
from laneway.stores.postgres.arrays import blobs, texts
from laneway.stores.postgres.limits import GRAVE_MS

Question = tuple[str, Mapping[str, object]]
"""A statement by name, and what is bound to it."""


class Wants:
    """The facts of one group. All locks are taken in one order: lanes by name, then owners."""

    def __init__(self, *, doubt_fresh: bool) -> None:
        self._doubt_fresh = doubt_fresh
        """Whether ids that were said to be fresh are looked up nevertheless."""
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

    def commit(self, commits: Sequence[Commit]) -> None:
        for commit in commits:
            lane = commit.lease.lane
            self.lanes[lane] = self.mail[lane] = None
            for touch in commit.write.touched:
                if type(touch) is Result:
                    self.ids[pack_id(touch.intent)] = None

    def release(self, lease: Lease) -> None:
        self.lanes[lease.lane] = None

    def prune(self, before_ms: int, feed_before_ms: int, limit: int) -> None:
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
            asked.append(("forget_owners", {"age": GRAVE_MS}))
        return asked
