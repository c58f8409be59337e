"""Every order is answered, several at once, and what may not leave any more does not."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from tests.engine.bundle.stage import (
    ANCHOR,
    AWAY,
    CLOCK,
    LOOKUP,
    PACKAGE,
    PACKAGE_HASH,
    SEEN,
    SERVICE,
    Busy,
    Stage,
    block_order,
    informing,
    looking,
    submission,
    taken,
    telling,
    version_order,
)

from laneway.core.errors import BuildFailed, ChainError
from laneway.core.ids import IntentId, LaneId
from laneway.core.jam import PackageKind
from laneway.core.limits import REASON_BYTES_MAX
from laneway.core.outcome import Outcome
from laneway.engine.bundle import rollup_lane
from laneway.engine.bundle.performer import LATE, BundlePerformer, execute, package
from laneway.engine.limits import BUILD_TIMEOUT_MS, READ_TIMEOUT_MS
from laneway.engine.performers import Batcher
from laneway.lanes.bundle.limits import CHAIN_KEPT_MAX
from laneway.lanes.bundle.rows import Ear, Tell
from laneway.lanes.bundle.values import (
    BlockBuilt,
    BlockNotBuilt,
    BlocksNotified,
    BuildUnanswered,
    ChainLooked,
    JudgedTransaction,
    LookFailed,
    PackagesSubmitted,
    Submitted,
    VersionBuilt,
    VersionNotBuilt,
    VersionsMade,
)


def test_nothing_is_answered_in_the_lanes_own_turn() -> None:
    stage = Stage()
    effects: list[Any] = [block_order(), looking()]
    assert stage.performer.answer_now(stage.lane, effects, 5) == (None, effects)
    assert not stage.performer.prompt
    assert isinstance(stage.performer, Batcher)


def test_one_effect_alone_is_a_batch_of_one() -> None:
    stage = Stage()
    event = stage.run(stage.performer.perform(stage.lane, block_order()))
    assert isinstance(event, BlockBuilt)


# Building.


def test_a_block_that_a_start_found_begun_is_answered_with_that_and_not_executed() -> None:
    stage = Stage()
    event = stage.perform(replace(block_order(), is_found=True))
    assert event == BuildUnanswered(event.now_ms, 1, 11)
    assert stage.builder.under_way_max == 0


def test_versions_are_made_at_once_and_answered_together() -> None:
    stage = Stage()
    stage.builder.takes_s = 1.0
    event = stage.perform(version_order(1), version_order(2), version_order(3))
    assert isinstance(event, VersionsMade)
    assert [type(one) for one in event.made] == [VersionBuilt] * 3
    assert [one.slot for one in event.made] == [1, 2, 3]
    assert stage.time.monotonic_ms() == 1_000
    assert event.now_ms == stage.time.now_ms()


def test_an_order_that_is_repeated_waits_for_what_is_under_way() -> None:
    """A lane that is loaded anew repeats its orders, and what others wait for is not done twice."""
    stage = Stage()
    stage.builder.takes_s = 1.0
    order = version_order()

    async def story() -> list[Any]:
        first = asyncio.ensure_future(stage.performer.perform(stage.lane, order))
        await asyncio.sleep(0.5)
        again = await stage.performer.perform(stage.lane, replace(order, below=(b"a block",)))
        later = await stage.performer.perform(stage.lane, order)
        return [await first, again, later]

    first, again, later = stage.run(story())
    assert first.made == again.made
    assert len(stage.builder.contexts) == 2
    assert stage.time.monotonic_ms() == 2_000, "with its answer it is over, and begins anew"
    assert type(later.made[0]) is VersionBuilt


@pytest.mark.parametrize(
    "changed", [{"order": 13}, {"payload": b"another"}, {"anchor_offset": 5}, {"block": b"fork"}]
)
def test_an_order_that_differs_is_another_one(changed: dict[str, Any]) -> None:
    stage = Stage()
    event = stage.perform(version_order(1), replace(version_order(1), **changed))
    assert len(event.made) == len(stage.builder.contexts) == 2


def test_the_lanes_of_two_rollups_have_orders_of_their_own() -> None:
    stage = Stage()
    other = rollup_lane(8)
    performer = BundlePerformer({stage.lane: stage.rollup, other: stage.rollup}, stage.time)

    async def story() -> None:
        lanes = (stage.lane, other)
        await asyncio.gather(*(performer.perform(lane, version_order()) for lane in lanes))

    stage.run(story())
    assert len(stage.builder.contexts) == 2


def test_who_waits_for_an_order_that_was_left_carries_it_out() -> None:
    stage = Stage()
    stage.builder.takes_s = 1.0
    order = version_order()

    async def story() -> Any:
        first = asyncio.ensure_future(stage.performer.perform(stage.lane, order))
        await asyncio.sleep(0.5)
        again = asyncio.ensure_future(stage.performer.perform(stage.lane, order))
        await asyncio.sleep(0)
        first.cancel()
        return await again

    event = stage.run(story())
    assert type(event.made[0]) is VersionBuilt
    assert len(stage.builder.contexts) == 2


def test_each_version_and_block_that_fails_is_answered() -> None:
    stage = Stage()
    stage.builder.trouble = BuildFailed("empty")
    event = stage.perform(version_order(1), version_order(2))
    assert event.made == (VersionNotBuilt(1, 11, "empty"), VersionNotBuilt(2, 12, "empty"))
    other = Stage()
    other.builder.trouble = BuildFailed("empty")
    first, second = other.perform_all(block_order(1), block_order(2))
    now_ms = other.time.now_ms()
    assert first == BlockNotBuilt(now_ms, 1, 11, "empty")
    assert second == BlockNotBuilt(now_ms, 2, 12, "empty")


# Submitting.


def test_a_package_goes_to_its_nodes_for_its_cores() -> None:
    stage = Stage()
    event = stage.perform(submission(1), submission(2, nodes=("b",)))
    assert stage.chain.sent == [(PACKAGE, (1, 0), ("a", "b")), (PACKAGE, (1, 0), ("b",))]
    assert event == PackagesSubmitted(
        stage.time.now_ms(),
        (Submitted(1, 2, 4, taken("a", 1)), Submitted(2, 2, 4, taken("b", 1))),
    )


def test_packages_are_submitted_at_once() -> None:
    stage = Stage()
    stage.chain.takes_s = 1.0
    stage.perform(*(submission(slot) for slot in range(5)))
    assert stage.time.monotonic_ms() == 1_000


def test_what_may_not_leave_any_more_does_not() -> None:
    stage = Stage()
    event = stage.perform(submission(), permit=lambda: "the lease may be over")
    assert stage.chain.sent == []
    (result,) = event.results
    told = result.submission
    assert [(one.node, one.kind) for one in told.answers] == [
        ("a", PackageKind.UNREACHABLE),
        ("b", PackageKind.UNREACHABLE),
    ]
    assert told.outcome() is Outcome.REFUSED
    assert not told.final
    assert told.answers[0].words == "the lease may be over"


@pytest.mark.parametrize("skew_ms", [1_001, -1_001, 3_600_000])
def test_with_a_clock_that_is_off_nothing_leaves_and_the_lane_has_its_answer(skew_ms: int) -> None:
    """It was set since the lane's last look."""
    stage = Stage()
    stage.chain.slot_clock = replace(CLOCK, skew_ms=skew_ms)
    (result,) = stage.perform(submission()).results
    assert stage.chain.sent == []
    assert result.submission.outcome() is Outcome.REFUSED
    assert not result.submission.final
    words = f"not sent: this clock and the chain's are {skew_ms} ms apart"
    assert {one.words for one in result.submission.answers} == {words}


