"""Laws of the contract chain model. Time is a number; nothing runs by itself."""

from collections import Counter

import pytest

from laneway.devnets.contract.limits import ROUND_MS, SLOW_FACTOR
from laneway.devnets.contract.model import (
    ContractBlock,
    ContractChain,
    RequestFault,
    RoundEnded,
    genesis,
)
from laneway.ports import ContractCall

ROUND = 600


def call(data: str = "a", contract: str = "Qm1", executor: str = "did1") -> ContractCall:
    return ContractCall(contract, executor, data)


def chain() -> ContractChain:
    return ContractChain(round_ms=ROUND, slow_factor=3)


def refuse_bad(asked: ContractCall) -> str | None:
    return "it is bad" if asked.data == "bad" else None


def executed(chain: ContractChain, asked: ContractCall, now_ms: int) -> RoundEnded:
    chain.begin(asked, None, now_ms)
    (ended,) = chain.step(now_ms + ROUND)
    return ended


def test_every_contract_has_its_genesis_without_being_created() -> None:
    fresh = chain()
    assert fresh.latest("Qm1") == 0
    assert fresh.history("Qm1") == (genesis("Qm1"),)
    assert fresh.block("Qm1", 0) == genesis("Qm1")
    assert fresh.running("Qm1") == 0
    assert fresh.find(call(), -1, exact=False) is None
    assert fresh.next_ms() is None
    assert fresh.contracts() == ()


def test_genesis_is_the_same_before_and_after_the_first_execution() -> None:
    fresh = chain()
    before = fresh.history("Qm1")
    executed(fresh, call(), 0)
    assert fresh.history("Qm1")[:1] == before


def test_the_default_round_takes_ten_minutes_and_refuses_nothing() -> None:
    fresh = ContractChain()
    fresh.begin(call(), None, 5)
    assert fresh.next_ms() == 5 + ROUND_MS
    fresh.begin(call("b"), None, 5, RequestFault.SLOW)
    assert [end.block for end in fresh.step(5 + ROUND_MS)] == [1]
    assert fresh.next_ms() == 5 + ROUND_MS * SLOW_FACTOR


def test_a_round_writes_the_next_block_at_its_end_and_not_before() -> None:
    fresh = chain()
    assert fresh.begin(call(), None, 100) == [1]
    assert fresh.running("Qm1") == 1
    assert fresh.next_ms() == 100 + ROUND
    assert fresh.step(99 + ROUND) == []
    assert fresh.latest("Qm1") == 0
    assert fresh.step(100 + ROUND) == [RoundEnded(1, "Qm1", block=1)]
    assert fresh.running("Qm1") == 0
    assert fresh.next_ms() is None
    assert fresh.contracts() == ("Qm1",)


def test_a_block_is_dated_by_its_round_and_not_by_a_late_step() -> None:
    fresh = chain()
    fresh.begin(call("a"), None, 100)
    fresh.step(100_000)
    block = fresh.history("Qm1")[1]
    assert block == ContractBlock(1, 0, "Qm1", "did1", "a", 1, 100 + ROUND, block.id)
    assert fresh.block("Qm1", 1) == block


def test_ten_executions_at_once_give_one_success_and_nine_conflicts() -> None:
    """Without the queue: seed 004 §8, before."""
    fresh = chain()
    for index in range(10):
        fresh.begin(call(f"test_{index}"), None, index)
    ended = fresh.step(10 + ROUND)
    assert [end.block for end in ended] == [1] + [None] * 9
    assert [end.conflict for end in ended] == [False] + [True] * 9
    assert all(end.is_answered for end in ended)
    assert fresh.latest("Qm1") == 1


def test_ten_executions_one_after_another_give_ten_blocks_in_order() -> None:
    """With the queue: seed 004 §8, after."""
    fresh = chain()
    ended = [executed(fresh, call(f"test_{i}"), i * ROUND) for i in range(10)]
    assert [end.block for end in ended] == list(range(1, 11))
    assert [block.data for block in fresh.history("Qm1")[1:]] == [f"test_{i}" for i in range(10)]
    assert not any(end.conflict for end in ended)


