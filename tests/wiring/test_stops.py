"""Laws of lanes that a bug stopped elsewhere: they are told of while they stand, and no longer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest
from tests.waits import within

from laneway.chains.contract_callable import CallableHost
from laneway.core.errors import StoreBusy
from laneway.core.ids import LaneId, Owner
from laneway.core.rows import Head, LaneView, Tail
from laneway.engine.faults import LaneFault
from laneway.kinds.audit import trail as audit
from laneway.kinds.audit.trail import TrailEntry
from laneway.wiring import stops
from laneway.wiring.embedded import Laneway

LANE, OTHER = LaneId("contract:Qm1"), LaneId("contract:Qm2")
THERE = Owner("there")
STOOD = LaneFault(LANE, 7, "KeyError()", "machine.py:1 decide", "an event", version=3, owner=THERE)


class Heads:
    """How the lanes stand, as the store would say it."""

    def __init__(self) -> None:
        self.asked: list[LaneId] = []
        self.head: Head | None = Head(LANE, version=3)

    async def lane(self, lane: LaneId) -> LaneView | None:
        self.asked.append(lane)
        head = self.head
        return None if head is None else LaneView(Tail(lane), head, leased=head.owner is not None)


@asynccontextmanager
async def fleet(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Laneway, Heads]]:
    heads = Heads()
    async with Laneway.open(":memory:", CallableHost(lambda _, parent: parent + 1)) as laneway:
        monkeypatch.setattr(laneway.store, "lane", heads.lane)
        yield laneway, heads


async def tell(laneway: Laneway, fault: LaneFault) -> None:
    laneway.trail.stopped(fault)
    await asyncio.gather(*laneway.trail._noting)


@pytest.mark.parametrize(
    ("head", "stands"),
    [
        (Head(LANE, version=3), True),
        (Head(LANE, version=2), True),
        (Head(LANE, version=3, owner=THERE), True),
        (Head(LANE, version=3, owner=Owner("another")), False),
        (Head(LANE, version=4), False),
        (None, False),
    ],
)
def test_it_stands_until_it_got_further_or_another_process_took_it_up(
    monkeypatch: pytest.MonkeyPatch, head: Head | None, *, stands: bool
) -> None:
    async def main() -> None:
        async with fleet(monkeypatch) as (laneway, heads):
            await tell(laneway, STOOD)
            await laneway.stops.look()
            assert laneway.engine.faults == {LANE: STOOD}
            heads.head = head
            await laneway.stops.look()
            assert laneway.engine.faults == ({LANE: STOOD} if stands else {})

    asyncio.run(main())


def test_a_lane_that_was_taken_up_and_stopped_again_is_told_of_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def main() -> None:
        async with fleet(monkeypatch) as (laneway, heads):
            await tell(laneway, STOOD)
            heads.head = Head(LANE, version=4)
            await laneway.stops.look()
            again = msgspec.structs.replace(STOOD, version=4, error="ValueError()")
            await tell(laneway, again)
            await laneway.stops.look()
            assert laneway.engine.faults[LANE] == again

    asyncio.run(main())


def test_what_this_process_stopped_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with fleet(monkeypatch) as (laneway, _):
            laneway.engine.faults_here[LANE] = STOOD
            await tell(laneway, STOOD)
            await laneway.stops.look()
            assert not laneway.engine.faults_elsewhere

    asyncio.run(main())


def test_a_look_asks_every_new_one_and_a_few_of_the_others_in_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stops, "STOPS_ASKED_MAX", 2)

    async def main() -> None:
        async with fleet(monkeypatch) as (laneway, heads):
            lanes = [LaneId(f"contract:Qm{number}") for number in range(5)]
            for lane in lanes:
                await tell(laneway, msgspec.structs.replace(STOOD, lane=lane))
            await laneway.stops.look()
            assert set(laneway.engine.faults) == set(lanes)
            heads.asked.clear()
            for _ in range(5):
                await laneway.stops.look()
            assert sorted(heads.asked) == sorted(lanes * 2)

    asyncio.run(main())


@pytest.mark.parametrize("mark", ["", "{", "{}", '{"lane": 7}'])
def test_an_entry_of_another_release_is_no_fault(mark: str) -> None:
    assert stops.fault_in(audit.encode(TrailEntry("laneway", "lane.stopped", mark=mark))) is None
    assert stops.fault_in(audit.encode(TrailEntry("laneway", "pause", mark="{}"))) is None
    assert stops.fault_in(msgspec.msgpack.encode([1, 2])) is None


def test_a_busy_store_is_told_again_and_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "NOTE_AGAIN_S", 0)

    async def main() -> None:
        async with fleet(monkeypatch) as (laneway, _):
            submit, history = laneway.engine.submit, laneway.store.history
            busy = [StoreBusy("full"), StoreBusy("full")]

            def refuse(*_: object) -> object:
                raise busy.pop()

            def submitting(arrival: object) -> object:
                return refuse() if len(busy) == 2 else submit(arrival)  # type: ignore[arg-type]

            def reading(*asked: object) -> object:
                return refuse() if busy else history(*asked)  # type: ignore[arg-type]

            monkeypatch.setattr(laneway.engine, "submit", submitting)
            monkeypatch.setattr(laneway.store, "history", reading)
            await tell(laneway, STOOD)
            monkeypatch.setattr(laneway.stops, "_every_s", 0.001)
            laneway.stops.start()
            async with within(10, "the stopped lane is known"):
                while not laneway.engine.faults:
                    await asyncio.sleep(0.005)
            assert not busy

    asyncio.run(main())
