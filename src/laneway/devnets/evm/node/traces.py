"""What happened inside transactions and calls (`debug_trace*`), in go-ethereum's shapes.

A transaction of a block is executed again, after those before it, on the state of the block's
parent.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from msgspec import Struct

from laneway.devnets.evm.limits import TRACE_BYTES_MAX
from laneway.devnets.evm.model.block import EvmBlock
from laneway.devnets.evm.model.executed import begin, transact
from laneway.devnets.evm.model.pool import PooledTransaction
from laneway.devnets.evm.model.states import ExecutedState
from laneway.devnets.evm.node.blocks import (
    NOT_FOUND,
    block_held,
    check_executes,
    check_state,
)
from laneway.devnets.evm.node.execution import (
    context_at,
    overridden_at,
    refusing,
)
from laneway.devnets.evm.node.parameters import (
    anything,
    block_hash_of,
    digest_of,
    fields_of,
    flag_of,
    number_of,
    wrong,
)
from laneway.devnets.evm.node.requests import read, request_of
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.evm.calls.call import CallSession
from laneway.evm.calls.request import transaction_of
from laneway.evm.execution.block import EvmExecution
from laneway.evm.execution.receipt import EvmReceipt
from laneway.evm.machine.context import BlockContext
from laneway.evm.machine.frame import CallFrame
from laneway.evm.machine.halts import Halt
from laneway.evm.rules import ForkRules
from laneway.evm.state.journal import StateJournal
from laneway.evm.state.view import StateView
from laneway.evm.tracing.call_tree import CallTreeTracer
from laneway.evm.tracing.lines import struct_logs
from laneway.evm.tracing.objects import call_object, difference_object, prestate_object
from laneway.evm.tracing.prestate import difference, prestate
from laneway.evm.tracing.run import TracedRun
from laneway.evm.tracing.steps import StepTracer
from laneway.evm.tracing.watch import StepBefore, TransactionTracer
from laneway.wire.hex import octets
from laneway.wire.rpc_server.methods import Json, Method, RpcRefused

TRACE_REFUSED: Final = -32000
"""geth's code of what it cannot trace."""
SLOT_BYTES = 256
"""About what one key of storage takes in each step that lists it."""
TRACERS = ("callTracer", "prestateTracer")


class TraceBudget:
    """What the traces of one answer may still keep."""

    def __init__(self) -> None:
        self._bytes_left = TRACE_BYTES_MAX

    def spend(self, size: int) -> None:
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise RpcRefused(TRACE_REFUSED, f"the trace keeps more than {TRACE_BYTES_MAX} bytes")


class TraceWish(Struct, frozen=True, kw_only=True):
    """How a caller wants to see it."""

    tracer: str = ""
    """Empty for every step."""
    with_memory: bool = False
    with_stack: bool = True
    with_storage: bool = True
    with_returned: bool = False
    steps_max: int | None = None
    with_logs: bool = False
    """Of the call tree."""
    only_top: bool = False
    """Of the call tree: the outermost call alone."""
    differs: bool = False
    """Of the accounts: what changed, in place of what was there."""


EVERY_STEP = TraceWish()


def wish_of(value: object) -> TraceWish:
    fields = {} if value is None else fields_of(value)
    tracer = fields.get("tracer") or ""
    if tracer and tracer not in TRACERS:
        raise wrong(f"unknown tracer, expected one of {', '.join(TRACERS)}")

    def flag(name: str, where: Mapping[str, object] = fields) -> bool:
        return read(where, name, flag_of) or False

    inner = read(fields, "tracerConfig", fields_of) or {}
    return TraceWish(
        tracer=str(tracer),
        with_memory=flag("enableMemory"),
        with_stack=not flag("disableStack"),
        with_storage=not flag("disableStorage"),
        with_returned=flag("enableReturnData"),
        # geth takes 0 for no limit.
        steps_max=read(fields, "limit", number_of) or None,
        with_logs=flag("withLog", inner),
        only_top=flag("onlyTopCall", inner),
        differs=flag("diffMode", inner),
    )


