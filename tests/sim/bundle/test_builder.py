"""The simulated builder refuses what the real one refuses, and takes as long."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from laneway.builder.shelf import REMEDY
from laneway.core.errors import BuildFailed
from laneway.core.ids import IntentId
from laneway.lanes.bundle.values import BuildBlock
from laneway.ports import ExecutedBlock
from laneway.sim.bundle.builder import LOST, SimBuilder
from laneway.sim.bundle.maker import GENESIS_BLOCK, GENESIS_ROOT, PoolRequest, encode_request
from laneway.sim.bundle.plan import rollup_plan
from laneway.sim.bundle.world import RollupWorld
from laneway.sim.disks import MemoryDisk
from laneway.sim.run import run_worlds

CALM = next(seed for seed in range(100) if rollup_plan(seed).is_calm)


class Site:
    """A world whose first process has this builder, and whose time goes on as long as it works."""

    def __init__(self, **faults: Any) -> None:
        self.world = RollupWorld(replace(rollup_plan(CALM), freeze=0.0, **faults), MemoryDisk())
        self.world.boot()
        self.world.network.start()
        self.process = self.world.processes[0]
        self.builder = SimBuilder(self.world, self.process.link)

    def begin(self, work: Coroutine[Any, Any, Any]) -> Any:
        tasks: list[Any] = []
        self.process.loop.run(lambda: tasks.append(self.process.loop.create_task(work)))
        return tasks[0]

    def wait(self, until: Any) -> None:
        for _ in range(2_000):
            if until():
                return
            self.world._step()
        pytest.fail("it takes for ever")

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        task = self.begin(work)
        self.wait(task.done)
        return task.result()


@pytest.fixture
def sites() -> Iterator[Callable[..., Site]]:
    """Makes sites, and ends what is under way at them."""
    made: list[Site] = []

    def make(**faults: Any) -> Site:
        made.append(Site(**faults))
        return made[-1]

    yield make
    for site in made:
        site.process.end()
        asyncio._set_running_loop(None)


def order(number: int = 1, parent: bytes = GENESIS_BLOCK, **fields: Any) -> BuildBlock:
    base: dict[str, Any] = {
        "slot": number,
        "order": number,
        "number": number,
        "parent": parent,
        "parent_root": b"",
        "made_ms": 5,
        "intents": (IntentId(f"i{number}"),),
        "payloads": (encode_request(PoolRequest(f"d{number}")),),
    }
    return BuildBlock(**base | fields)


def test_a_block_stands_on_the_one_before_it_by_its_number_and_root(
    sites: Callable[..., Site],
) -> None:
    site = sites()
    first: ExecutedBlock = site.run(site.builder.execute(order(parent_root=GENESIS_ROOT)))
    second = order(2, first.block, below=(first.payload,))
    assert site.run(site.builder.execute(second)).pre_root == first.post_root
    for wrong, problem in (
        (order(3, first.block, below=(first.payload,)), "block 3 is ordered, and below it is 1"),
        (replace(second, order=9, parent_root=b"other"), "block 1 left another state"),
        (order(2, b"unknown"), "neither open nor final"),
    ):
        with pytest.raises(BuildFailed, match=problem):
            site.run(site.builder.execute(wrong))


def test_a_builder_that_was_just_started_makes_the_blocks_below_from_their_payloads(
    sites: Callable[..., Site],
) -> None:
    site = sites()
    first: ExecutedBlock = site.run(site.builder.execute(order()))
    other = SimBuilder(site.world, site.process.link)
    with pytest.raises(BuildFailed, match="neither open nor final"):
        site.run(other.execute(order(2, first.block)))
    assert site.run(other.execute(order(2, first.block, below=(first.payload,)))).payload


def test_without_a_parent_it_waits_until_all_that_the_service_has_is_final(
    sites: Callable[..., Site],
) -> None:
    site = sites()
    network = site.world.network
    assert site.run(site.builder.execute(order(parent=b""))).payload
    site.world.stranger.act()
    site.wait(lambda: network.service_head(network.best().header_hash).number == 1)
    assert network.service_head(network.final().header_hash).number == 0
    with pytest.raises(BuildFailed, match="not from here, and final is 0"):
        site.run(site.builder.execute(order(2, b"")))
    site.wait(lambda: network.service_head(network.final().header_hash).number == 1)
    assert site.run(site.builder.execute(order(2, b"", order=3))).payload
    assert site.world.shop.base.sealed.number == 1


def test_an_order_that_was_given_up_is_carried_out_and_its_answer_kept(
    sites: Callable[..., Site],
) -> None:
    site = sites(slow=1.0, build_timeout_ms=500)
    site.world.shop.dice.seed(1)
    task = site.begin(site.builder.execute(order()))
    site.wait(lambda: site.world.seen["builder slow"])
    site.process.loop.run(task.cancel)
    site.wait(lambda: site.world.seen["abandoned build finished"])
    slow = site.world.seen["builder slow"]
    assert site.run(site.builder.execute(order())).payload
    assert site.world.seen["builder slow"] == slow


def test_a_job_that_takes_too_long_is_at_fault_and_keeps_the_builder_busy(
    sites: Callable[..., Site],
) -> None:
    site = sites(overlong=1.0, build_timeout_ms=800)
    site.world.shop.dice.seed(4)
    with pytest.raises(BuildFailed, match="takes longer") as too_long:
        site.run(site.builder.execute(order()))
    assert too_long.value.final
    with pytest.raises(BuildFailed, match="still executing") as busy:
        site.run(site.builder.execute(order(order=2)))
    assert not busy.value.final


def test_a_builder_that_needs_help_says_so_until_somebody_helps(sites: Callable[..., Site]) -> None:
    assert REMEDY in [remedy for _, remedy in LOST]
    site = sites(help=1.0)
    for number in range(4):
        with pytest.raises(BuildFailed) as lost:
            site.run(site.builder.execute(order(order=number)))
        assert lost.value.needs_help
        assert site.world.shop.remedy in str(lost.value)
    site.world.is_faulty = False
    site.world.shop.repair()
    assert site.run(site.builder.execute(order(order=9))).payload


def met(seeds: list[int]) -> Counter[str]:
    broken, seen, _ = run_worlds(seeds, "s1", "rollup")
    assert [(verdict.seed, verdict.broken) for verdict in broken] == []
    return seen


def test_worlds_have_slow_builders() -> None:
    seen = met([seed for seed in range(1_000) if rollup_plan(seed).overlong][:40])
    assert seen["build given up in time"]
    assert seen["abandoned build finished"]
    assert seen["build too long"]
    assert seen["builder busy"]


def test_lanes_halt_for_a_builder_that_needs_help_and_go_on_when_it_has_it() -> None:
    seen = met([seed for seed in range(3_000) if rollup_plan(seed).help == 0.1][:60])
    assert seen["builder needs help"]
    assert seen["mode:halted"]
    assert seen["builder mended"]
