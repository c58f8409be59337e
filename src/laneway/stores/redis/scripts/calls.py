"""Calls of scripts: each with its keys and its arguments. Pure, so that a model of the server can
be asked the same."""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import Arrival
from laneway.core.limits import PRIORITY_CLASSES
from laneway.core.rows import Command, Cursors, Lease
from laneway.ports import Commit
from laneway.stores.codec import encode
from laneway.stores.judge import key_value
from laneway.stores.limits import BACKLOG_PAGE_BYTES_MAX
from laneway.stores.redis.layout import (
    FIELDS,
    NO_LAYOUTS,
    LaneKeys,
    LayoutCommand,
    Layouts,
    Word,
    keys_of,
)
from laneway.stores.redis.limits import DUE_SCAN_MAX, LUA_BACKLOG_CHUNK, OWNERS_KEPT_MS
from laneway.stores.redis.rows import keys
from laneway.stores.redis.rows.cells import (
    Change,
    changes,
    command_value,
    intent_value,
    wake_value,
)
from laneway.stores.redis.rows.keys import Names

LayoutChange: TypeAlias = tuple[str, Sequence[LayoutCommand] | None]
"""The lock of a lane that has a layout, and what a commit changes in its keys. None where that is
not known, so that the commit must not be written unless it was already."""

SCRIPTS = (
    *("commit", "accept", "reserve", "tell", "beat", "bury", "claim", "release", "prune", "trim"),
    "meet",
    *("load", "backlog", "view", "ready"),
)
READS = ("load", "backlog", "view", "ready")
COMMIT_SHARED = (
    *(keys.AWAKE, keys.ALARMS, keys.FEED, keys.ENDED, keys.RESULTS, keys.NUMBERS, keys.PLACES),
)
COMMIT_OWN = (keys.LANE, keys.MAIL, keys.INDEXES, keys.ORDER)
KEY_NUMBERS = {name: str(number) for number, name in enumerate(COMMIT_OWN, 1)} | {
    name: str(-number) for number, name in enumerate(COMMIT_SHARED, 1)
}
ACCEPT_SHARED = (
    *(keys.AWAKE, keys.ALARMS, keys.LANES, keys.KEYS, keys.INTENTS, keys.LEFT, keys.NUMBERS),
)
ACCEPT_OWN = (keys.LANE, keys.ORDER)


Packed: TypeAlias = list[str | int]
"""Arguments of a script that is sent thousands of them, as it reads them: texts, numbers as texts
too, and for bytes their length."""


class ScriptCall(Struct, frozen=True):
    """One question to the group of lanes that can answer it."""

    shard: int
    script: str
    keys: list[str]
    args: Sequence[Word]
    blobs: list[bytes] | None = None
    """Of packed arguments the bytes, in the order of their lengths."""

    def is_write(self) -> bool:
        return self.script not in READS

    def sent(self) -> Sequence[Word]:
        """Its arguments as the server gets them. Thousands, written one by one, took a tenth of
        a process's time, so they are two: one list, and the bytes one after the other, for the
        server's MessagePack knows text alone. The prelude takes them apart."""
        return self.args if self.blobs is None else (encode(self.args), b"".join(self.blobs))

    def words(self) -> Sequence[Word]:
        """Its arguments as the script reads them."""
        if self.blobs is None:
            return self.args
        blobs = iter(self.blobs)
        return [next(blobs) if isinstance(word, int) else word for word in self.args]


