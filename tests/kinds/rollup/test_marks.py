"""What a commit's records say of blocks, and what the lane in memory adds."""

from tests.kinds.rollup.test_events import PACKAGE, SLOT, TELL, VERSION
from tests.lanes.bundle.stage import submitted

from laneway.kinds.rollup.marks import Marks, bundle_id
from laneway.lanes.bundle import records as v


def test_records_of_one_commit_name_each_others_blocks() -> None:
    assert Marks((v.SlotClaimed(SLOT, (), 9),)).number(3) == 7
    assert Marks((v.BlockSealed(SLOT, (), b"", 9),)).count(3) == 2
    sealed = Marks((v.VersionSealed(SLOT, VERSION, b""),))
    assert (sealed.number(3), sealed.package(3, 1)) == (7, PACKAGE)
    told = Marks((v.TellOwed(TELL),))
    assert (told.number(3), told.count(3), told.package(3, 1)) == (7, 1, PACKAGE)
    assert Marks((v.SlotNumbered(3, 9),)).number(3) == 9
    empty = Marks((v.LookBegun(),))
    assert (empty.number(3), empty.count(3), empty.package(3, 1)) == (None, None, None)
    assert bundle_id(3) == "B-3"


def test_the_lane_knows_what_the_commit_does_not_say() -> None:
    stage = submitted()
    marks = Marks((), stage.lane)
    assert (marks.number(1), marks.count(1)) == (1, 1)
    assert marks.package(1, 1) == stage.hash_of(1)
    assert (marks.number(9), marks.count(9), marks.package(1, 2)) == (None, None, None)
