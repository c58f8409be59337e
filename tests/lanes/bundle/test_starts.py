"""Starts that find a block being executed: the process may have ended by executing it."""

from tests.lanes.bundle.stage import Stage, replace

from laneway.lanes.bundle import records as r
from laneway.lanes.bundle.limits import HELP_TRIES_MAX, STARTS_MAX
from laneway.lanes.bundle.machine import resume
from laneway.lanes.bundle.rows import Slot
from laneway.lanes.bundle.starts import UNANSWERED
from laneway.lanes.bundle.values import BuildBlock, BuildUnanswered


def begun(count: int) -> Stage:
    stage = Stage()
    stage.accept(count)
    stage.pull()
    return stage


def start(stage: Stage) -> None:
    """The process ended while it executed the block, and begins again."""
    stage.crash()
    stage.found()


def slot_of(stage: Stage) -> Slot:
    (slot,) = stage.lane.slots.values()
    return slot


def test_what_a_start_finds_unanswered_is_counted_before_it_is_executed_again() -> None:
    stage = begun(3)
    (order,) = stage.take(BuildBlock)
    assert not order.is_found
    stage.crash()
    assert [one for one in stage.out if isinstance(one, BuildBlock)] == [
        replace(order, is_found=True)
    ]
    stage.found()
    assert stage.told == [r.StartsCounted(order.slot, 1)]
    assert stage.take(BuildBlock) == [order], "the very same, so that nothing is done twice"
    assert stage.restored().slots[order.slot].starts == 1


def test_a_transaction_that_ends_the_process_is_found_and_named_and_not_refused() -> None:
    """It was executed again after every start, for ever."""
    stage = begun(5)
    counts: list[int] = []
    while stage.lane.head.mode == "running":
        if not any(isinstance(one, BuildBlock) for one in stage.out):
            stage.tick(60_000)
        counts.append(slot_of(stage).count)
        start(stage)
        assert len(counts) < 20, "it ends"
    assert counts == [5] * STARTS_MAX + [2] + [1] * HELP_TRIES_MAX
    slot = slot_of(stage)
    ((member,),) = stage.lane.members.values()
    named = f"no block can be built with {member.intent}: {UNANSWERED}"
    assert slot.wait_reason == named
    assert stage.lane.head.reason == f"{named}, then resume the lane"
    assert stage.statuses() == [""] * 5
    assert not any(isinstance(one, BuildBlock) for one in resume(stage.lane))
    stage.tell("cancel", member.intent)
    stage.tell("resume")
    stage.build()
    assert stage.statuses()[0] == "cancelled"
    assert slot_of(stage).count == 4


def test_any_answer_of_the_builder_ends_the_count() -> None:
    stage = begun(1)
    for _ in range(3 * HELP_TRIES_MAX):
        for _ in range(STARTS_MAX - 1):
            start(stage)
        stage.not_built()
        assert (slot_of(stage).starts, slot_of(stage).helps) == (0, 0)
        stage.tick(60_000)
    assert stage.lane.head.mode == "running"
    stage.build()
    assert slot_of(stage).queued


def test_after_such_starts_the_rest_is_in_blocks_again() -> None:
    """The process was ended by something else: a smaller block does no harm."""
    stage = begun(5)
    for _ in range(STARTS_MAX):
        start(stage)
    stage.build()
    stage.tick(60_000)
    stage.build()
    assert [(one.count, one.starts) for one in stage.lane.in_order() if one.queued] == [
        (2, STARTS_MAX - 1),
        (3, 0),
    ]


def test_only_starts_that_find_it_under_way_are_counted() -> None:
    stage = begun(2)
    stage.not_built()
    for _ in range(9):
        stage.crash()
        assert stage.take(BuildBlock) == []
    assert slot_of(stage).starts == 0


def test_what_was_answered_meanwhile_is_not_begun_again() -> None:
    stage = begun(2)
    stage.crash()
    (order,) = stage.take(BuildBlock)
    stage.post(stage.built(order))
    stage.post(BuildUnanswered(stage.now_ms, order.slot, order.order))
    assert (stage.told, slot_of(stage).starts) == ([], 0)
    assert not any(isinstance(one, BuildBlock) for one in stage.out)