class ScriptCaller(Struct, frozen=True):
    """Makes the calls of one process: with the names of its keys, and the token that marks its own
    news."""

    names: Names
    token: str
    now: str = ""
    """The server's clock, set by tests alone."""
    layouts: Layouts = NO_LAYOUTS

    def layout(self, lane: LaneId) -> LaneKeys | None:
        """The keys by which others know a lane, if it has a layout."""
        return keys_of(self.layouts, self.names, lane)

    def commit(
        self, shard: int, commits: Sequence[Commit], beside: Sequence[LayoutChange | None] = ()
    ) -> ScriptCall:
        """`beside` has for each commit what it changes in the keys of a layout."""
        names = self.names
        found = names.shareds(shard, *COMMIT_SHARED)
        args: Packed = [names.channel(), self.token, str(len(commits))]
        blobs: list[bytes] = []
        for commit, change in zip(commits, beside or [None] * len(commits), strict=True):
            lease = commit.lease
            made = changes(lease.lane, commit.write, here=not names.tagged)
            found += names.lane(lease.lane, *COMMIT_OWN)
            put_head(commit, made, args, blobs)
            place = len(args)
            args += ("", "", "0", "0")
            put_changes(made, args, blobs)
            args[place] = str(len(args) - place - 4)
            if change is not None:
                args[place + 1 : place + 4] = put_change(lease.owner, change, found, args)
        return ScriptCall(shard, "commit", found, args, blobs)

    def accept(self, shard: int, arrivals: Sequence[Arrival], *, here: bool) -> ScriptCall:
        """What many arrivals of a lane have in common is sent once."""
        names = self.names
        found = names.shareds(shard, *ACCEPT_SHARED)
        terms: Packed = []
        own: Packed = []
        blobs: list[bytes] = []
        hashes: list[str] = []
        lanes = {one.lane: self.layout(one.lane) for one in arrivals}
        fields = FIELDS if any(lanes.values()) else 0
        places: dict[LaneId, str] = {}
        numbers: dict[tuple[Word | None, ...], str] = {}
        for arrival in arrivals:
            lane = arrival.lane
            layout = lanes[lane]
            place = places.get(lane)
            if place is None:
                place = places[lane] = str(len(found))
                found += names.lane(lane, *ACCEPT_OWN)
                found += () if layout is None else layout.of_arrivals()
            fresh, count_max, bytes_max = arrival.fresh, arrival.count_max, arrival.bytes_max
            common = (lane, arrival.priority, fresh, count_max, bytes_max, arrival.fast_size)
            number = numbers.get(common)
            if number is None:
                number = numbers[common] = str(len(numbers))
                terms += (place, lane, str(arrival.priority), "1" if fresh else "0")
                terms += (optional(count_max), optional(bytes_max), str(arrival.fast_size))
                terms += ("", "") if layout is None else layout.terms()
            value, digest = intent_value(arrival), arrival.digest
            blobs += (value, digest)
            own += (number, arrival.id, len(value), key_of(arrival) or "", len(digest))
            if layout is None:
                own += ("",) * fields
            else:
                hashes.append(layout.of_arrival(arrival.id))
                own += layout.shows(arrival)
        args: Packed = [names.channel(), self.token, str(int(here)), str(len(numbers))]
        args += (str(len(arrivals)), str(len(found)), str(fields))
        return ScriptCall(shard, "accept", found + hashes, args + terms + own, blobs)

    def reserve(
        self, shard: int, key: str, wanted: Sequence[tuple[str, str | bytes]]
    ) -> ScriptCall:
        args: list[Word] = [word for pair in wanted for word in pair]
        return ScriptCall(shard, "reserve", self.names.shareds(shard, key), args)

    def tell(self, command: Command) -> ScriptCall:
        names, shard = self.names, self.names.shard_of(command.lane)
        value = command_value(command)
        shared = names.shareds(
            *(shard, keys.AWAKE, keys.ALARMS, keys.LANES, keys.NUMBERS, keys.RESULTS, keys.LEFT)
        )
        own = names.lane(command.lane, keys.LANE, keys.MAIL)
        same = value[: value.index(b"\n")]
        args: list[Word] = [
            *(names.channel(), self.token, command.lane, names.shards, shard),
            *(command.intent or "", same, value),
        ]
        layout = self.layout(command.lane)
        marks = () if layout is None else layout.of_command(command)
        if marks:
            own += marks
            args.append(command.at_ms)
        return ScriptCall(shard, "tell", shared + own, args)

    def beat(self, shard: int, owner: Owner, ttl_ms: int) -> ScriptCall:
        found = self.names.shareds(shard, keys.OWNERS, keys.DEAD, keys.NUMBERS)
        return ScriptCall(shard, "beat", found, [owner, ttl_ms, self.now, OWNERS_KEPT_MS])

    def bury(self, shard: int, owner: Owner) -> ScriptCall:
        found = self.names.shareds(shard, keys.OWNERS, keys.DEAD)
        return ScriptCall(shard, "bury", found, [owner, self.now])

    def claim(self, lane: LaneId, owner: Owner, *, adopt: bool = False) -> ScriptCall:
        """Only an adoption takes a lane although its lock holds a foreign name."""
        names, shard = self.names, self.names.shard_of(lane)
        found = names.shareds(shard, keys.OWNERS, keys.DEAD, keys.LANES, keys.NUMBERS)
        found += names.lane(lane, keys.LANE) + self._lock(lane)
        return ScriptCall(shard, "claim", found, [lane, owner, self.now, int(adopt)])

    def _lock(self, lane: LaneId) -> list[str]:
        layout = self.layout(lane)
        return [] if layout is None else [layout.lock]

    def meet(self, shard: int, history: str, older: str, replicas: int) -> ScriptCall:
        found = self.names.shareds(shard, keys.OWNERS, keys.NUMBERS, keys.META)
        return ScriptCall(shard, "meet", found, [history, older, replicas, self.now])

    def release(self, lease: Lease) -> ScriptCall:
        names = self.names
        found = names.lane(lease.lane, keys.LANE) + self._lock(lease.lane)
        args: list[str | bytes | int] = [lease.fence, names.channel(), self.token, lease.lane]
        return ScriptCall(names.shard_of(lease.lane), "release", found, args)

    def prune(self, lane: LaneId, left: Sequence[tuple[IntentId, bytes]]) -> ScriptCall:
        names, shard = self.names, self.names.shard_of(lane)
        shared = names.shareds(shard, keys.ENDED, keys.INTENTS, keys.RESULTS, keys.LEFT)
        own = names.lane(lane, keys.LANE, keys.ORDER)
        layout = self.layout(lane)
        if layout is not None:
            own += layout.of_pruned([intent for intent, _ in left])
        return ScriptCall(
            shard, "prune", shared + own, [lane, *(word for one in left for word in one)]
        )

    def trim(self, shard: int, before_ms: int, limit: int) -> ScriptCall:
        return ScriptCall(shard, "trim", self.names.shareds(shard, keys.FEED), [before_ms, limit])

    # Readers.

    def load(self, lease: Lease) -> ScriptCall:
        names = self.names
        shard = names.shard_of(lease.lane)
        found = names.lane(lease.lane, keys.LANE, keys.MAIL, keys.ORDER)
        found += names.shareds(shard, keys.INTENTS)
        return ScriptCall(shard, "load", found, [lease.fence])

    def backlog(self, lane: LaneId, after: Cursors, limit: int) -> ScriptCall:
        shard = self.names.shard_of(lane)
        found = self.names.lane(lane, keys.LANE, keys.ORDER)
        found += self.names.shareds(shard, keys.INTENTS, keys.RESULTS)
        assert len(after) == PRIORITY_CLASSES
        args: list[Word] = [limit, BACKLOG_PAGE_BYTES_MAX, LUA_BACKLOG_CHUNK, *after]
        return ScriptCall(shard, "backlog", found, args)

    def view(self, lane: LaneId, intents: Sequence[IntentId]) -> ScriptCall:
        shard = self.names.shard_of(lane)
        found = self.names.lane(lane, keys.LANE, keys.ORDER)
        found += self.names.shareds(shard, keys.INTENTS, keys.RESULTS)
        return ScriptCall(shard, "view", found, [*intents])

    def ready(self, shard: int, now_ms: int, after: LaneId | None, limit: int) -> ScriptCall:
        found = self.names.shareds(shard, keys.AWAKE, keys.ALARMS)
        return ScriptCall(shard, "ready", found, [now_ms, after or "", limit, DUE_SCAN_MAX])


