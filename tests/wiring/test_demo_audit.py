"""Laws of the demo's verdict: only the chain's own history can make a row right."""

import pytest

from laneway.devnets.contract.model import Block, genesis, make_block
from laneway.ports import ContractCall
from laneway.wiring.demo_audit import WatchedChain, audit
from laneway.wiring.demo_values import Plan, Verdict
from laneway.wiring.worker_lines import Ended

SENT = [("k1", "a"), ("k2", "b"), ("k3", "c")]
ALL_WELL = {
    key: Ended(key, f"tx_{key}", "confirmed", n, "") for n, (key, _) in enumerate(SENT, start=1)
}


def chain_of(*data: str) -> list[Block]:
    blocks = [genesis("T")]
    for number, datum in enumerate(data, start=1):
        blocks.append(make_block(blocks[-1], ContractCall("T", "did", datum), number, number))
    return blocks


def test_each_once_and_in_order_is_right() -> None:
    row = audit("T", chain_of("a", "b", "c"), SENT, ALL_WELL)
    assert row.is_right()
    assert (row.sent, row.on_chain) == (3, 3)


@pytest.mark.parametrize(
    ("data", "duplicates", "gaps"),
    [
        (("a", "b", "b", "c"), 1, 0),
        (("a", "c"), 0, 1),
        (("a", "c", "b"), 0, 0),
        (("a", "b", "c", "x"), 0, 0),
        ((), 0, 3),
        (("a", "b", "c", "a"), 1, 0),
    ],
)
def test_any_other_chain_is_wrong(data: tuple[str, ...], duplicates: int, gaps: int) -> None:
    row = audit("T", chain_of(*data), SENT, ALL_WELL)
    assert not row.is_right()
    assert (row.duplicates, row.gaps, row.in_order) == (duplicates, gaps, False)


def test_a_caller_who_was_told_of_a_conflict_makes_the_row_wrong() -> None:
    told = ALL_WELL | {"k2": Ended("k2", "tx_k2", "dead", None, "conflict")}
    row = audit("T", chain_of("a", "b", "c"), SENT, told)
    assert row.conflicts == 1
    assert not row.is_right()


def test_a_refused_second_try_is_counted_by_its_contract() -> None:
    chain = WatchedChain(round_ms=10)
    call = ContractCall("T", "did", "a")
    chain.begin(call, 0, 0)
    chain.begin(call, 0, 0)
    chain.step(10)
    assert chain.conflicts == {"T": 1}


def test_a_problem_makes_every_row_worthless() -> None:
    row = audit("T", chain_of("a", "b", "c"), SENT, ALL_WELL)
    verdict = Verdict(
        rows=[row], direct=None, kills=[], resent=0, replayed=0, tries_refused=0, seconds=1.0,
        folder="x",
    )  # fmt: skip
    assert verdict.is_right()
    assert (verdict.sent, verdict.on_chain) == (3, 3)
    bad = Verdict(
        rows=[row], direct=None, kills=[], resent=0, replayed=0, tries_refused=0, seconds=1.0,
        folder="x", problem="the worker ended",
    )  # fmt: skip
    assert not bad.is_right()


@pytest.mark.parametrize("kills", range(21))
@pytest.mark.parametrize("executions", [21, 22, 30, 99, 1_000])
def test_every_kill_can_come_and_finds_work_left(kills: int, executions: int) -> None:
    plan = Plan(kills=kills, executions=executions, contracts=7)
    held = plan.held_back()
    first = executions - kills * held
    assert first >= 1
    for number in range(1, kills + 1):
        reachable = plan.contracts * (first + (number - 1) * held)
        assert plan.landed_at_kill(number) <= reachable
        assert held >= 1
