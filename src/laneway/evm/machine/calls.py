"""Frames on a stack of their own: how each begins, what its end keeps or takes back, and what its
caller is given. No call of the EVM is a call of Python, so depth costs memory alone."""

from laneway.evm.compiled.program import run_compiled
from laneway.evm.limits import CODE_BYTES_MAX, NEVER_COMPILED
from laneway.evm.machine.frame import CallFrame
from laneway.evm.machine.halts import (
    CodeStartsWithEf,
    CodeTooLarge,
    Halt,
    OutOfGas,
    PrecompileFailed,
)
from laneway.evm.machine.run import run
from laneway.evm.state.view import StateAccount

DEPOSIT_BYTE_GAS = 200
FORBIDDEN_PREFIX = b"\xef"
"""EIP-3541."""


def execute(frame: CallFrame) -> None:
    """Run a frame and all that it calls to its end; `halt`, `is_reverted`, `gas` and `output` say
    how it ended, and the journal has what stays."""
    if frame.context.tracer is not None:
        frame.context.tracer.execute(frame)
        return
    frames = [frame]
    begin(frame)
    while True:
        frame = frames[-1]
        try:
            if frame.precompile is not None:
                run_precompile(frame)
            else:
                run_code(frame)
        except Halt as halt:
            # Its traceback would keep every frame above in memory.
            frame.halt = halt.with_traceback(None)
        child, frame.child = frame.child, None
        if child is not None and frame.halt is None:
            frames.append(child)
            begin(child)
            continue
        end(frame)
        frames.pop()
        if not frames:
            return
        take(frames[-1], frame)


def run_code(frame: CallFrame) -> None:
    """Compiled if the code has the credit for it. Gas that is handed to a child is the child's."""
    code, gas, after = frame.code, frame.gas, frame.context.compiled_after
    if code.credit_gas >= after or (code.compiled is not None and after != NEVER_COMPILED):
        run_compiled(frame)
    else:
        run(frame)
    child = frame.child
    code.credit_gas += gas - frame.gas - (child.gas if child is not None else 0)


def begin(frame: CallFrame) -> None:
    journal = frame.context.journal
    frame.undo_mark = len(journal.undo)
    frame.logs_mark = len(journal.logs)
    frame.refund_mark = journal.refund
    if frame.is_creation:
        journal.mark_created(frame.address)
        old = journal.account(frame.address)
        journal.put(frame.address, StateAccount(1, old.balance_wei, old.code_hash))
    if frame.transferred_wei:
        journal.pay(frame.caller, -frame.transferred_wei)
        journal.pay(frame.address, frame.transferred_wei)
    elif not frame.is_creation:
        journal.touch(frame.address)


def run_precompile(frame: CallFrame) -> None:
    precompile = frame.precompile
    assert precompile is not None
    gas = precompile.gas(frame.data)
    if gas > frame.gas:
        raise OutOfGas
    output = precompile.run(frame.data)
    if output is None:
        raise PrecompileFailed
    frame.gas -= gas
    frame.output = output


def end(frame: CallFrame) -> None:
    """Deploy what a creation returned; take back what a failed frame did."""
    if frame.is_creation and frame.is_good():
        try:
            deploy(frame)
        except Halt as halt:
            frame.halt = halt.with_traceback(None)
    if frame.halt is not None:
        frame.gas = 0
        frame.output = b""
    if not frame.is_good():
        journal = frame.context.journal
        journal.revert(frame.undo_mark)
        del journal.logs[frame.logs_mark :]
        journal.refund = frame.refund_mark


def deploy(frame: CallFrame) -> None:
    code = frame.output
    if code.startswith(FORBIDDEN_PREFIX):
        raise CodeStartsWithEf
    if len(code) > CODE_BYTES_MAX:
        raise CodeTooLarge
    frame.charge(DEPOSIT_BYTE_GAS * len(code))
    frame.context.journal.put_code(frame.address, code)


def take(frame: CallFrame, child: CallFrame) -> None:
    """Give a frame what its child left, and let it go on."""
    frame.gas += child.gas
    if child.is_creation:
        frame.stack.append(int.from_bytes(child.address, "big") if child.is_good() else 0)
        frame.returned = b"" if child.is_good() else child.output
        return
    frame.stack.append(1 if child.is_good() else 0)
    frame.returned = child.output
    frame.write(child.output_at, child.output[: child.output_size])
