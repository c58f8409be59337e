"""The service's line, moved by others."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.lanes.bundle.stage import SLOT_MS, Stage, queued, replace, submitted

from laneway.core.jam import JamBlockRef, LineAsked, LineBlock, LineSeen
from laneway.lanes.bundle import records as r
from laneway.lanes.bundle.draft import DecisionDraft
from laneway.lanes.bundle.limits import LINE_NUMBERS_MAX, OVERTAKEN_MIN
from laneway.lanes.bundle.line import asked, is_too_far, judge_line
from laneway.lanes.bundle.rows import LineReceipt, Tip
from laneway.lanes.bundle.show import read_head, stuck
from laneway.lanes.bundle.values import BuildBlock, ChainLooked, LookAtChain

AT = JamBlockRef(b"\7" * 32, 7)


def receipt(stage: Stage, number: int = 1, index: int = 0) -> LineReceipt:
    return LineReceipt(number, stage.ground(), index, b"their package", True)


def moved(stage: Stage) -> list[Any]:
    return stage.of(r.LineMoved)


def overtaken(*intents: str, **settings: Any) -> Stage:
    """A stranger's block has the number of the first one here, and is final."""
    stage = submitted(2, **settings)
    theirs = stage.chain.stranger(*intents)
    stage.slot(theirs)
    stage.slot()
    stage.chain.finalise()
    stage.look()
    return stage


def test_blocks_that_others_overtook_go_back_to_the_pool_and_are_built_on_theirs() -> None:
    stage = overtaken()
    (record,) = moved(stage)
    assert (record.number, record.foreign) == (1, 1)
    assert stage.lane.head.tip == Tip(1)
    assert stage.lane.head.foreign_count == 1
    assert [one.slot for one in stage.of(r.BlockDropped)] == [1, 2]
    assert not any(one.is_cause for one in stage.of(r.BlockDropped))
    assert stage.lane.head.drops == 0, "nothing here was at fault"
    (order,) = [one for one in stage.out if isinstance(one, BuildBlock)]
    assert (order.number, order.parent, order.parent_root, order.below) == (2, b"", b"", ())
    assert order.known == 0, "nobody here knows what theirs executed"
    stage.run(12)
    assert stage.statuses() == ["confirmed", "confirmed"]
    assert stage.chain.line() == list(stage.accepted)
    assert [one.number for one in stage.lane.finished.values()] == [2, 3]
    stage.check_places()


def test_a_lane_that_is_overtaken_again_and_again_is_unwell_until_one_of_its_blocks_is_final() -> (
    None
):
    stage = overtaken()
    for count in range(1, OVERTAKEN_MIN):
        assert (stage.lane.head.overtaken, stuck(read_head(stage.head))) == (count, "")
        stage.chain.produce([stage.chain.stranger()])
        stage.chain.produce()
        stage.chain.finalise()
        stage.now_ms = stage.chain.best.ref.slot * SLOT_MS
        stage.look()
    said = stuck(read_head(stage.head))
    assert said.startswith(f"others brought blocks {OVERTAKEN_MIN} times in a row")
    assert said.endswith(
        "; stop the other deployment that builds on this service, or wait until it rests"
    )
    resting = replace(read_head(stage.head), open_count=0, returned_count=0)
    assert stuck(resting) == "", "nothing waits"
    stage.run(16)
    assert stage.statuses() == ["confirmed", "confirmed"]
    assert (stage.lane.head.overtaken, stuck(read_head(stage.head))) == (0, "")


def test_a_transaction_that_others_executed_has_their_receipt_for_its_answer() -> None:
    stage = overtaken("theirs")
    first, second = stage.accepted
    (order,) = stage.take(BuildBlock, 1)
    assert order.intents == (first,)
    event = stage.built(order, t0="applied")
    one = replace(event.judged[0], receipt=receipt(stage), reason="")
    stage.post(replace(event, judged=(one,), payload=b"", block=b""))
    found = stage.results[first]
    assert (found.status, found.number, found.hash) == ("confirmed", 1, event.judged[0].hash)
    assert stage.indexes[event.judged[0].hash.hex()] == first
    stage.run(12)
    assert stage.statuses() == ["confirmed", "confirmed"]
    assert stage.results[second].number == 2
    stage.check_places()


def test_what_others_executed_is_not_expired_because_its_time_is_over_since() -> None:
    """Its caller would be asked to pay again what was paid."""
    stage = Stage(block_txs_max=1)
    stage.accept(1, valid_until_ms=stage.now_ms + 1)
    theirs = stage.chain.stranger("theirs")
    stage.chain.produce([theirs])
    stage.chain.produce()
    stage.chain.finalise()
    stage.now_ms = stage.chain.best.ref.slot * SLOT_MS
    stage.pull()
    (order,) = stage.take(BuildBlock, 1)
    assert order.expired == order.intents
    event = stage.built(order, t0="applied")
    one = replace(event.judged[0], receipt=receipt(stage), reason="")
    stage.post(replace(event, judged=(one,), payload=b"", block=b""))
    assert stage.statuses() == ["confirmed"]


