"""Laws of a builder that lacks what is final while nothing is ordered of it: every output that says
how a rollup is says so, and the same, and what to do."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from tests.kinds.rollup.stage import LANE, made, run, table
from tests.rollup_stage import Purse

from laneway.core.errors import BuildFailed, ChainUnreachable
from laneway.core.ids import LaneId
from laneway.core.jam import SlotClock
from laneway.devnets.jam.devnet import JamDevnet
from laneway.devnets.jam.model import shards
from laneway.kinds.limits import (
    BUILDER_LAG_S_MIN,
    BUILDER_LAG_SLOTS_MAX,
    CHAIN_STILL_S_MIN,
    CHAIN_STILL_SLOTS_MAX,
)
from laneway.kinds.rollup.doctor import look_at
from laneway.kinds.rollup.lagging import BuilderWatch, skewed
from laneway.wiring.config import load
from laneway.wiring.embedded import Laneway
from laneway.wiring.readiness import ReadinessProbe
from laneway.wiring.server import Up
from laneway.wiring.server_doctor import examine_server

SLOT_MS = 100
BLOCKS = 6
KEPT = "; put back the builder's file or a state of it, or name a node that kept them"


# How long a builder may lack something.


class Asked:
    """A builder that says what it lacks."""

    def __init__(self) -> None:
        self.lag = ""

    async def problem(self, _tip: object, *, held: bool) -> str:
        if self.lag == "refuses":
            raise BuildFailed("the builder is closed")
        return self.lag


class Watched:
    """A watch on a clock that is set by hand."""

    def __init__(self, slot_ms: int) -> None:
        self.now_ms = 1_000_000
        self.builder = Asked()
        self.watch = BuilderWatch(self.builder, slot_ms, lambda: self.now_ms)  # type: ignore[arg-type]

    def after(self, ms: float, lag: str) -> str:
        self.now_ms += int(ms)
        self.builder.lag = lag
        asyncio.run(self.watch.look())
        return self.watch.problem()


def test_a_builder_that_cannot_be_asked_lacks_something() -> None:
    watched = Watched(100)
    assert watched.after(0, "refuses") == ""
    assert "the builder is closed" in watched.after(1_000 * BUILDER_LAG_S_MIN, "refuses")


@pytest.mark.parametrize("slot_ms", [6_000, 100])
def test_a_short_lag_is_no_problem_and_a_long_one_is(slot_ms: int) -> None:
    longest_ms = max(BUILDER_LAG_SLOTS_MAX * slot_ms, 1_000 * BUILDER_LAG_S_MIN)
    watched = Watched(slot_ms)
    assert watched.after(longest_ms, "it reads blocks 5 to 9 from the chain") == ""
    assert watched.after(longest_ms - 1, "it reads blocks 5 to 9 from the chain") == ""
    assert watched.after(1, f"no node has it{KEPT}") == (
        f"its builder lacks what is final: no node has it{KEPT}"
    )


def test_a_builder_that_was_level_once_has_all_its_time_again() -> None:
    watched = Watched(6_000)
    watched.after(0, "away")
    assert watched.after(60_000, "away") != ""
    assert watched.after(1, "") == ""
    assert watched.after(60_000, "away") == ""


def test_a_reason_without_a_remedy_is_given_one() -> None:
    watched = Watched(6_000)
    watched.after(0, "away")
    assert "; see its nodes" in watched.after(60_000, "away")


def test_the_clock_is_compared_with_the_chains_while_that_can_be_asked() -> None:
    watched, skews = Watched(100), [5_000, None, "away", 20]

    async def clock() -> SlotClock:
        skew = skews.pop(0)
        if skew == "away":
            raise ChainUnreachable("the node", "it is away")
        return SlotClock(slot_ms=100, slot=1, heard_ms=0, begin_ms=0, skew_ms=cast(Any, skew))

    watched.watch._clock = clock
    seen = []
    for _ in range(4):
        watched.after(1, "")
        seen.append(watched.watch.skew_ms)
    assert seen == [5_000, None, None, 20]
    assert [bool(skewed(one, 1_000)) for one in (None, 1_000, -1_000, 1_001, -1_001)] == [
        *(False, False, False), *(True, True),
    ]  # fmt: skip


@pytest.mark.parametrize("slot_ms", [6_000, 100])
def test_a_chain_that_stands_still_is_a_problem_until_it_moves(slot_ms: int) -> None:
    watched, slots = Watched(slot_ms), [7, 7, 7, 8, "away", 8, 8]

    async def clock() -> SlotClock:
        slot = slots.pop(0)
        if slot == "away":
            raise ChainUnreachable("the node", "it is away")
        return SlotClock(
            slot_ms=slot_ms, slot=cast(int, slot), heard_ms=0, begin_ms=0, skew_ms=None
        )

    watched.watch._clock = clock
    longest_ms = max(CHAIN_STILL_SLOTS_MAX * slot_ms, 1_000 * CHAIN_STILL_S_MIN)
    assert watched.after(0, "") == ""
    assert watched.after(longest_ms - 1, "") == ""
    assert watched.after(1, "").startswith("its chain shows no block after slot 7; see whether")
    assert watched.after(1, "") == "", "it moved"
    assert watched.after(longest_ms, "") == "", "who cannot be asked is in trouble that says so"
    assert watched.after(longest_ms - 1, "") == ""
    assert watched.after(longest_ms, "") != ""


# What is said of it.


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """The chain's nodes forget packages soon."""
    monkeypatch.setattr(shards, "PACKAGES_KEPT_MAX", 3)


