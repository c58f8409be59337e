"""What is said to the server: a script, its keys and its arguments. Pure, so that a model of the
server can be asked the same."""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import Arrival
from laneway.core.limits import PRIORITY_CLASSES
from laneway.core.rows import Command, Cursors, Lease
from laneway.ports import Commit
from laneway.stores.book import key_value
from laneway.stores.limits import BACKLOG_PAGE_BYTES_MAX
from laneway.stores.redis import keys
from laneway.stores.redis.cells import (
    Change,
    changes,
    command_value,
    encode,
    intent_value,
    wake_value,
)
from laneway.stores.redis.keys import Names
from laneway.stores.redis.letter import Say, Word
from laneway.stores.redis.letter_keys import QUEUE, Account, account_of
from laneway.stores.redis.letter_rows import RESET
from laneway.stores.redis.letter_words import request_told
from laneway.stores.redis.limits import DUE_SCAN_MAX, LUA_BACKLOG_CHUNK, OWNERS_KEPT_MS

Shown: TypeAlias = tuple[Account, Sequence[Say] | None]
"""An account, and what a commit changes in its keys; None where that could not be told, so that
the commit must not be written unless it was already."""

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


class Call(Struct, frozen=True):
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
        """Its arguments as the server is given them. Thousands, written one by one, took a tenth of
        a process's time, so they are two: one list, and the bytes one behind the other, for the
        server's MessagePack knows text alone. The prelude takes them apart."""
        return self.args if self.blobs is None else (encode(self.args), b"".join(self.blobs))

    def words(self) -> Sequence[Word]:
        """Its arguments as the script reads them."""
        if self.blobs is None:
            return self.args
        blobs = iter(self.blobs)
        return [next(blobs) if isinstance(word, int) else word for word in self.args]


