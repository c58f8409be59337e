"""Worlds whose machines have bugs: a stopped lane keeps every promise once it is revived."""

from collections import Counter

import pytest

from laneway.sim.kinds import names
from laneway.sim.run import run_world


@pytest.mark.slow
@pytest.mark.parametrize("kind", names())
def test_no_law_is_broken_by_a_bug_that_stops_lanes_and_is_put_aside(kind: str) -> None:
    seen: Counter[str] = Counter()
    for seed in range(500, 530):
        verdict = run_world(seed, "s1", kind, bugs=True)
        assert verdict.broken is None, (seed, verdict.broken)
        seen.update(verdict.seen)
    for rare in ("bug:cursed", "lane stopped", "put aside", "lane revived", "result:cancelled"):
        assert seen[rare] > 0, rare


@pytest.mark.slow
def test_an_execution_that_breaks_its_performer_is_put_aside_and_not_tried_again() -> None:
    seen: Counter[str] = Counter()
    for seed in range(60):
        verdict = run_world(seed, "s1", "contract", bugs=True)
        assert verdict.broken is None, (seed, verdict.broken)
        seen.update(verdict.seen)
    for rare in ("bug:hexed", "bug:performer once", "execution put aside", "result:confirmed"):
        assert seen[rare] > 0, rare


def test_a_planted_bug_strikes_the_same_in_every_run_of_a_seed() -> None:
    first, second = (run_world(3, bugs=True) for _ in range(2))
    assert first.trace == second.trace
    assert first.story == second.story
    assert first.seen["lane stopped"] > 0
    assert run_world(3).seen.get("lane stopped") is None


def test_a_bug_that_was_not_planted_breaks_a_world() -> None:
    assert run_world(3).broken is None
    planted = run_world(3, bugs=True)
    assert planted.broken is None
    assert any("was stopped by a bug" in line for line in planted.story)