class BoundedSteps(StepTracer):
    """Steps as far as they are wanted, and no further than the budget."""

    def __init__(self, wish: TraceWish, budget: TraceBudget) -> None:
        super().__init__(with_memory=wish.with_memory)
        self._wish = wish
        self._budget = budget
        self._slots: dict[bytes, dict[int, None]] = {}

    def stepped(self, frame: CallFrame, before: StepBefore, cost: int, halt: Halt | None) -> None:
        if self._wish.steps_max is not None and len(self.steps) >= self._wish.steps_max:
            return
        super().stepped(frame, before, cost, halt)
        step = self.steps[-1]
        size = 512 + 8 * len(step.stack) + len(step.memory or b"")
        if self._wish.with_returned:
            size += len(step.returned)
        if step.slot is not None and self._wish.with_storage:
            # A step that touches storage lists all that was touched so far.
            slots = self._slots.setdefault(step.address, {})
            slots[step.slot[0]] = None
            size += SLOT_BYTES * len(slots)
        self._budget.spend(size)


class BoundedTree(CallTreeTracer):
    def __init__(self, wish: TraceWish, budget: TraceBudget) -> None:
        super().__init__(with_logs=wish.with_logs)
        self._budget = budget

    def _is_kept(self, size: int) -> bool:
        self._budget.spend(size)
        return super()._is_kept(size)


Executed = Callable[[TransactionTracer | None], EvmReceipt]


class Traced(NamedTuple):
    """A transaction that can be executed once, and the state before it."""

    view: StateView
    journal: StateJournal
    gas_limit: int
    execute: Executed


def trace(traced: Traced, wish: TraceWish, budget: TraceBudget) -> Json:
    if wish.tracer == "callTracer":
        tree = BoundedTree(wish, budget)
        root = tree.tree(traced.execute(tree), traced.gas_limit)
        made = call_object(root)
        return {name: made[name] for name in made if name != "calls" or not wish.only_top}
    if wish.tracer == "prestateTracer":
        traced.execute(None)
        reads, writes = traced.journal.read_set(), traced.journal.write_set()
        for keys in (*reads.storage.values(), *reads.codes.values()):
            budget.spend(SLOT_BYTES + len(keys))
        if wish.differs:
            return difference_object(difference(traced.view, reads, writes))
        return prestate_object(prestate(traced.view, reads, writes))
    tracer = BoundedSteps(wish, budget)
    receipt = traced.execute(tracer)
    steps = tracer.steps if wish.with_returned else [s._replace(returned=b"") for s in tracer.steps]
    made = struct_logs(steps, receipt, with_storage=wish.with_storage)
    made["structLogs"] = [step_of(log, wish) for log in made["structLogs"]]
    return made


def step_of(log: Json, wish: TraceWish) -> Json:
    """With all digits after 0x, as the specification has them, and a refund in each."""
    shown = {"refund": 0, **log}
    if not wish.with_stack:
        del shown["stack"]
    if wish.with_returned:
        shown.setdefault("returnData", "0x")
    if "memory" in shown:
        shown["memory"] = ["0x" + word for word in shown["memory"]]
    if "storage" in shown:
        shown["storage"] = {"0x" + key: "0x" + one for key, one in shown["storage"].items()}
    return shown


# Transactions of a block.


