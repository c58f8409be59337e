"""The loop that runs the code of one frame until the frame ends or waits for a child.

Pushes, jumps and moves on the stack are the loop's own, for they are two opcodes of three. The
other opcodes are functions: those that need the stack alone find too short a stack by an
IndexError, and those that need the frame have its height checked before.
"""

from laneway.evm.limits import STACK_WORDS_MAX
from laneway.evm.machine.frame import CallFrame
from laneway.evm.machine.halts import InvalidJump, OutOfGas, StackOverflow, StackUnderflow

POP, JUMP, JUMPI, PC, JUMPDEST, PUSH0 = 0x50, 0x56, 0x57, 0x58, 0x5B, 0x5F
DUP1, SWAP1, LOG0 = 0x80, 0x90, 0xA0


def run(frame: CallFrame) -> None:
    """Raises the Halt that ends it, if one does."""
    opcodes = frame.context.opcodes
    costs, plain, framed = opcodes.gas, opcodes.plain, opcodes.framed
    code, pushes = frame.code.padded, frame.code.pushes
    stack, pc, gas = frame.stack, frame.pc, frame.gas
    while True:
        op = code[pc]
        gas -= costs[op]
        if gas < 0:
            raise OutOfGas
        do = plain[op]
        try:
            if do is not None:
                do(stack)
                pc += 1
                continue
            if PUSH0 <= op < LOG0:
                if op < DUP1:
                    stack.append(pushes[pc])
                    pc += op - PUSH0
                elif op < SWAP1:
                    stack.append(stack[0x7F - op])
                else:
                    stack[-1], stack[0x8E - op] = stack[0x8E - op], stack[-1]
                    pc += 1
                    continue
                pc += 1
                if len(stack) > STACK_WORDS_MAX:
                    raise StackOverflow
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
            elif op == POP:
                stack.pop()
                pc += 1
                continue
            else:
                to = -1
        except IndexError:
            raise StackUnderflow from None
        if to >= 0:
            if to not in frame.code.destinations:
                raise InvalidJump
            pc = to
            continue
        if not opcodes.needs[op] <= len(stack) <= opcodes.bounds[op]:
            raise StackUnderflow if len(stack) < opcodes.needs[op] else StackOverflow
        frame.gas = gas
        if op == PC:
            stack.append(pc)
        elif framed[op](frame):
            frame.pc = pc + 1
            return
        gas = frame.gas
        pc += 1
