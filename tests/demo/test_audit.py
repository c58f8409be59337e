"""Laws of the demo's verdict: only the chain's own history can make a row right."""

import pytest

from laneway.demo.audit import WatchedChain, audit, audit_payments
from laneway.demo.values import DemoPlan, DemoVerdict
from laneway.devnets.contract.model import ContractBlock, genesis, make_block
from laneway.ports import ContractCall
from laneway.wiring.worker_lines import EndedLine

SENT = [("k1", "a"), ("k2", "b"), ("k3", "c")]
ALL_WELL = {
    key: EndedLine(key, f"tx_{key}", "confirmed", n, "") for n, (key, _) in enumerate(SENT, start=1)
}


def chain_of(*data: str) -> list[ContractBlock]:
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
    told = ALL_WELL | {"k2": EndedLine("k2", "tx_k2", "dead", None, "conflict")}
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
    verdict = DemoVerdict(
        rows=[row], direct=None, kills=[], resent=0, replayed=0, tries_refused=0, seconds=1.0,
        folder="x",
    )  # fmt: skip
    assert verdict.is_right()
    assert (verdict.sent, verdict.on_chain) == (3, 3)
    bad = DemoVerdict(
        rows=[row], direct=None, kills=[], resent=0, replayed=0, tries_refused=0, seconds=1.0,
        folder="x", problem="the worker ended",
    )  # fmt: skip
    assert not bad.is_right()


@pytest.mark.parametrize("kills", range(21))
@pytest.mark.parametrize("executions", [21, 22, 30, 99, 1_000])
def test_every_kill_can_come_and_finds_work_left(kills: int, executions: int) -> None:
    plan = DemoPlan(kills=kills, executions=executions, contracts=7)
    held = plan.held_back()
    first = executions - kills * held
    assert first >= 1
    for number in range(1, kills + 1):
        reachable = plan.contracts * (first + (number - 1) * held)
        assert plan.landed_at_kill(number) <= reachable
        assert held >= 1


# Payments.

PAID = [("p1", 11), ("p2", 12), ("p3", 13)]
PAID_WELL = {key: EndedLine(key, f"tx_{key}", "confirmed", 5, "") for key, _ in PAID}


def test_payments_mined_once_in_order_at_dense_nonces_are_right() -> None:
    row = audit_payments("a", [(0, 11), (1, 12), (2, 13)], PAID, 3, PAID_WELL)
    assert row.is_right()
    assert (row.accepted, row.once, row.nonces, row.no_ops) == (3, 3, 3, 0)


def test_a_no_op_fills_a_nonce_and_is_no_payment() -> None:
    row = audit_payments("a", [(0, 11), (1, 0), (2, 12), (3, 13)], PAID, 3, PAID_WELL)
    assert row.is_right()
    assert (row.nonces, row.no_ops) == (4, 1)


@pytest.mark.parametrize(
    ("mined", "once", "twice", "lost", "dense"),
    [
        ([(0, 11), (1, 12), (2, 12), (3, 13)], 2, 1, 0, True),
        ([(0, 11), (1, 13)], 2, 0, 1, True),
        ([(0, 11), (1, 13), (2, 12)], 3, 0, 0, True),
        ([(0, 11), (1, 12), (3, 13)], 3, 0, 0, False),
        ([(0, 11), (1, 12), (2, 13), (3, 99)], 3, 0, 0, True),
        ([], 0, 0, 3, True),
    ],
)
def test_any_other_account_is_wrong(
    mined: list[tuple[int, int]], once: int, twice: int, lost: int, dense: bool
) -> None:
    row = audit_payments("a", mined, PAID, 3, PAID_WELL)
    assert not row.is_right()
    assert (row.once, row.twice, row.lost, row.dense) == (once, twice, lost, dense)


def test_a_payer_who_was_told_of_another_end_makes_the_row_wrong() -> None:
    told = PAID_WELL | {"p2": EndedLine("p2", "tx_p2", "reverted", 5, "")}
    row = audit_payments("a", [(0, 11), (1, 12), (2, 13)], PAID, 3, told)
    assert row.wrong == 1
    assert not row.is_right()


def test_one_wrong_account_makes_the_verdict_wrong() -> None:
    right = audit("T", chain_of("a", "b", "c"), SENT, ALL_WELL)
    lost = audit_payments("a", [], PAID, 3, PAID_WELL)
    verdict = DemoVerdict(
        rows=[right], direct=None, kills=[], resent=0, replayed=0, tries_refused=0, seconds=1.0,
        folder="x", payments=[lost],
    )  # fmt: skip
    assert not verdict.is_right()


@pytest.mark.parametrize("payments", [1, 2, 19, 100, 1_000])
def test_payments_are_sent_as_executions_land_and_all_in_the_end(payments: int) -> None:
    plan = DemoPlan(payments=payments)
    due = [plan.payments_due(landed) for landed in range(plan.total() + 1)]
    assert due == sorted(due)
    assert 1 <= due[0] <= payments
    assert due[-1] == payments
    assert plan.paid_ahead() >= 1
