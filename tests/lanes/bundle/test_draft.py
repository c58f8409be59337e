"""A decision while it is made."""

from tests.lanes.bundle.stage import queued, shape

from laneway.lanes.bundle.draft import Draft
from laneway.lanes.bundle.limits import REASON_KEPT_BYTES_MAX
from laneway.lanes.bundle.values import BlockDue, LookAtChain, SlotChanged, VersionChanged


def test_what_is_decided_counts_at_once_in_the_draft_and_not_in_the_lane() -> None:
    stage = queued()
    before = shape(stage.lane)
    draft = Draft(stage.lane, stage.now_ms)
    changed = draft.change(stage.named(1), "waits", queued=False, wait_reason="é" * 1_000)
    assert len(changed.wait_reason.encode()) <= REASON_KEPT_BYTES_MAX
    assert not draft.lane.slots[1].queued
    draft.say(BlockDue())
    draft.order(LookAtChain((), ()))
    assert shape(stage.lane) == before
    decision = draft.decision()
    assert [type(one) for one in decision.records] == [SlotChanged, BlockDue]
    assert decision.effects == (LookAtChain((), ()),)


def test_a_version_is_altered_in_the_draft_alone() -> None:
    stage = queued()
    stage.to_slot(2_500)
    draft = Draft(stage.lane, stage.now_ms)
    draft.alter(stage.version(1), "answered", is_held=False)
    assert stage.version(1).is_held
    found = draft.lane.version(1, 1)
    assert found is not None
    assert not found.is_held
    assert isinstance(draft.decision().records[0], VersionChanged)
