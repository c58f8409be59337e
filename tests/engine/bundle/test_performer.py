"""Every order is answered, several at once, and what may not leave any more does not."""

import asyncio
from typing import Any

import pytest
from tests.engine.bundle.stage import (
    AWAY,
    CLOCK,
    PACKAGE,
    SEEN,
    Busy,
    Stage,
    block_order,
    looking,
    submission,
    taken,
    telling,
    version_order,
)

from laneway.core.errors import BuildFailed, ChainError
from laneway.core.ids import LaneId
from laneway.core.jam import PackageKind
from laneway.core.outcome import Outcome
from laneway.engine.effects import Batcher
from laneway.engine.limits import READ_TIMEOUT_MS
from laneway.lanes.bundle.limits import CHAIN_KEPT_MAX
from laneway.lanes.bundle.rows import Tell
from laneway.lanes.bundle.values import (
    BlockBuilt,
    BlockNotBuilt,
    BlocksTold,
    ChainLooked,
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


def test_versions_are_made_at_once_and_answered_together() -> None:
    stage = Stage()
    stage.builder.takes_s = 1.0
    event = stage.perform(version_order(1), version_order(2), version_order(3))
    assert isinstance(event, VersionsMade)
    assert [type(one) for one in event.made] == [VersionBuilt] * 3
    assert [one.slot for one in event.made] == [1, 2, 3]
    assert stage.time.monotonic_ms() == 1_000
    assert event.now_ms == stage.time.now_ms()


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


# Telling.


def test_the_builder_hears_before_anyone_else() -> None:
    heard: list[object] = []

    def listen(lane: LaneId, one: Tell) -> None:
        heard.append((lane, one.id, list(stage.builder.heard)))

    stage = Stage(heard=listen)
    event = stage.perform(telling(3, 4))
    assert event == BlocksTold(stage.time.now_ms(), 4)
    assert heard == [(stage.lane, 3, [(3, 4)]), (stage.lane, 4, [(3, 4)])]


def test_nobody_hears_what_the_builder_did_not() -> None:
    heard: list[object] = []
    stage = Stage(heard=lambda lane, one: heard.append(one))
    stage.builder.trouble = BuildFailed("full")
    event = stage.perform(telling(3, 4))
    assert event == BlocksTold(stage.time.now_ms(), 4, is_done=False, reason="full")
    assert heard == []


def test_a_callback_that_fails_is_not_done() -> None:
    def failing(_lane: object, _one: object) -> None:
        raise ValueError("queer")

    stage = Stage(heard=failing)
    event = stage.perform(telling(3))
    assert not event.is_done
    assert "queer" in event.reason
    assert stage.builder.heard == [(3,)]


def test_without_callbacks_the_builder_is_all_that_hears() -> None:
    stage = Stage()
    first, second = stage.perform_all(telling(1), telling(2))
    assert (first.last, second.last) == (1, 2)
    assert stage.builder.heard == [(1,), (2,)]


# All rollups together.


@pytest.mark.parametrize("kind", ["blocks", "versions", "submissions", "looks"])
def test_all_rollups_share_a_bound_on_what_is_under_way(kind: str) -> None:
    stage = Stage(builds_at_once=2, submissions_at_once=3, looks_at_once=1)
    orders: dict[str, tuple[Any, Busy, int]] = {
        "blocks": (block_order(), stage.builder, 2),
        "versions": (version_order(), stage.builder, 2),
        "submissions": (submission(), stage.chain, 3),
        "looks": (looking(), stage.chain, 1),
    }
    one, busy, most = orders[kind]
    busy.takes_s = 1.0

    async def story() -> None:
        perform = stage.performer.perform
        await asyncio.gather(*(perform(stage.lane, one) for _ in range(7)))

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
    assert declined(telling(3, 4)) == BlocksTold(now_ms, 4, is_done=False, reason="stopping")
    assert stage.chain.sent == []
    assert stage.builder.heard == []


def test_an_order_is_one_of_five() -> None:
    stage = Stage()
    with pytest.raises(AssertionError):
        stage.perform("queer")
    with pytest.raises(AssertionError):
        stage.performer.decline(stage.lane, "queer", "")  # type: ignore[arg-type]
