"""The laws of liveness find out lanes that wait in silence."""

import pytest

from laneway.lanes.bundle.show import BEING_BUILT
from laneway.lanes.kind import LaneState
from laneway.sim.bundle import liveness
from laneway.sim.bundle.plan import rollup_plan
from laneway.sim.run import run_worlds

HELPED = [seed for seed in range(6_000) if rollup_plan(seed).help == 0.1]


@pytest.mark.slow
def test_a_lane_that_waits_for_long_says_why() -> None:
    broken, seen, _ = run_worlds(HELPED[:150], "s1", "rollup")
    assert [(verdict.seed, verdict.broken) for verdict in broken] == []
    assert seen["a lane waited and said why"]


@pytest.mark.slow
def test_a_lane_that_waits_in_silence_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveness, "describe", lambda _state: LaneState("running", "", 0))
    monkeypatch.setattr(liveness, "wait_reason", lambda _lane, _slot: BEING_BUILT)
    broken, _, _ = run_worlds(HELPED[:150], "s1", "rollup")
    assert any("nobody knows why" in (verdict.broken or "") for verdict in broken)
