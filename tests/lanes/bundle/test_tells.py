"""Callbacks."""

from tests.lanes.bundle.chain import digest
from tests.lanes.bundle.scenes import fork, show, two
from tests.lanes.bundle.stage import SLOT_MS, START_MS, Stage, queued, replace, submitted

from laneway.core.jam import Accumulated, Failed, May, PackageKind
from laneway.lanes.bundle.limits import (
    RETRY_GROWTH_MAX,
    TELLS_BATCH_MAX,
    TELLS_OWED_MAX,
    UNNAMED_SLOTS_MAX,
)
from laneway.lanes.bundle.records import (
    BlockOnLine,
    PackageAwaited,
    StatusChanged,
    TellOwed,
    VersionSealed,
)
from laneway.lanes.bundle.rows import Ear, LinePlace, Tell
from laneway.lanes.bundle.tells import UNGUARANTEED, UNNAMED, brought
from laneway.lanes.bundle.values import (
    BlocksNotified,
    ChainLooked,
    LookAtChain,
    NotifyBuilder,
    NotifyUser,
)


def words(stage: Stage) -> list[str]:
    return [one.word for one in stage.heard]


def ends(stage: Stage) -> list[str]:
    return [one.word for one in stage.ends()]


def moves(stage: Stage) -> list[tuple[str, str]]:
    return [(one.before, one.word) for one in stage.all if isinstance(one, StatusChanged)]


def test_every_change_of_a_blocks_status_is_told() -> None:
    stage = queued()
    stage.run(6)
    assert moves(stage) == [
        ("building", "queued"),
        ("queued", "submitted"),
        ("submitted", "guaranteed"),
        ("guaranteed", "accumulated"),
        ("accumulated", "finalised"),
    ]


def test_an_accumulation_and_a_final_block_are_told_with_all_they_hold() -> None:
    stage = submitted()
    slot, version, names = stage.named(1), stage.version(1), list(stage.accepted)
    stage.run(6)
    assert words(stage) == ["submitted", "guaranteed", "accumulated", "finalised"]
    for one in stage.heard:
        assert (one.slot, one.number, one.version, one.reason) == (slot.id, 1, 1, "")
        assert one.package_hash == version.package_hash
        assert one.hashes == (digest(names[0]),)
    first = stage.heard[2]
    assert (first.slot, first.number, first.version) == (slot.id, 1, 1)
    assert first.package_hash == version.package_hash
    assert (first.block, first.post_root) == (slot.block, slot.post_root)
    assert first.hashes == (digest(names[0]),)


def test_an_accumulation_that_is_seen_when_it_is_final_is_told_before_that() -> None:
    stage = submitted()
    stage.to_slot()
    stage.chain.produce([stage.hash_of(1)])
    stage.chain.produce()
    stage.chain.finalise()
    stage.look()
    stage.hear_all()
    assert words(stage) == ["submitted", "accumulated", "finalised"], "no look saw the guarantee"
    assert moves(stage)[-1] == ("submitted", "finalised")


def test_an_accumulation_on_a_fork_that_is_gone_is_taken_back_and_told_again() -> None:
    stage = submitted()
    one = stage.hash_of(1)
    stage.slot(one)
    stage.slot()
    fork(stage, 2)
    stage.look()
    stage.hear_all()
    first = ["submitted", "guaranteed", "accumulated", "restored", "submitted"]
    assert words(stage) == first
    stage.slot(one)
    stage.slot()
    assert words(stage) == [*first, "guaranteed", "accumulated"]


def test_a_guarantee_on_a_fork_that_is_gone_is_taken_back_and_told_again() -> None:
    stage = submitted()
    one = stage.hash_of(1)
    stage.slot(one)
    assert words(stage) == ["submitted", "guaranteed"]
    fork(stage, 1)
    stage.look()
    stage.hear_all()
    assert words(stage) == ["submitted", "guaranteed", "submitted"]
    assert stage.heard[-1].reason == UNGUARANTEED
    stage.slot(one)
    assert words(stage) == ["submitted", "guaranteed", "submitted", "guaranteed"]


def test_each_version_that_is_submitted_is_told() -> None:
    stage = two()
    assert words(stage) == ["submitted", "submitted"]
    assert [one.version for one in stage.heard] == [1, 2]
    assert [one.package_hash for one in stage.heard] == [stage.hash_of(1, 1), stage.hash_of(1, 2)]