def test_a_clock_that_is_set_while_a_node_greets_keeps_the_package_here() -> None:
    stage = Stage()
    stage.chain.greets_s = 2.0

    async def story() -> Any:
        loop = asyncio.get_running_loop()
        loop.call_later(1.0, setattr, stage.chain, "slot_clock", replace(CLOCK, skew_ms=3_600_000))
        return await stage.performer.perform(stage.lane, submission())

    (result,) = stage.run(story()).results
    assert stage.chain.sent == []
    words = "not sent: this clock and the chain's are 3600000 ms apart"
    assert [one.words for one in result.submission.answers] == [words]


def test_what_may_not_leave_any_more_once_a_node_has_greeted_does_not() -> None:
    stage = Stage()
    stage.chain.greets_s = 2.0

    def permit() -> str | None:
        return "the lease may be over" if stage.time.monotonic_ms() > 500 else None

    (result,) = stage.perform(submission(), permit=permit).results
    assert stage.chain.sent == []
    assert [one.words for one in result.submission.answers] == ["the lease may be over"]


@pytest.mark.parametrize("skew_ms", [1_000, -1_000, 0, None])
def test_with_a_clock_that_is_right_or_has_no_calendar_packages_leave(skew_ms: int | None) -> None:
    stage = Stage()
    stage.chain.slot_clock = replace(CLOCK, skew_ms=skew_ms)
    (result,) = stage.perform(submission()).results
    assert result.submission.outcome() is Outcome.ACCEPTED


