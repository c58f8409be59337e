"""Others who build on the service: single blocks, and a deployment that builds on its own."""

from msgspec.structs import replace

from laneway.sim.bundle.plan import rollup_plan
from laneway.sim.bundle.stranger import OPEN_MAX, SLOTS_AFTER, SecondDeployment
from laneway.sim.bundle.world import RollupWorld
from laneway.sim.disks import MemoryDisk
from laneway.sim.run import run_worlds

CALM = next(seed for seed in range(100) if rollup_plan(seed).is_calm)


def built() -> RollupWorld:
    """A world in which a second deployment builds whenever it can."""
    plan = rollup_plan(CALM)
    return RollupWorld(replace(plan, faults=replace(plan.faults, second=1.0)), MemoryDisk())


def test_a_second_deployment_builds_on_its_own_open_blocks() -> None:
    world = built()
    network = world.network
    for slot in range(4, 30):
        world.pass_slot(slot)
        network.step(slot)
    line = network.line(network.best().header_hash)
    assert len(line) >= OPEN_MAX
    assert all(record.block in world.maker.second for record in line)
    assert world.seen["second deployment builds on its own open block"] > 0


def test_a_second_deployment_gives_up_what_cannot_land() -> None:
    world = built()
    second = world.second
    assert isinstance(second, SecondDeployment)
    world.pass_slot(4)
    (first,) = second._open
    world.stranger.act()
    network = world.network
    network._switches.censored.add(first.package)
    for slot in range(4, 12):
        network.step(slot)
    assert network.service_head(network.best().header_hash).number == 1
    world.pass_slot(12)
    assert first not in second._open
    assert all(one.body.number == 2 for one in second._open)


def test_a_second_deployment_stops_some_time_after_the_faults() -> None:
    world = built()
    world.is_faulty = False
    for slot in range(4, 8 + max(SLOTS_AFTER)):
        world.pass_slot(slot)
        world.network.step(slot)
    count = len(world.maker.second)
    for slot in range(8 + max(SLOTS_AFTER), 60 + max(SLOTS_AFTER)):
        world.pass_slot(slot)
        world.network.step(slot)
    assert len(world.maker.second) == count


def test_worlds_with_others_settle_by_their_receipts() -> None:
    chosen = [s for s in range(1_500) if rollup_plan(s).faults.second]
    broken, seen, _ = run_worlds(chosen[:60], "s1", "rollup")
    assert [(verdict.seed, verdict.broken) for verdict in broken] == []
    for state in (
        "second deployment's block final",
        "own block final above a foreign one",
        "own block final below a foreign one",
        "settled by a foreign block's receipt",
    ):
        assert seen[state], state