def test_contracts_run_beside_each_other() -> None:
    fresh = chain()
    for contract in ("Qm1", "Qm2", "Qm3"):
        fresh.begin(call(contract=contract), None, 0)
    assert [(end.contract, end.block) for end in fresh.step(ROUND)] == [
        ("Qm1", 1),
        ("Qm2", 1),
        ("Qm3", 1),
    ]
    assert fresh.contracts() == ("Qm1", "Qm2", "Qm3")


def test_a_named_stale_parent_is_a_conflict() -> None:
    fresh = chain()
    executed(fresh, call("a"), 0)
    fresh.begin(call("b"), 0, ROUND)
    assert fresh.step(2 * ROUND) == [RoundEnded(2, "Qm1", conflict=True)]
    assert fresh.latest("Qm1") == 1


def test_a_second_try_on_the_same_parent_cannot_land_twice() -> None:
    fresh = chain()
    fresh.begin(call(), 0, 0, RequestFault.LOST)
    fresh.begin(call(), 0, 10)
    first, second = fresh.step(10 + ROUND)
    assert (first.block, first.is_answered) == (1, False)
    assert second.conflict
    assert fresh.latest("Qm1") == 1


def test_rounds_end_in_the_order_of_their_end_and_then_of_their_number() -> None:
    fresh = chain()
    (slow,) = fresh.begin(call("a"), None, 0, RequestFault.SLOW)
    (second,) = fresh.begin(call("b", "Qm2"), None, 5)
    (third,) = fresh.begin(call("c", "Qm3"), None, 0)
    (fourth,) = fresh.begin(call("d", "Qm4"), None, 5)
    assert [end.round for end in fresh.step(10 * ROUND)] == [third, second, fourth, slow]


def test_a_refused_call_ends_at_its_end_and_writes_nothing() -> None:
    fresh = ContractChain(round_ms=ROUND, refuses=refuse_bad)
    fresh.begin(call("bad"), None, 0)
    assert fresh.step(ROUND - 1) == []
    assert fresh.step(ROUND) == [RoundEnded(1, "Qm1", refused="it is bad")]
    assert fresh.latest("Qm1") == 0
    assert executed(fresh, call("good"), ROUND).block == 1


def test_a_call_that_no_retry_can_help_is_refused_even_on_a_stale_parent() -> None:
    fresh = ContractChain(round_ms=ROUND, refuses=refuse_bad)
    fresh.begin(call("bad"), 7, 0)
    (ended,) = fresh.step(ROUND)
    assert ended.refused == "it is bad"
    assert not ended.conflict


@pytest.mark.parametrize(
    ("fault", "told"), [(RequestFault.CRASH, False), (RequestFault.CRASH_TOLD, True)]
)
def test_a_crashed_consensus_never_writes(fault: RequestFault, told: bool) -> None:
    fresh = chain()
    fresh.begin(call(), None, 0, fault)
    assert fresh.step(ROUND) == [RoundEnded(1, "Qm1", failed=True, is_answered=told)]
    assert fresh.latest("Qm1") == 0
    assert fresh.running("Qm1") == 0


def test_a_slow_round_takes_longer_and_still_writes() -> None:
    fresh = chain()
    fresh.begin(call(), None, 0, RequestFault.SLOW)
    assert fresh.step(3 * ROUND - 1) == []
    assert fresh.step(3 * ROUND) == [RoundEnded(1, "Qm1", block=1)]


def test_a_lost_answer_hides_a_written_block() -> None:
    fresh = chain()
    fresh.begin(call(), None, 0, RequestFault.LOST)
    assert fresh.step(ROUND) == [RoundEnded(1, "Qm1", block=1, is_answered=False)]
    assert fresh.find(call(), 0, exact=True) == 1


def test_a_doubled_request_lands_once_and_tells_of_it() -> None:
    fresh = chain()
    assert fresh.begin(call(), None, 0, RequestFault.DOUBLE) == [1, 2]
    assert fresh.running("Qm1") == 2
    assert fresh.step(ROUND) == [
        RoundEnded(1, "Qm1", block=1),
        RoundEnded(2, "Qm1", conflict=True, is_answered=False),
    ]


def test_a_doubled_request_may_tell_a_conflict_although_it_landed() -> None:
    fresh = chain()
    fresh.begin(call(), None, 0, RequestFault.DOUBLE_SECOND_TOLD)
    assert fresh.step(ROUND) == [
        RoundEnded(1, "Qm1", block=1, is_answered=False),
        RoundEnded(2, "Qm1", conflict=True),
    ]
    assert fresh.find(call(), 0, exact=True) == 1


