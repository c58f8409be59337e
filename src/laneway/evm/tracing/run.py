"""Frames on a stack of their own, as machine/calls.py runs them, one opcode at a time with tracers
that watch.

What it costs to be watched is paid here alone: the usual loop knows nothing of it. Compiled code is
not used.
"""

from typing import NamedTuple

from laneway.evm.limits import CALL_DEPTH_MAX, NONCE_MAX
from laneway.evm.machine.calls import begin, end, run_precompile, take
from laneway.evm.machine.frame import CallFrame
from laneway.evm.machine.halts import Halt, InvalidJump, StackOverflow, StackUnderflow
from laneway.evm.machine.run import DUP1, JUMP, JUMPDEST, JUMPI, LOG0, PUSH0, SWAP1
from laneway.evm.opcodes.environment import address_of_word
from laneway.evm.opcodes.memory import CALL_STIPEND
from laneway.evm.opcodes.system import HASH_WORD_GAS, INITCODE_WORD_GAS, KEPT_FRACTION
from laneway.evm.tracing.watch import CallBeginning, StepBefore, TransactionTracer

CREATE, CALL, CALLCODE, DELEGATECALL, CREATE2, STATICCALL = 0xF0, 0xF1, 0xF2, 0xF4, 0xF5, 0xFA
LOG4, SELFDESTRUCT = 0xA4, 0xFF
CREATIONS = {CREATE: "CREATE", CREATE2: "CREATE2"}
CALLS = {
    CALL: "CALL",
    CALLCODE: "CALLCODE",
    DELEGATECALL: "DELEGATECALL",
    STATICCALL: "STATICCALL",
}
WITH_VALUE = (CALL, CALLCODE)


class TracedRun:
    """Runs frames and shows each step, and each beginning and end of a frame, to its tracers."""

    def __init__(self, *tracers: TransactionTracer) -> None:
        self._tracers = tracers

    def execute(self, frame: CallFrame) -> None:
        frames: list[CallFrame] = []
        self._enter(frames, frame, outermost(frame))
        if frame.halt is not None:
            # The address of a creation was taken: it ended before its first step.
            self._leave(frame)
            return
        begin(frame)
        while True:
            frame = frames[-1]
            beginning = self._run(frame)
            if beginning is not None and frame.child is not None:
                child, frame.child = frame.child, None
                self._enter(frames, child, beginning)
                begin(child)
                continue
            end(frame)
            self._leave(frame)
            frames.pop()
            if not frames:
                return
            take(frames[-1], frame)

    def _enter(self, frames: list[CallFrame], frame: CallFrame, beginning: CallBeginning) -> None:
        frames.append(frame)
        for tracer in self._tracers:
            tracer.entered(beginning)

    def _leave(self, frame: CallFrame) -> None:
        for tracer in self._tracers:
            tracer.left(frame)

    def _run(self, frame: CallFrame) -> CallBeginning | None:
        """How the child that it waits for begins; None if the frame ended."""
        try:
            if frame.precompile is not None:
                run_precompile(frame)
                return None
            if not frame.code.raw:
                return None
            while True:
                is_over, beginning = self._watched_step(frame)
                if is_over:
                    return beginning
        except Halt as halt:
            frame.halt = halt.with_traceback(None)
            return None

    def _watched_step(self, frame: CallFrame) -> tuple[bool, CallBeginning | None]:
        op = frame.code.padded[frame.pc]
        before = StepBefore(
            frame.pc,
            op,
            frame.gas,
            len(frame.memory),
            tuple(frame.stack),
            frame.memory_gas,
            frame.context.journal.account(frame.address),
        )
        for tracer in self._tracers:
            tracer.stepping(frame, before)
        try:
            is_over = step(frame, op)
        except Halt as halt:
            self._stepped(frame, before, before.gas - frame.gas, halt)
            raise
        attempt = None
        if op in CALLS:
            attempt = call_of(frame, before)
        elif op in CREATIONS:
            attempt = creation_of(frame, before)
        self._stepped(frame, before, attempt.cost if attempt else before.gas - frame.gas, None)
        if LOG0 <= op <= LOG4:
            for tracer in self._tracers:
                tracer.logged(frame.context.journal.logs[-1])
        elif op == SELFDESTRUCT:
            beneficiary = address_of_word(before.stack[-1])
            for tracer in self._tracers:
                tracer.destroyed(frame, beneficiary, before.account.balance_wei)
        if attempt is not None and frame.child is None:
            for tracer in self._tracers:
                tracer.refused(attempt.beginning, attempt.problem, attempt.lost)
        return is_over, attempt.beginning if attempt else None

    def _stepped(self, frame: CallFrame, before: StepBefore, cost: int, halt: Halt | None) -> None:
        for tracer in self._tracers:
            tracer.stepped(frame, before, cost, halt)


