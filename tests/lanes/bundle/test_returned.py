"""Transactions that had a block and are in none."""

from typing import Any

import pytest
from tests.lanes.bundle.stage import Stage, replace

from laneway.core.ids import IntentId
from laneway.core.limits import REASON_BYTES_MAX
from laneway.lanes.bundle.returned import (
    Room,
    due_ms,
    fitting,
    has_urgent,
    in_order,
    picked,
    put_off,
    share,
)
from laneway.lanes.bundle.rows import Back, Deferral, Member
from laneway.lanes.bundle.settings import BundleSettings

WAITS = Deferral(1_000, 1, 9_000)


def returned(*deferrals: Deferral | None, size: int = 10, **settings: Any) -> Stage:
    """A transaction for each of these; they have no block."""
    stage = Stage(**settings)
    for name in stage.accept(len(deferrals), payload=b"x" * size):
        row = stage.accepted[name]
        stage.lane.intents[name] = row
        stage.lane.returned[name] = Back(name, row.seq, 0, deferrals[row.seq - 1])
    return stage


def seqs(stage: Stage, now_ms: int = 0) -> list[int]:
    return [one.seq for one in picked(stage.lane, now_ms)]


def member(size: int = 10, deferral: Deferral | None = None) -> Member:
    return Member(IntentId("tx"), 1, 0, size, b"#", "deferred", "that comes first", deferral)


def test_more_urgent_ones_come_first_and_then_those_that_came_first() -> None:
    stage = returned(None, None, None)
    (_, second, third) = stage.accepted
    stage.lane.returned[second] = replace(stage.lane.returned[second], priority=1)
    assert [one.seq for one in in_order(stage.lane)] == [1, 3, 2]
    assert list(stage.lane.returned)[2] == third


def test_what_waits_for_nothing_is_due_at_once() -> None:
    empty, mixed = returned(), returned(WAITS, None)
    waiting = returned(WAITS, replace(WAITS, again_ms=8_000))
    assert [has_urgent(one.lane) for one in (empty, waiting, mixed)] == [False, False, True]
    assert [due_ms(one.lane) for one in (empty, waiting, mixed)] == [None, 8_000, 0]


def test_half_a_block_may_be_put_off() -> None:
    assert share(BundleSettings(block_txs_max=512, block_bytes_max=1_000)) == (256, 500)
    assert share(BundleSettings(block_txs_max=1)) == (1, 1 << 19)


def test_a_block_has_room_for_all_that_is_put_off_and_for_others_behind_them() -> None:
    assert seqs(returned(None, WAITS, None, WAITS, None, block_txs_max=4)) == [1, 2, 3, 4]
    assert seqs(returned(None, WAITS, None, block_txs_max=1)) == [1, 2], "one at least of each"
    assert seqs(returned(None, None, None, block_txs_max=2)) == [1, 2]
    assert seqs(returned(WAITS, block_txs_max=9)) == [1]
    assert seqs(returned()) == []


def test_those_whose_time_has_come_go_first_where_there_is_no_room_for_all() -> None:
    late = replace(WAITS, again_ms=5_000)
    stage = returned(WAITS, WAITS, late, late, late, block_txs_max=4)
    assert seqs(stage, 4_999) == [1, 2]
    assert seqs(stage, 5_000) == [3, 4]


def test_bytes_count_too_and_one_always_fits() -> None:
    stage = returned(None, None, None, size=40)
    backs = in_order(stage.lane)
    for size, count in ((0, 1), (79, 1), (80, 2), (120, 3)):
        assert len(fitting(stage.lane, backs, 9, size)) == count
    assert len(fitting(stage.lane, backs, 2, 999)) == 2
    mixed = returned(WAITS, None, None, None, size=40, block_bytes_max=120)
    assert seqs(mixed) == [1, 2, 3]


def test_a_pause_grows_and_ends_when_its_time_is_over() -> None:
    settings = BundleSettings()
    room = Room(Stage().lane)
    found, now_ms, pauses = None, 1_000, []
    while True:
        one = put_off(settings, member(1, found), room, now_ms=now_ms, begin_ms=now_ms)
        room = Room(Stage().lane)
        found = one.deferral
        if found is None:
            break
        assert (one.verdict, one.reason, found.since_ms) == ("deferred", "that comes first", 1_000)
        pauses.append(found.again_ms - now_ms)
        now_ms = found.again_ms
    assert pauses == [1_000, 2_000, 4_000, 8_000, 16_000, 29_000]
    assert now_ms == 61_000
    assert one.verdict == "refused"
    assert one.reason.startswith("that comes first; that did not come in 60 s: send it first")


def test_what_comes_until_the_next_block_is_tried_with_it_first() -> None:
    one = put_off(BundleSettings(), member(), Room(Stage().lane), now_ms=1_000, begin_ms=5_000)
    assert one.deferral == Deferral(1_000, 1, 6_000)


def test_without_patience_it_is_refused_at_once() -> None:
    settings = BundleSettings(deferred_ms_max=0)
    one = put_off(settings, member(), Room(Stage().lane), now_ms=7, begin_ms=7)
    assert (one.verdict, one.deferral) == ("refused", None)


@pytest.mark.parametrize(
    ("size", "limits", "taken"),
    [
        (10, {"block_txs_max": 6}, 3),
        (10, {"block_bytes_max": 40}, 2),
        (99, {"block_bytes_max": 40}, 1),
        (10, {"block_txs_max": 1}, 1),
    ],
)
def test_so_many_are_put_off_and_no_more(size: int, limits: dict[str, Any], taken: int) -> None:
    room = Room(Stage(**limits).lane)
    assert [room.take(size) for _ in range(5)] == [True] * taken + [False] * (5 - taken)


def test_those_that_wait_already_have_their_room() -> None:
    stage = returned(WAITS, None, WAITS, block_txs_max=4)
    one = put_off(stage.settings, member(), Room(stage.lane), now_ms=7, begin_ms=7)
    assert one.verdict == "refused"
    assert one.reason.startswith("that comes first; too many others are put off already")


def test_a_reason_without_end_does_not_hide_what_to_do() -> None:
    settings = BundleSettings(deferred_ms_max=0)
    long = replace(member(), reason="r" * REASON_BYTES_MAX)
    one = put_off(settings, long, Room(Stage().lane), now_ms=7, begin_ms=7)
    assert one.reason.endswith("and then this one again")
    assert len(one.reason.encode()) <= REASON_BYTES_MAX
