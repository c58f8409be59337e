"""What tracers are shown, and the tracer that looks at nothing."""

from typing import NamedTuple

from laneway.evm.machine.frame import CallFrame
from laneway.evm.machine.halts import Halt
from laneway.evm.opcodes.logs import EvmLog
from laneway.evm.state.view import StateAccount


class StepBefore(NamedTuple):
    """A frame before one of its opcodes."""

    pc: int
    op: int
    gas: int
    memory_bytes: int
    stack: tuple[int, ...]
    memory_gas: int
    account: StateAccount
    """Whose storage and balance it uses."""


class CallBeginning(NamedTuple):
    """A call or creation before its first step, as its caller asked for it."""

    kind: str
    sender: bytes
    to: bytes | None
    """None if a creation was refused before it had an address."""
    data: bytes
    gas: int
    value_wei: int | None
    """None of a STATICCALL, which can have none."""
    depth: int


class TransactionTracer:
    """A tracer of one transaction overrides what it wants to see, and changes nothing of it."""

    def stepping(self, frame: CallFrame, before: StepBefore) -> None:
        """Before an opcode."""

    def stepped(self, frame: CallFrame, before: StepBefore, cost: int, halt: Halt | None) -> None:
        """After an opcode; a call that it made has not begun. `halt`: why it ended the frame."""

    def entered(self, beginning: CallBeginning) -> None:
        """A frame begins."""

    def left(self, frame: CallFrame) -> None:
        """A frame ended, and what it did stays or is taken back."""

    def refused(self, beginning: CallBeginning, problem: str, lost: int) -> None:
        """A call or creation had no frame, for a reason of its caller; `lost`: the gas it took."""

    def logged(self, log: EvmLog) -> None:
        """A frame logged something, which is taken back if the frame fails."""

    def destroyed(self, frame: CallFrame, beneficiary: bytes, wei: int) -> None:
        """A contract handed all that it had to a beneficiary."""