def test_a_permit_is_asked_for_when_its_turn_comes() -> None:
    stage = Stage(submissions_at_once=1)
    stage.chain.takes_s = 1.0

    def permit() -> str | None:
        return "too late" if stage.time.monotonic_ms() > 500 else None

    event = stage.perform(submission(1), submission(2), permit=permit)
    outcomes = [one.submission.outcome() for one in event.results]
    assert outcomes == [Outcome.ACCEPTED, Outcome.REFUSED]
    assert len(stage.chain.sent) == 1


@pytest.mark.parametrize("trouble", [AWAY, ChainError("queer"), TimeoutError()])
def test_a_submission_that_raises_may_have_left(trouble: Exception) -> None:
    stage = Stage()
    stage.chain.trouble = trouble
    (result,) = stage.perform(submission()).results
    assert result.submission.outcome() is Outcome.UNKNOWN
    assert not result.submission.final
    assert [one.kind for one in result.submission.answers] == [PackageKind.SILENT] * 2


# Looking.


def test_a_look_brings_the_chain_and_its_clock() -> None:
    stage = Stage()
    order = looking()
    event = stage.perform(order)
    assert event == ChainLooked(stage.time.now_ms(), SEEN, CLOCK)
    assert stage.chain.looked == [(order.known, order.packages, CHAIN_KEPT_MAX)]


def test_a_look_does_not_fail_with_the_clock() -> None:
    stage = Stage()
    stage.chain.clock_trouble = AWAY
    assert stage.perform(looking()) == ChainLooked(stage.time.now_ms(), SEEN, None)


def test_a_look_that_fails_proves_nothing() -> None:
    stage = Stage()
    stage.chain.trouble = AWAY
    assert stage.perform(looking()) == LookFailed(stage.time.now_ms(), str(AWAY))


def test_a_look_that_hangs_ends_and_leaves_its_place() -> None:
    stage = Stage(looks_at_once=1)

    async def story() -> None:
        stage.chain.takes_s = 1e6
        assert isinstance(await stage.performer.perform(stage.lane, looking()), LookFailed)
        assert stage.time.monotonic_ms() == READ_TIMEOUT_MS
        stage.chain.takes_s = 0.0
        assert isinstance(await stage.performer.perform(stage.lane, looking()), ChainLooked)

    stage.run(story())


def test_a_look_that_took_too_long_asks_for_fewer_blocks_until_it_is_whole_again() -> None:
    """Behind a long sleep a distant node may not get through with all blocks in its time."""
    stage = Stage()

    async def story() -> None:
        async def look(takes_s: float, *, is_whole: bool = True) -> type:
            stage.chain.takes_s = takes_s
            stage.chain.seen = replace(SEEN, is_whole=is_whole)
            return type(await stage.performer.perform(stage.lane, looking()))

        for _ in range(6):
            assert await look(1e6) is LookFailed
        # While there is more to see, what was done in time is asked for again.
        assert await look(0.0, is_whole=False) is ChainLooked
        assert await look(0.0) is ChainLooked
        assert await look(0.0) is ChainLooked
        stage.chain.trouble = AWAY
        assert await look(0.0) is LookFailed
        stage.chain.trouble = None
        assert await look(0.0) is ChainLooked
        limits = [limit for _, _, limit in stage.chain.looked]
        assert limits == [64, 32, 16, 8, 4, 4, 4, 4, 64, 64, 64]

    stage.run(story())


def test_lanes_do_not_slow_each_other_down() -> None:
    stage = Stage()
    other = rollup_lane(SERVICE + 1)
    stage.performer._rollups = {stage.lane: stage.rollup, other: stage.rollup}

    async def story() -> None:
        stage.chain.takes_s = 1e6
        await stage.performer.perform(stage.lane, looking())
        stage.chain.takes_s = 0.0
        await stage.performer.perform(other, looking())
        await stage.performer.perform(stage.lane, looking())
        assert [limit for _, _, limit in stage.chain.looked] == [64, 64, 32]

    stage.run(story())


