"""Several engines on one store: every lane has one owner, and moves when it must."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

from tests.engine.virtual import VirtualTime

from laneway.chains.contract_callable import CallableHost
from laneway.core.errors import LeaseLost
from laneway.core.ids import LaneId, Owner
from laneway.core.intent import Answer, Arrival
from laneway.core.rows import Command
from laneway.engine.fleet import home
from laneway.engine.limits import HEARTBEAT_MS, LEASE_TTL_MS
from laneway.engine.system import SystemEntropy
from laneway.kinds.contract.arrivals import ContractArrivals
from laneway.kinds.contract.served import ContractServed
from laneway.lanes.contract import ContractSettings
from laneway.ports import Commit, ContractCall, Ended, News, Woken
from laneway.stores.group import GroupStore
from laneway.stores.memory import MemoryBook
from laneway.wiring.embedded import Laneway

T = TypeVar("T")

TAKEOVER_S_MAX = 15.0


class Radio:
    """Tells every process what the others did; it can be switched off."""

    def __init__(self) -> None:
        self.ears: list[asyncio.Queue[News]] = []
        self.on = True

    def say(self, told: Sequence[News]) -> None:
        for ear in self.ears if self.on else ():
            for news in told:
                ear.put_nowait(news)


class SharedStore(GroupStore):
    """One process's way to a book that all of them share."""

    shared = True

    def __init__(self, book: MemoryBook, time: VirtualTime, radio: Radio) -> None:
        super().__init__(book, time, thread="never")
        self._radio = radio

    def accept(self, arrivals: Sequence[Arrival]) -> "asyncio.Future[Sequence[Answer]]":
        return self._telling(super().accept(arrivals), [Woken(each.lane) for each in arrivals])

    def tell(self, command: Command) -> "asyncio.Future[Command]":
        return self._telling(super().tell(command), [Woken(command.lane, is_command=True)])

    def commit(self, commits: Sequence[Commit]) -> "asyncio.Future[Sequence[int | LeaseLost]]":
        return self._telling(super().commit(commits), [Ended(each.lease.lane) for each in commits])

    def _telling(self, answer: "asyncio.Future[T]", news: Sequence[News]) -> "asyncio.Future[T]":
        answer.add_done_callback(lambda _: self._radio.say(news))
        return answer

    async def news(self) -> AsyncIterator[News]:
        ear: asyncio.Queue[News] = asyncio.Queue()
        self._radio.ears.append(ear)
        while True:
            yield await ear.get()

    async def _close(self) -> None:
        """The book goes on: others use it."""


class Fleet:
    """Engines, the chain they all write to, and who wrote what."""

    def __init__(self) -> None:
        self.time = VirtualTime()
        self.book = MemoryBook()
        self.radio = Radio()
        self.chains: dict[str, list[str]] = {}
        self.ran: Counter[str] = Counter()
        self.engines: list[Laneway] = []

    async def start(self) -> Laneway:
        name = f"p{len(self.engines)}"

        async def execute(call: ContractCall, parent: int) -> int:
            await asyncio.sleep(0.05)
            self.ran[name] += 1
            self.chains.setdefault(call.contract, []).append(call.data)
            return parent + 1

        store = SharedStore(self.book, self.time, self.radio)
        engine = Laneway(
            store, [ContractServed(CallableHost(execute), ContractSettings(), self.time)], self.time
        )
        self.engines.append(engine)
        return await engine.__aenter__()

    def kill(self, engine: Laneway) -> None:
        """As SIGKILL does: it says nothing more, and releases nothing."""
        engine.engine._fail(RuntimeError("killed"))

    def owner(self, contract: str) -> Owner | None:
        view = self.book.lane(LaneId(f"contract:{contract}"))
        return None if view is None else view.head.owner

    def busiest(self) -> Laneway:
        """The engine with the most lanes. Which lanes one has is chance: its name is made anew at
        each start, and now and then there is none."""
        owned = Counter(self.owner(contract) for contract in CONTRACTS)
        return max(self.engines, key=lambda engine: owned[engine.engine.reactor.owner])


CONTRACTS = [f"c{number}" for number in range(20)]


async def submitted(fleet: Fleet, engines: list[Laneway], jobs: int) -> None:
    """Everyone submits to every contract and waits for all of it, wherever it runs."""
    handles = []
    for number in range(jobs):
        engine = engines[number % len(engines)]
        handles.append(await engine.submit(CONTRACTS[number % len(CONTRACTS)], f"d{number}"))
    for handle in handles:
        assert (await handle.result(60)).is_confirmed()
    for contract in CONTRACTS:
        data = fleet.chains[contract]
        assert data == sorted(set(data), key=lambda datum: int(datum[1:]))
    assert sum(map(len, fleet.chains.values())) == jobs


