"""The judgement over a series of samples: is it flat? Pure: numbers in, a verdict out.

The first quarter of a run is warm-up: caches fill, pools open, the allocator finds its size. From
then on the floor of the second quarter is compared with the floor of the last one. A floor is a
lower quartile: what a busy machine does to a sample only adds to it, and a leak lifts every one.
"""

from collections.abc import Sequence
from statistics import quantiles

from msgspec import Struct

SAMPLES_MIN = 16
"""Four a quarter; fewer say nothing."""


class Tolerance(Struct, frozen=True):
    """How much a flat series may rise: the larger of the two."""

    spare: float
    share: float

    def allowed(self, before: float) -> float:
        return max(self.spare, self.share * before)


TOLERANCES = {
    # SQLite's two page caches may take 24 MB, idle lanes 2 KB each, the ring of events breathes:
    # most of it in the warm-up. 10 MB between the middles of two quarters of an hour under load
    # are less than 40 bytes an execution.
    "rss_mb": Tolerance(10.0, 0.10),
    # A connection and a call under way are a task and a file each. A machine that has other work
    # to do keeps both for longer, up to all that the load may hold at once: some 300. One request
    # in a thousand that leaves a task behind passes that within an hour, and within seconds what
    # is allowed at rest.
    "tasks": Tolerance(300, 0.0),
    "fds": Tolerance(300, 0.0),
    # The executor adds threads until it has all it may have, and the store has one.
    "threads": Tolerance(4, 0.0),
}


class Verdict(Struct, frozen=True, kw_only=True):
    """One series, judged."""

    name: str
    first: float
    """Before any load."""
    quarters: tuple[float, float, float, float]
    """The floor of each."""
    peak: float
    growth: float
    """From the second quarter's floor to the last one's."""
    allowed: float
    slope_per_hour: float
    """Least squares over all that follows the warm-up."""
    flat: bool


def judged(name: str, times_s: Sequence[float], series: Sequence[float]) -> Verdict:
    """Of at least SAMPLES_MIN samples, the first one taken before any load."""
    count = len(series)
    assert count == len(times_s)
    assert count >= SAMPLES_MIN, f"{count} samples say nothing of {name}"
    edges = [count * quarter // 4 for quarter in range(5)]
    floors = [floor(series[edges[n] : edges[n + 1]]) for n in range(4)]
    growth = floors[3] - floors[1]
    allowed = TOLERANCES[name].allowed(floors[1])
    return Verdict(
        name=name,
        first=series[0],
        quarters=(floors[0], floors[1], floors[2], floors[3]),
        peak=max(series),
        growth=growth,
        allowed=allowed,
        slope_per_hour=3_600 * slope(times_s[edges[1] :], series[edges[1] :]),
        flat=growth <= allowed,
    )


def floor(values: Sequence[float]) -> float:
    return quantiles(values, n=4, method="inclusive")[0]


def slope(times_s: Sequence[float], values: Sequence[float]) -> float:
    """By least squares, a second."""
    mean_s = sum(times_s) / len(times_s)
    mean = sum(values) / len(values)
    spread = sum((at_s - mean_s) ** 2 for at_s in times_s)
    rising = sum(
        (at_s - mean_s) * (value - mean) for at_s, value in zip(times_s, values, strict=True)
    )
    return rising / spread if spread else 0.0
