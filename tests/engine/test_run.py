"""What one turn has gathered, and how it is written."""

from msgspec.structs import replace
from tests.engine.toy import A, ToyLane, toy_kind

from laneway.core.rows import RowKey, RowPut, Table
from laneway.engine.run import CommitDraft


def test_rows_that_were_left_to_the_end_of_the_turn_are_in_its_write() -> None:
    row = RowPut(Table.SLOT, "1", None, b"as it stands now")
    kind = replace(toy_kind(), left=lambda _: (row,))
    draft = CommitDraft()
    draft.touched.append(RowKey(Table.SLOT, "0"))
    assert draft.write(kind, ToyLane(A), None, 1).touched == (RowKey(Table.SLOT, "0"), row)
