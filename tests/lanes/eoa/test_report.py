"""The cleanup report of seed 002's box F27."""

from tests.lanes.eoa.stage import begun, chain, make_all, other, receipt, take

from laneway.core.outcome import Status
from laneway.lanes.eoa.report import is_telling, report_of
from laneway.lanes.eoa.rows import CleanupReport
from laneway.lanes.eoa.values import SlotSettled


def test_a_look_that_cleared_nothing_away_reports_nothing() -> None:
    world = begun(1)
    chain(world, 0, 1)
    assert not is_telling(world.lane.head.report)


def test_what_ended_is_counted_by_how_it_ended() -> None:
    world = begun(3)
    make_all(world)
    for slot in (1, 2, 3):
        take(world, slot)
    rows = list(world.accepted.values())
    world.tell("cancel", rows[1])
    make_all(world)
    seen = (receipt(world, 1, 1, 1), receipt(world, 2, 2, 1), receipt(world, 2, 1, 1))
    chain(world, 3, 1, *seen)
    report = world.lane.head.report
    assert (report.nonces_without_receipts, report.per_nonce_violations) == (1, 1)
    chain(world, 3, 9)
    report = world.lane.head.report
    assert (report.moved_to_success, report.noop_count) == (1, 1)
    assert report.at_ms == world.now_ms
    other(world, 2, 1)
    assert world.lane.head.report == CleanupReport(world.now_ms, moved_to_pending=1)
    assert world.results[rows[0].id].status == Status.CONFIRMED.value


def test_an_intent_at_two_numbers_is_a_violation() -> None:
    row = next(iter(begun(1).accepted))
    twice = [SlotSettled(slot, "confirmed", 5, intent=row, nonce=slot) for slot in (1, 2)]
    report = report_of(5, twice, 0, 0)
    assert (report.moved_to_success, report.cross_nonce_violations) == (2, 1)