def test_an_own_block_that_came_by_an_unknown_package_is_final_with_that_package() -> None:
    stage = submitted(1)
    claim = stage.chain.packages[stage.hash_of(1)]
    theirs = stage.chain.bring(replace(claim, salt=1))
    stage.slot(theirs)
    stage.slot()
    stage.chain.finalise()
    stage.look()
    (record,) = stage.of(r.BlockOnLine)
    assert record.line.package_hash == theirs
    stage.until(stage.now_ms)
    assert stage.statuses() == ["confirmed"]
    (finished,) = stage.lane.finished.values()
    assert (finished.package_hash, finished.version) == (theirs, 0)
    assert [one.package_hash for one in stage.heard if one.word == "finalised"] == [theirs]
    assert moved(stage) == []
    assert stage.lane.head.tip.number == 1


def test_what_its_own_versions_show_is_not_said_again() -> None:
    stage = submitted(3)
    stage.run(10)
    assert stage.statuses() == ["confirmed"] * 3
    assert stage.of(r.BlockOnLine) == []
    assert moved(stage) == []


def test_a_store_of_long_ago_goes_on_where_the_line_is() -> None:
    """As after a copy was put back: the lane knows of no block, and the service has three."""
    before = submitted(3)
    before.run(10)
    stage = Stage(before.chain, block_txs_max=1)
    stage.now_ms = before.now_ms
    stage.accept(1)
    stage.pull()
    stage.not_built("block 1 is ordered, and after the newest final block comes 4")
    assert stage.lane.head.tip == Tip(0)
    stage.look()
    assert stage.lane.head.tip == Tip(3)
    (record,) = moved(stage)
    assert (record.number, record.foreign, record.block) == (3, 3, stage.ground())
    stage.until(stage.now_ms + 10_000)
    assert [slot.number for slot in stage.lane.slots.values()] == [4]
    stage.run(10)
    assert stage.statuses() == ["confirmed"]
    assert stage.chain.line() == [*before.accepted, *stage.accepted]


def test_what_stands_above_the_line_stays() -> None:
    stage = submitted(2)
    stage.slot(stage.hash_of(1))
    stage.slot(stage.hash_of(2))
    stage.chain.finalise()
    stage.look()
    assert (stage.lane.head.tip.number, list(stage.lane.numbers)) == (1, [2])
    assert moved(stage) == []


def test_what_is_begun_in_the_look_that_shows_a_moved_line_stands_on_that_line() -> None:
    """Block 1 is its own and final, block 2 is another's; a block on block 1 could never land."""
    stage = submitted(2)
    stage.chain.produce([stage.hash_of(1)])
    stage.chain.produce()
    theirs = stage.chain.stranger("theirs")
    stage.chain.produce([theirs])
    stage.chain.produce()
    stage.chain.produce()
    stage.chain.finalise()
    stage.now_ms = stage.chain.best.ref.slot * SLOT_MS + 1_000
    stage.look()
    assert stage.lane.head.tip == Tip(2)
    (order,) = [one for one in stage.out if isinstance(one, BuildBlock)]
    assert (order.number, order.parent, order.parent_root, order.below) == (3, b"", b"", ())
    stage.run(12)
    assert stage.statuses() == ["confirmed", "confirmed"]


def test_a_node_whose_finality_lags_takes_no_line_back() -> None:
    """Nodes take turns, and differ in what they call final; meanwhile a block is being executed."""
    stage = overtaken()
    older = next(iter(stage.lane.chain.values()))
    for lags in (True, False) * 8:
        while not stage.out or not (orders := stage.take(LookAtChain)):
            stage.now_ms = stage.kind.deadline(stage.lane) or stage.now_ms
            stage.tick()
        (order,) = orders
        seen = stage.chain.look(order.known, order.packages, 64, order.line)
        if lags:
            head = replace(seen.head, finalised=older)
            seen = replace(seen, head=head, line=LineSeen(older, 0, ()))
        stage.post(ChainLooked(stage.now_ms, seen, stage.clock()))
        assert stage.lane.head.tip == Tip(1)
    assert (stage.lane.head.foreign_count, stage.lane.head.overtaken) == (1, 1)
    assert [order.number for order in stage.take(BuildBlock)] == [2]


