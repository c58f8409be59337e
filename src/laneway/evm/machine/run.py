"""The loop that runs the code of one frame until the frame ends or waits for a child.

Pushes, jumps and copies on the stack are the loop's own, for they are two opcodes of three. The
other opcodes are functions: those that need the stack alone find too short a stack by an
IndexError, and those that need the frame have its height checked before.
"""

from laneway.evm.limits import STACK_WORDS_MAX
from laneway.evm.machine.frame import CallFrame
from laneway.evm.machine.halts import InvalidJump, OutOfGas, StackOverflow, StackUnderflow

JUMP, JUMPI, JUMPDEST, PUSH0 = 0x56, 0x57, 0x5B, 0x5F
DUP1, SWAP1, LOG0 = 0x80, 0x90, 0xA0
NOWHERE = -1


def run(frame: CallFrame) -> None:
    """Raises the Halt that ends it, if one does."""
    table = frame.context.opcodes
    costs, plain, framed = table.gas, table.plain, table.framed
    needs, bounds = table.needs, table.bounds
    code, pushes = frame.code.padded, frame.code.pushes
    stack, pc, gas = frame.stack, frame.pc, frame.gas
    while True:
        op = code[pc]
        gas -= costs[op]
        if gas < 0:
            raise OutOfGas
        to = NOWHERE
        try:
            if PUSH0 <= op < LOG0:
                if op < DUP1:
                    stack.append(pushes[pc])
                    pc += op - PUSH0 + 1
                elif op < SWAP1:
                    stack.append(stack[0x7F - op])
                    pc += 1
                else:
                    stack[-1], stack[0x8E - op] = stack[0x8E - op], stack[-1]
                    pc += 1
                    continue
                if len(stack) > STACK_WORDS_MAX:
                    raise StackOverflow
                continue
            do = plain[op]
            if do is not None:
                do(stack)
                pc += 1
                continue
            if op == JUMPDEST:
                pc += 1
                continue
            if op == JUMPI:
                to = stack.pop()
                if not stack.pop():
                    pc += 1
                    continue
            elif op == JUMP:
                to = stack.pop()
        except IndexError:
            raise StackUnderflow from None
        if to != NOWHERE:
            if not frame.code.destinations[to]:
                raise InvalidJump
            pc = to
            continue
        if not needs[op] <= len(stack) <= bounds[op]:
            raise StackUnderflow if len(stack) < needs[op] else StackOverflow
        frame.gas, frame.pc = gas, pc
        if framed[op](frame):
            frame.pc += 1
            return
        gas = frame.gas
        pc += 1
