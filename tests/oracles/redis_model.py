"""Redis as a model that runs the same cell operations: what each script of the store does, in
Python. Pure: the clock comes with the call. A test compares it with a real server, command by
command; so it says what the scripts mean, and what a server must hold after losing a tail."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tests.oracles.redis_calls import Written, read_commits, spoken

from laneway.stores.redis.scripts.calls import ScriptCall

Hash: TypeAlias = dict[bytes, bytes]
Sorted: TypeAlias = dict[bytes, float]
Stream: TypeAlias = dict[int, list[bytes]]
Reply: TypeAlias = Any

CLASS = 1 << 48


def number(value: bytes | None) -> int:
    return int(value or b"0")


def by_score(found: Sorted) -> list[bytes]:
    return sorted(found, key=lambda member: (found[member], member))


class RedisModel:
    """One server's keys. Empty ones do not exist, as in Redis; streams outlive their entries."""

    def __init__(self) -> None:
        self.hashes: dict[str, Hash] = {}
        self.sets: dict[str, Sorted] = {}
        self.streams: dict[str, Stream] = {}
        self.strings: dict[str, bytes] = {}
        self.lists: dict[str, list[bytes]] = {}

    def run(self, call: ScriptCall) -> Reply:
        scripts: dict[str, Callable[[list[str], list[bytes]], Reply]] = {
            "commit": self._commit,
            "accept": self._accept,
            "reserve": self._reserve,
            "tell": self._tell,
            "beat": self._beat,
            "bury": self._bury,
            "claim": self._claim,
            "release": self._release,
            "meet": self._meet,
            "prune": self._prune,
            "trim": self._trim,
            "load": self._load,
            "backlog": self._backlog,
            "view": self._view,
            "ready": self._ready,
        }
        return scripts[call.script](call.keys, [spoken(word) for word in call.words()])

    def dump(self) -> dict[str, Any]:
        """Everything that is there, to be compared."""
        found: dict[str, Any] = {key: dict(one) for key, one in self.hashes.items() if one}
        found |= {key: dict(one) for key, one in self.sets.items() if one}
        found |= self.strings
        found |= {key: [*one] for key, one in self.lists.items() if one}
        return found | {key: dict(one) for key, one in self.streams.items()}

    def _hash(self, key: str) -> Hash:
        return self.hashes.setdefault(key, {})

    def _set(self, key: str) -> Sorted:
        return self.sets.setdefault(key, {})

    def _touch(self, key: str) -> None:
        self._hash(key)[b"touched"] = b"1"

    def _wake(self, keys: Sequence[str], lane: bytes, old: bytes, new: bytes) -> None:
        """Keep a lane where those who look for work find it; `keys` are awake and alarms."""
        if old == new:
            return
        awake, alarms = self._set(keys[0]), self._set(keys[1])
        awake.pop(lane, None)
        alarms.pop(lane, None)
        if new == b"0":
            awake[lane] = 0.0
        elif new:
            alarms[lane] = float(new)

    # The fenced write.

    def _commit(self, keys: list[str], args: list[bytes]) -> Reply:
        answers: list[int] = []
        told: list[bytes] = []
        for one in read_commits(keys, args):
            head = one.head
            answers.append(self._commit_one(keys[:7], one))
            if answers[-1] == 1 and head[10]:
                told += [head[0], head[2], head[9], head[10]]
        if told:
            numbers = self._hash(keys[5])
            last = number(numbers.get(b"feed")) + len(told) // 4
            numbers[b"feed"] = b"%d" % last
            self.streams.setdefault(keys[2], {})[last] = told
        return answers

    def _commit_one(self, shared: list[str], told: Written) -> int:
        own, head, changes = told.own, told.head, told.changes
        lane = self.hashes.get(own[0], {})
        if lane.get(b"fence") != head[1] or int(head[1]) <= self._passed(shared[5]):
            return 0
        before, version = number(lane.get(b"version")), int(head[2])
        if before == version:
            if lane.get(b"digest") != head[3]:
                return -1
            self._touch(shared[5])
            return 2
        if before + 1 != version:
            return 0
        if told.owner and (told.says is None or self.strings.get(told.lock) != told.owner):
            return 0

        def key(place: bytes) -> str:
            return shared[-int(place) - 1] if int(place) < 0 else own[int(place) - 1]

        for sign, place, member, _ in changes:
            if sign == b"!hash" and member in self.hashes.get(key(place), {}):
                return -2
            if sign == b"?zset" and member not in self.sets.get(key(place), {}):
                return -2
        for sign, place, member, value in changes:
            match sign:
                case b"+row":
                    self._row(lane, member, value)
                case b"-row":
                    self._row(lane, member, None)
                case b"+hash" | b"!hash":
                    self._hash(key(place))[member] = value
                case b"-hash":
                    self._hash(key(place)).pop(member, None)
                case b"+zset":
                    self._set(key(place))[member] = float(value)
                case _:
                    assert sign == b"?zset"
        wake = head[7]
        if number(lane.get(b"count")) > int(head[5]) or self.hashes.get(own[1]):
            wake = b"0"
        self._wake(shared, head[0], lane.get(b"wake", b""), wake)
        fields = (b"version", b"digest", b"cursors", b"settled", b"settled_bytes", b"wake")
        written = (head[2], head[3], head[4], head[5], head[6], wake)
        lane |= {**dict(zip(fields, written, strict=True)), b"state": head[8]}
        last = ""
        for name, command, words in told.says or ():
            self._say(name, command, words, last)
            last = name
        return 1

    def _say(self, key: str, command: bytes, words: list[bytes], last: str) -> None:
        """One command on a key of a layout."""
        pairs = dict(zip(words[::2], words[1::2], strict=False))
        match command:
            case b"SET":
                self.strings[key] = words[0]
            case b"DEL":
                self.strings.pop(key, None)
            case b"UNLESS":
                if not self.hashes.get(last):
                    self.strings.pop(key, None)
            case b"HSET":
                self._hash(key).update(pairs)
            case b"HDEL":
                for word in words:
                    self._hash(key).pop(word, None)
            case b"ZADD":
                self._set(key).update({one: float(at) for at, one in pairs.items()})
            case b"ZREM":
                for word in words:
                    self._set(key).pop(word, None)
            case _:
                assert command == b"LPUSH"
                self.lists.setdefault(key, [])[:0] = reversed(words)

    @staticmethod
    def _row(lane: Hash, member: bytes, value: bytes | None) -> None:
        """Put or drop an open row, and count the intents that rows name."""
        was = lane.pop(member, b"").partition(b"\n")[0]
        named = (value or b"").partition(b"\n")[0]
        if value is not None:
            lane[member] = value
        for name, by in ((was, -1), (named, 1)):
            if name:
                count = number(lane.pop(b"#" + name, None)) + by
                if count > 0:
                    lane[b"#" + name] = b"%d" % count

    # The door.

    def _accept(self, keys: list[str], args: list[bytes]) -> Reply:
        answers: list[list[Any]] = []
        terms_count, count, shown, fields = map(int, args[3:7])
        for place in range(count):
            first = 7 + 9 * terms_count + (5 + fields) * place
            number, *arrival = args[first : first + 5 + fields]
            terms = args[7 + 9 * int(number) : 16 + 9 * int(number)]
            lane = int(terms[0])
            answer = self._accept_one(keys[:7], keys[lane : lane + 2], terms, arrival, args[2])
            answers.append(answer)
            if terms[7]:
                if answer[0] == b"accepted":
                    own = [keys[shown], *keys[lane + 2 : lane + 5]]
                    self._accept_shown(own, terms, arrival, answer[1] == 1)
                shown += 1
            if answer[0] in (b"replayed", b"conflict", b"bug"):
                self._touch(keys[6])
        return answers

    def _accept_one(
        self,
        shared: list[str],
        own: list[str],
        terms: list[bytes],
        arrival: list[bytes],
        here: bytes,
    ) -> list[Any]:
        name, priority, fresh, count_max, bytes_max, fast_size = terms[1:7]
        intent, body, key, digest = arrival[:4]
        if here == b"0":
            key = b""
        if any(intent in self.hashes.get(key, {}) for key in shared[4:6]):
            return [b"bug" if fresh == b"1" else b"replayed", intent]
        reserved = self.hashes.get(shared[3], {}).get(key) if key else None
        if reserved is not None:
            holder, _, taken = reserved.split(b"\n", 2)
            return [b"replayed" if taken == digest else b"conflict", holder]
        lane, size = self.hashes.get(own[0], {}), int(body.partition(b"\n")[0])
        depth = number(lane.get(b"count")) - number(lane.get(b"settled"))
        unsettled = number(lane.get(b"bytes")) - number(lane.get(b"settled_bytes"))
        if count_max and depth >= int(count_max):
            return [b"full", b"intents", count_max]
        if bytes_max and unsettled + size > int(bytes_max):
            return [b"full", b"bytes", bytes_max]
        lane = self._hash(own[0])
        fast = depth < int(fast_size)
        seq = number(lane.get(b"seq")) + 1
        grown = {b"seq": 1, b"count": 1, b"bytes": size, b"fast": int(fast), b"slow": int(not fast)}
        for field, by in grown.items():
            lane[field] = b"%d" % (number(lane.get(field)) + by)
        if seq == 1:
            self._set(shared[2])[name] = 0.0
        self._wake(shared, name, lane.get(b"wake", b""), b"0")
        lane[b"wake"] = b"0"
        self._set(own[1])[intent] = float(int(priority) * CLASS + seq)
        self._hash(shared[4])[intent] = body
        if key:
            self._hash(shared[3])[key] = b"%b\n%b\n%b" % (intent, name, digest)
        return [b"accepted", seq, depth + 1, unsettled + size, int(fast)]

    def _accept_shown(
        self, own: list[str], terms: list[bytes], arrival: list[bytes], is_first: bool
    ) -> None:
        shown, pending, registry, jobs = own
        intent, at_ms, words = arrival[0], arrival[4], arrival[5:]
        self._hash(shown).update(zip(words[::2], words[1::2], strict=True))
        self._set(pending)[intent] = float(at_ms)
        self._hash(registry)[intent] = terms[7]
        if is_first:
            self._hash(jobs)[terms[8]] = terms[1]

    def _reserve(self, keys: list[str], args: list[bytes]) -> Reply:
        held = self._hash(keys[0])
        return [held.setdefault(args[i], args[i + 1]) for i in range(0, len(args), 2)]

    def _tell(self, keys: list[str], args: list[bytes]) -> Reply:
        _, _, name, groups, group, intent, said, value = args[:8]
        results, left = self.hashes.get(keys[4], {}), self.hashes.get(keys[5], {})
        if intent and (intent in results or intent in left):
            return [b"0", value]
        mail = self._hash(keys[7])
        if intent:
            for told, waiting in mail.items():
                if waiting.startswith(said + b"\n"):
                    self._touch(keys[3])
                    return [told, waiting]
        numbers, lane = self._hash(keys[3]), self._hash(keys[6])
        numbers[b"command"] = b"%d" % (number(numbers.get(b"command")) + 1)
        told = b"%d" % (int(numbers[b"command"]) * int(groups) + int(group))
        mail[told] = value
        if len(keys) > 8:
            self.strings[keys[8]] = args[8]
            self._hash(keys[9])[told] = args[8]
        self._set(keys[2])[name] = 0.0
        self._wake(keys, name, lane.get(b"wake", b""), b"0")
        lane[b"wake"] = b"0"
        return [told, value]

    # Owners.

    def _beat(self, keys: list[str], args: list[bytes]) -> Reply:
        owners, dead = self._set(keys[0]), self._set(keys[1])
        owner, ttl_ms, now_ms, kept_ms = args[0], int(args[1]), int(args[2]), int(args[3])
        if owner in dead:
            return None
        self._hash(keys[2])[b"lifetime"] = args[1]
        owners[owner] = float(now_ms + ttl_ms)
        for found in (owners, dead):
            for member in [m for m, at_ms in found.items() if at_ms < now_ms - kept_ms]:
                del found[member]
        return [peer for peer in by_score(owners) if owners[peer] >= now_ms]

    def _bury(self, keys: list[str], args: list[bytes]) -> Reply:
        self._set(keys[0]).pop(args[0], None)
        self._set(keys[1]).setdefault(args[0], float(args[1]))
        return 1

    def _claim(self, keys: list[str], args: list[bytes]) -> Reply:
        name, owner, now, adopts = args
        owners, dead = self._set(keys[0]), self._set(keys[1])
        if owner in dead:
            return None
        holder, buried = self.hashes.get(keys[4], {}).get(b"owner"), b""
        lock = self.strings.get(keys[5]) if len(keys) > 5 else None
        if lock is not None and lock not in (holder, owner) and adopts == b"0":
            return [0, lock]
        if holder is not None and holder != owner:
            if owners.get(holder, -1.0) >= int(now):
                return None
            self._bury(keys, [holder, now])
            buried = holder
        lane = self._hash(keys[4])
        self._set(keys[2])[name] = 0.0
        lane[b"owner"] = owner
        lane[b"fence"] = b"%d" % (max(number(lane.get(b"fence")), self._passed(keys[3])) + 1)
        if len(keys) > 5:
            self.strings[keys[5]] = owner
        return [int(lane[b"fence"]), buried]

    def _passed(self, numbers: str) -> int:
        return number(self.hashes.get(numbers, {}).get(b"epoch")) << 32

    def _meet(self, keys: list[str], args: list[bytes]) -> Reply:
        history, older, count, now_ms = *args[:2], int(args[2]), int(args[3])
        owners, meta = self._set(keys[0]), self._hash(keys[2])
        known, seen = meta.get(b"history"), number(meta.get(b"replicas"))
        if count > seen:
            meta[b"replicas"] = b"%d" % count
        meta[b"history"] = history
        promoted = known is not None and known != history and older != b""
        if promoted:
            numbers = self._hash(keys[1])
            numbers[b"epoch"] = b"%d" % (number(numbers.get(b"epoch")) + 1)
            lifetime, last = number(numbers.get(b"lifetime")), max(owners.values(), default=0.0)
            alive = [owner for owner, until_ms in owners.items() if until_ms >= last - lifetime]
            owners.clear()
            owners.update(dict.fromkeys(alive, float(now_ms + lifetime)))
        return [int(promoted), max(count, seen)]

    def _release(self, keys: list[str], args: list[bytes]) -> Reply:
        lane = self.hashes.get(keys[0], {})
        if lane.get(b"fence") != args[0]:
            return 0
        owner = lane.pop(b"owner", None)
        if owner is not None and len(keys) > 1 and self.strings.get(keys[1]) == owner:
            del self.strings[keys[1]]
        return int(owner is not None)

    # Retention.

    def _prune(self, keys: list[str], args: list[bytes]) -> Reply:
        ended, intents, results, left, lane, order = keys[:6]
        count = 0
        for i in range(1, len(args), 2):
            intent = args[i]
            if b"#" + intent in self.hashes.get(lane, {}):
                continue
            if self._hash(results).pop(intent, None) is None:
                continue
            self._hash(intents).pop(intent, None)
            self._set(order).pop(intent, None)
            self._set(ended).pop(b"%b %b" % (intent, args[0]), None)
            self._hash(left)[intent] = args[i + 1]
            if len(keys) > 6:
                self._hash(keys[6]).pop(intent, None)
                self.hashes.pop(keys[6 + i], None)
                self.lists.pop(keys[7 + i], None)
            count += 1
        return count

    def _trim(self, keys: list[str], args: list[bytes]) -> Reply:
        feed, before_ms, limit = self.streams.get(keys[0], {}), int(args[0]), int(args[1])
        gone = 0
        for last in sorted(feed)[:limit]:
            told = feed[last]
            if gone < limit and all(int(at_ms) < before_ms for at_ms in told[2::4]):
                gone += len(told) // 4
                del feed[last]
        return gone

    # Readers.

    def _load(self, keys: list[str], args: list[bytes]) -> Reply:
        lane = self.hashes.get(keys[0])
        if not lane:
            return None
        if lane.get(b"fence") != args[0]:
            return number(lane.get(b"version"))
        named = [member[1:] for member in lane if member.startswith(b"#")]
        return [lane, self._found(keys[2], keys[3], named), self.hashes.get(keys[1], {})]

    def _found(self, order: str, intents: str, wanted: Sequence[bytes]) -> list[bytes]:
        places, kept = self.sets.get(order, {}), self.hashes.get(intents, {})
        found: list[bytes] = []
        for intent in wanted:
            if intent in places:
                found += [intent, b"%d" % places[intent], kept[intent]]
        return found

    def _backlog(self, keys: list[str], args: list[bytes]) -> Reply:
        lane, order, intents, results = keys
        if not self.hashes.get(lane):
            return None
        limit, bytes_max = int(args[0]), int(args[1])
        places, ended = self.sets.get(order, {}), self.hashes.get(results, {})
        page: list[bytes] = []
        size = 0
        for class_, cursor in enumerate(args[3:]):
            first, last = class_ * CLASS + int(cursor), (class_ + 1) * CLASS
            for intent in by_score(places):
                if not first < places[intent] < last or intent in ended:
                    continue
                grown = size + int(self.hashes[intents][intent].partition(b"\n")[0])
                if len(page) == limit or (page and grown > bytes_max):
                    return [1, self._found(order, intents, page)]
                page.append(intent)
                size = grown
        return [0, self._found(order, intents, page)]

    def _view(self, keys: list[str], args: list[bytes]) -> Reply:
        lane, order, intents, results = keys
        found: list[Any] = []
        for intent in args:
            place = self.sets.get(order, {}).get(intent)
            if place is None:
                found.append(None)
                continue
            body = self.hashes[intents][intent]
            result = self.hashes.get(results, {}).get(intent, b"")
            named = self.hashes.get(lane, {}).get(b"#" + intent, b"0")
            found.append([b"%d" % place, body, result, named])
        return found

    def _ready(self, keys: list[str], args: list[bytes]) -> Reply:
        now, after, limit, scan = int(args[0]), args[1], int(args[2]), int(args[3])
        awake, alarms = self.sets.get(keys[0], {}), self.sets.get(keys[1], {})
        due = [lane for lane in by_score(alarms) if alarms[lane] <= now]
        return [sorted(lane for lane in awake if not after or lane > after)[:limit], due[:scan]]
