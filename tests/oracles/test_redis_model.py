"""S4: the model and a real Redis are asked the same, and hold the same; whatever tail is lost."""

import copy
from random import Random
from typing import Any

import pytest
from tests.contracts.test_store import arrival
from tests.oracles.redis_calls import read_commits, spoken
from tests.oracles.redis_model import RedisModel
from tests.redis_servers import Server, empty, server, shared

from laneway.core.ids import LaneId, Owner
from laneway.core.rows import (
    Command,
    HeadWrite,
    Index,
    Lease,
    Result,
    RowKey,
    RowPut,
    Table,
    Touch,
    Write,
)
from laneway.ports import Commit
from laneway.stores.codec import decode_result, encode
from laneway.stores.judge import leftovers
from laneway.stores.redis.engine_core import EngineCore
from laneway.stores.redis.engine_core.keys import account_of
from laneway.stores.redis.layout import LayoutCommand
from laneway.stores.redis.rows.cells import FINAL_STATUSES, intent_parsed
from laneway.stores.redis.rows.keys import HOMES, Names, cluster
from laneway.stores.redis.scripts.calls import LayoutChange, ScriptCall, ScriptCaller
from laneway.stores.redis.servers.servers import scripts

LANES = [LaneId("contract:a"), LaneId("contract:b"), LaneId(f"evm:1:0x{7:040x}")]
LAYOUTS = {"evm": EngineCore()}
OWNERS = [Owner("me"), Owner("you"), Owner("them")]
SCRIPTS = scripts()


def asked(redis: Server, call: ScriptCall) -> Any:
    words = [spoken(word) for word in call.sent()]
    return redis.say("EVAL", SCRIPTS[call.script].text, len(call.keys), *call.keys, *words)


def dumped(redis: Server) -> dict[str, Any]:
    """Everything that a real server holds, as the model tells it."""
    found: dict[str, Any] = {}
    for key in redis.say("KEYS", "*"):
        kind = redis.client.type(key)
        if kind == b"hash":
            found[key.decode()] = redis.client.hgetall(key)
        elif kind == b"zset":
            flat = redis.say("ZRANGE", key, 0, -1, "WITHSCORES")
            found[key.decode()] = {flat[i]: float(flat[i + 1]) for i in range(0, len(flat), 2)}
        elif kind == b"string":
            found[key.decode()] = redis.say("GET", key)
        elif kind == b"list":
            found[key.decode()] = redis.say("LRANGE", key, 0, -1)
        else:
            told = redis.say("XRANGE", key, "-", "+")
            found[key.decode()] = {int(place.partition(b"-")[2]): flat for place, flat in told}
    return found


def normal(script: str, reply: Any) -> Any:
    """Hashes come in no order."""
    if script != "load" or not isinstance(reply, list):
        return reply
    held, named, mail = (paired(part) for part in reply)
    return [held, named, mail]


def paired(part: Any) -> Any:
    if isinstance(part, dict):
        return sorted(part.items())
    size = 3 if len(part) % 3 == 0 and part and part[0].startswith(b"tx_") else 2
    return sorted(tuple(part[i : i + size]) for i in range(0, len(part), size))


