"""Laws of the judge: a leak is refused however slow, a busy machine is not called a leak."""

from math import exp
from random import Random

import pytest
from tests.load.flat import SAMPLES_MIN, TOLERANCES, floor, judged, slope

HOUR = [10.0 * n for n in range(360)]
SLICE = [0.5 * n for n in range(36)]


def warm(at_s: float, whole_s: float) -> float:
    """Memory as a server takes it: quickly at first, and then no more."""
    return 80 - 30 * exp(-20 * at_s / whole_s)


def noisy(times_s: list[float], seed: int) -> list[float]:
    """Flat, with spikes of a machine that has other work to do."""
    random = Random(seed)
    whole_s = times_s[-1]
    return [
        warm(at_s, whole_s)
        + random.gauss(0, 0.5)
        + (random.random() < 0.15) * random.uniform(5, 60)
        for at_s in times_s
    ]


@pytest.mark.parametrize("times_s", [HOUR, SLICE], ids=["hour", "slice"])
@pytest.mark.parametrize("seed", range(20))
def test_a_flat_noisy_series_is_flat(times_s: list[float], seed: int) -> None:
    verdict = judged("rss_mb", times_s, noisy(times_s, seed))
    assert verdict.flat
    assert abs(verdict.growth) < 5


@pytest.mark.parametrize("seed", range(20))
def test_sixty_bytes_an_execution_are_a_leak_in_an_hour(seed: int) -> None:
    leaked_mb_s = 150 * 60 / 1e6
    series = [
        value + leaked_mb_s * at_s for at_s, value in zip(HOUR, noisy(HOUR, seed), strict=True)
    ]
    verdict = judged("rss_mb", HOUR, series)
    assert not verdict.flat
    assert 20 < verdict.slope_per_hour < 50


@pytest.mark.parametrize("name", sorted(TOLERANCES))
@pytest.mark.parametrize("times_s", [HOUR, SLICE], ids=["hour", "slice"])
def test_a_leak_that_doubles_a_series_is_refused(name: str, times_s: list[float]) -> None:
    whole_s = times_s[-1]
    series = [1_000 + 1_000 * at_s / whole_s for at_s in times_s]
    verdict = judged(name, times_s, series)
    assert not verdict.flat
    assert verdict.slope_per_hour == pytest.approx(1_000 * 3_600 / whole_s)


def test_a_leak_under_spikes_is_refused_all_the_same() -> None:
    """Spikes in the second quarter must not hide what the last quarter holds."""
    series = [100 + at_s / 5 + (900 < at_s < 1_200) * 200 for at_s in HOUR]
    assert not judged("tasks", HOUR, series).flat


def test_a_stall_at_the_end_is_no_leak() -> None:
    """For the last eighth of the run requests pile up: most of the last quarter stays low."""
    series = [100.0 + (at_s > HOUR[-1] * 0.875) * 400 for at_s in HOUR]
    assert judged("tasks", HOUR, series).flat


def test_a_saw_is_flat() -> None:
    """Garbage that waits for the collector rises and falls."""
    assert judged("rss_mb", HOUR, [80 + at_s % 300 / 10 for at_s in HOUR]).flat


def test_what_shrinks_is_flat() -> None:
    assert judged("fds", HOUR, [300 - at_s / 20 for at_s in HOUR]).flat


def test_the_warm_up_is_not_judged() -> None:
    series = [20.0 if at_s < HOUR[-1] / 4 else 200.0 for at_s in HOUR]
    assert judged("rss_mb", HOUR, series).flat


def test_too_few_samples_are_no_judgement() -> None:
    with pytest.raises(AssertionError, match="say nothing"):
        judged("tasks", HOUR[: SAMPLES_MIN - 1], [1.0] * (SAMPLES_MIN - 1))


def test_a_floor_is_a_lower_quartile_and_a_slope_least_squares() -> None:
    assert floor([4, 1, 3, 2, 5]) == 2
    assert slope([0, 1, 2, 3], [1, 3, 5, 7]) == 2
    assert slope([5, 5], [1, 9]) == 0
