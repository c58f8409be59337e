"""An account's lane on a real Redis: what its keys show, and what its rows say they must."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

import msgspec
from tests.lanes.eoa import stage
from tests.redis_servers import Server
from tests.stores.engine_core_rows import Keys, keys_shown
from tests.stores.lane_cells import LaneRows

from laneway.core.ids import LaneId, Owner, intent_id
from laneway.core.intent import Arrival, IntentRow
from laneway.core.outcome import Outcome
from laneway.core.rows import START, Command, HeadWrite, Lease, Touch, Touched, Write
from laneway.core.units import amount
from laneway.evm import envelope
from laneway.evm.keccak import keccak
from laneway.evm.secp256k1 import HeldEvmKey
from laneway.evm.transaction import DynamicFeeTransaction
from laneway.lanes.common.values import CommandReceived, IntentsOffered, TimerFired
from laneway.lanes.eoa.fees import EvmFee
from laneway.lanes.eoa.lane import EoaLane
from laneway.lanes.eoa.machine import eoa_kind
from laneway.lanes.eoa.settings import EoaSettings
from laneway.lanes.eoa.values import (
    AttemptsMade,
    BroadcastReturned,
    ChainRead,
    LookAtChain,
    Made,
    MakeAttempt,
    NotMade,
    Receipt,
    Record,
    SendAttempt,
    SendResult,
)
from laneway.ports import Commit, EvmRequest
from laneway.stores.redis import RedisStore
from laneway.stores.redis.engine_core import EngineCore
from laneway.stores.redis.engine_core.keys import AccountKeys, account_of, capitals
from laneway.stores.redis.rows.keys import Names

KEY = HeldEvmKey(bytes([7]) * 32)
CHAIN = 31_337
ADDRESS = capitals(f"0x{KEY.address.hex()}")
LANE = LaneId(f"evm:{CHAIN}:{ADDRESS.lower()}")
ME = Owner("me")
LAYOUTS = {"evm": EngineCore()}
HISTORY = "eoa_executor:tx_attempts:"


def key(word: str) -> str:
    """One of the account's keys."""
    return f"eoa_executor:{word}:{CHAIN}:{ADDRESS}"


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(story())


Step: TypeAlias = IntentRow | Write | Command
"""What a lane's life is made of, for a store: arrivals, commits, commands."""


def account() -> AccountKeys:
    found = account_of(Names("laneway:"), LANE)
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

    def tell(self, verb: str, row: IntentRow | None = None, content: str = "") -> None:
        self.steps.append(Command(1, LANE, verb, self.now_ms, "why", "ann"))
        super().tell(verb, row, content)


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
        return keys_shown(account(), await self.rows())


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
            flat = redis.say("HGETALL", key)
            told = {flat[i]: flat[i + 1] for i in range(0, len(flat), 2)}
            found[key] = {field: value for field, value in told.items() if field != b"receipt"}
        else:
            assert kind == b"zset", (key, kind)
            flat = redis.say("ZRANGE", key, 0, -1, "WITHSCORES")
            found[key] = {flat[i]: float(flat[i + 1]) for i in range(0, len(flat), 2)}
    return found


def cli(redis: Server, *words: str) -> Any:
    """What a person reads."""
    program = shutil.which("redis-cli")
    assert program, "the tests need 'redis-cli', which comes with redis-server"
    command = [program, "-p", str(redis.port), "-3", "--json", *words]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    return json.loads(told)


SETTINGS = EoaSettings(finality_depth_blocks=3, target_tps=1)
PAYEE = bytes([9]) * 20