class Drawn:
    """Random calls that make sense often enough, from one seed."""

    def __init__(self, seed: int, names: Names) -> None:
        self.dice = Random(seed)
        self.sender = ScriptCaller(names, "token", layouts=LAYOUTS)
        self.names = names
        self.model = RedisModel()
        self.now_ms = 1_000
        self.numbers = 0
        self.versions: dict[LaneId, int] = {}
        self.fences: dict[LaneId, int] = {}
        self.settled: dict[LaneId, int] = {}
        self.holders: dict[LaneId, Owner] = {}
        self.applied = 0
        self.shown_count = 0

    def call(self) -> ScriptCall:
        self.now_ms += self.dice.choice((0, 1, 7, 400))
        self.sender = ScriptCaller(self.names, "token", str(self.now_ms), LAYOUTS)
        draws = (self.commit, self.commit, self.commit, self.accept, self.accept, self.claim)
        rare = (self.beat, self.tell, self.prune, self.read, self.release, self.other)
        return self.dice.choice((*draws, *draws, *rare))()

    def lanes(self) -> list[LaneId]:
        """Lanes of one group, so that one call may hold them."""
        lane = self.dice.choice(LANES)
        shard = self.names.shard_of(lane)
        return [one for one in LANES if self.names.shard_of(one) == shard]

    def known(self) -> Any:
        number = self.dice.randrange(max(1, self.numbers)) + 1
        return arrival(number, LANES[number % 3])

    def accept(self) -> ScriptCall:
        lanes = self.lanes()
        arrivals = []
        for _ in range(self.dice.randint(1, 4)):
            again = self.numbers > 0 and self.dice.random() < 0.2
            self.numbers += 0 if again else 1
            number = self.dice.randint(1, self.numbers) if again else self.numbers
            lane = LANES[number % 3]
            if lane not in lanes:
                continue
            fields: dict[str, Any] = {"priority": self.dice.randrange(4)}
            if self.dice.random() < 0.3:
                fields |= {"key": f"k{self.dice.randrange(5)}", "digest": b"%d" % (number % 2)}
            if self.dice.random() < 0.2:
                fields |= {"count_max": self.dice.randrange(6), "bytes_max": 20}
            arrivals.append(arrival(number, lane, fresh=self.dice.random() < 0.5, **fields))
        if not arrivals:
            return self.claim()
        here = not self.names.tagged
        return self.sender.accept(self.names.shard_of(lanes[0]), arrivals, here=here)

    def commit(self) -> ScriptCall:
        lanes = [lane for lane in self.lanes() if self.dice.random() < 0.8]
        commits = [self.commit_of(lane) for lane in lanes]
        shard = self.names.shard_of(lanes[0]) if lanes else 0
        return self.sender.commit(shard, commits, [self.shown(one) for one in commits])

    def shown(self, commit: Commit) -> LayoutChange | None:
        """Any change of an account's keys; or none can be told."""
        account = account_of(self.names, commit.lease.lane)
        if account is None:
            return None
        if self.dice.random() < 0.1:
            return account.lock, None
        one, other, number = self.known().id, self.known().id, str(self.dice.randrange(5))
        hashes = [account.hash(f"0x{number}"), account.hash("0x1")]
        told = [account.data(one), account.data(other)]
        every: list[LayoutCommand] = [
            ("ZADD", [account.pending], (), [number, one]),
            ("ZREM", [account.pending], (), [one, "nobody"]),
            ("HSET", told, ["status", "submitted", "completed_at", number], ()),
            ("HSET", told, ["status", "confirmed", "receipt"], ["{}", number]),
            ("HSET", [account.borrowed], (), [one, "{}"]),
            ("HDEL", [account.borrowed], (), [one]),
            ("LPUSH", [account.attempts(one), account.attempts(one)], (), [number, "{}"]),
            ("LPUSH", [account.attempts(other)], (), [number, "{}"]),
            ("SET", hashes, (), [one, other]),
            ("DEL", hashes, (), ()),
            ("ZADD", [account.recycled], (), [w for n in range(1_200) for w in (str(n), f"n{n}")]),
        ]
        says = self.dice.sample(every, self.dice.randrange(4))
        if commit.write.answered:
            says += [("HDEL", [account.resets], (), [*map(str, commit.write.answered)])]
            says += [("UNLESS", [account.reset], (), ())]
        return account.lock, says

    def commit_of(self, lane: LaneId) -> Commit:
        version = self.versions.get(lane, 0) + self.dice.choice((1, 1, 1, 1, 0, 2))
        fence = self.fences.get(lane, 0) - (self.dice.random() < 0.1)
        touched: list[Touch] = []
        ended = 0
        for _ in range(self.dice.randrange(5)):
            one = self.known()
            key = str(self.dice.randrange(4))
            drawn = self.dice.randrange(8)
            if drawn < 3:
                intent = self.dice.choice((one.id, None))
                touched.append(RowPut(Table.SLOT, key, intent, b"b\n%d" % drawn))
            elif drawn < 5:
                touched.append(RowKey(Table.SLOT, key))
            elif drawn < 7 and not ended:
                ended = 1
                touched.append(Result(one.id, self.dice.choice(FINAL_STATUSES), self.now_ms))
            elif drawn == 7:
                touched.append(Index("hash", key, one.id, lane))
        settled = self.settled.get(lane, 0) + ended
        head = HeadWrite((1, 0), settled, settled, self.dice.choice((None, 0, 5_000)), b"s")
        feed = b"f%d" % version if self.dice.random() < 0.7 else b""
        answered = tuple(range(self.dice.randrange(3)))
        write = Write(head, tuple(touched), answered, self.now_ms, feed)
        holder = self.holders.get(lane, OWNERS[0]) if self.dice.random() < 0.9 else OWNERS[0]
        return Commit(Lease(lane, holder, fence), version, write)

    def claim(self) -> ScriptCall:
        lane, adopt = self.dice.choice(LANES), self.dice.random() < 0.2
        return self.sender.claim(lane, self.dice.choice(OWNERS), adopt=adopt)

    def beat(self) -> ScriptCall:
        shard = self.names.shard_of(self.dice.choice(LANES))
        return self.sender.beat(shard, self.dice.choice(OWNERS), self.dice.choice((1, 500)))

    def tell(self) -> ScriptCall:
        one = self.known()
        intent = self.dice.choice((one.id, None))
        verb = self.dice.choice(("cancel", "reset-nonce"))
        return self.sender.tell(Command(0, one.lane, verb, self.now_ms, intent=intent))

    def release(self) -> ScriptCall:
        lane = self.dice.choice(LANES)
        return self.sender.release(Lease(lane, OWNERS[0], self.fences.get(lane, 0)))

    def prune(self) -> ScriptCall:
        one = self.known()
        view = self.model.run(self.sender.view(one.lane, [one.id]))[0]
        if view is None or not view[2]:
            return self.sender.trim(self.names.shard_of(one.lane), self.now_ms - 300, 3)
        row = intent_parsed(one.id.encode(), view[0], view[1])
        left = leftovers(row, decode_result(view[2]))[0]
        return self.sender.prune(one.lane, [(one.id, encode(left))])

    def read(self) -> ScriptCall:
        one = self.known()
        reads = (
            self.sender.load(Lease(one.lane, OWNERS[0], self.fences.get(one.lane, 0))),
            self.sender.backlog(one.lane, (self.dice.randrange(4), 0, 1, 0), 2),
            self.sender.view(one.lane, [one.id]),
            self.sender.ready(self.names.shard_of(one.lane), self.now_ms, None, 2),
        )
        return self.dice.choice(reads)

    def other(self) -> ScriptCall:
        shard = self.names.shard_of(LANES[0])
        if self.dice.random() < 0.2:
            return self.sender.bury(shard, Owner(f"old{self.dice.randrange(3)}"))
        if self.dice.random() < 0.3:
            history, older = f"h{self.dice.randrange(3)}", self.dice.choice(("", "h"))
            return self.sender.meet(shard, history, older, self.dice.randrange(3))
        return self.sender.reserve(shard, HOMES, [(f"m{self.dice.randrange(3)}", f"{self.now_ms}")])

    def learn(self, call: ScriptCall, reply: Any) -> None:
        """What a caller would know after this answer."""
        if call.script == "claim" and reply is not None:
            lane = LaneId(str(call.args[0]))
            if reply[0]:
                self.fences[lane], self.holders[lane] = reply[0], Owner(str(call.args[1]))
        if call.script == "commit":
            told = read_commits(call.keys, [spoken(word) for word in call.words()])
            for answer, one in zip(reply, told, strict=True):
                lane = LaneId(one.head[0].decode())
                if answer == 1:
                    self.applied += 1
                    self.shown_count += one.says is not None
                    self.versions[lane] = int(one.head[2])
                    self.settled[lane] = int(one.head[5])

    def step(self, redis: Server) -> ScriptCall:
        call = self.call()
        reply = self.model.run(call)
        assert normal(call.script, asked(redis, call)) == normal(call.script, reply), call
        self.learn(call, reply)
        return call


