"""The window follows from the chain."""

import pytest

from laneway.lanes.eoa.settings import EoaSettings


@pytest.mark.parametrize(
    ("tps", "block_ms", "delay_ms", "window"),
    [(1, 12_000, 2_000, 16), (50, 12_000, 2_000, 700), (50, 250, 0, 16), (1_000, 12_000, 0, 4_096)],
)
def test_the_window_is_rate_times_latency_within_bounds(
    tps: int, block_ms: int, delay_ms: int, window: int
) -> None:
    settings = EoaSettings(target_tps=tps, block_ms=block_ms, confirm_delay_ms=delay_ms)
    assert settings.inflight_max() == window


def test_the_window_may_be_said() -> None:
    assert EoaSettings(inflight=1).inflight_max() == 1
