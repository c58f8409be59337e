"""Blocks that leave out what a final block has executed: its receipt is the answer."""

from typing import Any

import pytest
from tests.builder.stage import FIRST, SECOND, build_order, ledger, transfer
from tests.rollups.log_kind import GENESIS, LogBlock, LogRules, LogState

from laneway.builder.execution import executed
from laneway.builder.shelf import FinalBlock, Shelf
from laneway.builder.snapshots import Snapshot
from laneway.lanes.bundle.rows import ExecutionVerdict, LineReceipt
from laneway.lanes.bundle.values import BuildBlock
from laneway.rollups.domain import Domain

PACKAGE = b"p" * 32


class Repeating(LogRules):
    """A log that takes each line as often as it comes."""

    def __init__(self) -> None:
        super().__init__(Domain(bytes(32), 1))
        self.count = 0

    def stale(self, raw: bytes, state: LogState) -> str:
        return ""

    def execute(self, *given: Any) -> Any:
        self.count += 1
        return super().execute(*given)


@pytest.fixture
def rules() -> Repeating:
    return Repeating()


@pytest.fixture
def shelf(rules: Repeating) -> Shelf:
    shelf = Shelf(None)
    shelf.begin(rules.sealed(GENESIS).hash, rules.encode(GENESIS), ())
    return shelf


def finalise(
    rules: Any, shelf: Shelf, parent: Snapshot[Any, Any], *raws: bytes
) -> Snapshot[Any, Any]:
    """A final block of these transactions."""
    done = rules.execute(parent.state, parent.block, raws, 0)
    sealed = rules.sealed(done.block)
    shelf.finalise(
        [
            FinalBlock(
                sealed=sealed,
                payload=rules.encode(done.block),
                outcomes=rules.outcomes(done.block),
                changes=rules.changes(done.state, done.block),
                package_hash=PACKAGE,
            )
        ]
    )
    return Snapshot(sealed, done.block, done.state)


def genesis(rules: LogRules) -> Snapshot[LogState, LogBlock]:
    return Snapshot(rules.sealed(GENESIS), GENESIS, LogState())


def order(*raws: bytes) -> BuildBlock:
    return build_order(raws, number=2)


def verdicts(judged: Any) -> list[tuple[str, str]]:
    return [(one.intent, one.verdict) for one in judged]


def test_what_a_final_block_executed_is_answered_with_its_receipt_and_not_executed_again(
    rules: Repeating, shelf: Shelf
) -> None:
    base = finalise(rules, shelf, genesis(rules), b"one", b"two")
    done, judged = executed(rules, shelf, order(b"three", b"two", b"four"), base)
    assert done.state.lines == (b"one", b"two", b"three", b"four")
    assert verdicts(judged) == [("i0", "included"), ("i1", "applied"), ("i2", "included")]
    assert judged[1].receipt == LineReceipt(
        number=1, block=base.sealed.hash, index=1, package_hash=PACKAGE, is_ok=True
    )
    assert judged[0].receipt is None


def test_a_block_of_nothing_but_what_was_executed_is_none(rules: Repeating, shelf: Shelf) -> None:
    base = finalise(rules, shelf, genesis(rules), b"one")
    done, judged = executed(rules, shelf, order(b"one"), base)
    assert (done.block, done.state) == (None, base.state)
    assert verdicts(judged) == [("i0", "applied")]


def test_what_nobody_executed_before_is_executed_once(rules: Repeating, shelf: Shelf) -> None:
    executed(rules, shelf, order(b"one", b"two"), genesis(rules))
    assert rules.count == 1


def test_a_block_that_is_not_final_answers_for_nothing(rules: Repeating, shelf: Shelf) -> None:
    """It may never land. In this rollup the same bytes may be two transactions."""
    base = genesis(rules)
    done, _ = executed(rules, shelf, order(b"one"), base)
    assert done.block is not None
    shelf.put(rules.sealed(done.block), b"", rules.outcomes(done.block))
    done, judged = executed(rules, shelf, order(b"one"), base)
    assert verdicts(judged) == [("i0", "included")]


def test_with_nonces_the_receipt_is_the_answer_to_what_the_rules_refuse() -> None:
    rollup, block, state = ledger()
    shelf = Shelf(None)
    shelf.begin(rollup.sealed(block).hash, rollup.encode(block), rollup.entries(state))
    base: Snapshot[Any, Any] = Snapshot(rollup.sealed(block), block, state)
    reverted = transfer(0, payer=SECOND, payee=FIRST, amount=0)
    base = finalise(rollup, shelf, base, transfer(0), reverted)
    raws = (transfer(0), transfer(1), reverted, transfer(0, amount=6), b"nothing")
    done, judged = executed(rollup, shelf, order(*raws), base)
    assert verdicts(judged) == [
        ("i0", "applied"),
        ("i1", "included"),
        ("i2", "applied"),
        ("i3", "refused"),
        ("i4", "refused"),
    ]
    assert done.block is not None
    assert len(done.block.transfers) == 1
    assert judged[2].receipt is not None
    assert (judged[2].receipt.is_ok, judged[2].reason) == (False, "nothing_sent")
    assert judged[0].verdict == ExecutionVerdict.APPLIED
