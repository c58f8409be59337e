"""The asyncio shell over a real group store in memory, on a loop whose time is virtual."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from tests.engine.virtual import VirtualTime

from laneway.core.errors import (
    DeclaredDead,
    Draining,
    IntentNotFound,
    LeaseLost,
    StoreBusy,
    StoreClosed,
    StoreError,
    StoreFull,
    StoreUnknown,
)
from laneway.core.ids import IntentId, LaneId, Owner, intent_id, lane_id
from laneway.core.intent import Accepted, Arrival
from laneway.core.outcome import Outcome
from laneway.core.rows import Command, Result
from laneway.engine import patrol
from laneway.engine.contract import ContractPerformer, encode_call
from laneway.engine.limits import EVENTS_PER_TURN_MAX, LEASE_STOP_MS, STOP_MS_MAX
from laneway.engine.listeners import Listener
from laneway.engine.reactor import Reactor
from laneway.engine.shell import Engine, EngineStopped
from laneway.lanes.contract import ContractSettings, contract_kind
from laneway.lanes.contract.values import HeightRead
from laneway.ports import ChainFinding, ContractCall, Execution, HostTraits
from laneway.stores.group import GroupStore
from laneway.stores.memory import MemoryBook

LANE = lane_id("contract", "Qm1")


class ShakyBook(MemoryBook):
    """Fails as a test says: before a group begins, or after it was made."""

    def __init__(self) -> None:
        super().__init__()
        self.before: list[StoreError] = []
        self.after: list[StoreError] = []
        self.groups = 0

    def begin(self) -> None:
        self.groups += 1
        if self.before:
            raise self.before.pop(0)
        super().begin()

    def sync(self) -> None:
        super().sync()
        if self.after:
            raise self.after.pop(0)


class Host:
    """A chain that grows by one block a second and contract, as the test lets it."""

    traits = HostTraits(takes_parent=True)

    def __init__(self) -> None:
        self.heights: dict[str, int] = {}
        self.calls: list[tuple[str, str]] = []
        self.takes_s = 1.0
        self.hook: Callable[[ContractCall], None] | None = None

    async def latest_block(self, contract: str) -> int:
        return self.heights.get(contract, 0)

    async def execute(self, call: ContractCall, parent: int) -> Execution:
        self.calls.append((call.contract, call.data))
        if self.hook is not None:
            self.hook(call)
        await asyncio.sleep(self.takes_s)
        if parent != self.heights.get(call.contract, 0):
            return Execution(Outcome.REFUSED, stale=True)
        self.heights[call.contract] = parent + 1
        return Execution(Outcome.ACCEPTED, block=parent + 1)

    async def find(self, call: ContractCall, parent: int) -> ChainFinding:
        latest = self.heights.get(call.contract, 0)
        return ChainFinding(latest, latest if latest > parent else None)

    async def close(self) -> None:
        pass


class Ear(Listener):
    """Hears everything."""

    def __init__(self) -> None:
        self.opens: list[LaneId] = []
        self.closes: list[LaneId] = []
        self.results: list[Result] = []
        self.failures: list[Exception] = []

    def notified(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        self.results += results

    def opened(self, lane: LaneId) -> None:
        self.opens.append(lane)

    def closed(self, lane: LaneId) -> None:
        self.closes.append(lane)

    def failed(self, error: Exception) -> None:
        self.failures.append(error)


class House:
    """An engine with everything around it."""

    def __init__(self, book: ShakyBook | None = None, owner: str = "me") -> None:
        self.time = VirtualTime()
        self.book = book or ShakyBook()
        self.host = Host()
        self.ear = Ear()
        self.settings = ContractSettings(retry_ms_min=10, search_ms=100)
        self.owner = Owner(owner)
        self.born = 0
        self.engine: Engine

    def build(self) -> Engine:
        store = GroupStore(self.book, self.time, thread="never")
        reactor = Reactor({"contract": contract_kind(self.settings)}, self.owner)
        performer = ContractPerformer(self.host, self.time)
        self.engine = Engine(store, reactor, {"contract": performer}, self.time, (self.ear,))
        return self.engine

    def arrival(self, data: str, lane: LaneId = LANE, key: str | None = None) -> Arrival:
        self.born += 1
        call = ContractCall(lane.partition(":")[2], "did:1", data)
        return Arrival(
            id=intent_id(self.born, bytes(10)),
            lane=lane,
            payload=encode_call(call),
            digest=b"",
            accepted_ms=self.time.now_ms(),
            key=key,
            fresh=True,
        )

    async def submit(self, data: str, lane: LaneId = LANE) -> IntentId:
        arrival = self.arrival(data, lane)
        assert isinstance(await self.engine.submit(arrival), Accepted)
        return arrival.id

    def run(self, body: Callable[["House"], Any]) -> Any:
        async def main() -> Any:
            engine = self.build()
            await engine.start()
            try:
                return await body(self)
            finally:
                await engine.stop()

        return self.time.run(main())


def test_what_is_submitted_is_executed_in_order_and_answered() -> None:
    async def body(house: House) -> None:
        intents = [await house.submit(f"d{n}") for n in range(5)]
        results = await asyncio.gather(*(house.engine.result(intent) for intent in intents))
        assert [result.number for result in results] == [1, 2, 3, 4, 5]
        assert [data for _, data in house.host.calls] == ["d0", "d1", "d2", "d3", "d4"]

    house = House()
    house.run(body)
    assert house.ear.opens == house.ear.closes == [LANE]


def test_the_result_of_an_unknown_intent_is_not_waited_for() -> None:
    async def body(house: House) -> None:
        with pytest.raises(IntentNotFound):
            await house.engine.result(intent_id(99, bytes(10)))

    House().run(body)


def test_a_start_takes_up_every_lane_that_has_work_page_by_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patrol, "READY_PAGE", 50)
    lanes = [lane_id("contract", f"T{n:04}") for n in range(107)]
    house = House()

    async def before(house: House) -> None:
        house.engine.reactor.hold()
        await house.engine.submit_many([house.arrival("d", lane) for lane in lanes])

    async def after(house: House) -> None:
        await asyncio.sleep(1.5)
        assert len(house.ear.results) == len(lanes)

    house.run(before)
    again = House(house.book, "you")
    again.run(after)
    assert len(set(again.host.calls)) == len(lanes) == len(again.host.calls)


def test_a_start_leaves_lanes_of_other_kinds_alone() -> None:
    house = House()
    foreign = LaneId("evm:1:0xabc")
    house.book.begin()
    house.book.accept([msgspec.structs.replace(house.arrival("d"), lane=foreign)])
    house.book.sync()

    async def body(house: House) -> None:
        intent = await house.submit("d")
        assert (await house.engine.result(intent)).status == "confirmed"

    house.run(body)


def test_a_lane_flooded_with_late_answers_still_hears_the_one_that_counts() -> None:
    async def body(house: House) -> None:
        intent = await house.submit("d")
        await asyncio.sleep(0.5)
        for _ in range(3 * EVENTS_PER_TURN_MAX):
            house.engine.reactor.answered(LANE, HeightRead(0, 999, 1))
        async with asyncio.timeout(2):
            assert (await house.engine.result(intent)).status == "confirmed"

    House().run(body)


# A store that fails.


@pytest.mark.parametrize(
    ("error", "when"),
    [
        (StoreBusy("locked"), "before"),
        (StoreFull("x.db"), "before"),
        (StoreUnknown("was it made?"), "before"),
        (StoreUnknown("was it made?"), "after"),
    ],
)
def test_a_store_that_fails_for_a_while_costs_time_and_nothing_else(
    error: StoreError, when: str
) -> None:
    """Whatever is asked of it meanwhile: to claim, to commit, to read, to accept."""

    async def body(house: House) -> None:
        first = await house.submit("first")
        errors = house.book.before if when == "before" else house.book.after
        errors += [error] * 25
        other = asyncio.ensure_future(patiently(house, "other", lane_id("contract", "Qm2")))
        assert (await house.engine.result(first)).status == "confirmed"
        assert (await house.engine.result(await other)).status == "confirmed"
        assert errors == []
        assert [data for _, data in house.host.calls].count("first") == 1
        assert house.engine.failure is None

    House().run(body)


async def patiently(house: House, data: str, lane: LaneId) -> IntentId:
    """As a caller with an idempotency key does it."""
    while True:
        arrival = house.arrival(data, lane, key=data)
        try:
            answer = await house.engine.submit(arrival)
        except (StoreBusy, StoreUnknown):
            await asyncio.sleep(0.05)
        else:
            found: IntentId = answer.id  # type: ignore[union-attr]
            return found


def test_a_result_whose_commit_was_never_answered_reaches_its_waiter() -> None:
    async def body(house: House) -> None:
        intent = await house.submit("d")
        waiting = asyncio.ensure_future(house.engine.result(intent))
        await asyncio.sleep(0.9)
        house.book.after.append(StoreUnknown("the answer was lost"))
        assert (await waiting).status == "confirmed"
        assert [result.intent for result in house.ear.results] == [intent]
        assert house.ear.opens == [LANE, LANE], "the lane was loaded again"

    House().run(body)


def test_what_may_be_durable_at_the_door_is_not_left_asleep() -> None:
    async def body(house: House) -> None:
        house.book.after.append(StoreUnknown("the answer was lost"))
        with pytest.raises(StoreUnknown):
            await house.submit("d")
        await asyncio.sleep(2)
        assert [result.status for result in house.ear.results] == ["confirmed"]

    House().run(body)


def test_a_closed_store_reaches_everyone_and_stops_the_engine_without_spinning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def body(house: House) -> None:
        house.host.takes_s = 3
        intents = [await house.submit(f"d{n}") for n in range(3)]
        waiting = [asyncio.ensure_future(house.engine.result(intent)) for intent in intents]
        await asyncio.sleep(1)
        house.book.after.append(StoreClosed("x.db", "EIO"))
        with pytest.raises(StoreClosed):
            await house.submit("one more")
        with pytest.raises(StoreClosed):
            await house.submit("and one")
        # The engine learns of it by its own next question, at the latest by its heartbeat.
        found = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(error) for error in found] == [StoreClosed] * 3
        assert [type(error) for error in house.ear.failures] == [StoreClosed]
        with pytest.raises(StoreClosed):
            await house.engine.result(intents[0])
        with pytest.raises(StoreClosed):
            await house.engine.tell(Command(0, LANE, "pause", 0))
        turns, groups = house.time.loop.turns, house.book.groups
        await asyncio.sleep(3_600)
        assert house.time.loop.turns - turns < 20
        assert house.book.groups == groups
        assert len(house.host.calls) == 1
        assert not await house.engine.drain("queue")

    house = House()
    with caplog.at_level(logging.CRITICAL):
        house.run(body)


def test_a_failed_engine_gives_its_leases_up_by_beating_no_more() -> None:
    async def body(house: House) -> None:
        house.engine._fail(RuntimeError("a bug nobody thought of"))
        groups = house.book.groups
        await asyncio.sleep(60)
        assert house.book.groups == groups

    House().run(body)


def test_an_owner_declared_dead_stops_and_accepts_nothing_that_it_would_not_do() -> None:
    async def body(house: House) -> None:
        assert house.book.gives_way(house.owner, Owner("another"), 1 << 60)
        await asyncio.sleep(3)
        assert isinstance(house.engine.failure, DeclaredDead)
        with pytest.raises(DeclaredDead):
            await house.submit("d")

    House().run(body)


def test_a_process_past_its_lease_sends_nothing_until_its_heart_beats_again() -> None:
    async def body(house: House) -> None:
        first = await house.submit("first")
        house.host.hook = lambda _: None
        await asyncio.sleep(0.5)
        house.book.before += [StoreBusy("locked")] * 3
        house.time.frozen_ms = LEASE_STOP_MS + 1_000
        second = await patiently(house, "second", lane_id("contract", "Qm2"))
        await asyncio.sleep(0.4)
        assert [data for _, data in house.host.calls] == ["first"]
        for intent in (first, second):
            assert (await house.engine.result(intent)).status == "confirmed"
        assert [data for _, data in house.host.calls] == ["first", "second"]

    House().run(body)


def test_a_lane_that_another_owner_took_is_left_to_it() -> None:
    async def body(house: House) -> None:
        await house.submit("d")
        await asyncio.sleep(0.5)
        house.book.begin()
        head = house.book.shelves[LANE].head
        house.book.shelves[LANE].head = msgspec.structs.replace(head, owner=Owner("x"), fence=99)
        house.book.beat(Owner("x"), 1 << 40, house.time.now_ms())
        await asyncio.sleep(1)
        assert house.ear.results == []
        assert house.ear.closes == [LANE]
        assert not house.engine.reactor.holds(LANE)

    house = House()
    house.run(body)
    assert house.ear.closes == [LANE]


def test_a_lane_whose_lease_is_lost_while_it_reads_is_left_to_its_new_owner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lost(*_: object) -> Any:
        raise LeaseLost(LANE, 1, 1)

    async def body(house: House) -> None:
        await house.submit("d")
        await asyncio.sleep(0.5)
        monkeypatch.setattr(house.book, "mailbox", lost)
        await house.engine.tell(Command(0, LANE, "pause", house.time.now_ms()))
        await asyncio.sleep(0.1)
        assert not house.engine.reactor.holds(LANE)
        assert house.engine.failure is None

    house = House()
    house.run(body)
    assert house.ear.closes == [LANE]


# Bugs.


def test_a_bug_in_one_lane_leaves_the_others_running(caplog: pytest.LogCaptureFixture) -> None:
    async def body(house: House) -> None:
        spoilt = msgspec.structs.replace(house.arrival("d"), payload=b"\xc1 not a call")
        await house.engine.submit(spoilt)
        whole = await house.submit("d", lane_id("contract", "Qm2"))
        assert (await house.engine.result(whole)).status == "confirmed"
        assert list(house.engine.faults) == [LANE]
        assert house.engine.failure is None
        await house.submit("more of it")
        await asyncio.sleep(5)
        assert await house.engine.drain("queue")

    house = House()
    with caplog.at_level(logging.CRITICAL):
        house.run(body)
    assert "lane stopped by a bug" in caplog.text
    assert LANE in house.ear.closes


def test_a_host_that_raises_what_it_must_not_stops_that_lane_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def hook(call: ContractCall) -> None:
        if call.contract == "Qm1":
            raise KeyError("an adapter's bug")

    async def body(house: House) -> None:
        house.host.hook = hook
        await house.submit("d")
        whole = await house.submit("d", lane_id("contract", "Qm2"))
        assert (await house.engine.result(whole)).status == "confirmed"
        fault = house.engine.faults[LANE]
        assert fault.error == 'KeyError("an adapter\'s bug")'
        assert fault.doing.startswith("Execute Execute(slot=1")
        assert "test_shell.py" in fault.where

    with caplog.at_level(logging.CRITICAL):
        House().run(body)


# The end.


def test_a_stopped_engine_answers_whoever_still_waits() -> None:
    async def body(house: House) -> None:
        house.host.takes_s = 1e6
        waiting = asyncio.ensure_future(house.engine.result(await house.submit("d")))
        await asyncio.sleep(1)
        await house.engine.stop()
        with pytest.raises(EngineStopped):
            await waiting
        with pytest.raises(Draining):
            await house.submit("late")
        await house.engine.stop()

    House().run(body)


def test_an_answer_that_came_just_before_the_stop_is_committed() -> None:
    async def body(house: House) -> None:
        intent = await house.submit("d")
        while not house.host.heights:
            await asyncio.sleep(0 if house.host.calls else 0.01)
        await house.engine.stop()
        view = house.book.intent(intent)
        assert view is not None
        assert view.result is not None
        assert view.result.status == "confirmed"

    house = House()
    house.host.takes_s = 0
    house.run(body)


def test_what_was_ordered_and_not_yet_sent_at_the_stop_is_recorded_as_not_sent() -> None:
    """Left as offered, a host that takes no parent would make a person decide about it."""
    house = House()
    house.host.traits = HostTraits(takes_parent=False)
    house.settings = msgspec.structs.replace(house.settings, takes_parent=False)

    async def body(house: House) -> None:
        intent = await house.submit("d")
        while not any(row.table == "attempt" for row in house.book.shelves[LANE].rows.values()):
            await asyncio.sleep(0)
        assert house.host.calls == []
        await house.engine.stop()
        assert house.host.calls == []
        house.intent = intent  # type: ignore[attr-defined]

    house.run(body)
    again = House(house.book, "you")
    again.host.traits = house.host.traits
    again.settings = house.settings

    async def after(again: House) -> None:
        result = await again.engine.result(house.intent)  # type: ignore[attr-defined]
        assert result.status == "confirmed"
        assert again.host.calls == [("Qm1", "d")]

    again.run(after)


def test_a_stop_does_not_wait_for_a_host_that_will_not_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    house = House()

    async def stubborn(call: ContractCall, parent: int) -> Execution:
        while True:
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                if house.time.monotonic_ms() > 60_000:
                    raise

    house.host.execute = stubborn  # type: ignore[method-assign]

    async def body(house: House) -> None:
        await house.submit("d")
        await asyncio.sleep(1)
        begun_ms = house.time.monotonic_ms()
        await house.engine.stop()
        assert house.time.monotonic_ms() - begun_ms == STOP_MS_MAX
        await asyncio.sleep(60)

    with caplog.at_level(logging.WARNING):
        house.run(body)
    assert "still under way" in caplog.text


def test_a_stop_is_not_held_up_by_a_write_that_accepted_nothing() -> None:
    async def body(house: House) -> None:
        first = house.arrival("d", key="k")
        await house.engine.submit(first)
        replay = house.engine.submit(house.arrival("d", key="k"))
        begun_ms = house.time.monotonic_ms()
        await house.engine.stop()
        assert replay.done()
        assert house.time.monotonic_ms() == begun_ms

    House().run(body)


def test_draining_finishes_the_queue_without_spinning() -> None:
    async def body(house: House) -> None:
        house.host.takes_s = 600
        for n in range(3):
            await house.submit(f"d{n}")
        turns = house.time.loop.turns
        assert await house.engine.drain("queue")
        assert [result.status for result in house.ear.results] == ["confirmed"] * 3
        # Half an hour of consensus, with a heartbeat every two seconds and little more.
        assert house.time.loop.turns - turns < 10_000
        with pytest.raises(Draining):
            await house.submit("late")

    House().run(body)


def test_draining_what_runs_lets_it_end_and_begins_nothing() -> None:
    async def body(house: House) -> None:
        for n in range(3):
            await house.submit(f"d{n}")
        await asyncio.sleep(0.5)
        assert await house.engine.drain("running")
        assert [result.status for result in house.ear.results] == ["confirmed"]
        assert len(house.host.calls) == 1

    House().run(body)


def test_draining_now_waits_for_nothing() -> None:
    async def body(house: House) -> None:
        house.host.takes_s = 1e6
        await house.submit("d")
        begun_ms = house.time.monotonic_ms()
        assert await house.engine.drain("now")
        assert house.time.monotonic_ms() == begun_ms

    House().run(body)


def test_draining_gives_up_at_its_timeout() -> None:
    async def body(house: House) -> None:
        house.host.takes_s = 600
        await house.submit("d")
        assert not await house.engine.drain("queue", timeout_s=5)

    House().run(body)


# Idleness.


def test_an_idle_engine_has_one_task_and_one_timer_for_any_number_of_lanes() -> None:
    async def body(house: House) -> None:
        lanes = [lane_id("contract", f"T{n}") for n in range(100)]
        await house.engine.submit_many([house.arrival("d", lane) for lane in lanes])
        while len(house.ear.results) < len(lanes):
            await asyncio.sleep(0.1)
        await asyncio.sleep(0)
        assert len(house.engine.reactor._idle) == len(lanes)
        names = [task.get_name() for task in asyncio.all_tasks() - {asyncio.current_task()}]
        assert names == ["laneway-heart"]
        assert len(house.time.timers()) == 1
        turns = house.time.loop.turns
        await asyncio.sleep(100)
        # Fifty heartbeats of a few turns each; the lanes do not appear in the sum.
        assert house.time.loop.turns - turns < 50 * 8

    House().run(body)


# What a performer hears without having asked.


class Following(ContractPerformer):
    def __init__(self, host: Host, time: VirtualTime) -> None:
        super().__init__(host, time)
        self.post: Callable[[LaneId, Any], None] | None = None
        self.ended = False

    async def follow(self, post: Callable[[LaneId, Any], None]) -> None:
        self.post = post
        try:
            await asyncio.Event().wait()
        finally:
            self.ended = True


def test_a_performer_that_follows_the_world_posts_to_lanes_and_is_ended_with_the_engine() -> None:
    house = House()

    async def main() -> None:
        store = GroupStore(house.book, house.time, thread="never")
        reactor = Reactor({"contract": contract_kind(house.settings)}, house.owner)
        performer = Following(house.host, house.time)
        house.engine = Engine(store, reactor, {"contract": performer}, house.time, (house.ear,))
        await house.engine.start()
        await asyncio.sleep(0)
        assert performer.post is not None
        performer.post(LANE, "for a lane that nobody holds")
        intent = await house.submit("d")
        await house.engine.result(intent)
        performer.post(LANE, HeightRead(house.time.now_ms(), 1, 1))
        await asyncio.sleep(1)
        assert house.engine.failure is None
        await house.engine.stop()
        await asyncio.sleep(0)
        assert performer.ended

    house.time.run(main())


def test_news_that_end_with_an_error_are_reported_and_end_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    house = House()

    class Broken(Following):
        async def follow(self, post: Callable[[LaneId, Any], None]) -> None:
            raise ZeroDivisionError

    async def main() -> None:
        store = GroupStore(house.book, house.time, thread="never")
        reactor = Reactor({"contract": contract_kind(house.settings)}, house.owner)
        performer = Broken(house.host, house.time)
        house.engine = Engine(store, reactor, {"contract": performer}, house.time, (house.ear,))
        await house.engine.start()
        assert (await house.engine.result(await house.submit("d"))).status == "confirmed"
        assert house.engine.failure is None
        await house.engine.stop()

    house.time.run(main())
    assert "look by themselves: ZeroDivisionError()" in caplog.text