# Telling.


def test_the_builder_hears_of_all_at_once() -> None:
    heard: list[object] = []
    stage = Stage(on_block=lambda lane, one: heard.append(one))
    event = stage.perform(informing(3, 4))
    assert event == BlocksNotified(stage.time.now_ms(), 4, ear=Ear.BUILDER)
    assert stage.builder.heard == [(3, 4)]
    assert heard == [], "whoever else listens is told by an order of its own"


def test_a_builder_that_does_not_hear_is_not_done() -> None:
    stage = Stage()
    stage.builder.trouble = BuildFailed("full")
    event = stage.perform(informing(3, 4))
    assert event == BlocksNotified(
        stage.time.now_ms(), 4, is_done=False, reason="full", ear=Ear.BUILDER
    )


def test_callbacks_are_made_without_the_builder() -> None:
    heard: list[object] = []

    def listen(lane: LaneId, one: Tell) -> None:
        heard.append((lane, one.id))

    stage = Stage(on_block=listen)
    event = stage.perform(telling(3, 4))
    assert event == BlocksNotified(stage.time.now_ms(), 4, ear=Ear.USER)
    assert heard == [(stage.lane, 3), (stage.lane, 4)]
    assert stage.builder.heard == []


def test_a_callback_that_fails_is_not_done() -> None:
    def failing(_lane: object, _one: object) -> None:
        raise ValueError("queer")

    stage = Stage(on_block=failing)
    event = stage.perform(telling(3))
    assert not event.is_done
    assert "queer" in event.reason


def test_without_callbacks_there_is_nobody_to_wait_for() -> None:
    stage = Stage()
    first, second = stage.perform_all(telling(1), telling(2))
    assert (first.last, second.last) == (1, 2)
    assert first.is_done
    first, second = Stage().perform_all(informing(1), informing(2))
    assert (first.last, second.last) == (1, 2)


# All rollups together.


