"""An account's lane on a real Redis: what its keys show, and what its rows say they must."""

from typing import Any, TypeAlias

import msgspec
from tests.lanes.eoa import stage
from tests.redis_servers import Server

from laneway.core.ids import LaneId, Owner
from laneway.core.intent import Arrival, IntentRow
from laneway.core.rows import Command, Lease, Touch, Touched, Write
from laneway.lanes.eoa.lane import EoaLane
from laneway.lanes.eoa.values import Record
from laneway.ports import Commit
from laneway.stores.redis import RedisStore
from laneway.stores.redis.cells import LaneRows
from laneway.stores.redis.keys import plain
from laneway.stores.redis.letter_keys import Account, account_of
from laneway.stores.redis.letter_rows import Keys, letter

ADDRESS = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
LANE = LaneId(f"evm:31337:{ADDRESS.lower()}")
ME = Owner("me")
HISTORY = "eoa_executor:tx_attempts:"

Step: TypeAlias = IntentRow | Write | Command
"""What a lane's life is made of, for a store: arrivals, commits, commands."""


def account() -> Account:
    found = account_of(plain("laneway:"), LANE)
    assert found is not None
    return found


class Recorder(stage.World):
    """A world that remembers what a store would have been told."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, stage.various(seed))
        self.lane = EoaLane(LANE, self.settings)
        self.steps: list[Step] = []
        self._touched: list[Touch] = []
        fold = self.kind.evolve

        def evolve(lane: EoaLane, record: Record) -> Touched:
            touched = fold(lane, record)
            self._touched += touched
            return touched

        self.kind = msgspec.structs.replace(self.kind, evolve=evolve)

    def accept(self, count: int) -> None:
        before = set(self.accepted)
        super().accept(count)
        rows = [row for row in self.accepted.values() if row.id not in before]
        self.steps += [msgspec.structs.replace(row, lane=LANE) for row in rows]

    def apply(self, records: Any) -> None:
        self._touched = []
        super().apply(records)
        head = self.kind.head(self.lane, self.kind.deadline(self.lane))
        self.steps.append(Write(head, tuple(self._touched), (), self.now_ms, b"feed"))

    def tell(self, verb: str, row: IntentRow | None = None) -> None:
        self.steps.append(Command(1, LANE, verb, self.now_ms, "why", "ann"))
        super().tell(verb, row)


def recorded(seed: int, *, intents: int = 12, steps: int = 300) -> list[Step]:
    world = Recorder(seed)
    world.accept(intents)
    for _ in range(steps):
        world.step()
    return world.steps


def arrived(row: IntentRow) -> Arrival:
    return Arrival(row.id, LANE, row.payload, row.digest, row.accepted_ms)


class Teller:
    """Tells a store what a world did, as its owner would."""

    def __init__(self, store: RedisStore, lease: Lease) -> None:
        self.store = store
        self.lease = lease
        self.version = 0
        self.answered: tuple[int, ...] = ()

    async def tell(self, step: Step) -> None:
        match step:
            case IntentRow():
                await self.store.accept([arrived(step)])
            case Command():
                told = await self.store.tell(step)
                self.answered = (told.id,)
            case Write():
                write = msgspec.structs.replace(step, answered=self.answered)
                commit = Commit(self.lease, self.version + 1, write)
                assert await self.store.commit([commit]) == [self.version + 1]
                self.version += 1
                self.answered = ()

    async def rows(self) -> LaneRows:
        """The whole lane, as its rows say."""
        rows, view = await self.store.load(self.lease), await self.store.lane(LANE)
        assert view is not None
        views = await self.store.history(LANE, None, 10_000)
        return LaneRows(
            view.tail,
            rows.head,
            tuple(one.intent for one in views),
            rows.open,
            tuple(one.result for one in views if one.result is not None),
            mailbox=rows.mailbox,
        )

    async def drawn(self) -> Keys:
        return letter(account(), await self.rows())


async def owned(store: RedisStore) -> Teller:
    await store.beat(ME, 600_000)
    lease = await store.claim(LANE, ME)
    assert lease is not None
    return Teller(store, lease)


def shown(redis: Server) -> Keys:
    """What redis-cli would tell, history aside."""
    found: Keys = {}
    for key in map(bytes.decode, [*redis.say("KEYS", "eoa_executor:*"), b"tx_registry"]):
        kind = redis.client.type(key)
        if key.startswith(HISTORY) or kind == b"none":
            continue
        if kind == b"string":
            found[key] = redis.say("GET", key)
        elif kind == b"hash":
            told = dict(redis.client.hgetall(key))
            told.pop(b"receipt", None)
            found[key] = told
        else:
            assert kind == b"zset", (key, kind)
            flat = redis.say("ZRANGE", key, 0, -1, "WITHSCORES")
            found[key] = {flat[i]: float(flat[i + 1]) for i in range(0, len(flat), 2)}
    return found
