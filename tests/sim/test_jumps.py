"""Machines whose clocks are set: wall time jumps and comes right again, monotonic time goes on."""

import pytest
from msgspec.structs import replace

from laneway.engine.bundle import performer
from laneway.lanes.bundle import machine
from laneway.sim.bundle.plan import RollupPlan, rollup_plan
from laneway.sim.bundle.world import RollupWorld
from laneway.sim.disks import MemoryDisk
from laneway.sim.loops import VirtualClock
from laneway.sim.run import run_world, run_worlds

JUMPING = [seed for seed in range(4_000) if rollup_plan(seed).jump]


def test_a_clock_that_is_set_leaves_monotonic_time_alone() -> None:
    clock = VirtualClock(lambda: 5_000)
    clock.ahead_ms = -3_000
    assert (clock.now_ms(), clock.monotonic_ms()) == (2_000, 5_000)


def test_no_clock_is_set_in_a_calm_world() -> None:
    plans = [rollup_plan(seed) for seed in range(400)]
    assert any(plan.is_calm for plan in plans)
    assert not any(plan.jump for plan in plans if plan.is_calm)


def test_processes_are_spread_among_machines() -> None:
    plan: RollupPlan = replace(rollup_plan(3), clocks=2)
    world = RollupWorld(plan, MemoryDisk())
    for _ in range(3):
        world.boot()
    first, second, third = (process.clock for process in world.processes)
    assert first is third
    assert first is not second
    assert all(process.link.clock is process.clock for process in world.processes)
    for process in world.processes:
        process.end()


def test_clocks_jump_both_ways_and_lanes_notice() -> None:
    broken, seen, _ = run_worlds(JUMPING[:40], "s1", "rollup")
    assert [(verdict.seed, verdict.broken) for verdict in broken] == []
    for state in ("clock jumped back", "clock jumped forward", "clock set back", "clock skewed"):
        assert seen[state], state


def test_clocks_jump_under_the_asyncio_shell_too() -> None:
    broken, seen, _ = run_worlds(JUMPING[:15], "s3", "rollup")
    assert [(verdict.seed, verdict.broken) for verdict in broken] == []
    assert seen["clock jumped back"]


@pytest.mark.slow
def test_a_submission_by_a_clock_that_jumped_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(performer, "too_skewed", lambda _clock, _most_ms: "")
    broken, _, _ = run_worlds(JUMPING[:150], "s1", "rollup")
    assert any("leaves with a skew" in (verdict.broken or "") for verdict in broken)


@pytest.mark.slow
def test_a_lane_that_waits_by_a_clock_of_before_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "notice", lambda _draft: None)
    broken, _, _ = run_worlds(JUMPING[:100], "s1", "rollup")
    assert any("by a clock that is right" in (verdict.broken or "") for verdict in broken)


def test_a_world_of_jumps_is_the_same_twice() -> None:
    first, second = (run_world(JUMPING[1], "s1", "rollup") for _ in range(2))
    assert (first.trace, first.story) == (second.trace, second.story)
