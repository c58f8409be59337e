"""The contract lane in memory, and its rows."""

import pytest
from tests.lanes.contract.stage import LANE, doubting, executing, intent

from laneway.core.rows import START, Head, RowPut, Rows, Table
from laneway.lanes.common.heads import head_row
from laneway.lanes.contract.lane import (
    ContractLane,
    open_slot,
    put_attempt,
    put_slot,
    replace,
    restore,
)
from laneway.lanes.contract.settings import ContractSettings
from laneway.lanes.contract.values import Attempt, Slot

SETTINGS = ContractSettings()
EMPTY = Rows(Head(LANE), (), (), ())


def test_a_lane_without_rows_is_the_empty_lane() -> None:
    lane, empty = restore(EMPTY, SETTINGS), ContractLane(LANE, SETTINGS)
    assert (lane.head, lane.slot, lane.attempts, lane.intents) == (empty.head, None, {}, {})


def test_a_lane_reads_its_height_first_unless_it_counts_by_itself() -> None:
    assert ContractLane(LANE, SETTINGS).head.height is None
    assert ContractLane(LANE, ContractSettings(has_chain=False)).head.height == 0


def test_a_lane_without_priorities_has_one_class() -> None:
    assert ContractLane(LANE, SETTINGS).head.cursors == (0,)
    assert ContractLane(LANE, ContractSettings(priorities=True)).head.cursors == START


def test_a_lane_stands_up_from_its_rows_as_it_was() -> None:
    stage = doubting()
    for _ in range(10):
        stage.look()
        stage.refuse()
    before = stage.lane
    stage.restart()
    assert max(before.attempts) >= 10
    assert stage.lane.head == before.head
    assert stage.lane.slot == before.slot
    assert list(stage.lane.attempts.items()) == list(before.attempts.items())
    assert stage.lane.intents == before.intents


def test_priorities_may_be_switched_on_and_off_between_two_starts() -> None:
    stage = executing()
    stage.restart(ContractSettings(priorities=True))
    assert stage.lane.head.cursors == (1, 0, 0, 0)
    stage.accept(6)
    stage.restart(SETTINGS)
    # Those of the other classes are still to be taken.
    assert len(stage.lane.head.cursors) == 4


def test_rows_of_a_table_that_contract_lanes_do_not_have_are_a_bug() -> None:
    strange = Rows(Head(LANE), (RowPut("outbox", "1", None, b""),), (), ())
    with pytest.raises(AssertionError):
        restore(strange, SETTINGS)


def test_the_head_that_is_written_is_the_head_in_memory() -> None:
    stage = executing()
    written = head_row(stage.lane.head, 77)
    assert written.wake_ms == 77
    assert (written.cursors, written.settled_count, written.settled_bytes) == ((1,), 0, 0)
    copy = restore(Rows(Head(LANE, state=written.state), (), (), ()), SETTINGS)
    assert copy.head == stage.lane.head


def test_rows_are_keyed_by_their_place_in_the_window() -> None:
    lane = ContractLane(LANE, SETTINGS)
    with pytest.raises(AssertionError):
        open_slot(lane)
    slot = Slot(9, intent(1).id, 1, 5, 0, 0)
    (put,) = put_slot(lane, slot)
    assert (put.table, put.key, put.intent) == (Table.SLOT, "1", intent(1).id)  # type: ignore[union-attr]
    assert open_slot(lane) is slot
    attempt = Attempt(9, 2, 5, 0, 9, True)
    (put,) = put_attempt(lane, attempt)
    assert (put.table, put.key, put.intent) == (Table.ATTEMPT, "2", None)  # type: ignore[union-attr]
    assert lane.attempts == {2: attempt}
    put_attempt(lane, replace(attempt, doubted=True))
    assert list(lane.attempts) == [2]
