"""A hand-made failover to an asynchronous replica never lets two owners act.

Real servers, real replication, and a chain whose node takes no parent: a second execution of the
same wish would land. What is counted is what reached the host, and who sent it.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from tests.contracts.test_store import arrival
from tests.redis_servers import Server, server
from tests.relay import Relay

from laneway.chains.contract_rest import RestHost
from laneway.core.errors import LeaseLost, StoreBusy, StoreError, StoreUnknown
from laneway.core.ids import LaneId, Owner
from laneway.core.rows import START, HeadWrite, Lease, RowPut, Table, Write
from laneway.devnets.contract.model import ContractChain
from laneway.devnets.contract.node.socket import ContractSocket
from laneway.engine.heart import HeartPace
from laneway.engine.system import SystemClock
from laneway.kinds.contract.served import ContractServed
from laneway.lanes.contract import ContractSettings
from laneway.ports import Alive, Commit, ContractCall, Execution
from laneway.stores.redis import RedisStore
from laneway.stores.redis.layout import NO_LAYOUTS
from laneway.wiring.embedded import Laneway
from laneway.wiring.readiness import durability_words

pytestmark = pytest.mark.slow

A = LaneId("contract:a")
HEAD = "laneway:lane:contract:a"
ME, YOU = Owner("me"), Owner("you")
PACE = HeartPace(heartbeat_ms=100, lease_ms=1_000)
SETTINGS = ContractSettings(
    execution_ms_max=3_000, search_ms=50, retry_ms_min=20, retry_ms_max=100, breaker_open_ms=100
)
WAIT_MS = 250
CONTRACTS = [f"c{number}" for number in range(6)]
END_S_MAX = 40


def follow(replica: Server, port: int, master: Server) -> None:
    """Have `replica` copy `master` by way of `port`, and wait until it does."""
    before = len(master.say("ROLE")[2])
    replica.say("REPLICAOF", "127.0.0.1", port)
    deadline = time.monotonic() + END_S_MAX
    while master.say("SET", "probe", 1) and master.say("WAIT", before + 1, 200) <= before:
        assert time.monotonic() < deadline


async def copied(replica: Server, key: str, member: str) -> None:
    """Wait until the replica has this much."""
    while replica.say("HGET", key, member) is None:
        await asyncio.sleep(0.01)


def promote(replica: Server) -> None:
    replica.say("REPLICAOF", "NO", "ONE")


def store_on(url: str, **settings: Any) -> RedisStore:
    return RedisStore(url, wait_timeout_ms=WAIT_MS, layouts=NO_LAYOUTS, **settings)


async def until(ask: Callable[[], "asyncio.Future[Any]"]) -> Any:
    deadline = time.monotonic() + END_S_MAX
    while time.monotonic() < deadline:
        try:
            return await ask()
        except (StoreBusy, StoreUnknown):
            await asyncio.sleep(0.02)
    raise AssertionError("the store did not come back")


def slot(key: str) -> Write:
    row = RowPut(Table.SLOT, key, None, b"slot")
    return Write(HeadWrite(START, 0, 0, None, b""), (row,), (), 5, b"feed")


class RecordingHost(RestHost):
    """Remembers what was sent to the chain, by whom and when."""

    def __init__(self, made: "World", name: str) -> None:
        super().__init__(made.url, password="", takes_parent=made.takes_parent)
        self._name = name
        self._sent = made.sent

    async def execute(self, call: ContractCall, parent: int) -> Execution:
        self._sent.append((self._name, f"{call.contract} {call.data}", time.monotonic()))
        return await super().execute(call, parent)


class World:
    """Engines on one chain, callers who never give up, and what came of it."""

    def __init__(self, url: str, *, takes_parent: bool) -> None:
        self.url = url
        self.takes_parent = takes_parent
        self.sent: list[tuple[str, str, float]] = []
        self.accepted: list[str] = []
        """What a caller was told is accepted; each is named by its contract and its number."""

    async def engine(self, name: str, url: str, **settings: Any) -> Laneway:
        """Started again until the store takes its first heartbeat, as a supervisor does."""
        while True:
            clock, store = SystemClock(), store_on(url, **settings)
            contracts = ContractServed(RecordingHost(self, name), SETTINGS, clock)
            with suppress(StoreUnknown):
                return await Laneway(store, [contracts], clock, pace=PACE).__aenter__()

    async def submit(self, engine: Laneway, contract: str, number: int) -> bool:
        try:
            key = f"{contract}/{number}"
            await engine.submit(contract, f"{number}", executor="did:1", key=key)
        except StoreError:
            return False  # Nobody knows, so nobody was told that it is accepted.
        self.accepted.append(f"{contract} {number}")
        return True

    async def insist(self, engine: Laneway, contract: str, numbers: range) -> None:
        """One caller: in order, and again with the same key until it is accepted."""
        for number in numbers:
            while not await self.submit(engine, contract, number):
                await asyncio.sleep(0.02)

    def judge(self, chain: ContractChain, count: int) -> None:
        """Every wish once and in order; where nobody can know whether one runs, no more of it."""
        times = Counter(wish for _, wish, _ in self.sent)
        if not self.takes_parent:
            assert [wish for wish, number in times.items() if number > 1] == []
        for contract in CONTRACTS:
            blocks = [block.data for block in chain.history(contract)[1:]]
            assert len(blocks) == count or not self.takes_parent
            assert blocks == [str(number) for number in range(1, len(blocks) + 1)]

    def senders(self, contract: str) -> list[str]:
        return [name for name, wish, _ in self.sent if wish.startswith(f"{contract} ")]


async def landed(chain: ContractChain, count: int, engine: Laneway | None = None) -> None:
    """Wait for so many blocks of every contract, or until the engine halted its lane."""
    deadline = time.monotonic() + END_S_MAX
    while behind := [name for name in CONTRACTS if chain.latest(name) < count]:
        if engine is not None:
            states = [(await engine.lane(contract)).state for contract in behind]
            if set(states) == {"halted"}:
                return
        assert time.monotonic() < deadline, {name: chain.latest(name) for name in behind}
        await asyncio.sleep(0.02)


@asynccontextmanager
async def replicated() -> AsyncIterator[tuple[Server, Server, Relay]]:
    """A master, its replica, and the way between them, which can be cut."""
    with server() as master, server() as replica:
        async with Relay(master.port) as way:
            await asyncio.to_thread(follow, replica, way.port, master)
            yield master, replica, way


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(story(), 2 * END_S_MAX))


# One fence, two servers.


def test_a_fence_that_both_servers_handed_out_is_only_one_owners_to_use() -> None:
    async def story() -> None:
        with server() as other:
            async with replicated() as (master, replica, way):
                mine, yours = store_on(master.url), store_on(replica.url)
                assert await until(lambda: mine.beat(ME, 500)) == Alive((ME,))
                assert await until(lambda: mine.accept([arrival(1)]))
                way.silence()
                with pytest.raises(StoreUnknown):
                    await mine.claim(A, ME)
                promote(replica)
                await asyncio.to_thread(follow, other, replica.port, replica)
                await until(lambda: yours.beat(YOU, 60_000))
                lease = await until(lambda: yours.claim(A, YOU))
                assert isinstance(lease, Lease)
                # The old master goes on handing out fences, and nobody may use them.
                with pytest.raises(StoreUnknown):
                    await mine.claim(A, ME)
                assert master.say("HGET", HEAD, "owner") == b"me"
                assert replica.say("HGET", HEAD, "owner") == b"you"
                assert await until(lambda: yours.commit([Commit(lease, 1, slot("1"))])) == [1]
                with pytest.raises(StoreUnknown):
                    await mine.beat(ME, 500)
                await mine.close()
                await yours.close()

    run(story)


def test_a_lease_of_the_old_master_is_void_on_the_promoted_one_even_without_a_quorum() -> None:
    async def story() -> None:
        async with replicated() as (master, replica, way), Relay(master.port) as name:
            mine = store_on(name.url, replicas_min=0)
            yours = store_on(replica.url, replicas_min=0)
            await mine.beat(ME, 60_000)
            await mine.accept([arrival(1)])
            await copied(replica, HEAD, "seq")
            way.silence()
            old = await mine.claim(A, ME)
            assert old is not None
            promote(replica)
            await yours.beat(YOU, 60_000)
            new = await yours.claim(A, YOU)
            assert new is not None
            assert new.fence > old.fence
            name.point(replica.port)
            (refused,) = await until(lambda: mine.commit([Commit(old, 1, slot("1"))]))
            assert isinstance(refused, LeaseLost)
            with pytest.raises(LeaseLost):
                await until(lambda: mine.load(old))
            assert await yours.commit([Commit(new, 1, slot("2"))]) == [1]
            await mine.close()
            await yours.close()

    run(story)


def test_everyone_has_a_whole_lifetime_left_on_a_promoted_server_whatever_its_clock_says() -> None:
    async def story() -> None:
        async with replicated() as (master, replica, _):
            mine = store_on(master.url)
            assert await until(lambda: mine.beat(ME, 1_500)) == Alive((ME,))
            assert await until(lambda: mine.claim(A, ME)) is not None
            promote(replica)
            # As if the old master's clock had been an hour behind, or ahead.
            for hour_ms in (-3_600_000, 3_600_000):
                until_ms = int(replica.say("ZSCORE", "laneway:owners", "me")) + hour_ms
                replica.say("ZADD", "laneway:owners", until_ms, "me")
                replica.say("HSET", "laneway:meta", "history", "another")
                yours = store_on(replica.url, replicas_min=0)
                begun = time.monotonic()
                await yours.beat(YOU, 1_500)
                assert await yours.claim(A, YOU) is None
                while (lease := await yours.claim(A, YOU)) is None:
                    await asyncio.sleep(0.02)
                assert 1.4 <= time.monotonic() - begun < 10
                await yours.release(lease)
                await yours.leave(YOU)
                await yours.close()
                replica.say("HSET", HEAD, "owner", "me")
                replica.say("ZREM", "laneway:dead", "me")
                replica.say("ZADD", "laneway:owners", until_ms, "me")
            await mine.close()

    run(story)


# Engines.


@asynccontextmanager
async def world(*, takes_parent: bool) -> AsyncIterator[tuple[World, ContractChain]]:
    chain = ContractChain(round_ms=60)
    async with ContractSocket(chain) as socket:
        yield World(socket.url, takes_parent=takes_parent), chain


@pytest.mark.parametrize("takes_parent", [True, False])
def test_of_two_engines_on_two_masters_only_the_one_with_a_quorum_acts(takes_parent: bool) -> None:
    async def story() -> None:
        with server() as other:
            async with (
                replicated() as (master, replica, way),
                world(takes_parent=takes_parent) as (made, chain),
            ):
                first = await made.engine("first", master.url)
                for contract in CONTRACTS:
                    await made.insist(first, contract, range(1, 4))
                await landed(chain, 1)
                way.silence()
                cut = time.monotonic()
                # Its callers go on, among them one of a lane that it never held.
                doubted = [made.submit(first, contract, 4) for contract in (*CONTRACTS, "new")]
                assert not any(await asyncio.gather(*doubted))
                promote(replica)
                await asyncio.to_thread(follow, other, replica.port, replica)
                second = await made.engine("second", replica.url)
                await asyncio.gather(
                    *(made.insist(second, contract, range(4, 7)) for contract in CONTRACTS)
                )
                await landed(chain, 6, second)
                made.judge(chain, 6)
                for contract in CONTRACTS:
                    senders = made.senders(contract)
                    assert senders == sorted(senders)  # The first, then the second, and not again.
                late = [wish for name, wish, at in made.sent if name == "first" and at > cut + 1]
                assert late == []
                assert not first.engine.is_beating()
                assert chain.latest("new") == 0
                await first.close()
                await second.close()

    run(story)


def test_a_failover_amid_executions_loses_and_doubles_nothing() -> None:
    async def story() -> None:
        async with (
            replicated() as (master, replica, way),
            world(takes_parent=True) as (made, chain),
            Relay(master.port) as name,
        ):
            engines = [await made.engine(one, name.url) for one in ("first", "second")]
            callers = [
                asyncio.create_task(made.insist(engines[place % 2], contract, range(1, 25)))
                for place, contract in enumerate(CONTRACTS)
            ]
            await landed(chain, 4)
            # First the replica falls behind, then it is promoted, then the name follows; those
            # who are connected to the old master stay there until they find out.
            way.silence()
            await asyncio.sleep(0.1)
            promote(replica)
            name.point(replica.port, hang_up=False)
            await asyncio.sleep(0.2)
            await asyncio.to_thread(follow, master, replica.port, replica)
            await asyncio.gather(*callers)
            await landed(chain, 24)
            made.judge(chain, 24)
            assert len(made.accepted) == 24 * len(CONTRACTS)
            for engine in engines:
                assert engine.engine.failure is None
                await engine.close()

    run(story)


# Quorums.


def test_replicas_are_waited_for_without_being_asked_to_and_never_forgotten() -> None:
    async def story() -> None:
        with server() as master, server() as replica:
            store = store_on(master.url)
            await store.beat(ME, 60_000)
            await asyncio.to_thread(follow, replica, master.port, master)
            # The next heartbeat sees it, and what is written from then on reaches it.
            await store.beat(ME, 60_000)
            await until(lambda: store.accept([arrival(1)]))
            assert replica.say("HGET", "laneway:meta", "replicas") == b"1"
            replica.kill()
            with pytest.raises(StoreUnknown, match="0 of 1"):
                await store.accept([arrival(2)])
            await store.close()
            # Nor does a process that starts while the replica is away act without it.
            store = store_on(master.url)
            with pytest.raises(StoreUnknown, match="0 of 1"):
                await store.beat(YOU, 60_000)
            await store.close()
            replica.start()

    run(story)


def test_a_quorum_below_the_replicas_is_said_aloud() -> None:
    async def story() -> None:
        async with replicated() as (master, _, _):
            for wanted, words in ((0, ["0 of its 1 replicas"]), (1, []), (None, [])):
                store = store_on(master.url, replicas_min=wanted)
                await until(lambda store=store: store.beat(ME, 60_000))  # type: ignore[misc]
                said = durability_words(store)[1:]
                assert all(word in line for word, line in zip(words, said, strict=True))
                await store.close()

    run(story)


def test_a_reader_of_another_server_than_the_writers_is_not_believed() -> None:
    async def story() -> None:
        async with replicated() as (master, replica, way), Relay(master.port) as name:
            store = store_on(name.url, replicas_min=0)
            await store.beat(ME, 60_000)
            await copied(replica, "laneway:numbers", "lifetime")
            way.silence()
            await store.accept([arrival(1)])
            assert await store.lane(A) is not None
            promote(replica)
            name.point(replica.port, hang_up=False)
            store._servers._wire(store._servers.home(), True).doubt()
            await until(lambda: store.beat(ME, 60_000))
            # What only the old master knows is no longer read.
            assert await until(lambda: store.lane(A)) is None
            await store.close()

    run(story)
