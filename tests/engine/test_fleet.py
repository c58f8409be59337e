"""Every lane belongs to one of the living, and everyone agrees on which."""

from tests.engine.toy import Desk

from laneway.core.ids import LaneId, Owner
from laneway.engine.fleet import Fleet, home
from laneway.engine.limits import CLAIM_RETRY_MS, COMMIT_RETRY_MS_MAX
from laneway.engine.orders import Open, Perform, Release
from laneway.ports import Commit

LANES = [LaneId(f"contract:T{number}") for number in range(3_000)]
ONE, TWO, THREE = (Owner(name) for name in ("one", "two", "three"))


def test_lanes_are_spread_evenly_over_the_living() -> None:
    homes = [home(lane, (ONE, TWO, THREE)) for lane in LANES]
    for owner in (ONE, TWO, THREE):
        assert 0.28 < homes.count(owner) / len(homes) < 0.39


def test_everyone_agrees_whatever_order_they_know_each_other_in() -> None:
    for lane in LANES[:200]:
        assert home(lane, (ONE, TWO, THREE)) == home(lane, (THREE, ONE, TWO))


def test_only_the_lanes_of_one_that_dies_move() -> None:
    for lane in LANES:
        before, after = home(lane, (ONE, TWO, THREE)), home(lane, (ONE, TWO))
        assert before in (after, THREE)


def test_one_alone_owns_everything() -> None:
    fleet = Fleet(ONE)
    assert all(fleet.is_ours(lane) for lane in LANES)
    assert fleet.joined((ONE, TWO))
    assert not fleet.joined((ONE, TWO))
    ours = [lane for lane in LANES if fleet.is_ours(lane)]
    assert 0 < len(ours) < len(LANES)
    assert ours == [lane for lane in LANES if home(lane, (ONE, TWO)) == ONE]


ME, OTHER = Owner("me"), Owner("other")
BOTH = (ME, OTHER)
TOYS = [LaneId(f"toy:{number}") for number in range(20)]
OURS = next(lane for lane in TOYS if home(lane, BOTH) == ME)
THEIRS = next(lane for lane in TOYS if home(lane, BOTH) == OTHER)


def test_a_lane_of_another_process_is_not_opened_here() -> None:
    desk = Desk()
    desk.reactor.joined(BOTH)
    desk.submit(THEIRS)
    assert desk.orders() == []
    desk.submit(OURS)
    assert desk.orders() == [Open(OURS)]


def test_an_idle_lane_moves_at_once_and_comes_back_when_the_other_dies() -> None:
    desk = Desk()
    for lane in (OURS, THEIRS):
        intent = desk.submit(lane)
        desk.settle()
        desk.finish(intent, lane)
        desk.settle()
    desk.reactor.joined(BOTH)
    (release,) = desk.settle()
    assert isinstance(release, Release)
    assert release.lease.lane == THEIRS
    assert desk.reactor.holds(OURS)
    desk.reactor.joined((ME,))
    desk.submit(THEIRS)
    assert Open(THEIRS) in desk.orders()


def test_a_busy_lane_finishes_what_is_under_way_and_takes_no_more() -> None:
    desk = Desk()
    first, second = desk.submit(THEIRS), desk.submit(THEIRS)
    done = desk.settle()
    assert [order.effect.intent for order in done if isinstance(order, Perform)] == [first]
    desk.reactor.joined(BOTH)
    assert desk.settle() == []
    desk.finish(first, THEIRS)
    *_, release = desk.settle()
    assert isinstance(release, Release)
    assert (desk.status(first), desk.status(second)) == ("confirmed", None)


def test_a_lane_that_may_still_be_ours_in_the_store_is_claimed_once_more_and_let_go() -> None:
    desk = Desk()
    desk.submit(THEIRS)
    commit = desk.until(Commit)
    desk.commit(commit)
    desk.reactor.joined(BOTH)
    desk.reactor.commit_unknown(commit.lease)
    assert Open(THEIRS) in desk.orders()
    lease = desk.claim(THEIRS)
    desk.reactor.opened(lease, desk.book.load(lease))
    perform = desk.until(Perform)
    desk.finish(perform.effect.intent, THEIRS)
    *_, release = desk.settle()
    assert isinstance(release, Release)


def test_a_lane_that_someone_else_has_is_not_asked_for_once_it_is_theirs() -> None:
    desk = Desk()
    desk.submit(THEIRS)
    desk.orders()
    desk.reactor.joined(BOTH)
    desk.reactor.not_opened(THEIRS, desk.now_ms)
    desk.now_ms += CLAIM_RETRY_MS
    assert desk.orders() == []
    assert not desk.reactor.holds(THEIRS)


def test_a_lane_that_could_not_be_released_is_let_go_once_more() -> None:
    desk = Desk()
    intent = desk.submit(THEIRS)
    desk.settle()
    desk.finish(intent, THEIRS)
    desk.settle()
    desk.reactor.joined(BOTH)
    release = desk.until(Release)  # The store was busy: nobody else can have the lane.
    desk.reactor.release_failed(release.lease, desk.now_ms)
    assert desk.orders() == []
    desk.now_ms += COMMIT_RETRY_MS_MAX
    *_, again = desk.settle()
    assert isinstance(again, Release)
    assert again.lease.fence == release.lease.fence + 1
    view = desk.book.lane(THEIRS)
    assert view is not None
    assert view.head.owner is None


def test_a_lane_of_ours_that_could_not_be_released_is_let_go_when_it_becomes_anothers() -> None:
    desk = Desk()
    lease = desk.claim(THEIRS)
    # It is ours for as long as nobody else is there.
    desk.reactor.release_failed(lease, desk.now_ms)
    assert desk.orders() == []
    desk.now_ms += COMMIT_RETRY_MS_MAX
    desk.settle()
    assert desk.reactor.holds(THEIRS)
    desk.reactor.joined(BOTH)
    desk.settle()
    view = desk.book.lane(THEIRS)
    assert view is not None
    assert view.head.owner is None