def test_lanes_are_spread_and_every_caller_hears_its_answer() -> None:
    fleet = Fleet()

    async def story() -> None:
        engines = [await fleet.start() for _ in range(3)]
        await asyncio.sleep(2 * HEARTBEAT_MS / 1000)
        await submitted(fleet, engines, 202)
        peers = tuple(sorted(engine.engine.reactor.owner for engine in engines))
        for contract in CONTRACTS:
            assert fleet.owner(contract) == home(LaneId(f"contract:{contract}"), peers)
        assert len(fleet.ran) == len({fleet.owner(contract) for contract in CONTRACTS}) > 1
        for engine in engines:
            await engine.close()

    fleet.time.run(story())


def test_without_any_news_the_heartbeats_find_everything() -> None:
    fleet = Fleet()
    fleet.radio.on = False

    async def story() -> None:
        engines = [await fleet.start() for _ in range(2)]
        await asyncio.sleep(2 * HEARTBEAT_MS / 1000)
        await submitted(fleet, engines, 41)
        for engine in engines:
            await engine.close()

    fleet.time.run(story())


def test_what_a_door_that_has_no_heart_accepted_is_found_without_any_news() -> None:
    """Someone's own transaction is such a door: it accepts, and is nobody's peer."""
    fleet = Fleet()
    fleet.radio.on = False

    async def story() -> None:
        engine = await fleet.start()
        door = SharedStore(fleet.book, fleet.time, fleet.radio)
        call = ContractCall("c0", "did:1", "d1")
        arrivals = ContractArrivals(ContractSettings(), fleet.time, SystemEntropy())
        await door.accept([arrivals.make(call, None, 0, None)])
        await asyncio.sleep(2 * HEARTBEAT_MS / 1000)
        assert fleet.chains == {"c0": ["d1"]}
        await engine.close()

    fleet.time.run(story())


def test_a_newcomer_gets_its_share_and_a_leaver_gives_back_all() -> None:
    fleet = Fleet()

    async def story() -> None:
        first = await fleet.start()
        await submitted(fleet, [first], 20)
        fleet.chains.clear()
        second = await fleet.start()
        await asyncio.sleep(3 * HEARTBEAT_MS / 1000)
        await submitted(fleet, [first, second], 40)
        assert fleet.ran["p1"] > 0
        await first.close()
        fleet.chains.clear()
        await submitted(fleet, [second], 20)
        assert {fleet.owner(contract) for contract in CONTRACTS} == {second.engine.reactor.owner}
        await second.close()

    fleet.time.run(story())


def test_the_lanes_of_a_killed_process_go_on_within_fifteen_seconds() -> None:
    fleet = Fleet()

    async def story() -> None:
        engines = [await fleet.start() for _ in range(3)]
        await asyncio.sleep(2 * HEARTBEAT_MS / 1000)
        await submitted(fleet, engines, 60)
        fleet.chains.clear()
        killed = fleet.busiest()
        engines.remove(killed)
        fleet.kill(killed)
        begun = asyncio.get_running_loop().time()
        await submitted(fleet, engines, 60)
        took = asyncio.get_running_loop().time() - begun
        assert LEASE_TTL_MS / 1000 - HEARTBEAT_MS / 1000 < took < TAKEOVER_S_MAX
        for engine in engines:
            await engine.close()

    fleet.time.run(story())


def test_a_command_whose_news_was_lost_is_heard_at_the_next_heartbeat() -> None:
    fleet = Fleet()
    fleet.radio.on = False

    async def story() -> None:
        engines = [await fleet.start() for _ in range(2)]
        await asyncio.sleep(2 * HEARTBEAT_MS / 1000)
        owners = {engine.engine.reactor.owner: engine for engine in engines}
        lane = LaneId("contract:c0")
        owner = owners[home(lane, tuple(sorted(owners)))]
        other = next(engine for engine in engines if engine is not owner)
        handles = [await owner.submit("c0", f"d{number}") for number in range(400)]
        await other.pause("c0", reason="audit")
        await asyncio.sleep(3 * HEARTBEAT_MS / 1000)
        done = len(fleet.chains["c0"])
        await asyncio.sleep(2 * HEARTBEAT_MS / 1000)
        assert len(fleet.chains["c0"]) == done < len(handles)
        for engine in engines:
            await engine.close()

    fleet.time.run(story())