def test_a_restart_kills_what_runs_and_keeps_what_was_due() -> None:
    fresh = chain()
    fresh.begin(call("due"), None, 0)
    fresh.begin(call("late"), None, 1, RequestFault.SLOW)
    fresh.begin(call("soon"), None, 2)
    assert fresh.restart(ROUND) == [
        RoundEnded(1, "Qm1", block=1),
        RoundEnded(2, "Qm1", failed=True, is_answered=False),
        RoundEnded(3, "Qm1", failed=True, is_answered=False),
    ]
    assert fresh.running("Qm1") == 0
    assert fresh.next_ms() is None
    assert fresh.step(100 * ROUND) == []
    assert [block.data for block in fresh.history("Qm1")[1:]] == ["due"]


def test_after_a_restart_the_chain_goes_on() -> None:
    fresh = chain()
    fresh.begin(call("dead"), None, 0)
    fresh.restart(1)
    assert executed(fresh, call("alive"), 2).block == 1


def test_find_names_the_first_block_of_ours_behind_the_parent() -> None:
    fresh = chain()
    for index, data in enumerate(("a", "b", "a", "a")):
        executed(fresh, call(data), index * ROUND)
    assert fresh.find(call("a"), 0, exact=False) == 1
    assert fresh.find(call("a"), 1, exact=False) == 3
    assert fresh.find(call("a"), 3, exact=False) == 4
    assert fresh.find(call("a"), 4, exact=False) is None


def test_an_exact_find_looks_at_the_next_block_only() -> None:
    fresh = chain()
    for index, data in enumerate(("a", "b", "a")):
        executed(fresh, call(data), index * ROUND)
    assert fresh.find(call("a"), 0, exact=True) == 1
    assert fresh.find(call("a"), 1, exact=True) is None
    assert fresh.find(call("a"), 2, exact=True) == 3


def test_find_needs_our_executor_and_our_data_in_our_contract() -> None:
    fresh = chain()
    executed(fresh, call("a"), 0)
    assert fresh.find(call("b"), 0, exact=False) is None
    assert fresh.find(call("a", executor="did2"), 0, exact=False) is None
    assert fresh.find(call("a", contract="Qm2"), 0, exact=False) is None


def test_an_empty_call_never_finds_genesis() -> None:
    fresh = chain()
    executed(fresh, call("a"), 0)
    assert fresh.find(call("", executor=""), -1, exact=True) is None


def test_every_block_stands_on_the_one_before_and_has_its_own_id() -> None:
    fresh = chain()
    for index in range(5):
        executed(fresh, call("same"), index * ROUND)
    history = fresh.history("Qm1")
    assert [block.number for block in history] == [0, 1, 2, 3, 4, 5]
    assert all(block.parent == block.number - 1 for block in history)
    assert Counter(block.id for block in history).most_common(1)[0][1] == 1


def test_two_runs_of_the_same_calls_give_the_same_chain() -> None:
    first, second = chain(), chain()
    for each in (first, second):
        for index in range(20):
            each.begin(call(str(index)), None, 100 * index)
            each.step(100 * index)
        each.step(10**9)
    assert first.history("Qm1") == second.history("Qm1")
    assert first.latest("Qm1") > 1


def test_a_changed_round_duration_holds_for_rounds_that_begin_later() -> None:
    fresh = chain()
    fresh.begin(call("a"), None, 0)
    fresh.round_ms = 1
    fresh.begin(call("b"), None, 0)
    assert [end.round for end in fresh.step(ROUND)] == [2, 1]


def test_a_restored_chain_is_the_chain_and_takes_only_its_next_block() -> None:
    chain = ContractChain(round_ms=1)
    for number in range(3):
        chain.begin(ContractCall("A", "did:1", str(number % 2)), None, number)
        chain.step(number + 1)
    again = ContractChain(round_ms=1)
    one, two, three = chain.history("A")[1:]
    assert not again.restore(two)
    assert again.contracts() == ()
    assert all(again.restore(block) for block in (one, two, three))
    assert not again.restore(three)
    assert again.history("A") == chain.history("A")
    assert again.find(ContractCall("A", "did:1", "0"), 1, exact=False) == 3
    assert again.begin(ContractCall("A", "did:1", "x"), None, 9) == [4]
