"""The final answers of a rollup's transactions."""

import pytest
from tests.lanes.bundle.chain import digest
from tests.lanes.bundle.stage import Stage, replace

from laneway.core.ids import IntentId
from laneway.lanes.bundle.lane import decode_history
from laneway.lanes.bundle.results import is_inside, verdict_of
from laneway.lanes.bundle.rows import ExecutionVerdict, Finished, History, LineReceipt, Member
from laneway.lanes.bundle.values import BuildBlock

RECEIPT = LineReceipt(number=4, block=b"theirs", index=2, package_hash=b"package", is_ok=True)


def member(verdict: str) -> Member:
    return Member(IntentId("tx"), 1, 0, 9, verdict=verdict)


def test_a_transaction_is_in_its_block_unless_it_was_left_out() -> None:
    inside = [ExecutionVerdict.INCLUDED, ExecutionVerdict.REVERTED]
    outside = [ExecutionVerdict.REFUSED, ExecutionVerdict.DEFERRED, ExecutionVerdict.FULL]
    assert all(is_inside(member(one)) for one in inside)
    assert not any(is_inside(member(one)) for one in [*outside, ExecutionVerdict.APPLIED, ""])


@pytest.mark.parametrize(("is_ok", "status"), [(True, "confirmed"), (False, "reverted")])
def test_a_receipt_of_others_is_an_answer_with_all_that_it_says(is_ok: bool, status: str) -> None:
    stage = Stage()
    first, second = stage.accept(2)
    stage.pull()
    (order,) = stage.take(BuildBlock, 1)
    event = stage.built(order, t0="applied")
    receipt = replace(RECEIPT, is_ok=is_ok)
    judged = (replace(event.judged[0], receipt=receipt, reason="why"), event.judged[1])
    stage.post(replace(event, judged=judged))
    assert list(stage.results) == [first]
    found = stage.results[first]
    assert (found.status, found.number, found.hash) == (status, 4, digest(first))
    assert found.reason == "why"
    history = decode_history(found.history)
    assert isinstance(history, History)
    elsewhere = history.finished
    assert isinstance(elsewhere, Finished)
    assert (history.index, elsewhere.slot, elsewhere.version) == (2, 0, 0)
    assert (elsewhere.block, elsewhere.package_hash) == (b"theirs", b"package")
    assert stage.lane.head.settled_count == 1
    assert [one.intent for one in stage.lane.members[1]] == [second]
    assert stage.indexes[digest(first).hex()] == first
    stage.check_places()


def test_what_is_in_a_final_block_is_answered_by_its_verdict_and_place() -> None:
    stage = Stage(block_txs_max=3)
    names = stage.accept(3)
    stage.pull()
    stage.build(t1="reverted")
    stage.run(9)
    assert stage.statuses() == ["confirmed", "reverted", "confirmed"]
    places = [decode_history(stage.results[one].history).index for one in names]
    assert places == [0, 1, 2]


def test_what_is_refused_or_put_off_leaves_its_block() -> None:
    stage = Stage(block_txs_max=3)
    names = stage.accept(3)
    stage.pull()
    stage.build(t0="refused", t1="full")
    assert stage.results[names[0]].status == "refused"
    late = Stage()
    late.accept(1)
    late.pull()
    late.build(t0="expired")
    (found,) = late.results.values()
    assert (found.status, found.reason) == ("expired", "so it is")
    assert late.lane.head.settled_count == 1
    assert list(stage.lane.returned) == [names[1]]
    assert [one.intent for one in stage.lane.members[1]] == [names[2]]
    stage.check_places()


def test_a_receipt_says_whether_it_went_well() -> None:
    assert verdict_of(RECEIPT) == ExecutionVerdict.INCLUDED
    assert verdict_of(replace(RECEIPT, is_ok=False)) == ExecutionVerdict.REVERTED
