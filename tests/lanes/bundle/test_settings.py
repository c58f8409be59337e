"""How a bundle lane behaves, by the seeds and by default."""

import msgspec
import pytest

from laneway.lanes.bundle.settings import PRESETS, BundleSettings, preset


def test_the_defaults_are_the_seeds_where_they_are_safe() -> None:
    settings = BundleSettings()
    assert (settings.max_queue_depth, settings.max_inflight, settings.retention_window) == (
        8,
        3,
        100,
    )
    assert (settings.submit_retry_ms, settings.max_submit_retries) == (6_000, 8)
    assert (settings.accumulate_timeout_ms, settings.accumulate_timeouts_max) == (60_000, 3)
    assert settings.max_version_retries == 5
    assert (settings.build_from_ms, settings.build_until_ms) == (3_000, 2_000)
    assert (settings.submit_from_ms, settings.submit_until_ms) == (3_000, 1_000)
    assert settings.clock_skew_ms_max == 1_000
    assert settings.anchor_age_blocks_max == 6
    assert settings.inflight_counts == "submitted"
    assert settings.winner == "first_guarantee_wins"


def test_the_guarantee_timeout_is_the_longest_a_guarantee_is_good_for_and_two_slots() -> None:
    settings = BundleSettings()
    rotation = settings.rotation_slots
    good_for = [slot % rotation + rotation for slot in range(1_000)]
    assert (min(good_for), max(good_for)) == (4, 7)
    assert settings.guarantee_wait_ms() == (max(good_for) + 2) * 6_000 == 54_000
    assert BundleSettings(rotation_slots=10).guarantee_wait_ms() == 126_000
    assert BundleSettings(guarantee_timeout_ms=18_000).guarantee_wait_ms() == 18_000


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("seed-000", "guarantee_timeout_ms", 54_000),
        ("seed-000", "inflight_counts", "submitted"),
        ("seed-000", "anchor_policy", "table"),
        ("seed-000", "core_reuse", "guaranteed"),
        ("seed-000", "order", "parallel"),
        ("seed-000", "winner", "first_guarantee_wins"),
        ("seed-001", "guarantee_timeout_ms", 30_000),
        ("seed-001", "accumulate_timeout_ms", 18_000),
        ("seed-001", "accumulate_timeouts_max", 1),
        ("seed-001", "inflight_counts", "submitted_and_guaranteed"),
        ("seed-001", "winner", "latest_version"),
        ("seed-001", "order", "chained"),
    ],
)
def test_each_seed_is_a_preset(name: str, field: str, value: object) -> None:
    assert getattr(PRESETS[name], field) == value


def test_a_preset_is_changed_by_name() -> None:
    assert preset("seed-001", max_inflight=9).max_inflight == 9
    assert preset("seed-001", max_inflight=9).winner == "latest_version"


def test_settings_are_written_and_read_and_nothing_else_is_taken() -> None:
    settings = preset("seed-000", cores=(1,))
    raw = msgspec.json.encode(settings)
    assert msgspec.json.decode(raw, type=BundleSettings) == settings
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"retries": 3}', type=BundleSettings)
