"""The four promises of a bundle lane, in many random worlds."""

from typing import Any

import pytest
from tests.laws.bundle_world import check, run

HASTY = {
    "guarantee_timeout_ms": 6_000,
    "accumulate_timeout_ms": 6_000,
    "accumulate_timeouts_max": 1,
}
"""Impatient settings: whatever they say, the chain decides."""

SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "parallel": {"order": "parallel"},
    "latest": {"winner": "latest_version"},
    "seed-001": {"inflight_counts": "submitted_and_guaranteed", "core_reuse": "guaranteed"},
    "hasty": HASTY,
    "hasty and parallel": {**HASTY, "order": "parallel"},
    "dropping": {**HASTY, "max_version_retries": 1, "drops_max": 1_000},
    "dropping and parallel": {
        **HASTY,
        "max_version_retries": 1,
        "drops_max": 1_000,
        "order": "parallel",
    },
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_promises_are_kept(name: str) -> None:
    for seed in range(1):
        check(run(seed, **SETTINGS[name]))


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_the_promises_are_kept_in_many_worlds(name: str) -> None:
    seen: set[str] = set()
    for seed in range(1, 11):
        world = run(seed, **SETTINGS[name])
        check(world)
        seen |= {type(one).__name__ for one in world.all}
    wanted = {"BlockRequeued", "VersionDied", "FactsTakenBack", "BlockUnmade"}
    wanted |= {"BlockDropped"} if "dropping" in name else set()
    assert wanted <= seen | ({"BlockRequeued"} if "dropping" in name else set())
