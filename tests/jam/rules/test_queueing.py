"""Laws of the ready queue: nothing before what it needs, nothing kept beyond an epoch."""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.jam.rules.stage import AUTHORIZER, RESULT, exports, package, report

from laneway.jam.report import Ok, WorkReport
from laneway.jam.rules.queueing import (
    AccumulationPlan,
    QueueState,
    ReadyRecord,
    accumulate_gas,
    block_gas,
    dependencies,
    edited,
    empty_queue,
    package_hashes,
    plan,
    round_count,
    settle,
    turns,
    unlocked,
)
from laneway.jam.service.interface import Operand
from laneway.jam.spec import FULL, TINY

NAMES = "abcdefgh"
EMPTY = empty_queue(41, TINY)


@cache
def record(name: str, needs: str = "") -> ReadyRecord:
    return ReadyRecord(report(name, needs=needs), tuple(sorted(map(package, needs))))


def hashes(names: str) -> tuple[bytes, ...]:
    return tuple(sorted(map(package, names)))


def named(reports: tuple[WorkReport, ...]) -> str:
    known = {package(name): name for name in NAMES}
    return "".join(known[one.package_spec.hash] for one in reports)


def with_ready(phase: int, *records: ReadyRecord, state: QueueState = EMPTY) -> QueueState:
    ready = list(state.ready)
    ready[phase] = records
    return replace(state, ready=tuple(ready))


def test_an_empty_queue_has_a_place_for_every_slot_of_an_epoch() -> None:
    assert (EMPTY.slot, EMPTY.ready, EMPTY.accumulated) == (41, ((),) * 12, ((),) * 12)
    assert len(empty_queue(0, FULL).ready) == FULL.epoch_slots


def test_dependencies_are_prerequisites_and_exporters_each_once() -> None:
    assert dependencies(report("a", needs="cb", imports="bd")) == hashes("bcd")
    assert dependencies(report("a")) == ()


def test_packages_are_told_once_and_in_ascending_order() -> None:
    assert package_hashes([report("b"), report("a"), report("b")]) == hashes("ab")


def test_editing_drops_what_is_done_and_forgets_it_as_a_dependency() -> None:
    records = (record("a", "bc"), record("b"), record("d", "e"))
    assert edited(records, frozenset(hashes("b"))) == (
        replace(records[0], dependencies=hashes("c")),
        records[2],
    )
    assert edited(records, frozenset()) == records


def test_what_waits_for_nothing_comes_first_then_what_waited_for_it() -> None:
    records = [record("a", "c"), record("b"), record("c", "b"), record("d", "b"), record("e", "x")]
    assert named(unlocked(records)) == "bcda"


@pytest.mark.parametrize("needs", ["ab", "ba"])
def test_what_becomes_free_together_keeps_the_order_of_the_queue(needs: str) -> None:
    records = [record("c", needs[0]), record("d", needs[1]), record("a"), record("b")]
    assert named(unlocked(records)) == "abcd"


def test_a_ring_never_comes() -> None:
    assert unlocked([record("a", "b"), record("b", "a"), record("c", "c")]) == ()


def literal(records: tuple[ReadyRecord, ...]) -> tuple[WorkReport, ...]:
    """Q as the Gray Paper writes it."""
    free = tuple(one.report for one in records if not one.dependencies)
    if not free:
        return ()
    return free + literal(edited(records, frozenset(package_hashes(free))))


RECORDS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.text(alphabet=NAMES, max_size=3).map(set)), max_size=12
).map(lambda pairs: tuple(record(name, "".join(sorted(needs))) for name, needs in pairs))


@settings(max_examples=50)
@given(RECORDS)
def test_the_order_is_that_of_the_gray_paper(records: tuple[ReadyRecord, ...]) -> None:
    assert unlocked(records) == literal(records)


def test_a_long_chain_is_followed_to_its_end() -> None:
    made = report("a")
    links = [
        replace(made, package_spec=replace(made.package_spec, hash=number.to_bytes(32, "big")))
        for number in range(5000)
    ]
    records = [
        ReadyRecord(link, (links[place - 1].package_spec.hash,) if place else ())
        for place, link in enumerate(links)
    ]
    assert unlocked(records[::-1]) == tuple(links)


