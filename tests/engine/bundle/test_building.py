"""What is built is told as it was built; what is not is told with its reason."""

import pytest
from tests.engine.bundle.stage import (
    ANCHOR,
    AWAY,
    LOOKUP,
    PACKAGE,
    Stage,
    block_order,
    version_order,
)

from laneway.core.errors import BuildFailed
from laneway.core.ids import IntentId
from laneway.core.limits import REASON_BYTES_MAX
from laneway.engine.bundle.building import LATE, execute, package
from laneway.engine.limits import BUILD_TIMEOUT_MS
from laneway.lanes.bundle.values import (
    BlockBuilt,
    BlockNotBuilt,
    Judged,
    VersionBuilt,
    VersionNotBuilt,
)

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
        judged=tuple(Judged(IntentId(one), "included", b"hash") for one in ("one", "two")),
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
        package_hash=b"of the package",
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


def test_a_package_that_takes_too_long_is_left() -> None:
    stage = Stage()
    stage.chain.takes_s = BUILD_TIMEOUT_MS / 2_000
    stage.builder.takes_s = BUILD_TIMEOUT_MS / 2_000 + 1
    event = stage.run(package(stage.rollup, version_order()))
    assert event == VersionNotBuilt(1, 11, LATE, final=False)
    assert stage.time.monotonic_ms() == BUILD_TIMEOUT_MS
