"""A wall clock that was set back."""

from tests.lanes.bundle.stage import SLOT_MS, Stage, queued, replace, submitted

from laneway.lanes.bundle import records as r
from laneway.lanes.bundle.clock_back import longest_ms, sooner
from laneway.lanes.bundle.limits import RETRY_GROWTH_MAX, WAIT_MS_MIN
from laneway.lanes.bundle.settings import BundleSettings
from laneway.lanes.bundle.values import BuildBlock

HOUR_MS = 3_600_000


def set_back(stage: Stage, ms: int = HOUR_MS) -> None:
    """The clock of the machine and, as a node's clock is right, the slots as it counts them."""
    stage.now_ms -= ms
    stage.shift_ms -= ms


def test_a_lane_goes_on_when_its_clock_was_set_back_by_an_hour() -> None:
    stage = submitted(2, order="parallel")
    stage.accept(2)
    set_back(stage)
    stage.tick()
    assert len(stage.of(r.ClockSetBack)) == 1
    stage.run(12)
    assert stage.statuses() == ["confirmed"] * 4
    assert len(stage.of(r.ClockSetBack)) == 1, "the clock is right from then on"


def test_what_was_begun_later_than_now_was_begun_now() -> None:
    stage = submitted(2, order="parallel")
    before = stage.version(1)
    stage.put(replace(stage.named(1), overdue_ms=stage.now_ms + 60_000, retry_ms=stage.now_ms + 9))
    set_back(stage)
    stage.apply([r.ClockSetBack(stage.now_ms)])
    now_ms, after = stage.now_ms, stage.version(1)
    assert (after.first_ms, after.last_ms, after.built_ms) == (now_ms, now_ms, now_ms)
    assert (
        replace(after, first_ms=before.first_ms, last_ms=before.last_ms, built_ms=before.built_ms)
        == before
    )
    slot = stage.named(1)
    assert (slot.retry_ms, slot.overdue_ms) == (now_ms, now_ms + 60_000)
    head = stage.lane.head
    times = (head.block_ms, head.look_ms, head.window_ms, head.hear_ms, head.tell_ms)
    assert all(at_ms is None or at_ms <= now_ms for at_ms in times)


def test_what_is_put_off_is_tried_now() -> None:
    stage = Stage()
    (first, _) = stage.accept(2)
    stage.pull()
    stage.build(t0="deferred")
    set_back(stage)
    stage.apply([r.ClockSetBack(stage.now_ms)])
    deferral = stage.lane.returned[first].deferral
    assert deferral is not None
    assert (deferral.since_ms, deferral.again_ms) == (stage.now_ms, stage.now_ms)


def test_what_waits_for_nothing_but_a_block_stays_as_it_is() -> None:
    stage = queued(1)
    stage.apply([r.BlockDropped(1, "why", 1)])
    before = dict(stage.lane.returned)
    stage.apply([r.ClockSetBack(stage.now_ms - HOUR_MS)])
    assert stage.lane.returned == before


def test_a_builder_that_could_not_build_is_asked_again_after_the_clock_was_set_back() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    stage.not_built()
    set_back(stage)
    stage.tick()
    assert len([one for one in stage.out if isinstance(one, BuildBlock)]) == 1


def test_an_ordinary_pause_is_no_sign_of_it() -> None:
    settings = BundleSettings(service=7, cores=(0,), nodes=("a",))
    assert longest_ms(settings) >= 2 * settings.build_retry_ms << RETRY_GROWTH_MAX
    assert longest_ms(replace(settings, slot_ms=WAIT_MS_MIN)) == 2 * WAIT_MS_MIN
    stage = submitted(3)
    set_back(stage, SLOT_MS)
    stage.tick()
    assert stage.of(r.ClockSetBack) == []


def test_the_sooner_of_two_times() -> None:
    assert [sooner(None, 5), sooner(4, 5), sooner(6, 5)] == [None, 4, 5]


def test_a_transaction_that_is_put_off_alone_shows_a_clock_that_was_set_back() -> None:
    stage = Stage(block_interval_ms=0)
    stage.accept(1)
    stage.pull()
    stage.build(t0="deferred")
    set_back(stage)
    stage.tick()
    assert len(stage.of(r.ClockSetBack)) == 1
    assert len([one for one in stage.out if isinstance(one, BuildBlock)]) == 1


def test_settings_with_long_pauses_show_no_clock_that_was_set_back() -> None:
    stage = submitted(1, submit_retry_ms=3_600_000)
    for _ in range(3):
        stage.slot()
    assert stage.of(r.ClockSetBack) == []