def test_a_callback_is_made_until_it_was_heard() -> None:
    stage = submitted()
    stage.slot(stage.hash_of(1))
    stage.to_slot()
    stage.chain.produce()
    stage.hear_all()
    stage.heard.clear()
    stage.look()
    assert len(stage.take(NotifyBuilder)) == 1
    stage.crash()
    stage.note()
    assert len(stage.take(NotifyUser)) == 1
    stage.crash()
    stage.hear(is_done=False)
    assert stage.lane.head.tell_ms == stage.now_ms + 1_000
    stage.tick(999)
    assert stage.take(NotifyUser) == []
    stage.tick(1)
    stage.hear()
    assert words(stage) == ["accumulated", "accumulated"]
    assert len({one.id for one in stage.heard}) == 1, "whoever hears it twice can tell"
    assert stage.lane.tells == {}


def test_the_pause_before_a_callback_is_made_again_is_a_setting() -> None:
    stage = submitted(tell_retry_ms=77)
    stage.slot(stage.hash_of(1))
    stage.to_slot()
    stage.chain.produce()
    stage.look()
    stage.hear(is_done=False)
    assert stage.lane.head.tell_ms == stage.now_ms + 77


def test_callbacks_are_made_in_their_order_some_at_a_time() -> None:
    stage = Stage()
    tell = Tell(1, "failed", 1, 1, 1, b"", b"", b"", (), 1)
    count = TELLS_BATCH_MAX + 2
    stage.apply([TellOwed(replace(tell, id=one)) for one in range(1, count + 1)])
    stage.tick()
    stage.hear()
    assert len(stage.heard) == TELLS_BATCH_MAX
    stage.hear()
    assert [one.id for one in stage.heard] == list(range(1, count + 1))


def test_an_answer_to_other_callbacks_says_nothing() -> None:
    stage = submitted()
    for ear in (Ear.BUILDER, Ear.USER):
        for last in (0, 5):
            stage.post(BlocksNotified(stage.now_ms, last, ear=ear))
            assert stage.told == []


def owing(count: int) -> Stage:
    """So many callbacks are owed."""
    stage = Stage()
    tell = Tell(1, "failed", 1, 1, 1, b"", b"", b"", (), 1)
    stage.apply([TellOwed(replace(tell, id=one)) for one in range(1, count + 1)])
    stage.tick()
    return stage


def test_the_builder_does_not_wait_for_a_user_who_never_hears() -> None:
    count = 2 * TELLS_BATCH_MAX + 2
    stage = owing(count)
    for _ in range(3):
        stage.hear(is_done=False)
    assert [one.id for one in stage.noted] == list(range(1, count + 1))
    assert {one.id for one in stage.heard} == set(range(1, TELLS_BATCH_MAX + 1))
    assert len(stage.lane.tells) == count, "the user is owed all of them"
    assert stage.take(NotifyBuilder) == []


def test_a_user_hears_nothing_that_the_builder_has_not_heard() -> None:
    stage = owing(2)
    stage.note(is_done=False)
    assert stage.out == []
    assert (stage.lane.head.heard, stage.lane.head.hear_ms) == (0, stage.now_ms + 1_000)
    stage.tick(1_000)
    stage.hear()
    assert [one.id for one in stage.heard] == [1, 2]
    assert stage.lane.head.hear_ms is None


def test_the_pause_before_a_callback_is_made_again_grows_and_ends_with_it() -> None:
    stage = owing(1)
    stage.note()
    pauses = []
    for _ in range(8):
        stage.hear(is_done=False)
        assert stage.lane.head.tell_ms is not None
        pauses.append(stage.lane.head.tell_ms - stage.now_ms)
        stage.tick(pauses[-1])
    longest = 1_000 << RETRY_GROWTH_MAX
    assert pauses == [1_000, 2_000, 4_000, 8_000, 16_000, longest, longest, longest]
    assert stage.lane.head.tell_reason == "busy"
    stage.hear()
    assert (stage.lane.head.tell_tries, stage.lane.head.tell_reason) == (0, "")
    assert stage.lane.tells == {}


def test_with_too_many_callbacks_owed_no_block_is_begun() -> None:
    stage = owing(TELLS_OWED_MAX)
    stage.accept(1)
    assert stage.kind.wants(stage.lane) == 0
    stage.hear()
    assert stage.kind.wants(stage.lane) > 0