def test_reports_without_dependencies_come_before_all_that_waits() -> None:
    state = with_ready(4, record("b", "a"), record("c"))
    planned = plan(state, [report("d", needs="a"), report("a"), report("e")], 42, TINY)
    assert named(planned.reports) == "aebcd"
    assert planned.queued == (record("d", "a"),)


def test_the_oldest_slot_of_the_epoch_comes_first() -> None:
    state = EMPTY
    for phase, name in ((5, "b"), (6, "a"), (7, "c")):
        state = with_ready(phase, record(name), state=state)
    assert named(plan(state, [], 42, TINY).reports) == "acb"


def test_what_was_accumulated_is_no_longer_waited_for() -> None:
    state = replace(EMPTY, accumulated=(*EMPTY.accumulated[1:], hashes("ab")))
    given_reports = [report("c", needs="ad"), report("e", imports="b"), report("a", needs="b")]
    planned = plan(state, given_reports, 42, TINY)
    assert named(planned.reports) == "e"
    assert [named((one.report,)) for one in planned.queued] == ["c", "e"]
    assert [one.dependencies for one in planned.queued] == [hashes("d"), ()]


def test_a_block_writes_into_the_phase_of_its_slot() -> None:
    planned = plan(EMPTY, [report("a", needs="x"), report("b")], 42, TINY)
    after = settle(EMPTY, planned, 1, 42, TINY)
    assert after == QueueState(
        slot=42,
        ready=with_ready(6, record("a", "x")).ready,
        accumulated=(*((),) * 11, hashes("b")),
    )


def test_what_gas_did_not_suffice_for_stays_in_the_queue() -> None:
    given_reports = [report("a"), report("b", needs="a"), report("c", needs="b")]
    planned = plan(EMPTY, given_reports, 42, TINY)
    assert named(planned.reports) == "abc"
    after = settle(EMPTY, planned, 2, 42, TINY)
    # Nothing is left for c to wait for, so the next block takes it up.
    waiting = ReadyRecord(given_reports[2], ())
    assert after.ready[6] == (waiting,)
    assert after.accumulated[-1] == hashes("ab")
    assert named(plan(after, [], 43, TINY).reports) == "c"


def test_a_report_that_gas_did_not_suffice_for_and_that_needs_nothing_is_lost() -> None:
    """The Gray Paper queues reports with dependencies alone; a core's gas always suffices for
    those without."""
    planned = plan(EMPTY, [report("a")], 42, TINY)
    assert settle(EMPTY, planned, 0, 42, TINY) == replace(EMPTY, slot=42)


def test_a_record_is_dropped_when_its_phase_comes_again() -> None:
    state = with_ready(6, record("a", "x"), state=replace(EMPTY, slot=42))
    for slot in (43, 47, 53):
        state = settle(state, AccumulationPlan(reports=(), queued=()), 0, slot, TINY)
        assert state.ready[6] == (record("a", "x"),)
    assert settle(state, AccumulationPlan(reports=(), queued=()), 0, 54, TINY).ready == EMPTY.ready


@pytest.mark.parametrize("slot", [53, 54, 99])
def test_a_phase_that_was_skipped_is_emptied_too(slot: int) -> None:
    state = with_ready(6, record("a", "x"), state=EMPTY)
    ready = settle(state, AccumulationPlan(reports=(), queued=()), 0, slot, TINY).ready
    assert ready == EMPTY.ready


def test_the_history_moves_by_blocks_and_not_by_slots() -> None:
    state = replace(EMPTY, accumulated=tuple(hashes(name) for name in "abcdefghabcd"))
    after = settle(state, AccumulationPlan(reports=(report("e"),), queued=()), 1, 47, TINY)
    assert after.accumulated == (*state.accumulated[1:], hashes("e"))


QUEUES = st.lists(
    st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=2),
    min_size=12,
    max_size=12,
).map(lambda rows: tuple(tuple(record(*pair) for pair in row) for row in rows))


@settings(max_examples=50)
@given(QUEUES, st.integers(1, 30), st.sets(st.sampled_from(NAMES), max_size=4))
def test_the_queue_turns_as_the_gray_paper_writes_it(
    ready: tuple[tuple[ReadyRecord, ...], ...], slots: int, done_names: set[str]
) -> None:
    state = replace(EMPTY, ready=ready)
    slot = state.slot + slots
    reports = tuple(report(name) for name in sorted(done_names))
    planned = AccumulationPlan(reports=reports, queued=(record("h", "x"),))
    after = settle(state, planned, len(reports), slot, TINY)
    done = frozenset(package_hashes(reports))
    for back in range(TINY.epoch_slots):
        phase = (slot - back) % TINY.epoch_slots
        if back == 0:
            assert after.ready[phase] == edited(planned.queued, done)
        elif back < slots:
            assert after.ready[phase] == ()
        else:
            assert after.ready[phase] == edited(state.ready[phase], done)