@pytest.mark.slow
@pytest.mark.parametrize("form", [Names, cluster])
@pytest.mark.parametrize("seed", range(6))
def test_the_model_and_a_real_redis_hold_the_same(seed: int, form: Any) -> None:
    (redis,) = shared(1)
    empty([redis])
    drawn = Drawn(seed, form("model:"))
    for number in range(300):
        drawn.step(redis)
        if number % 10 == 0:
            assert dumped(redis) == drawn.model.dump()
    assert dumped(redis) == drawn.model.dump()
    assert drawn.applied > 8
    assert drawn.names.tagged or drawn.shown_count > 1


@pytest.mark.parametrize("form", [Names, cluster])
def test_a_commit_of_thousands_of_cells_is_written_whole(form: Any) -> None:
    """More than a script can pass on at once, of every kind; and a guard looks at each of them."""
    (redis,) = shared(1)
    empty([redis])
    names, model, lane = form("model:"), RedisModel(), LANES[2]
    sender, shard = ScriptCaller(names, "token", "5", LAYOUTS), names.shard_of(lane)
    account = account_of(names, lane)
    hashes = [] if account is None else [account.hash(str(number)) for number in range(1_100)]
    many = [arrival(number, lane) for number in range(1, 2_301)]

    def both(call: ScriptCall) -> Any:
        reply = model.run(call)
        assert normal(call.script, asked(redis, call)) == normal(call.script, reply)
        return reply

    for first in range(0, len(many), 100):
        both(sender.accept(shard, many[first : first + 100], here=not names.tagged))
    both(sender.claim(lane, OWNERS[0]))

    def commit(version: int, *touched: Touch, says: list[LayoutCommand]) -> int:
        answered = tuple(range(1_500))
        write = Write(HeadWrite((1, 0), version, 0, 5, b"s"), touched, answered, 5, b"f")
        commits = [Commit(Lease(lane, OWNERS[0], 1), version, write)]
        shown = None if account is None else (account.lock, says)
        (answer,) = both(sender.commit(shard, commits, [shown]))
        return int(answer)

    rows = [RowPut(Table.SLOT, str(n), one.id, b"b\n%d" % n) for n, one in enumerate(many)]
    indexes = [Index("hash", str(n), one.id, lane) for n, one in enumerate(many)]
    ended = [Result(one.id, FINAL_STATUSES[n % 3], n) for n, one in enumerate(many)]
    assert commit(1, *rows, *indexes, says=[("SET", hashes, (), hashes)]) == 1
    unknown = Result(arrival(9_999, lane).id, FINAL_STATUSES[0], 5)
    assert commit(2, *ended[:-1], unknown, says=[]) == -2
    assert commit(2, *ended[1_200:1_201], says=[]) == 1
    assert commit(3, *ended, says=[]) == -2
    gone = [RowKey(row.table, row.key) for row in rows]
    rest = ended[:1_200] + ended[1_201:]
    assert commit(3, *gone, *rest, says=[("DEL", hashes, (), ())]) == 1
    assert commit(3, *gone, *rest, says=[]) == 2
    assert dumped(redis) == model.dump()
    assert not any("tx_hash_to_id" in key for key in model.dump())