def test_an_accumulation_that_is_taken_back_may_be_overdue_once_more() -> None:
    stage = submitted()
    stage.slot(stage.hash_of(1))
    stage.slot()
    assert stage.named(1).overdue_ms is None
    parent = stage.chain.states[stage.chain.best.parent]
    other = stage.chain.produce(parent=parent, ready=(), is_best=False)
    stage.chain.produce(parent=other, ready=())
    stage.look()
    assert (stage.named(1).word, stage.named(1).overdue_ms) == (
        "guaranteed", stage.now_ms + 60_000,
    )  # fmt: skip


def test_a_block_that_others_lean_on_is_final_when_they_do_not_any_more() -> None:
    """The second block's package names the first one's version 1; version 2 of it won."""
    stage = submitted(2, guarantee_timeout_ms=0)
    other = replace(stage.version(1), version=2, package_hash=b"the second")
    slot = replace(stage.named(1), version=2)
    stage.apply([VersionSealed(slot, other, stage.lane.packages[1, 1])])
    show(stage, (1, 2, Accumulated(1)))
    stage.chain.finalise()
    stage.look()
    assert stage.named(1).word == "accumulated"
    show(stage, (1, 1, Failed(PackageKind.UNAVAILABLE, "too few")), may=(May.REBUILD,))
    assert stage.version(2).is_dead()
    stage.chain.finalise()
    stage.look()
    assert 1 not in stage.lane.slots
    assert stage.lane.finished[1].version == 2


def test_a_block_is_brought_by_the_package_that_the_services_record_names() -> None:
    stage = submitted()
    slot, version = stage.named(1), stage.version(1)
    assert brought(slot, version) == version.package_hash
    assert brought(slot, None) == b""
    line = LinePlace(digest("another's"), stage.anchor())
    assert brought(replace(slot, line=line), version) == digest("another's")


# The package that brought a block.


def brought_by_another(slots: int = 70) -> Stage:
    """While this process was away another package brought its block, which is final since; so many
    slots later its first look does not reach the newest block."""
    stage = submitted(1)
    claim = stage.chain.packages[stage.hash_of(1)]
    theirs = stage.chain.bring(replace(claim, salt=1))
    stage.chain.produce([theirs])
    stage.chain.produce([stage.hash_of(1)])
    for _ in range(slots):
        stage.chain.produce()
    stage.chain.finalise(behind=1)
    stage.now_ms = stage.chain.best.ref.slot * SLOT_MS
    stage.look()
    return stage


def test_a_final_block_waits_for_the_record_that_names_its_package() -> None:
    stage = brought_by_another()
    slot = stage.named(1)
    assert (slot.word, slot.wait_reason) == ("accumulated", UNNAMED)
    assert stage.statuses() == [""]
    while not stage.lane.finished:
        stage.look()
    stage.hear_all()
    (line,) = stage.of(BlockOnLine)
    (finished,) = stage.lane.finished.values()
    assert finished.package_hash == line.line.package_hash != b""
    assert stage.ends()[-1].package_hash == finished.package_hash
    assert stage.statuses() == ["confirmed"]


def test_a_final_block_whose_record_no_node_shows_does_not_wait_for_ever() -> None:
    stage = brought_by_another()
    begin = stage.lane.head.finalised
    assert begin is not None
    while stage.lane.slots and stage.now_ms < START_MS + 1_000 * SLOT_MS:
        stage.chain.produce()
        stage.chain.finalise(behind=1)
        stage.now_ms += SLOT_MS
        stage.tick()
        (order,) = stage.take(LookAtChain, 1)
        seen = stage.chain.look(order.known, order.packages, 64, None)
        stage.post(ChainLooked(stage.now_ms, seen, stage.clock()))
        assert len(stage.of(PackageAwaited)) == 1
    (finished,) = stage.lane.finished.values()
    assert finished.package_hash == b""
    assert stage.statuses() == ["confirmed"]
    end = stage.lane.head.finalised
    assert end is not None
    assert end.slot - begin.slot == UNNAMED_SLOTS_MAX


def test_a_service_without_records_names_no_package_and_is_not_waited_for() -> None:
    stage = submitted(1, keeps_records=False)
    stage.run(8)
    assert stage.of(PackageAwaited) == []
    assert stage.statuses() == ["confirmed"]
