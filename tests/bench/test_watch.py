"""A watch only goes forward."""

from laneway_bench.watch import Stopwatch


def test_a_watch_reads_wall_and_cpu_time_and_goes_on() -> None:
    watch = Stopwatch()
    first, second = watch.read(), watch.read()
    assert set(first) == {"seconds", "cpu_s"}
    assert 0 <= first["seconds"] <= second["seconds"]
    assert 0 <= first["cpu_s"] <= second["cpu_s"]