class House:
    """A rollup whose database is a file, and whose first packages are forgotten."""

    def __init__(self, folder: Path, devnet: JamDevnet) -> None:
        self.folder, self.purse = folder, Purse(devnet.model.genesis, senders=1)
        self.path = str(folder / "laneway.db")
        self.table = table(devnet.url, genesis=devnet.model.genesis.hex(), slot_ms=SLOT_MS)
        self.toml = folder / "laneway.toml"
        self.toml.write_text(
            f'[store]\npath = "{self.path}"\n[server]\nport = 0\n[[rollup]]\nname = "main"\n'
            f'service = 1\nnodes = ["{devnet.url}"]\ngenesis = "{devnet.model.genesis.hex()}"\n'
            f"slot_ms = {SLOT_MS}\n"
        )

    def laneway(self) -> Laneway:
        return made(self.path, self.table)

    async def blocks(self) -> None:
        async with self.laneway() as lw:
            for raw in self.purse.transfers(BLOCKS):
                assert (await (await lw.transfer(LANE, raw)).result(60)).is_confirmed()
            # The builder was notified of all: the lane has nothing to do.
            for _ in range(1_200):
                lane = lw.rollups.held(LaneId(LANE))
                if lane is None or not lane.tells:
                    break
                await asyncio.sleep(0.05)

    def move(self, away: Path, *, back: bool = False) -> None:
        """The builder's file and the states beside it."""
        away.mkdir(exist_ok=True)
        source, target = (away, self.folder) if back else (self.folder, away)
        found = list(source.glob("laneway.db-rollup-1*"))
        assert found
        for file in found:
            file.rename(target / file.name)

    async def doctor(self) -> list[str]:
        found = await look_at(self.table, store_path=self.path)
        return [one.what for one in found if not one.ok]


async def unwell(lw: Laneway) -> str:
    """The problem that health shows, once there is one."""
    for _ in range(1_200):
        problems = (await lw.health(LANE)).problems
        if problems:
            assert len(problems) == 1, problems
            return problems[0]
        await asyncio.sleep(0.05)
    raise AssertionError("health never says that the builder is blind")


async def everything(lw: Laneway) -> dict[str, str]:
    """What each output says is wrong; empty where all is well."""
    (check,) = [one for one in await ReadinessProbe(lw).checks() if one.name == LANE]
    return {
        "health": "; ".join((await lw.health(LANE)).problems),
        "readyz": "" if check.ok else check.what,
        "status": (await lw.rollups.blocks.status(LANE)).waits,
    }


@pytest.mark.slow
def test_a_blind_builder_of_an_idle_lane_is_a_problem_to_all_outputs_alike(tmp_path: Path) -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=SLOT_MS) as devnet:
            house = House(tmp_path, devnet)
            await house.blocks()
            assert await house.doctor() == []
            house.move(tmp_path / "away")
            (blind,) = await house.doctor()
            async with house.laneway() as lw:
                said = await unwell(lw)
                assert said.startswith("its builder lacks what is final: block 1 is final, and no")
                assert said.endswith(KEPT)
                assert set((await everything(lw)).values()) == {said} == {blind}
                waiting = house.purse.transfer()
                await lw.transfer(LANE, waiting)
            for file in house.folder.glob("laneway.db-rollup-1*"):
                file.unlink()
            house.move(tmp_path / "away", back=True)
            assert await house.doctor() == []
            async with house.laneway() as lw:
                assert (await (await lw.transfer(LANE, waiting)).result(60)).is_confirmed()
                assert set((await everything(lw)).values()) == {""}

    run(story)


@pytest.mark.slow
def test_the_doctor_of_a_server_that_runs_says_what_it_says_itself(tmp_path: Path) -> None:
    """It has the builder's file open, so the doctor asks the server."""

    async def story() -> None:
        async with JamDevnet(slot_ms=SLOT_MS) as devnet:
            house = House(tmp_path, devnet)
            await house.blocks()
            house.move(tmp_path / "away")
            async with Up(load(str(house.toml), {})) as up:
                said = await unwell(up.laneway)
                port = up.server.urls[0].rpartition(":")[2].rstrip("/")
                flags: dict[str, Any] = {"server.port": port}
                asking = load(str(house.toml), {}, flags)
                found = await asyncio.to_thread(partial(examine_server, asking))
                assert [(one.name, one.what) for one in found] == [(f"server, {LANE}", said)]
                assert await house.doctor() == []

    run(story)