class Sender(Struct, frozen=True):
    """Who speaks: how keys are called, and by which name its own news are known."""

    names: Names
    token: str
    now: str = ""
    """The server's clock, set by tests alone."""

    def commit(
        self, shard: int, commits: Sequence[Commit], shown: Sequence[Shown | None] = ()
    ) -> Call:
        """`shown` says of each commit what it changes in the keys of an account."""
        names = self.names
        found = names.shareds(shard, *COMMIT_SHARED)
        args: Packed = [names.channel(), self.token, str(len(commits))]
        blobs: list[bytes] = []
        for commit, by_letter in zip(commits, shown or [None] * len(commits), strict=True):
            lease = commit.lease
            made = changes(lease.lane, commit.write, here=not names.tagged)
            found += names.lane(lease.lane, *COMMIT_OWN)
            put_head(commit, made, args, blobs)
            place = len(args)
            args += ("", "", "0", "0")
            put_changes(made, args, blobs)
            args[place] = str(len(args) - place - 4)
            if by_letter is not None:
                args[place + 1 : place + 4] = put_letter(lease.owner, by_letter, found, args)
        return Call(shard, "commit", found, args, blobs)

    def accept(self, shard: int, arrivals: Sequence[Arrival], *, here: bool) -> Call:
        """What many arrivals of a lane have in common is said once."""
        names = self.names
        found = names.shareds(shard, *ACCEPT_SHARED)
        terms: Packed = []
        own: Packed = []
        blobs: list[bytes] = []
        shown: list[str] = []
        lanes: dict[LaneId, tuple[str, Account | None]] = {}
        numbers: dict[tuple[Word | None, ...], str] = {}
        for arrival in arrivals:
            lane = arrival.lane
            known = lanes.get(lane)
            if known is None:
                known = lanes[lane] = str(len(found)), account_of(names, lane)
                found += names.lane(lane, *ACCEPT_OWN)
                if known[1] is not None:
                    found += (known[1].pending, known[1].registry, known[1].jobs)
            place, account = known
            fresh, count_max, bytes_max = arrival.fresh, arrival.count_max, arrival.bytes_max
            common = (lane, arrival.priority, fresh, count_max, bytes_max, arrival.fast_size)
            number = numbers.get(common)
            if number is None:
                number = numbers[common] = str(len(numbers))
                terms += (place, lane, str(arrival.priority), "1" if fresh else "0")
                terms += (optional(count_max), optional(bytes_max), str(arrival.fast_size))
                terms += ("", "") if account is None else (QUEUE, account.job())
            value, digest = intent_value(arrival), arrival.digest
            blobs += (value, digest)
            own += (number, arrival.id, len(value), key_of(arrival) or "", len(digest))
            if account is None:
                own += ("", "")
            else:
                shown.append(account.told(arrival.id))
                own += (request_told(account, arrival).decode(), str(arrival.accepted_ms))
        args: Packed = [names.channel(), self.token, str(int(here)), str(len(numbers))]
        args += (str(len(arrivals)), str(len(found)))
        return Call(shard, "accept", found + shown, args + terms + own, blobs)

    def reserve(self, shard: int, key: str, wanted: Sequence[tuple[str, str | bytes]]) -> Call:
        args: list[Word] = [word for pair in wanted for word in pair]
        return Call(shard, "reserve", self.names.shareds(shard, key), args)

    def tell(self, command: Command) -> Call:
        names, shard = self.names, self.names.shard_of(command.lane)
        value = command_value(command)
        shared = names.shareds(
            *(shard, keys.AWAKE, keys.ALARMS, keys.LANES, keys.NUMBERS, keys.RESULTS, keys.LEFT)
        )
        own = names.lane(command.lane, keys.LANE, keys.MAIL)
        said = value[: value.index(b"\n")]
        args: list[Word] = [
            *(names.channel(), self.token, command.lane, names.shards, shard),
            *(command.intent or "", said, value),
        ]
        account = account_of(names, command.lane)
        if account is not None and command.verb == RESET:
            own += (account.reset, account.resets)
            args.append(command.at_ms)
        return Call(shard, "tell", shared + own, args)

    def beat(self, shard: int, owner: Owner, ttl_ms: int) -> Call:
        found = self.names.shareds(shard, keys.OWNERS, keys.DEAD, keys.NUMBERS)
        return Call(shard, "beat", found, [owner, ttl_ms, self.now, OWNERS_KEPT_MS])

    def bury(self, shard: int, owner: Owner) -> Call:
        found = self.names.shareds(shard, keys.OWNERS, keys.DEAD)
        return Call(shard, "bury", found, [owner, self.now])

    def claim(self, lane: LaneId, owner: Owner, *, adopt: bool = False) -> Call:
        """Only who adopts an account takes it from one whose lock is not ours."""
        names, shard = self.names, self.names.shard_of(lane)
        found = names.shareds(shard, keys.OWNERS, keys.DEAD, keys.LANES, keys.NUMBERS)
        found += names.lane(lane, keys.LANE)
        account = account_of(names, lane)
        if account is not None:
            found.append(account.lock)
        return Call(shard, "claim", found, [lane, owner, self.now, int(adopt)])

    def meet(self, shard: int, history: str, older: str, replicas: int) -> Call:
        found = self.names.shareds(shard, keys.OWNERS, keys.NUMBERS, keys.META)
        return Call(shard, "meet", found, [history, older, replicas, self.now])

    def release(self, lease: Lease) -> Call:
        names = self.names
        found = names.lane(lease.lane, keys.LANE)
        account = account_of(names, lease.lane)
        if account is not None:
            found.append(account.lock)
        args: list[str | bytes | int] = [lease.fence, names.channel(), self.token, lease.lane]
        return Call(names.shard_of(lease.lane), "release", found, args)

    def prune(self, lane: LaneId, left: Sequence[tuple[IntentId, bytes]]) -> Call:
        names, shard = self.names, self.names.shard_of(lane)
        shared = names.shareds(shard, keys.ENDED, keys.INTENTS, keys.RESULTS, keys.LEFT)
        own = names.lane(lane, keys.LANE, keys.ORDER)
        account = account_of(names, lane)
        if account is not None:
            own.append(account.registry)
            for intent, _ in left:
                own += (account.told(intent), account.attempts(intent))
        return Call(shard, "prune", shared + own, [lane, *(word for one in left for word in one)])

    def trim(self, shard: int, before_ms: int, limit: int) -> Call:
        return Call(shard, "trim", self.names.shareds(shard, keys.FEED), [before_ms, limit])

    # Readers.

    def load(self, lease: Lease) -> Call:
        names = self.names
        shard = names.shard_of(lease.lane)
        found = names.lane(lease.lane, keys.LANE, keys.MAIL, keys.ORDER)
        found += names.shareds(shard, keys.INTENTS)
        return Call(shard, "load", found, [lease.fence])

    def backlog(self, lane: LaneId, after: Cursors, limit: int) -> Call:
        shard = self.names.shard_of(lane)
        found = self.names.lane(lane, keys.LANE, keys.ORDER)
        found += self.names.shareds(shard, keys.INTENTS, keys.RESULTS)
        assert len(after) == PRIORITY_CLASSES
        args: list[Word] = [limit, BACKLOG_PAGE_BYTES_MAX, LUA_BACKLOG_CHUNK, *after]
        return Call(shard, "backlog", found, args)

    def view(self, lane: LaneId, intents: Sequence[IntentId]) -> Call:
        shard = self.names.shard_of(lane)
        found = self.names.lane(lane, keys.LANE, keys.ORDER)
        found += self.names.shareds(shard, keys.INTENTS, keys.RESULTS)
        return Call(shard, "view", found, [*intents])

    def ready(self, shard: int, now_ms: int, after: LaneId | None, limit: int) -> Call:
        found = self.names.shareds(shard, keys.AWAKE, keys.ALARMS)
        return Call(shard, "ready", found, [now_ms, after or "", limit, DUE_SCAN_MAX])


def put_head(commit: Commit, made: Sequence[Change], args: Packed, blobs: list[bytes]) -> None:
    """What a commit says of its lane itself."""
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


def put_letter(owner: Owner, shown: Shown, found: list[str], args: Packed) -> tuple[str, str, str]:
    """Each command with its keys and words. Answers the owner, whose name the lock must bear, and
    how many keys and words there are; keys below zero if none could be told."""
    account, says = shown
    found.append(account.lock)
    if says is None:
        return owner, "-1", "0"
    first, place = len(found), len(args)
    for command, names, same, words in says:
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