@pytest.mark.slow
def test_whatever_tail_of_the_log_is_lost_a_whole_number_of_answers_is_kept() -> None:
    """Killed, and its log cut at any byte: what was answered before that byte is all there, and
    of what was not answered yet either all of a script or nothing."""
    dice = Random(4)
    drawn = Drawn(11, Names("tail:"))
    with server() as redis:
        drawn.step(redis)
        kept = [(redis.log_path().stat().st_size, copy.deepcopy(drawn.model.dump()))]
        for _ in range(8):
            for _ in range(40):
                drawn.step(redis)
                size = redis.log_path().stat().st_size
                kept.append((size, copy.deepcopy(drawn.model.dump())))
            redis.kill()
            path = redis.log_path()
            assert path.stat().st_size == kept[-1][0], "an answer came before its log was written"
            cut = dice.randrange(kept[10][0], kept[-1][0] + 1)
            with path.open("r+b") as log:
                log.truncate(cut)
            redis.start()
            kept = [one for one in kept if one[0] <= cut]
            assert dumped(redis) == kept[-1][1]
            # It goes on from there, as after a power cut that took the tail. The store has the log
            # written anew first: a torn script would otherwise stay open in the file.
            redis.rewrite()
            drawn.model = restored(kept[-1][1])
            kept = [(redis.log_path().stat().st_size, copy.deepcopy(drawn.model.dump()))]


def restored(dump: dict[str, Any]) -> RedisModel:
    model = RedisModel()
    for key, found in dump.items():
        if isinstance(found, bytes):
            model.strings[key] = found
            continue
        if isinstance(found, list):
            model.lists[key] = [*found]
            continue
        values = list(found.values())
        if values and isinstance(values[0], bytes):
            model.hashes[key] = dict(found)
        elif values and isinstance(values[0], float):
            model.sets[key] = dict(found)
        else:
            model.streams[key] = dict(found)
    return model