class Life:
    """One account whose owner, signer, node and chain are the test itself."""

    def __init__(self, teller: Teller) -> None:
        self.kind = eoa_kind(SETTINGS)
        self.teller = teller
        self.lane = self.kind.empty(LANE)
        self.now_ms = 1_700_000_000_000
        self.accepted: list[Arrival] = []
        self.out: list[Any] = []
        self.block = 10

    async def post(self, event: Any) -> None:
        """Decide, evolve, commit; then what must be done."""
        decision = self.kind.decide(self.lane, event)
        if isinstance(event, IntentsOffered):
            self.lane.intents |= {intent.id: intent for intent in event.intents}
        touched: list[Touch] = []
        for record in decision.records:
            touched += self.kind.evolve(self.lane, record)
        touched += self.kind.left(self.lane)
        head: HeadWrite = self.kind.head(self.lane, self.kind.deadline(self.lane))
        await self.teller.tell(Write(head, tuple(touched), (), self.now_ms, b"feed"))
        self.out += decision.effects

    async def accept(self, count: int) -> None:
        for _ in range(count):
            self.now_ms += 1
            number = len(self.accepted) + 1
            asked = EvmRequest(PAYEE, amount(number * 10**18), b"hi", 21_000, tip_wei=5)
            name = intent_id(number, number.to_bytes(10, "big"))
            payload = msgspec.msgpack.encode(asked)
            self.accepted.append(Arrival(name, LANE, payload, b"", self.now_ms))
            await self.teller.store.accept(self.accepted[-1:])

    async def offer(self) -> None:
        cursors = self.lane.head.cursors or START
        page = await self.teller.store.backlog(self.teller.lease, cursors, 100)
        await self.post(IntentsOffered(self.now_ms, page.intents))

    async def look(self, latest: int, *hashes: bytes, blocks: int = 1) -> None:
        """The account's count, and which hashes the next block has."""
        self.out = [one for one in self.out if not isinstance(one, LookAtChain)]
        mined = self.block + 1
        self.block += blocks
        receipts = tuple(
            Receipt(one, mined, bytes([mined]) * 32, ok=True, gas_used=21_000, price=7)
            for one in hashes
        )
        block_hash = bytes([self.block]) * 32
        await self.post(
            ChainRead(
                self.now_ms,
                self.lane.head.block_hash,
                latest,
                latest,
                10**20,
                100,
                1,
                self.block,
                block_hash,
                receipts,
            )
        )

    async def begin(self, count: int) -> None:
        await self.offer()
        await self.look(0)
        await self.accept(count)
        await self.offer()

    def signed(self, effect: MakeAttempt) -> Made:
        cap = max(effect.floor.cap, effect.market.cap)
        tip = max(effect.floor.tip, effect.market.tip)
        drafted = envelope.draft(
            DynamicFeeTransaction(CHAIN, effect.nonce, tip, cap, 21_000, PAYEE, effect.number)
        )
        made = envelope.seal(drafted, KEY.sign(keccak(drafted.payload)))
        return Made(
            *(
                effect.slot,
                effect.number,
                made.raw,
                made.hash,
                EvmFee(cap, tip),
                21_000,
                cap * 21_000,
            )
        )

    async def make(self, refused: str = "") -> None:
        """Sign what is to be signed."""
        orders = [one for one in self.out if isinstance(one, MakeAttempt)]
        self.out = [one for one in self.out if not isinstance(one, MakeAttempt)]
        made: list[Made | NotMade] = [
            NotMade(one.slot, one.number, final=True, reason=refused)
            if refused
            else self.signed(one)
            for one in orders
        ]
        await self.post(AttemptsMade(self.now_ms, tuple(made)))

    async def send(self, *outcomes: Outcome, reason: str = "", hopeless: bool = False) -> None:
        """Of each offer in turn what the node said; of those that are left out nothing."""
        orders = [one for one in self.out if isinstance(one, SendAttempt)]
        self.out = [one for one in self.out if not isinstance(one, SendAttempt)]
        told = [
            SendResult(
                *(one.slot, one.number, "node", outcome),
                final=outcome is Outcome.REFUSED,
                hopeless=hopeless,
                reason=reason,
            )
            for one, outcome in zip(orders, outcomes, strict=False)
        ]
        await self.post(BroadcastReturned(self.now_ms, tuple(told)))

    async def wait(self, ms: int) -> None:
        self.now_ms += ms
        await self.post(TimerFired(self.now_ms))

    async def command(self, verb: str) -> None:
        told = await self.teller.store.tell(Command(0, LANE, verb, self.now_ms))
        self.teller.answered = (told.id,)

    async def obey(self, verb: str) -> None:
        await self.post(CommandReceived(self.now_ms, Command(0, LANE, verb, self.now_ms)))

    def hashes(self, nonce: int) -> list[bytes]:
        return [one.hash for one in self.lane.tries(self.lane.nonces[nonce]).values()]