def test_blocks_that_were_never_executed_push_no_time_ahead() -> None:
    """Another deployment is always quicker; nothing here is sealed after the first time."""
    stage = overtaken()
    made_ms = stage.lane.head.made_ms_min
    for _ in range(30):
        stage.take(BuildBlock)
        stage.chain.produce([stage.chain.stranger()])
        stage.chain.produce()
        stage.chain.finalise()
        stage.now_ms += 1_000
        stage.look()
        while not stage.lane.slots:
            stage.now_ms = stage.kind.deadline(stage.lane) or stage.now_ms
            stage.tick()
    assert len(stage.of(r.BlockDropped)) > 20
    assert stage.lane.head.made_ms_min == made_ms


def test_a_line_that_was_thought_to_be_longer_is_believed_while_nothing_was_built() -> None:
    stage = Stage(first_number=9)
    line = LineSeen(AT, 3, ())
    assert is_too_far(stage.lane, line)
    draft = DecisionDraft(stage.lane, stage.now_ms)
    judge_line(draft, line)
    assert draft.lane.head.tip == Tip(3)
    assert draft.decision().records == (r.LineMoved(3, 0, stage.now_ms),)
    built = queued(1, first_number=9)
    assert not is_too_far(built.lane, line)
    assert not is_too_far(Stage(first_number=4).lane, line)


def test_a_block_that_was_not_asked_for_is_judged_with_the_next_look() -> None:
    stage = submitted(2)
    first = LineBlock(1, stage.named(1).block, stage.hash_of(1))
    at = stage.lane.head.finalised
    assert at is not None
    draft = DecisionDraft(stage.lane, stage.now_ms)
    judge_line(draft, LineSeen(at, 2, (first,)))
    assert [type(one) for one in draft.decision().records] == [r.BlockOnLine]
    assert sorted(draft.lane.numbers) == [1, 2]


def one_final() -> Stage:
    """The lane's own block 1 is final, and block 2 is open."""
    stage = submitted(2)
    stage.slot(stage.hash_of(1))
    stage.slot()
    stage.chain.finalise()
    stage.look()
    assert stage.lane.head.tip.block
    return stage


@pytest.mark.parametrize("is_restarted", [False, True])
@pytest.mark.parametrize("make", [one_final, overtaken])
def test_a_chain_that_has_another_block_in_the_place_of_a_final_one_halts_the_lane(
    make: Callable[[], Stage], is_restarted: bool
) -> None:
    """It began anew, and its line may be longer by now. Nothing that is open is taken for lost."""
    stage = make()
    if is_restarted:
        stage.crash()
    open_slots, tip = list(stage.lane.slots), stage.lane.head.tip
    for tries in (1, 2):
        if not stage.lane.head.looking:
            stage.now_ms = stage.lane.head.look_ms or stage.now_ms
            stage.tick()
        (order,) = stage.take(LookAtChain)[:1]
        assert order.line is not None
        assert order.line.numbers[0] == tip.number
        seen = stage.chain.look(order.known, order.packages, 64, order.line)
        other = LineBlock(tip.number, b"another" + bytes(25), b"another's package" + bytes(15))
        assert seen.line is not None
        line = replace(seen.line, number=9, blocks=(other,), block=b"newest" + bytes(26))
        stage.post(ChainLooked(stage.now_ms, replace(seen, line=line), stage.clock()))
        head = stage.lane.head
        assert (head.mode, head.tip, list(stage.lane.slots)) == ("halted", tip, open_slots)
        assert "it is another chain, or began anew" in head.reason
        assert head.reason.endswith(
            "; name nodes of its chain, or another database, and resume the lane"
        )
        if tries == 1:
            stage.tell("resume")
    assert moved(stage) == ([] if make is one_final else moved(stage)[:1])


@pytest.mark.parametrize("keeps_records", [True, False])
def test_what_was_not_read_says_nothing(keeps_records: bool) -> None:
    stage = queued(1, keeps_records=keeps_records)
    draft = DecisionDraft(stage.lane, stage.now_ms)
    judge_line(draft, None if keeps_records else LineSeen(AT, 5, ()))
    assert draft.decision().records == ()
    wanted = LineAsked(stage.settings.service, (1,), (stage.named(1).block,), 0)
    assert asked(stage.lane) == (wanted if keeps_records else None)


def test_a_look_asks_for_the_lowest_blocks_and_no_more_than_fit() -> None:
    stage = queued(3)
    lane = stage.lane
    assert asked(lane) == LineAsked(7, (1, 2, 3), tuple(stage.named(n).block for n in (1, 2, 3)))
    lane.numbers.update(dict.fromkeys(range(4, 400), 1))
    found = asked(lane)
    assert found is not None
    assert found.numbers == tuple(range(1, LINE_NUMBERS_MAX + 1))
