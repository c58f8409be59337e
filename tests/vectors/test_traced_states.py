"""State tests once more with every step watched: the same receipts, changes and reads."""

from itertools import pairwise
from typing import Any

import pytest
from msgspec import Struct
from tests.vectors.evm_engine import context, plain_state
from tests.vectors.folder import rows
from tests.vectors.state_tests import Row, StateTest, state_test
from tests.vectors.test_state_tests import LEFT_OUT

from laneway.evm.envelope import decode
from laneway.evm.errors import InvalidTransaction
from laneway.evm.execution.block import EvmExecution
from laneway.evm.execution.receipt import EvmReceipt
from laneway.evm.rules import rules_of
from laneway.evm.state.changes import ReadSet, WriteSet
from laneway.evm.state.journal import StateJournal
from laneway.evm.tracing.call_tree import CallNode, CallTreeTracer
from laneway.evm.tracing.run import TracedRun
from laneway.evm.tracing.steps import StepTracer, TracedStep
from laneway.evm.validity import validate

pytestmark = pytest.mark.vectors

EVERY = 7
"""One test of seven is traced, which takes seconds."""
CASES = [
    case
    for case in rows("evm", "statetests")
    if str(case.id).partition(":")[0] not in LEFT_OUT and "vmPerformance" not in str(case.id)
][::EVERY]


class Done(Struct, frozen=True):
    receipt: EvmReceipt | None
    changes: WriteSet
    reads: ReadSet


def done(test: StateTest, row: Row, *tracers: StepTracer | CallTreeTracer) -> Done:
    rules = rules_of(row.fork)
    journal = StateJournal(plain_state(test.pre))
    execution = EvmExecution(journal, context(test.surroundings, rules), rules)
    execution.tracer = TracedRun(*tracers) if tracers else None
    receipt = None
    try:
        transaction = decode(row.raw)
        sender = validate(transaction, row.fork, test.surroundings.chain_id)
        receipt = execution.transact(transaction, sender)
    except InvalidTransaction:
        pass
    return Done(receipt, journal.write_set(), journal.read_set())


def problem(steps: list[TracedStep], root: CallNode | None, receipt: EvmReceipt) -> str:
    """What the steps and calls say that cannot be so."""
    assert root is not None
    for before, after in pairwise(steps):
        if after.depth == before.depth and after.gas != before.gas - before.cost:
            if before.name in CALLERS:
                continue  # What its frame left came back, or went.
            return f"{before.name} at {before.pc} took {before.gas - after.gas}, not {before.cost}"
    if (root.error == "") != receipt.succeeded:
        return f"the outermost call says {root.error!r}"
    spent = [one for one in root.calls if one.gas_used > one.gas]
    return f"a call spent more than it had: {spent}" if spent else ""


CALLERS = ("CALL", "CALLCODE", "DELEGATECALL", "STATICCALL", "CREATE", "CREATE2")


@pytest.mark.parametrize("case", CASES)
def test_a_transaction_that_is_watched_does_what_it_does_alone(case: dict[str, Any]) -> None:
    test = state_test(case)
    for row in test.rows:
        steps, calls = StepTracer(), CallTreeTracer(with_logs=True)
        watched = done(test, row, steps, calls)
        assert watched == done(test, row), row.name
        if watched.receipt is not None:
            assert problem(steps.steps, calls.root, watched.receipt) == "", row.name
