"""A decision while it is made."""

from tests.lanes.bundle.stage import queued, shape

from laneway.lanes.bundle.draft import DecisionDraft
from laneway.lanes.bundle.records import BlockDue, BlockRevived, FactsSeen
from laneway.lanes.bundle.rows import Fact, FactKind
from laneway.lanes.bundle.values import LookAtChain


def test_what_is_decided_counts_at_once_in_the_draft_and_not_in_the_lane() -> None:
    stage = queued()
    before = shape(stage.lane)
    draft = DecisionDraft(stage.lane, stage.now_ms)
    changed = draft.change(BlockRevived(1))
    assert changed == draft.lane.slots[1]
    assert not draft.lane.slots[1].queued
    assert list(draft.touched) == [1]
    draft.say(BlockDue())
    draft.order(LookAtChain((), ()))
    assert shape(stage.lane) == before
    decision = draft.decision()
    assert [type(one) for one in decision.records] == [BlockRevived, BlockDue]
    assert decision.effects == (LookAtChain((), ()),)


def test_a_version_is_altered_in_the_draft_alone() -> None:
    stage = queued()
    stage.to_slot(2_500)
    draft = DecisionDraft(stage.lane, stage.now_ms)
    version, fact = stage.version(1), Fact(FactKind.READY, stage.chain.best.ref, 9)
    altered = draft.alter(FactsSeen(1, 1, version.package_hash, (fact,)))
    assert altered.facts == (fact,)
    assert altered == draft.lane.version(1, 1)
    assert stage.version(1).facts == ()
    assert isinstance(draft.decision().records[0], FactsSeen)