@settings(max_examples=50)
@given(st.lists(RECORDS, max_size=4))
def test_no_report_is_accumulated_before_what_it_needs(
    blocks: list[tuple[ReadyRecord, ...]],
) -> None:
    state = EMPTY
    for slot, records in enumerate([*blocks, ()], EMPTY.slot + 1):
        planned = plan(state, [one.report for one in records], slot, TINY)
        done = {one for block in state.accumulated for one in block}
        for one in planned.reports:
            assert done.issuperset(dependencies(one))
            done.add(one.package_spec.hash)
        state = settle(state, planned, len(planned.reports), slot, TINY)


def test_more_than_was_planned_cannot_be_settled() -> None:
    with pytest.raises(AssertionError):
        settle(EMPTY, AccumulationPlan(reports=(), queued=()), 1, 42, TINY)


def test_a_block_stands_in_a_later_slot_than_its_parent() -> None:
    with pytest.raises(AssertionError):
        settle(EMPTY, AccumulationPlan(reports=(), queued=()), 0, EMPTY.slot, TINY)


def gas_report(name: str, *gas: int) -> WorkReport:
    return report(name, results=tuple(replace(RESULT, accumulate_gas=one) for one in gas))


def test_a_block_has_gas_for_the_report_of_every_core() -> None:
    assert block_gas(TINY, {}) == 20_000_000
    assert block_gas(FULL, {}) == 3_500_000_000
    assert block_gas(replace(TINY, name="other", core_count=3), {}) == 30_000_000


def test_free_gas_is_added_to_that_of_the_cores() -> None:
    assert block_gas(TINY, {1: 5, 2: 7}) == 20_000_012
    assert block_gas(FULL, {1: 5}) == 3_500_000_000
    assert block_gas(FULL, {1: 100_000_000}) == 3_510_000_000


def test_a_round_takes_reports_from_the_first_on_while_their_limits_fit() -> None:
    reports = [gas_report("a", 3, 4), gas_report("b", 5), gas_report("c", 1)]
    assert [accumulate_gas(one) for one in reports] == [7, 5, 1]
    assert [round_count(reports, gas) for gas in (0, 6, 7, 11, 12, 13, 99)] == [
        0, 0, 1, 1, 2, 3, 3,
    ]  # fmt: skip
    assert round_count([], 10) == 0


def test_a_small_report_does_not_overtake_a_large_one() -> None:
    assert round_count([gas_report("a", 9), gas_report("b", 1)], 5) == 0


def test_a_service_is_told_its_results_in_the_order_of_the_reports() -> None:
    other = replace(RESULT, service_id=7, payload_hash=package("payload"), result=Ok(b"other"))
    reports = [report("a", results=(RESULT, other, RESULT)), report("b", auth_output=b"trace")]
    seven, forty_two = turns(reports, {})
    assert (seven.service_id, seven.gas) == (7, RESULT.accumulate_gas)
    assert seven.operands == (
        Operand(
            package_hash=package("a"),
            exports_root=exports("a"),
            authorizer_hash=AUTHORIZER,
            payload_hash=package("payload"),
            gas=RESULT.accumulate_gas,
            result=Ok(b"other"),
            auth_trace=b"",
        ),
    )
    assert (forty_two.service_id, forty_two.gas) == (42, 3 * RESULT.accumulate_gas)
    assert [one.package_hash for one in forty_two.operands] == [
        package("a"), package("a"), package("b"),
    ]  # fmt: skip
    assert forty_two.operands[-1].auth_trace == b"trace"


def test_a_service_with_free_gas_has_a_turn_without_a_report() -> None:
    assert [(one.service_id, one.gas, len(one.operands)) for one in turns([], {9: 5})] == [
        (9, 5, 0)
    ]
    assert [(one.service_id, one.gas) for one in turns([report("a")], {42: 5})] == [(42, 1005)]


def test_nobody_has_a_turn_in_a_round_of_nothing() -> None:
    assert turns([], {}) == ()