def step(frame: CallFrame, op: int) -> bool:
    """One opcode, as `machine.run.run` does it: true if the frame ended, or waits for a child."""
    table, stack = frame.context.opcodes, frame.stack
    frame.charge(table.gas[op])
    if len(stack) < table.needs[op]:
        raise StackUnderflow
    if len(stack) > table.bounds[op]:
        raise StackOverflow
    plain = table.plain[op]
    to = frame.pc + 1
    is_over = False
    if plain is not None:
        plain(stack)
    elif PUSH0 <= op < DUP1:
        stack.append(frame.code.pushes[frame.pc])
        to += op - PUSH0
    elif DUP1 <= op < SWAP1:
        stack.append(stack[0x7F - op])
    elif SWAP1 <= op < LOG0:
        stack[-1], stack[0x8E - op] = stack[0x8E - op], stack[-1]
    elif op in (JUMP, JUMPI):
        to = jumped(frame, op, to)
    elif op != JUMPDEST:
        is_over = bool(table.framed[op](frame))
    frame.pc = to
    return is_over


def jumped(frame: CallFrame, op: int, after: int) -> int:
    """Where a jump goes on."""
    to = frame.stack.pop()
    if op == JUMPI and not frame.stack.pop():
        return after
    if not frame.code.destinations[to]:
        raise InvalidJump
    return to


class CallAttempt(NamedTuple):
    """What an opcode that calls or creates asked for, whether its frame began or not."""

    beginning: CallBeginning
    cost: int
    """What go-ethereum shows: for calls with the gas handed over, for creations without."""
    problem: str = ""
    """Why no frame began; empty if one did."""
    lost: int = 0
    """The gas that is gone although none began."""


def outermost(frame: CallFrame) -> CallBeginning:
    return CallBeginning(
        kind=frame.kind,
        sender=frame.caller,
        to=frame.address,
        data=frame.code.raw if frame.is_creation else frame.data,
        gas=frame.gas,
        value_wei=frame.value_wei,
        depth=0,
    )


def call_of(frame: CallFrame, before: StepBefore) -> CallAttempt:
    """Of CALL and its like, which did not halt."""
    op, stack, child = before.op, before.stack, frame.child
    value = stack[-3] if op in WITH_VALUE else 0
    stipend = CALL_STIPEND if value else 0
    at, size = stack[-4:-6:-1] if op in WITH_VALUE else stack[-3:-5:-1]
    if child is not None:
        gas, cost = child.gas, before.gas - frame.gas
    else:
        # What it handed over came back with the stipend.
        left = frame.gas - stipend
        handed = min(stack[-1], left - left // KEPT_FRACTION)
        gas, cost = handed + stipend, before.gas - left + handed
    beginning = CallBeginning(
        kind=CALLS[op],
        sender=frame.address,
        to=address_of_word(stack[-2]),
        data=frame.read(at, size),
        gas=gas,
        value_wei={DELEGATECALL: frame.value_wei, STATICCALL: None}.get(op, value),
        depth=frame.depth + 1,
    )
    is_too_deep = frame.depth >= CALL_DEPTH_MAX
    problem = "max call depth exceeded" if is_too_deep else "insufficient balance for transfer"
    return CallAttempt(beginning, cost, "" if child is not None else problem)


def creation_of(frame: CallFrame, before: StepBefore) -> CallAttempt:
    """Of CREATE and CREATE2, which did not halt."""
    op, stack, child = before.op, before.stack, frame.child
    value, at, size = stack[-1], stack[-2], stack[-3]
    words = (size + 31) // 32
    word_gas = INITCODE_WORD_GAS + (HASH_WORD_GAS if op == CREATE2 else 0)
    cost = frame.context.opcodes.gas[op] + word_gas * words + frame.memory_gas - before.memory_gas
    left = before.gas - cost
    problem, lost = refusal_of_creation(frame, before, value, left)
    beginning = CallBeginning(
        kind=CREATIONS[op],
        sender=frame.address,
        to=child.address if child is not None else None,
        data=frame.read(at, size),
        gas=left - left // KEPT_FRACTION,
        value_wei=value,
        depth=frame.depth + 1,
    )
    return CallAttempt(beginning, cost, "" if child is not None else problem, lost)


def refusal_of_creation(
    frame: CallFrame, before: StepBefore, value: int, left: int
) -> tuple[str, int]:
    """Why no frame began, if none did, and the gas that it took."""
    if frame.depth >= CALL_DEPTH_MAX:
        return "max call depth exceeded", 0
    if before.account.balance_wei < value:
        return "insufficient balance for transfer", 0
    if before.account.nonce >= NONCE_MAX:
        return "nonce uint64 overflow", 0
    return "contract address collision", left - left // KEPT_FRACTION
