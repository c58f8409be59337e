"""Every step of a transaction, as values that EIP-3155 lines and go-ethereum's struct logs are made
of (lines.py)."""

from typing import NamedTuple

from laneway.evm.limits import TRACED_BYTES_MAX, TRACED_STEP_BYTES
from laneway.evm.machine.frame import CallFrame
from laneway.evm.machine.halts import Halt
from laneway.evm.tracing.watch import StepBefore, TransactionTracer

SLOAD, SSTORE = 0x54, 0x55


class TracedStep(NamedTuple):
    """An opcode, with the frame as it was before it."""

    pc: int
    op: int
    name: str
    gas: int
    cost: int
    """What the opcode took; of a call with the gas that it handed over. Of the step that halts its
    frame: what was charged until then, with the charge that could not be paid."""
    depth: int
    """1 for the outermost frame."""
    address: bytes
    """Whose storage the frame uses."""
    stack: tuple[int, ...]
    """Its top is the last."""
    memory_bytes: int
    memory: bytes | None
    """None unless it was asked for."""
    returned: bytes
    """What the frame's last call returned."""
    refund: int
    """Of the transaction so far, with this opcode's."""
    slot: tuple[int, int] | None
    """Key and value of SLOAD and SSTORE."""
    error: str
    """Why it halted its frame; empty if it did not."""


class StepTracer(TransactionTracer):
    def __init__(self, *, with_memory: bool = False, bytes_max: int = TRACED_BYTES_MAX) -> None:
        self.steps: list[TracedStep] = []
        self.is_cut = False
        """Whether there were more steps than are kept."""
        self._with_memory = with_memory
        self._bytes_left = bytes_max
        self._memory: bytes | None = None
        self._returned = b""

    def stepping(self, frame: CallFrame, before: StepBefore) -> None:  # noqa: ARG002
        if frame.returned is not self._returned:
            self._returned = frame.returned
            self._bytes_left -= len(frame.returned)
        if self._with_memory:
            self._memory = bytes(frame.memory)

    def stepped(self, frame: CallFrame, before: StepBefore, cost: int, halt: Halt | None) -> None:
        self._bytes_left -= TRACED_STEP_BYTES + 8 * len(before.stack) + len(self._memory or b"")
        if self._bytes_left < 0:
            self.is_cut = True
            return
        self.steps.append(
            TracedStep(
                pc=before.pc,
                op=before.op,
                name=name_of(frame, before.op),
                gas=before.gas,
                cost=cost,
                depth=frame.depth + 1,
                address=frame.address,
                stack=before.stack,
                memory_bytes=before.memory_bytes,
                memory=self._memory,
                returned=self._returned,
                refund=frame.context.journal.refund,
                slot=slot_of(frame, before) if halt is None else None,
                error=halt.reason if halt is not None else "",
            )
        )


def name_of(frame: CallFrame, op: int) -> str:
    known = frame.context.opcodes.known.get(op)
    return known.name if known is not None else f"opcode 0x{op:x} not defined"


def slot_of(frame: CallFrame, before: StepBefore) -> tuple[int, int] | None:
    if before.op == SLOAD:
        return before.stack[-1], frame.stack[-1]
    if before.op == SSTORE:
        return before.stack[-1], before.stack[-2]
    return None
