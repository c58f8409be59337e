"""The names of all keys in Redis. Pure: functions of a name and a lane.

In the plain form all keys stand side by side. In the Cluster form lanes are hashed into groups,
and the group is the hash tag of every key of its lanes, so that one script may touch all of them.
"""

from functools import lru_cache
from zlib import crc32

from msgspec import Struct

from laneway.core.ids import LaneId
from laneway.stores.redis.limits import CLUSTER_SHARDS, SHARED_NAMED_MAX

PREFIX = "laneway:"
"""The prefix of every key, unless the store is opened with another."""

AWAKE = "awake"
"""Lanes with work, by name."""
ALARMS = "alarms"
"""Lanes to wake at a time, by that time."""
FEED = "feed"
ENDED = "ended"
"""Finished intents with their lane, by final status, then by the time they ended."""
LANES = "lanes"
"""All lanes, by name."""
HOMES = "homes"
"""Intent id → lane, for a Cluster, where the two may be far apart."""
KEYS = "keys"
"""Idempotency key → who reserved it: intent id, lane, digest."""
PLACES = "places"
"""Which lanes may know a name of an index."""
OWNERS = "owners"
DEAD = "dead"
NUMBERS = "numbers"
META = "meta"

INTENTS = "intents"
RESULTS = "results"
LEFT = "left"
"""The index rows that pruned intents leave."""

LANE = "lane"
"""Tail, head and open rows; and for each intent that rows name, how many do."""
MAIL = "mail"
INDEXES = "indexes"
ORDER = "order"
"""Every kept intent by class and sequence."""


class Names(Struct, frozen=True):
    """The names of keys, and the group that a lane or another name belongs to."""

    prefix: str
    shards: int = 1
    tagged: bool = False

    def layout(self) -> str:
        return f"{'cluster' if self.tagged else 'plain'} {self.shards}"

    def shard_of(self, name: str) -> int:
        return crc32(name.encode()) % self.shards if self.shards > 1 else 0

    def shared(self, shard: int, name: str) -> str:
        """A key that the lanes of one group share."""
        return f"{self.prefix}{{{shard}}}:{name}" if self.tagged else f"{self.prefix}{name}"

    def shareds(self, shard: int, *names: str) -> list[str]:
        return [*_shared(self, shard, names)]

    def lane(self, lane: LaneId, *names: str) -> list[str]:
        """Keys of one lane."""
        return [f"{start}:{lane}" for start in _shared(self, self.shard_of(lane), names)]

    def channel(self) -> str:
        return f"{self.prefix}news"


@lru_cache(maxsize=SHARED_NAMED_MAX)
def _shared(names: Names, shard: int, keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(names.shared(shard, key) for key in keys)


def cluster(prefix: str) -> Names:
    return Names(prefix, CLUSTER_SHARDS, tagged=True)
