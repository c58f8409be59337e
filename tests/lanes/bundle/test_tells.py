"""Callbacks."""

from tests.lanes.bundle.chain import digest
from tests.lanes.bundle.scenes import fork
from tests.lanes.bundle.stage import Stage, queued, replace, submitted

from laneway.lanes.bundle.limits import TELLS_BATCH_MAX
from laneway.lanes.bundle.rows import Tell
from laneway.lanes.bundle.values import BlocksTold, StatusChanged, TellBlocks, TellOwed


def words(stage: Stage) -> list[str]:
    return [one.word for one in stage.heard]


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
    assert words(stage) == ["accumulated", "finalised"]
    first = stage.heard[0]
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
    stage.hear()
    assert words(stage) == ["accumulated", "finalised"]
    assert moves(stage)[-1] == ("submitted", "finalised")


def test_an_accumulation_on_a_fork_that_is_gone_is_taken_back_and_told_again() -> None:
    stage = submitted()
    one = stage.hash_of(1)
    stage.slot(one)
    stage.slot()
    fork(stage, 2)
    stage.look()
    stage.hear()
    assert words(stage) == ["accumulated", "restored"]
    stage.slot(one)
    stage.slot()
    assert words(stage) == ["accumulated", "restored", "accumulated"]


def test_a_callback_is_made_until_it_was_heard() -> None:
    stage = submitted()
    stage.slot(stage.hash_of(1))
    stage.to_slot()
    stage.chain.produce()
    stage.look()
    assert len(stage.take(TellBlocks)) == 1
    stage.crash()
    stage.hear(is_done=False)
    assert stage.lane.head.tell_ms == stage.now_ms + 1_000
    stage.tick(999)
    assert stage.take(TellBlocks) == []
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
    for last in (0, 5):
        stage.post(BlocksTold(stage.now_ms, last))
        assert stage.told == []