class BlockAgain:
    """A block whose transactions are executed once more, each on a journal of its own."""

    def __init__(self, caller: EvmCaller, block: EvmBlock) -> None:
        check_executes(caller)
        assert block.header is not None, "every block of a chain that executes has one"
        self.block = block
        self._sent = [caller.chain.sent(digest) for digest in block.transactions]
        if not self._sent:
            return
        if any(one.transaction.chain_id not in (None, caller.chain.chain_id) for one in self._sent):
            raise RpcRefused(TRACE_REFUSED, "the chain had another id when this block was made")
        parent = caller.chain.parent(block)
        check_state(caller, parent)
        self._rules: ForkRules = caller.chain.fork_rules(block.made_ms // 1000)
        self._context: BlockContext = context_at(caller, block, self._rules)
        self._state: ExecutedState = caller.chain.executed(parent)
        journal = StateJournal(self._state)
        begin(EvmExecution(journal, self._context, self._rules), block.header)
        self._state = self._state.after(journal.write_set())

    def traced(self) -> Iterator[Traced]:
        """Its transactions in their order; one that its caller did not execute is executed before
        the next."""
        for sent in self._sent:
            journal = StateJournal(self._state)
            receipts: list[EvmReceipt] = []

            def execute(
                tracer: TransactionTracer | None,
                sent: PooledTransaction = sent,
                journal: StateJournal = journal,
                receipts: list[EvmReceipt] = receipts,
            ) -> EvmReceipt:
                execution = EvmExecution(journal, self._context, self._rules)
                execution.tracer = None if tracer is None else TracedRun(tracer)
                receipts.append(transact(execution, sent))
                return receipts[-1]

            yield Traced(self._state, journal, sent.transaction.gas_limit, execute)
            if not receipts:
                execute(None)
            self._state = self._state.after(journal.write_set())


def trace_transaction(caller: EvmCaller, digest: bytes, wish: TraceWish = EVERY_STEP) -> Json:
    receipt = caller.chain.receipt(caller.node, digest)
    if receipt is None:
        raise RpcRefused(TRACE_REFUSED, "transaction not found")
    block = caller.chain.block(caller.node, receipt.number)
    assert block is not None, "the node's chain holds it"
    budget = TraceBudget()
    every = enumerate(BlockAgain(caller, block).traced())
    return next(trace(one, wish, budget) for index, one in every if index == receipt.index)


def trace_block(caller: EvmCaller, where: object, wish: TraceWish = EVERY_STEP) -> list[Json]:
    block = block_held(caller, where)
    if block is None:
        raise RpcRefused(NOT_FOUND, "Resource not found")
    budget = TraceBudget()
    every = zip(block.transactions, BlockAgain(caller, block).traced(), strict=True)
    return [{"txHash": octets(digest), "result": trace(one, wish, budget)} for digest, one in every]


def trace_call(
    caller: EvmCaller,
    fields: Mapping[str, object],
    where: object = "latest",
    config: object = None,
) -> Json:
    """Of a call that no block has, on a state and a block that the configuration may override."""
    check_executes(caller)
    wish, named = wish_of(config), {} if config is None else fields_of(config)
    accounts, overridden = named.get("stateOverrides"), named.get("blockOverrides")
    request = request_of(fields)
    with refusing():
        on = overridden_at(caller, where, accounts, overridden)
        session = CallSession(*on, request)
        gas_limit = request.gas_limit()
        made = transaction_of(
            request, chain_id=session.block.chain_id, nonce=session.nonce, gas_limit=gas_limit
        )
        # A journal of its own: what the session reads first is not what the call reads.
        journal = StateJournal(on.view)

        def execute(tracer: TransactionTracer | None) -> EvmReceipt:
            execution = EvmExecution(journal, session.block, session.rules)
            execution.tracer = None if tracer is None else TracedRun(tracer)
            return execution.simulate(made, request.sender, is_kept=True)

        return trace(Traced(on.view, journal, gas_limit, execute), wish, TraceBudget())


TRACES: Final[Mapping[str, Method]] = {
    "debug_traceTransaction": Method((digest_of, wish_of), trace_transaction, optional=1),
    "debug_traceBlockByNumber": Method((anything, wish_of), trace_block, optional=1),
    "debug_traceBlockByHash": Method((block_hash_of, wish_of), trace_block, optional=1),
    "debug_traceCall": Method((fields_of, anything, anything), trace_call, optional=2),
}