@pytest.mark.parametrize("kind", ["blocks", "versions", "submissions", "looks"])
def test_all_rollups_share_a_bound_on_what_is_under_way(kind: str) -> None:
    stage = Stage(builds_at_once=2, submissions_at_once=3, looks_at_once=1)
    orders: dict[str, tuple[Callable[[int], Any], Busy, int]] = {
        "blocks": (block_order, stage.builder, 2),
        "versions": (version_order, stage.builder, 2),
        "submissions": (submission, stage.chain, 3),
        "looks": (lambda _: looking(), stage.chain, 1),
    }
    order, busy, most = orders[kind]
    busy.takes_s = 1.0

    async def story() -> None:
        perform = stage.performer.perform
        await asyncio.gather(*(perform(stage.lane, order(slot)) for slot in range(7)))

    stage.run(story())
    assert busy.under_way_max == most
    assert stage.time.monotonic_ms() == -(-7 // most) * 1_000


# Declining.


def test_what_was_not_begun_is_answered_with_nothing_that_is_worth_a_risk() -> None:
    stage = Stage()
    now_ms = stage.time.now_ms()

    def declined(effect: Any) -> Any:
        return stage.performer.decline(stage.lane, effect, "stopping")

    assert declined(block_order()) == BlockNotBuilt(now_ms, 1, 11, "stopping")
    assert declined(version_order()) == VersionsMade(now_ms, (VersionNotBuilt(1, 11, "stopping"),))
    (result,) = declined(submission()).results
    assert [(one.node, one.kind) for one in result.submission.answers] == [
        ("a", PackageKind.UNREACHABLE),
        ("b", PackageKind.UNREACHABLE),
    ]
    assert result.submission.outcome() is Outcome.REFUSED
    assert not result.submission.final
    assert (result.slot, result.version, result.serial) == (1, 2, 4)
    assert declined(looking()) == LookFailed(now_ms, "stopping")
    for order, ear in ((telling(3, 4), Ear.USER), (informing(3, 4), Ear.BUILDER)):
        told = BlocksNotified(now_ms, 4, is_done=False, reason="stopping", ear=ear)
        assert declined(order) == told
    assert stage.chain.sent == []
    assert stage.builder.heard == []


def test_an_order_is_one_of_six() -> None:
    stage = Stage()
    with pytest.raises(AssertionError):
        stage.perform("queer")
    with pytest.raises(AssertionError):
        stage.performer.decline(stage.lane, "queer", "")  # type: ignore[arg-type]


# What is built is returned as it was built; what is not is returned with its reason.

FAILURES = [
    (BuildFailed("no such parent"), "no such parent"),
    (AWAY, str(AWAY)),
    (TimeoutError(), LATE),
]


def test_a_block_is_answered_with_all_that_was_executed() -> None:
    stage = Stage()
    event = stage.run(execute(stage.rollup, block_order(), stage.time))
    assert event == BlockBuilt(
        now_ms=stage.time.now_ms(),
        slot=1,
        order=11,
        payload=b"payload",
        digest=b"digest",
        block=b"block",
        pre_root=b"before",
        post_root=b"after",
        judged=tuple(
            JudgedTransaction(IntentId(one), "included", b"hash") for one in ("one", "two")
        ),
    )


@pytest.mark.parametrize(("trouble", "reason"), FAILURES)
def test_a_block_that_was_not_built_has_a_reason(trouble: Exception, reason: str) -> None:
    stage = Stage()
    stage.builder.trouble = trouble
    event = stage.run(execute(stage.rollup, block_order(), stage.time))
    assert event == BlockNotBuilt(stage.time.now_ms(), 1, 11, reason)


def test_a_builder_that_hangs_is_left() -> None:
    stage = Stage()
    stage.builder.takes_s = 1e6
    event = stage.run(execute(stage.rollup, block_order(), stage.time))
    assert event == BlockNotBuilt(stage.time.now_ms(), 1, 11, LATE)
    assert stage.time.monotonic_ms() == BUILD_TIMEOUT_MS
    assert stage.builder.under_way == 0


def test_a_package_is_made_in_the_context_of_now() -> None:
    stage = Stage()
    event = stage.run(package(stage.rollup, version_order(offset=3)))
    assert stage.chain.offsets == [3]
    (context,) = stage.builder.contexts
    assert event == VersionBuilt(
        slot=1,
        order=11,
        block=b"block 1",
        package_hash=PACKAGE_HASH,
        package=PACKAGE,
        anchor=ANCHOR,
        lookup_anchor=LOOKUP,
    )
    assert (context.anchor, context.lookup_anchor) == (ANCHOR, LOOKUP)


@pytest.mark.parametrize(("trouble", "reason"), FAILURES)
def test_a_package_that_was_not_made_may_be_made_later(trouble: Exception, reason: str) -> None:
    stage = Stage()
    stage.builder.trouble = trouble
    event = stage.run(package(stage.rollup, version_order()))
    assert event == VersionNotBuilt(1, 11, reason, final=False)


def test_without_a_context_nothing_is_asked_of_the_builder() -> None:
    stage = Stage()
    stage.chain.trouble = AWAY
    event = stage.run(package(stage.rollup, version_order()))
    assert event == VersionNotBuilt(1, 11, str(AWAY), final=False)
    assert stage.builder.contexts == []


def test_only_the_builder_says_that_there_never_will_be_one() -> None:
    stage = Stage()
    stage.builder.trouble = BuildFailed("x" * 5_000, final=True)
    event = stage.run(package(stage.rollup, version_order()))
    assert event == VersionNotBuilt(1, 11, "x" * REASON_BYTES_MAX, final=True)


def test_what_only_an_operator_can_help_with_makes_no_block_hopeless() -> None:
    stage = Stage()
    stage.builder.trouble = BuildFailed("no memory", final=True, needs_help=True)
    event = stage.run(package(stage.rollup, version_order()))
    assert event == VersionNotBuilt(1, 11, "no memory", final=False)


def test_a_package_that_takes_too_long_is_left() -> None:
    stage = Stage()
    stage.chain.takes_s = BUILD_TIMEOUT_MS / 2_000
    stage.builder.takes_s = BUILD_TIMEOUT_MS / 2_000 + 1
    event = stage.run(package(stage.rollup, version_order()))
    assert event == VersionNotBuilt(1, 11, LATE, final=False)
    assert stage.time.monotonic_ms() == BUILD_TIMEOUT_MS
