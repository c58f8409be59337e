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
from laneway.stores.redis.cells import changes, command_value, encode, intent_value, wake_value
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
PACKED = ("commit", "accept")
"""Scripts with thousands of arguments. Written one by one these took a tenth of a process's time,
so they are sent as two: see `packed`."""

COMMIT_SHARED = (
    *(keys.AWAKE, keys.ALARMS, keys.FEED, keys.ENDED, keys.RESULTS, keys.NUMBERS, keys.PLACES),
)
COMMIT_OWN = (keys.LANE, keys.MAIL, keys.INDEXES, keys.ORDER)
KEY_NUMBERS = {name: number for number, name in enumerate(COMMIT_OWN, 1)} | {
    name: -number for number, name in enumerate(COMMIT_SHARED, 1)
}
ACCEPT_SHARED = (
    *(keys.AWAKE, keys.ALARMS, keys.LANES, keys.KEYS, keys.INTENTS, keys.LEFT, keys.NUMBERS),
)
ACCEPT_OWN = (keys.LANE, keys.ORDER)


class Call(Struct, frozen=True):
    """One question to the group of lanes that can answer it."""

    shard: int
    script: str
    keys: list[str]
    args: list[Word]

    def is_write(self) -> bool:
        return self.script not in READS

    def sent(self) -> Sequence[Word]:
        """Its arguments as the server is given them."""
        return packed(self.args) if self.script in PACKED else self.args


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
        args: list[Word] = [names.channel(), self.token, len(commits)]
        found = names.shareds(shard, *COMMIT_SHARED)
        for commit, by_letter in zip(commits, shown or [None] * len(commits), strict=True):
            lease, write = commit.lease, commit.write
            found += names.lane(lease.lane, *COMMIT_OWN)
            made = changes(lease.lane, write, here=not names.tagged)
            head = write.head
            args += (
                *(lease.lane, lease.fence, commit.version, write.digest(), encode(head.cursors)),
                *(head.settled_count, head.settled_bytes, wake_value(head.wake_ms), head.state),
                *(write.at_ms, write.feed, 1 if write.results() else 0, len(made)),
            )
            for sign, key, member, value in made:
                args += (sign, KEY_NUMBERS[key], member, value)
            if by_letter is None:
                args.append("")
            else:
                put_letter(lease.owner, by_letter, found, args)
        return Call(shard, "commit", found, args)

    def accept(self, shard: int, arrivals: Sequence[Arrival], *, here: bool) -> Call:
        names = self.names
        found = names.shareds(shard, *ACCEPT_SHARED)
        args: list[Word] = [names.channel(), self.token, int(here), len(arrivals)]
        numbers: dict[LaneId, int] = {}
        accounts: list[Account | None] = []
        for arrival in arrivals:
            number = numbers.get(arrival.lane)
            if number is None:
                number = numbers[arrival.lane] = len(numbers) + 1
                found += names.lane(arrival.lane, *ACCEPT_OWN)
            args += (
                *(number, arrival.lane, arrival.id, intent_value(arrival), len(arrival.payload)),
                *(arrival.priority, optional(arrival.count_max), optional(arrival.bytes_max)),
                *(arrival.fast_size, int(arrival.fresh), key_of(arrival) or "", arrival.digest),
            )
            accounts.append(account_of(names, arrival.lane))
        for arrival, account in zip(arrivals, accounts, strict=True):
            # Behind all arrivals, so that those of other lanes carry nothing for it.
            if account is not None:
                asked = request_told(account, arrival)
                found += (account.pending, account.told(arrival.id), account.registry, account.jobs)
                args += (asked, arrival.accepted_ms, QUEUE, account.job())
            elif any(accounts):
                found += found[:1] * 4
                args += ("", "", "", "")
        return Call(shard, "accept", found, args)

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


def put_letter(owner: Owner, shown: Shown, found: list[str], args: list[Word]) -> None:
    """The owner, whose name the lock must bear, and each command with its key."""
    account, says = shown
    found.append(account.lock)
    if says is None:
        args += (owner, -1)
        return
    args += (owner, len(says))
    for key, command, words in says:
        found.append(key)
        args += (command, len(words), *words)


def optional(bound: int | None) -> Word:
    return "" if bound is None else bound


def key_of(arrival: Arrival) -> str | None:
    """The caller's key as it is reserved: unique in its scope."""
    return None if arrival.key is None else key_value(arrival.scope, arrival.key)


def packed(words: Sequence[Word]) -> tuple[bytes, bytes]:
    """All words as one list, in which a number is the length of bytes; and those bytes, one behind
    the other, for the server's MessagePack knows text alone. The prelude takes them apart."""
    named = [
        word if isinstance(word, str) else len(word) if isinstance(word, bytes) else str(word)
        for word in words
    ]
    return encode(named), b"".join([word for word in words if isinstance(word, bytes)])