def put_head(commit: Commit, made: Sequence[Change], args: Packed, blobs: list[bytes]) -> None:
    """The arguments of a commit that are about its lane itself."""
    lease, write = commit.lease, commit.write
    head = write.head
    digest, cursors = write.digest(), encode(head.cursors)
    ends = keys.RESULTS in [change[1] for change in made]
    blobs += (digest, cursors, head.state, write.feed)
    args += (
        lease.lane,
        str(lease.fence),
        str(commit.version),
        len(digest),
        len(cursors),
        str(head.settled_count),
        str(head.settled_bytes),
        wake_value(head.wake_ms),
        len(head.state),
        str(write.at_ms),
        len(write.feed),
        "1" if ends else "0",
    )


def put_changes(made: Sequence[Change], args: Packed, blobs: list[bytes]) -> None:
    for sign, key, members, scores, values in made:
        args += (sign, KEY_NUMBERS[key], str(len(members)))
        args += members
        args += scores
        args += map(len, values)
        blobs += values


def put_change(
    owner: Owner, change: LayoutChange, found: list[str], args: Packed
) -> tuple[str, str, str]:
    """Each command with its keys and words. Answers the owner, whose name the lock must hold, and
    how many keys and words there are; keys below zero if the commands are not known."""
    lock, commands = change
    found.append(lock)
    if commands is None:
        return owner, "-1", "0"
    first, place = len(found), len(args)
    for command, names, same, words in commands:
        found += names
        args += (command, str(len(names)), str(len(same)), str(len(words) // len(names)))
        args += same
        args += words
    return owner, str(len(found) - first), str(len(args) - place)


def optional(bound: int | None) -> str:
    return "" if bound is None else str(bound)


def key_of(arrival: Arrival) -> str | None:
    """The caller's key as it is reserved: unique in its scope."""
    return None if arrival.key is None else key_value(arrival.scope, arrival.key)
